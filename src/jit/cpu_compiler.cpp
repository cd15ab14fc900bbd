#include "jit/cpu_compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "jit/clang_plugin.hpp"
#include "jit/object_loader.hpp"
#include "ricci/error.hpp"
#include "ricci/log.hpp"

namespace ricci::jit {
namespace {

/// The cc1 line without target, files, outputs and triple. Everything the Clang driver would add is said here, as cc1's
/// own defaults are not the driver's: it vectorises nothing, for one.
std::vector<std::string> flags(const CpuCompileOptions& options) {
  std::vector<std::string> arguments = {
      "-std=c++20", options.tiled ? "-O2" : "-O3", "-vectorize-loops", "-vectorize-slp",
      // Without this, 64-byte vectors are quietly split into halves.
      fmt::format("-mprefer-vector-width={}", std::min(options.target.vector_bytes, options.halved ? 32 : 64) * 8),
      options.contract == Contract::off  ? "-ffp-contract=off"
      : options.contract == Contract::on ? "-ffp-contract=on"
                                         : "-ffp-contract=fast",
      "-complex-range=basic",
      // With a frame pointer LLVM can align a frame when it finds that vectors have to be spilled; without one such
      // vectors lie across cache lines.
      "-mframe-pointer=all",
      // No calls that the source does not make: no memcpy for a copy loop, no libm, no runtime of the language.
      "-ffreestanding", "-fno-builtin", "-fno-rtti", "-fno-threadsafe-statics",
      // Self-contained source: no header of the machine can change what a key stands for.
      "-nostdsysteminc", "-nobuiltininc",
      // Code that runs wherever it is put, and calls within reach.
      "-mrelocation-model", "pic", "-pic-level", "2", "-disable-llvm-verifier"};
  if (options.tiled) {
    // The text says which of its loops are unrolled.
    arguments.emplace_back("-fno-unroll-loops");
    // These find next to nothing in it, and take a quarter of the time, the first of them most of that.
    arguments.emplace_back(
        "-skip-passes=IndVarSimplifyPass,IPSCCPPass,SCCPPass,CalledValuePropagationPass,CorrelatedValuePropagationPass,"
        "ConstraintEliminationPass,LoopLoadEliminationPass,DSEPass");
  }
  arguments.insert(arguments.end(), options.extra.begin(), options.extra.end());
  return arguments;
}

std::vector<std::string> cc1_arguments(const CpuCompileOptions& options) {
  std::vector<std::string> arguments = {"-target-cpu", options.target.cpu};
  for (const std::string& feature : options.target.features) {
    arguments.emplace_back("-target-feature");
    arguments.push_back(feature);
  }
  for (std::string& flag : flags(options)) arguments.push_back(std::move(flag));
  return arguments;
}

struct Outputs {
  std::string code, log;
};

Outputs run_clang(const std::string& source, const std::string& name, const CpuCompileOptions& options,
                  RicciClangEmit emit) {
  const RicciClangApi& clang = clang_plugin();
  const std::vector<std::string> arguments = cc1_arguments(options);
  std::vector<const char*> pointers;
  pointers.reserve(arguments.size());
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());

  Outputs outputs;
  const std::string file = name + ".cpp";
  RicciClangJob job{};
  job.source = source.data();
  job.source_bytes = source.size();
  job.name = file.c_str();
  job.arguments = pointers.data();
  job.argument_count = pointers.size();
  job.emit = emit;
  job.context = &outputs;
  job.take_output = [](void* context, const char* data, std::size_t bytes) {
    static_cast<Outputs*>(context)->code.assign(data, bytes);
  };
  job.take_log = [](void* context, const char* data, std::size_t bytes) {
    static_cast<Outputs*>(context)->log.assign(data, bytes);
  };
  const RicciClangStatus status = clang.compile(&job);
  while (!outputs.log.empty() && outputs.log.back() == '\n') outputs.log.pop_back();
  if (status == RICCI_CLANG_OK) return outputs;
  const char* did = status == RICCI_CLANG_REFUSED ? "refused" : "gave up on";
  const char* advice = status == RICCI_CLANG_NO_MEMORY
                           ? "\n  Free memory or raise its limit and call again: the kernel itself may be sound."
                           : "";
  throw CompileError(
      fmt::format("clang {} {} {} for {}:\n{}{}", clang.version, did, file, options.target.text(), outputs.log, advice),
      source, outputs.log);
}

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::string cpu_compiler_version() {
  const std::string version = llvm_version();
  return version.empty() ? version : "clang " + version;
}

std::string cpu_flags_text(const CpuCompileOptions& options) {
  return fmt::format("{}", fmt::join(flags(options), " "));
}

CpuObject compile_cpu(const std::string& source, const std::string& name, const CpuCompileOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Outputs outputs = run_clang(source, name, options, RICCI_CLANG_OBJECT);
  CpuObject object;
  object.bytes.resize(outputs.code.size());
  std::memcpy(object.bytes.data(), outputs.code.data(), outputs.code.size());
  std::string reason;
  object.simple = is_simple_object(object.bytes, &reason);
  object.ms = ms_since(start);
  if (log_enabled(LogTopic::compile)) {
    log_line(LogTopic::compile,
             fmt::format("clang {} compiled {} for {}: {} bytes of source, {} of object, {:.1f} ms{}{}", llvm_version(),
                         name, options.target.text(), source.size(), object.bytes.size(), object.ms,
                         object.simple ? "" : ", needs ORC: ", reason));
    if (!outputs.log.empty()) log_line(LogTopic::compile, outputs.log);
  }
  return object;
}

std::string assemble_cpu(const std::string& source, const std::string& name, const CpuCompileOptions& options) {
  return run_clang(source, name, options, RICCI_CLANG_ASSEMBLY).code;
}

}  // namespace ricci::jit
