#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cache/store.hpp"
#include "jit/cpu_compiler.hpp"
#include "jit/cpu_target.hpp"
#include "jit/cuda_compiler.hpp"
#include "jit/cuda_driver.hpp"
#include "ricci/error.hpp"
#include "ricci/runtime.hpp"
#include "runtime/device_model.hpp"
#include "runtime/runtime_impl.hpp"
#include "runtime/thread_pool.hpp"

namespace ricci {
inline namespace v1 {
namespace {

using State = DoctorLine::State;

/// Compiles a test kernel: a compiler that is installed may still not work.
DoctorLine clang_line() {
  const auto version = jit::cpu_compiler_version();
  if (version.empty()) {
    return {State::missing, "clang",
            "Ricci was built without the CPU back end; configure with -DRICCI_CPU=ON and LLVM/Clang 19"};
  }
  try {
    const auto object =
        jit::compile_cpu("extern \"C\" int probe() { return 1; }", "probe", {jit::host_cpu(), jit::Contract::fast, {}});
    return {State::ok, "clang",
            fmt::format("{}, compiles in process ({:.1f} ms for an empty function)", version, object.ms)};
  } catch (const Error& error) {
    return {State::broken, "clang", error.what()};
  }
}

DoctorLine nvrtc_line() {
  const auto info = jit::cuda_compiler_info();
  if (info.path.empty()) {
    return {State::missing, "nvrtc",
            fmt::format("none; looked in {}. Set CUDA_HOME or RICCI_NVRTC", fmt::join(info.looked_in, ", "))};
  }
  try {
    jit::compile_cuda("extern \"C\" __global__ void probe() {}", "probe", {});
    return {State::ok, "nvrtc", fmt::format("{} at {}", info.version, info.path)};
  } catch (const Error& error) {
    return {State::broken, "nvrtc", fmt::format("{}: {}", info.path, error.what())};
  }
}

std::string rates_text(const plan::MeasuredMemory& measured) {
  std::vector<std::string> parts;
  for (const auto& r : measured.rates) {
    parts.push_back(r.threads == 0 ? fmt::format("{:.0f} GB/s", r.copy_GBs)
                                   : fmt::format("{:.0f} GB/s with {} {} ({:.0f} by nontemporal stores)", r.copy_GBs,
                                                 r.threads, r.threads == 1 ? "thread" : "threads", r.streaming_GBs));
  }
  auto text = fmt::format("copies at {}", fmt::join(parts, ", "));
  if (measured.rates.front().threads == 0) return text;
  const auto& all = measured.rates.back();
  text += fmt::format("; reads at {:.0f} GB/s and nontemporal stores at {:.0f} GB/s with {}",
                      std::max(all.read_GBs, all.ahead_GBs), all.write_GBs, all.threads == 1 ? "it" : "all");
  std::transform(measured.rates.begin(), measured.rates.end(), parts.begin(), [](const plan::MemoryRates& r) {
    return fmt::format("{:.0f} GF/s with {} {}", r.multiply_GFs, r.threads, r.threads == 1 ? "thread" : "threads");
  });
  const auto& alone = measured.rates.front();
  return text + fmt::format("; multiply-adds of f64 at {}; {:.1f} ns for a page, {:.1f} ns for one of 4096 B",
                            fmt::join(parts, ", "), alone.page_ns, alone.small_page_ns);
}

/// The library that the environment names, which may be none that can be used.
DoctorLine blas_line() {
  const auto file = runtime::library_file({}, "RICCI_BLAS");
  if (file.empty()) return {State::missing, "blas", "none asked for; RICCI_BLAS names a library for CPU plans to call"};
  try {
    return {State::ok, "blas", runtime::open_blas(file)->identity()};
  } catch (const Error& error) {
    return {State::broken, "blas", error.what()};
  }
}

/// What was measured of a device.
DoctorLine memory_line(cache::Store& store, const char* device, const PlanOptions& options) {
  const auto measured = runtime::find_measured_memory(store, runtime::target_of(options));
  return {State::ok, fmt::format("{} memory", device),
          measured ? rates_text(*measured) : "not measured; the model takes typical values (ricci doctor --measure)"};
}

}  // namespace

std::vector<DoctorLine> doctor() {
  std::vector<DoctorLine> lines;
  lines.push_back({State::ok, "cpu",
                   fmt::format("{}, {} B vectors, {} threads", jit::host_cpu().text(), jit::host_cpu().vector_bytes,
                               runtime::default_threads())});
  cache::Store store(cache::Config::from_environment());
  lines.push_back(memory_line(store, "cpu", {}));
  lines.push_back(blas_line());
  lines.push_back(clang_line());
  lines.push_back(nvrtc_line());
  if (jit::cuda::available()) {
    lines.push_back({State::ok, "driver", fmt::format("serves CUDA {}", jit::cuda::driver_version())});
    for (int k = 0; k < jit::cuda::device_count(); ++k) {
      const auto info = jit::cuda::device_info(k);
      lines.push_back(
          {State::ok, fmt::format("device {}", k),
           fmt::format("{}, sm_{}, {} multiprocessors, {:.0f} GB, L2 {} MB, {} KB shared memory per block", info.name,
                       info.sm, info.multiprocessors, static_cast<double>(info.memory_bytes) * 1e-9,
                       info.l2_bytes >> 20, info.shared_bytes_per_block >> 10)});
      PlanOptions options;
      options.device = Device::gpu;
      options.gpu = k;
      lines.push_back(memory_line(store, fmt::format("device {}", k).c_str(), options));
    }
  } else {
    lines.push_back({State::missing, "driver", jit::cuda::unavailable_reason()});
  }
  const auto& config = store.config();
  if (config.root.empty()) {
    lines.push_back({State::missing, "cache", "memory only: no folder (set RICCI_CACHE_DIR), or it was refused"});
  } else {
    lines.push_back({State::ok, "cache",
                     fmt::format("{}, up to {} MB{}", config.root.string(), config.max_bytes >> 20,
                                 config.read_only ? ", read only" : "")});
  }
  return lines;
}

}  // namespace v1
}  // namespace ricci
