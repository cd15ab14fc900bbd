// Disassembly by whatever tool there is: stand-ins, so that it is tested where NVIDIA's are not installed.
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "jit/cuda_compiler.hpp"
#include "temporary_folder.hpp"

namespace jit_cuda_disassemble_test {

namespace fs = std::filesystem;
using ricci::jit::disassemble_cubin;

namespace {

class Tools {
 public:
  Tools() {
    fs::create_directories(folder_ / "bin");
    fs::create_directories(folder_ / "tmp");
    ::setenv("TMPDIR", (folder_ / "tmp").c_str(), 1);
    ::setenv("PATH", (folder_ / "bin").c_str(), 1);
  }
  ~Tools() { ::unsetenv("TMPDIR"); }
  void add(const std::string& name, const std::string& script) const {
    std::ofstream(folder_ / "bin" / name) << "#!/bin/sh\n" << script << "\n";
    REQUIRE(::chmod((folder_ / "bin" / name).c_str(), 0700) == 0);
  }
  bool left_files() const { return !fs::is_empty(folder_ / "tmp"); }
  void lose_temporary_folder() const { fs::remove(folder_ / "tmp"); }

 private:
  ricci::tests::TemporaryFolder folder_;
};

std::vector<std::byte> image(const std::string& text) {
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

}  // namespace

TEST_CASE("the first tool that succeeds gives the text") {
  const Tools tools;
  // Reads with the shell alone: PATH holds nothing else.
  const std::string print = "read -r line < \"$2\"; echo \"$0 $1 $line\"; echo noise >&2";
  tools.add("cuobjdump", print);
  CHECK_THAT(disassemble_cubin(image("content\n")), Catch::Matchers::EndsWith("bin/cuobjdump -sass content\n"));
  tools.add("nvdisasm", "echo half a listing; exit 1");
  CHECK_THAT(disassemble_cubin(image("content\n")), Catch::Matchers::EndsWith("bin/cuobjdump -sass content\n"));
  tools.add("nvdisasm", print);
  CHECK_THAT(disassemble_cubin(image("content\n")), Catch::Matchers::EndsWith("bin/nvdisasm -c content\n"));
  CHECK_FALSE(tools.left_files());
  CHECK(disassemble_cubin({}).empty());
}

TEST_CASE("a long listing comes back whole") {
  const Tools tools;
  tools.add("nvdisasm", "i=0; while [ $i -lt 20000 ]; do echo \"line $i of the listing\"; i=$((i+1)); done");
  const std::string text = disassemble_cubin(image("x"));
  CHECK_THAT(text,
             Catch::Matchers::StartsWith("line 0 of") && Catch::Matchers::EndsWith("line 19999 of the listing\n"));
}

TEST_CASE("tools that fail, or no folder for the file, give nothing") {
  const Tools tools;
  tools.add("nvdisasm", "echo half a listing; kill -9 $$");
  tools.add("cuobjdump", "exit 3");
  CHECK(disassemble_cubin(image("x")).empty());
  CHECK_FALSE(tools.left_files());
  tools.add("nvdisasm", "echo listing");
  CHECK(disassemble_cubin(image("x")) == "listing\n");
  tools.lose_temporary_folder();
  CHECK(disassemble_cubin(image("x")).empty());
}

}  // namespace jit_cuda_disassemble_test
