// Random chains of reductions along rows, and results of the same rows, as one kernel that reads these once, on the
// simulator: what the interpreter does statement by statement, without a fault.
#include <cstdio>
#include <random>

#include "catch.hpp"
#include "fuzz/random_rows.hpp"
#include "fuzz/rounding.hpp"
#include "fuzz/rows_memory.hpp"
#include "fuzz/seeds.hpp"
#include "fuzz/simt_sequence.hpp"
#include "ir/passes/read_once.hpp"
#include "kernel/program/rows.hpp"
#include "lower/lower_program.hpp"

namespace rows_simt_test {

using namespace ricci;

namespace {

struct Counts {
  int once = 0, rows = 0;
};

void check(std::uint64_t seed, Counts& counts) {
  std::mt19937_64 random(seed);
  const fuzz::RowsProgram rows(random);
  INFO("seed " << seed << "\n" << rows.text);
  const auto lowered = ir::lower(Program::parse(rows.text));
  const auto has_rows = [](const ir::Program& program) { return kernel::row_of(program) >= 0; };
  const auto made = ir::computed_where_read(lowered, lowered.steps.size() - 1, has_rows);
  const auto& sequence = made ? *made : lowered;
  counts.once += sequence.steps.size() == 1 && lowered.steps.size() > 1 ? 1 : 0;
  counts.rows += has_rows(sequence.steps.back().program) ? 1 : 0;

  auto memory = fuzz::tensors_of(lowered, random);
  auto& [lines, areas, pointers] = memory;
  const auto want = fuzz::expected(lowered, pointers, {});
  const auto workspace = fuzz::add_workspace(sequence, areas);
  for (const auto& step : sequence.steps) {
    const auto fault = fuzz::run_step(step, areas, {}, seed);
    if (!fault.empty()) FAIL(fault);
  }
  if (const auto text = fuzz::compare(lowered, want, pointers); !text.empty()) FAIL(text);
}

}  // namespace

TEST_CASE("random chains of reductions along rows, in one kernel, are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(910001);
  const int count = fuzz::cases(60);
  Counts counts;
  for (int n = 0; n < count; ++n) {
    try {
      check(first + static_cast<std::uint64_t>(n), counts);
    } catch (const Error& error) {
      FAIL("seed " << first + static_cast<std::uint64_t>(n) << ": " << error.what());
    }
  }
  std::printf(
      "%d random programs of rows from seed %llu on the simulator: %d of several statements in one step, %d by rows\n",
      count, static_cast<unsigned long long>(first), counts.once, counts.rows);
  if (fuzz::enough(count)) CHECK((counts.once > count / 3 && counts.rows > count / 2));
}

}  // namespace rows_simt_test
