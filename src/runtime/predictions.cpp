#include "runtime/predictions.hpp"

#include <utility>

#include "kernel/atom_types.hpp"

namespace ricci::runtime {

bool has_points(const ir::Program& program) {
  const auto free = program.free_indices();
  for (std::size_t q = 0; q < free.size(); ++q) {
    if (free[q] && program.indices[q].extent == 0) return false;
  }
  return true;
}

std::string form_of(const ir::Program& program) {
  std::string form;
  form.reserve(1024);
  const auto add = [&](const auto& value) {
    form.append(reinterpret_cast<const char*>(&value), sizeof value);  // NOLINT(*-reinterpret-cast)
  };
  const auto add_affine = [&](const ir::Affine& affine) {
    for (const auto coefficient : affine.coefficient) add(coefficient);
    add(affine.constant);
  };
  add(program.exact);
  add(program.precision);
  add(program.indices.size());
  for (const auto& index : program.indices) add(index.extent);
  add(program.buffers.size());
  for (const auto& buffer : program.buffers) {
    add(buffer.type);
    add(buffer.written);
    add(buffer.tf32);
    add(buffer.first);
    add(buffer.last);
    add(buffer.alignment);
  }
  add(program.params.size());
  for (const auto& param : program.params) add(param.type);
  add(program.nodes.size());
  for (const auto& node : program.nodes) {
    add(node.kind);
    add(node.op);
    add(node.type);
    add(node.operand);
    add(node.source);
    add(node.offset.coefficient.size());
    add_affine(node.offset);
    add(node.over.size());
    for (const auto q : node.over) add(q);
    add(node.value);
    add(node.integer);
    add(node.exclusive);
  }
  for (const auto& statement : program.statements) {
    add(statement.buffer);
    add_affine(statement.offset);
    add(statement.value);
    add(statement.step);
  }
  return form;
}

Predictions::Known& Predictions::known(const ir::Program& program) {
  const auto [place, fresh] = known_.try_emplace(form_of(program));
  auto& one = place->second;
  if (!fresh) return one;
  one.canonical = ir::canonicalise(program);
  one.canonical.precision = kernel::effective_precision(one.canonical, precision_, device_.sm);
  one.prediction = &predictions_[form_of(one.canonical)];
  return one;
}

ir::Step Predictions::canonical_step(const ir::Step& step) { return ir::canonical_step(step, canonical(step.program)); }

const plan::Candidate& Predictions::best(const ir::Program& canonical) {
  auto& best = predictions_[form_of(canonical)].best;
  if (!best) best = plan::best_candidate(canonical, device_, kAny, &tiles_);
  return *best;
}

double Predictions::us(const ir::Program& program, double below) {
  auto& one = known(program);
  return us(one.canonical, *one.prediction, below);
}

double Predictions::us_of_canonical(const ir::Program& canonical, double below) {
  return us(canonical, predictions_[form_of(canonical)], below);
}

double Predictions::us(const ir::Program& canonical, Prediction& prediction, double below) {
  if (prediction.best) return prediction.best->predicted_us;
  if (prediction.bound_us >= below) return prediction.us;
  auto made = plan::best_candidate(canonical, device_, below, &tiles_);
  const double us = made.predicted_us;
  if (us < below) {
    prediction.best = std::move(made);
  } else {
    prediction.bound_us = below;
    prediction.us = us;
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
