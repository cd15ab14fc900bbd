// Golden kernels of contractions on tensor cores and by FMA, executed: what is written down is also right.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "catch.hpp"
#include "golden/case.hpp"
#include "simt/contraction_case.hpp"

namespace test_golden {

using namespace ricci;

TEST_CASE("golden contractions on the simulator do what the interpreter does") {
  for (const std::string name :
       {"contraction_mma", "contraction_complex", "contraction_f16", "contraction_relaid", "contraction_tf32",
        "contraction_fma", "contraction_rounded", "contraction_joined", "contraction_maps", "contraction_maps_mma"}) {
    INFO(name);
    std::ifstream stream(std::filesystem::path(RICCI_TEST_DIR) / ".." / "golden" / (name + ".case"));
    const auto golden = golden::parse_case(name, {std::istreambuf_iterator<char>(stream), {}});
    auto program = ir::canonicalise(golden.program);
    REQUIRE(ir::print(program) == ir::print(golden.program));
    simt::ContractionCase run(std::move(program), golden.schedule.directives);
    CHECK(run.wrong(1).empty());
    bool same = false;
    run.interpreted(2, same);
    CHECK(same);
  }
}

TEST_CASE("the golden group of two splits does what the interpreter does") {
  std::ifstream stream(std::filesystem::path(RICCI_TEST_DIR) / ".." / "golden" / "cpu_group.case");
  const auto golden = golden::parse_case("cpu_group", {std::istreambuf_iterator<char>(stream), {}});
  const auto tree = kernel::expand(kernel::build(golden.program, golden.schedule, kernel::Target::cpu));
  std::mt19937_64 random(1);
  std::vector<simt::Area> areas;
  for (const auto& buffer : golden.program.buffers) {
    areas.emplace_back(static_cast<std::size_t>((buffer.last + 1) * size_of(buffer.type)));
    areas.back().fill(buffer.type, random);
  }
  auto expected = areas;
  std::vector<void*> pointers, wanted;
  for (auto& area : areas) pointers.push_back(area.begin());
  for (auto& area : expected) wanted.push_back(area.begin());
  ir::interpret(golden.program, wanted, {});
  kernel::execute(tree, pointers, {});
  for (std::size_t b = 0; b < areas.size(); ++b)
    CHECK(std::memcmp(areas[b].begin(), expected[b].begin(), areas[b].bytes) == 0);
}

}  // namespace test_golden
