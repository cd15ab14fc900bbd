// Long complex sums, whose terms registers hold one by one, go through their operands in runs of neighbours.
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ricci/ricci.hpp"

namespace complex_sums_test {

using namespace ricci;

TEST_CASE("complex dot products are summed by neighbours") {
  const bool conjugate = GENERATE(false, true);
  const int threads = GENERATE(1, 2);
  constexpr std::int64_t kTerms = 400'003;  // beyond caches, and no multiple of anything
  const std::vector<Layout> inputs(2, Layout::row_major(DType::c128, {kTerms}));
  std::vector<std::complex<double>> a(kTerms), b(kTerms);
  for (std::size_t k = 0; k < a.size(); ++k) {
    a[k] = {static_cast<double>(k % 7) - 2, static_cast<double>(k % 5) - 3};
    b[k] = {static_cast<double>(k % 11) - 5, static_cast<double>(k % 3) - 1};
  }
  EinsumOptions options;
  options.mode = PlanMode::model;
  options.threads = threads;
  options.conjugate = {conjugate, false};
  const auto plan = Runtime::global().plan_einsum("i,i->", inputs, options);
  INFO(plan.info().schedule);
  // All neighbours of a partial result: tasks for some of them would read parts of every line.
  CHECK(plan.info().schedule.starts_with("plain register tile "));
  CHECK(plan.info().schedule.substr(0, plan.info().schedule.find(';')).ends_with("8"));
  const std::vector<const void*> from = {a.data(), b.data()};
  std::complex<double> found, expected;
  plan(std::vector<void*>{&found}, from);
  Runtime::interpret_einsum("i,i->", inputs, einsum_output("i,i->", inputs), from, &expected, options);
  CHECK(found == expected);  // whole numbers: exact in any order
}

}  // namespace complex_sums_test
