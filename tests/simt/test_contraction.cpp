// Contractions for a GPU, scheduled by directives that a person wrote: executed on the simulator without a fault, equal
// to the interpreter, and with the traffic that their layouts promise.
#include "catch.hpp"
#include "ricci/error.hpp"
#include "simt/contraction_case.hpp"

using namespace ricci;

namespace {

struct Case {
  const char* spec;
  std::map<char, std::int64_t> extents;
  std::vector<DType> types;
  ir::Factor alpha, beta;
  const char* directives;
};

simt::ContractionCase made(const Case& c) {
  auto problem = simt::problem_of(c.spec, c.extents, c.types);
  problem.alpha = c.alpha;
  problem.beta = c.beta;
  return {problem, kernel::parse_directives(c.directives)};
}

constexpr auto kOne = ir::Factor::one, kNone = ir::Factor::zero, kAny = ir::Factor::any;

// In canonical programs "ad,db->ab" has rows a, columns c and depth b.
const Case kCases[] = {
    {"ad,db->ab",
     {{'a', 128}, {'b', 96}, {'d', 64}},
     {DType::f64},
     kOne,
     kNone,
     "tile a:64; tile c:32; tile b:16; order task a0 c0 sum b0; stage A at b0 async a b pad 8;"
     "stage B at b0 async b c pad 2;"
     "atom m16n8k8_f64 rows a columns c depth b warps 2x1 runs 1x1x2; pipeline b0 3"},
    {"ad,db->ab",  // ragged everywhere, k8 and k4, more places than rounds
     {{'a', 100}, {'b', 90}, {'d', 50}},
     {DType::f64},
     kAny,
     kAny,
     "tile a:64; tile c:32; tile b:16; order task c0 a0 sum b0; stage A at b0 async a b pad 4;"
     "stage B at b0 async b c pad 4; atom m8n8k4_f64 rows a columns c depth b warps 2x2 runs 2x2x1 blocks 2; pipeline "
     "b0 8"},
    {"da,db->ba",  // the output's neighbours are rows
     {{'a', 72}, {'b', 40}, {'d', 24}},
     {DType::f64},
     kOne,
     kAny,
     "tile c:24; order task c0; stage A at c0 async a b pad 4; stage B at c0 async a c pad 4;"
     "atom m16n8k8_f64 rows c columns b depth a warps 1x1 runs 2x1x1"},
    {"ad,db->ab",
     {{'a', 100}, {'b', 90}, {'d', 50}},
     {DType::f32},
     kAny,
     kAny,
     "tile a:64; tile c:32; tile b:16; order task a0 c0 sum b0; stage A at b0 async b a pad 4;"
     "stage B at b0 async b c pad 4; atom fma rows a columns c depth b warps 1x2 runs 4x4x1; pipeline b0 3"},
    {"ad,db->ab",
     {{'a', 20}, {'b', 30}, {'d', 10}},
     {DType::c128},
     kAny,
     kAny,
     "tile a:16; tile c:8; tile b:5; order task a0 c0 sum b0; stage A at b0 async b a; stage B at b0 async b c;"
     "atom fma rows a columns c depth b warps 1x2 runs 1x1x1; pipeline b0 2"},
    {"ad,db->ab",  // operands of a narrower type are converted as they are staged
     {{'a', 33}, {'b', 34}, {'d', 35}},
     {DType::f32, DType::f64, DType::f64},
     kOne,
     kNone,
     "tile c:32; tile b:32; tile a:8; order task c0 b0 sum a0; stage B at a0 shared a c pad 4;"
     "stage A at a0 async a b pad 4; atom m16n8k8_f64 rows c columns b depth a warps 2x2 runs 2x1x1; pipeline a0 2"},
};

}  // namespace

TEST_CASE("contractions by directives are the interpreter's on the simulator") {
  for (const auto& c : kCases) {
    INFO(c.spec << "\n" << c.directives);
    const auto directives = kernel::parse_directives(c.directives);
    CHECK(kernel::parse_directives(kernel::print(directives)) == directives);
    auto kernel = made(c);
    INFO(kernel.source.text);
    for (const std::uint64_t seed : {0, 1, 2}) CHECK(kernel.wrong(seed).empty());
  }
}

TEST_CASE("a tile that fits its layout moves whole sectors and meets no bank conflict") {
  auto kernel = made(kCases[0]);
  simt::Report counts;
  REQUIRE(kernel.wrong(1, &counts).empty());
  CHECK(counts.shared.wavefronts == counts.shared.ideal);
  CHECK(counts.read.sectors == counts.read.ideal);
  CHECK(counts.written.sectors == counts.written.distinct);
}

TEST_CASE("directives that a GPU cannot follow are refused") {
  const auto refused = [](const char* directives, const char* part) {
    Case c = kCases[0];
    c.directives = directives;
    try {
      made(c);
    } catch (const PlanError& error) {
      INFO(error.what());
      CHECK(std::string(error.what()).find(part) != std::string::npos);
      return;
    }
    FAIL(directives << " was taken");
  };
  const std::string start = "tile a:64; tile c:32; tile b:16; order task a0 c0 sum b0;";
  const std::string stages = "stage A at b0 async a b; stage B at b0 async b c;";
  refused((start + stages + "atom m16n8k9_f64 rows a columns c depth b warps 2x1").c_str(), "there is no atom");
  refused((start + stages + "atom m16n8k8_f64 rows a columns c depth b").c_str(), "warps are missing");
  refused((start + stages + "atom m16n8k8_f64 rows a columns c depth b warps 2").c_str(), "rows x columns");
  refused((start + stages + "atom m16n8k8_f64 rows a columns c depth b warps 1x1 runs 3x1x1").c_str(), "runs of 3");
  refused((start + "atom m16n8k8_f64 rows a columns c depth b warps 1x1").c_str(), "is not staged");
  refused((start + stages + "atom m16n8k8_f64 rows a columns c depth b warps 1x1; pipeline a0 3").c_str(),
          "no loop that runs in order");
  refused(
      "tile a:64; tile c:32; tile b:12; order task a0 c0 sum b0; stage A at b0 async a b; stage B at b0 async b c;"
      "atom m16n8k8_f64 rows a columns c depth b warps 1x1",
      "a depth of 12");
}
