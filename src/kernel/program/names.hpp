// Names of what a kernel declares: each is given once.
#pragma once

#include <map>
#include <string>

#include "ir/program.hpp"

namespace ricci::kernel {

class Names {
 public:
  /// Those of the program's indices, buffers and parameters, and words of the text around the statements, are taken.
  explicit Names(const ir::Program& program);

  /// "sum", then "sum2", "sum3", ...
  std::string fresh(const std::string& stem);

 private:
  std::map<std::string, int> taken_;  // how often each was given
};

}  // namespace ricci::kernel
