// Which statements may be computed one after the other, and what the verifier says of parts that may not.
#include "plan/enumerate/parts.hpp"

#include <algorithm>

#include "catch.hpp"
#include "ir/passes/canonical.hpp"
#include "kernel/schedule.hpp"
#include "lower/lower_program.hpp"
#include "ricci/error.hpp"
#include "ricci/program.hpp"

namespace plan_parts_test {

using namespace ricci;

namespace {

using Parts = std::vector<std::vector<int>>;

ir::Program canonical(const std::string& text) {
  return ir::canonicalise(ir::lower(Program::parse(text)).steps.at(0).program);
}

/// A(i, j) = sum(m, B(i, m) * E(m, j)): columns share the matrix, rows of a column its elements of E.
ir::Program columns() {
  return canonical(
      "grid x = 4096\nindex i j m = 3\ninput B(i, m) : f64 on x\ninput E(i, j) : f64 on x\n"
      "output A(i, j) : f64 on x\nA(i, j) = sum(m, B(i, m) * E(m, j))\n");
}

std::string refusal(const ir::Program& program, const Parts& parts, const std::string& strip = "strip 256\n") {
  auto text = "tile a:1024:8\norder task a0 serial a1\nlanes a 8\n" + strip;
  for (const auto& part : parts) {
    text += "part";
    for (const auto k : part) text += " " + std::to_string(k + 1);
    text += "\n";
  }
  kernel::Schedule schedule;
  schedule.directives = kernel::parse_directives(text);
  try {
    kernel::verify(schedule, program, kernel::Target::cpu);
  } catch (const PlanError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("statements that share loads are joined while the tensors are few") {
  const auto program = columns();
  REQUIRE(program.statements.size() == 9);
  CHECK(plan::parts_of(program, 6).size() == 9);   // three of B, three of E, one result: nothing fits beside them
  const auto parts = plan::parts_of(program, 15);  // nine of B, three of E, three results
  REQUIRE(parts.size() == 3);
  for (const auto& part : parts) CHECK(part.size() == 3);
  CHECK(plan::parts_of(program, 27).size() == 1);
}

TEST_CASE("statements that need one operation stay together") {
  const auto program = canonical(
      "grid x = 4096\ninput a() : f64 on x\ninput b() : f64 on x\ninput c() : f64 on x\n"
      "output p() : f64 on x\noutput q() : f64 on x\noutput r() : f64 on x\n"
      "p() = exp(a() * b()) + 1.0\nq() = exp(a() * b()) - 1.0\nr() = a() * c()\n");
  CHECK(plan::parts_of(program, 0) == Parts{{0, 1}, {2}});
  CHECK(plan::parts_of(program, 6).size() == 1);
  CHECK(plan::parts_of(program, 5) == Parts{{0, 1}, {2}});
}

TEST_CASE("what one writes and another reads stays together") {
  const auto program = canonical(
      "grid x = 4096\ninout a() : f64 on x\ninout b() : f64 on x\noutput c() : f64 on x\n"
      "input d() : f64 on x\nlocal t() : f64 on x\nt() = a()\na() = b() + 1.0\nb() = t() * 2.0\nc() = d() * 3.0\n");
  REQUIRE(program.statements.size() == 3);
  const auto parts = plan::parts_of(program, 0);
  CHECK(parts.size() == 2);
  CHECK(refusal(program, parts).empty());
  Parts apart{{0}, {1}, {2}};
  CHECK(refusal(program, apart).find("no part reads what an earlier one writes") != std::string::npos);
}

TEST_CASE("parts hold every statement once") {
  const auto program = columns();
  CHECK(refusal(program, plan::parts_of(program, 15)).empty());
  const auto* rule = "the parts of a strip hold every statement once";
  CHECK(refusal(program, {{0, 1, 2}, {3, 4, 5}}).find(rule) != std::string::npos);
  CHECK(refusal(program, {{0, 1, 2, 3}, {3, 4, 5}, {6, 7, 8}}).find(rule) != std::string::npos);
  CHECK(refusal(program, plan::parts_of(program, 15), "").find("there is no strip") != std::string::npos);
}

}  // namespace plan_parts_test
