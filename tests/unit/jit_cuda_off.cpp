// A build with RICCI_CUDA=OFF looks for nothing, whatever the machine has.
#include <string>

#include "catch.hpp"
#include "jit/cuda_compiler.hpp"
#include "jit/cuda_driver.hpp"
#include "ricci/error.hpp"

using Catch::Matchers::ContainsSubstring;

TEST_CASE("built without CUDA there is no compiler and no device") {
  CHECK(ricci::jit::cuda_compiler_version().empty());
  CHECK_FALSE(ricci::jit::cuda::available());
  CHECK_THAT(ricci::jit::cuda::unavailable_reason(), ContainsSubstring("RICCI_CUDA=OFF"));
  try {
    ricci::jit::compile_cuda("", "k", {});
    FAIL("compiled without a compiler");
  } catch (const ricci::PlanError& error) {
    CHECK_THAT(error.what(), ContainsSubstring("RICCI_CUDA=ON"));
  }
}
