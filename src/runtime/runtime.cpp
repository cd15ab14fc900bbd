#include "ricci/runtime.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <numeric>

#include "cache/format.hpp"
#include "cache/store.hpp"
#include "ir/canonical.hpp"
#include "ir/problem.hpp"
#include "ricci/error.hpp"
#include "ricci/log.hpp"
#include "runtime/plan_impl.hpp"

namespace ricci {
inline namespace v1 {
namespace {

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

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

BufferCheck buffer_check(const ir::Buffer& buffer, DType type) {
  BufferCheck check;
  check.element_bytes = size_of(type);
  check.first_byte = buffer.first * check.element_bytes;
  check.end_byte = (buffer.last + 1) * check.element_bytes;
  return check;
}

/// The command that makes a kernel again, from its canonical program: extents by name, strides where they are not
/// dense.
std::string again(const ir::Program& program, const ir::PermuteProblem& problem, const runtime::Target& target) {
  const auto& to = program.statement().offset;
  const auto load = program.find_load(0);
  const auto& from = program.nodes[static_cast<std::size_t>(load)].offset;
  std::vector<std::size_t> order(program.indices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto names = [&](const ir::Affine& affine) {
    auto sorted = order;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](auto p, auto q) { return std::abs(affine.coefficient[p]) > std::abs(affine.coefficient[q]); });
    return sorted;
  };
  const auto in = names(from), out = names(to);
  const auto spell = [&](const std::vector<std::size_t>& axes) {
    std::string text;
    const bool words = program.indices.size() > 26;
    for (const auto q : axes) text += (words && !text.empty() ? " " : "") + program.indices[q].name;
    return text;
  };
  std::string text = fmt::format("ricci show '{}->{}'", spell(in), spell(out));
  for (const auto q : in) text += fmt::format(" {}={}", program.indices[q].name, program.indices[q].extent);
  text += fmt::format(" --dtype {}", name(program.buffers[0].type));
  if (program.buffers[1].type != program.buffers[0].type)
    text += fmt::format(" --out-dtype {}", name(program.buffers[1].type));
  const auto strides = [&](const char* option, const std::vector<std::size_t>& axes, const ir::Affine& affine) {
    std::int64_t dense = 1;
    bool is_dense = true;
    for (std::size_t k = axes.size(); k-- > 0;) {
      is_dense = is_dense && affine.coefficient[axes[k]] == dense;
      dense *= program.indices[axes[k]].extent;
    }
    if (is_dense) return;
    text += fmt::format(" {}=", option);
    for (std::size_t k = 0; k < axes.size(); ++k)
      text += fmt::format("{}{}", k == 0 ? "" : ",", affine.coefficient[axes[k]]);
  };
  strides("--strides-in", in, from);
  strides("--strides-out", out, to);
  if (problem.conjugate && is_complex(problem.input.type)) text += " --conj";
  if (problem.alpha == ir::Factor::any) text += " --alpha any";
  if (problem.beta == ir::Factor::any) text += " --beta any";
  if (problem.beta == ir::Factor::one) text += " --beta 1";
  text += target.device == Device::cpu ? " --device cpu" : fmt::format(" --device gpu --target sm_{}", target.sm);
  return text;
}

}  // namespace

struct Runtime::Impl {
  explicit Impl(RuntimeOptions o)
      : options(std::move(o)),
        threads(options.threads > 0 ? options.threads : runtime::default_threads()),
        store(cache_config(options.cache_dir)) {}

  std::shared_ptr<runtime::ThreadPool> pool() {
    const std::lock_guard lock(mutex);
    if (!thread_pool) thread_pool = std::make_shared<runtime::ThreadPool>(threads);
    return thread_pool;
  }

  /// Plans that share a canonical form share loaded code as long as one of them lives.
  std::shared_ptr<const runtime::Kernel> kernel(const std::string& key, const ir::Program& program,
                                                const ir::Schedule& schedule, const runtime::Target& target,
                                                const codegen::Notes& notes, bool* shared) {
    const auto name = fmt::format("{}@{}", key, target.ordinal);
    {
      const std::lock_guard lock(mutex);
      if (const auto place = kernels.find(name); place != kernels.end()) {
        if (auto loaded = place->second.lock()) {
          *shared = true;
          return loaded;
        }
        kernels.erase(place);
      }
    }
    auto loaded = runtime::make_kernel(store, key, program, schedule, target, notes);
    const std::lock_guard lock(mutex);
    kernels[name] = loaded;
    return loaded;
  }

