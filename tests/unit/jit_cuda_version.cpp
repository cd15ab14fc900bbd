// The compiler's version belongs to every key, so a warm process asks for it: that must not map NVRTC.
#include <fstream>
#include <iterator>
#include <string>

#include "catch.hpp"
#include "jit/cuda_compiler.hpp"
#include "jit/nvrtc_library.hpp"

namespace jit_cuda_version_test {

namespace {

std::string maps() {
  std::ifstream file("/proc/self/maps");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the version is known without opening NVRTC") {
  if (ricci::jit::found_nvrtc().path.empty()) RICCI_SKIP("no NVRTC");
  REQUIRE(!ricci::jit::found_nvrtc().version.empty());
  const std::string version = ricci::jit::cuda_compiler_version();
  CHECK(version == "nvrtc " + ricci::jit::found_nvrtc().version);
  CHECK(!ricci::jit::Nvrtc::is_open());
  CHECK(maps().find("libnvrtc") == std::string::npos);

  // The same text after it was opened, and that NVRTC's own number agrees with it.
  const ricci::jit::Nvrtc& nvrtc = ricci::jit::Nvrtc::get();
  CHECK(ricci::jit::Nvrtc::is_open());
  CHECK(maps().find("libnvrtc") != std::string::npos);
  int major = 0, minor = 0;
  CHECK(nvrtc.call.version(&major, &minor) == 0);
  CHECK(version.rfind("nvrtc " + std::to_string(major) + "." + std::to_string(minor) + ".", 0) == 0);
  CHECK(ricci::jit::cuda_compiler_version() == version);
}

}  // namespace jit_cuda_version_test
