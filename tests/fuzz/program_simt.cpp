// Random programs as CUDA text on the simulator: what the interpreter does, and not a fault.
#include "catch.hpp"
#include "fuzz/kernel_case.hpp"
#include "ricci/error.hpp"
#include "simt/emitted.hpp"

namespace program_simt_test {

using namespace ricci;

namespace {

std::string failure(std::uint64_t seed, fuzz::Kind kind) {
  auto made = fuzz::kernel_case(seed, kind, plan::GpuModel::of_capability(90), {400, 4000});
  if (!made) return {};
  std::vector<void*> pointers;
  std::vector<simt::Buffer> buffers;
  for (std::size_t k = 0; k < made->program.buffer.size(); ++k) {
    auto& memory = made->memory[static_cast<std::size_t>(made->program.buffer[k])];
    pointers.push_back(memory.element_0());
    buffers.push_back({memory.begin(), memory.bytes(), made->program.buffers[k].written});
  }
  std::vector<void*> args;
  for (auto& pointer : pointers) args.push_back(&pointer);
  for (auto& value : made->values) args.push_back(value.at);
  simt::Options options;
  options.order = static_cast<simt::Order>(seed % 3);
  options.one_buffer_per_access = false;  // of two loads that a selection chooses between, compilers make one
  try {
    const auto report =
        simt::run(simt::launch_of(made->source, made->program, made->schedule), args.data(), buffers, options);
    if (!report.clean()) return made->told(report.text());
  } catch (const CompileError& error) {
    return made->told(error.what() + error.log());
  }
  return made->verdict();
}

}  // namespace

TEST_CASE("random programs on the simulator do what the interpreter does, without a fault") {
  fuzz::check_seeds(600001, 40, "simulator", failure);
}

}  // namespace program_simt_test
