// What the model says of complex products of three real ones on a GPU.
#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "contraction_program.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/models/contraction_cost.hpp"
#include "plan/models/contraction_counts.hpp"
#include "plan/models/device_model.hpp"

namespace plan_three_products_test {

using namespace ricci;
using tests::contraction;

namespace {

plan::ContractionCounts three_products(double rounds) {
  plan::ContractionCounts counts;
  counts.by_three = true;
  counts.blocks = 132 * 80;
  counts.rounds = rounds;
  counts.terms = 24 * rounds;
  counts.warps = 8;
  counts.stages = 4;
  counts.pipe_cycles = 2400;
  counts.memory_bytes = counts.cached_bytes = 1e8;
  return counts;
}

}  // namespace

TEST_CASE("rounds of three products wait for fragments, the most where these are not read ahead") {
  const auto device = plan::GpuModel::of_capability(90);
  auto counts = three_products(400);
  const auto products = [&] { return plan::contraction_time(counts, device).products; };
  const auto total = [&] { return plan::contraction_time(counts, device).total; };
  const double read = products(), all = total();
  counts.warps = 12;
  CHECK(products() > 1.05 * read);
  counts.warps = 8;
  counts.prefetched = true;
  CHECK(products() < 0.95 * read);
  CHECK(total() < all);
  const double of_three = products(), alone = total();
  counts.by_three = false;
  CHECK(products() < of_three);
  CHECK(total() < alone);
}

TEST_CASE("short sums by three products take longer by few warps, and of several rounds") {
  const auto device = plan::GpuModel::of_capability(90);
  auto counts = three_products(1);
  counts.warps = 4;
  counts.resident = 3;
  const auto by_twelve = plan::contraction_time(counts, device);
  counts.resident = 2;
  const auto by_eight = plan::contraction_time(counts, device);
  CHECK(by_eight.products > 1.5 * by_twelve.products);
  // Bounds of a search hold.
  const plan::LaunchTimes times(counts, device);
  CHECK(times.may_take(counts.stages, counts.resident, (1 + 1e-9) * by_eight.total));
  // Of long sums eight warps are as quick.
  auto long_sum = three_products(400);
  long_sum.warps = 4;
  long_sum.resident = 3;
  const double by_more = plan::contraction_time(long_sum, device).products;
  long_sum.resident = 2;
  CHECK(plan::contraction_time(long_sum, device).products < 1.05 * by_more);
  counts.rounds = 3;
  counts.pipe_cycles /= 3;
  CHECK(plan::contraction_time(counts, device).alone > by_eight.alone);
}

TEST_CASE("complex products are three real ones of half the depth, read ahead in sums of many rounds") {
  const auto device = plan::GpuModel::of_capability(90);
  const auto name_of = [&](const char* spec, const std::vector<std::vector<std::int64_t>>& extents) {
    auto best = plan::best_contraction(contraction(spec, extents, DType::c128), device);
    REQUIRE(best);
    return best->whole().schedule.name;
  };
  const auto deep = name_of("ca,bc->ba", {{5136, 5136}, {5120, 5136}, {5120, 5136}});
  INFO(deep);
  CHECK(deep.starts_with("m16n8k4_f64x3 "));
  CHECK(deep.ends_with(" prefetch"));
  const auto thin = name_of("cged,bafg->fedcba", {{16, 24, 16, 24}, {16, 24, 16, 24}, {16, 16, 24, 16, 16, 24}});
  INFO(thin);
  CHECK(thin.starts_with("m16n8k4_f64x3 "));
  CHECK_FALSE(thin.ends_with(" prefetch"));
}

}  // namespace plan_three_products_test
