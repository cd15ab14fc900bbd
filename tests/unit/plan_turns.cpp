// Contractions whose blocks make several tiles in turns where that is predicted to pay.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"
#include "contraction_program.hpp"
#include "kernel/schedule.hpp"
#include "plan/enumerate/contraction.hpp"

namespace plan_turns_test {

using namespace ricci;

TEST_CASE("a small operand stays while blocks make tiles of the other one in turns") {
  const auto device = plan::GpuModel::of_capability(90);
  const auto turns = [&](const char* spec, const std::vector<std::vector<std::int64_t>>& extents, DType type) {
    auto best = plan::best_contraction(tests::contraction(spec, extents, type), device);
    best->whole();
    const auto text = kernel::print(best->schedule);
    INFO(text);
    CHECK((text.find(" serial ") != std::string::npos) == (best->counts->turns > 1));
    return best->counts->turns;
  };
  for (const auto type : {DType::bf16, DType::f16}) {
    CHECK(turns("ab,cb->ac", {{592704, 96}, {96, 96}, {592704, 96}}, type) > 1);
    CHECK(turns("abc,db->adc", {{84, 96, 8064}, {84, 96}, {84, 84, 8064}}, type) > 1);
  }
  // Products of wider types take too long, no blocks make whole tiles of a prime number, or there are few of them.
  CHECK(turns("ab,cb->ac", {{592704, 96}, {96, 96}, {592704, 96}}, DType::f32) == 1);
  CHECK(turns("ab,cb->ac", {{592693, 96}, {96, 96}, {592693, 96}}, DType::bf16) == 1);
  CHECK(turns("ab,cb->ac", {{1024, 96}, {96, 96}, {1024, 96}}, DType::bf16) == 1);
}

TEST_CASE("warp groups make tiles in turns where the second cache keeps an operand") {
  const auto device = plan::GpuModel::of_capability(90);
  const auto best = [&](const char* spec, const std::vector<std::vector<std::int64_t>>& extents, DType type) {
    auto found = plan::best_contraction(tests::contraction(spec, extents, type), device);
    return found->whole();
  };
  for (const auto type : {DType::bf16, DType::f16}) {
    const auto found = best("abc,da->bdc", {{384, 376, 384}, {376, 384}, {376, 376, 384}}, type);
    const auto text = kernel::print(found.schedule);
    INFO(text);
    CHECK(found.counts->turns > 1);
    CHECK(found.counts->rounds > 1);
    // One loop has the tiles and another one around it the blocks; rounds are copied in the sum's loop.
    CHECK(text.find("serial b1 sum a0") != std::string::npos);
    CHECK(text.find("pipeline a0") != std::string::npos);
    // There is room for all blocks at once.
    const auto tiles = found.counts->blocks / found.counts->turns;
    CHECK(tiles <= 132 * found.counts->resident);
    // No warp waits for the order of nontemporal stores.
    CHECK(text.find("nontemporal") == std::string::npos);
  }
  // The second cache keeps neither operand, or there is room for all tiles at once.
  CHECK(best("ab,bc->ac", {{8192, 8192}, {8192, 8192}, {8192, 8192}}, DType::bf16).counts->turns == 1);
  CHECK(best("abc,da->bdc", {{384, 16, 384}, {376, 384}, {16, 376, 384}}, DType::bf16).counts->turns == 1);
}

TEST_CASE("two warp groups make tiles in turns where no multiprocessor has more of them for it") {
  const auto device = plan::GpuModel::of_capability(90);
  const auto chosen = [&](std::int64_t extent, DType type) {
    const auto program = tests::contraction("ab,cb->ac", {{extent, extent}, {extent, extent}, {extent, extent}}, type);
    auto found = plan::best_contraction(program, device)->whole();
    const auto listed = plan::with_maps(program, device, plan::contraction_candidates(program, device));
    INFO(found.schedule.name);
    CHECK(std::any_of(listed.begin(), listed.end(),
                      [&](const plan::Candidate& one) { return one.schedule.name == found.schedule.name; }));
    CHECK(found.counts->turns == 1);  // counted as without
    return found.schedule;
  };
  for (const auto type : {DType::bf16, DType::f16}) {
    // 512 tiles, four of which 128 of 132 multiprocessors have in any case.
    const auto schedule = chosen(4096, type);
    const auto text = kernel::print(schedule);
    INFO(text);
    CHECK(schedule.name.find(" turns 4") != std::string::npos);
    CHECK(text.find("tile a:1024:128") != std::string::npos);
    CHECK(text.find("tile c:1024:256") != std::string::npos);
    CHECK(text.find("order task a0 c0 a1 serial c1 sum b0") != std::string::npos);
  }
  // One tile for each multiprocessor; sizes of which some multiprocessors would have a tile more.
  CHECK(kernel::print(chosen(2048, DType::bf16)).find(" serial ") == std::string::npos);
  CHECK(kernel::print(chosen(5000, DType::bf16)).find(" serial ") == std::string::npos);
}

TEST_CASE("multiply-adds that wait for memory make tiles in turns where no multiprocessor has more of them for it") {
  const auto device = plan::GpuModel::of_capability(90);
  const auto chosen = [&](const char* spec, const std::vector<std::vector<std::int64_t>>& extents, DType type) {
    const auto program = tests::contraction(spec, extents, type);
    auto found = plan::best_contraction(program, device)->whole();
    const auto listed = plan::with_maps(program, device, plan::contraction_candidates(program, device));
    INFO(found.schedule.name);
    CHECK(std::any_of(listed.begin(), listed.end(),
                      [&](const plan::Candidate& one) { return one.schedule.name == found.schedule.name; }));
    CHECK(found.counts->rounds > 1);
    CHECK(found.counts->turns == 1);  // counted as without
    CHECK((kernel::print(found.schedule).find(" serial ") != std::string::npos) ==
          (found.schedule.name.find(" turns ") != std::string::npos));
    return found.schedule.name;
  };
  // Small matrices of columns beside long ones of rows (intensli01 and 04 of tccg48_f32).
  const auto first = chosen("acd,db->cba", {{384, 376, 384}, {384, 24}, {376, 24, 384}}, DType::f32);
  CHECK(first.find(" turns 2") != std::string::npos);
  CHECK(chosen("dabe,ec->dcba", {{84, 96, 84, 96}, {96, 24}, {84, 24, 84, 96}}, DType::f32).find(" turns 3") !=
        std::string::npos);
  // Some multiprocessors would have a tile more. On an H200 it took 1.05 times as long.
  CHECK(chosen("acd,db->cba", {{256, 1024, 192}, {192, 16}, {1024, 16, 256}}, DType::f32).find(" turns ") ==
        std::string::npos);
  // Products take longer than memory; in f64 as many kernels took longer as took less.
  CHECK(chosen("ab,cb->ac", {{4096, 4096}, {4096, 4096}, {4096, 4096}}, DType::f32).find(" turns ") ==
        std::string::npos);
  CHECK(chosen("acd,db->cba", {{312, 296, 312}, {312, 24}, {296, 24, 312}}, DType::f64).find(" turns ") ==
        std::string::npos);
}

TEST_CASE("blocks make a few tiles in turns of short sums whose results are most of the bytes") {
  const auto device = plan::GpuModel::of_capability(90);
  const auto best = [&](std::int64_t depth, DType type, Precision precision) {
    auto program = tests::contraction("gfda,gecb->fedcba",
                                      {{depth, 20, 24, 24}, {depth, 20, 20, 20}, {20, 20, 24, 20, 20, 24}}, type);
    program.precision = precision;
    auto found = plan::best_contraction(program, device)->whole();
    // What is chosen can be asked for by its name.
    const auto listed = plan::with_maps(program, device, plan::contraction_candidates(program, device));
    INFO(found.schedule.name);
    CHECK(std::any_of(listed.begin(), listed.end(),
                      [&](const plan::Candidate& one) { return one.schedule.name == found.schedule.name; }));
    return found;
  };
  for (const auto type : {DType::f32, DType::f64, DType::bf16}) {
    const auto found = best(24, type, Precision::operands);
    const auto text = kernel::print(found.schedule);
    INFO(text);
    CHECK(found.counts->turns >= 3);
    CHECK(found.counts->turns <= 8);
    CHECK(found.counts->rounds == 1);
    // What the loop does not move is copied outside of it, at the innermost task.
    const auto serial = text.find(" serial ");
    REQUIRE(serial != std::string::npos);
    const auto loop = text.substr(serial + 8, text.find_first_of(" ;\n", serial + 8) - serial - 8);
    CHECK(text.find(" at " + loop + " ") != std::string::npos);
    CHECK(text.find("pipeline " + loop + " 2") != std::string::npos);
    // There are several times the blocks that run at once.
    CHECK(found.counts->blocks / found.counts->turns > 2 * 132 * found.counts->resident);
  }
  // Sums of several rounds, few results, and products that are rounded to tf32.
  CHECK(best(512, DType::f32, Precision::operands).counts->turns == 1);
  CHECK(plan::best_contraction(tests::contraction("ab,bc->ac", {{512, 24}, {24, 512}, {512, 512}}, DType::f32), device)
            ->whole()
            .counts->turns == 1);
  CHECK(best(24, DType::f32, Precision::tf32).counts->turns == 1);
}

}  // namespace plan_turns_test
