// Plain schedules that are chosen for a GPU: several results of a thread, vectors, threads that share short rows.
#include <string>

#include "catch.hpp"
#include "ir/passes/canonical.hpp"
#include "lower/lower_program.hpp"
#include "plan/enumerate/plain.hpp"
#include "ricci/program.hpp"

namespace plan_plain_gpu_test {

using namespace ricci;

namespace {

plan::Candidate best(const std::string& text) {
  const auto sequence = ir::lower(Program::parse(text));
  REQUIRE(sequence.steps.size() == 1);
  const auto program = ir::canonicalise(sequence.steps.front().program);
  return plan::plain_candidates(program, plan::GpuModel::of_capability(90), 1).front();
}

std::string name(const std::string& text) { return best(text).schedule.name; }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Elements of x, y and z, all of one type and such extents, by the statement.
std::string matrices(const std::string& type, int rows, int columns, const std::string& statement) {
  const auto n = [](int extent) { return std::to_string(extent); };
  return "index i = " + n(rows) + "\nindex j = " + n(columns) + "\ninput x(i, j) : " + type +
         "; input y(j, i) : " + type + "; input s(j) : " + type + "\noutput z(i, j) : " + type + "\n" + statement;
}

}  // namespace

TEST_CASE("threads write neighbours by vectors of 16 bytes") {
  const std::string square = "z(i, j) = x(i, j) * x(i, j) + x(i, j)";
  CHECK(has(name(matrices("f32", 8192, 8192, square)), "neighbours a4"));
  CHECK(has(name(matrices("bf16", 8192, 8192, square)), "neighbours a8"));
  // Several results that lie apart, where vectors do not divide their number.
  const auto apart = name(matrices("f32", 8191, 8191, square));
  INFO(apart);
  CHECK(has(apart, "register tile"));
  CHECK_FALSE(has(apart, "neighbours"));
}

TEST_CASE("a transposed operand is read by vectors along its own neighbours") {
  const std::string product = "z(i, j) = x(i, j) * y(j, i)";
  CHECK(has(name(matrices("f64", 8192, 8192, product)), "neighbours b2 a2"));
  CHECK(has(name(matrices("f32", 8192, 8192, product)), "neighbours b4 a4"));
  // Blocks reach along both sides without vectors, too: sectors that are read are used.
  const auto odd = best(matrices("f32", 8191, 8191, product));
  const auto row = best(matrices("f32", 8191, 8191, "z(i, j) = x(i, j) * s(j)"));
  INFO(odd.schedule.name);
  CHECK_FALSE(has(odd.schedule.name, "plain b256"));
  CHECK(odd.predicted_us < 2.5 * row.predicted_us);
}

TEST_CASE("the rows of a stencil are in the registers of one thread") {
  const auto rows = best(
      "index i = 4094; index j = 4096\ninput x(4096, j) : f32\noutput z(i, j) : f32\n"
      "z(i, j) = x(i + 0, j) + x(i + 1, j) + x(i + 2, j)");
  INFO(kernel::print(rows.schedule));
  CHECK(has(kernel::print(rows.schedule), "tile a:"));
}

TEST_CASE("threads that are neighbours read neighbours of a sum") {
  const auto sum = [](const std::string& input, const std::string& type, const std::string& value) {
    return name("index i = 262144; index j = 64; index k = 512\ninput x(" + input + ") : " + type +
                "\noutput z(i) : f32\nz(i) = " + value);
  };
  // Of short rows: a warp each, several at once, not a thread each.
  for (const char* type : {"f32", "bf16"}) {
    const auto rows = sum("i, j", type, "maximum(j, x(i, j))");
    INFO(rows);
    CHECK(has(rows, "cooperative 32"));
    CHECK(has(rows, "register tile"));
  }
  // Of columns: a thread each, or a few neighbouring ones.
  CHECK(has(sum("k, i", "bf16", "sum(k, x(k, i))"), "neighbours"));
  CHECK_FALSE(has(sum("k, i", "f64", "sum(k, x(k, i))"), "cooperative"));
}

TEST_CASE("few blocks take what one multiprocessor does for all of one") {
  // Four blocks of tiles of six by six results, which read 32 lines by each access, took 62 us on an H200.
  const auto few = best(
      "index a = 32; index b = 32; index c = 32; index d = 32; input x(a, b, c) : f32; input y(a, b, d) : f32\n"
      "output z(c, d) : f32\nz(c, d) = sum(a b, x(a, b, c) * y(a, b, d))");
  INFO(few.schedule.name);
  CHECK_FALSE(has(few.schedule.name, "register tile b6 c6"));
}

}  // namespace plan_plain_gpu_test
