#include "lower/einsum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "ir/builder.hpp"
#include "ricci/error.hpp"

namespace ricci::ir {

Storage storage_of(std::string name, Role role, const Layout& layout) {
  const auto reach = reach_of(layout);
  return {std::move(name), role,       layout.type,
          reach.first,     reach.last, std::max(layout.alignment, size_of(layout.type))};
}

namespace {

bool conjugates(const EinsumProblem& problem, std::size_t operand) {
  return operand < problem.conjugate.size() && problem.conjugate[operand] && is_complex(problem.inputs[operand].type);
}

/// The loops of an einsum, and the access of each tensor.
class Loops {
 public:
  explicit Loops(const EinsumProblem& problem) : spec_(problem.spec) {
    // The output's axes first, in its order: the rest is summed over.
    for (std::size_t k = 0; k < spec_.output.size(); ++k) add(spec_.output[k].name, problem.output.extents[k]);
    // A factor 0 removes the operands and their loops.
    for (std::size_t t = 0; t < problem.inputs.size() && problem.alpha != Factor::zero; ++t) {
      for (std::size_t k = 0; k < spec_.operands[t].size(); ++k) {
        add(spec_.operands[t][k].name, problem.inputs[t].extents[k]);
      }
    }
    std::int64_t points = 1;
    const bool empty = std::any_of(indices_.begin(), indices_.end(), [](const LoopIndex& i) { return i.extent == 0; });
    for (const auto& index : indices_) {
      constexpr auto kLimit = std::int64_t{1} << 62;
      if (empty || (!__builtin_mul_overflow(points, index.extent, &points) && points <= kLimit)) continue;
      throw ShapeError(fmt::format("the loops over all axes of \"{}\" have more than 2^62 points", spec_.text));
    }
  }

  /// The indices, renamed where a name is in `taken`.
  std::vector<LoopIndex> indices(const std::vector<std::string>& taken) const {
    auto named = indices_;
    const auto is_taken = [&](const std::string& name) {
      return std::find(taken.begin(), taken.end(), name) != taken.end();
    };
    for (auto& index : named) {
      if (!is_taken(index.name)) continue;
      auto free = index.name + '_';
      while (place_.contains(free) || is_taken(free)) free += '_';
      index.name = std::move(free);
    }
    return named;
  }

  /// Axes of extent 1 are broadcast over longer loops; the strides of a repeated axis are added.
  Affine access(const Spec::Term& term, const Layout& layout) const {
    Affine affine;
    affine.coefficient.resize(indices_.size());
    for (std::size_t k = 0; k < term.size(); ++k) {
      const auto q = place_.at(term[k].name);
      if (layout.extents[k] == indices_[q].extent) affine.coefficient[q] += layout.strides[k];
    }
    return affine;
  }

  /// Summed indices, without those of extent 1.
  std::vector<int> summed() const {
    std::vector<int> over;
    for (std::size_t q = spec_.output.size(); q < indices_.size(); ++q) {
      if (indices_[q].extent != 1) over.push_back(static_cast<int>(q));
    }
    return over;
  }

 private:
  void add(const std::string& name, std::int64_t extent) {
    const auto [place, fresh] = place_.try_emplace(name, indices_.size());
    if (fresh) {
      indices_.push_back({name, extent});
    } else if (indices_[place->second].extent == 1) {
      indices_[place->second].extent = extent;  // the first that was seen is broadcast
    }
  }

