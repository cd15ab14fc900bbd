// Random programs as C++ kernels, every candidate of the planner drawn at random, against the interpreter.
#include "catch.hpp"
#include "fuzz/kernel_case.hpp"
#include "jit/object_loader.hpp"
#include "ricci/error.hpp"
#include "runtime/kernel.hpp"

namespace program_cpu_test {

using namespace ricci;

namespace {

std::string failure(std::uint64_t seed, fuzz::Kind kind) {
  plan::CpuModel device_model;
  device_model.vector_bytes = jit::host_cpu().vector_bytes;
  if (seed % 2 == 0) device_model.cache_bytes = 0;  // stores by nontemporal stores
  auto made = fuzz::kernel_case(seed, kind, device_model);
  if (!made) return {};
  const auto options = runtime::cpu_options(jit::host_cpu(), made->program, made->schedule);
  std::shared_ptr<const jit::LoadedObject> object;
  try {
    object = jit::load_object(jit::compile_cpu(made->source.full(), made->source.kernel, options).bytes);
  } catch (const CompileError& error) {
    return made->told(error.what() + error.log());
  }
  const auto run =
      reinterpret_cast<void (*)(void* const*, long long, long long, char*)>(object->symbol(made->source.kernel));
  std::vector<void*> args;
  for (const int buffer : made->program.buffer) {
    args.push_back(made->memory[static_cast<std::size_t>(buffer)].element_0());
  }
  for (auto& value : made->values) args.push_back(value.at);
  const auto launch = kernel::launch_of(made->program, made->schedule, kernel::Target::cpu);
  const auto tiles = launch.tasks;
  const auto cut = static_cast<std::int64_t>(seed % 5) * tiles / 4;  // two ranges, as two threads would take them
  struct alignas(64) Line {
    char at[64];
  };
  std::vector<Line> scratch(static_cast<std::size_t>(launch.scratch_bytes / 64 + 1));
  run(args.data(), cut, tiles, scratch.front().at);
  run(args.data(), 0, cut, scratch.front().at);
  return made->verdict();
}

}  // namespace

TEST_CASE("random programs on the CPU do what the interpreter does") {
  fuzz::check_seeds(300001, 40, jit::host_cpu().text(), failure);
}

}  // namespace program_cpu_test
