#include "options.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

namespace examples {

Options::Options(int argc, char** argv, const std::string& usage, std::map<std::string, std::string> defaults)
    : values_(std::move(defaults)) {
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const auto known = word.starts_with("--") ? values_.find(word.substr(2)) : values_.end();
    if (known != values_.end() && k + 1 < argc) {
      known->second = argv[++k];
      continue;
    }
    const bool help = word == "--help";
    std::FILE* out = help ? stdout : stderr;
    if (!help) std::fprintf(out, "not understood: %s\n", word.c_str());
    std::fprintf(out, "%s\noptions and defaults:\n", usage.c_str());
    for (const auto& [name, value] : values_) std::fprintf(out, "  --%s %s\n", name.c_str(), value.c_str());
    std::exit(help ? 0 : 2);
  }
}

std::int64_t Options::number(const std::string& name) const {
  const std::string& value = text(name);
  char* end = nullptr;
  const long long number = std::strtoll(value.c_str(), &end, 10);
  if (end == value.c_str() || *end != '\0' || number < 1) {
    std::fprintf(stderr, "--%s takes a number from 1, not '%s'\n", name.c_str(), value.c_str());
    std::exit(2);
  }
  return number;
}

ricci::Device Options::device() const {
  const std::string& value = text("device");
  if (value == "cpu") return ricci::Device::cpu;
  if (value == "gpu") return ricci::Device::gpu;
  std::fprintf(stderr, "--device takes cpu or gpu, not '%s'\n", value.c_str());
  std::exit(2);
}

int run_example(int argc, char** argv, const std::string& usage, std::map<std::string, std::string> defaults,
                int (*run)(const Options&)) {
  try {
    return run(Options(argc, argv, usage, std::move(defaults)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace examples
