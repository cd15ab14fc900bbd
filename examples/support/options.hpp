// Words of a command line: `--name value`.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ricci/ricci.hpp"

namespace examples {

/// Reads `--name value` for the names that have a default. `--help` prints `usage` and the defaults and ends the
/// program well; anything else that is not understood ends it with status 2.
class Options {
 public:
  Options(int argc, char** argv, const std::string& usage, std::map<std::string, std::string> defaults);

  const std::string& text(const std::string& name) const { return values_.at(name); }
  std::int64_t number(const std::string& name) const;  ///< at least 1
  ricci::Device device() const;                        ///< of `--device cpu|gpu`

 private:
  std::map<std::string, std::string> values_;
};

/// main() of an example: `run` with its options. What it throws is printed, and ends the program with status 1.
int run_example(int argc, char** argv, const std::string& usage, std::map<std::string, std::string> defaults,
                int (*run)(const Options&));

}  // namespace examples
