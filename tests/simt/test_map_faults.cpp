// One deliberate fault of each kind around boxes of tensor maps and their counters.
#include "simt/fault_bench.hpp"

namespace test_map_faults {

using namespace ricci;
using namespace ricci::simt;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A, 64 doubles, as 8 rows of 8; boxes of 6 rows of 4.
struct MapBench : Bench {
  TensorMap tensor;
  MapBench() {
    kernel::TensorMap of;
    of.dimensions = {{8, 1, 4}, {8, 8, 6}};
    tensor = encoded(of, a);
    map = &tensor;
    block = 64;
    for (int i = 0; i < 64; ++i) memory[i] = i + 1;
  }
};

// The first line of every body: what comes after it is line 2.
const std::string kTile =
    "static __shared__ __align__(128) double tile[48]; static __shared__ u64 come[2]; const int t = threadIdx.x;\n";
const std::string kBegin = "if (t == 0) begin_counters(come, 2);\n__syncthreads();\n";
const std::string kCopy = "if (t == 0) { expect_bytes(come, 192); copy_box(tile, &M, come, 2, 4); }\n";

}  // namespace

TEST_CASE("boxes arrive where they are awaited, with zeros outside of the tensor") {
  MapBench bench;
  const auto body = kTile + kBegin + kCopy + "await_bytes(come, 0);\nif (t < 24) B[t] = tile[t];";
  for (const auto order : {Order::forward, Order::reverse, Order::random}) {
    bench.options.order = order;
    const auto report = bench.run(body);
    INFO(report.text());
    CHECK(report.clean());
    for (int row = 0; row < 6; ++row)
      for (int column = 0; column < 4; ++column)
        CHECK(bench.b[4 * row + column] == (row < 4 ? 8 * (4 + row) + 2 + column + 1 : 0));
    CHECK(report.read.bytes == 4 * 32);
  }
}

TEST_CASE("coordinates below zero, and rows that end inside of 16 bytes") {
  MapBench bench;
  bench.tensor.extents[0] = 7;
  const auto report =
      bench.run(kTile + kBegin +
                "if (t == 0) { expect_bytes(come, 384); copy_box(tile, &M, come, -2, -1);\n"
                "copy_box(tile + 32, &M, come + 0, 4, 2); }\nawait_bytes(come, 0);\nB[t] = tile[t % 48];");
  INFO(report.text());
  // The second box reaches beyond the array.
  REQUIRE(report.faults.size() == 1);
  CHECK(report.faults[0].kind == FaultKind::out_of_bounds);
  CHECK(report.faults[0].line == 5);
  const auto clean = bench.run(kTile + kBegin +
                               "if (t == 0) { expect_bytes(come, 192); copy_box(tile, &M, come, -2, -1); }\n"
                               "await_bytes(come, 0);\nif (t < 24) B[t] = tile[t];\n__syncthreads();\n"
                               "if (t == 0) { expect_bytes(come, 192); copy_box(tile, &M, come, 4, 2); }\n"
                               "await_bytes(come, 1);\nif (t < 24) B[32 + t] = tile[t];");
  INFO(clean.text());
  CHECK(clean.clean());
  CHECK(bench.b[0] == 0);
  CHECK(bench.b[5] == 0);
  CHECK(bench.b[6] == 1);
  CHECK(bench.b[32 + 2] == 8 * 2 + 6 + 1);
  CHECK(bench.b[32 + 3] == 0);
}

TEST_CASE("a swizzled box lies where matrices of a warp group are read") {
  MapBench bench;
  kernel::TensorMap of;
  of.dimensions = {{8, 1, 4}, {8, 8, 8}};
  of.row_bytes = 32;
  bench.tensor = encoded(of, bench.a);
  const auto report = bench.run(
      "static __shared__ __align__(1024) double tile[32]; static __shared__ u64 come[1]; const int t = threadIdx.x;\n"
      "if (t == 0) begin_counters(come, 1);\n__syncthreads();\n"
      "if (t == 0) { expect_bytes(come, 256); copy_box(tile, &M, come, 4, 0); }\nawait_bytes(come, 0);\n"
      "if (t < 32) B[t] = tile[t];");
  INFO(report.text());
  CHECK(report.clean());
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 4; ++column)
      CHECK(bench.b[4 * row + (row >= 4 ? column ^ 2 : column)] == 8 * row + 4 + column + 1);
}

