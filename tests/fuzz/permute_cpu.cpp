// Random permutations through Runtime on the CPU, bit for bit against the interpreter, over all candidates.
#include <cstdio>
#include <cstring>

#include "catch.hpp"
#include "fuzz/random_problem.hpp"
#include "ir/passes/canonical.hpp"
#include "jit/cpu_target.hpp"
#include "plan/plan.hpp"
#include "ricci/ricci.hpp"

namespace permute_cpu_test {

using namespace ricci;

namespace {

/// Half the problems run as planned, the others with a candidate drawn at random.
std::string some_schedule(const fuzz::RandomProblem& p) {
  if (p.seed % 2 == 0) return {};
  auto problem = p.problem();
  problem.inputs[0].alignment = problem.output.alignment = 0;
  const auto program = ir::canonicalise(ir::lower(problem));
  if (program.points() == 0) return {};
  plan::CpuModel device_model;
  device_model.vector_bytes = jit::host_cpu().vector_bytes;
  const auto list = plan::candidates(program, device_model);
  return list[static_cast<std::size_t>(p.seed / 2) % list.size()].schedule.name;
}

}  // namespace

TEST_CASE("random permutations on the CPU equal the interpreter's bits") {
  Runtime runtime;
  const auto first = fuzz::first_seed(1);
  const int count = fuzz::cases(120);
  for (int k = 0; k < count; ++k) {
    auto p = fuzz::random_problem(first + static_cast<std::uint64_t>(k));
    INFO(p.text());
    const auto want = fuzz::expected(p);
    PermuteOptions options;
    options.alpha = p.alpha;
    options.beta = p.beta;
    options.conjugate = p.conjugate;
    options.schedule = some_schedule(p);
    INFO("schedule " << options.schedule);
    const auto plan = runtime.plan_permute(p.spec, p.input, p.output, options);
    plan(p.b.element_0(), p.a.element_0());
    if (!fuzz::holds(p, want)) FAIL("differs from the interpreter\n" << plan.source());
  }
  std::printf("%d random permutations from seed %llu, isa %s\n", count, static_cast<unsigned long long>(first),
              jit::host_cpu().text().c_str());
  REQUIRE(count > 0);
}

TEST_CASE("a NaN is as good as another where elements are computed, and there alone") {
  auto computed = fuzz::random_problem(7400174);  // bf16, and one element is infinity less infinity
  REQUIRE_FALSE(computed.moves());
  const auto want = fuzz::expected(computed);
  computed.b = want;
  CHECK(fuzz::holds(computed, want));
  int none = 0, some = 0;
  for (std::size_t k = 0; k < want.bytes(); k += 2) {
    std::uint16_t bits;
    std::memcpy(&bits, want.begin() + k, sizeof bits);
    const bool no_number = (bits & 0x7fff) > 0x7f80;
    if (!no_number && some > 100) continue;
    ++(no_number ? none : some);
    const std::uint16_t other = no_number ? 0x7fff : static_cast<std::uint16_t>(bits ^ 1);
    std::memcpy(computed.b.begin() + k, &other, sizeof other);
    CHECK(fuzz::holds(computed, want) == no_number);
    std::memcpy(computed.b.begin() + k, &bits, sizeof bits);
  }
  CHECK(none == 1);

  auto moved = fuzz::random_problem(1);
  for (std::uint64_t seed = 2; !moved.moves() || moved.b.bytes() == 0; ++seed) moved = fuzz::random_problem(seed);
  auto bits = moved.b;
  bits.fill_nan();
  moved.b = bits;
  CHECK(fuzz::holds(moved, bits));
  moved.b.begin()[0] = 0x7f;
  CHECK_FALSE(fuzz::holds(moved, bits));
}

TEST_CASE("any number of threads leaves the same bits") {
  struct Problem {
    const char* spec;
    DType type;
    std::vector<std::int64_t> extents;
  };
  const auto with_threads = [](int threads) {
    RuntimeOptions options;
    options.threads = threads;
    return options;
  };
  const std::vector<Problem> problems = {{"abcdef->fedcba", DType::f32, {9, 11, 7, 5, 13, 12}},
                                         {"abc->cab", DType::u8, {101, 97, 61}},
                                         {"abcd->dbca", DType::c128, {17, 31, 23, 15}}};
  for (const auto& problem : problems) {
    const auto layout = Layout::row_major(problem.type, problem.extents);
    const auto bytes = static_cast<std::size_t>(layout.elements() * size_of(problem.type));
    std::vector<std::uint64_t> from(bytes / 8 + 1), first(from.size()), to(from.size());
    for (std::size_t k = 0; k < from.size(); ++k) from[k] = 0x9e3779b97f4a7c15u * (k + 1);
    // The model's choice, and the best that waits in an array and writes by nontemporal stores.
    std::vector<std::string> schedules{""};
    for (const auto& candidate : Runtime(with_threads(1)).plan_permute(problem.spec, layout).candidates()) {
      const auto& name = candidate.name;
      if (name.rfind("staged", 0) != 0 || name.find("kept") != std::string::npos) continue;
      schedules.push_back(name);
      break;
    }
    CHECK(schedules.size() == 2);
    for (const auto& schedule : schedules) {
      for (const int threads : {1, 2, 3, 7}) {
        INFO(problem.spec << ", schedule " << schedule << ", threads " << threads);
        Runtime runtime(with_threads(threads));
        PermuteOptions options;
        options.schedule = schedule;
        auto& result = threads == 1 ? first : to;
        std::fill(result.begin(), result.end(), 0);
        runtime.plan_permute(problem.spec, layout, options)(result.data(), from.data());
        CHECK((result == first));
      }
    }
  }
}

}  // namespace permute_cpu_test
