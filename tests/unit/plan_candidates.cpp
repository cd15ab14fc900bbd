// Candidates for a few hundred random programs: there are some, all of them are sound, and they are the same every
// time.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "fuzz/random_problem.hpp"
#include "kernel/permute/moves.hpp"
#include "plan/plan.hpp"
#include "programs.hpp"
#include "ricci/error.hpp"

namespace plan_candidates_test {

using namespace ricci;

namespace {

constexpr int kPrograms = 100;

ir::Program random_program(std::uint64_t seed) {
  return ir::canonicalise(ir::lower(fuzz::random_problem(seed, {20000, 12}).problem()));
}

/// Everything that decides what a candidate is.
std::string text(const std::vector<plan::Candidate>& list) {
  std::string all;
  for (const auto& candidate : list) {
    all += candidate.schedule.name + '\n' + kernel::print(candidate.schedule) + std::to_string(candidate.predicted_us) +
           '\n';
  }
  return all;
}

/// Of what moves elements, the moves.
std::optional<kernel::Moves> moves_in(const ir::Program& program, const plan::Candidate& candidate) {
  if (!kernel::has_write(candidate.schedule.directives)) return std::nullopt;
  return kernel::moves_of(program, candidate.schedule.directives);
}

bool shuffles(const ir::Program& program, const plan::Candidate& candidate) {
  const auto moves = moves_in(program, candidate);
  return moves && (moves->origin == kernel::Origin::shuffle || moves->tiles_per_block() > 1);
}

/// What is wrong with one candidate of a list; empty when nothing is. (An assertion for each would take minutes.)
std::string fault(const ir::Program& program, const std::vector<plan::Candidate>& list, std::size_t c,
                  kernel::Target target) {
  const auto& candidate = list[c];
  const auto& directives = candidate.schedule.directives;
  std::int64_t tiles = 0;
  try {
    kernel::verify(candidate.schedule, program, target);
    tiles = kernel::launch_of(program, candidate.schedule, target).tasks;
    if (kernel::has_write(directives)) {
      const auto moves = kernel::moves_of(program, directives);
      tiles = moves.tiles(program);
      if (kernel::directives_of(moves, program) != directives) return "what it says is not what it was made of";
    }
  } catch (const Error& error) {
    return error.what();
  }
  const auto written = print(candidate.schedule);
  const auto read = kernel::parse_schedule(written);
  if (!read || read->directives != directives) return "its text does not lead back to it";
  if (!std::isfinite(candidate.predicted_us) || candidate.predicted_us <= 0) return "the prediction is no time";
  if (candidate.written) return "it was not proposed";
  if (c > 0 && list[c - 1].predicted_us > candidate.predicted_us) return "the list is not sorted";
  if (candidate.traffic.tiles != tiles) return "the tiles are miscounted";
  return {};
}

template <class Model, class Fault>
void for_random_programs(const Model& device_model, kernel::Target target, Fault further_fault) {
  for (int k = 0; k < kPrograms; ++k) {
    const auto program = random_program(static_cast<std::uint64_t>(90000 + k));
    if (program.points() == 0) continue;
    INFO("seed " << 90000 + k << "\n" << print(program));
    const auto list = plan::candidates(program, device_model);
    REQUIRE_FALSE(list.empty());
    std::set<std::string> names;
    for (std::size_t c = 0; c < list.size(); ++c) {
      auto what = fault(program, list, c, target);
      // A program of one point has no tiles to move.
      if (what.empty() && !program.indices.empty()) what = further_fault(program, list[c]);
      if (!names.insert(list[c].schedule.name).second) what = "the name is not unique";
      if (what.empty()) continue;
      FAIL(list[c].schedule.name << ": " << what);
    }
    REQUIRE(text(list) == text(plan::candidates(program, device_model)));
    REQUIRE(&plan::choose(list, list.back().schedule.name) == &list.back());
  }
}

}  // namespace

namespace {

/// Whether so many blocks at once are what threads, shared memory or some number of registers leave room for, each
/// part's registers by themselves: blocks of three warps with 40 of them are 16, not 17.
bool has_room(const kernel::Launch& launch, double occupancy, const plan::GpuModel& device_model) {
  const auto warps = (launch.threads + 31) / 32;
  const auto blocks =
      std::lround(occupancy * device_model.threads_per_multiprocessor / static_cast<double>(32 * warps));
  if (blocks == 1 || blocks == 32 || blocks == device_model.threads_per_multiprocessor / (32 * warps) ||
      blocks == device_model.shared_bytes_per_multiprocessor / (launch.shared_bytes + plan::kReservedBytes))
    return true;
  for (int registers = 16; registers <= 256; registers += 8) {
    if (blocks == plan::kMultiprocessorParts * (plan::kRegistersPerPart / (32 * registers)) / warps) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("candidates for GPUs") {
  for (const int sm : {75, 90}) {
    const auto device_model = plan::GpuModel::of_capability(sm);
    for_random_programs(
        device_model, kernel::Target::cuda,
        [&](const ir::Program& program, const plan::Candidate& candidate) -> std::string {
          const auto launch = kernel::launch_of(program, candidate.schedule, kernel::Target::cuda);
          const auto& traffic = candidate.traffic;
          if (launch.shared_bytes > device_model.shared_bytes_per_block) return "too much shared memory";
          if (launch.threads < 32 || launch.threads > 1024) return "a block of no warps";
          const auto lanes = (launch.threads + 31) / 32 * 32;
          if (launch.threads * 8 < lanes * 7) return "warps that are mostly idle";
          if (launch.threads < lanes && shuffles(program, candidate)) return "shuffles among warps that are not full";
          if (launch.tasks >= std::int64_t{1} << 31) return "more blocks than a launch takes";
          if (!(traffic.occupancy > 0 && traffic.occupancy <= 1)) return "the occupancy is no share";
          if (kernel::has_write(candidate.schedule.directives) && !has_room(launch, traffic.occupancy, device_model))
            return "a number of blocks that no number of registers makes";
          if (traffic.bank_wavefronts < traffic.ideal_wavefronts) return "fewer wavefronts than there can be";
          return {};
        });
  }
}

/// Up to 2^31 elements, where leaders differ most; nothing of them is in memory.
ir::Program large_program(std::mt19937_64& random) {
  const std::string letters = "abcdefghij";
  const auto rank = 2 + random() % 9;
  auto output = letters.substr(0, rank);
  std::shuffle(output.begin(), output.end(), random);
  std::vector<std::int64_t> extents(rank);
  for (auto& n : extents) {
    const auto most = std::pow(2.0, 31.0 / static_cast<double>(rank));
    n = std::max<std::int64_t>(static_cast<std::int64_t>(most * static_cast<double>(random() % 1000 + 1) / 1000), 2);
  }
  constexpr DType kTypes[] = {DType::u8, DType::f16, DType::f32, DType::f64, DType::c128};
  return test::canonical(test::dense(letters.substr(0, rank) + "->" + output, extents, kTypes[random() % 5]));
}

TEST_CASE("the best candidate is the first of all") {
  auto measured = plan::GpuModel::of_capability(90);
  measured.copy_GBs = 4000;
  std::mt19937_64 random(5);
  for (const auto& device_model : {plan::GpuModel::of_capability(75), plan::GpuModel::of_capability(90), measured}) {
    for (int k = 0; k < kPrograms; ++k) {
      const auto program = k % 2 == 0 ? random_program(static_cast<std::uint64_t>(k)) : large_program(random);
      if (program.points() == 0) continue;
      const auto list = plan::candidates(program, device_model);
      INFO(print(program));
      REQUIRE(text({list.front()}) == text({plan::best_candidate(program, device_model)}));
    }
  }
}

TEST_CASE("the best candidate of a CPU is the first of all") {
  plan::CpuModel device_model;
  device_model.vector_bytes = 32;
  for (int k = 0; k < kPrograms; ++k) {
    const auto program = random_program(static_cast<std::uint64_t>(k));
    if (program.points() == 0) continue;
    INFO(print(program));
    const auto first = plan::candidates(program, device_model).front();
    REQUIRE(text({first}) == text({plan::best_candidate(program, device_model)}));
  }
}

TEST_CASE("candidates for CPUs") {
  for (const int vector_bytes : {16, 64}) {
    plan::CpuModel device_model;
    device_model.vector_bytes = vector_bytes;
    device_model.threads = 3;
    for_random_programs(device_model, kernel::Target::cpu,
                        [&](const ir::Program& program, const plan::Candidate& candidate) -> std::string {
                          const auto launch = kernel::launch_of(program, candidate.schedule, kernel::Target::cpu);
                          if (launch.shared_bytes > 256 * 1024) return "too much of a worker's memory";
                          const auto moves = moves_in(program, candidate);
                          if (moves && moves->mapping.vector * size_of(program.nodes[0].type) > vector_bytes)
                            return "wider than the vectors";
                          return {};
                        });
  }
}

TEST_CASE("each family is proposed where it belongs") {
  const auto names = [](const ir::EinsumProblem& problem) {
    std::string all;
    for (const auto& candidate : plan::candidates(test::canonical(problem), plan::GpuModel::of_capability(90))) {
      all += candidate.schedule.name.substr(0, candidate.schedule.name.find(' ')) + ' ';
    }
    return all;
  };
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(names(test::dense("abc->abc", {64, 64, 64})), ContainsSubstring("copy"));
  CHECK_THAT(names(test::dense("abc->bac", {64, 64, 64})), ContainsSubstring("tiled-copy"));
  const auto transposed = names(test::dense("abc->cab", {64, 64, 64}));
  CHECK_THAT(transposed, ContainsSubstring("tiled"));
  CHECK_THAT(transposed, ContainsSubstring("plain"));
  CHECK_THAT(names(test::dense("abc->cba", {5, 7, 9})), ContainsSubstring("packed"));
  CHECK_THAT(names(test::dense("abcd->dcba", {5, 70, 3, 40})), ContainsSubstring("packed-split"));
}

TEST_CASE("rows that are short on both sides are joined along both") {
  struct Best {
    kernel::Moves moves;
    plan::Traffic traffic;
  };
  const auto best = [](const ir::EinsumProblem& problem) -> Best {
    const auto program = test::canonical(problem);
    const auto first = plan::best_candidate(program, plan::GpuModel::of_capability(90));
    return {moves_in(program, first).value(), first.traffic};
  };
  constexpr std::int64_t kLeast = 512;  // bytes
  const auto short_rows = best(test::dense("abcd->cbad", {96, 75, 96, 80}, DType::f32));
  CHECK_FALSE(short_rows.moves.stage);
  CHECK(short_rows.traffic.read.run_bytes >= kLeast);
  CHECK(short_rows.traffic.write.run_bytes >= kLeast);
  // Rows that are long by themselves are not, and neither is what begins with different axes.
  const auto long_rows = best(test::dense("abc->bac", {64, 64, 4096}, DType::f32));
  CHECK_FALSE(long_rows.moves.stage);
  CHECK(long_rows.moves.tile[0] * long_rows.moves.tile[1] == 1);
  CHECK(best(test::dense("abcd->dcba", {96, 75, 96, 80}, DType::f32)).moves.stage);
}

TEST_CASE("limits that follow from the compute capability") {
  CHECK(plan::GpuModel::of_capability(75).shared_bytes_per_block == 64 * 1024);
  CHECK(plan::GpuModel::of_capability(80).shared_bytes_per_block == 163 * 1024);
  CHECK(plan::GpuModel::of_capability(86).shared_bytes_per_block == 99 * 1024);
  CHECK(plan::GpuModel::of_capability(90).shared_bytes_per_block == 227 * 1024);
  CHECK(plan::GpuModel::of_capability(100).shared_bytes_per_block == 227 * 1024);
}

TEST_CASE("what is timed has the favourite first, and some that stage elsewhere or otherwise") {
  const auto candidate = [](const char* name, double us, const std::string& place, bool written = false) {
    plan::Candidate c;
    c.schedule.name = name;
    const auto stage = place.empty() ? place : "stage A " + place + " b:16 a:16 vector 4;";
    c.schedule.directives = kernel::parse_directives("order task b0 a0;" + stage + "write a:16 b:16; threads 64");
    c.predicted_us = us;
    c.written = written;
    return c;
  };
  const std::string registers = "registers", shared = "shared";
  const std::vector<plan::Candidate> list = {
      candidate("r1", 10, registers), candidate("r2", 10.1, registers), candidate("r3", 11, registers),
      candidate("r4", 12, registers), candidate("s1", 12.5, shared),    candidate("s2", 13, shared),
      candidate("s3", 20, shared),    candidate("n1", 30, {}),          candidate("loops", 5, {}, true)};
  using Names = std::vector<std::string>;
  CHECK(plan::entrants(list, 1) == Names{"r1"});
  CHECK(plan::entrants(list, 3) == Names{"r1", "r2", "s1"});
  CHECK(plan::entrants(list, 6) == Names{"r1", "r2", "r3", "r4", "s1", "s2"});
  CHECK(plan::entrants(list, 5) == Names{"r1", "r2", "r3", "r4", "s1"});
  CHECK(plan::entrants(list, 100) == Names{"r1", "r2", "r3", "r4", "s1", "s2", "s3", "n1"});
  CHECK(plan::entrants({list.begin() + 4, list.begin() + 7}, 2) == Names{"s1", "s2"});
  auto rectangles = list;
  rectangles[3] = candidate("r4", 12, "registers b:16 a:4 a:4/4 rows 4");
  CHECK(plan::entrants(rectangles, 3) == Names{"r1", "r2", "r4"});
}

TEST_CASE("a skewed tile writes in part at the ends of rows alone") {
  constexpr std::int64_t kRows = 1001, kRow = 6083;
  const auto program = test::canonical(test::dense("ab->ba", {kRow, kRows}, DType::f32));
  int skewed = 0;
  for (const auto& c : plan::candidates(program, plan::GpuModel::of_capability(90))) {
    const auto moves = moves_in(program, c).value();
    if (!moves.skew.on()) continue;
    ++skewed;
    CHECK(c.traffic.write.partial_sectors <= 2 * kRows);
    CHECK(c.traffic.write.partial_sectors > kRows);
    CHECK(c.traffic.write.sectors <= kRows * (kRow * 4 / 32 + 2));
    CHECK(c.traffic.read.sectors > kRows * kRow * 4 / 32.0);
    CHECK(moves.mapping.vector == 1);
  }
  CHECK(skewed > 10);
}

TEST_CASE("tiles of many rows take longer where a processor does not fetch them ahead") {
  const auto program = test::canonical(test::dense("ab->ba", {4000, 4000}));
  plan::CpuModel device_model;
  device_model.vector_bytes = 32;
  std::map<std::string, double> usual;
  for (const auto& c : plan::candidates(program, device_model)) usual[c.schedule.name] = c.predicted_us;
  device_model.slower_rows = 2;
  int longer = 0, same = 0;
  for (const auto& c : plan::candidates(program, device_model)) {
    const auto before = usual.find(c.schedule.name);
    REQUIRE(before != usual.end());
    CHECK(c.predicted_us >= before->second);
    ++(c.predicted_us > before->second ? longer : same);
  }
  CHECK(longer > 3);
  CHECK(same > 3);
}

TEST_CASE("a schedule is chosen by name, or the best is") {
  const auto program = test::canonical(test::dense("ab->ba", {64, 64}));
  const auto list = plan::candidates(program, plan::GpuModel::of_capability(90));
  CHECK(&plan::choose(list, "") == &list.front());
  CHECK(&plan::choose(list, list.back().schedule.name) == &list.back());
  const auto table = plan::explain(list, list.back(), "a device", plan::Reason::named);
  CHECK(table.rfind("candidates for a device, best prediction first\n", 0) == 0);
  for (const auto& candidate : list) CHECK(table.find("  " + candidate.schedule.name + " ") != std::string::npos);
  CHECK(table.find("*  " + list.back().schedule.name + " ") != std::string::npos);
  CHECK(table.find(", as asked for\n") != std::string::npos);
  CHECK(plan::explain(list, list.front(), "a device", plan::Reason::estimated).find(", the least predicted time\n") !=
        std::string::npos);
  // Where one thread decides which kind comes first.
  const std::vector<plan::Candidate> kinds{list.back(), list.front()};
  const auto of_kinds = plan::explain(kinds, kinds.front(), "a device", plan::Reason::estimated);
  CHECK(of_kinds.rfind("candidates for a device, best prediction first of each kind\n", 0) == 0);
  CHECK(of_kinds.find(", the least predicted time of the kind that one thread would have") != std::string::npos);
  CHECK(plan::explain(list, list.back(), "a device", plan::Reason::estimated)
            .find(", the least predicted time of those that a plan looks at\n") != std::string::npos);
  const plan::Tuning tuning{{{list.back().schedule.name, 12.5, 15}, {list.front().schedule.name, 99.0, 3}}};
  const auto tuned = plan::explain(list, list.back(), "a device", plan::Reason::tuned, Precision::operands, &tuning);
  CHECK(tuned.find(", the fastest when this problem was measured on this device\n") != std::string::npos);
  CHECK(tuned.find(" measured ") != std::string::npos);
  CHECK(tuned.find("    12.5 us ") != std::string::npos);
  CHECK(tuned.find("    99.0 us ") != std::string::npos);
}

}  // namespace plan_candidates_test
