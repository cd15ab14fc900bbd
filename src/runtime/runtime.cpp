#include "ricci/runtime.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include "ricci/error.hpp"
#include "runtime/device_model.hpp"
#include "runtime/options.hpp"
#include "runtime/runtime_impl.hpp"
#include "runtime/tuning.hpp"

namespace ricci {
inline namespace v1 {
namespace {

cache::Config cache_config(const std::string& folder) {
  auto config = cache::Config::from_environment();
  if (folder == "off") {
    config.root.clear();
    config.read_only_roots.clear();
  } else if (!folder.empty()) {
    config.root = std::filesystem::absolute(folder);
  }
  return config;
}

int runtime_threads(const RuntimeOptions& options) {
  if (options.threads < 0 || options.threads > runtime::kMaxThreads) {
    throw PlanError(fmt::format("a runtime of {} threads; give 0 for RICCI_THREADS or all processors, or 1 to {}",
                                options.threads, runtime::kMaxThreads));
  }
  return options.threads > 0 ? options.threads : runtime::default_threads();
}

int runtime_graph_kernels(const RuntimeOptions& options) {
  constexpr int kDefault = 2;
  if (options.graph_kernels < -1) {
    throw PlanError(fmt::format("graphs of {} kernels or more; give 0 for none, -1 for RICCI_GRAPH_KERNELS or {}",
                                options.graph_kernels, kDefault));
  }
  if (options.graph_kernels >= 0) return options.graph_kernels;
  return runtime::number_from_environment("RICCI_GRAPH_KERNELS", 0, std::numeric_limits<int>::max(), kDefault);
}

}  // namespace

Runtime::Impl::Impl(RuntimeOptions given)
    : options(std::move(given)),
      threads(runtime_threads(options)),
      graph_kernels(runtime_graph_kernels(options)),
      pinned(runtime::default_pinned() || options.pin_threads),
      store(cache_config(options.cache_dir)) {
  if (const auto file = runtime::library_file(options.blas, "RICCI_BLAS"); !file.empty())
    blas = runtime::open_blas(file);
  if (const auto file = runtime::library_file(options.cublas, "RICCI_CUBLAS"); !file.empty())
    cublas = runtime::open_cublas(file);
}

plan::LibraryModel Runtime::Impl::blas_model(const runtime::Target& target, int count) {
  const std::lock_guard lock(measured_mutex_);
  if (const auto known = blas_models_.find(count); known != blas_models_.end()) return known->second;
  const auto key = runtime::library_key(*blas, target, count);
  auto model = runtime::find_library_model(store, key);
  if (!model) {
    const auto alone = store.exclusive(runtime::timing_lock(target), runtime::kTimingPatience);
    model = runtime::find_library_model(store, key);  // another process may have measured meanwhile
    if (!model) model = runtime::measure_library(store, key, *blas, count);
  }
  return blas_models_[count] = *model;
}

std::shared_ptr<runtime::ThreadPool> Runtime::Impl::pool(int size) {
  const std::lock_guard lock(mutex_);
  auto& pool = pools_[size];
  if (!pool) pool = std::make_shared<runtime::ThreadPool>(size, pinned);
  return pool;
}

std::shared_ptr<const runtime::LoadedKernel> Runtime::Impl::kernel(const std::string& key, const ir::Program& program,
                                                                   const kernel::Schedule& schedule,
                                                                   const runtime::Target& target,
                                                                   const runtime::MakeNotes& notes, bool* shared) {
  const auto name = fmt::format("{}@{}", key, target.ordinal);
  {
    const std::lock_guard lock(mutex_);
    if (const auto place = kernels_.find(name); place != kernels_.end()) {
      if (auto loaded = place->second.lock()) {
        *shared = true;
        return loaded;
      }
      kernels_.erase(place);
    }
  }
  auto loaded = runtime::make_kernel(store, key, program, schedule, target, notes);
  const std::lock_guard lock(mutex_);
  if (kernels_.size() >= sweep_at_) {
    // Remove expired entries each time the table has doubled.
    std::erase_if(kernels_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = std::max<std::size_t>(64, 2 * kernels_.size());
  }
  kernels_[name] = loaded;
  return loaded;
}

Runtime::Runtime(RuntimeOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Runtime::~Runtime() = default;
Runtime::Runtime(Runtime&&) noexcept = default;
Runtime& Runtime::operator=(Runtime&&) noexcept = default;

CacheStatistics Runtime::cache_statistics() const noexcept {
  const auto counters = impl_->store.counters();
  return {counters.memory_hits, counters.disk_hits, counters.misses, counters.made, counters.stored, counters.damaged};
}

void Runtime::measure_device(const PlanOptions& options) {
  const auto target = runtime::target_of(options);
  if (target.device == Device::gpu && target.ordinal < 0) {
    throw PlanError(fmt::format("{} is no device that is there, so nothing can be measured", target.text()));
  }
  impl_->measured_memory(target, Impl::Need::anew);
}

std::shared_ptr<const plan::MeasuredMemory> Runtime::Impl::measured_memory(const runtime::Target& target, Need need) {
  const std::lock_guard lock(measured_mutex_);
  auto& known = measured_[target.device == Device::cpu ? -1 : target.ordinal];
  if (!known.looked) known = {true, runtime::find_measured_memory(store, target)};
  if (need == Need::anew || (need == Need::now && !known.memory)) {
    const auto alone = store.exclusive(runtime::timing_lock(target), runtime::kTimingPatience);
    // Another process may have measured meanwhile.
    if (need == Need::now) known.memory = runtime::find_measured_memory(store, target);
    if (need == Need::anew || !known.memory) known.memory = runtime::measure_memory(store, target, threads);
  }
  return known.memory;
}

Runtime& Runtime::global() {
  static auto* runtime = new Runtime;  // plans in other static objects may outlive any order of destruction
  return *runtime;
}

}  // namespace v1

namespace runtime {

namespace {

void check(const TargetLimits& limits, const PlanOptions& options) {
  const auto& [copy, multiprocessors, clock] = limits;
  if (copy == 0 && multiprocessors == 0 && clock == 0) return;
  if (options.device == Device::cpu || options.target_sm <= 0)
    throw PlanError("limits of a target are for a GPU that is not there; name it, as sm_90, or leave them out");
  if (!(copy >= 0) || !(copy < 1e9) || multiprocessors < 0 || !(clock >= 0) || !(clock < 1e9)) {
    throw PlanError(fmt::format(
        "a target of {} multiprocessors at {} MHz that copies at {} GB/s; give figures above 0, or 0 for the usual one",
        multiprocessors, clock, copy));
  }
}

}  // namespace

Target target_of(const PlanOptions& options) {
  check(options.target_limits, options);
  Target target;
  target.device = options.device;
  if (options.device == Device::cpu) {
    static const auto host = jit::host_cpu();
    target.cpu = host;
    return target;
  }
  if (options.target_sm > 0) {
    target.sm = options.target_sm;
    target.limits = options.target_limits;
    return target;
  }
  if (!jit::cuda::available()) {
    throw DeviceError(fmt::format("no GPU: {}. Plan for the CPU, or name a target (sm_90) to generate and inspect",
                                  jit::cuda::unavailable_reason()));
  }
  target.ordinal = options.gpu >= 0 ? options.gpu : jit::cuda::current_device();
  target.sm = jit::cuda::device_info(target.ordinal).sm;
  return target;
}

plan::GpuModel gpu_model(const jit::cuda::DeviceInfo& info, const plan::MeasuredMemory* measured) {
  auto model = plan::GpuModel::of_capability(info.sm);
  model.multiprocessors = info.multiprocessors;
  model.shared_bytes_per_block = info.shared_bytes_per_block;
  model.shared_bytes_per_multiprocessor = info.shared_bytes_per_multiprocessor;
  model.threads_per_multiprocessor = info.max_threads_per_multiprocessor;
  if (info.clock_khz > 0) model.clock_MHz = info.clock_khz / 1e3;
  // Double data rate times bus width; a copy reaches about nine tenths of that.
  model.copy_GBs = 0.9 * 2.0 * info.memory_clock_khz * 1e3 * info.memory_bus_bits / 8 * 1e-9;
  if (measured != nullptr) model.copy_GBs = measured->of(0).copy_GBs;
  return model;
}

plan::GpuModel gpu_model(const Target& target, const plan::MeasuredMemory* measured) {
  if (target.ordinal >= 0) return gpu_model(jit::cuda::device_info(target.ordinal), measured);
  auto model = plan::GpuModel::of_capability(target.sm);
  const auto& limits = target.limits;
  if (limits.copy_GBs > 0) model.copy_GBs = limits.copy_GBs;
  if (limits.multiprocessors > 0) model.multiprocessors = limits.multiprocessors;
  if (limits.clock_MHz > 0) model.clock_MHz = limits.clock_MHz;
  return model;
}

namespace {

/// Bytes of the last-level cache of one core, from sysfs; sysconf() adds up all caches of the package. 0: unknown.
std::int64_t last_level_bytes() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  std::int64_t kilobytes = 0;
  char unit = 0;
  return file >> kilobytes >> unit && unit == 'K' ? kilobytes * 1024 : 0;
}

}  // namespace

plan::CpuModel cpu_model(const jit::CpuTarget& cpu, int threads, const plan::MeasuredMemory* measured) {
  plan::CpuModel model;
  model.vector_bytes = cpu.vector_bytes;
  model.datapath_bytes = jit::host_datapath_bytes();
  const auto has = [&](const char* feature) {
    return std::find(cpu.features.begin(), cpu.features.end(), feature) != cpu.features.end();
  };
  model.dots_bf16 = has("+avx512bf16");
  model.dots_i8 = has("+avx512vnni") || has("+avxvnni");
  model.threads = threads;
  if (const long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE); bytes > 0) model.l1_bytes = bytes;
  if (const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0) model.l2_bytes = bytes;
  static const std::int64_t last_level = last_level_bytes();
  // Very large caches are shared and hardly faster than memory: on a Xeon with 300 MB of L3, tensors of 212 MB are
  // copied in half the time by nontemporal stores.
  constexpr std::int64_t kMostCacheBytes = 64 * 1024 * 1024;
  if (last_level > 0) model.cache_bytes = std::min(last_level, kMostCacheBytes);
  if (measured != nullptr) {
    model.copy_GBs = measured->of(threads).copy_GBs;
    model.streaming_GBs = measured->of(threads).streaming_GBs;
    model.read_GBs = std::max(measured->of(threads).read_GBs, measured->of(threads).ahead_GBs);
    model.write_GBs = measured->of(threads).write_GBs;
    const auto& alone = measured->rates.front();  // of one thread: with several, memory is the limit either way
    const double lanes = std::min(model.vector_bytes, model.datapath_bytes) / 8.0;
    const auto clock_MHz = [&](const plan::MemoryRates& rates) {
      return rates.multiply_GFs * 1e3 / (rates.threads * 2 * 2 * lanes);  // two units
    };
    model.clock_MHz = clock_MHz(measured->of(threads));
    model.clock_alone_MHz = clock_MHz(alone);
    model.page_ns = alone.page_ns;
    if (alone.rows_GBs > 0) model.slower_rows = std::max(alone.read_GBs / alone.rows_GBs, 1.0);
    if (alone.apart_GBs > 0) model.slower_apart = std::max(alone.write_GBs / alone.apart_GBs, 1.0);
  }
  return model;
}

}  // namespace runtime
}  // namespace ricci
