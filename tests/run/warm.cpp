// A process whose kernel is on disk opens no compiler: not Clang, not LLVM, not NVRTC, not the driver.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "catch.hpp"
#include "jit/cuda_compiler.hpp"

namespace {

/// What a process of the helper prints, in a cache directory.
std::string output_of(const std::string& cache, const std::string& argument) {
  const auto command = "RICCI_CACHE_DIR='" + cache + "' '" RICCI_WARM_HELPER "' " + argument;
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char buffer[256];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
  CHECK(pclose(pipe) == 0);
  return text;
}

struct FreshCache {
  FreshCache() {
    char path[] = "/tmp/ricci-warm-XXXXXX";
    REQUIRE(mkdtemp(path) != nullptr);
    folder = path;
  }
  ~FreshCache() {
    std::error_code error;
    std::filesystem::remove_all(folder, error);
  }
  std::string folder;
};

}  // namespace

#ifdef RICCI_TEST_CPU
TEST_CASE("the second process finds its CPU kernel on disk and maps no compiler") {
  const FreshCache cache;
  const auto cold = output_of(cache.folder, "cpu");
  CHECK(cold.rfind("compiled\n", 0) == 0);
  CHECK_THAT(cold, Catch::Matchers::ContainsSubstring("libricci-clang\n"));  // so that the next line means something
  CHECK(output_of(cache.folder, "cpu") == "disk\n");
}
#endif

TEST_CASE("the second process finds its CUDA kernel on disk and maps neither NVRTC nor the driver") {
  if (ricci::jit::cuda_compiler_version().empty()) RICCI_SKIP("no NVRTC");
  const FreshCache cache;
  const auto cold = output_of(cache.folder, "sm_90");
  CHECK(cold.rfind("compiled\n", 0) == 0);
  CHECK_THAT(cold, Catch::Matchers::ContainsSubstring("libnvrtc\n"));
  CHECK(output_of(cache.folder, "sm_90") == "disk\n");
}
