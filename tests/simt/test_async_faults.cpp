// One deliberate fault of each kind around asynchronous copies, matrix loads and products of fragments.
#include <cstring>

#include "simt/fault_bench.hpp"

namespace test_async_faults {

using namespace ricci::simt;
using Catch::Matchers::ContainsSubstring;

namespace {

bool poisoned(double x) {
  unsigned char bytes[8];
  std::memcpy(bytes, &x, 8);
  return bytes[0] == 0xa5 && bytes[7] == 0xa5;
}

// The first line of every body: what comes after it is line 2.
const std::string kTile = "static __shared__ __align__(16) double tile[128]; const int t = threadIdx.x;\n";

}  // namespace

TEST_CASE("a copy that is waited for arrives") {
  Bench bench;
  bench.block = 64;
  for (int i = 0; i < 64; ++i) bench.memory[i] = i + 1;
  const Report report = bench.run(kTile +
                                  "copy_async_or_zero<8>(tile + t, t < 40 ? A + t : nullptr, t < 40);\n"
                                  "commit_async();\nwait_async<0>();\n__syncthreads();\nB[t] = tile[63 - t];");
  INFO(report.text());
  CHECK(report.clean());
  for (int i = 0; i < 64; ++i) CHECK(bench.b[i] == (63 - i < 40 ? 64 - i : 0));
  // One request of each warp reads; both write.
  CHECK(report.read.requests == 2);
  CHECK(report.read.bytes == 320);
  CHECK(report.shared.requests == 4);
  CHECK(report.shared.wavefronts == report.shared.ideal);
}

TEST_CASE("a copy that nobody waits for") {
  Bench bench;
  const Report report =
      bench.run(kTile + "copy_async<8>(tile + t, A + t);\ncommit_async();\n__syncthreads();\nB[t] = tile[t];");
  INFO(report.text());
  REQUIRE(report.faults.size() == 2);
  const Fault &end = report.faults[0], &race = report.faults[1];
  CHECK(race.kind == FaultKind::race);
  CHECK(race.in_flight);
  CHECK_FALSE(race.write);
  CHECK(race.line == 5);
  CHECK(race.other_line == 2);
  CHECK(race.thread == 0);
  CHECK(race.other_thread == 0u);
  CHECK(race.count == 32);
  CHECK_THAT(race.text(),
             ContainsSubstring("race: block 0, thread 0 at line 5: reads 8 bytes of shared memory at byte "
                               "0 of tile; thread 0 copies to it at line 2, with the copy still under way"));
  CHECK(end.kind == FaultKind::unfinished_copy);
  CHECK(end.line == 2);
  CHECK(end.count == 32);
  CHECK_THAT(end.text(), ContainsSubstring("unfinished copy: block 0, thread 0 at line 2: writes 8 bytes of shared "
                                           "memory at byte 0 of tile; the thread ends without waiting for it"));
  CHECK(poisoned(bench.b[0]));
}

TEST_CASE("a wait that lets one group too many be under way") {
  Bench bench;
  const std::string body = kTile +
                           "copy_async<8>(tile + t, A + t);\ncommit_async();\n"
                           "copy_async<8>(tile + 64 + t, A + 32 + t);\ncommit_async();\n"
                           "wait_async<GROUPS>();\n__syncthreads();\nB[t] = tile[t];\nB[32 + t] = tile[64 + t];\n"
                           "wait_async<0>();";
  std::string wrong = body, right = body;
  const Fault fault = only(bench.run(wrong.replace(body.find("GROUPS"), 6, "1")));
  CHECK(fault.kind == FaultKind::race);
  CHECK(fault.in_flight);
  CHECK(fault.line == 9);
  CHECK(fault.other_line == 4);
  CHECK(fault.offset == 512);
  CHECK_FALSE(poisoned(bench.b[0]));
  CHECK(poisoned(bench.b[32]));
  CHECK(bench.run(right.replace(body.find("GROUPS"), 6, "0")).clean());
}

TEST_CASE("copies of other threads need a barrier after their wait") {
  Bench bench;
  bench.block = 64;
  const std::string copy = kTile + "copy_async<8>(tile + t, A + t);\ncommit_async();\n";
  SECTION("there is none") {
    const Fault fault = only(bench.run(copy + "wait_async<0>();\nB[t] = tile[t ^ 1];"));
    CHECK(fault.kind == FaultKind::race);
    CHECK_FALSE(fault.in_flight);
    CHECK(fault.line == 5);
    CHECK(fault.other_line == 2);
    CHECK_THAT(fault.text(), ContainsSubstring("wrote it at line 2, with no barrier between"));
  }
  SECTION("it comes before the wait") {
    const Fault fault = only(bench.run(copy + "__syncthreads();\nwait_async<0>();\nB[t] = tile[63 - t];"));
    CHECK(fault.kind == FaultKind::race);
    CHECK(fault.line == 6);
  }
  SECTION("its own copies a thread may read at once") {
    CHECK(bench.run(copy + "wait_async<0>();\nB[t] = tile[t];").clean());
  }
  SECTION("one of the warp is enough for the warp") {
    CHECK(bench.run(copy + "wait_async<0>();\n__syncwarp();\nB[t] = tile[t ^ 1];").clean());
  }
}

TEST_CASE("a place that is copied to while others use it") {
  Bench bench;
  bench.block = 64;
  SECTION("others have read it since the last barrier") {
    const Fault fault = only(bench.run(kTile + "tile[t] = 1;\n__syncthreads();\nB[t] = tile[t ^ 1];\n"
                                               "copy_async<8>(tile + t, A + t);\ncommit_async();\nwait_async<0>();"));
    CHECK(fault.kind == FaultKind::race);
    CHECK(fault.write);
    CHECK(fault.line == 5);
    CHECK(fault.other_line == 4);
    CHECK_THAT(fault.detail, ContainsSubstring("read it"));
  }
  SECTION("another thread writes it, after a barrier") {
    const Fault fault = only(bench.run(kTile + "copy_async<8>(tile + t, A + t);\ncommit_async();\n__syncthreads();\n"
                                               "tile[63 - t] = 1;\nwait_async<0>();"));
    CHECK(fault.kind == FaultKind::race);
    CHECK(fault.in_flight);
    CHECK(fault.write);
    CHECK(fault.line == 5);
    CHECK(fault.other_line == 2);
  }
  SECTION("two copies of one thread") {
    const Fault fault = only(bench.run(kTile + "copy_async<8>(tile + t, A + t);\ncommit_async();\n"
                                               "copy_async<4>(tile + t, A + t);\ncommit_async();\nwait_async<0>();"));
    CHECK(fault.kind == FaultKind::race);
    CHECK(fault.in_flight);
    CHECK(fault.line == 4);
    CHECK(fault.bytes == 4);
  }
}

TEST_CASE("a place that is copied from while others write it") {
  Bench bench;
  bench.block = 64;
  const std::string copy = kTile + "copy_async<8>(tile + t, B + t);\ncommit_async();\n";
  SECTION("after a barrier, but before the wait") {
    const Fault fault = only(bench.run(copy + "__syncthreads();\nB[63 - t] = 1;\n__syncthreads();\nwait_async<0>();"));
    CHECK(fault.kind == FaultKind::race);
    CHECK(fault.in_flight);
    CHECK_FALSE(fault.write);
    CHECK(fault.space == Space::global);
    CHECK(fault.line == 2);
    CHECK(fault.other_line == 5);
    CHECK(fault.thread == 0);
    CHECK(fault.other_thread == 63u);
    CHECK_THAT(fault.text(),
               ContainsSubstring("reads 8 bytes of global memory at byte 0 of buffer 1; thread 63 wrote it "
                                 "at line 5, with the copy still under way"));
  }
  SECTION("after the wait and a barrier") {
    CHECK(bench.run("B[threadIdx.x] = 1;\n" + copy + "wait_async<0>();\n__syncthreads();\nB[63 - t] = 2;").clean());
  }
}

TEST_CASE("a copy at an address that is not a multiple of its size") {
  Bench bench;
  const std::string rest = "\ncommit_async();\nwait_async<0>();";
  Fault fault = only(bench.run(kTile + "copy_async<16>(tile + t, A + 2 * t);" + rest));
  CHECK(fault.kind == FaultKind::misaligned);
  CHECK(fault.space == Space::shared);
  CHECK(fault.write);
  CHECK(fault.thread == 1);
  CHECK(fault.line == 2);
  fault = only(bench.run(kTile + "copy_async<16>(tile + 2 * t, A + t);" + rest));
  CHECK(fault.kind == FaultKind::misaligned);
  CHECK(fault.space == Space::global);
  CHECK_FALSE(fault.write);
  CHECK(fault.offset == 8);
  CHECK(bench.run(kTile + "copy_async<16>(tile + 2 * t, A + 2 * t);" + rest).clean());
}

TEST_CASE("a copy from or to a place that is not there") {
  Bench bench;
  const std::string rest = "\ncommit_async();\nwait_async<0>();";
  Fault fault = only(bench.run(kTile + "copy_async<8>(tile + t, A + 40 + t);" + rest));
  CHECK(fault.kind == FaultKind::out_of_bounds);
  CHECK(fault.thread == 24);
  CHECK(fault.buffer == "buffer 0");
  fault = only(bench.run(kTile + "copy_async_or_zero<8>(tile + 100 + t, A, false);" + rest));
  CHECK(fault.kind == FaultKind::out_of_bounds);
  CHECK(fault.thread == 28);
  fault = only(bench.run(kTile + "copy_async<8>(B + t, A + t);" + rest));
  CHECK_THAT(fault.text(), ContainsSubstring("that is not shared memory"));
  fault = only(bench.run(kTile + "tile[t] = 1;\ncopy_async<8>(tile + 64 + t, tile + t);" + rest));
  CHECK_THAT(fault.text(), ContainsSubstring("that is not global memory"));
  fault = only(bench.run(kTile + "double own[2] = {A[t], 1};\ncopy_async<8>(tile + t, own + (t & 1));" + rest));
  CHECK_THAT(fault.text(), ContainsSubstring("that is not global memory"));
}

TEST_CASE("copies that are in no group when the thread ends") {
  Bench bench;
  bench.grid = 2;
  const Fault fault =
      only(bench.run(kTile + "if (blockIdx.x && t == 5)\ncopy_async<8>(tile + t, A + t);\nwait_async<0>();"));
  CHECK(fault.kind == FaultKind::unfinished_copy);
  CHECK(fault.block == Block{1, 0, 0});
  CHECK(fault.thread == 5);
  CHECK(fault.line == 3);
  CHECK_THAT(fault.text(), ContainsSubstring("ends without committing it"));
}

TEST_CASE("a copy of an earlier block is forgotten") {
  Bench bench;
  bench.grid = 2;
  const Report report =
      bench.run(kTile + "if (blockIdx.x) {\ntile[t] = 1;\n} else {\ncopy_async<8>(tile + t, A + t);\n}");
  CHECK(only(report).kind == FaultKind::unfinished_copy);
}

TEST_CASE("a product without all of its lanes") {
  Bench bench;
  const std::string product = "double c[2] = {0, 0}; const double a[1] = {1}, b[1] = {2};\n";
  SECTION("that have gone another way") {
    const Fault fault = only(bench.run(product + "if (threadIdx.x < 8)\nmma_m8n8k4_f64(c, a, b);\n__syncthreads();"));
    CHECK(fault.kind == FaultKind::absent_lane);
    CHECK(fault.line == 3);
    CHECK(fault.thread < 8);
    CHECK(fault.other_thread == 8u);
    CHECK(fault.other_line == 4);
  }
  SECTION("that are at a product of another kind") {
    const Fault fault = only(bench.run(product + "double d[4] = {}; const double e[2] = {};\nif (threadIdx.x % 2) "
                                                 "mma_m8n8k4_f64(c, a, b); else mma_m16n8k4_f64(d, e, b);"));
    CHECK(fault.kind == FaultKind::absent_lane);
    CHECK_THAT(fault.detail, ContainsSubstring("is at a matrix product"));
  }
  SECTION("that have returned") {
    const Fault fault = only(bench.run(product + "if (threadIdx.x == 7) return;\nmma_m8n8k4_f64(c, a, b);"));
    CHECK(fault.kind == FaultKind::absent_lane);
    CHECK(fault.line == 3);
    CHECK(fault.other_thread == 7u);
    CHECK_THAT(fault.text(), ContainsSubstring("thread 7 has returned"));
  }
  SECTION("that do not exist") {
    bench.block = 40;
    const Fault fault = only(bench.run(product + "mma_m8n8k4_f64(c, a, b);"));
    CHECK(fault.kind == FaultKind::absent_lane);
    CHECK(fault.thread == 32);
    CHECK(fault.other_thread == 40u);
  }
  SECTION("none is absent") {
    CHECK(bench.run(product + "mma_m8n8k4_f64(c, a, b);\nB[threadIdx.x] = c[0] + c[1];").clean());
    CHECK(bench.b[31] == 16);
  }
}

TEST_CASE("a matrix load") {
  Bench bench;
  const std::string fill = kTile + "for (int i = t; i < 128; i += 32) tile[i] = i;\n__syncwarp();\nunsigned r[4];\n";
  SECTION("of rows that are not aligned") {
    const Fault fault = only(bench.run(fill + "load_matrix_x4(r, tile + 3 * t);"));
    CHECK(fault.kind == FaultKind::misaligned);
    CHECK(fault.thread == 1);
    CHECK(fault.bytes == 16);
    CHECK(fault.line == 5);
  }
  SECTION("of rows behind the tile") {
    const Fault fault = only(bench.run(fill + "load_matrix_x4(r, tile + 72 + 2 * t);"));
    CHECK(fault.kind == FaultKind::out_of_bounds);
    CHECK(fault.thread == 28);
  }
  SECTION("whose last lanes point to no row") {
    CHECK(bench.run(fill + "unsigned two[2];\nload_matrix_x2(two, t < 16 ? tile + 2 * t : nullptr);").clean());
  }
  SECTION("of global memory") {
    CHECK_THAT(only(bench.run(fill + "load_matrix_x4(r, A + 2 * (t % 8));")).text(),
               ContainsSubstring("that is not shared memory"));
  }
  SECTION("before a barrier") {
    const Fault fault =
        only(bench.run(kTile + "tile[t] = t; tile[32 + t] = t;\nunsigned r[4];\nload_matrix_x4(r, tile + 2 * t);"));
    CHECK(fault.kind == FaultKind::race);
    CHECK(fault.line == 4);
  }
  SECTION("without all of its lanes") {
    const Fault fault = only(bench.run(fill + "if (t != 3) load_matrix_x4(r, tile + 2 * t);"));
    CHECK(fault.kind == FaultKind::absent_lane);
    CHECK(fault.other_thread == 3u);
  }
  SECTION("of memory that a copy is under way to") {
    bench.block = 64;
    const Fault fault =
        only(bench.run(kTile + "copy_async<8>(tile + t, A + t);\ncommit_async();\n__syncthreads();\nunsigned "
                               "r[4];\nload_matrix_x4(r, tile + 2 * (t & 31));\nwait_async<0>();"));
    CHECK(fault.kind == FaultKind::race);
    CHECK(fault.in_flight);
    CHECK(fault.line == 6);
  }
}

TEST_CASE("atomic additions beside other accesses") {
  Bench bench;
  bench.block = 64;
  SECTION("clash with each other neither within a block nor between blocks") {
    bench.grid = 2;
    CHECK(bench.run("atomic_add(B + threadIdx.x % 4, 1.0);").clean());
    CHECK(bench.b[3] == 32);
  }
  SECTION("are a race with a read") {
    const Fault fault = only(bench.run("atomic_add(B, 1.0);\nif (threadIdx.x == 33) B[1] = B[0];"));
    CHECK(fault.kind == FaultKind::race);
    CHECK(fault.line == 2);
    CHECK(fault.other_line == 1);
  }
  SECTION("are a race with a plain write, also of one that adds itself") {
    const Fault fault = only(bench.run("if (threadIdx.x == 0) B[0] = 0;\natomic_add(B, 1.0);"));
    CHECK(fault.kind == FaultKind::race);
    CHECK(fault.line == 2);
    CHECK(fault.other_line == 1);
    CHECK(bench.run("if (threadIdx.x == 0) B[0] = 0;\n__syncthreads();\natomic_add(B, 1.0);").clean());
  }
  SECTION("are out of bounds, misaligned, or of memory that is not to be written") {
    CHECK(only(bench.run("atomic_add(B + 32 + threadIdx.x, 1.0);")).kind == FaultKind::out_of_bounds);
    CHECK(only(bench.run("atomic_add((double*)((float*)B + 1), 1.0);")).kind == FaultKind::misaligned);
    CHECK(only(bench.run("atomic_add((double*)A, 1.0);")).kind == FaultKind::read_only);
  }
}

}  // namespace test_async_faults
