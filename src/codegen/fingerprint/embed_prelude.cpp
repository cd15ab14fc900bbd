// usage: embed_prelude OUTPUT NAME=FILE... -- SOURCE...
//
// A program of the build. Writes the C++ file OUTPUT: each FILE of the prelude as the string prelude::kNAME, and the
// fingerprint of all SOURCEs as generator_version().
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "codegen/fingerprint/fingerprint.hpp"

namespace {

std::string generated(const std::vector<std::string>& arguments) {
  std::string text =
      "// Generated from src/codegen/device; do not edit.\n#include \"codegen/prelude.hpp\"\n#include "
      "\"codegen/source.hpp\"\n\nnamespace ricci::codegen {\nnamespace prelude {\n\n";
  std::size_t at = 0;
  for (; at < arguments.size() && arguments[at] != "--"; ++at) {
    const auto equals = arguments[at].find('=');
    if (equals == std::string::npos) throw std::runtime_error(arguments[at] + ": not NAME=FILE");
    const auto name = arguments[at].substr(0, equals);
    const auto content = ricci::codegen::read_text(arguments[at].substr(equals + 1));
    text.append("extern const char* const k").append(name).append(";\nconst char* const k").append(name);
    text.append(" = R\"prelude(").append(content).append(")prelude\";\n\n");
  }
  if (at + 1 >= arguments.size()) throw std::runtime_error("no sources given after --");
  const std::vector<std::filesystem::path> sources(arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                                   arguments.end());
  return text + "}  // namespace prelude\n\nconst char* generator_version() { return \"" +
         ricci::codegen::fingerprint(sources) + "\"; }\n\n}  // namespace ricci::codegen\n";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 2) throw std::runtime_error("usage: embed_prelude OUTPUT NAME=FILE... -- SOURCE...");
    const auto text = generated({argv + 2, argv + argc});
    std::ofstream out(argv[1], std::ios::binary);
    out << text;
    out.close();
    if (!out) throw std::runtime_error(std::string(argv[1]) + ": cannot be written");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "embed_prelude: %s\n", error.what());
    return 1;
  }
}
