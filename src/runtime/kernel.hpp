// Loaded code of one kernel and what is known of it, and the key under which it is kept.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cache/store.hpp"
#include "codegen/source.hpp"
#include "ir/program.hpp"
#include "ir/schedule.hpp"
#include "jit/cpu_target.hpp"
#include "jit/cuda_driver.hpp"
#include "jit/object_loader.hpp"
#include "ricci/plan.hpp"

namespace ricci::runtime {

/// What a kernel is made for: a processor, or a compute capability and perhaps a device.
struct Target {
  Device device = Device::cpu;
  jit::CpuTarget cpu;
  int sm = 0;
  int ordinal = -1;  ///< GPU: where to load it; -1: make it only
  std::string text() const;
};

using CpuFunction = void (*)(void* const* args, long long first, long long last);

/// Kept alive by every plan that uses it.
struct Kernel {
  std::shared_ptr<const cache::Entry> entry;
  std::string name;
  bool exact = true;  ///< ir::Program::exact
  int registers = 0, spill_bytes = 0, shared_bytes = 0;
  double generate_ms = 0, compile_ms = 0, load_ms = 0;
  cache::Outcome outcome = cache::Outcome::made;
  std::shared_ptr<const jit::LoadedObject> object;  // CPU
  CpuFunction cpu = nullptr;
  std::unique_ptr<jit::cuda::Module> module;  // GPU
  void* gpu = nullptr;
};

/// Everything that decides the binary, as text: the canonical program, schedule, target, compiler, flags, generator.
std::string kernel_key(const ir::Program& program, const ir::Schedule& schedule, const Target& target);

/// What the head of a kernel says, asked for only when its source is made.
using MakeNotes = std::function<codegen::Notes()>;

/// Finds or makes, and loads. Throws CompileError, PlanError, DeviceError. Thread-safe.
std::shared_ptr<const Kernel> make_kernel(cache::Store& store, const std::string& key, const ir::Program& program,
                                          const ir::Schedule& schedule, const Target& target, const MakeNotes& notes);

/// Assembly or SASS of a kernel; empty where no tool can print it.
std::string disassemble(const Kernel& kernel, const Target& target);

}  // namespace ricci::runtime
