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
  // Whole lines of neighbours: tasks for fewer of them would read parts of every line. How many lines at a time the
  // caches of the machine say.
  const std::string start = "plain register tile c";
  REQUIRE(plan.info().schedule.starts_with(start));
  constexpr int kLine = 64 / sizeof(std::complex<double>);
  CHECK(std::stoi(plan.info().schedule.substr(start.size())) % kLine == 0);
  const std::vector<const void*> from = {a.data(), b.data()};
  std::complex<double> found, expected;
  plan(std::vector<void*>{&found}, from);
  Runtime::interpret_einsum("i,i->", inputs, einsum_output("i,i->", inputs), from, &expected, options);
  CHECK(found == expected);  // whole numbers: exact in any order
}

}  // namespace complex_sums_test
