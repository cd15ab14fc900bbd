#include "runtime/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "jit/cuda_compiler.hpp"
#include "jit/cuda_tensor_map.hpp"
#include "json/json.hpp"
#include "kernel/extensions.hpp"
#include "ricci/error.hpp"
#include "ricci/log.hpp"

namespace ricci::runtime {
namespace {

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

bool computes_complex(const ir::Program& program) {
  return std::any_of(program.nodes.begin(), program.nodes.end(), [](const ir::Node& node) {
    return is_complex(node.type) && (node.kind == ir::NodeKind::op || node.kind == ir::NodeKind::reduce);
  });
}

jit::CudaCompileOptions cuda_options(const Target& target, bool exact) {
  jit::CudaCompileOptions options;
  options.sm = target.sm;
  options.contract = !exact;
  return options;
}

/// RICCI_DUMP=folder: writes every kernel's source, program and key there.
void dump(const LoadedKernel& kernel, const ir::Program& program, Device device) {
  const char* folder = std::getenv("RICCI_DUMP");
  if (folder == nullptr || *folder == '\0') return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto base = std::filesystem::path(folder) / kernel.name;
  std::ofstream(base.string() + (device == Device::gpu ? ".cu" : ".cpp")) << kernel.entry->source;
  std::ofstream(base.string() + ".ir") << ir::print(program);
  std::ofstream out(base.string() + ".key");
  out << kernel.entry->key;
  if (!out) log_line(LogTopic::warning, fmt::format("RICCI_DUMP: cannot write to {}", folder));
}

/// What the compiler said of a kernel, from the metadata that compile() wrote; 0 where it is missing.
void read_usage(LoadedKernel& kernel) {
  const auto metadata = Json::parse(kernel.entry->metadata);
  if (!metadata || !metadata->is_object()) return;
  kernel.registers = static_cast<int>((*metadata)["registers"].integer_or(0));
  kernel.spill_bytes = static_cast<int>((*metadata)["spill_bytes"].integer_or(0));
}

cache::Entry compile(const std::string& key, const codegen::Source& source, const Target& target, bool exact,
                     const jit::CpuCompileOptions& cpu_options, double* ms) {
  cache::Entry entry;
  entry.key = key;
  entry.source = source.full();
  int registers = 0, spills = 0, shared = 0;
  if (target.device == Device::cpu) {
    auto object = jit::compile_cpu(entry.source, source.kernel, cpu_options);
    entry.binary = std::move(object.bytes);
    *ms = object.ms;
  } else {
    auto object = jit::compile_cuda(entry.source, source.kernel, cuda_options(target, exact));
    entry.binary = std::move(object.cubin);
    *ms = object.ms;
    registers = object.registers;
    spills = object.spill_bytes;
    shared = object.static_shared_bytes;
  }
  entry.metadata =
      Json{{"kernel", source.kernel}, {"target", target.text()}, {"compile_ms", std::round(100 * *ms) / 100},
           {"registers", registers},  {"spill_bytes", spills},   {"shared_bytes", shared}}
          .dump();
  log_line(LogTopic::compile, fmt::format("{},{},{:.2f} ms", source.kernel, target.text(), *ms));
  return entry;
}

void load(LoadedKernel& kernel, const Target& target) {
  const auto start = std::chrono::steady_clock::now();
  if (target.device == Device::cpu) {
    kernel.object = jit::load_object(kernel.entry->binary);
    kernel.cpu = reinterpret_cast<CpuFunction>(kernel.object->symbol(kernel.name));
    if (kernel.cpu == nullptr) throw InternalError(fmt::format("the object of {} does not define it", kernel.name));
  } else if (target.ordinal >= 0) {
    kernel.gpu = std::make_unique<const DeviceFunctions>(kernel.entry, kernel.name,
                                                         static_cast<std::size_t>(kernel.launch.dynamic_shared_bytes));
    kernel.gpu->on(target.ordinal);
  }
  kernel.load_ms = ms_since(start);
}

}  // namespace

void* DeviceFunctions::on(int ordinal) const {
  const auto at = static_cast<std::size_t>(ordinal);
  if (at >= kMostDevices) throw DeviceError(fmt::format("device {}: Ricci numbers up to {}", ordinal, kMostDevices));
  if (void* const known = functions_[at].load(std::memory_order_acquire)) return known;
  const std::lock_guard lock(mutex_);
  if (!modules_[at]) {
    auto module = std::make_unique<jit::cuda::Module>(entry_->binary, ordinal);
    functions_[at].store(module->function(name_, dynamic_shared_), std::memory_order_release);
    modules_[at] = std::move(module);
  }
  return functions_[at].load(std::memory_order_relaxed);
}

// Exact programs must agree with the interpreter bit by bit: no fused multiply-add. Kernels of atoms write what is to
// be fused as one expression, and fuse nothing else: the loops around a result's expression depend on the number of
// threads, and its bits must not. They and what moves elements spell their vectors out.
jit::CpuCompileOptions cpu_options(const jit::CpuTarget& target, const ir::Program& program,
                                   const kernel::Schedule& schedule) {
  const bool by_atom = kernel::has_atom(schedule.directives);
  jit::CpuCompileOptions options;
  options.target = target;
  options.contract = program.exact ? jit::Contract::off : by_atom ? jit::Contract::on : jit::Contract::fast;
  options.tiled = by_atom;
  options.halved = computes_complex(program) && !by_atom && !kernel::has_write(schedule.directives);
  return options;
}

bool Target::lacks_tensor_maps() const { return ordinal >= 0 && !jit::cuda::has_tensor_maps(); }

std::string Target::text() const { return device == Device::cpu ? cpu.text() : fmt::format("sm_{}", sm); }

std::string kernel_key(const ir::Program& program, std::string_view program_text, const kernel::Schedule& schedule,
                       const Target& target) {
  const bool cpu = target.device == Device::cpu;
  return fmt::format("ricci kernel 1\ngenerator {}\n{}target {} {}\ncompiler {}\nflags {}\n{}{}",
                     codegen::generator_version(), kernel::added_rules(), name(target.device), target.text(),
                     cpu ? jit::cpu_compiler_version() : jit::cuda_compiler_version(),
                     cpu ? jit::cpu_flags_text(cpu_options(target.cpu, program, schedule))
                         : jit::cuda_flags_text(cuda_options(target, program.exact)),
                     program_text, kernel::print(schedule));
}

std::shared_ptr<const LoadedKernel> make_kernel(cache::Store& store, const std::string& key, const ir::Program& program,
                                                const kernel::Schedule& schedule, const Target& target,
                                                const MakeNotes& notes) {
  auto kernel = std::make_shared<LoadedKernel>();
  const auto begin = std::chrono::steady_clock::now();
  kernel->launch = kernel::launch_of(program, schedule, target.family());
  const double launch_ms = ms_since(begin);
  if (target.device == Device::cpu) kernel->cpu_options = cpu_options(target.cpu, program, schedule);
  const auto make = [&] {
    const auto start = std::chrono::steady_clock::now();
    const auto source = codegen::emit(program, schedule, target.family(), notes());
    kernel->generate_ms = ms_since(start);
    return compile(key, source, target, program.exact, kernel->cpu_options, &kernel->compile_ms);
  };
  kernel->entry = store.find_or_make(key, make, &kernel->outcome);
  kernel->name = codegen::kernel_name(program);
  read_usage(*kernel);
  kernel->shared_bytes = static_cast<int>(kernel->launch.shared_bytes);
  try {
    load(*kernel, target);
  } catch (const Error& error) {
    // A stored binary that does not load, for example from another build of the same compiler version: compile again.
    if (kernel->outcome == cache::Outcome::made) throw;
    log_line(LogTopic::warning,
             fmt::format("the stored kernel {} does not load and is made again: {}", kernel->name, error.what()));
    auto fresh = make();
    kernel->entry = std::make_shared<const cache::Entry>(fresh);
    kernel->outcome = cache::Outcome::made;
    load(*kernel, target);
    store.put(std::move(fresh));
  }
  kernel->load_ms += launch_ms;
  dump(*kernel, program, target.device);
  return kernel;
}

std::string disassemble(const LoadedKernel& kernel, const Target& target) {
  if (target.device == Device::gpu) return jit::disassemble_cubin(kernel.entry->binary);
  if (jit::cpu_compiler_version().empty()) return {};
  return jit::assemble_cpu(kernel.entry->source, kernel.name, kernel.cpu_options);
}

}  // namespace ricci::runtime
