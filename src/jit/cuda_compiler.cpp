#include "jit/cuda_compiler.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <functional>
#include <string_view>

#include "ir/own_stack.hpp"
#include "jit/nvrtc_library.hpp"
#include "ricci/error.hpp"
#include "ricci/log.hpp"

namespace ricci::jit {
namespace {

// Flags that NVRTC 12.0 to 12.8 do not all know; none changes what a kernel computes. One that is refused is dropped
// for the rest of the process. --minimal takes 10 % off a compile; --no-cache keeps NVRTC from a second cache beside
// ours, a hit of which would come without ptxas' figures; the seed keeps internal names equal from run to run.
constexpr std::array<std::string_view, 3> kOptional = {"--minimal", "--no-cache", "-frandom-seed=ricci"};
std::atomic<unsigned> refused{0};  // one bit for each of kOptional

std::vector<std::string> required_flags(const CudaCompileOptions& options) {
  std::vector<std::string> flags = {
      // sm_, not compute_: CUBIN in one step. sm_90a: products by warp groups; it runs where sm_90 does.
      fmt::format("--gpu-architecture=sm_{}{}", options.sm, options.sm == 90 ? "a" : ""),
      "--std=c++17",
      "-default-device",
      options.contract ? "--fmad=true" : "--fmad=false",
      "--ptxas-options=-v",
  };
  flags.insert(flags.end(), options.extra.begin(), options.extra.end());
  return flags;
}

constexpr int kMaxStaticShared = 48 * 1024;  // on every architecture

class NvrtcProgram {
 public:
  NvrtcProgram(const Nvrtc& nvrtc, const std::string& source, const std::string& name) : nvrtc_(nvrtc) {
    const int code = nvrtc.call.create_program(&program_, source.c_str(), name.c_str(), 0, nullptr, nullptr);
    if (code != api::kNvrtcSuccess)
      throw CompileError(fmt::format("nvrtcCreateProgram failed for {}: {}", name, nvrtc.call.get_error_string(code)),
                         source, "");
  }
  ~NvrtcProgram() { nvrtc_.call.destroy_program(&program_); }
  NvrtcProgram(const NvrtcProgram&) = delete;
  NvrtcProgram& operator=(const NvrtcProgram&) = delete;

  int compile(const std::vector<std::string>& flags) {
    std::vector<const char*> texts;
    for (const std::string& flag : flags) texts.push_back(flag.c_str());
    return nvrtc_.call.compile_program(program_, static_cast<int>(texts.size()), texts.data());
  }
  std::string log() const {
    std::size_t bytes = 0;
    if (nvrtc_.call.get_log_size(program_, &bytes) != api::kNvrtcSuccess || bytes < 2) return "";
    std::string text(bytes, '\0');
    if (nvrtc_.call.get_log(program_, text.data()) != api::kNvrtcSuccess) return "";
    text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
    return text;
  }
  int cubin(std::vector<std::byte>& bytes) const {
    std::size_t size = 0;
    if (const int code = nvrtc_.call.get_cubin_size(program_, &size); code != api::kNvrtcSuccess) return code;
    bytes.resize(size);
    return nvrtc_.call.get_cubin(program_, reinterpret_cast<char*>(bytes.data()));
  }

