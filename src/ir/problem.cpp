#include "ir/problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ricci/error.hpp"

namespace ricci::ir {
namespace {

using Axis = Spec::Axis;

const Axis* find(const Spec::Term& term, const std::string& name) {
  const auto place = std::find_if(term.begin(), term.end(), [&](const Axis& axis) { return axis.name == name; });
  return place == term.end() ? nullptr : &*place;
}

std::size_t position(const Spec::Term& term, const std::string& name) {
  return static_cast<std::size_t>(find(term, name) - term.data());
}

void check_unique(const Spec& spec, const Spec::Term& term, const char* side) {
  for (std::size_t i = 0; i < term.size(); ++i) {
    for (std::size_t j = i + 1; j < term.size(); ++j) {
      if (term[i].name == term[j].name) {
        throw SpecError(fmt::format("axis {} appears twice in the {}; a permutation uses each axis once\n{}",
                                    term[i].name, side, spec.caret({&term[i], &term[j]})));
      }
    }
  }
}

void check_spec(const Spec& spec) {
  if (spec.operands.size() != 1) {
    throw SpecError(
        fmt::format("a permutation has one operand, this spec has {}\n  {}", spec.operands.size(), spec.text));
  }
  const auto& input = spec.operands.front();
  check_unique(spec, input, "input");
  check_unique(spec, spec.output, "output");
  for (const auto& axis : spec.output) {
    if (!find(input, axis.name)) {
      throw SpecError(fmt::format("output axis {} is not an axis of the input\n{}", axis.name, spec.caret({&axis})));
    }
  }
  for (const auto& axis : input) {
    if (!find(spec.output, axis.name)) {
      throw SpecError(fmt::format("input axis {} is missing in the output; a permutation keeps every axis\n{}",
                                  axis.name, spec.caret({&axis})));
    }
  }
  if (input.size() > static_cast<std::size_t>(kMaxRank)) {
    throw SpecError(fmt::format("{} axes; a permutation takes up to {}", input.size(), kMaxRank));
  }
}

void check_layout(const Spec& spec, const Spec::Term& term, const Layout& layout, const char* side) {
  if (layout.extents.size() != layout.strides.size()) {
    throw ShapeError(
        fmt::format("the {} layout has {} extents but {} strides", side, layout.extents.size(), layout.strides.size()));
  }
  if (layout.extents.size() != term.size()) {
    throw ShapeError(fmt::format("the spec gives the {} {} axes, its layout has {}: extents ({})\n  {}", side,
                                 term.size(), layout.extents.size(), fmt::join(layout.extents, ", "), spec.text));
  }
  if (layout.alignment < 0 || (layout.alignment & (layout.alignment - 1)) != 0) {
    throw ShapeError(fmt::format("the {} layout promises an alignment of {} bytes; it must be 0 or a power of two",
                                 side, layout.alignment));
  }
  std::int64_t elements = 1, low = 0, high = 0;
  for (std::size_t k = 0; k < term.size(); ++k) {
    const auto extent = layout.extents[k];
    if (extent < 0) {
      throw ShapeError(fmt::format("axis {} of the {} has extent {}; extents start at 0\n{}", term[k].name, side,
                                   extent, spec.caret({&term[k]})));
    }
    std::int64_t reach = 0;
    const bool overflow =
        (extent > 1 && (__builtin_mul_overflow(layout.strides[k], extent - 1, &reach) ||
                        __builtin_add_overflow(reach < 0 ? low : high, reach, &(reach < 0 ? low : high)))) ||
        (extent > 0 && __builtin_mul_overflow(elements, extent, &elements));
    constexpr auto kLimit = std::int64_t{1} << 58;  // so that byte offsets of 16-byte elements fit 63 bits
    if (overflow || low < -kLimit || high > kLimit) {
      throw ShapeError(fmt::format("the {} reaches past 2^58 elements at axis {} (extent {}, stride {})\n{}", side,
                                   term[k].name, extent, layout.strides[k], spec.caret({&term[k]})));
    }
  }
}

bool converts(DType from, DType to) {
  if (from == to) return true;
  if (is_integer(from) || is_integer(to)) return false;
  return !(is_complex(from) && !is_complex(to));
}

/// Whether two index points of the output share an element. The sorted-reach test proves most layouts free of overlap;
/// the rest are small enough to list, or refused.
bool may_overlap(const Layout& layout) {
  std::vector<std::size_t> axes;
  for (std::size_t k = 0; k < layout.extents.size(); ++k) {
    if (layout.extents[k] == 0) return false;
    if (layout.extents[k] > 1) axes.push_back(k);
  }
  const auto stride = [&](std::size_t k) { return std::abs(layout.strides[k]); };
  std::sort(axes.begin(), axes.end(), [&](auto a, auto b) { return stride(a) < stride(b); });
  std::int64_t reach = 0;
  bool proven = true;
  for (const auto k : axes) {
    if (stride(k) == 0) return true;
    if (stride(k) <= reach) proven = false;
    reach += stride(k) * (layout.extents[k] - 1);
  }
  if (proven) return false;
  constexpr std::int64_t kListed = 1 << 20;
  if (layout.elements() > kListed) return true;
  std::vector<std::int64_t> offsets{0};
  for (const auto k : axes) {
    std::vector<std::int64_t> next;
    for (std::int64_t i = 0; i < layout.extents[k]; ++i) {
      for (const auto offset : offsets) next.push_back(offset + i * stride(k));
    }
    offsets = std::move(next);
  }
  std::sort(offsets.begin(), offsets.end());
  return std::adjacent_find(offsets.begin(), offsets.end()) != offsets.end();
}

}  // namespace

Factor factor_of(Scalar value) noexcept {
  if (value == Scalar(0)) return Factor::zero;
  return value == Scalar(1) ? Factor::one : Factor::any;
}

DType compute_type(DType input, DType output) {
  if (is_integer(output)) return output;
  const bool wide = input == DType::f64 || input == DType::c128 || output == DType::f64 || output == DType::c128;
  if (is_complex(output)) return wide ? DType::c128 : DType::c64;
  return wide ? DType::f64 : DType::f32;
}

void check_factor(const char* which, Scalar value, DType type) {
  if (!is_complex(type) && value.imag() != 0) {
    throw ShapeError(fmt::format("{} = ({}, {}) has an imaginary part, but the output is {}", which, value.real(),
                                 value.imag(), name(type)));
  }
  constexpr double kLimit = 9223372036854775808.0;
  if (is_integer(type) && (value.real() != std::floor(value.real()) || !(std::fabs(value.real()) < kLimit))) {
    throw ShapeError(
        fmt::format("{} = {} is not a whole number below 2^63, but the output is {}", which, value.real(), name(type)));
  }
}

void check(const PermuteProblem& problem) {
  const auto& spec = problem.spec;
  check_spec(spec);
  const auto& in = spec.operands.front();
  check_layout(spec, in, problem.input, "input");
  check_layout(spec, spec.output, problem.output, "output");
  for (std::size_t k = 0; k < spec.output.size(); ++k) {
    const auto& axis = spec.output[k];
    const auto& other = *find(in, axis.name);
    const auto extent = problem.input.extents[position(in, axis.name)];
    if (extent != problem.output.extents[k]) {
      throw ShapeError(
          fmt::format("axis {} has extent {} in the input but {} in the output\n{}\nshapes ({}) and ({}); axes "
                      "with one name must agree",
                      axis.name, extent, problem.output.extents[k], spec.caret({&other, &axis}),
                      fmt::join(problem.input.extents, ", "), fmt::join(problem.output.extents, ", ")));
    }
    if (problem.output.strides[k] == 0 && extent > 1 && problem.output.elements() > 0) {
      throw ShapeError(
          fmt::format("axis {} of the output has stride 0 and extent {}: its elements would be written {} "
                      "times\n{}",
                      axis.name, extent, extent, spec.caret({&axis})));
    }
  }
  if (may_overlap(problem.output)) {
    throw ShapeError(
        fmt::format("elements of the output overlap: extents ({}), strides ({}); give each index point an "
                    "element of its own\n  {}",
                    fmt::join(problem.output.extents, ", "), fmt::join(problem.output.strides, ", "), spec.text));
  }
  if (!converts(problem.input.type, problem.output.type)) {
    throw ShapeError(
        fmt::format("no conversion from {} to {}; types must be equal, or both real floating, both complex, or "
                    "a real floating input with a complex output",
                    name(problem.input.type), name(problem.output.type)));
  }
}

Layout permuted_row_major(const Spec& spec, const Layout& input) {
  check_spec(spec);
  check_layout(spec, spec.operands.front(), input, "input");
  std::vector<std::int64_t> extents;
  for (const auto& axis : spec.output) extents.push_back(input.extents[position(spec.operands.front(), axis.name)]);
  return Layout::row_major(input.type, std::move(extents));
}

Program lower(const PermuteProblem& problem) {
  const auto& in = problem.spec.operands.front();
  const auto& out = problem.spec.output;
  Program program;
  Affine from, to;
  for (std::size_t k = 0; k < out.size(); ++k) {
    program.indices.push_back({out[k].name, problem.output.extents[k]});
    from.coefficient.push_back(problem.input.strides[position(in, out[k].name)]);
    to.coefficient.push_back(problem.output.strides[k]);
  }
  const auto buffer = [&](const char* name, const Layout& layout, const Affine& affine, bool written) {
    const auto reach = program.points() > 0 ? bounds(affine, program.indices) : Bounds{0, -1};
    program.buffers.push_back(
        {name, layout.type, written, reach.first, reach.last, std::max(layout.alignment, size_of(layout.type))});
    return static_cast<int>(program.buffers.size()) - 1;
  };
  const int a = buffer("A", problem.input, from, false);
  const int b = buffer("B", problem.output, to, true);
  // A user's axis may be called A, B, alpha or beta: canonical names come later, so only the verifier would mind.
  for (auto& index : program.indices) {
    if (index.name != "A" && index.name != "B" && index.name != "alpha" && index.name != "beta") continue;
    auto free = index.name + '_';
    while (find(out, free)) free += '_';
    index.name = std::move(free);
  }

  const auto node = [&](Node value) {
    program.nodes.push_back(std::move(value));
    return static_cast<NodeId>(program.nodes.size()) - 1;
  };
  const auto op = [&](OpCode code, DType type, NodeId x, NodeId y = -1) {
    return node({NodeKind::op, code, type, {x, y}, -1, {}});
  };
  const auto cast = [&](NodeId x, DType type) {
    return program.nodes[static_cast<std::size_t>(x)].type == type ? x : op(OpCode::cast, type, x);
  };
  const auto load = [&](int source, const Affine& offset) {
    return node({NodeKind::load,
                 OpCode::add,
                 program.buffers[static_cast<std::size_t>(source)].type,
                 {-1, -1},
                 source,
                 offset});
  };
  const auto type = compute_type(problem.input.type, problem.output.type);
  const auto scaled = [&](const char* name, Factor factor, NodeId value) {
    if (factor != Factor::any) return value;
    program.params.push_back({name, type});
    const auto param =
        node({NodeKind::param, OpCode::add, type, {-1, -1}, static_cast<int>(program.params.size()) - 1, {}});
    return op(OpCode::scale, type, param, cast(value, type));
  };

  NodeId value = load(a, from);
  if (problem.conjugate && is_complex(problem.input.type)) value = op(OpCode::conj, problem.input.type, value);
  value = scaled("alpha", problem.alpha, value);
  if (problem.beta != Factor::zero) {
    const NodeId old = scaled("beta", problem.beta, load(b, to));
    value = op(OpCode::add, type, cast(value, type), cast(old, type));
  }
  program.statements.push_back({b, to, cast(value, problem.output.type)});
  return program;
}

Program lower_einsum(const Spec& spec, const std::vector<Layout>& inputs, const Layout& output) {
  if (inputs.size() != spec.operands.size()) {
    throw ShapeError(fmt::format("the spec has {} operands, {} layouts were given\n  {}", spec.operands.size(),
                                 inputs.size(), spec.text));
  }
  check_unique(spec, spec.output, "output");
  check_layout(spec, spec.output, output, "output");
  if (may_overlap(output)) throw ShapeError(fmt::format("elements of the output overlap\n  {}", spec.text));
  Program program;
  std::vector<const Axis*> axes;  // one per index
  const auto index_of = [&](const Axis& axis) {
    const auto place = std::find_if(axes.begin(), axes.end(), [&](const Axis* a) { return a->name == axis.name; });
    return static_cast<std::size_t>(place - axes.begin());
  };
  const auto access = [&](const Spec::Term& term, const Layout& layout) {
    Affine affine;
    for (std::size_t k = 0; k < term.size(); ++k) {
      const auto q = index_of(term[k]);
      if (q == axes.size()) {
        axes.push_back(&term[k]);
        program.indices.push_back({term[k].name + "_", layout.extents[k]});
      } else if (program.indices[q].extent != layout.extents[k]) {
        throw ShapeError(fmt::format("axis {} has extent {} here and {} there; axes with one name must agree\n{}",
                                     term[k].name, program.indices[q].extent, layout.extents[k],
                                     spec.caret({axes[q], &term[k]})));
      }
      affine.coefficient.resize(program.indices.size());
      affine.coefficient[q] += layout.strides[k];
    }
    return affine;
  };
  auto to = access(spec.output, output);
  std::vector<Affine> from;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    check_layout(spec, spec.operands[k], inputs[k], "operand's");
    if (!converts(inputs[k].type, output.type)) {
      throw ShapeError(
          fmt::format("no conversion from {} to {}\n  {}", name(inputs[k].type), name(output.type), spec.text));
    }
    from.push_back(access(spec.operands[k], inputs[k]));
  }
  for (std::size_t q = 0; q < spec.output.size(); ++q) {
    const auto& axis = spec.output[q];
    const bool known = std::any_of(spec.operands.begin(), spec.operands.end(),
                                   [&](const Spec::Term& term) { return find(term, axis.name) != nullptr; });
    if (!known)
      throw SpecError(fmt::format("output axis {} is not an axis of any operand\n{}", axis.name, spec.caret({&axis})));
  }
  auto type = compute_type(output.type, output.type);
  for (const auto& input : inputs) type = compute_type(input.type, type);

