// A loaded kernel, its properties, and the key under which it is cached.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "cache/store.hpp"
#include "codegen/source.hpp"
#include "ir/program.hpp"
#include "jit/cpu_compiler.hpp"
#include "jit/cuda_driver.hpp"
#include "jit/object_loader.hpp"
#include "kernel/schedule.hpp"
#include "ricci/plan.hpp"
#include "ricci/runtime.hpp"
#include "runtime/tensor_maps.hpp"

namespace ricci::runtime {

/// The target of a kernel: a processor, or a compute capability and perhaps a device.
struct Target {
  Device device = Device::cpu;
  jit::CpuTarget cpu;
  int sm = 0;
  int ordinal = -1;          ///< GPU: where to load it; -1: make it only
  TargetLimits limits = {};  ///< of a GPU that is not there: for predictions, no part of a kernel
  std::string text() const;
  /// Whether its driver knows no tensor maps: those of CUDA 12 and newer do.
  bool lacks_tensor_maps() const;
  kernel::Target family() const noexcept { return device == Device::cpu ? kernel::Target::cpu : kernel::Target::cuda; }
};

/// Kernels that need no scratch memory are functions of the first three; what is given beyond them is ignored by the
/// calling conventions that Ricci runs on.
using CpuFunction = void (*)(void* const* args, long long first, long long last, char* scratch);

/// A GPU kernel on the devices that it has been loaded on. Thread-safe.
class DeviceFunctions {
 public:
  DeviceFunctions(std::shared_ptr<const cache::Entry> entry, std::string name, std::size_t dynamic_shared)
      : entry_(std::move(entry)), name_(std::move(name)), dynamic_shared_(dynamic_shared) {}
  /// The handle on a device; loads the kernel there if nobody has. Throws DeviceError.
  void* on(int ordinal) const;

 private:
  static constexpr std::size_t kMostDevices = 64;
  std::shared_ptr<const cache::Entry> entry_;
  std::string name_;
  std::size_t dynamic_shared_;
  mutable std::mutex mutex_;
  mutable std::array<std::unique_ptr<jit::cuda::Module>, kMostDevices> modules_;
  mutable std::array<std::atomic<void*>, kMostDevices> functions_ = {};
};

/// A loaded kernel, shared by all plans that use it.
struct LoadedKernel {
  std::shared_ptr<const cache::Entry> entry;
  std::string name;
  kernel::Launch launch;
  jit::CpuCompileOptions cpu_options;  ///< CPU: how it was compiled
  int registers = 0, spill_bytes = 0, shared_bytes = 0;
  double generate_ms = 0, compile_ms = 0, load_ms = 0;
  cache::Outcome outcome = cache::Outcome::made;
  std::shared_ptr<const jit::LoadedObject> object;  // CPU
  CpuFunction cpu = nullptr;
  std::unique_ptr<const DeviceFunctions> gpu;  // GPU, where there is one
};

/// A kernel, and how a step launches it: what follows from the kernel is known once that is loaded.
struct GeneratedKernel {
  std::shared_ptr<const LoadedKernel> loaded;
  std::int64_t tiles = 0;
  int tasks = 1;  ///< CPU: parts of the tile range
  unsigned blocks = 0, threads = 1;
  std::size_t shared = 0, dynamic_shared = 0,
              scratch = 0;                 ///< bytes; dynamic_shared: of shared, what a launch asks for
  std::shared_ptr<const TensorMaps> maps;  ///< GPU: arguments behind all others; or null
};

/// Everything that decides the binary, as text: the canonical program, schedule, target, compiler, flags, generator.
///   program_text  ir::print(program)
std::string kernel_key(const ir::Program& program, std::string_view program_text, const kernel::Schedule& schedule,
                       const Target& target);

/// What a kernel on a CPU asks of the compiler.
jit::CpuCompileOptions cpu_options(const jit::CpuTarget& target, const ir::Program& program,
                                   const kernel::Schedule& schedule);

/// Makes the notes in a kernel's head; called only when the source is generated.
using MakeNotes = std::function<codegen::Notes()>;

/// Finds or compiles a kernel, and loads it. Throws CompileError, PlanError, DeviceError. Thread-safe.
std::shared_ptr<const LoadedKernel> make_kernel(cache::Store& store, const std::string& key, const ir::Program& program,
                                                const kernel::Schedule& schedule, const Target& target,
                                                const MakeNotes& notes);

/// Assembly or SASS of a kernel; empty where no tool can print it.
std::string disassemble(const LoadedKernel& kernel, const Target& target);

}  // namespace ricci::runtime
