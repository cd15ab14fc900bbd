// What the model says of contractions on a GPU: near to what published kernels took, and of which parts.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "contraction_program.hpp"
#include "executed_sequence.hpp"
#include "ir/passes/canonical.hpp"
#include "ir/passes/copy_operand.hpp"
#include "ir/passes/factor_parts.hpp"
#include "ir/passes/precision.hpp"
#include "kernel/atom_types.hpp"
#include "kernel/build.hpp"
#include "kernel/expand.hpp"
#include "kernel/schedule.hpp"
#include "lower/einsum.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/contraction_tiles.hpp"
#include "plan/enumerate/cut_counts.hpp"
#include "plan/enumerate/gpu_contraction.hpp"
#include "plan/enumerate/mapped_contractions.hpp"
#include "plan/enumerate/plain.hpp"
#include "plan/enumerate/warp_shares.hpp"
#include "plan/models/contraction_cost.hpp"
#include "plan/plan.hpp"

namespace plan_contraction_test {

using namespace ricci;
using tests::contraction;

namespace {

void check_best(const ir::Program& program, const plan::GpuModel& device) {
  auto list = plan::contraction_candidates(program, device);
  auto best = plan::best_contraction(program, device);
  REQUIRE(best.has_value() == !list.empty());
  if (!best) return;
  best->whole();
  // Which one of a way leads is decided before it is known what tensor maps save.
  CHECK(best->predicted_us <= plan::by_maps(program, device, list.front()).predicted_us);
  if (!kernel::has_maps(best->schedule.directives)) CHECK(best->schedule.name == list.front().schedule.name);
  list = plan::with_maps(program, device, std::move(list));
  const auto place = std::find_if(
      list.begin(), list.end(), [&](const auto& candidate) { return candidate.schedule.name == best->schedule.name; });
  REQUIRE(place != list.end());
  CHECK(best->predicted_us == place->predicted_us);
  CHECK(best->schedule.directives == place->schedule.directives);
}

}  // namespace

TEST_CASE("kernels that were timed on an H200 or, bound by products, on an H100 are predicted") {
  struct Timed {
    const char* spec;
    std::vector<std::vector<std::int64_t>> extents;
    const char* schedule;
    double ms;  ///< contract-tccg48-f64-h200.json of 21bfdef, the first of contract-tccg48-f64-alone-h100.json
  };
  const std::vector<std::int64_t> four = {72, 72, 72, 72};
  const Timed kTimed[] = {
      {"fbea,ecfd->dcba", {four, four, four}, "m16n8k8_f64 b8d24 x e8f8 x a24 warps 4x2 stages 3 prefetch", 4.7381},
      {"dca,bd->cba",
       {{312, 296, 312}, {296, 312}, {296, 296, 312}},
       "m16n8k8_f64 d74 x b4c24 x a24 warps 1x4 stages 2",
       0.4297},
      {"be,dcea->dcba", {{72, 72}, four, four}, "m16n8k8_f64 d72 x a4c24 x b24 warps 1x4 stages 2", 0.1435},
  };
  const auto device = plan::GpuModel::of_capability(90);
  for (const auto& timed : kTimed) {
    const auto list = plan::contraction_candidates(contraction(timed.spec, timed.extents, DType::f64), device);
    const auto found = std::find_if(list.begin(), list.end(),
                                    [&](const plan::Candidate& c) { return c.schedule.name == timed.schedule; });
    INFO(timed.spec << ": " << timed.schedule);
    REQUIRE(found != list.end());
    CHECK(found->predicted_us * 1e-3 == Approx(timed.ms).epsilon(0.15));
  }
}

TEST_CASE("sums of 10 x 10 terms are cut to whole parts of both by atoms of half the depth, those of 8 x 8 are not") {
  const auto device = plan::GpuModel::of_capability(90);
  // Each operand has neighbours of its own along the sum, which cannot be one axis.
  const auto best = [&](std::int64_t terms) {
    const std::vector<std::int64_t> rows = {terms, 80, terms}, columns = {terms, terms, 400};
    return plan::best_candidate(contraction("cad,dcb->ab", {rows, columns, {80, 400}}, DType::f64), device);
  };
  const auto whole = best(8), halved = best(10);
  INFO(whole.schedule.name << ", " << halved.schedule.name);
  CHECK(whole.schedule.name.starts_with("m16n8k8_f64 "));
  CHECK(halved.schedule.name.starts_with("m16n8k4_f64 "));
}

TEST_CASE("sides of five and seven atoms may be shared by as many warps") {
  const auto device = plan::GpuModel::of_capability(90);
  const auto program = contraction("ca,cb->ab", {{4096, 560}, {4096, 560}, {560, 560}}, DType::f64);
  const auto sides = plan::GpuContraction::of(program, device);
  REQUIRE(sides);
  const plan::CutCounts counts(program, *sides, device);
  const plan::BlockRoom room(*sides, device);
  plan::KnownWarps known;
  plan::WarpShares shares(*sides, counts, room, known);
  const auto has = [&](std::int64_t rows, std::int64_t columns, int warp_rows, int warp_columns) {
    const auto& list = shares.of(rows, columns);
    return std::any_of(list.begin(), list.end(), [&](const plan::WarpShare& share) {
      return share.spread.warp_rows == warp_rows && share.spread.warp_columns == warp_columns;
    });
  };
  CHECK(has(80, 64, 5, 1));
  CHECK(has(80, 64, 5, 2));
  CHECK(has(112, 64, 7, 1));
  CHECK(has(64, 56, 1, 7));
  for (const int many : {5, 7}) CHECK_FALSE((has(128, 128, many, 1) || has(128, 128, 1, many)));
}

TEST_CASE(
    "outer products are written by rows of tiles where these are whole, else by threads in the order of the result") {
  const auto device = plan::GpuModel::of_capability(90);
  const auto odd = contraction("bcd,fea->fedcba", {{19, 19, 19}, {19, 19, 19}, {19, 19, 19, 19, 19, 19}}, DType::f64);
  CHECK(plan::best_candidate(odd, device).schedule.name.starts_with("plain "));
  const auto whole = contraction("ad,bc->abcd", {{91, 91}, {91, 91}, {91, 91, 91, 91}}, DType::f64);
  CHECK(plan::best_candidate(whole, device).schedule.name.starts_with("fma_row "));
  // Neither of the factors has an index of its own.
  CHECK_FALSE(plan::best_contraction(contraction("ab,ab->ab", {{36, 36}, {36, 36}, {36, 36}}, DType::f64), device));
}

// bench/results: candidates of ricci-bench contract on an H100 that copied 3,070 GB/s, at commit 3f00f44.
TEST_CASE("predictions are near to measured outer products, whose runs begin at sectors or inside of them") {
  struct Timed {
    const char* spec;
    std::vector<std::int64_t> a, b, c;
    DType type;
    const char* schedule;
    double ms;
  };
  const std::vector<std::int64_t> wide(5, 36), odd(6, 19), few(7, 12), prime(4, 91);
  const auto of = [](const std::vector<std::int64_t>& all, std::ptrdiff_t rank) {
    return std::vector<std::int64_t>(all.begin(), all.begin() + rank);
  };
  const Timed kTimed[] = {
      {"ad,bce->edcba", of(wide, 2), of(wide, 3), wide, DType::f64, "plain e36 a12 register tile b32", 0.1686},
      {"ad,bce->edcba", of(wide, 2), of(wide, 3), wide, DType::f32, "plain e36 a6 register tile c32", 0.0805},
      {"bcd,fea->fedcba", of(odd, 3), of(odd, 3), odd, DType::f64, "plain b19 e19 register tile d19", 0.1628},
      {"fa,dbce->fedcba", of(odd, 2), of(odd, 4), odd, DType::f32, "plain b19 f19 register tile e19", 0.0825},
      {"a,cdb->dcba", of(prime, 1), of(prime, 3), prime, DType::f64, "fma_row c46 x d91 warps 4x1", 0.2057},
      {"a,cdb->dcba", of(prime, 1), of(prime, 3), prime, DType::f32, "fma_row c46 x d91 warps 2x1", 0.1157},
      {"fa,dbce->fedcba", of(odd, 2), of(odd, 4), odd, DType::f64, "fma_row c19 x a5b19 warps 1x1", 0.3097},
      {"gfc,dabe->gfedcba", of(few, 3), of(few, 4), few, DType::f64, "fma_row b12 x e4f12c4 warps 2x1 via shared",
       0.0911},
  };
  auto device = plan::GpuModel::of_capability(90);
  device.copy_GBs = 3070;
  for (const auto& timed : kTimed) {
    const auto list = plan::candidates(contraction(timed.spec, {timed.a, timed.b, timed.c}, timed.type), device);
    const auto found = std::find_if(list.begin(), list.end(),
                                    [&](const plan::Candidate& c) { return c.schedule.name == timed.schedule; });
    INFO(timed.spec << " in " << name(timed.type) << ": " << timed.schedule);
    REQUIRE(found != list.end());
    CHECK(found->predicted_us * 1e-3 == Approx(timed.ms).epsilon(0.15));
  }
}

TEST_CASE("no part of a contraction's time is longer than all of it") {
  const auto device = plan::GpuModel::of_capability(90);
  for (const auto type : {DType::f32, DType::f64, DType::c128}) {
    const auto program = contraction("ab,bc->ac", {{500, 300}, {300, 700}, {500, 700}}, type);
    const auto list = plan::candidates(program, device);
    for (const auto& candidate : list) {
      INFO(candidate.schedule.name);
      REQUIRE_FALSE(candidate.parts.empty());
      for (const auto& part : candidate.parts) CHECK(part.us <= candidate.predicted_us);
    }
    const auto table = plan::explain(list, list.front(), "a device", plan::Reason::estimated);
    for (const auto* word : {" memory ", " products ", "bound by ", "a block's round takes "})
      CHECK(table.find(word) != std::string::npos);
  }
}

TEST_CASE("the best contraction is the first of the list") {
  struct Case {
    const char* spec;
    std::vector<std::vector<std::int64_t>> extents;
  };
  const Case kCases[] = {{"ab,bc->ac", {{500, 300}, {300, 700}, {500, 700}}},
                         {"ab,b->a", {{4000, 3000}, {3000}, {4000}}},
                         {"ca,b->abc", {{90, 80}, {70}, {80, 70, 90}}},
                         {"xab,xbc->xac", {{300, 5, 7}, {300, 7, 11}, {300, 5, 11}}},
                         {"dac,bcd->ba", {{40, 60, 30}, {70, 30, 40}, {70, 60}}},
                         {"dfae,cebf->dcba", {{12, 16, 20, 24}, {16, 24, 12, 16}, {12, 16, 12, 20}}},
                         {"aebd,ce->dcba", {{72, 72, 72, 72}, {24, 72}, {72, 24, 72, 72}}},
                         {"aefdbc,ef->dcba", {{16, 16, 16, 16, 16, 16}, {16, 16}, {16, 16, 16, 16}}}};
  for (const int sm : {80, 90, 100}) {
    const auto device = plan::GpuModel::of_capability(sm);
    for (const auto type : {DType::f32, DType::f64, DType::c64, DType::c128, DType::bf16}) {
      for (const auto& [spec, extents] : kCases) {
        INFO(spec << " in " << name(type) << " on sm_" << sm);
        const auto program = contraction(spec, extents, type);
        check_best(program, device);
      }
    }
  }
}

TEST_CASE("the best of random contractions is the first of the list") {
  std::mt19937_64 random(24);
  const auto draw = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  constexpr std::int64_t kExtents[] = {1, 2, 3, 4, 7, 8, 12, 16, 24, 31, 32, 48, 64, 72, 100};
  constexpr DType kTypes[] = {DType::f32, DType::f64, DType::c64, DType::c128, DType::bf16};
  for (int k = 0; k < 150; ++k) {
    const auto program = tests::random_contraction(random, kExtents, kTypes);
    const auto device = plan::GpuModel::of_capability(draw(4) == 0 ? 80 : 90);
    INFO(ir::print(program));
    check_best(program, device);
  }
}

TEST_CASE("an operand that lies across the other one may be worth a copy, one that does not is none") {
  const auto device = plan::GpuModel::of_capability(90);
  const auto across =
      contraction("bfae,cedf->dcba", {{72, 72, 72, 72}, {72, 72, 72, 72}, {72, 72, 72, 72}}, DType::f64);
  const auto orders = plan::operand_orders(across, device);
  REQUIRE_FALSE(orders.empty());
  for (const auto& order : orders) {
    const auto& load = across.nodes.at(static_cast<std::size_t>(order.value));
    REQUIRE(load.kind == ir::NodeKind::load);
    for (std::size_t q = 0; q < across.indices.size(); ++q) {
      const auto times = std::count(order.indices.begin(), order.indices.end(), static_cast<int>(q));
      CHECK(times == (load.offset.coefficient[q] != 0 ? 1 : 0));
    }
  }
  const auto along = contraction("ab,bc->ac", {{4096, 4096}, {4096, 4096}, {4096, 4096}}, DType::f64);
  CHECK(plan::operand_orders(along, device).empty());
}

TEST_CASE("an operand may be worth a copy in the result's order, whose neighbours a block then writes together") {
  const auto device = plan::GpuModel::of_capability(90);
  // ts04687 of talsh300: as the second operand lies, blocks write runs of 9 elements.
  const auto program = contraction("jidae,ghjbicf->hgfedcba",
                                   {{8, 9, 9, 9, 9}, {8, 8, 8, 9, 9, 9, 9}, {8, 8, 9, 9, 9, 9, 9, 9}}, DType::f64);
  const auto& result = program.statement().offset.coefficient;
  const auto fastest_of = [&](const plan::OperandOrder& order) {
    return result[static_cast<std::size_t>(order.indices.back())];
  };
  const auto of_stores = [&](const std::vector<plan::OperandOrder>& orders) {
    return std::count_if(orders.begin(), orders.end(),
                         [&](const auto& one) { return !one.deep && fastest_of(one) == 9; });
  };
  auto best = plan::contraction_candidates(program, device).front();
  REQUIRE(best.counts);
  CHECK(of_stores(plan::operand_orders(program, device, &best)) == 1);
  // Where its stores take little, what the copy saves is what gathers take.
  best.counts->store_lines = best.counts->part_sectors = best.counts->stores = best.counts->stored_wavefronts = 0;
  CHECK(of_stores(plan::operand_orders(program, device, &best)) == 0);
}

TEST_CASE("results of warp groups that go through shared memory fit into it beside the operands") {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse("akcd,bkcd->cab");  // partial sums
  problem.inputs = {Layout::row_major(DType::bf16, {312, 39, 16, 64}),
                    Layout::row_major(DType::bf16, {296, 39, 16, 64})};
  problem.output = Layout::row_major(DType::f32, {16, 312, 296});
  for (auto* layout : {&problem.inputs[0], &problem.inputs[1], &problem.output}) layout->alignment = 16;
  const ir::Program program = ir::canonicalise(ir::lower(problem));
  int through = 0;
  for (const auto& candidate : plan::contraction_candidates(program, plan::GpuModel::of_capability(90))) {
    if (!candidate.schedule.name.starts_with("wgmma_")) continue;
    through += candidate.schedule.name.find(" via shared") != std::string::npos ? 1 : 0;
    INFO(candidate.schedule.name);
    CHECK_NOTHROW(kernel::expand(kernel::build(program, candidate.schedule, kernel::Target::cuda)));
    CHECK_NOTHROW(kernel::verify(candidate.schedule, program, kernel::Target::cuda));
  }
  CHECK(through > 0);
}

TEST_CASE("whole lines of results that the second cache cannot keep are written by nontemporal stores") {
  const auto device = plan::GpuModel::of_capability(90);
  const auto check = [&](std::int64_t extent, DType type, bool expected) {
    const auto program =
        contraction("abcx,xdef->abcdef",
                    {{extent, extent, extent, 24}, {24, 20, 20, 20}, {extent, extent, extent, 20, 20, 20}}, type);
    const auto list = plan::contraction_candidates(program, device);
    REQUIRE_FALSE(list.empty());
    int whole = 0;
    for (const auto& candidate : list) {
      const auto& directives = candidate.schedule.directives;
      const bool found =
          std::ranges::any_of(directives, [](const auto& d) { return d.kind == kernel::Directive::Kind::nontemporal; });
      const bool through_shared = candidate.schedule.name.find(" via shared") != std::string::npos;
      whole += through_shared ? 1 : 0;
      INFO(candidate.schedule.name);
      CHECK(found == (expected && through_shared));
    }
    CHECK_NOTHROW(kernel::verify(list.front().schedule, program, kernel::Target::cuda));
    return whole;
  };
  CHECK(check(20, DType::f64, true) > 0);  // 512 MB
  check(20, DType::f32, true);
  check(6, DType::f64, false);  // 14 MB
}

TEST_CASE("operands that blocks would round are copied as what they are rounded to") {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse("ca,bc->ab");
  problem.inputs = {Layout::row_major(DType::f32, {24, 16}), Layout::row_major(DType::f32, {32, 24})};
  problem.output = Layout::row_major(DType::f32, {16, 32});
  const auto rounded = ir::in_precision(ir::sequence_of(ir::lower(problem)), Precision::bf16);
  ir::Program program = ir::canonicalise(rounded.steps.front().program);
  program.precision = Precision::bf16;
  const auto whole = ir::sequence_of(program);
  const auto wanted = tests::executed<float>(whole);
  const auto orders = plan::operand_orders(program, plan::GpuModel::of_capability(90));
  REQUIRE(orders.size() >= 4);
  std::vector<int> sources;
  for (const auto& order : orders) {
    const auto& value = program.nodes.at(static_cast<std::size_t>(order.value));
    REQUIRE(value.type == DType::bf16);
    sources.push_back(program.nodes.at(static_cast<std::size_t>(value.operand[0])).source);
    const auto copied = ir::copy_operand(whole, 0, order.value, order.indices, order.row);
    CHECK(copied.storages.back().type == DType::bf16);
    const auto got = tests::executed<float>(copied);
    for (std::size_t k = 0; k < wanted.size(); ++k) CHECK(got[k] == wanted[k]);
  }
  CHECK(std::set<int>(sources.begin(), sources.end()).size() == 2);
}

TEST_CASE("operands that warp groups take in tf32 are copied rounded, along the depth") {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse("ca,cb->ab");
  problem.inputs = {Layout::row_major(DType::f32, {256, 512}), Layout::row_major(DType::f32, {256, 512})};
  problem.output = Layout::row_major(DType::f32, {512, 512});
  for (auto* layout : {&problem.inputs[0], &problem.inputs[1], &problem.output}) layout->alignment = 256;
  ir::Program program = ir::canonicalise(ir::lower(problem));
  program.precision = Precision::tf32;
  const auto device = plan::GpuModel::of_capability(90);
  auto whole = ir::sequence_of(program);
  for (std::size_t k = 0; k < 2; ++k) {
    const auto orders = plan::operand_orders(whole.steps[k].program, device);
    const auto order = std::find_if(orders.begin(), orders.end(), [](const auto& one) { return one.tf32 && one.deep; });
    REQUIRE(order != orders.end());
    whole = ir::copy_operand(whole, k, order->value, order->indices, order->row, "copy", order->tf32);
    CHECK(whole.storages.back().tf32);
    ir::Program rest = ir::canonicalise(whole.steps[k + 1].program);
    rest.precision = Precision::tf32;
    whole.steps[k + 1].program.precision = Precision::tf32;
    const auto list = plan::contraction_candidates(rest, device);
    const auto by_groups = std::find_if(list.begin(), list.end(), [](const auto& candidate) {
      return candidate.schedule.name.starts_with("wgmma_tf32");
    });
    CHECK((by_groups != list.end()) == (k == 1));
  }
  for (const auto& order : plan::operand_orders(whole.steps[2].program, device)) CHECK_FALSE(order.deep);
}

TEST_CASE("factors in parts are copied for warp groups, and their products are one longer sum") {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse("gcad,gbdc->gab");
  problem.inputs = {Layout::row_major(DType::f32, {2, 8, 20, 6}), Layout::row_major(DType::f32, {2, 24, 6, 8})};
  problem.output = Layout::row_major(DType::f32, {2, 20, 24});
  ir::Program program = ir::canonicalise(ir::lower(problem));
  program.precision = Precision::tf32x3;
  const auto device = plan::GpuModel::of_capability(90);
  const auto order = plan::parts_order(program, device);
  REQUIRE(order);
  const auto factor = [&](std::size_t f) {
    return ir::FactorOrder{order->factors.at(f).value, order->factors.at(f).indices};
  };
  const auto whole = ir::sequence_of(program);
  const auto parts = ir::products_of_parts(whole, 0, order->sum, {factor(0), factor(1)}, order->summed);
  REQUIRE(parts.steps.size() == 7);
  const auto product = ir::canonicalise(parts.steps.back().program);
  CHECK(kernel::contraction_of(product).has_value());
  CHECK(kernel::effective_precision(product, Precision::tf32x3, 90) == Precision::tf32);
  for (std::size_t k = 0; k + 1 < parts.steps.size(); ++k) CHECK(plan::is_copy(parts.steps[k].program));
  const auto wanted = tests::executed<float>(whole), got = tests::executed<float>(parts);
  const auto& output = program.buffers[static_cast<std::size_t>(program.statement().buffer)];
  const auto number = static_cast<std::size_t>(program.statement().buffer);
  for (std::int64_t k = 0; k <= output.last; ++k) {
    const auto at = static_cast<std::size_t>(k);
    CHECK(std::abs(got[number][at] - wanted[number][at]) <= 1e-6F * std::abs(wanted[number][at]));
  }
  CHECK_FALSE(plan::parts_order(program, plan::GpuModel::of_capability(80)));
}

TEST_CASE("pieces that vectors copy are neighbours in memory and in a block's own") {
  using plan::tiles::Reach;
  const Reach row{1, 10, 10, 1};
  const auto apart = plan::tiles::lie_of({Reach{10, 4, 8, 82}, row});
  CHECK(apart.run == 40);
  CHECK(apart.together == 10);
  CHECK(plan::tiles::lie_of({Reach{10, 4, 8, 10}, row}).together == 40);
  CHECK(plan::tiles::lie_of({Reach{1, 10, 10, 82}, Reach{10, 4, 8, 1}}).together == 1);
}

TEST_CASE("pieces that split sectors take longer") {
  plan::ContractionCounts counts;
  counts.blocks = 1000;
  counts.rounds = 100;
  counts.warps = 4;
  counts.pipe_cycles = 2400;
  counts.lines = 440;
  counts.copied_wavefronts = 440;
  counts.copied_bytes = counts.cached_bytes = counts.operand_bytes = counts.memory_bytes = 1e8;
  const auto device = plan::GpuModel::of_capability(90);
  const auto whole = plan::contraction_time(counts, device);
  counts.split = 700;
  const auto split = plan::contraction_time(counts, device);
  CHECK(split.total > 1.05 * whole.total);
  CHECK(split.cache > whole.cache);
  CHECK(split.shared > whole.shared);
  CHECK(split.products == whole.products);
  const plan::LaunchTimes times(counts, device);
  CHECK(times.may_take(counts.stages, counts.resident, (1 + 1e-9) * split.total));
  CHECK_FALSE(times.may_take(counts.stages, counts.resident, 0.1 * split.total));
}

TEST_CASE("sums of the last tiles come in parts where waves that are not full are predicted to take more") {
  const auto program = contraction("ebihg,cfdihga->fedcba",
                                   {{8, 18, 18, 18, 18}, {8, 8, 8, 18, 18, 18, 18}, {8, 8, 8, 8, 18, 18}}, DType::f64);
  const auto device = plan::GpuModel::of_capability(90);
  check_best(program, device);
  auto best = plan::best_contraction(program, device);
  REQUIRE(best);
  INFO(best->whole().schedule.name);
  REQUIRE(best->schedule.name.ends_with(" cluster 4 last 24"));
  REQUIRE(best->counts);
  const auto& counts = *best->counts;
  CHECK(plan::multiprocessors_of(4, device) == 120);
  CHECK(counts.blocks - counts.last == 120);
  // A whole wave and one of a quarter, in place of two.
  auto alone = counts;
  alone.cluster = 1;
  alone.last = 0;
  const auto in_parts = plan::contraction_time(counts, device), whole = plan::contraction_time(alone, device);
  CHECK(std::abs(in_parts.products / whole.products - 1.25 / 2) < 1e-9);
  CHECK(in_parts.launch > whole.launch);
  CHECK(in_parts.total < whole.total);
  const plan::LaunchTimes times(counts, device);
  CHECK(times.may_take(counts.stages, counts.resident, (1 + 1e-9) * in_parts.total));
  // Of waves that are full there is nothing to gain, and what it takes remains.
  auto full = counts, full_alone = alone;
  full.blocks = full_alone.blocks = 264;
  full.last = 132;
  CHECK(plan::contraction_time(full, device).total > plan::contraction_time(full_alone, device).total);
  const auto kernel = kernel::expand(kernel::build(program, best->schedule, kernel::Target::cuda));
  CHECK(kernel.tasks() == 120 + 4 * 24);
  CHECK(static_cast<double>(kernel::shared_bytes(kernel)) <= counts.shared_bytes);
  const auto older = plan::contraction_candidates(program, plan::GpuModel::of_capability(80));
  CHECK(std::none_of(older.begin(), older.end(),
                     [](const auto& one) { return one.schedule.name.find(" last ") != std::string::npos; }));
}

TEST_CASE("no contraction takes less than its products and its tensors from memory") {
  const auto device = plan::GpuModel::of_capability(90);
  for (const auto& program :
       {contraction("ab,bc->ac", {{4096, 4096}, {4096, 4096}, {4096, 4096}}, DType::f64),
        contraction("bfae,cedf->dcba", {{72, 72, 72, 72}, {72, 72, 72, 72}, {72, 72, 72, 72}}, DType::f32),
        contraction("ab,bc->ac", {{64, 100000}, {100000, 64}, {64, 64}}, DType::f64)}) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& way : plan::GpuContraction::ways(program, device))
      least = std::min(least, plan::least_time_of_launch(way.product_cycles(), way.bytes, way.groups, device));
    const auto best = plan::best_contraction(program, device);
    REQUIRE(best);
    CHECK(1e6 * least <= best->predicted_us);
    CHECK(best->predicted_us < 20 * 1e6 * least);
    CHECK_FALSE(plan::best_contraction(program, device, 0.99 * 1e6 * least));
    CHECK(plan::best_contraction(program, device, 1.001 * best->predicted_us)->predicted_us == best->predicted_us);
    CHECK_FALSE(std::isfinite(plan::best_candidate(program, device, 1e-3).predicted_us));
  }
}

