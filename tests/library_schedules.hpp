// Schedules of an einsum that are products of a library.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "ricci/ricci.hpp"

namespace ricci {

/// Their names, in the order of Plan::candidates(). The refusal of a name that no schedule has lists them all and,
/// unlike a plan by the model's choice, compiles nothing.
inline std::vector<std::string> library_schedules(Runtime& runtime, const std::string& spec,
                                                  const std::vector<Layout>& inputs, const Layout& output,
                                                  EinsumOptions options) {
  options.schedule = "none of these";
  std::vector<std::string> names;
  try {
    (void)runtime.plan_einsum(spec, inputs, output, options);
  } catch (const PlanError& refusal) {
    std::istringstream lines(refusal.what());
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind("  gemm", 0) == 0) names.push_back(line.substr(2));
    }
    if (std::string(refusal.what()).find("no schedule \"none of these\"") == std::string::npos) throw;
  }
  return names;
}

}  // namespace ricci
