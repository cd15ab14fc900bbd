// Random programs of attention as one kernel, which keeps scores in registers, on the simulator and by the kernel
// interpreter: what the interpreter does statement by statement, within the bound of the types, without a fault.
#include <cstdio>
#include <random>

#include "catch.hpp"
#include "fuzz/random_attention.hpp"
#include "fuzz/rounding.hpp"
#include "fuzz/rows_memory.hpp"
#include "fuzz/seeds.hpp"
#include "fuzz/simt_sequence.hpp"
#include "kernel/build.hpp"
#include "kernel/chain.hpp"
#include "kernel/interpret/execute.hpp"
#include "lower/lower_program.hpp"
#include "plan/enumerate/chain_cuda.hpp"

namespace attention_simt_test {

using namespace ricci;

namespace {

struct Counts {
  int chains = 0, groups = 0;  ///< in all; by warp groups
};

void check(std::uint64_t seed, Counts& counts) {
  std::mt19937_64 random(seed);
  const fuzz::Attention attention(random);
  INFO("seed " << seed << "\n" << attention.text);
  const auto lowered = ir::lower(Program::parse(attention.text));
  const auto made = kernel::chained(lowered, lowered.steps.size() - 1);
  if (!made) return;
  const auto& step = made->steps.back();
  const auto program = ir::canonicalise(step.program);
  const auto list = plan::chain_candidates(program, plan::GpuModel::of_capability(90));
  if (made->steps.size() != 1 || list.empty()) return;
  ++counts.chains;
  auto memory = fuzz::tensors_of(lowered, random);
  auto& [lines, areas, pointers] = memory;
  const auto want = fuzz::expected(lowered, pointers, {});
  const auto& schedule = list[random() % list.size()].schedule;
  if (kernel::has_maps(schedule.directives)) ++counts.groups;
  INFO(kernel::print(schedule));
  kernel::verify(schedule, program, kernel::Target::cuda);
  if (const auto fault = fuzz::run_schedule(step, program, schedule, areas, {}, seed); !fault.empty()) FAIL(fault);
  if (const auto text = fuzz::compare(lowered, want, pointers); !text.empty()) FAIL("simulator: " << text);
  if (seed % 3 != 0) return;
  std::vector<void*> buffers;
  for (const int buffer : program.buffer)
    buffers.push_back(areas[static_cast<std::size_t>(step.storage[static_cast<std::size_t>(buffer)])].element_0);
  kernel::execute(kernel::expand(kernel::build(program, schedule, kernel::Target::cuda)), buffers, {});
  if (const auto text = fuzz::compare(lowered, want, pointers); !text.empty()) FAIL("kernel interpreter: " << text);
}

}  // namespace

TEST_CASE("random programs of attention, in one kernel, are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(930001);
  const int count = fuzz::cases(40);
  Counts counts;
  for (int n = 0; n < count; ++n) {
    try {
      check(first + static_cast<std::uint64_t>(n), counts);
    } catch (const Error& error) {
      FAIL("seed " << first + static_cast<std::uint64_t>(n) << ": " << error.what());
    }
  }
  std::printf(
      "%d random programs of attention from seed %llu on the simulator: %d as one chain, %d of these by warp "
      "groups\n",
      count, static_cast<unsigned long long>(first), counts.chains, counts.groups);
  if (fuzz::enough(count)) CHECK(counts.chains > count / 2);
  if (fuzz::enough(count)) CHECK(counts.groups > count / 8);
}

}  // namespace attention_simt_test
