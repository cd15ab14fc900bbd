// One deliberate fault of each kind, reported with its kind, thread, block, offset and line.
#include <cstring>

#include "simt/fault_bench.hpp"

namespace test_faults {

using namespace ricci::simt;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a read behind a global buffer") {
  Bench bench;
  bench.grid = 3;
  const Fault fault = only(bench.run("\nconst int i = blockIdx.x * 32 + threadIdx.x;\nB[i % 64] = \n  A[i];"));
  CHECK(fault.kind == FaultKind::out_of_bounds);
  CHECK(fault.space == Space::global);
  CHECK_FALSE(fault.write);
  CHECK(fault.thread == 0);
  CHECK(fault.block == Block{2, 0, 0});
  CHECK(fault.buffer == "buffer 0");
  CHECK(fault.offset == 512);
  CHECK(fault.bytes == 8);
  CHECK(fault.line == 4);
  CHECK(fault.text() ==
        "out of bounds: block 2, thread 0 at line 4: reads 8 bytes of global memory at byte 512 of "
        "buffer 0; buffer 0 has 512 bytes");
}

TEST_CASE("a write before a global buffer does not happen") {
  Bench bench;
  bench.memory[127] = 5;
  const Fault fault = only(bench.run("B[(int)threadIdx.x - 1] = 1;"));
  CHECK(fault.kind == FaultKind::out_of_bounds);
  CHECK(fault.write);
  CHECK(fault.buffer == "buffer 1");
  CHECK(fault.offset == -8);
  CHECK(fault.thread == 0);
  CHECK(bench.memory[127] == 5);
}

TEST_CASE("a wild pointer is near no buffer") {
  Bench bench;
  const Fault fault = only(bench.run("*(double*)8 = threadIdx.x;"));
  CHECK(fault.kind == FaultKind::out_of_bounds);
  CHECK(fault.address == 8);
  CHECK(fault.buffer.empty());
}

TEST_CASE("an access that strays into another buffer") {
  Bench bench;
  const std::string body = "B[threadIdx.x] = A[threadIdx.x < 31 ? threadIdx.x : 128];";
  const Fault fault = only(bench.run(body));
  CHECK(fault.kind == FaultKind::out_of_bounds);
  CHECK(fault.thread == 31);
  CHECK(fault.buffer == "buffer 0");
  CHECK_THAT(fault.detail, ContainsSubstring("buffer 1"));
  bench.options.one_buffer_per_access = false;
  bench.options.check_races = false;
  CHECK(bench.run(body).clean());
}

TEST_CASE("a shared array is left") {
  Bench bench;
  const Fault fault = only(bench.run("static __shared__ float tile[40];\n tile[threadIdx.x + 9] = 1; B[0] = tile[0];"));
  CHECK(fault.kind == FaultKind::out_of_bounds);
  CHECK(fault.space == Space::shared);
  CHECK(fault.write);
  CHECK(fault.thread == 31);
  CHECK(fault.buffer == "tile");
  CHECK(fault.offset == 160);
  CHECK(fault.bytes == 4);
  CHECK(fault.line == 2);
}

TEST_CASE("dynamic shared memory ends where the launch says") {
  Bench bench;
  bench.dynamic_shared = 248;
  const std::string body =
      "extern __shared__ double whole[]; whole[threadIdx.x] = 1; __syncthreads(); B[threadIdx.x] = whole[0];";
  const Fault fault = only(bench.run(body));
  CHECK(fault.kind == FaultKind::out_of_bounds);
  CHECK(fault.buffer == "whole");
  CHECK(fault.offset == 248);
  CHECK(fault.thread == 31);
  bench.dynamic_shared = 256;
  CHECK(bench.run(body).clean());
}

TEST_CASE("a write to a buffer that is only read") {
  Bench bench;
  const Fault fault = only(bench.run("((double*)A)[threadIdx.x + 3] = 1;"));
  CHECK(fault.kind == FaultKind::read_only);
  CHECK(fault.offset == 24);
  CHECK(bench.memory[3] == 0);
}

