// Which schedules of contractions fetch columns from memory before they are read, or packed.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"
#include "contraction_program.hpp"
#include "kernel/build.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/plan.hpp"
#include "ricci/ricci.hpp"

namespace plan_ahead_cpu_test {

using namespace ricci;
using tests::contraction;

namespace {

plan::CpuModel two_threads(int datapath_bytes) {
  auto device = tests::with_units(datapath_bytes);
  device.threads = 2;
  return device;
}

/// Operands whose lines are fetched ahead.
std::string prefetched(const kernel::Directives& directives) {
  std::string names;
  for (const auto& directive : directives) {
    if (directive.kind == kernel::Directive::Kind::prefetch) names += directive.subject;
  }
  return names;
}

}  // namespace

TEST_CASE("columns out of memory that few rows multiply are read in place and fetched a round before") {
  const auto fetched = [&](const std::string& spec, const std::vector<std::vector<std::int64_t>>& extents) {
    const auto program = contraction(spec, extents, DType::f32);
    return prefetched(plan::best_candidate(program, two_threads(64)).schedule.directives);
  };
  CHECK(fetched("ab,cad->bcd", {{84, 24}, {8064, 84, 96}, {24, 8064, 96}}) == "B");
  // From a cache, or for many rows, they are packed.
  CHECK(fetched("ab,cad->bcd", {{84, 24}, {20, 84, 96}, {24, 20, 96}}).empty());
  CHECK(fetched("ab,cad->bcd", {{84, 240}, {8064, 84, 96}, {240, 8064, 96}}).empty());
}

TEST_CASE("columns that are packed out of memory are fetched a task before where units compute vectors by halves") {
  const auto program = contraction("ce,deba->dcba", {{63, 63}, {63, 63, 63, 63}, {63, 63, 63, 63}}, DType::f64);
  const auto fetched = [&](int datapath_bytes) {
    std::vector<plan::Candidate> packed;
    for (auto& candidate : plan::contraction_candidates(program, two_threads(datapath_bytes))) {
      const auto& directives = candidate.schedule.directives;
      const auto ahead = prefetched(directives);
      const bool staged = std::any_of(directives.begin(), directives.end(), [&](const kernel::Directive& d) {
        return d.kind == kernel::Directive::Kind::stage && d.subject == ahead;
      });
      if (staged) packed.push_back(candidate);
    }
    return packed;
  };
  CHECK(fetched(64).empty());
  const auto halves = fetched(32);
  const auto of_rows = [&](const std::string& name) {
    return std::any_of(halves.begin(), halves.end(),
                       [&](const plan::Candidate& candidate) { return candidate.schedule.name.starts_with(name); });
  };
  CHECK(of_rows("gett 9x"));
  CHECK(of_rows("gett 4x"));
  CHECK(of_rows("gett 2x"));
  for (const auto& candidate : halves) {
    INFO(candidate.schedule.name);
    CHECK_NOTHROW(kernel::expand(kernel::build(program, candidate.schedule, kernel::Target::cpu)));
  }
}

TEST_CASE("columns that tiles of one row multiply are packed as they come") {
  using Kind = kernel::Directive::Kind;
  const auto some = [](std::int64_t rows, Kind kind) {
    const auto program = contraction("af,cbf->acb", {{rows, 96}, {256, 240, 96}, {rows, 256, 240}}, DType::f64);
    const auto candidates = plan::contraction_candidates(program, two_threads(32));
    return std::any_of(candidates.begin(), candidates.end(), [&](const plan::Candidate& candidate) {
      const auto& directives = candidate.schedule.directives;
      return std::any_of(directives.begin(), directives.end(), [&](const kernel::Directive& directive) {
        return directive.kind == kind && !directive.subject.empty();
      });
    });
  };
  CHECK(some(2, Kind::prefetch));
  CHECK(some(1, Kind::stage));
  CHECK_FALSE(some(1, Kind::prefetch));
}

TEST_CASE("columns that few rows of a tile multiply are fetched a task before where results are gathered") {
  const auto program =
      contraction("dabfe,fc->edcba", {{28, 43, 28, 28, 43}, {28, 21}, {43, 28, 21, 28, 43}}, DType::f64);
  const auto schedule = [&](int datapath_bytes) {
    auto device = two_threads(datapath_bytes);
    device.copy_GBs = 29;
    return plan::best_candidate(program, device).schedule;
  };
  const auto halves = schedule(32);
  CHECK(halves.name.starts_with("gett 3x48 "));
  CHECK(prefetched(halves.directives) == "A");
  CHECK_NOTHROW(kernel::expand(kernel::build(program, halves, kernel::Target::cpu)));
  CHECK(prefetched(schedule(64).directives).empty());
}

TEST_CASE("runs that were asked for a task before cost what those in a cache do") {
  const auto program = contraction("muno,au->maon", {{63, 63, 63, 63}, {63, 63}, {63, 63, 63, 63}}, DType::f64);
  auto device = two_threads(32);
  device.copy_GBs = 53;
  device.read_GBs = 37;
  device.write_GBs = 28;
  device.clock_MHz = 4500;
  const auto name = plan::best_candidate(program, device).schedule.name;
  INFO(name);
  CHECK(name.starts_with("gett 9x16 depth 63 along "));
}

TEST_CASE("columns of sums in parts are fetched for the next part where few rows of a task multiply them") {
  const auto fetched = [&](std::int64_t rows, int datapath_bytes) {
    const auto program = contraction("dca,cbd->ba", {{182, 173, 182}, {173, rows, 182}, {rows, 182}}, DType::f64);
    const auto best = plan::best_candidate(program, two_threads(datapath_bytes));
    CHECK_NOTHROW(kernel::expand(kernel::build(program, best.schedule, kernel::Target::cpu)));
    return prefetched(best.schedule.directives);
  };
  CHECK(fetched(173, 32) == "B");
  CHECK(fetched(173, 64).empty());
  CHECK(fetched(600, 32) == "A");  // rows in place, below
  CHECK(fetched(600, 64).empty());
}

TEST_CASE("rows in place out of memory are fetched for the next register tile where units compute vectors by halves") {
  const auto fetched = [&](std::int64_t rows, int datapath_bytes) {
    const auto program = contraction("ae,be->ba", {{63, 63}, {rows, 63}, {rows, 63}}, DType::f64);
    const auto best = plan::best_candidate(program, two_threads(datapath_bytes));
    CHECK_NOTHROW(kernel::expand(kernel::build(program, best.schedule, kernel::Target::cpu)));
    return prefetched(best.schedule.directives);
  };
  CHECK(fetched(63 * 63 * 63, 32) == "A");
  CHECK(fetched(63 * 63 * 63, 64).empty());
  CHECK(fetched(63 * 63, 32).empty());  // from a cache
}

TEST_CASE("columns in place that have few sets of the second cache are not fetched ahead") {
  // Whether a candidate reads them so where the next term of the sum is so many elements away.
  const auto reads_ahead = [&](std::int64_t apart) {
    const auto program = contraction("ab,cbd->acd", {{20, 39}, {39, 39, apart}, {20, 39, apart}}, DType::f32);
    const auto candidates = plan::contraction_candidates(program, two_threads(32));
    return std::any_of(candidates.begin(), candidates.end(), [](const plan::Candidate& candidate) {
      const auto& directives = candidate.schedule.directives;
      const auto ahead = prefetched(directives);
      return !ahead.empty() && std::none_of(directives.begin(), directives.end(), [&](const kernel::Directive& d) {
        return d.kind == kernel::Directive::Kind::stage && d.subject == ahead;
      });
    });
  };
  CHECK(reads_ahead(33 * 29 * 39));
  CHECK_FALSE(reads_ahead(29 * 29 * 39));  // 124 bytes beyond 128 KB
}

TEST_CASE("columns that are packed before anything fetched them cost what memory allows at its measured rate") {
  const auto program = contraction("dabe,ec->dcba", {{76, 87, 76, 87}, {87, 21}, {76, 21, 76, 87}}, DType::f32);
  const auto best = [&](int datapath_bytes, double read_GBs) {
    auto device = two_threads(datapath_bytes);
    device.read_GBs = read_GBs;
    return plan::best_candidate(program, device).schedule.name;
  };
  CHECK(best(32, 0).starts_with("gett 3x"));
  CHECK(best(32, 30).starts_with("gett 7x"));
  CHECK(best(64, 30) == best(64, 0));
}

}  // namespace plan_ahead_cpu_test