  const Spec& spec_;
  std::vector<LoopIndex> indices_;
  std::map<std::string, std::size_t> place_;
};

/// The type of products: real if all operands are.
DType product_type(const EinsumProblem& problem) {
  const bool complex = std::any_of(problem.inputs.begin(), problem.inputs.end(),
                                   [](const Layout& layout) { return is_complex(layout.type); });
  return complex ? compute_type(problem) : part_type(compute_type(problem));
}

/// The product of the operands, real ones first, so that few multiplications are complex.
NodeId product(Builder& builder, const std::vector<NodeId>& operands, DType type) {
  NodeId value = -1;
  for (const bool complex : {false, true}) {
    for (const auto operand : operands) {
      if (is_complex(builder.node(operand).type) != complex) continue;
      const auto own = complex ? type : part_type(type);
      if (value >= 0) value = builder.cast(value, own);
      const auto factor = builder.cast(operand, own);
      value = value < 0 ? factor : builder.op(OpCode::mul, own, value, factor);
    }
  }
  return value;
}

/// Of a problem that was checked, without ellipses.
Program lowered(const EinsumProblem& problem) {
  const auto& spec = problem.spec;
  const auto operands = problem.inputs.size();
  const Loops loops(problem);
  const auto over = loops.summed();

  Builder builder;
  auto& program = builder.program;
  program.exact = operands == 1 && over.empty();
  std::vector<std::string> taken{"alpha", "beta"};
  const auto output = operands + (problem.addend ? 1 : 0);
  for (std::size_t k = 0; k <= output; ++k) taken.push_back(operand_name(k));
  program.indices = loops.indices(taken);
  const auto buffer = [&](std::size_t k, const Layout& layout, bool written) {
    const auto reach = reach_of(layout);
    program.buffers.push_back({operand_name(k), layout.type, written, reach.first, reach.last,
                               std::max(layout.alignment, size_of(layout.type))});
    return static_cast<int>(k);
  };
  for (std::size_t k = 0; k < operands; ++k) buffer(k, problem.inputs[k], false);
  if (problem.addend) buffer(operands, *problem.addend, false);
  const int result = buffer(output, problem.output, true);
  const auto to = loops.access(spec.output, problem.output);

  const auto type = compute_type(problem);
  const auto scaled = [&](const char* name, Factor factor, NodeId value) {
    if (factor != Factor::any) return value;
    program.params.push_back({name, type});
    const auto param = builder.param(static_cast<int>(program.params.size()) - 1);
    return builder.op(OpCode::scale, type, param, builder.cast(value, type));
  };
  NodeId value = -1;
  if (problem.alpha != Factor::zero) {
    std::vector<NodeId> values;
    for (std::size_t k = 0; k < operands; ++k) {
      auto load = builder.load(static_cast<int>(k), loops.access(spec.operands[k], problem.inputs[k]));
      if (conjugates(problem, k)) load = builder.op(OpCode::conj, problem.inputs[k].type, load);
      values.push_back(load);
    }
    // A copy converts directly to the output's type.
    value = program.exact ? values.front()
                          : builder.reduce(OpCode::add, product(builder, values, product_type(problem)), over);
    value = scaled("alpha", problem.alpha, value);
  }
  if (problem.beta != Factor::zero) {
    auto load = problem.addend ? builder.load(static_cast<int>(operands), loops.access(spec.output, *problem.addend))
                               : builder.load(result, to);
    if (problem.conjugate_addend && is_complex(builder.node(load).type)) {
      load = builder.op(OpCode::conj, builder.node(load).type, load);
    }
    const auto old = scaled("beta", problem.beta, load);
    value = value < 0 ? old : builder.op(OpCode::add, type, builder.cast(value, type), builder.cast(old, type));
  }
  if (value < 0) value = builder.constant(0, type);
  builder.store(result, to, builder.cast(value, problem.output.type));
  return builder.finish();
}

/// What an einsum reads and writes.
Sequence with_storages(const EinsumProblem& problem) {
  const auto operands = problem.inputs.size();
  Sequence sequence;
  for (std::size_t k = 0; k < operands; ++k) {
    sequence.storages.push_back(storage_of(operand_name(k), Role::input, problem.inputs[k]));
  }
  if (problem.addend) {
    sequence.storages.push_back(storage_of(operand_name(operands), Role::input, *problem.addend));
  }
  sequence.storages.push_back(storage_of(operand_name(sequence.storages.size()), Role::output, problem.output));
  return sequence;
}

void add_step(Sequence& sequence, const EinsumProblem& step, std::vector<int> storages) {
  auto program = lowered(step);
  std::vector<int> params;
  for (const auto& param : program.params) {
    params.push_back(static_cast<int>(sequence.params.size()));
    sequence.params.push_back(param);  // only the last step has any
  }
  sequence.steps.push_back({std::move(program), std::move(storages), std::move(params)});
}

Sequence in_one_step(const EinsumProblem& problem) {
  auto sequence = with_storages(problem);
  std::vector<int> storages(sequence.storages.size());
  std::iota(storages.begin(), storages.end(), 0);
  add_step(sequence, problem, std::move(storages));
  return sequence;
}

/// The same, along a path.
Sequence lowered(const EinsumProblem& problem, const Path& path) {
  if (path.steps.size() == 1) return in_one_step(problem);
  const auto operands = problem.inputs.size();
  auto sequence = with_storages(problem);
  const int output = static_cast<int>(sequence.storages.size()) - 1;
  const auto squeezed = squeeze(problem);
  std::vector<Layout> layouts = squeezed.inputs;  // of operands, then of each step's result
  std::vector<int> storages;
  for (std::size_t k = 0; k < operands; ++k) storages.push_back(static_cast<int>(k));
  int intermediates = 0;
  for (const auto& planned : path.steps) {
    const bool last = &planned == &path.steps.back();
    EinsumProblem step;
    step.spec = planned.spec;
    step.precision = problem.precision;
    std::map<std::string, std::int64_t> extents;
    std::vector<int> used;
    for (std::size_t k = 0; k < planned.operands.size(); ++k) {
      const auto operand = static_cast<std::size_t>(planned.operands[k]);
      step.inputs.push_back(layouts[operand]);
      step.conjugate.push_back(operand < operands && conjugates(problem, operand));
      used.push_back(storages[operand]);
      for (std::size_t j = 0; j < step.spec.operands[k].size(); ++j) {
        extents[step.spec.operands[k][j].name] = step.inputs.back().extents[j];
      }
    }
    if (last) {
      step.output = squeezed.output;
      step.alpha = problem.alpha;
      step.beta = problem.beta;
      step.addend = squeezed.addend;
      step.conjugate_addend = problem.conjugate_addend;
      if (step.addend) used.push_back(static_cast<int>(operands));
    } else {
      std::vector<std::int64_t> shape;
      for (const auto& axis : step.spec.output) shape.push_back(extents.at(axis.name));
      step.output = Layout::row_major(planned.type, std::move(shape));
      step.output.alignment = 256;
    }
    int to = output;
    if (!last) {
      to = static_cast<int>(sequence.storages.size());
      sequence.storages.push_back(storage_of(fmt::format("W{}", ++intermediates), Role::workspace, step.output));
    }
    layouts.push_back(step.output);
    storages.push_back(to);
    used.push_back(to);
    add_step(sequence, step, std::move(used));
  }
  return sequence;
}

}  // namespace

Program lower(const EinsumProblem& problem) {
  check(problem);
  return lowered(expand(problem));
}

Sequence lower_einsum(const EinsumProblem& problem, const Path& path) {
  check(problem);
  return lowered(expand(problem), path);
}

Sequence lower_einsum(const EinsumProblem& problem, const PathOptions& options) {
  if (problem.inputs.size() <= 2) {
    check(problem);
    if (has_one_path(problem)) return in_one_step(expand(problem));
  }
  const auto path = find_path(problem, options);  // checks it
  return lowered(expand(problem), path);
}

}  // namespace ricci::ir
