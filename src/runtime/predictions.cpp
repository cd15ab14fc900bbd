#include "runtime/predictions.hpp"

#include "kernel/atom_types.hpp"

namespace ricci::runtime {

bool has_points(const ir::Program& program) {
  const auto free = program.free_indices();
  for (std::size_t q = 0; q < free.size(); ++q) {
    if (free[q] && program.indices[q].extent == 0) return false;
  }
  return true;
}

ir::Canonical Predictions::canonical(const ir::Program& program) const {
  auto canonical = ir::canonicalise(program);
  canonical.precision = kernel::effective_precision(canonical, precision_, device_.sm);
  return canonical;
}

const plan::Candidate& Predictions::best(const ir::Program& canonical, const std::string& text) {
  const auto known = best_.find(text);
  if (known != best_.end()) return known->second;
  return best_.emplace(text, plan::best_candidate(canonical, device_)).first->second;
}

double Predictions::us(const ir::Program& program) {
  const auto canonical = this->canonical(program);
  return best(canonical, ir::print(canonical)).predicted_us;
}

double Predictions::us(const ir::Sequence& sequence) {
  double us = 0;
  for (const auto& step : sequence.steps) {
    if (has_points(step.program)) us += this->us(step.program);
  }
  return us;
}

}  // namespace ricci::runtime
