// Faults of blocks that read each other's shared memory: a deliberate one of each kind.
#include "simt/fault_bench.hpp"

namespace test_cluster_faults {

using namespace ricci::simt;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Clusters of two blocks of a warp each.
Report run(Bench& bench, const std::string& body, Order order = Order::forward) {
  bench.grid = 4;
  bench.options.order = order;
  return bench.run(
      "__shared__ double tile[32];\n"
      "const int t = threadIdx.x, block = blockIdx.x % 2, i = 16 * blockIdx.x + t % 16;\n" +
          body,
      "__cluster_dims__(2, 1, 1) ");
}

const std::string kWrite = "tile[t] = A[i];\n", kMeet = "barrier_of_cluster();\n",
                  kRead = "if (t < 16) B[i] = of_block(tile, 1 - block)[t];\n";

}  // namespace

TEST_CASE("blocks of a cluster read what the others wrote") {
  Bench bench;
  for (int k = 0; k < 64; ++k) bench.memory[k] = k;
  for (const auto order : {Order::forward, Order::reverse, Order::random}) {
    const auto report = run(bench, kWrite + kMeet + kRead + kMeet, order);
    INFO(report.text());
    REQUIRE(report.clean());
    CHECK(report.blocks == 4);
    for (int k = 0; k < 64; ++k) CHECK(bench.b[k] == (k ^ 16));
  }
}

TEST_CASE("a block reads what another one has not synchronised with it") {
  Bench bench;
  SECTION("no barrier") {
    const auto report = run(bench, kWrite + kRead + kMeet, Order::reverse);
    REQUIRE(!report.clean());
    CHECK(report.faults[0].kind == FaultKind::race);
    CHECK(report.faults[0].other_block == Block{3, 0, 0});
    CHECK_THAT(report.faults[0].text(), ContainsSubstring("block 3, thread 0 read it at line 4"));
  }
  SECTION("a barrier of its own") {
    const auto report = run(bench, kWrite + "__syncthreads();\n" + kRead + kMeet, Order::reverse);
    REQUIRE(!report.clean());
    CHECK(report.faults[0].kind == FaultKind::race);
  }
}

TEST_CASE("a block writes again what another one may still read") {
  Bench bench;
  const auto report = run(bench, kWrite + kMeet + kRead + "__syncthreads();\ntile[t] = 0;\n" + kMeet);
  REQUIRE(!report.clean());
  REQUIRE(report.faults.size() == 2);
  for (const Fault& fault : report.faults) CHECK(fault.kind == FaultKind::race);
  CHECK_THAT(report.faults[0].text(), ContainsSubstring("wrote it at line 7"));  // the block that runs later
  CHECK_THAT(report.faults[1].text(), ContainsSubstring("read it at line 5"));
}

TEST_CASE("a block has ended when another one reads of it") {
  Bench bench;
  const auto report = run(bench, kWrite + kMeet + kRead);
  REQUIRE(!report.clean());
  CHECK_THAT(report.faults.back().text(), ContainsSubstring("block 0 of the cluster has returned"));
}

TEST_CASE("a barrier of the cluster that some threads do not reach") {
  Bench bench;
  SECTION("of another block") {
    const Fault fault = only(run(bench, "if (block == 0) return;\n" + kMeet));
    CHECK(fault.kind == FaultKind::divergent_barrier);
    CHECK(fault.other_block == Block{0, 0, 0});
    CHECK_THAT(fault.text(), ContainsSubstring("block 0, thread 0 has returned"));
  }
  SECTION("of the same one") {
    const Fault fault = only(run(bench, "if (t > 0) " + kMeet + "else __syncthreads();\n"));
    CHECK(fault.kind == FaultKind::divergent_barrier);
    CHECK_THAT(fault.text(), ContainsSubstring("is at a barrier of the cluster"));
  }
}

TEST_CASE("shared memory of a block that is not there, and none of a block") {
  Bench bench;
  CHECK_THAT(only(run(bench, "B[i] = of_block(tile, 2)[0];\n")).text(), ContainsSubstring("block 2 of a cluster of 2"));
  CHECK_THAT(only(run(bench, "B[i] = of_block(A, 1)[0];\n")).text(), ContainsSubstring("that is not shared memory"));
  CHECK(only(run(bench, "*(double*)of_block(tile, 1 - block) = 1;\n")).kind == FaultKind::read_only);
}

TEST_CASE("a grid that clusters do not divide") {
  Bench bench;
  bench.grid = 3;
  CHECK_THAT(only(bench.run("B[0] = 0;", "__cluster_dims__(2, 1, 1) ")).text(),
             ContainsSubstring("launch: clusters of 2 blocks in a grid of 3"));
}

}  // namespace test_cluster_faults
