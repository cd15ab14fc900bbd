// The programs of examples/programs as texts: they read back what they print, and their sums are factorised.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ricci/ricci.hpp"

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> program_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(RICCI_PROGRAMS_DIR)) {
    if (entry.path().extension() == ".ricci") files.push_back(entry.path());
  }
  return files;
}

ricci::Program read(const fs::path& file) {
  std::ifstream in(file);
  REQUIRE(in);
  return ricci::Program::parse(std::string(std::istreambuf_iterator<char>(in), {}));
}

}  // namespace

TEST_CASE("Every program of the examples reads back what it prints") {
  const auto files = program_files();
  REQUIRE(files.size() >= 28);
  for (const auto& file : files) {
    INFO(file);
    const auto program = read(file);
    CHECK(program.name() == file.stem());
    const auto text = program.print();
    CHECK(ricci::Program::parse(text).print() == text);
  }
}

TEST_CASE("Sums of products are factorised to the operations counted by hand") {
  struct Counts {
    double written, performed;
  };
  // Per point. Written: every product and sum as it stands. Performed: products of what does not depend on a sum's
  // index taken out of it, one contraction after the other, equal terms once.
  const std::map<std::string, Counts> wanted = {
      {"eq06", {18 * 12, 144}},  // the bracket of 3 values of l once for each of i
      {"eq16", {9, 9}},          //
      {"eq17", {54, 9 + 27}},    // B C once
      {"eq18", {243, 9 + 27 + 81}},
      {"eq19", {81 * 5, 81 * 5}},
      {"eq20", {81 * 26, 2 * 81 * 5}},
      {"eq21", {81 * 107, 3 * 81 * 5}},
      {"eq22", {6 * 4, 1 + 6 * 3}},  // 2 alpha once
  };
  for (const auto& [name, counts] : wanted) {
    INFO(name);
    auto program = read(fs::path(RICCI_PROGRAMS_DIR) / "grid" / (name + ".ricci"));
    program.set_extent("x", 1000);
    CHECK(program.flops().written == counts.written);
    CHECK(program.flops().performed == counts.performed);
  }
}

TEST_CASE("The generalised harmonic right-hand side is one kernel without what it need not do") {
  auto program = read(fs::path(RICCI_PROGRAMS_DIR) / "grid/generalized_harmonic.ricci");
  program.set_extent("x", 1000);
  std::int64_t reads = 0;
  std::int64_t writes = 0;
  for (const auto& tensor : program.tensors()) {
    if (tensor.role == ricci::TensorRole::input) reads += tensor.components;
    if (tensor.role == ricci::TensorRole::output) writes += tensor.components;
  }
  CHECK(reads == 223);
  CHECK(writes == 50);
  CHECK(program.flops().performed <= 3207);  // statement by statement and fused by hand, equal terms once
}
