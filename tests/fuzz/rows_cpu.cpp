// Random chains of reductions along rows, and results of the same rows, on the CPU: within the bound of the arithmetic
// of what the interpreter does statement by statement, to the same bits for one thread and for three.
#include <cstdio>
#include <cstring>
#include <random>

#include "catch.hpp"
#include "fuzz/random_rows.hpp"
#include "fuzz/rounding.hpp"
#include "fuzz/rows_memory.hpp"
#include "fuzz/seeds.hpp"
#include "lower/lower_program.hpp"
#include "ricci/ricci.hpp"

namespace rows_cpu_test {

using namespace ricci;

namespace {

constexpr int kLeast = 64;  // rows: of fewer, parts of sums are work for several threads

std::string failure(Runtime& runtime, const std::string& text, std::mt19937_64& random, int& rows) {
  const auto program = Program::parse(text);
  const auto lowered = ir::lower(program);
  auto memory = fuzz::tensors_of(lowered, random);
  const auto want = fuzz::expected(lowered, memory.pointers, {});
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  std::vector<std::vector<unsigned char>> before, first;
  for (std::size_t k = 0; k < memory.areas.size(); ++k) {
    const auto& [begin, bytes, element] = memory.areas[k];
    if (lowered.storages[k].role == ir::Role::input) {
      inputs.push_back(element);
      continue;
    }
    outputs.push_back(element);
    before.emplace_back(begin, begin + bytes);
  }
  for (const int threads : {1, 3}) {
    for (std::size_t k = 0; k < outputs.size(); ++k) std::memcpy(outputs[k], before[k].data(), before[k].size());
    PlanOptions options;
    options.threads = threads;
    const auto plan = runtime.plan_program(program, options);
    plan(outputs, inputs);
    const auto told = [&](const std::string& what) { return what + "\n" + plan.explain() + plan.source(); };
    if (const auto wrong = fuzz::compare(lowered, want, memory.pointers); !wrong.empty()) return told(wrong);
    if (threads == 1) rows += plan.info().schedule.find("row ") != std::string::npos ? 1 : 0;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const auto* const bytes = static_cast<const unsigned char*>(outputs[k]);
      if (threads == 1) first.emplace_back(bytes, bytes + before[k].size());
      if (std::memcmp(first[k].data(), bytes, before[k].size()) != 0) return told("other bits for several threads");
    }
  }
  return {};
}

}  // namespace

TEST_CASE("random chains of reductions along rows on the CPU are the interpreter's") {
  const auto first = fuzz::first_seed(920001);
  const int count = fuzz::cases(40);
  RuntimeOptions options;
  options.cache_dir = "off";
  options.threads = 3;
  Runtime runtime(options);
  int rows = 0;
  for (int n = 0; n < count; ++n) {
    const auto seed = first + static_cast<std::uint64_t>(n);
    std::mt19937_64 random(seed);
    const fuzz::RowsProgram program(random, kLeast);
    INFO("seed " << seed << "\n" << program.text);
    std::string wrong;
    try {
      wrong = failure(runtime, program.text, random, rows);
    } catch (const CompileError& error) {
      wrong = std::string(error.what()) + error.log();
    } catch (const Error& error) {
      wrong = error.what();
    }
    INFO(wrong);
    REQUIRE(wrong.empty());
  }
  std::printf("%d random programs of rows from seed %llu on the CPU: %d row by row\n", count,
              static_cast<unsigned long long>(first), rows);
  if (fuzz::enough(count)) CHECK(rows > count / 12);
}

}  // namespace rows_cpu_test