TEST_CASE("a race in shared memory") {
  Bench bench;
  bench.block = 64;
  const std::string head = "static __shared__ double tile[64];\n tile[threadIdx.x] = 1;\n",
                    tail = "B[threadIdx.x] =\n tile[63 - threadIdx.x];";
  const Report report = bench.run(head + tail);
  INFO(report.text());
  REQUIRE(report.faults.size() == 2);
  // Warps run one after another: the second writes what the first has read too soon, and reads what it has just
  // written.
  CHECK(report.faults[0].text() ==
        "race: block 0, thread 32 at line 2: writes 8 bytes of shared memory at byte 256 of tile; thread 31 read it at "
        "line 4, with no barrier between (32 times)");
  const Fault& fault = report.faults[1];
  CHECK(fault.kind == FaultKind::race);
  CHECK(fault.space == Space::shared);
  CHECK_FALSE(fault.write);
  CHECK(fault.thread == 32);
  CHECK(fault.other_thread == 31u);
  CHECK(fault.offset == 31 * 8);
  CHECK(fault.line == 4);
  CHECK(fault.other_line == 2);
  CHECK(fault.count == 32);
  CHECK(fault.text() ==
        "race: block 0, thread 32 at line 4: reads 8 bytes of shared memory at byte 248 of tile; thread 31 wrote it at "
        "line 2, with no barrier between (32 times)");
  CHECK(bench.run(head + "__syncthreads();" + tail).clean());
  // A warp's synchronisation is not enough for two warps, but is for one; a shuffle orders nothing.
  CHECK_FALSE(bench.run(head + "__syncwarp();" + tail).clean());
  bench.block = 32;
  const std::string own = "B[threadIdx.x] = tile[31 - threadIdx.x];";
  CHECK(bench.run(head + "__syncwarp();" + own).clean());
  CHECK_FALSE(bench.run(head + "shuffle(1, 0);" + own).clean());
  CHECK_FALSE(bench.run(head + own).clean());
}

TEST_CASE("a tile that is filled again before it has been read") {
  Bench bench;
  bench.block = 64;
  const std::string body = R"(static __shared__ double tile[64];
for (int i = 0; i < 2; ++i) {
  tile[threadIdx.x] = A[threadIdx.x];
  __syncthreads();
  B[threadIdx.x] = tile[63 - threadIdx.x];
  BARRIER
})";
  std::string wrong = body, right = body;
  const Report report = bench.run(wrong.erase(body.find("BARRIER"), 7));
  INFO(report.text());
  REQUIRE(report.faults.size() == 2);
  for (const Fault& fault : report.faults) {
    CHECK(fault.kind == FaultKind::race);
    CHECK(fault.line == (fault.write ? 3 : 5));
    CHECK(fault.count == 32);
  }
  CHECK(bench.run(right.replace(body.find("BARRIER"), 7, "__syncthreads();")).clean());
}

TEST_CASE("a race in global memory within a block") {
  Bench bench;
  const Fault fault = only(bench.run("B[threadIdx.x / 2] = threadIdx.x;"));
  CHECK(fault.kind == FaultKind::race);
  CHECK(fault.space == Space::global);
  CHECK(fault.write);
  CHECK(fault.thread == 1);
  CHECK(fault.other_thread == 0u);
  CHECK(fault.count == 16);
  bench.options.check_races = false;
  CHECK(bench.run("B[threadIdx.x / 2] = threadIdx.x;").clean());
}