  RuntimeOptions options;
  int threads;
  cache::Store store;
  std::mutex mutex;
  std::shared_ptr<runtime::ThreadPool> thread_pool;
  std::map<std::string, std::weak_ptr<const runtime::Kernel>> kernels;
};

Runtime::Runtime(RuntimeOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Runtime::~Runtime() = default;
Runtime::Runtime(Runtime&&) noexcept = default;
Runtime& Runtime::operator=(Runtime&&) noexcept = default;

Runtime& Runtime::global() {
  static auto* runtime = new Runtime;  // plans in other static objects may outlive any order of destruction
  return *runtime;
}

namespace {

runtime::Target target_of(const PermuteOptions& options) {
  runtime::Target target;
  target.device = options.device;
  if (options.device == Device::cpu) {
    static const auto host = jit::host_cpu();
    target.cpu = host;
    return target;
  }
  if (options.target_sm > 0) {
    target.sm = options.target_sm;
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

}  // namespace

Plan Runtime::plan_permute(std::string_view spec_text, const Layout& input, const Layout& output,
                           const PermuteOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  auto p = std::make_shared<Plan::Impl>();
  p->problem = {Spec::parse(spec_text), input, output, ir::factor_of(options.alpha), ir::factor_of(options.beta),
                options.conjugate};
  p->alpha = options.alpha;
  p->beta = options.beta;
  // 0 * A is 0 whatever A holds: as a run-time factor, since it is rare.
  if (p->problem.alpha == ir::Factor::zero) p->problem.alpha = ir::Factor::any;
  auto& problem = p->problem;
  if (options.device == Device::cpu) {
    // CPU kernels use unaligned accesses: a promise would only split the cache and refuse calls.
    problem.input.alignment = problem.output.alignment = 0;
  }
  ir::check(problem);
  const auto type = ir::compute_type(input.type, output.type);
  ir::check_factor("alpha", options.alpha, type);
  ir::check_factor("beta", options.beta, type);
  p->target = target_of(options);

  const auto lowered = ir::lower(problem);
  p->info.compulsory_bytes = lowered.points() * (size_of(input.type) + size_of(output.type));
  p->input = buffer_check(lowered.buffers[0], input.type);
  p->output = buffer_check(lowered.buffers[1], output.type);
  if (options.device == Device::gpu) {
    p->input.alignment = lowered.buffers[0].alignment;
    p->output.alignment = lowered.buffers[1].alignment;
  }
  std::int64_t lattice = 0;
  for (const auto* layout : {&problem.input, &problem.output}) {
    for (std::size_t k = 0; k < layout->extents.size(); ++k) {
      if (layout->extents[k] > 1) lattice = std::gcd(lattice, layout->strides[k] * size_of(layout->type));
    }
  }
  p->lattice_bytes = std::max<std::int64_t>(lattice, 1);
  p->program = ir::canonicalise(lowered);
  if (p->program.points() == 0) {
    p->info.origin = "none";
    p->info.schedule = "nothing to run";
    p->info.plan_ms = ms_since(start);
    return Plan(std::move(p));
  }

  const int threads = std::max(1, std::min(options.threads > 0 ? options.threads : impl_->threads, impl_->threads));
  std::vector<plan::Candidate> list;
  if (options.device == Device::cpu) {
    list = plan::candidates(p->program, runtime::cpu_figures(p->target.cpu, threads));
    p->device_text = fmt::format("{}, {} threads", p->target.text(), threads);
  } else if (p->target.ordinal >= 0) {
    const auto info = jit::cuda::device_info(p->target.ordinal);
    list = plan::candidates(p->program, runtime::gpu_figures(info), options.schedule);
    p->device_text = info.name;
  } else {
    list = plan::candidates(p->program, plan::GpuFigures::of_capability(p->target.sm), options.schedule);
    p->device_text = fmt::format("sm_{} (no device)", p->target.sm);
  }
  p->chosen = plan::choose(list, options.schedule);
  const auto& schedule = p->chosen.schedule;
  p->tiles = schedule.tiles(p->program);
  p->info.schedule = plan::summary(p->program, schedule);
  p->info.plan_ms = ms_since(start);
  if (log_enabled(LogTopic::plan))
    log_line(LogTopic::plan, plan::explain(list, plan::choose(list, schedule.name), p->device_text));

  codegen::Notes notes;
  notes.target = p->target.text();
  notes.plan = p->info.schedule;
  notes.again = again(p->program, problem, p->target) + fmt::format(" --schedule '{}'", schedule.name);
  const auto key = runtime::kernel_key(p->program, schedule, p->target);
  bool shared = false;
  p->kernel = impl_->kernel(key, p->program, schedule, p->target, notes, &shared);
  const auto& kernel = *p->kernel;
  auto& info = p->info;
  info.kernel = kernel.name;
  info.origin = shared || kernel.outcome == cache::Outcome::memory ? "memory"
                : kernel.outcome == cache::Outcome::disk           ? "disk"
                                                                   : "compiled";
  if (!shared) {
    info.generate_ms = kernel.generate_ms;
    info.compile_ms = kernel.compile_ms;
    info.load_ms = kernel.load_ms;
  }
  info.registers = kernel.registers;
  info.spill_bytes = kernel.spill_bytes;
  info.shared_bytes = kernel.shared_bytes;
  if (!impl_->store.config().root.empty()) p->cache_root = impl_->store.config().root.string();

  if (options.device == Device::cpu) {
    // A thread more pays for itself from about 64 KB on; a few parts per thread even out what the machine does
    // meanwhile.
    constexpr std::int64_t kBytesPerTask = 64 * 1024;
    const auto worth = std::max<std::int64_t>(info.compulsory_bytes / kBytesPerTask, 1);
    const auto parts = threads == 1 ? 1 : std::min<std::int64_t>({worth, p->tiles, threads * std::int64_t{4}});
    p->tasks = static_cast<int>(parts);
    if (!impl_->options.executor && p->tasks > 1) p->pool = impl_->pool();
    p->executor = impl_->options.executor;
  } else {
    p->blocks = static_cast<unsigned>(schedule.blocks(p->program));
    p->dynamic_shared = static_cast<std::size_t>(codegen::dynamic_shared_bytes(p->program, schedule));
  }
  return Plan(std::move(p));
}

Plan Runtime::plan_permute(std::string_view spec, const Layout& input, const PermuteOptions& options) {
  return plan_permute(spec, input, ir::permuted_row_major(Spec::parse(spec), input), options);
}

void Runtime::interpret_permute(std::string_view spec, const Layout& input, const Layout& output, const void* a,
                                void* b, Scalar alpha, Scalar beta, bool conjugate) {
  ir::PermuteProblem problem{Spec::parse(spec), input, output, ir::factor_of(alpha), ir::factor_of(beta), conjugate};
  if (problem.alpha == ir::Factor::zero) problem.alpha = ir::Factor::any;
  ir::check(problem);
  const auto program = ir::lower(problem);
  std::vector<Scalar> params;
  for (const auto& param : program.params) params.push_back(param.name == "alpha" ? alpha : beta);
  ir::interpret(program, {const_cast<void*>(a), b}, params);
}

std::string Plan::cache_path() const {
  if (!impl_->kernel || impl_->cache_root.empty()) return {};
  const auto path = std::filesystem::path(impl_->cache_root) / cache::EntryName::of(impl_->kernel->entry->key).path();
  std::error_code error;
  return std::filesystem::exists(path, error) ? path.string() : std::string();
}

void permute(std::string_view spec, const Layout& input, const void* a, const Layout& output, void* b,
             const PermuteOptions& options) {
  // The plan of an earlier call with the same arguments, if there was one: a look-up by text, about a microsecond.
  static std::mutex mutex;
  static auto* plans = new std::map<std::string, Plan>;
  std::string key = fmt::format(
      "{}|{}|{}|{}|{}|{},{}|{},{}|{}|{}|{}|", spec, name(options.device), options.gpu, options.target_sm,
      options.threads, options.alpha.real(), options.alpha.imag(), options.beta.real(), options.beta.imag(),
      options.conjugate, options.schedule,
      options.device == Device::gpu && options.gpu < 0 && jit::cuda::available() ? jit::cuda::current_device() : -1);
  for (const auto* layout : {&input, &output}) {
    key += fmt::format("{}@{}", name(layout->type), layout->alignment);
    for (std::size_t k = 0; k < layout->extents.size(); ++k) {
      key += fmt::format(",{}:{}", layout->extents[k], k < layout->strides.size() ? layout->strides[k] : 0);
    }
    key += '|';
  }
  {
    const std::lock_guard lock(mutex);
    if (const auto place = plans->find(key); place != plans->end()) {
      const Plan plan = place->second;
      plan(b, a);
      return;
    }
  }
  const Plan plan = Runtime::global().plan_permute(spec, input, output, options);
  {
    const std::lock_guard lock(mutex);
    constexpr std::size_t kKept = 4096;
    if (plans->size() >= kKept) plans->clear();
    plans->emplace(std::move(key), plan);
  }
  plan(b, a);
}

}  // namespace v1

namespace runtime {

plan::GpuFigures gpu_figures(const jit::cuda::DeviceInfo& info) {
  auto figures = plan::GpuFigures::of_capability(info.sm);
  figures.multiprocessors = info.multiprocessors;
  figures.shared_bytes_per_block = info.shared_bytes_per_block;
  figures.shared_bytes_per_multiprocessor = info.shared_bytes_per_multiprocessor;
  figures.threads_per_multiprocessor = info.max_threads_per_multiprocessor;
  if (info.clock_khz > 0) figures.clock_MHz = info.clock_khz / 1e3;
  // Double data rate over the bus's width; a copy reaches nine tenths of it.
  figures.copy_GBs = 0.9 * 2.0 * info.memory_clock_khz * 1e3 * info.memory_bus_bits / 8 * 1e-9;
  return figures;
}

plan::CpuFigures cpu_figures(const jit::CpuTarget& cpu, int threads) {
  plan::CpuFigures figures;
  figures.vector_bytes = cpu.vector_bytes;
  figures.threads = threads;
  if (const long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE); bytes > 0) figures.l1_bytes = bytes;
  if (const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0) figures.l2_bytes = bytes;
  return figures;
}

}  // namespace runtime
}  // namespace ricci
