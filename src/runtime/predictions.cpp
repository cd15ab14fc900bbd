#include "runtime/predictions.hpp"

#include <initializer_list>
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

void add_form(std::string& form, const ir::Program& program) {
  const auto add = [&](const auto* values, std::size_t count) {
    form.append(reinterpret_cast<const char*>(values), count * sizeof *values);  // NOLINT(*-reinterpret-cast)
  };
  const auto add_numbers = [&](std::initializer_list<std::int64_t> numbers) { add(numbers.begin(), numbers.size()); };
  const auto number = [](auto value) { return static_cast<std::int64_t>(value); };
  const auto add_affine = [&](const ir::Affine& affine) {
    add_numbers({affine.constant, number(affine.coefficient.size())});
    add(affine.coefficient.data(), affine.coefficient.size());
  };
  add_numbers({program.exact, number(program.precision), number(program.indices.size()), number(program.buffers.size()),
               number(program.params.size()), number(program.nodes.size())});
  for (const auto& index : program.indices) add(&index.extent, 1);
  for (const auto& buffer : program.buffers) {
    add_numbers({number(buffer.type), buffer.written, buffer.tf32, buffer.first, buffer.last, buffer.alignment});
  }
  for (const auto& param : program.params) add(&param.type, 1);
  for (const auto& node : program.nodes) {
    const double value[] = {node.value.real(), node.value.imag()};
    add_numbers({number(node.kind), number(node.op), number(node.type), node.operand[0], node.operand[1],
                 node.operand[2], node.source, node.exclusive, number(node.integer), number(node.over.size())});
    add(node.over.data(), node.over.size());
    add(value, 2);
    add_affine(node.offset);
  }
  for (const auto& statement : program.statements) {
    add_numbers({statement.buffer, statement.value, statement.step});
    add_affine(statement.offset);
  }
}

const std::string& Predictions::form_of(const ir::Program& program) {
  form_.clear();
  add_form(form_, program);
  return form_;
}

Predictions::Known& Predictions::known(const ir::Program& program) {
  const auto [place, fresh] = known_.try_emplace(form_of(program));
  auto& one = place->second;
  if (!fresh) return one;
  one.canonical = ir::canonicalise(program);
  one.canonical.precision = kernel::effective_precision(one.canonical, precision_, device_.sm);
  one.prediction = &prediction(one.canonical);
  return one;
}

ir::Step Predictions::canonical_step(const ir::Step& step) { return ir::canonical_step(step, canonical(step.program)); }

plan::WeighedCandidate& Predictions::weighed(const ir::Program& canonical) {
  auto& best = prediction(canonical).best;
  if (!best) best = plan::weighed_candidate(canonical, device_, kAny, tiles_);
  return *best;
}

const plan::Candidate* Predictions::find_best(const ir::Program& canonical) {
  const auto place = predictions_.find(form_of(canonical));
  return place != predictions_.end() && place->second.best ? &place->second.best->whole() : nullptr;
}

double Predictions::us(const ir::Program& program, double below) {
  auto& one = known(program);
  return us(one.canonical, *one.prediction, below);
}

double Predictions::us_of_canonical(const ir::Program& canonical, double below) {
  return us(canonical, prediction(canonical), below);
}

double Predictions::us(const ir::Program& canonical, Prediction& prediction, double below) {
  if (prediction.best) return prediction.best->predicted_us;
  if (prediction.bound_us >= below) return prediction.us;
  auto made = plan::weighed_candidate(canonical, device_, below, tiles_);
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
