// Kernels that are too long, as several: they compute what the whole one does.
#include <fmt/format.h>

#include <algorithm>

#include "catch.hpp"
#include "ir/passes/shorten.hpp"
#include "ir/workspace.hpp"
#include "program_compare.hpp"
#include "ricci/error.hpp"

namespace program_shorten_test {

using namespace ricci;
using test::compare;

namespace {

std::string repeated(std::string text, const std::string& statement, int times) {
  for (int k = 0; k < times; ++k) text += statement + "\n";
  return text;
}

ir::Sequence cut(const std::string& text, std::int64_t most) {
  const auto program = Program::parse(text);
  return ir::shorten(ir::lower(program), {.most = most});
}

std::int64_t length(const ir::Program& program) {
  std::int64_t total = 0;
  for (const auto& node : program.nodes) total += ir::length_of(node);
  return total;
}

int workspaces(const ir::Sequence& sequence) {
  return static_cast<int>(
      std::count_if(sequence.storages.begin(), sequence.storages.end(),
                    [](const ir::Storage& storage) { return storage.role == ir::Role::workspace; }));
}

constexpr const char* kField = "grid x = 5\ninput v() : f64 on x\noutput y() : f64 on x\ny() = v()\n";

}  // namespace

TEST_CASE("a chain of values is cut into kernels that hand one value on") {
  const auto text = repeated(kField, "y() = y()*v() + 1.5", 100);
  const auto sequence = cut(text, 40);
  CHECK(sequence.steps.size() >= 200 / 40);
  CHECK(sequence.steps.size() <= 200 / 20);
  for (const auto& step : sequence.steps) CHECK(length(step.program) <= 40);
  // One value at a time: a kernel reads one storage and writes another, and two share the memory of all.
  CHECK(workspaces(sequence) == static_cast<int>(sequence.steps.size()) - 1);
  for (const auto& storage : sequence.storages) CHECK(storage.last == 4);
  CHECK(ir::workspace_layout(sequence).bytes == 2 * ir::kWorkspaceAlignment);
  compare(text, {.longest_kernel = 40});
}

TEST_CASE("short kernels stay as they are") {
  const auto text = repeated(kField, "y() = y()*v() + 1.5", 10);
  CHECK(cut(text, 20).steps.size() == 1);
  CHECK(cut(text, 19).steps.size() == 2);
}

TEST_CASE("programs that are cut compute the same") {
  const std::string texts[] = {
      // What is written is read before, in every part.
      repeated("grid x = 4\nindex i = 3\ninput v(3) : f64 on x\ninout y(3) : f64 on x\n",
               "y(i) = 0.3*y(i)*v(1) + y(0)*v(i)", 12),
      // Outputs of their own, and values that many parts need.
      "grid x = 3\nindex i j = 4\ninput a(4, 4) : f64 on x sym(0,1)\noutput b(4, 4) : f64 on x sym(0,1)\noutput t() : "
      "f64 on x\nlocal c(4, 4) : f64 on x\nc(i,j) = a(i,j)*a(0,0) + sqrt(a(1,2))*a(i,j)\nb(i,j) = c(i,j)*c(0,1) + "
      "a(i,j)*a(2,2)\n"
      "t() = sum(i j, c(i,j)*b(i,j))/b(2,3)\n",
      // Bodies of sums are not cut, what does not depend on their index is.
      "index i = 4\nindex k = 3\ninput x(i) : f64\ninput z(i,k) : f64\noutput y(i) : f64\n"
      "y(i) = sum(k, (x(i)*x(i) + x(i))*z(i,k) + sqrt(z(i,k))*exp(x(i))) * (x(i) - 1)/(x(i) + 2) - sum(k, "
      "z(i,k)*x(i))\n",
      // Guards inside of sums of two kinds, and as a statement's value.
      "index i = 4\nindex k = 3\ninput x(i) : f64\ninput z(i,k) : f64\ninout y(i) : f64\n"
      "y(i) = guard(x(i) < 1, (x(i)*x(i) + 1)*x(i) + sum(k, guard(z(i,k) < x(i), z(i,k)*x(i))) + product(k, guard(x(i) "
      "< z(i,k), z(i,k) + 2)))\n",
      // Sums onto one element.
      repeated("index i = 4\ninput x(i) : f64\ninput z(i) : f64\noutput y(i) : f64\ny(i) = x(i)\n",
               "y(i) += x(i)*z(i)\ny(i) -= z(i)/x(i)", 10),
      // Integers, truth values and values of indices.
      "index i = 6\ninput n(i) : i64\noutput m(i) : i64\nm(i) = select(n(i)*i < 40 , n(i)*n(i)*n(i) + i, shl(n(i), 2) "
      "- popcount(n(i)) * mod(n(i), 7)) + select(n(i) < 3, 1, 2)*select(n(i)*i < 40, 5, 7)\n",
      // A scan and a compaction, whose bodies are long.
      "index i = 9\ninput n(i) : i64\noutput s(i+1) : i64\noutput found(20) : i64\n"
      "s(i) = exclusive_scan(sum, i, n(i)*n(i)*3 + n(i)*7 - mod(n(i), 5))\n"
      "found(n(0) - n(0)) = compact(i, n(i)*n(i) + 3*n(i) < 60000, n(i)*2 + n(i)*n(i))\n",
      "exact\nindex i = 5\ninput x(i) : f64\noutput y(i) : f64\ny(i) = ((x(i) + 0.1)*x(i) - 0.3)*x(i)/(x(i) + 7)\n"};
  for (const auto& text : texts) {
    const auto whole = ir::lower(Program::parse(text));
    for (const std::int64_t most : {1, 3, 7, 20}) {
      INFO(text << "\n" << most);
      compare(text, {.integers = 100, .longest_kernel = most});
    }
    CHECK(cut(text, 1).steps.size() > whole.steps.size());
  }
}

TEST_CASE("what cannot be cut has a limit, which the error names") {
  std::string body = "x(i,k)";
  for (int k = 0; k < 60; ++k) body += fmt::format(" + x(i,k)*{}.5", k);
  const auto text = "index i k = 4\ninput x(i,k) : f64\noutput y(i) : f64\ny(i) = sum(k, " + body + ")\n";
  const auto sequence = ir::lower(Program::parse(text));
  CHECK(ir::shorten(sequence, {.most = 10}).steps.size() == 1);
  CHECK_THROWS_WITH(ir::shorten(sequence, {.most = 10, .most_in_one = 100}),
                    Catch::Matchers::StartsWith("121 operations in one kernel that cannot be cut"));
}

}  // namespace program_shorten_test