TEST_CASE("two blocks write one element") {
  Bench bench;
  bench.grid = 2;
  const std::string body = "B[threadIdx.x + 31 * blockIdx.x] = 1;";
  const Fault fault = only(bench.run(body));
  CHECK(fault.kind == FaultKind::block_conflict);
  CHECK(fault.block == Block{1, 0, 0});
  CHECK(fault.other_block == Block{0, 0, 0});
  CHECK(fault.thread == 0);
  CHECK(fault.other_thread == 31u);
  CHECK(fault.offset == 31 * 8);
  CHECK(fault.count == 1);
  bench.options.order = Order::reverse;
  const Fault reverse = only(bench.run(body));
  CHECK(reverse.block == Block{0, 0, 0});
  CHECK(reverse.other_block == Block{1, 0, 0});
}

TEST_CASE("a block reads what another writes") {
  Bench bench;
  bench.grid = 2;
  const std::string body = "if (blockIdx.x == 0) B[threadIdx.x] = 1;\nelse B[32 + threadIdx.x] = B[threadIdx.x];";
  CHECK_FALSE(only(bench.run(body)).write);
  bench.options.order = Order::reverse;
  CHECK(only(bench.run(body)).write);
}

TEST_CASE("a barrier that some threads do not reach") {
  Bench bench;
  bench.block = 64;
  SECTION("because they have returned") {
    const Fault fault = only(bench.run("if (threadIdx.x == 40) return;\n__syncthreads();"));
    CHECK(fault.kind == FaultKind::divergent_barrier);
    CHECK(fault.line == 2);
    CHECK(fault.other_thread == 40u);
    CHECK_THAT(fault.detail, ContainsSubstring("returned"));
  }
  SECTION("because they are at another one") {
    const Fault fault = only(bench.run("if (threadIdx.x < 32)\n__syncthreads();\nelse\n__syncthreads();"));
    CHECK(fault.kind == FaultKind::divergent_barrier);
    CHECK(fault.line + fault.other_line == 6);
    CHECK(fault.text() ==
          "divergent barrier: block 0, thread 63 at line 4: thread 0 is at another __syncthreads at line 2");
  }
  SECTION("because they wait for their warp") {
    const Fault fault = only(bench.run("if (threadIdx.x % 2)\n__syncthreads();\nelse\n__syncwarp();"));
    CHECK(fault.kind == FaultKind::divergent_barrier);
    CHECK(fault.line == 4);
    CHECK(fault.other_line == 2);
  }
}

TEST_CASE("a vector at an address that is not a multiple of its size") {
  Bench bench;
  const std::string copy = "store(B + 2 * threadIdx.x, load<vec<double, 2>>(A + 2 * threadIdx.x + OFFSET));";
  std::string wrong = copy, right = copy;
  const Fault fault = only(bench.run(wrong.replace(copy.find("OFFSET"), 6, "1")));
  CHECK(fault.kind == FaultKind::misaligned);
  CHECK(fault.bytes == 16);
  CHECK(fault.offset == 8);
  CHECK(fault.line == 1);
  CHECK(bench.run(right.replace(copy.find("OFFSET"), 6, "0")).clean());
}

TEST_CASE("a shuffle without all of its lanes") {
  Bench bench;
  SECTION("that are at a barrier") {
    const Fault fault = only(
        bench.run("double x = 1;\nif (threadIdx.x < 8)\nx = shuffle_xor(x, 1);\n__syncthreads();B[threadIdx.x] = x;"));
    CHECK(fault.kind == FaultKind::absent_lane);
    CHECK(fault.line == 3);
    CHECK(fault.thread < 8);
    CHECK(fault.other_thread == 8u);
    CHECK(fault.other_line == 4);
  }
  SECTION("that have returned, and are read") {
    const std::string body = "if (threadIdx.x == 5) return;\nB[threadIdx.x] = shuffle((double)threadIdx.x, SOURCE);";
    std::string wrong = body, right = body;
    const Fault fault = only(bench.run(wrong.replace(body.find("SOURCE"), 6, "threadIdx.x + 1")));
    CHECK(fault.kind == FaultKind::absent_lane);
    CHECK(fault.thread == 4);
    CHECK(fault.other_thread == 5u);
    CHECK_THAT(fault.detail, ContainsSubstring("returned"));
    CHECK(bench.run(right.replace(body.find("SOURCE"), 6, "3")).clean());
    CHECK(bench.b[31] == 3);
    CHECK(bench.b[5] == 0);
  }
  SECTION("that do not exist") {
    bench.block = 24;
    const Fault fault = only(bench.run("B[threadIdx.x] = shuffle((double)threadIdx.x, threadIdx.x + 8);"));
    CHECK(fault.kind == FaultKind::absent_lane);
    CHECK(fault.thread == 16);
    CHECK(fault.other_thread == 24u);
  }
}

