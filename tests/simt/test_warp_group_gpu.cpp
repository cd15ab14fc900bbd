// Contractions by warp groups on a GPU: every layout that their instructions read.
#include "catch.hpp"
#include "simt/contraction_on_gpu.hpp"
#include "simt/warp_group_case.hpp"

namespace test_warp_group_gpu {

namespace cuda = ricci::jit::cuda;
using namespace ricci;

TEST_CASE("warp groups multiply operands in every layout on a GPU") {
  if (!cuda::available()) RICCI_SKIP(("no GPU: " + cuda::unavailable_reason()).c_str());
  if (cuda::device_info(0).sm != 90) RICCI_SKIP("no GPU: warp groups multiply on sm_90 alone");
  for (const auto& c : simt::group_cases()) {
    INFO(c.text() << "\n" << c.directives());
    CHECK(simt::wrong_on_gpu(c.made(), static_cast<std::uint64_t>(c.columns), 90).empty());
  }
}

}  // namespace test_warp_group_gpu
