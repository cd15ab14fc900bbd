// The MWP-CWP model: worked out by hand in each of its three regimes, and what holds for any kernel.
#include "bench/mwp_cwp.hpp"

#include <algorithm>
#include <random>

#include "catch.hpp"
#include "kernel/permute/moves.hpp"
#include "programs.hpp"

namespace bench_mwp_cwp_test {

using namespace ricci;
using plan::GpuModel;
using tools::MwpCwp;
using tools::MwpCwpDevice;
using tools::MwpCwpKernel;

namespace {

GpuModel device_model_of(int sm, int multiprocessors, double clock_MHz, double copy_GBs) {
  auto device_model = GpuModel::of_capability(sm);
  device_model.multiprocessors = multiprocessors;
  device_model.clock_MHz = clock_MHz;
  device_model.copy_GBs = copy_GBs;
  return device_model;
}

/// cuTT's Tiled algorithm in double precision: 32 x 32 elements, 8 warps, a row of 32 elements (two lines) a request,
/// four loads of a warp before it stores.
MwpCwpKernel tiled() {
  MwpCwpKernel kernel;
  kernel.loads = kernel.stores = 32;
  kernel.load_transactions = kernel.store_transactions = 64;
  kernel.shared_transactions = 1;
  kernel.mlp = 4;
  kernel.warps = 8;
  kernel.active_warps = 64;
  kernel.iterations = 100;
  return kernel;
}

ir::Program transposition(std::int64_t rows, std::int64_t columns) {
  return test::canonical(test::dense("ab->ba", {rows, columns}, DType::f64));
}

}  // namespace

TEST_CASE("MWP-CWP by hand") {
  // A P100: 2.8, 485, 1, 260; 732 GB/s for 56 multiprocessors of 1480 MHz. Two transactions a request: mem_lat = 487.8,
  // Bytes_req = (2 * 0.8 + 0.2) * 128 = 230.4.
  const auto pascal = MwpCwpDevice::of(device_model_of(60, 56, 1480, 732));
  CHECK(pascal.bytes_per_cycle == Approx(8.832046));
  // MWP_peak = 8.832046 * 487.8 / 230.4 = 18.699; MWP_mem * MLP = 487.8 / 2.8 * 4 = 696.9; 64 warps.
  // cycles_mem = 2 * 487.8 * 4 * 8 / 18.699 = 1669.557, cycles_shmem = 2 * 4, cycles_ac = 260.
  CHECK(tools::mwp_cwp_cycles(tiled(), pascal) == Approx(100 * (1669.557 + 8 + 260)).epsilon(1e-6));
  // Without enough warps each waits for its own requests: 2 * 487.8 * 4 * 8 / 8.
  auto few = tiled();
  few.active_warps = 8;
  CHECK(tools::mwp_cwp_cycles(few, pascal) == Approx(100 * (3902.4 + 8 + 260)));
  // Half of the written lines in part: (64 + 64 * 1.5) / 64 = 2.5 transactions a request, 281.6 bytes.
  auto partial = tiled();
  partial.partial_share = 0.5;
  CHECK(tools::mwp_cwp_cycles(partial, pascal) == Approx(100 * (64 * 281.6 / 8.832046 + 8 + 260)).epsilon(1e-6));
  // A K20X: 14, 358, 11, 50; 250 GB/s for 14 multiprocessors of 732 MHz. With one request of a warp at a time requests
  // depart slower than memory takes them: MWP_mem = 372 / 14 = 26.6 of MWP_peak = 39.4, cycles_mem = 2 * 8 * 14.
  const auto kepler = MwpCwpDevice::of(device_model_of(35, 14, 732, 250));
  auto one = tiled();
  one.mlp = 1;
  CHECK(tools::mwp_cwp_cycles(one, kepler) == Approx(100 * (224 + 2 * 11 + 50)));
}

TEST_CASE("MWP-CWP of any kernel") {
  std::mt19937_64 random(11);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int n = 0; n < 1000; ++n) {
    const auto device_model = device_model_of(n % 3 == 0 ? 35 : n % 3 == 1 ? 52 : 90, 132, 1980, between(100, 5000));
    const auto device = MwpCwpDevice::of(device_model);
    MwpCwpKernel kernel;
    kernel.loads = between(1, 100);
    kernel.stores = between(1, 100);
    kernel.load_transactions = kernel.loads * between(1, 32);
    kernel.store_transactions = kernel.stores * between(1, 32);
    kernel.partial_share = between(0, 0.5);
    kernel.shared_transactions = between(0, 8);
    kernel.mlp = between(0.5, 32);
    kernel.warps = between(1, 32);
    kernel.active_warps = between(1, 64);
    kernel.iterations = between(1, 1000);
    const double cycles = tools::mwp_cwp_cycles(kernel, device);
    const auto with = [&](double MwpCwpKernel::* member, double factor) {
      auto changed = kernel;
      changed.*member *= factor;
      return tools::mwp_cwp_cycles(changed, device);
    };
    constexpr double kRounding = 1 + 1e-12;
    bool sane = with(&MwpCwpKernel::load_transactions, 1.5) * kRounding >= cycles;
    sane = sane && with(&MwpCwpKernel::store_transactions, 1.5) * kRounding >= cycles;
    sane = sane && with(&MwpCwpKernel::partial_share, 2) * kRounding >= cycles;
    sane = sane && with(&MwpCwpKernel::shared_transactions, 2) >= cycles;
    sane = sane && with(&MwpCwpKernel::active_warps, 2) <= cycles * kRounding;
    sane = sane && with(&MwpCwpKernel::warps, 2) > cycles;
    auto faster = device;
    faster.bytes_per_cycle *= 2;
    sane = sane && tools::mwp_cwp_cycles(kernel, faster) <= cycles * kRounding;
    INFO("kernel " << n);
    REQUIRE(sane);
    REQUIRE(with(&MwpCwpKernel::iterations, 3) == Approx(3 * cycles));
  }
}

