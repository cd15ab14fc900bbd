// Random programs as trees of the kernel IR, for both targets: what the program's interpreter does, by the interpreter
// of kernels, which watches every access.
#include <cstdio>

#include "catch.hpp"
#include "fuzz/kernel_case.hpp"
#include "kernel/build.hpp"
#include "kernel/interpret/execute.hpp"
#include "kernel/print.hpp"
#include "kernel/verify.hpp"
#include "ricci/error.hpp"

namespace kernel_programs_test {

using namespace ricci;

namespace {

std::string failure(std::optional<fuzz::KernelCase> made, kernel::Target target) {
  if (!made) return {};
  const auto tree = kernel::expand(kernel::build(made->program, made->schedule, target));
  kernel::verify(tree);
  std::vector<void*> pointers;
  for (const int buffer : made->program.buffer)
    pointers.push_back(made->memory[static_cast<std::size_t>(buffer)].element_0());
  std::vector<Scalar> params;
  for (const int param : made->program.param) params.push_back(made->random.params[static_cast<std::size_t>(param)]);
  try {
    kernel::execute(tree, pointers, params);
  } catch (const Error& error) {
    return made->told(kernel::print(tree) + error.what());
  }
  const auto verdict = made->verdict();
  return verdict.empty() ? verdict : verdict + kernel::print(tree);
}

}  // namespace

TEST_CASE("kernels of random programs on a CPU do what the interpreter does") {
  fuzz::check_seeds(710001, 60, "trees for a CPU", [](std::uint64_t seed, fuzz::Kind kind) {
    plan::CpuModel device_model;
    constexpr int kVectorBytes[] = {16, 32, 64};
    device_model.vector_bytes = kVectorBytes[seed % 3];
    if (seed % 2 == 0) device_model.cache_bytes = 0;  // stores by nontemporal stores
    return failure(fuzz::kernel_case(seed, kind, device_model), kernel::Target::cpu);
  });
}

TEST_CASE("kernels of random programs on a GPU do what the interpreter does") {
  fuzz::check_seeds(720001, 40, "trees for a GPU", [](std::uint64_t seed, fuzz::Kind kind) {
    return failure(fuzz::kernel_case(seed, kind, plan::GpuModel::of_capability(90), {400, 4000}), kernel::Target::cuda);
  });
}

}  // namespace kernel_programs_test