  const auto add_buffer = [&](std::string name, const Layout& layout, Affine& affine, bool written) {
    affine.coefficient.resize(program.indices.size());
    const auto reach = program.points() > 0 || written ? bounds(affine, program.indices) : Bounds{0, 0};
    program.buffers.push_back({std::move(name), layout.type, written, reach.first, reach.last,
                               std::max(layout.alignment, size_of(layout.type))});
  };
  const auto add_node = [&](Node node) {
    program.nodes.push_back(std::move(node));
    return static_cast<NodeId>(program.nodes.size()) - 1;
  };
  const auto cast = [&](NodeId x, DType wanted) {
    if (program.nodes[static_cast<std::size_t>(x)].type == wanted) return x;
    return add_node({NodeKind::op, OpCode::cast, wanted, {x, -1}, -1, {}});
  };
  NodeId product = -1;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    add_buffer(std::string(1, static_cast<char>('A' + k)), inputs[k], from[k], false);
    const auto load = add_node({NodeKind::load, OpCode::add, inputs[k].type, {-1, -1}, static_cast<int>(k), from[k]});
    const auto value = cast(load, type);
    product = product < 0 ? value : add_node({NodeKind::op, OpCode::mul, type, {product, value}, -1, {}});
  }
  std::vector<int> over;
  for (std::size_t q = spec.output.size(); q < program.indices.size(); ++q) over.push_back(static_cast<int>(q));
  if (!over.empty()) product = add_node({NodeKind::reduce, OpCode::add, type, {product, -1}, -1, {}, std::move(over)});
  add_buffer(std::string(1, static_cast<char>('A' + inputs.size())), output, to, true);
  program.statements.push_back({static_cast<int>(inputs.size()), to, cast(product, output.type)});
  verify(program);
  return program;
}

}  // namespace ricci::ir