TEST_CASE("MWP-CWP of candidates") {
  // 32 MB: tiles divide it, so every request is as the mappings have it.
  const auto program = transposition(2048, 2048);
  auto device_model = GpuModel::of_capability(90);
  device_model.copy_GBs = 4200;
  const MwpCwp model(program, device_model);
  const double copy_us = 2 * 8 * 2048.0 * 2048.0 / 4200e3;
  double tiled_us = 1e30, plain_us = 1e30;
  for (const auto& candidate : plan::candidates(program, device_model)) {
    const auto moves = kernel::moves_of(program, candidate.schedule.directives);
    const auto kernel = model.kernel(candidate);
    REQUIRE(kernel);
    INFO(candidate.schedule.name);
    const double bytes = 8.0 * static_cast<double>(moves.tile_points() * moves.tiles_per_block());
    REQUIRE(kernel->load_transactions >= bytes / 128);
    REQUIRE(kernel->store_transactions >= bytes / 128);
    REQUIRE(kernel->partial_share == candidate.traffic.write.partial_sectors / candidate.traffic.write.sectors);
    REQUIRE(kernel->active_warps <= 64);
    // Every element is loaded once, by requests of up to 32 lanes.
    const auto vector = moves.stage ? moves.stage->mapping.vector : moves.mapping.vector;
    REQUIRE(kernel->loads * 32 * vector * 8 >= bytes);
    const auto& read_mapping = moves.stage ? moves.stage->mapping : moves.mapping;
    if (moves.stage && 2048 % moves.tile[0] == 0 && 2048 % moves.tile[1] == 0 && moves.threads % 32 == 0 &&
        read_mapping.positions() % read_mapping.workers == 0 &&
        moves.mapping.positions() % moves.mapping.workers == 0) {
      REQUIRE(kernel->mlp ==
              Approx(static_cast<double>(read_mapping.rounds() * read_mapping.rows + moves.mapping.rounds()) / 2));
    }
    const auto us = model.us(candidate);
    REQUIRE(us);
    auto& least_us = moves.stage ? tiled_us : plain_us;
    least_us = std::min(least_us, *us);
  }
  CHECK(tiled_us > 0.8 * copy_us);
  CHECK(tiled_us < 2 * copy_us);
  // Lanes a row apart on one side: sixteen times the transactions there.
  CHECK(plain_us > 4 * tiled_us);
}

TEST_CASE("MWP-CWP of tiles that are cut") {
  // Tiles of 32 rows cover 33 rows twice: half of them have a row to move, on average half a tile and a little.
  const auto device_model = GpuModel::of_capability(90);
  const auto cut = transposition(4096, 33), whole = transposition(4096, 32);
  const MwpCwp cut_model(cut, device_model), whole_model(whole, device_model);
  auto candidate = plan::candidates(whole, device_model).front();
  const auto full = whole_model.kernel(candidate);
  candidate.traffic.tiles = 2 * candidate.traffic.tiles;
  auto& directives = candidate.schedule.directives;
  directives = kernel::directives_of(kernel::moves_of(whole, directives), cut);  // the same tiles
  const auto half = cut_model.kernel(candidate);
  REQUIRE(full);
  REQUIRE(half);
  CHECK(half->mlp == Approx(full->mlp * 33 / 64));
}

TEST_CASE("MWP-CWP says nothing of schedules that compute") {
  ir::EinsumProblem product;
  product.spec = Spec::parse("ab,bc->ac");
  product.inputs = {Layout::row_major(DType::f64, {64, 32}), Layout::row_major(DType::f64, {32, 48})};
  product.output = Layout::row_major(DType::f64, {64, 48});
  product.conjugate = {false, false};
  const auto program = ir::canonicalise(ir::lower(product));
  const auto device_model = GpuModel::of_capability(90);
  const MwpCwp model(program, device_model);
  for (const auto& candidate : plan::candidates(program, device_model)) CHECK_FALSE(model.us(candidate));
}

}  // namespace bench_mwp_cwp_test
