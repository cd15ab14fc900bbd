// A process whose NVRTC is missing: CTest sets RICCI_NVRTC to a file that is not there.
#include <string>

#include "catch.hpp"
#include "jit/cuda_compiler.hpp"
#include "ricci/error.hpp"

namespace jit_cuda_no_nvrtc_test {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("without NVRTC the version is empty and compiling says where it looked") {
  CHECK(ricci::jit::cuda_compiler_version().empty());
  CHECK(ricci::jit::cuda_compiler_info().path.empty());
  CHECK(ricci::jit::cuda_compiler_info().looked_in.size() == 1);
  for (int call = 0; call < 2; ++call) {
    try {
      ricci::jit::compile_cuda("extern \"C\" __global__ void k() {}", "k", {});
      FAIL("compiled without a compiler");
    } catch (const ricci::PlanError& error) {
      CHECK_THAT(error.what(), ContainsSubstring(ricci::jit::cuda_compiler_info().looked_in[0]) &&
                                   ContainsSubstring("RICCI_NVRTC") && ContainsSubstring("CUDA_HOME"));
    }
  }
}

}  // namespace jit_cuda_no_nvrtc_test