TEST_CASE("what shared memory leaves of the first cache bounds copies of single elements") {
  plan::ContractionCounts counts;
  counts.blocks = 1000;
  counts.rounds = 31;
  counts.resident = 3;
  counts.held_lines = 700;
  counts.operand_bytes = counts.copied_bytes = counts.memory_bytes = counts.cached_bytes = 4.8e8;
  counts.shared_bytes = 67584;
  const auto device = plan::GpuModel::of_capability(90);
  const auto full = plan::contraction_time(counts, device);
  CHECK(full.first_cache > full.memory);
  counts.resident = 1;
  const auto fewer = plan::contraction_time(counts, device);
  CHECK(fewer.first_cache < 0.3 * full.first_cache);
  counts.copied_bytes *= 8;  // the rest from the second cache
  CHECK(plan::contraction_time(counts, device).first_cache < 0.7 * fewer.first_cache);
  counts.held_lines = 0;
  CHECK(plan::contraction_time(counts, device).first_cache == 0);
}

TEST_CASE("what is fetched beside a round comes from memory again where the second cache has lost it") {
  plan::ContractionCounts counts;
  counts.blocks = 400;
  counts.rounds = 80;
  counts.terms = 1280;
  counts.resident = 3;
  counts.operand_bytes = counts.copied_bytes = counts.memory_bytes = counts.cached_bytes = 8e8;
  const auto device = plan::GpuModel::of_capability(90);
  const double once = plan::contraction_time(counts, device).memory;
  counts.fetched[1] = {4e8, 1e3};  // copied a round later: 0.4 MB of all blocks
  CHECK(plan::contraction_time(counts, device).memory == once);
  counts.fetched[1].between = 1e5;  // 40 MB of all blocks
  CHECK(std::abs(plan::contraction_time(counts, device).memory - 1.5 * once) < 1e-9 * once);
  counts.fetched[1].between = 5.6e4;  // between what is kept and what is lost
  const double part = plan::contraction_time(counts, device).memory;
  CHECK(part > 1.1 * once);
  CHECK(part < 1.4 * once);
}

