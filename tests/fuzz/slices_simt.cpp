// Random programs in slices as CUDA text on the simulator, block after block: what the interpreter computes of the
// whole, and not a fault.
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "catch.hpp"
#include "fuzz/random_chain.hpp"
#include "fuzz/seeds.hpp"
#include "fuzz/simt_sequence.hpp"
#include "ir/launches.hpp"
#include "lower/lower_program.hpp"
#include "ricci/program.hpp"
#include "runtime/slices.hpp"

namespace slices_simt_test {

using namespace ricci;

namespace {

int check(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const fuzz::Chain chain(random, 5);
  INFO("seed " << seed << "\n" << chain.text);
  const auto whole = ir::lower(Program::parse(chain.text));
  const auto sequence = fuzz::in_slices(whole, random);
  if (sequence.slices.empty()) return 0;
  std::vector<std::unique_ptr<fuzz::Line[]>> tensors;
  std::vector<std::vector<double>> workspace;
  std::vector<fuzz::Area> areas;
  std::vector<std::vector<double>> want;
  std::vector<void*> pointers;
  for (const auto& storage : whole.storages) {
    const auto elements = static_cast<std::size_t>(storage.last + 1);
    if (storage.role == ir::Role::workspace) {
      pointers.push_back(workspace.emplace_back(elements).data());
      continue;
    }
    auto& values = want.emplace_back(elements);
    for (auto& value : values) value = static_cast<double>(random() % 3) - 1;
    tensors.push_back(std::make_unique<fuzz::Line[]>(elements * sizeof(double) / sizeof(fuzz::Line) + 1));
    auto* const begin = tensors.back()[0].at;
    std::memcpy(begin, values.data(), elements * sizeof(double));
    areas.push_back({begin, elements * sizeof(double), begin});
  }
  // The storages of tensors come first.
  REQUIRE(areas.size() + workspace.size() == whole.storages.size());
  for (std::size_t k = 0, tensor = 0; k < whole.storages.size(); ++k) {
    if (whole.storages[k].role != ir::Role::workspace)
      pointers.insert(pointers.begin() + static_cast<std::ptrdiff_t>(k), want[tensor++].data());
  }
  ir::interpret(whole, pointers, {});
  const auto more = fuzz::add_workspace(sequence, areas);
  ir::for_each_launch(sequence.steps.size(), sequence.slices, [&](std::size_t step, const ir::BlockValues& block) {
    const auto fault = fuzz::run_step(sequence.steps[step], areas, {}, seed, block);
    if (!fault.empty()) FAIL(fault);
    return true;
  });
  for (std::size_t k = 0; k < want.size(); ++k) {
    const auto* const got = reinterpret_cast<const double*>(areas[k].begin);
    for (std::size_t n = 0; n < want[k].size(); ++n) {
      if (got[n] != want[k][n]) FAIL("element " << n << " of tensor " << k << "\n" << runtime::slices_text(sequence));
    }
  }
  return 1;
}

}  // namespace

TEST_CASE("random programs in slices on the simulator") {
  const auto first = fuzz::first_seed(780001);
  const int count = fuzz::cases(60);
  int sliced = 0;
  for (int k = 0; k < count; ++k) sliced += check(first + static_cast<std::uint64_t>(k));
  std::printf("%d random programs from seed %llu: %d in slices\n", count, static_cast<unsigned long long>(first),
              sliced);
  if (fuzz::enough(count)) CHECK(sliced > count / 4);
}

}  // namespace slices_simt_test
