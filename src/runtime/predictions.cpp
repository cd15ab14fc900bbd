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
  canonical.precision = precision(canonical);
  return canonical;
}

Precision Predictions::precision(const ir::Program& canonical) const {
  return kernel::effective_precision(canonical, precision_, device_.sm);
}

const plan::Candidate& Predictions::best(const ir::Program& canonical, const std::string& text) {
  const auto known = best_.find(text);
  if (known != best_.end()) return known->second;
  return best_.emplace(text, plan::best_candidate(canonical, device_)).first->second;
}

double Predictions::us(const ir::Program& program, double below) {
  return us_of_canonical(this->canonical(program), below);
}

double Predictions::us_of_canonical(const ir::Program& canonical, double below) {
  const auto text = ir::print(canonical);
  if (const auto known = best_.find(text); known != best_.end()) return known->second.predicted_us;
  const auto slower = not_below_.find(text);
  if (slower != not_below_.end() && slower->second.bound_us >= below) return slower->second.us;
  auto made = plan::best_candidate(canonical, device_, below);
  const double us = made.predicted_us;
  if (us < below) {
    best_.emplace(text, std::move(made));
  } else {
    not_below_.insert_or_assign(text, NotBelow{below, us});
  }
  return us;
}

double Predictions::us(const ir::Sequence& sequence, double below) {
  double us = 0;
  for (const auto& step : sequence.steps) {
    if (us >= below) break;
    if (has_points(step.program)) us += this->us(step.program, below - us);
  }
  return us;
}

}  // namespace ricci::runtime
