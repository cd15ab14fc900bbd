// The simulator's arithmetic alone: costs of warp accesses, ordering of accesses, the text that is compiled.
#include "catch.hpp"
#include "simt/image.hpp"
#include "simt/shadow.hpp"
#include "simt/traffic.hpp"

namespace test_parts {

using namespace ricci::simt;

namespace {

template <class F>
WarpAccess warp_access(unsigned bytes, unsigned lanes, F address) {
  WarpAccess access;
  access.bytes = bytes;
  access.lanes = lanes;
  for (unsigned i = 0; i < lanes; ++i) {
    access.lane[i] = static_cast<std::uint8_t>(i);
    access.address[i] = address(i);
  }
  return access;
}

struct Wavefronts {
  unsigned units, ideal;
  friend bool operator==(const Wavefronts&, const Wavefronts&) = default;
};
template <class F>
Wavefronts wavefronts(unsigned bytes, unsigned lanes, F address) {
  const Cost cost = shared_cost(warp_access(bytes, lanes, address));
  return {cost.units, cost.ideal};
}

}  // namespace

TEST_CASE("wavefronts of shared accesses") {
  const auto stride = [](std::uint64_t bytes) { return [bytes](unsigned lane) { return 1024 + lane * bytes; }; };
  CHECK(wavefronts(4, 32, stride(4)) == Wavefronts{1, 1});
  CHECK(wavefronts(4, 32, stride(8)) == Wavefronts{2, 1});
  CHECK(wavefronts(4, 32, stride(128)) == Wavefronts{32, 1});
  CHECK(wavefronts(4, 32, stride(132)) == Wavefronts{1, 1});
  CHECK(wavefronts(4, 32, stride(0)) == Wavefronts{1, 1});  // one word for all
  CHECK(wavefronts(1, 32, stride(1)) == Wavefronts{1, 1});  // four lanes to a word
  CHECK(wavefronts(2, 32, stride(64)) == Wavefronts{16, 1});
  CHECK(wavefronts(8, 32, stride(8)) == Wavefronts{2, 2});  // two half-warps
  CHECK(wavefronts(8, 16, stride(8)) == Wavefronts{1, 1});
  CHECK(wavefronts(8, 32, stride(256)) == Wavefronts{32, 2});
  CHECK(wavefronts(8, 32, stride(264)) == Wavefronts{2, 2});
  CHECK(wavefronts(16, 32, stride(16)) == Wavefronts{4, 4});
  CHECK(wavefronts(16, 32, stride(512)) == Wavefronts{32, 4});
  CHECK(wavefronts(4, 32, [](unsigned lane) { return (31 - lane) * 4; }) == Wavefronts{1, 1});
  // Lanes that are alike in pairs, by the first bit of their numbers or by the second one; by the third one they are
  // not.
  CHECK(wavefronts(16, 32, [](unsigned lane) { return lane / 2 * 16; }) == Wavefronts{2, 2});
  CHECK(wavefronts(16, 32, [](unsigned lane) { return (lane / 4 * 2 + lane % 2) * 16; }) == Wavefronts{2, 2});
  CHECK(wavefronts(16, 32, [](unsigned lane) { return lane % 4 * 16; }) == Wavefronts{4, 4});
  CHECK(wavefronts(8, 32, [](unsigned lane) { return lane / 2 * 8; }) == Wavefronts{1, 1});
}

TEST_CASE("sectors of global accesses") {
  SectorMap seen;
  seen.reset(32000);
  seen.begin_block();
  const auto sectors = [&](unsigned bytes, auto address) {
    const Cost cost =
        global_cost(warp_access(bytes, 32, [&](unsigned lane) { return 4096 + 16 + address(lane); }), 4096 + 16, seen);
    return Wavefronts{cost.units, cost.ideal};
  };
  CHECK(sectors(4, [](unsigned lane) { return lane * 4; }) == Wavefronts{4, 4});
  CHECK(seen.distinct() == 4);
  CHECK(sectors(4, [](unsigned lane) { return 4 + lane * 4; }) == Wavefronts{5, 4});
  CHECK(seen.distinct() == 5);
  CHECK(seen.per_block() == 5);
  seen.begin_block();
  CHECK(sectors(8, [](unsigned lane) { return lane * 64; }) == Wavefronts{32, 8});
  CHECK(sectors(16, [](unsigned lane) { return lane * 16; }) == Wavefronts{16, 16});
  CHECK(sectors(8, [](unsigned) { return 512; }) == Wavefronts{1, 1});
  CHECK(sectors(4, [](unsigned lane) { return (31 - lane) * 4; }) == Wavefronts{4, 4});
  CHECK(sectors(1, [](unsigned lane) { return lane * 7; }) == Wavefronts{7, 1});
  CHECK(sectors(16, [](unsigned lane) { return 8 + lane * 8; }) == Wavefronts{9, 9});  // straddling, overlapping
  CHECK(seen.per_block() > seen.distinct());
}

TEST_CASE("accesses are ordered by thread, warp and block synchronisation") {
  Clock clock{1, 1, 1, {1}, {1, 1}};
  Shadow shadow;
  const auto touch = [&](bool write, unsigned thread, std::size_t offset = 0, unsigned bytes = 8) {
    return shadow.access(offset, bytes, write, thread, 7, clock, true).clash;
  };
  const auto sync_warp = [&](unsigned warp) { clock.warp[warp] = ++clock.now; };
  const auto sync_threads = [&] { clock.barrier[0] = ++clock.now; };
  const auto next_block = [&] {
    clock.block = clock.cluster = clock.barrier[0] = ++clock.now;
    clock.warp.assign(2, clock.now);
  };

  SECTION("global") {
    shadow.reset(64, 0, false);
    CHECK(touch(true, 0) == Clash::none);
    CHECK(touch(true, 0) == Clash::none);
    CHECK(touch(false, 0) == Clash::none);
    CHECK(touch(false, 1) == Clash::race);
    CHECK(touch(true, 1) == Clash::race);
    CHECK(touch(true, 1, 8) == Clash::none);
    sync_warp(0);
    CHECK(touch(true, 0) == Clash::none);    // wrote: thread 1, same warp
    CHECK(touch(false, 33) == Clash::race);  // another warp
    sync_threads();
    CHECK(touch(false, 33) == Clash::none);
    CHECK(touch(false, 2) == Clash::none);
    CHECK(touch(true, 33) == Clash::race);  // thread 2 has read
    next_block();
    CHECK(touch(false, 0, 16) == Clash::none);
    CHECK(touch(true, 40) == Clash::block);
    CHECK(touch(false, 40, 8) == Clash::block);
    next_block();
    CHECK(touch(true, 0, 16) == Clash::block);  // block before has read
  }
  SECTION("many readers, then a writer that is one of them") {
    shadow.reset(64, 0, false);
    CHECK(touch(false, 1) == Clash::none);
    CHECK(touch(false, 2) == Clash::none);
    CHECK(touch(true, 2) == Clash::race);
    sync_threads();
    CHECK(touch(false, 1) == Clash::none);
    CHECK(touch(false, 2) == Clash::none);
    sync_warp(0);
    CHECK(touch(true, 2) == Clash::none);
    sync_threads();
    CHECK(touch(false, 1) == Clash::none);
    CHECK(touch(false, 40) == Clash::none);
    sync_warp(1);
    CHECK(touch(true, 40) == Clash::race);
  }
  SECTION("a read of two blocks, then a write of the second") {
    shadow.reset(64, 0, false);
    CHECK(touch(false, 0) == Clash::none);
    next_block();
    CHECK(touch(false, 0) == Clash::none);
    CHECK(touch(true, 0) == Clash::block);
  }
  SECTION("shared memory is new in every block") {
    shadow.reset(64, 0, true);
    CHECK(touch(false, 0) == Clash::uninitialised);
    CHECK(touch(true, 0) == Clash::none);
    CHECK(touch(false, 0) == Clash::none);
    next_block();
    CHECK(touch(false, 1) == Clash::uninitialised);
    CHECK(touch(true, 1) == Clash::none);
  }
  SECTION("neighbouring bytes do not clash, overlapping ones do") {
    shadow.reset(64, 4, false);
    CHECK(touch(true, 0, 0, 8) == Clash::none);
    CHECK(touch(true, 1, 12, 16) == Clash::none);
    CHECK(touch(true, 2, 28, 1) == Clash::none);
    CHECK(touch(true, 3, 29, 1) == Clash::none);
    CHECK(touch(false, 4, 30, 2) == Clash::none);
    CHECK(touch(true, 5, 7, 1) == Clash::race);
    CHECK(touch(false, 5, 28, 2) == Clash::race);
    CHECK(touch(true, 6, 27, 1) == Clash::race);
    CHECK(touch(true, 7, 63, 1) == Clash::none);
  }
}

TEST_CASE("the compiled text keeps the lines of the source") {
  Launch launch;
  launch.source =
      "void k() {\n  extern __shared__ __align__(16) unsigned char tile [ ];\n"
      "  static\n__shared__ __align__(16) float a[4];\n  static int my__shared__;\n}\n";
  launch.kernel = "k";
  launch.parameter_types = {"const double*", "float"};
  launch.dynamic_shared = 800;
  const std::string text = simulated_text(launch);
  const std::string source = text.substr(text.find("#line 1 \"kernel\""));
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(source,
             ContainsSubstring("#line 1 \"kernel\"\nvoid k() {\n         __shared__ __align__(16) unsigned char "
                               "tile [800 / sizeof(unsigned char)];\n"
                               "        \n__shared__ __align__(16) float a[4];\n  static int my__shared__;\n}\n"));
  CHECK_THAT(source, ContainsSubstring("k(*(ricci_simt_type0*)arguments[0], *(ricci_simt_type1*)arguments[1]);"));
}

}  // namespace test_parts
