// A process whose kernels are on disk opens no compiler: not Clang, not LLVM, not NVRTC, not the driver. Of every kind
// of problem, and with the same results.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "jit/cuda_compiler.hpp"
#include "stored_kernels.hpp"
#include "temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;

/// What a process of the helper printed.
struct Process {
  std::map<std::string, std::string> origins;  ///< per problem
  std::map<std::string, std::string> results;  ///< kernels, workspace and a hash
  std::set<std::string> files;                 ///< that hold its kernels
  std::vector<std::string> mapped;             ///< compilers in its memory
};

Process run(const fs::path& cache, const std::string& target) {
  const auto command =
      "RICCI_CACHE_DIR='" + cache.string() + "' '" RICCI_WARM_HELPER "' " + target + " '" RICCI_PROGRAMS_DIR "'";
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char buffer[256];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
  INFO(text);
  REQUIRE(pclose(pipe) == 0);
  Process process;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const auto line = text.substr(begin, end - begin);
    const auto colon = line.find(": "), comma = line.find(", ");
    if (line.starts_with("/")) {
      process.files.insert(line);
    } else if (line.starts_with("mapped ")) {
      process.mapped.push_back(line.substr(7));
    } else {
      REQUIRE(comma != std::string::npos);
      process.origins[line.substr(0, colon)] = line.substr(colon + 2, comma - colon - 2);
      process.results[line.substr(0, colon)] = line.substr(comma + 2);
    }
  }
  return process;
}

/// The first process fills a new cache with `compiler`; the second does without.
void check_second_process(const std::string& target, const std::string& compiler) {
  const ricci::tests::TemporaryFolder cache;
  const auto cold = run(cache.path(), target);
  CHECK(cold.origins.size() >= 34);
  CHECK(cold.origins.at("permutation") == "compiled");
  CHECK(cold.results.at("einsum of three operands").starts_with("2 kernels, "));
  CHECK_FALSE(cold.results.at("einsum of three operands").starts_with("2 kernels, 0 B"));
  // So that its absence below means something.
  CHECK(std::find(cold.mapped.begin(), cold.mapped.end(), compiler) != cold.mapped.end());
  CHECK(cold.files == ricci::tests::stored_kernels(cache.path()));

  const auto warm = run(cache.path(), target);
  for (const auto& [problem, origin] : warm.origins) {
    INFO(problem);
    CHECK(origin == "disk");
  }
  CHECK(warm.results == cold.results);
  CHECK(warm.mapped == std::vector<std::string>());
  CHECK(warm.files == cold.files);
  CHECK(warm.files == ricci::tests::stored_kernels(cache.path()));
}

}  // namespace

#ifdef RICCI_TEST_CPU
TEST_CASE("the second process finds its CPU kernels on disk and maps no compiler") {
  check_second_process("cpu", "libricci-clang");
}
#endif

TEST_CASE("the second process finds its CUDA kernels on disk and maps neither NVRTC nor the driver") {
  if (ricci::jit::cuda_compiler_version().empty()) RICCI_SKIP("no NVRTC");
  check_second_process("sm_90", "libnvrtc");
}
