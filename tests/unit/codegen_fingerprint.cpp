// The generator's fingerprint: what an edit of its sources may and may not change.
#include "codegen/fingerprint/fingerprint.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "codegen/source.hpp"
#include "temporary_folder.hpp"

namespace fs = std::filesystem;
using ricci::codegen::fingerprint;
using ricci::codegen::read_text;
using ricci::codegen::tokens;

namespace {

/// The sources that the build takes: see src/codegen/CMakeLists.txt.
std::vector<fs::path> generator_sources(const fs::path& root) {
  std::vector<fs::path> found;
  for (const char* room : {"ir", "kernel", "plan", "codegen"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / "src" / room)) {
      const auto suffix = entry.path().extension();
      if (suffix == ".cpp" || suffix == ".hpp" || suffix == ".cuh") found.push_back(entry.path());
    }
  }
  return found;
}

void write(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

fs::path find(const std::vector<fs::path>& files, const std::string& name) {
  const auto at = std::find_if(files.begin(), files.end(), [&](const auto& file) { return file.filename() == name; });
  REQUIRE(at != files.end());
  return *at;
}

}  // namespace

TEST_CASE("comments and layout are no tokens", "[fingerprint]") {
  const auto text = tokens("int f(int a) { return a + 1; }");
  CHECK(text == "int\nf\n(\nint\na\n)\n{\nreturn\na\n+\n1\n;\n}\n");
  CHECK(tokens("// one\nint f(int a) {  // two \\\n three\n  return a /* four\n */ + 1;\n}\n") == text);
  CHECK(tokens("#include \"here/a.hpp\"\n# include <b>\nint\r\n\tf ( int a ){return a+\\\n1;}") == text);
  CHECK(tokens("int f(int a) { return a + 2; }") != text);
  CHECK(tokens("int f(int a) { return a + + 1; }") != tokens("int f(int a) { return a ++ 1; }"));
  CHECK(tokens("int fa, b;") != tokens("int f, ab;"));
}

TEST_CASE("what looks like a comment inside a literal is text", "[fingerprint]") {
  CHECK(tokens("f(\"a // b\", c);") == "f\n(\n\"a // b\"\n,\nc\n)\n;\n");
  CHECK(tokens("f(\"a // b\");") != tokens("f(\"a // c\");"));
  CHECK(tokens("f(\"a  b\");") != tokens("f(\"a b\");"));
  CHECK(tokens("f(\"\\\"/*\"); g('\"'); /* \" */ h(1'000'000, 1e-3);") ==
        "f\n(\n\"\\\"/*\"\n)\n;\ng\n(\n'\"'\n)\n;\nh\n(\n1'000'000\n,\n1e-3\n)\n;\n");
  CHECK(tokens("R\"x(a // \" )\" b\n)x\" // c\n;") == "R\"x(a // \" )\" b\n)x\"\n;\n");
  CHECK(tokens("R\"(a\nb)\"") != tokens("R\"(a b)\""));
  CHECK(tokens("\"#include\"\n") == "\"#include\"\n");
}

TEST_CASE("lines matter to directives", "[fingerprint]") {
  CHECK(tokens("#define A 1 // one\nint b;") == tokens("#define  A  1\n\n  int b;"));
  CHECK(tokens("#define A 1\nint b;") == tokens("#define A \\\n 1\nint b;"));
  CHECK(tokens("#define A 1\nint b;") != tokens("#define A\n1 int b;"));
  CHECK(tokens("#define A(x) x\n") != tokens("#define A (x) x\n"));
}

TEST_CASE("edits of the generator's sources", "[fingerprint]") {
  const ricci::tests::TemporaryFolder folder;
  fs::create_directory(folder / "src");
  for (const char* room : {"ir", "kernel", "plan", "codegen"}) {
    fs::copy(fs::path(RICCI_SOURCE_DIR) / "src" / room, folder / "src" / room, fs::copy_options::recursive);
  }
  const auto files = generator_sources(folder.path());
  REQUIRE(files.size() > 50);
  // The key of every kernel and of every tuning begins with this, and holds nothing else of the sources.
  const std::string built = ricci::codegen::generator_version();
  REQUIRE(fingerprint(files) == built);

  SECTION("an edit of comments and layout keeps it") {
    for (const auto& file : files) {
      write(file, "/* about\n   this file */\n\n" + read_text(file) + "\n\t// The end.\n");
    }
    CHECK(fingerprint(files) == built);
    const auto emitter = find(files, "emit_kernel.cpp");
    auto text = read_text(emitter);
    const auto comment = text.find("//");
    REQUIRE(comment != std::string::npos);
    write(emitter, text.insert(comment + 2, " Another word."));
    CHECK(fingerprint(files) == built);
  }
  SECTION("an edit of a token changes it") {
    for (const char* name : {"verify.cpp", "moves.hpp", "cost_cuda.cpp", "emit_kernel.cpp", "half.cuh"}) {
      const auto file = find(files, name);
      const auto text = read_text(file);
      write(file, text + ";\n");
      CHECK(fingerprint(files) != built);
      write(file, text);
    }
    CHECK(fingerprint(files) == built);
  }
  SECTION("a file that is moved keeps it, one that is gone does not") {
    const auto file = find(files, "verify.cpp");
    fs::create_directories(folder / "src/ir/room/inner");
    fs::rename(file, folder / "src/ir/room/inner/renamed.cpp");
    write(folder / "src/ir/room/inner/renamed.cpp",
          "#include \"ir/room/inner/renamed.hpp\"\n" + read_text(folder / "src/ir/room/inner/renamed.cpp"));
    CHECK(fingerprint(generator_sources(folder.path())) == built);
    fs::remove(folder / "src/ir/room/inner/renamed.cpp");
    CHECK(fingerprint(generator_sources(folder.path())) != built);
  }
}
