// Programs that go along the same rows several times: which steps become one, and what its kernel reads.
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "ir/passes/canonical.hpp"
#include "ir/passes/read_once.hpp"
#include "kernel/build.hpp"
#include "kernel/interpret/execute.hpp"
#include "kernel/program/rows.hpp"
#include "lower/lower_program.hpp"
#include "plan/plan.hpp"
#include "ricci/error.hpp"
#include "runtime/predictions.hpp"
#include "runtime/runtime_impl.hpp"
#include "runtime/sequences.hpp"

namespace rows_test {

using namespace ricci;

namespace {

ir::Sequence lowered(const std::string& statements, int rows = 4096, int length = 96) {
  return ir::lower(Program::parse("index i = " + std::to_string(rows) + "\nindex j k = " + std::to_string(length) +
                                  "\ninput x(i, j) : f32; input w(j) : f32; temp m(i) : f32; temp s(i) : f32\n" +
                                  statements));
}

std::size_t planned_steps(const ir::Sequence& sequence) {
  Plan::Impl plan;
  PlanOptions options;
  options.device = Device::gpu;
  options.target_sm = 90;
  plan.target = runtime::target_of(options);
  runtime::Predictions predictions(plan.gpu_model(), Precision::operands);
  const auto made = runtime::steps_instead(sequence, plan, &predictions);
  return made ? made->steps.size() : sequence.steps.size();
}

/// Steps of a plan for the CPU, and the schedule of the last one.
std::pair<std::size_t, std::string> planned_on_cpu(const ir::Sequence& sequence) {
  Plan::Impl plan;
  plan.target = runtime::target_of(PlanOptions());
  const auto made = runtime::steps_instead(sequence, plan, nullptr);
  const auto& steps = (made ? *made : sequence).steps;
  return {steps.size(), plan::best_candidate(ir::canonicalise(steps.back().program), plan.cpu_model()).schedule.name};
}

constexpr const char* kSoftmax =
    "output z(i, j) : f32\nm(i) = maximum(j, x(i,j))\ns(i) = sum(j, exp(x(i,j) - m(i)))\nz(i,j) = exp(x(i,j) - m(i)) / "
    "s(i)";

}  // namespace

TEST_CASE("statements that go along the same rows are one step") {
  const struct {
    const char* statements;
    std::size_t steps;
  } rows[] = {
      {kSoftmax, 1},
      {"output z(i) : f32\nm(i) = maximum(j, x(i,j))\nz(i) = m(i) + log(sum(j, exp(x(i,j) - m(i))))", 1},
      {"output z(i, j) : f32\nm(i) = sum(j, x(i,j)) / 96\n"
       "s(i) = rsqrt(sum(j, (x(i,j) - m(i)) * (x(i,j) - m(i))) / 96)\nz(i,j) = (x(i,j) - m(i)) * s(i) * w(j)",
       1},
      {"temp y(i, j) : f32; output z(i, j) : f32\ny(i,j) = x(i,j) * w(j)\nm(i) = sum(j, y(i,j))\nz(i,j) = y(i,j) / "
       "m(i)",
       1},
      // What is between is a result, too.
      {"output n(i) : f32; output z(i, j) : f32\nn(i) = sum(j, x(i,j))\nz(i,j) = x(i,j) / n(i)", 2},
      // Rows of another tensor's columns, and a sum that is not along them.
      {"input a(j, i) : f32; output z(j, i) : f32\nm(i) = sum(j, x(i,j))\nz(j,i) = a(j,i) / m(i)", 1},
      {"output z(i, j) : f32\nm(i) = sum(j, x(i,j))\nz(i,j) = sum(k, x(i,k) * abs(w(j) - w(k))) / m(i)", 3},
      // What was read changes before it is read again.
      {"inout u(i, j) : f32\nm(i) = sum(j, u(i,j))\nu(i,j) = u(i,j) / m(i)", 2},
  };
  for (const auto& [statements, steps] : rows) {
    INFO(statements);
    CHECK(planned_steps(lowered(statements)) == steps);
  }
  CHECK(planned_steps(lowered(kSoftmax, 64)) == 3);  // parts of sums are work for more
  CHECK(planned_steps(lowered(kSoftmax, 4096, 1 << 17)) == 3);
}

TEST_CASE("a kernel reads each row once") {
  const auto sequence = lowered(kSoftmax, 32, 128);
  const auto made =
      ir::computed_where_read(sequence, 2, [](const ir::Program& program) { return kernel::row_of(program) >= 0; });
  REQUIRE(made);
  REQUIRE(made->steps.size() == 1);
  const auto program = ir::canonicalise(made->steps.front().program);
  const auto list = plan::candidates(program, plan::GpuModel::of_capability(90));
  int seen = 0;
  for (const auto& candidate : list) {
    if (candidate.schedule.name.find(" row ") == std::string::npos) continue;
    INFO(candidate.schedule.name);
    const auto tree = kernel::expand(kernel::build(program, candidate.schedule, kernel::Target::cuda));
    std::vector<float> x(32 * 128, 0.5F), z(32 * 128);
    const auto counts = kernel::execute(tree, {x.data(), z.data()}, {});
    CHECK(z.back() == 1.0F / 128);
    CHECK(counts.read_from(kernel::Space::global).bytes == 4 * 32 * 128);
    ++seen;
  }
  CHECK(seen > 5);
}

TEST_CASE("rows that caches hold are one step on a CPU") {
  const auto [steps, schedule] = planned_on_cpu(lowered(kSoftmax));
  CHECK(steps == 1);
  CHECK(schedule.find("row") != std::string::npos);
  CHECK(planned_on_cpu(lowered(kSoftmax, 4096, 1 << 17)).first > 1);
  CHECK(planned_on_cpu(lowered(kSoftmax, 32)).first > 1);  // parts of sums are work for more
}

TEST_CASE("passes over a row keep what takes long, and read memory once") {
  constexpr int kRows = 8, kLong = 61;  // by vectors of 8, one of 4, and one by one
  const auto sequence = lowered(kSoftmax, kRows, kLong);
  const auto made =
      ir::computed_where_read(sequence, 2, [](const ir::Program& program) { return kernel::row_of(program) >= 0; });
  REQUIRE(made);
  const auto program = ir::canonicalise(made->steps.front().program);
  const auto passes = kernel::row_passes(*kernel::cut_rows(program, 1), 1);
  REQUIRE(passes.size() == 3);
  CHECK((passes[0].kept.empty() && passes[1].kept.size() == 1 && passes[2].results.size() == 1));
  kernel::Schedule schedule;
  schedule.directives = kernel::parse_directives("order task a b; row b 8");
  const auto tree = kernel::build(program, schedule, kernel::Target::cpu);
  std::vector<float> x(kRows * kLong, 0.5F), z(kRows * kLong);
  kernel::execute(tree, {x.data(), z.data()}, {});
  for (const auto value : z) CHECK(value == 1.0F / kLong);
  CHECK(kernel::launch_of(program, schedule, kernel::Target::cpu).scratch_bytes ==
        tree.bytes_of(kernel::Space::scratch));
}

TEST_CASE("rows that are none are refused by name") {
  const auto program = ir::canonicalise(lowered("output z(i) : f32\nz(i) = sum(j, x(i,j))").steps.front().program);
  const auto refused = [&](const std::string& directives) {
    kernel::Schedule schedule;
    schedule.directives = kernel::parse_directives(directives);
    try {
      kernel::build(program, schedule, kernel::Target::cuda);
    } catch (const PlanError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused("order task a; threads 32; cooperative 32; row b 1").empty());
  CHECK(refused("order task a; threads 32; row b 1").find("threads that cooperate") != std::string::npos);
  CHECK(refused("order task a; threads 32; cooperative 32; row a 1").find("several places of a row") !=
        std::string::npos);
  CHECK(refused("order task a; threads 32; cooperative 32; row b 5").find("divide") != std::string::npos);
  CHECK(refused("order task a; threads 128; cooperative 128; row b 1").find("without a part") != std::string::npos);
  CHECK(refused("order task a; threads 32; cooperative 8; row b 1").find("a point each") != std::string::npos);
  CHECK(refused("tile a:4; order task a0 thread a; threads 32; cooperative 8; row b 4").empty());
}

TEST_CASE("rows of a CPU that are none are refused by name") {
  const auto refused = [](const std::string& statements, const std::string& directives) {
    const auto program = ir::canonicalise(lowered(statements).steps.front().program);
    kernel::Schedule schedule;
    schedule.directives = kernel::parse_directives(directives);
    try {
      kernel::build(program, schedule, kernel::Target::cpu);
    } catch (const PlanError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string sum = "output z(i) : f32\nz(i) = sum(j, x(i,j))";
  CHECK(refused(sum, "order task a; row b 8").empty());
  CHECK(refused(sum, "order task a; row b 6").find("power of two") != std::string::npos);
  CHECK(refused(sum, "order task a; row b 32; row b 32").find("a row already") != std::string::npos);
  CHECK(refused(sum, "order task a; row a 8").find("several places of a row") != std::string::npos);
  CHECK(refused(sum, "tile a:8:2; order task a0 serial a1; row b 8").find("one by one") != std::string::npos);
  CHECK(refused("inout x2(i, j) : f32\nx2(i,j) = x2(i,j) / sum(k, x2(i,k) * w(k))", "order task a b; row b 8").empty());
  CHECK(refused("output z(i) : f32; input y(i, j) : i32\nz(i) = sum(j, select(y(i,j) == 1, x(i,j), 0))",
                "order task a; row b 8")
            .find("real numbers") != std::string::npos);
}

}  // namespace rows_test