 private:
  const Nvrtc& nvrtc_;
  api::NvrtcProgram program_ = nullptr;
};

void for_each_line(std::string_view text, const std::function<void(std::string_view)>& take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// The number just before (below: just after) `word` in `line`; 0 when it does not occur.
int number_before(std::string_view line, std::string_view word) {
  const std::size_t at = line.find(word);
  if (at == std::string_view::npos) return 0;
  std::size_t start = at;
  while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9') --start;
  int value = 0;
  std::from_chars(line.data() + start, line.data() + at, value);
  return value;
}

int number_after(std::string_view line, std::string_view word) {
  const std::size_t at = line.find(word);
  int value = 0;
  if (at != std::string_view::npos) std::from_chars(line.data() + at + word.size(), line.data() + line.size(), value);
  return value;
}

struct Resources {
  int registers = 0, spill_bytes = 0, static_shared_bytes = 0;
};

// The largest figures over the kernels that ptxas reports on.
Resources resources_in(std::string_view log) {
  Resources most;
  for_each_line(log, [&](std::string_view line) {
    most.registers = std::max(most.registers, number_before(line, " registers"));
    most.static_shared_bytes = std::max(most.static_shared_bytes, number_before(line, " bytes smem"));
    const int stored = number_before(line, " bytes spill stores"), loaded = number_before(line, " bytes spill loads");
    most.spill_bytes = std::max(most.spill_bytes, stored + loaded);
  });
  return most;
}

// ptxas ends with its own time, the one thing in the log that differs from run to run.
std::string without_times(const std::string& log) {
  std::string kept;
  for_each_line(log, [&](std::string_view line) {
    if (line.find("Compile time =") == std::string_view::npos) kept.append(line).push_back('\n');
  });
  return kept;
}

std::string_view source_line(std::string_view source, int number) {
  for (int i = 1; i < number && !source.empty(); ++i)
    source.remove_prefix(std::min(source.find('\n'), source.size() - 1) + 1);
  return source.substr(0, std::min(source.find('\n'), source.size()));
}

// The first errors of the log, each followed by the line of the source it names.
std::string first_errors(const std::string& log, const std::string& source, const std::string& file) {
  constexpr int kShown = 3;
  std::string text;
  int shown = 0;
  for_each_line(log, [&](std::string_view line) {
    if (line.find("error:") == std::string_view::npos && !line.starts_with("ptxas error")) return;
    if (shown++ >= kShown) return;
    text += fmt::format("\n  {}", line);
    if (const int number = line.starts_with(file + "(") ? number_after(line, "(") : 0; number > 0)
      text += fmt::format("\n  {:>5} | {}", number, source_line(source, number));
  });
  if (shown > kShown) text += fmt::format("\n  and {} more", shown - kShown);
  if (!text.empty()) return text;
  // NVRTC 13.0 drops ptxas' own message about shared memory and keeps its figures.
  const int shared = resources_in(log).static_shared_bytes;
  if (shared > kMaxStaticShared) {
    return fmt::format("\n  static shared memory: {} bytes, of {} that a kernel may declare (more must be dynamic)",
                       shared, kMaxStaticShared);
  }
  return "\n  " + (log.empty() ? std::string("(no log)") : log);
}

/// NVRTC ends the process where its memory runs out in the wrong place: what it needs has to be there before. A check
/// of the limit of address space, not a promise.
void check_memory(const Nvrtc& nvrtc, const std::string& source, const std::string& name) {
  const std::size_t bytes = (std::size_t{32} << 20) + 512 * source.size();
  void* room = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room != MAP_FAILED) {
    munmap(room, bytes);
    return;
  }
  throw CompileError(fmt::format("NVRTC {} needs about {} MB of memory for the kernel {} ({} bytes of source), and the "
                                 "system has none.\n"
                                 "  Free memory or raise its limit and call again: the kernel itself may be sound.",
                                 nvrtc.version, bytes >> 20, name, source.size()),
                     source, "");
}

/// NVRTC's parser and optimiser call themselves on the caller's stack.
std::size_t stack_of(const std::string& source) {
  return std::min((std::size_t{4} << 20) + 64 * source.size(), std::size_t{64} << 20);
}

void check_architecture(const Nvrtc& nvrtc, int sm) {
  const std::vector<int>& known = nvrtc.architectures;
  if (known.empty() || std::find(known.begin(), known.end(), sm) != known.end()) return;
  throw PlanError(
      fmt::format("NVRTC {} does not compile for sm_{}: it knows sm_{}.\n  Use a device it knows, or set CUDA_HOME or "
                  "RICCI_NVRTC to a release that knows sm_{}.",
                  nvrtc.version, sm, fmt::join(known, ", sm_"), sm));
}

CompileError refusal(const Nvrtc& nvrtc, int code, const std::string& source, const std::string& name,
                     const std::string& file, const CudaCompileOptions& options, const std::vector<std::string>& flags,
                     const std::string& log) {
  std::string text;
  if (code == api::kNvrtcInvalidOption) {
    text = fmt::format("NVRTC {} refused an option for the kernel {}:\n  {}  options: {}", nvrtc.version, name, log,
                       fmt::join(flags, " "));
  } else if (code == api::kNvrtcOutOfMemory) {
    text = fmt::format(
        "NVRTC {} ran out of host memory while compiling the kernel {} for sm_{} ({} bytes of source).\n"
        "  Free memory or raise its limit and call again: the kernel itself may be sound.",
        nvrtc.version, name, options.sm, source.size());
  } else {
    text = fmt::format(
        "NVRTC {} refused the kernel {} for sm_{} ({}):{}\n"
        "  Generated source that does not compile is a defect of Ricci: please report it with the source and log of "
        "this error.",
        nvrtc.version, name, options.sm, nvrtc.call.get_error_string(code), first_errors(log, source, file));
  }
  return {text, source, log};
}

}  // namespace

std::string cuda_compiler_version() {
  const NvrtcFile& file = found_nvrtc();
  if (file.path.empty()) return "";
  return "nvrtc " + (file.version.empty() ? Nvrtc::get().version : file.version);
}

CudaCompilerInfo cuda_compiler_info() { return {found_nvrtc().path, cuda_compiler_version(), found_nvrtc().looked_in}; }

std::string cuda_flags_text(const CudaCompileOptions& options) {
  return fmt::format("{}", fmt::join(required_flags(options), " "));
}

CudaObject compile_cuda(const std::string& source, const std::string& name, const CudaCompileOptions& options) {
  const Nvrtc& nvrtc = Nvrtc::get();
  check_architecture(nvrtc, options.sm);
  check_memory(nvrtc, source, name);
  const auto start = std::chrono::steady_clock::now();
  const std::string file = name.find('.') == std::string::npos ? name + ".cu" : name;

  CudaObject object;
  int code = api::kNvrtcSuccess;
  std::vector<std::string> flags;
  for (unsigned dropped = refused.load(std::memory_order_relaxed);;) {
    flags = required_flags(options);
    for (std::size_t i = 0; i < kOptional.size(); ++i)
      if (!(dropped >> i & 1u)) flags.emplace_back(kOptional[i]);
    on_stack_of(stack_of(source), [&] {
      NvrtcProgram program(nvrtc, source, file);
      code = program.compile(flags);
      object.log = without_times(program.log());
      if (code == api::kNvrtcSuccess) code = program.cubin(object.cubin);
    });
    if (code != api::kNvrtcInvalidOption) break;
    unsigned unknown = 0;
    for (std::size_t i = 0; i < kOptional.size(); ++i)
      if (object.log.find(kOptional[i]) != std::string::npos) unknown |= 1u << i;
    if ((unknown & ~dropped) == 0) break;
    dropped |= unknown;
    refused.fetch_or(unknown, std::memory_order_relaxed);
  }
  const Resources resources = resources_in(object.log);
  // Some releases (12.4) let this pass; then it would fail when it is loaded, far from its source.
  if (code == api::kNvrtcSuccess && resources.static_shared_bytes > kMaxStaticShared) code = api::kNvrtcCompilation;
  if (code != api::kNvrtcSuccess) throw refusal(nvrtc, code, source, name, file, options, flags, object.log);

  object.registers = resources.registers;
  object.spill_bytes = resources.spill_bytes;
  object.static_shared_bytes = resources.static_shared_bytes;
  object.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (log_enabled(LogTopic::compile)) {
    log_line(LogTopic::compile, fmt::format("nvrtc {} compiled {} for sm_{} in {:.1f} ms: {} bytes, {} registers, {} "
                                            "spill bytes, {} bytes of static shared memory",
                                            nvrtc.version, name, options.sm, object.ms, object.cubin.size(),
                                            object.registers, object.spill_bytes, object.static_shared_bytes));
  }
  return object;
}

}  // namespace ricci::jit
