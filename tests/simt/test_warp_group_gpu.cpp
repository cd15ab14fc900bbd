// Contractions by warp groups on a GPU: every layout that their instructions read.
#include "catch.hpp"
#include "device_memory.hpp"
#include "jit/cuda_compiler.hpp"
#include "jit/cuda_driver.hpp"
#include "simt/warp_group_case.hpp"

namespace cuda = ricci::jit::cuda;
using namespace ricci;
using ricci::tests::DeviceMemory;

TEST_CASE("warp groups multiply operands in every layout on a GPU") {
  if (!cuda::available()) RICCI_SKIP(("no GPU: " + cuda::unavailable_reason()).c_str());
  if (cuda::device_info(0).sm != 90) RICCI_SKIP("no GPU: warp groups multiply on sm_90 alone");
  jit::CudaCompileOptions options;
  options.sm = 90;
  for (const auto& c : simt::group_cases()) {
    INFO(c.text() << "\n" << c.directives());
    const auto kernel = c.made();
    std::mt19937_64 random(static_cast<std::uint64_t>(c.columns));
    std::vector<simt::Area> areas;
    for (const auto& buffer : kernel.program.buffers) {
      areas.emplace_back(static_cast<std::size_t>((buffer.last + 1) * size_of(buffer.type)));
      areas.back().fill(buffer.type, random);
    }
    std::vector<DeviceMemory> memory;
    for (auto& area : areas) memory.emplace_back(area.begin(), area.bytes);
    std::vector<void*> begins, arguments, wanted;
    for (const auto& each : memory) begins.push_back(each.get());
    for (auto& begin : begins) arguments.push_back(&begin);
    const cuda::Module module(jit::compile_cuda(kernel.full(), "contraction", options).cubin, 0);
    cuda::launch(module.function("contraction", static_cast<std::size_t>(kernel.launch.dynamic_shared_bytes)),
                 static_cast<unsigned>(kernel.launch.blocks), 1, 1, static_cast<unsigned>(kernel.launch.threads),
                 static_cast<unsigned>(kernel.launch.dynamic_shared_bytes), nullptr, arguments.data());
    for (auto& area : areas) wanted.push_back(area.begin());
    ir::interpret(kernel.program, wanted, {});
    for (std::size_t b = 0; b < areas.size(); ++b) {
      simt::Area got(areas[b].bytes);
      memory[b].copy_to_host(got.begin());
      // Whole numbers of few bits: every order of the sums gives the same.
      CHECK(std::memcmp(got.begin(), areas[b].begin(), areas[b].bytes) == 0);
    }
  }
}
