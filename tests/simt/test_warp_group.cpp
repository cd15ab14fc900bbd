// Contractions by warp groups: the same on the simulator, and by NVRTC into the instructions that they are made of.
#include "catch.hpp"
#include "jit/cuda_compiler.hpp"
#include "simt/warp_group_case.hpp"

namespace test_warp_group {

using namespace ricci;

TEST_CASE("warp groups multiply operands in every layout that they read") {
  for (const auto& c : simt::group_cases()) {
    INFO(c.text() << "\n" << c.directives());
    auto kernel = c.made();
    INFO(kernel.source.text);
    simt::Report report;
    CHECK(kernel.wrong(static_cast<std::uint64_t>(c.columns), &report) == "");
    const int whole = 1024 / (c.is_tf32() ? 32 : 16);  // elements of rows of 128 bytes
    if (c.row_of_rows == whole && c.row_of_columns == whole && (!c.is_tf32() || c.stages % 2 == 0))
      CHECK(report.shared.wavefronts == report.shared.ideal);
  }
}

TEST_CASE("products of warp groups become HGMMA, which none of their registers' other uses serialises") {
  if (jit::cuda_compiler_version().empty()) RICCI_SKIP("no NVRTC");
  for (const auto& c : simt::group_cases()) {
    INFO(c.text());
    const auto kernel = c.made();
    jit::CudaCompileOptions options;
    options.sm = 90;
    const auto object = jit::compile_cuda(kernel.full(), "warp group", options);
    INFO(kernel.source.text << object.log);
    CHECK(object.spill_bytes == 0);
    CHECK(object.log.find("serialized") == std::string::npos);
    const auto sass = jit::disassemble_cubin(object.cubin);
    if (sass.empty()) continue;
    const auto name = fmt::format("HGMMA.64x{}x{}.F32", (c.columns + 7) / 8 * 8, c.instruction_depth());
    std::size_t count = 0;
    for (std::size_t at = 0; (at = sass.find(name, at)) != std::string::npos; at += name.size()) ++count;
    CHECK(count == static_cast<std::size_t>(c.depth / c.instruction_depth()));
    CHECK((sass.find("LDGSTS") != std::string::npos) != c.maps);
    CHECK((sass.find("UTMALDG") != std::string::npos) == c.maps);
  }
}

}  // namespace test_warp_group
