// Contractions by directives that a person wrote, on a GPU: pipelines, tensor cores, warp groups, clusters, atomic
// additions.
#include "catch.hpp"
#include "jit/cuda_driver.hpp"
#include "simt/contraction_on_gpu.hpp"
#include "simt/written_contractions.hpp"

namespace test_contraction_gpu {

namespace cuda = ricci::jit::cuda;
using namespace ricci;

TEST_CASE("contractions by directives on a GPU") {
  if (!cuda::available()) RICCI_SKIP(("no GPU: " + cuda::unavailable_reason()).c_str());
  const auto sm = cuda::device_info(0).sm;
  if (sm != 90) RICCI_SKIP("no GPU: warp groups multiply on sm_90 alone");
  for (const auto& c : simt::written_contractions()) {
    INFO(c.spec << "\n" << c.directives);
    const auto kernel = c.made();
    for (const std::uint64_t seed : {0, 1}) CHECK(simt::wrong_on_gpu(kernel, seed, sm).empty());
  }
}

}  // namespace test_contraction_gpu