TEST_CASE("shared memory that nobody has written") {
  Bench bench;
  bench.grid = 2;
  const std::string body =
      "static __shared__ double tile[64];\nif (blockIdx.x == 0) tile[threadIdx.x] = 1;\nB[threadIdx.x + 32 * "
      "blockIdx.x] = tile[threadIdx.x];";
  CHECK(bench.run(body).clean());
  CHECK(bench.b[0] == 1);
  unsigned char poison[8];
  std::memcpy(poison, bench.b + 32, 8);
  CHECK(poison[0] == 0xa5);
  bench.options.check_uninitialised = true;
  const Fault fault = only(bench.run(body));
  CHECK(fault.kind == FaultKind::uninitialised);
  CHECK(fault.block == Block{1, 0, 0});
  CHECK(fault.line == 3);
}

TEST_CASE("a launch that a GPU refuses") {
  Bench bench;
  const auto detail = [&](const std::string& body) {
    const Fault fault = only(bench.run(body));
    CHECK(fault.kind == FaultKind::launch);
    return fault.detail;
  };
  bench.block = 1025;
  CHECK_THAT(detail(""), ContainsSubstring("1025 threads"));
  bench.block = 32;
  CHECK_THAT(detail("static __shared__ double tile[6145]; tile[0] = 1;"), ContainsSubstring("49160 bytes of static"));
  bench.dynamic_shared = 228 * 1024;
  CHECK_THAT(detail("extern __shared__ double tile[]; tile[0] = 1;"), ContainsSubstring("of dynamic shared memory"));
  bench.dynamic_shared = 0;
  bench.grid = 0;
  CHECK_THAT(detail(""), ContainsSubstring("grid 0"));

  Launch launch;
  launch.source = "extern \"C\" __global__ void __launch_bounds__(128, 2) k() {}\n";
  launch.kernel = "k";
  launch.block = 129;
  const Report report = run(launch, nullptr, {});
  CHECK_THAT(only(report).text(), ContainsSubstring("launch: 129 threads per block, but __launch_bounds__(128)"));
}

TEST_CASE("a 32-way bank conflict is counted") {
  Bench bench;
  const Report report = bench.run(
      "static __shared__ float tile[32 * 32];\n"
      "for (int i = 0; i < 32; ++i) tile[i * 32 + threadIdx.x] = i;\n"
      "__syncwarp();\n"
      "for (int i = 0; i < 32; ++i) B[threadIdx.x] += tile[threadIdx.x * 32 + i];");
  INFO(report.text());
  CHECK(report.clean());
  CHECK(report.shared.requests == 64);
  CHECK(report.shared.ideal == 64);
  CHECK(report.shared.wavefronts == 32 + 32 * 32);
  bool found = false;
  for (const LineTraffic& line : report.lines)
    if (line.space == Space::shared && !line.write) {
      found = true;
      CHECK(line.line == 4);
      CHECK(line.requests == 32);
      CHECK(line.units == 1024);
    }
  CHECK(found);
  CHECK_THAT(report.text(),
             ContainsSubstring("line    4: shared read  of  4 bytes: 32 requests, 1024 wavefronts (ideal 32)"));
}

}  // namespace test_faults
