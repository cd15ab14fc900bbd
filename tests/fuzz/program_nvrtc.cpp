// Random programs through NVRTC, which takes less than Clang does; needs no device.
#include "catch.hpp"
#include "fuzz/kernel_case.hpp"
#include "ricci/error.hpp"

namespace program_nvrtc_test {

using namespace ricci;

TEST_CASE("NVRTC takes random programs") {
  if (jit::cuda_compiler_version().empty()) RICCI_SKIP("no NVRTC");
  const auto failure = [](std::uint64_t seed, fuzz::Kind kind) -> std::string {
    const auto made = fuzz::kernel_case(seed, kind, plan::GpuModel::of_capability(90));
    if (!made) return {};
    try {
      return made->cubin(90).cubin.empty() ? made->told("nothing was compiled") : std::string();
    } catch (const CompileError& error) {
      return made->told(error.what() + error.log());
    }
  };
  fuzz::check_seeds(800001, 10, "NVRTC", failure, 2);
}

}  // namespace program_nvrtc_test