TEST_CASE("more blocks of a multiprocessor hide more of multiply-adds, and of what each copies first") {
  plan::ContractionCounts counts;
  counts.blocks = 132 * 24;
  counts.warps = 4;
  counts.resident = 2;
  counts.pipe_cycles = 1200;
  counts.lines = counts.copied_wavefronts = 168;
  counts.copied_bytes = counts.cached_bytes = counts.operand_bytes = counts.memory_bytes = 1e8;
  const auto device = plan::GpuModel::of_capability(90);
  const auto by = [&](double resident) {
    auto some = counts;
    some.resident = resident;
    const plan::LaunchTimes times(some, device);
    const auto time = plan::contraction_time(some, device);
    CHECK(times.may_take(some.stages, resident, (1 + 1e-9) * time.total));
    return time;
  };
  CHECK(by(3).alone < 0.7 * by(2).alone);
  CHECK(by(3).products == by(2).products);
  CHECK(by(3).total < by(2).total);
  counts.multiply_adds = true;
  counts.terms = 1e5;
  CHECK(by(3).products < 0.95 * by(2).products);
  CHECK(by(4).products > 0.999 * by(3).products);
  counts.terms = 24;  // blocks in step
  CHECK(by(4).products < 0.8 * by(3).products);
  CHECK(by(5).products == by(4).products);
  counts.stored_wavefronts = 1;
  const double through_shared = by(3).alone;
  counts.stored_wavefronts = 0;
  CHECK(through_shared > by(3).alone);
}

