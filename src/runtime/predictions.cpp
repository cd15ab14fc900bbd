#include "runtime/predictions.hpp"

#include <algorithm>
#include <bit>
#include <climits>
#include <utility>

#include "kernel/atom_types.hpp"

namespace ricci::runtime {

bool has_points(const ir::Program& program) {
  const auto is_empty = [](const ir::LoopIndex& index) { return index.extent == 0; };
  if (std::none_of(program.indices.begin(), program.indices.end(), is_empty)) return true;
  const auto free = program.free_indices();
  for (std::size_t q = 0; q < free.size(); ++q) {
    if (free[q] && program.indices[q].extent == 0) return false;
  }
  return true;
}

namespace {

/// Numbers that the form of a program has at most.
std::size_t most_of(const ir::Program& program) {
  constexpr std::size_t kHead = 3, kBuffer = 4, kNode = 5, kStatement = 3;
  const auto loops = program.indices.size();
  return kHead + loops + kBuffer * program.buffers.size() + program.params.size() +
         (kNode + loops) * program.nodes.size() + (kStatement + loops) * program.statements.size();
}

}  // namespace

void add_form(Form& form, const ir::Program& program) {
  auto size = form.size();
  form.resize(size + most_of(program));
  const auto add = [&](auto value) { form[size++] = static_cast<std::uint64_t>(value); };
  const auto add_two = [&](auto low, auto high) {
    constexpr int kHalf = 32;
    add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(low)) |
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << kHalf);
  };
  // Of flags, kinds, operations and types, which are a byte each.
  const auto add_bytes = [&](auto... value) {
    std::uint64_t bytes = 0;
    ((bytes = bytes << CHAR_BIT | static_cast<std::uint8_t>(value)), ...);
    add(bytes);
  };
  const auto add_affine = [&](const ir::Affine& affine) {
    add(affine.constant);
    for (const auto coefficient : affine.coefficient) add(coefficient);
  };
  add_bytes(program.exact, program.precision);
  add_two(program.indices.size(), program.buffers.size());
  add_two(program.params.size(), program.nodes.size());
  for (const auto& index : program.indices) add(index.extent);
  for (const auto& buffer : program.buffers) {
    add_bytes(buffer.type, buffer.written, buffer.tf32);
    add(buffer.first);
    add(buffer.last);
    add(buffer.alignment);
  }
  for (const auto& param : program.params) add_bytes(param.type);
  for (const auto& node : program.nodes) {
    add_bytes(node.kind, node.op, node.type, node.exclusive);
    add_two(node.source, node.over.size());
    switch (node.kind) {
      case ir::NodeKind::load:
        add_affine(node.offset);
        break;
      case ir::NodeKind::constant:
        add(node.integer);
        add(std::bit_cast<std::uint64_t>(node.value.real()));
        add(std::bit_cast<std::uint64_t>(node.value.imag()));
        break;
      case ir::NodeKind::param:
      case ir::NodeKind::index:
        break;
      default:
        add_two(node.operand[0], node.operand[1]);
        add(node.operand[2]);
        for (const int q : node.over) add(q);
    }
  }
  for (const auto& statement : program.statements) {
    add_two(statement.buffer, statement.value);
    add(statement.step);
    add_affine(statement.offset);
  }
  form.resize(size);
}

std::size_t HashOfForm::operator()(const Form& form) const noexcept {
  std::size_t hash = form.size();
  for (const auto number : form) {
    hash = (hash ^ number) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32;
  }
  return hash;
}

const Form& Predictions::form_of(const ir::Program& program) {
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

double Predictions::us(std::span<const ir::Step> steps, double below) {
  double us = 0;
  for (const auto& step : steps) {
    if (us >= below) break;
    if (has_points(step.program)) us += this->us(step.program, below - us);
  }
  return us;
}

}  // namespace ricci::runtime