TEST_CASE("a reader that does not wait for a box") {
  MapBench bench;
  SECTION("at all") {
    const auto report = bench.run(kTile + kBegin + kCopy + "__syncthreads();\nif (t == 40) B[t] = tile[3];");
    INFO(report.text());
    REQUIRE(report.faults.size() == 2);
    CHECK(report.faults[0].kind == FaultKind::race);
    CHECK(report.faults[0].in_flight);
    CHECK(report.faults[0].line == 6);
    CHECK(report.faults[0].other_line == 4);
    CHECK(report.faults[1].kind == FaultKind::unfinished_copy);
    CHECK_THAT(report.faults[1].text(), ContainsSubstring("ends without waiting for a box"));
  }
  SECTION("while another one does") {
    const auto fault = only(bench.run(kTile + kBegin + kCopy +
                                      "if (t < 32) await_bytes(come, 0);\n"
                                      "if (t == 40) B[t] = tile[3];"));
    CHECK(fault.kind == FaultKind::race);
    CHECK(fault.line == 6);
  }
  SECTION("and meets one that does at a barrier") {
    CHECK(bench
              .run(kTile + kBegin + kCopy +
                   "if (t < 32) await_bytes(come, 0);\n__syncthreads();\n"
                   "if (t == 40) B[t] = tile[3];")
              .clean());
  }
  SECTION("of this phase, but of the other parity") {
    const auto report = bench.run(kTile + kBegin + kCopy + "await_bytes(come, 1);\nB[t] = tile[t % 24];");
    REQUIRE(!report.clean());
    CHECK(report.faults[0].kind == FaultKind::race);
    CHECK(report.faults[0].in_flight);
  }
}

TEST_CASE("a wait that never ends") {
  MapBench bench;
  SECTION("as more bytes are expected than come") {
    const auto fault = only(
        bench.run(kTile + kBegin +
                  "if (t == 0) { expect_bytes(come, 208); copy_box(tile, &M, come, 2, 4); }\nawait_bytes(come, 0);"));
    CHECK(fault.kind == FaultKind::stuck_wait);
    CHECK(fault.line == 5);
    CHECK_THAT(fault.text(), ContainsSubstring("phase 0 of a counter never ends: 192 of 208 bytes come"));
  }
  SECTION("as the phase is over, and the next one of that parity never begins") {
    const auto fault = only(bench.run(kTile + kBegin + kCopy + "await_bytes(come, 0);\nawait_bytes(come, 1);"));
    CHECK(fault.kind == FaultKind::stuck_wait);
    CHECK(fault.line == 6);
  }
}

TEST_CASE("counters that are used as they are not meant to be") {
  MapBench bench;
  const auto misused = [&](const std::string& body, const char* text) {
    const auto fault = only(bench.run(kTile + body));
    CHECK(fault.kind == FaultKind::misused_counter);
    CHECK_THAT(fault.text(), ContainsSubstring(text));
  };
  misused(kBegin + "if (t == 0) { expect_bytes(come, 96); copy_box(tile, &M, come, 2, 4); }",
          "192 bytes come in a phase that expects 96");
  misused(kBegin + "if (t == 0) { expect_bytes(come, 192); expect_bytes(come, 192); }", "expected twice in one phase");
  misused("await_bytes(come, 0);", "a counter that nobody has begun");
  misused("if (t == 0) begin_counters(come, 2);\nawait_bytes(come, 0);",
          "that thread 0 began, with no barrier between");
  misused(kBegin + "if (t == 0) begin_counters(come + 1, 1);", "begun twice");
}

TEST_CASE("a place that a box is copied to while others use it") {
  MapBench bench;
  SECTION("they have read it since the last barrier") {
    const auto fault = only(bench.run(kTile + kBegin +
                                      "if (t < 24) tile[t] = 1;\n__syncthreads();\nif (t < 24) B[t] = tile[23 - t];\n" +
                                      kCopy + "await_bytes(come, 0);"));
    CHECK(fault.kind == FaultKind::race);
    CHECK(fault.write);
  }
  SECTION("two boxes at once") {
    const auto report = bench.run(kTile + kBegin +
                                  "if (t == 0) { expect_bytes(come, 384); copy_box(tile, &M, come, 2, 4);\n"
                                  "copy_box(tile, &M, come, 0, 0); }\nawait_bytes(come, 0);");
    REQUIRE(!report.clean());
    CHECK(report.faults[0].kind == FaultKind::race);
    CHECK(report.faults[0].in_flight);
    CHECK(report.faults[0].line == 5);
  }
}

TEST_CASE("boxes at places, and maps of tensors, that are not aligned") {
  MapBench bench;
  CHECK(
      only(bench.run(kTile + kBegin + "if (t == 0) { expect_bytes(come, 192); copy_box(tile + 2, &M, come, 2, 4); }\n"))
          .kind == FaultKind::misaligned);
  bench.tensor.base += 8;
  CHECK(only(bench.run(kTile + kBegin + kCopy)).kind == FaultKind::misaligned);
}

TEST_CASE("a box of what is no tensor of the call") {
  MapBench bench;
  bench.tensor.extents[1] = 9;
  const auto fault = only(bench.run(kTile + kBegin + kCopy));
  CHECK(fault.kind == FaultKind::out_of_bounds);
  CHECK(fault.line == 4);
}

}  // namespace test_map_faults
