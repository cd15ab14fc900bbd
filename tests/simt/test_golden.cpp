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
        "contraction_fma", "contraction_rounded", "contraction_joined", "contraction_table", "contraction_maps",
        "contraction_maps_mma", "contraction_cluster", "contraction_last", "contraction_wgmma",
        "contraction_wgmma_tf32", "contraction_wgmma_rs_tf32"}) {
    INFO(name);
    std::ifstream stream(std::filesystem::path(RICCI_TEST_DIR) / ".." / "golden" / (name + ".case"));
    const auto golden = golden::parse_case(name, {std::istreambuf_iterator<char>(stream), {}});
    auto program = ir::canonicalise(golden.program);
    REQUIRE(ir::print(program) == ir::print(golden.program));
    simt::ContractionCase run(std::move(program), golden.schedule.directives);
    CHECK(run.wrong(1).empty());
    bool same = false;
    run.interpreted(1, same);
    CHECK(same);
  }
}

/// A golden case of a CPU, expanded, on the kernel interpreter.
void check_on_cpu(const std::string& name) {
  INFO(name);
  std::ifstream stream(std::filesystem::path(RICCI_TEST_DIR) / ".." / "golden" / (name + ".case"));
  const auto golden = golden::parse_case(name, {std::istreambuf_iterator<char>(stream), {}});
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

TEST_CASE("golden register tiles and groups of splits of a CPU do what the interpreter does") {
  for (const auto* name : {"cpu_group", "cpu_group_exchange", "cpu_joined", "cpu_rows_ahead", "cpu_transposed_results"})
    check_on_cpu(name);
}

}  // namespace test_golden
