// Operands of sums that are read across are copied into the order of another one first, on a CPU.
#include <cstdint>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ricci/ricci.hpp"

namespace turned_operands_test {

using namespace ricci;

namespace {

constexpr std::int64_t kExtent = 112;  // cubes of it are more than second caches hold

/// Small whole numbers: the order in which they are added up changes nothing.
std::vector<double> numbers(std::int64_t count, int seed) {
  std::vector<double> all(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<double>((k * 7 + k / 13 * 5) % 11) - seed;
  return all;
}

bool copies(const Plan& plan) { return plan.program().find("copy") != std::string::npos; }

}  // namespace

TEST_CASE("sums of products in two orders are those of the interpreter") {
  struct Row {
    const char* spec;
    bool copied;
  };
  const auto [spec, copied] =
      GENERATE(Row{"ijk,kji->", true}, Row{"ijk,kji->i", true}, Row{"ijk,kji->k", true}, Row{"ijk,kji,jik->", true},
               Row{"ijk,ijk->", false}, Row{"ijk,jik->", false}, Row{"ijk,kji->ijk", false}, Row{"ijk,kjl->il", false});
  const int threads = GENERATE(1, 2);
  INFO(spec << " by " << threads);
  const auto parsed = Spec::parse(spec);
  std::vector<Layout> inputs;
  std::vector<std::vector<double>> values;
  std::vector<const void*> from;
  for (const auto& term : parsed.operands) {
    inputs.push_back(Layout::row_major(DType::f64, std::vector<std::int64_t>(term.size(), kExtent)));
    values.push_back(numbers(inputs.back().elements(), static_cast<int>(values.size()) + 1));
  }
  for (const auto& one : values) from.push_back(one.data());
  EinsumOptions options;
  options.threads = threads;
  options.mode = PlanMode::model;
  const auto plan = Runtime::global().plan_einsum(spec, inputs, options);
  CHECK(copies(plan) == copied);
  if (!copied) return;
  const auto output = einsum_output(spec, inputs);
  std::vector<double> found(static_cast<std::size_t>(output.elements())), expected(found.size());
  plan(std::vector<void*>{found.data()}, from);
  Runtime::interpret_einsum(spec, inputs, output, from, expected.data(), options);
  CHECK(found == expected);
}

TEST_CASE("copies of operands keep a limit of workspace, and small operands are read where they lie") {
  const auto copied = [](std::int64_t extent, std::int64_t limit) {
    const auto cube = Layout::row_major(DType::f64, {extent, extent, extent});
    EinsumOptions options;
    options.mode = PlanMode::model;
    options.workspace_limit = limit;
    const auto plan = Runtime::global().plan_einsum("ijk,kji->", std::vector<Layout>{cube, cube}, options);
    if (limit >= 0) CHECK(plan.info().workspace_bytes <= limit);
    return copies(plan);
  };
  CHECK(copied(kExtent, -1));
  CHECK_FALSE(copied(kExtent, 1 << 20));
  CHECK_FALSE(copied(20, -1));
}

TEST_CASE("tensors that are not read at every point are not copied") {
  const auto plan = [](const std::string& value) {
    const auto text =
        "index i j k = 112\ninput A(i, j, k) : f64\ninput B(i, j, k) : f64\noutput s() : f64\ns() = sum(i j k, " +
        value + ")\n";
    PlanOptions options;
    options.mode = PlanMode::model;
    return Runtime::global().plan_program(Program::parse(text), options);
  };
  CHECK(copies(plan("A(i, j, k) * B(k, j, i)")));
  CHECK_FALSE(copies(plan("guard(i < k, A(i, j, k) * B(k, j, i))")));
}

}  // namespace turned_operands_test