TEST_CASE("blocks of one warp begin their rounds beside each other, on parts of a multiprocessor") {
  plan::ContractionCounts counts;
  counts.blocks = 1056;
  counts.rounds = 512;
  counts.resident = 8;
  counts.stages = 6;
  counts.pipe_cycles = 16;
  const auto device = plan::GpuModel::of_capability(90);
  const double small = plan::contraction_time(counts, device).products;
  counts.warps = 4;
  CHECK(small < 0.6 * plan::contraction_time(counts, device).products);
}

TEST_CASE("more of anything takes a contraction longer") {
  plan::ContractionCounts counts;
  counts.blocks = 1000;
  counts.rounds = 10;
  counts.resident = 2;
  counts.warps = 4;
  counts.pipe_cycles = 1000;
  counts.instructions = 800;
  counts.fragment_wavefronts = 300;
  counts.memory_bytes = counts.cached_bytes = 1e8;
  const auto device = plan::GpuModel::of_capability(90);
  const auto least = plan::contraction_time(counts, device).total;
  using Count = double plan::ContractionCounts::*;
  for (const Count count :
       {&plan::ContractionCounts::blocks, &plan::ContractionCounts::rounds, &plan::ContractionCounts::pipe_cycles,
        &plan::ContractionCounts::instructions, &plan::ContractionCounts::fragment_wavefronts,
        &plan::ContractionCounts::memory_bytes, &plan::ContractionCounts::cached_bytes}) {
    auto more = counts;
    more.*count *= 2;
    CHECK(plan::contraction_time(more, device).total > least);
  }
  auto scattered = counts;
  scattered.scattered = 4000;
  CHECK(plan::contraction_time(scattered, device).total > 1.5 * least);
  auto cut = counts;
  cut.cut_sectors = 1e6;
  CHECK(plan::contraction_time(cut, device).memory > 1.5 * plan::contraction_time(counts, device).memory);
}

}  // namespace plan_contraction_test
