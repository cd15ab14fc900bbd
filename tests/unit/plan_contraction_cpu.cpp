// Which schedules of contractions a CPU gets, by its vectors and by the units that compute them.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ir/passes/canonical.hpp"
#include "lower/einsum.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/plan.hpp"

using namespace ricci;

namespace {

ir::Program contraction(const std::string& spec, const std::vector<std::vector<std::int64_t>>& extents, DType type) {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse(spec);
  problem.inputs = {Layout::row_major(type, extents.at(0)), Layout::row_major(type, extents.at(1))};
  problem.output = Layout::row_major(type, extents.at(2));
  return ir::canonicalise(ir::lower(problem));
}

plan::CpuModel with_units(int datapath_bytes) {
  plan::CpuModel device;
  device.vector_bytes = 64;
  device.datapath_bytes = datapath_bytes;
  return device;
}

bool has(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

}  // namespace

TEST_CASE("vectors that units compute by halves take twice the time, and may be halves where an index ends with one") {
  const auto wide = with_units(64), narrow = with_units(32);
  const auto whole = contraction("ab,bc->ac", {{960, 960}, {960, 960}, {960, 960}}, DType::f64);
  const auto best = [](const ir::Program& program, const plan::CpuModel& device) {
    return plan::contraction_candidates(program, device).front();
  };
  CHECK(best(whole, narrow).predicted_us > 1.7 * best(whole, wide).predicted_us);
  CHECK_FALSE(has(best(whole, narrow).schedule.name, "lanes"));

  const auto half = contraction("dac,bcd->ba", {{180, 180, 180}, {170, 180, 180}, {170, 180}}, DType::f64);
  INFO(best(half, narrow).schedule.name);
  CHECK(has(best(half, narrow).schedule.name, " lanes 4"));
  for (const auto& candidate : plan::contraction_candidates(half, wide))
    CHECK_FALSE(has(candidate.schedule.name, "lanes"));
}

TEST_CASE("vectors run along an operand's neighbours where the result's lie across the other one") {
  const std::vector<std::vector<std::int64_t>> extents = {{312, 296, 312}, {312, 24}, {296, 24, 312}};
  const auto real = plan::contraction_candidates(contraction("acd,db->cba", extents, DType::f64), with_units(32));
  REQUIRE_FALSE(real.empty());
  INFO(real.front().schedule.name);
  CHECK(has(real.front().schedule.name, "vectors along"));
  // Complex numbers are written by vectors alone.
  const auto pairs = plan::contraction_candidates(contraction("acd,db->cba", extents, DType::c128), with_units(32));
  REQUIRE_FALSE(pairs.empty());
  for (const auto& candidate : pairs) CHECK_FALSE(has(candidate.schedule.name, "vectors along"));
}

TEST_CASE("neighbours whose number is no multiple of the lanes are read in place, the last vector in part") {
  // TAL-SH's 3204th in parts: an operand of 241 MB that would be packed for rows of 28.
  const std::vector<std::vector<std::int64_t>> extents = {{7, 28, 28, 28, 28}, {7, 7, 28, 28, 28, 28}, {7, 28, 28}};
  const auto list = plan::contraction_candidates(contraction("gfbed,cgfeda->cba", extents, DType::f64), with_units(32));
  REQUIRE_FALSE(list.empty());
  INFO(list.front().schedule.name);
  CHECK(has(list.front().schedule.name, "x28 "));
  // Nothing is read past an operand's end: complex numbers and indices without such a divisor are packed.
  const std::vector<std::vector<std::int64_t>> prime = {{7, 28, 28, 28, 28}, {7, 7, 28, 28, 28, 53}, {7, 28, 53}};
  for (const auto& packed :
       {contraction("gfbed,cgfeda->cba", extents, DType::c128), contraction("gfbed,cgfeda->cba", prime, DType::f64)}) {
    const auto others = plan::contraction_candidates(packed, with_units(32));
    REQUIRE_FALSE(others.empty());
    for (const auto& each : others) {
      INFO(each.schedule.name);
      CHECK_FALSE(has(each.schedule.name, "x28 "));
      CHECK_FALSE(has(each.schedule.name, "x53 "));
    }
  }
}

TEST_CASE("a sum goes along the neighbours of the operand that is far larger than the other") {
  // Neighbours of the small operand lie along d, those of the large one along f.
  const auto program =
      contraction("gfed,acbgdef->cba", {{18, 18, 18, 18}, {8, 8, 8, 18, 18, 18, 18}, {8, 8, 8}}, DType::f64);
  const auto best = plan::contraction_candidates(program, with_units(32), 1).front();
  INFO(best.schedule.name);
  CHECK(has(best.schedule.name, "depth 162 "));
  // 162 terms are neighbours in memory: 9 of one index and all 18 of the fastest.
  const auto split = [](const kernel::Directive& each) {
    return each.kind == kernel::Directive::Kind::tile && each.sizes == std::vector<std::int64_t>{9};
  };
  const auto single = [](const kernel::Directive& each) {
    return each.kind == kernel::Directive::Kind::tile && each.sizes == std::vector<std::int64_t>{1};
  };
  const auto& directives = best.schedule.directives;
  CHECK(std::count_if(directives.begin(), directives.end(), split) == 1);
  CHECK(std::count_if(directives.begin(), directives.end(), single) == 2);
}

TEST_CASE("long runs have fewer tasks where each packs much anew, and the same sums") {
  auto device = with_units(32);
  const auto tasks = [&](std::int64_t n) {
    const auto program = contraction("fdea,cebf->dcba", {{n, n, n, n}, {n, n, n, n}, {n, n, n, n}}, DType::f64);
    return plan::contraction_candidates(program, device, 1).front();
  };
  device.threads = 1;
  const auto alone = tasks(31);
  device.threads = 2;
  const auto both = tasks(31);
  INFO(both.schedule.name);
  CHECK(both.traffic.tiles == 4);
  const auto depth = [](const std::string& name) { return name.substr(name.find("depth"), 9); };
  CHECK(depth(both.schedule.name) == depth(alone.schedule.name));
  CHECK(tasks(17).traffic.tiles > 4);
}

TEST_CASE("an index of both operands and the result has the lanes, of complex numbers too") {
  for (const auto type : {DType::f64, DType::c64, DType::c128}) {
    const auto program = contraction("ikb,kjb->ijb", {{24, 24, 500}, {24, 24, 500}, {24, 24, 500}}, type);
    const auto list = plan::contraction_candidates(program, with_units(64));
    INFO(name(type));
    REQUIRE_FALSE(list.empty());
    CHECK(std::all_of(list.begin(), list.end(),
                      [](const plan::Candidate& candidate) { return has(candidate.schedule.name, "batched "); }));
  }
}

TEST_CASE("tensors are copied in front of a product where that is predicted to save much, for any number of threads") {
  // Neighbours in memory of the first operand are 150 KB apart, in runs of a single element.
  ir::EinsumProblem problem;
  problem.spec = Spec::parse("ab,bc->ac");
  problem.inputs = {Layout::row_major(DType::f64, {2000, 400}), Layout::row_major(DType::f64, {400, 2000})};
  problem.inputs[0].strides = {19001, 17 * 19001 * 120};
  problem.output = Layout::row_major(DType::f64, {2000, 2000});
  const auto strided = ir::canonicalise(ir::lower(problem));
  const auto dense = contraction("ab,bc->ac", {{2000, 400}, {400, 2000}, {2000, 2000}}, DType::f64);
  const auto copied = [](const plan::Candidate& candidate) { return has(candidate.schedule.name, " copied "); };
  for (const int threads : {1, 2, 8}) {
    auto device = with_units(64);
    device.threads = threads;
    const auto list = plan::candidates(strided, device);
    INFO(list.front().schedule.name);
    CHECK(list.front().schedule.name == plan::best_candidate(strided, device).schedule.name);
    CHECK(std::any_of(list.begin(), list.end(), copied));
    for (const auto& candidate : list) {
      if (!copied(candidate)) continue;
      kernel::verify(candidate.schedule, strided, {});
      CHECK(candidate.workspace_bytes >= 8 * 400 * 2000);
    }
    CHECK_FALSE(copied(plan::candidates(dense, device).front()));
  }
}
