// What Ricci costs beside its kernels: the first kernel of a process, cold and warm, a plan, a call, small einsums, a
// fork and join.
//
//   ricci-bench-latency [--repeat 21] [--json FILE] [--commit HASH]
//
// One line per figure: the median, the least and the most of the repetitions, and the target where there is one.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <optional>

#include "jit/cpu_compiler.hpp"
#include "jit/cuda_compiler.hpp"
#include "jit/object_loader.hpp"
#include "json/json.hpp"
#include "ricci/ricci.hpp"
#include "runtime/thread_pool.hpp"

namespace {

using ricci::Json;
using Samples = std::vector<double>;

double now_ns() {
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

double median(Samples samples) {
  std::sort(samples.begin(), samples.end());
  const auto half = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[half] : (samples[half - 1] + samples[half]) / 2;
}

/// A folder of its own, removed at the end.
struct Folder {
  Folder() {
    char text[] = "/tmp/ricci-latency-XXXXXX";
    if (mkdtemp(text) == nullptr) throw std::runtime_error("cannot make a folder in /tmp");
    path = text;
  }
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
  std::string path;
};

struct FirstKernel {
  double start_ms = 0, main_ms = 0, plan_ms = 0, choice_ms = 0;
  double processor_ms = 0;  // of the whole process: what does not depend on what else the machine does
  std::string origin;
  int compilers = 0;
};

/// Starts the helper in a cache folder and reads its line.
FirstKernel run_process(const std::string& target, const std::string& cache) {
  setenv("RICCI_CACHE_DIR", cache.c_str(), 1);
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("cannot make a pipe");
  const auto asked = fmt::format("{:.0f}", now_ns());
  const auto child = vfork();  // as posix_spawn does: the size of this process is not copied
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execl(RICCI_FIRST_KERNEL, RICCI_FIRST_KERNEL, target.c_str(), asked.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::FILE* stream = fdopen(ends[0], "r");
  FirstKernel first;
  char origin[32] = {};
  const int read = std::fscanf(stream, "%lf %lf %lf %lf %31s %d", &first.start_ms, &first.main_ms, &first.plan_ms,
                               &first.choice_ms, origin, &first.compilers);
  std::fclose(stream);
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  for (const auto& time : {usage.ru_utime, usage.ru_stime}) {
    first.processor_ms += static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) * 1e-3;
  }
  if (read != 6 || status != 0) throw std::runtime_error("the process of a first kernel failed");
  first.origin = origin;
  return first;
}

class Report {
 public:
  void add(const std::string& id, const std::string& text, const char* unit, const Samples& samples,
           std::optional<double> target = {}) {
    const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
    const double figure = median(samples);
    const std::string verdict =
        !target ? "" : fmt::format("  target {:g} {}: {}", *target, unit, figure <= *target ? "met" : "MISSED");
    fmt::print("{:<58} {:>9.3f} {} ({:.3f} .. {:.3f}){}\n", text, figure, unit, *low, *high, verdict);
    std::fflush(stdout);
    Json line = {{"id", id},
                 {"what", text},
                 {"unit", unit},
                 {"value", figure},
                 {"min", *low},
                 {"max", *high},
                 {"repetitions", samples.size()}};
    if (target) {
      line["target"] = *target;
      line["met"] = figure <= *target;
    }
    cases.push_back(std::move(line));
  }
  Json cases = Json::array();
};

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

void first_kernels(Report& report, int repeat) {
  Samples cold, cold_processor, warm, before_main, warm_main, warm_plan;
  const Folder kept;
  run_process("cpu", kept.path);
  for (int k = 0; k < repeat; ++k) {
    const Folder fresh;
    const auto first = run_process("cpu", fresh.path);
    require(first.origin == "compiled" && first.compilers > 0, "a cold process did not compile");
    cold.push_back(first.start_ms);
    cold_processor.push_back(first.processor_ms);
    const auto again = run_process("cpu", kept.path);
    require(again.origin == "disk", "a warm process did not find its kernel on disk");
    require(again.compilers == 0, "a warm process has mapped a compiler");
    warm.push_back(again.start_ms);
    before_main.push_back(again.start_ms - again.main_ms);
    warm_main.push_back(again.main_ms);
    warm_plan.push_back(again.plan_ms);
  }
  report.add("cold_cpu", "cold: process start to first CPU kernel ready", "ms", cold, 40);
  report.add("cold_cpu_processor", "cold: processor time of that process", "ms", cold_processor);
  report.add("warm_cpu", "warm: process start to CPU kernel ready, no compiler mapped", "ms", warm, 1);
  report.add("warm_before_main", "warm: of that before main(), the system's part", "ms", before_main);
  report.add("warm_cpu_main", "warm: from main() to kernel ready, Ricci's part", "ms", warm_main);
  report.add("warm_cpu_plan", "warm: plan_permute(), kernel from disk", "ms", warm_plan);
  if (ricci::jit::cuda_compiler_version().empty()) {
    fmt::print("no NVRTC: CUDA left out\n");
    return;
  }
  Samples cubin, cuda_start, cuda_processor;
  for (int k = 0; k < repeat; ++k) {
    const Folder fresh;
    const auto first = run_process("sm_90", fresh.path);
    require(first.origin == "compiled" && first.compilers > 0, "a cold process did not compile");
    cubin.push_back(first.plan_ms - first.choice_ms);
    cuda_start.push_back(first.start_ms);
    cuda_processor.push_back(first.processor_ms);
  }
  report.add("cold_cuda", "cold: first CUDA source to CUBIN, NVRTC opened and stored", "ms", cubin, 60);
  report.add("cold_cuda_start", "cold: process start to first CUBIN", "ms", cuda_start);
  report.add("cold_cuda_processor", "cold: processor time of that process", "ms", cuda_processor);
}

/// Reversed axes, 3 values each.
ricci::Plan reversal(ricci::Runtime& runtime, int rank, const ricci::PermuteOptions& options) {
  std::string letters = "abcdefghijkl";
  letters.resize(static_cast<std::size_t>(rank));
  const auto spec = letters + "->" + std::string(letters.rbegin(), letters.rend());
  const auto layout = ricci::Layout::row_major(ricci::DType::f64, std::vector<std::int64_t>(letters.size(), 3));
  return runtime.plan_permute(spec, layout, options);
}

/// Planning alone: the kernel is in memory, held by a first plan.
void plan_creation(Report& report, ricci::Runtime& runtime, int repeat) {
  for (const bool cpu : {true, false}) {
    if (!cpu && ricci::jit::cuda_compiler_version().empty()) continue;
    ricci::PermuteOptions options;
    if (!cpu) {
      options.device = ricci::Device::gpu;
      options.target_sm = 90;
    }
    for (int rank = 2; rank <= 12; ++rank) {
      const auto held = reversal(runtime, rank, options);
      Samples us;
      for (int k = 0; k < repeat; ++k) {
        const double start = now_ns();
        const auto plan = reversal(runtime, rank, options);
        us.push_back((now_ns() - start) * 1e-3);
        require(plan.info().origin == "memory", "a second plan did not share the first one's kernel");
      }
      const char* device = cpu ? "cpu" : "sm_90";
      report.add(fmt::format("plan_{}_rank{}", device, rank),
                 fmt::format("plan without measuring, {}, rank {}", device, rank), "us", us, 200);
    }
  }
}

/// Calls of a plan on 8 elements against calls of the same machine code by its address.
void call_overhead(Report& report, ricci::Runtime& runtime, int repeat) {
  const auto plan = runtime.plan_permute("ab->ba", ricci::Layout::row_major(ricci::DType::f64, {2, 4}));
  ricci::jit::CpuCompileOptions options;
  options.target = ricci::jit::host_cpu();
  options.contract = ricci::jit::Contract::off;
  const auto compiled = ricci::jit::compile_cpu(plan.source(), plan.info().kernel, options);
  const auto object = ricci::jit::load_object(compiled.bytes);
  using Function = void (*)(void* const*, long long, long long);
  const auto bare = reinterpret_cast<Function>(object->symbol(plan.info().kernel));
  require(bare != nullptr, "the kernel is not in its object");

  std::array<double, 8> a{}, b{};
  std::iota(a.begin(), a.end(), 0.0);
  constexpr int kCalls = 20000;
  const auto per_call = [&](const std::function<void()>& calls) {
    const double start = now_ns();
    calls();
    return (now_ns() - start) / kCalls;
  };
  Samples through_plan, by_address, difference;
  for (int k = 0; k < repeat; ++k) {
    const double planned = per_call([&] {
      for (int c = 0; c < kCalls; ++c) plan(b.data(), a.data());
    });
    const double direct = per_call([&] {
      void* const arguments[] = {a.data(), b.data()};
      // One tile holds all eight elements, as plan.info().schedule says.
      for (int c = 0; c < kCalls; ++c) bare(arguments, 0, 1);
    });
    through_plan.push_back(planned);
    by_address.push_back(direct);
    difference.push_back(planned - direct);
  }
  require(b[1] == a[4], "the kernel is wrong");
  report.add("call_plan", "a plan's call on 8 elements", "ns", through_plan);
  report.add("call_bare", "the bare kernel's call", "ns", by_address);
  report.add("call_overhead", "executing a plan beyond its kernel", "ns", difference, 1000);
}

/// Calls of einsums whose operands are matrices of 4 x 4, in f64.
void small_einsums(Report& report, ricci::Runtime& runtime, int repeat) {
  constexpr std::int64_t kExtent = 4;
  struct Small {
    const char *id, *what, *spec;
    int operands;
  };
  const Small kSmall[] = {
      {"einsum_4x4x4", "a call of a 4 x 4 x 4 contraction", "ab,bc->ac", 2},
      {"einsum_chain8", "a call of an einsum of 8 operands of extent 4", "ab,bc,cd,de,ef,fg,gh,hi->ai", 8}};
  const auto matrix = ricci::Layout::row_major(ricci::DType::f64, {kExtent, kExtent});
  std::array<double, kExtent * kExtent> ones{}, product{};
  ones.fill(1);
  for (const auto& small : kSmall) {
    const auto operands = static_cast<std::size_t>(small.operands);
    const auto plan = runtime.plan_einsum(small.spec, std::vector<ricci::Layout>(operands, matrix));
    const std::vector<const void*> inputs(operands, ones.data());
    void* const output = product.data();
    std::vector<char> workspace(static_cast<std::size_t>(plan.info().workspace_bytes) + 256);
    ricci::Call call;
    const auto address = reinterpret_cast<std::uintptr_t>(workspace.data());
    call.workspace_bytes = static_cast<std::size_t>(plan.info().workspace_bytes);
    call.workspace = workspace.data() + (256 - address % 256) % 256;
    constexpr int kCalls = 20000;
    Samples ns;
    for (int k = 0; k < repeat; ++k) {
      const double start = now_ns();
      for (int c = 0; c < kCalls; ++c) plan(std::span<void* const>(&output, 1), inputs, call);
      ns.push_back((now_ns() - start) / kCalls);
    }
    require(product[0] == std::pow(kExtent, small.operands - 1), "a small einsum is wrong");
    report.add(small.id, small.what, "ns", ns);
  }
}

void fork_join(Report& report, int repeat) {
  const int most = ricci::runtime::default_threads();
  for (int threads = 1; threads <= most; threads *= 2) {
    ricci::runtime::ThreadPool pool(threads);
    constexpr int kForks = 2000;
    Samples ns;
    for (int k = 0; k < repeat; ++k) {
      const double start = now_ns();
      for (int f = 0; f < kForks; ++f) pool.run(threads, [](void*, int) {}, nullptr);
      ns.push_back((now_ns() - start) / kForks);
    }
    report.add(fmt::format("fork_join_{}", threads), fmt::format("fork and join, {} threads", threads), "ns", ns);
  }
}

std::string cpu_model() {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  int repeat = 21;
  std::string json, commit = "unknown";
  for (int k = 1; k + 1 < argc; k += 2) {
    const std::string option = argv[k];
    if (option == "--repeat") {
      repeat = std::atoi(argv[k + 1]);
    } else if (option == "--json") {
      json = argv[k + 1];
    } else if (option == "--commit") {
      commit = argv[k + 1];
    } else {
      argc = 0;
    }
  }
  if (argc % 2 == 0 || repeat < 1) {
    fmt::print(stderr, "usage: ricci-bench-latency [--repeat 21] [--json FILE] [--commit HASH]\n");
    return 2;
  }
  try {
    fmt::print("{}, {} threads, medians of {} repetitions (least .. most)\n", cpu_model(),
               ricci::runtime::default_threads(), repeat);
    Report report;
    first_kernels(report, repeat);
    ricci::RuntimeOptions options;
    options.cache_dir = "off";
    ricci::Runtime runtime(std::move(options));
    call_overhead(report, runtime, repeat);
    small_einsums(report, runtime, repeat);
    fork_join(report, repeat);
    plan_creation(report, runtime, repeat);
    if (!json.empty()) {
      const Json result = {
          {"bench", "latency"},
          {"device", cpu_model()},
          {"threads", ricci::runtime::default_threads()},
          {"date", today()},
          {"commit", commit},
          {"command", fmt::format("ricci-bench-latency --repeat {} --json {} --commit {}", repeat, json, commit)},
          {"compilers", {ricci::jit::cpu_compiler_version(), ricci::jit::cuda_compiler_version()}},
          {"cases", report.cases}};
      std::ofstream stream(json);
      stream << result.dump(2) << '\n';
      if (!stream.flush()) throw std::runtime_error(fmt::format("cannot write {}", json));
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "ricci-bench-latency: {}\n", error.what());
    return 3;
  }
}
