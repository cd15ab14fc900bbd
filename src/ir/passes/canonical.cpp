#include "ir/passes/canonical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <span>

#include "ir/passes/canonical_nodes.hpp"
#include "ir/passes/colour_refinement.hpp"
#include "ir/passes/join_sums.hpp"
#include "ir/select_indices.hpp"
#include "ricci/log.hpp"

namespace ricci::ir {
namespace {

/// Indices that a scan or a compaction runs over: these are kept, whatever their extent.
Few<bool> ordered_indices(const Program& program) {
  Few<bool> ordered(program.indices.size());
  for (const auto& node : program.nodes) {
    if (node.kind != NodeKind::scan && node.kind != NodeKind::compact) continue;
    for (const int q : node.over) ordered[static_cast<std::size_t>(q)] = true;
  }
  return ordered;
}

/// Indices whose value a node uses.
Few<bool> valued_indices(const Program& program) {
  Few<bool> valued(program.indices.size());
  for (const auto& node : program.nodes) {
    if (node.kind == NodeKind::index) valued[static_cast<std::size_t>(node.source)] = true;
  }
  return valued;
}

/// Per node: whether its value depends on the identity of the reduction around it.
Few<bool> guarded_nodes(const Program& program) {
  Few<bool> guarded(program.nodes.size());
  for (std::size_t id = 0; id < guarded.size(); ++id) {
    const auto& node = program.nodes[id];
    guarded[id] = node.kind == NodeKind::guard;
    for (int k = 0; node.kind != NodeKind::reduce && k < operand_count(node); ++k) {
      if (guarded[static_cast<std::size_t>(node.operand[k])]) guarded[id] = true;
    }
  }
  return guarded;
}

/// An index of extent 1 is always 0; a reduction over such indices alone is its operand, one over no values at all the
/// identity of its operation, where that is a constant.
Program drop_unit_indices(Program program) {
  const auto drops = [](const LoopIndex& index) { return index.extent < 2; };
  const auto no_values = [](const Node& node) { return node.kind == NodeKind::reduce && node.over.empty(); };
  if (std::none_of(program.indices.begin(), program.indices.end(), drops) &&
      std::none_of(program.nodes.begin(), program.nodes.end(), no_values) && uses_all_nodes(program)) {
    return program;
  }
  const auto free = program.free_indices();
  const auto guarded = guarded_nodes(program);
  const auto extent = [&](int q) { return program.indices[static_cast<std::size_t>(q)].extent; };
  for_each_access(program, [&](Affine& affine) {
    for (std::size_t q = 0; q < affine.coefficient.size(); ++q) {
      if (program.indices[q].extent == 1) affine.coefficient[q] = 0;
    }
  });
  Few<NodeId> value(program.nodes.size());  // replacement of each node
  for (std::size_t id = 0; id < value.size(); ++id) {
    auto& node = program.nodes[id];
    value[id] = static_cast<NodeId>(id);
    for (int k = 0; k < operand_count(node); ++k) node.operand[k] = value[static_cast<std::size_t>(node.operand[k])];
    if (node.kind == NodeKind::index && extent(node.source) == 1) node = identity_constant(OpCode::add, DType::i64);
    if (node.kind != NodeKind::reduce) continue;

    const bool unit = std::all_of(node.over.begin(), node.over.end(), [&](int q) { return extent(q) == 1; });
    const bool empty = std::any_of(node.over.begin(), node.over.end(), [&](int q) { return extent(q) == 0; });
    const bool constant = node.op != OpCode::minimum && node.op != OpCode::maximum && node.op != OpCode::bit_and;
    if (empty && constant) {
      node = identity_constant(node.op, node.type);
    } else if (unit) {
      // A guard needs its enclosing reduction for its value.
      if (!guarded[static_cast<std::size_t>(node.operand[0])]) value[id] = node.operand[0];
    } else {
      node.over.erase(std::remove_if(node.over.begin(), node.over.end(), [&](int q) { return extent(q) == 1; }),
                      node.over.end());
    }
  }
  for (auto& statement : program.statements) statement.value = value[static_cast<std::size_t>(statement.value)];
  program = drop_unused(std::move(program));
  const auto now_free = program.free_indices();
  Few<std::size_t> kept;
  for (std::size_t q = 0; q < program.indices.size(); ++q) {
    const bool gone = !free[q] && now_free[q];  // no reduction uses it any more
    if (!gone && (program.indices[q].extent != 1 || !now_free[q])) kept.push_back(q);
  }
  select_indices(program, kept);
  return program;
}

/// Reverses indices with negative output strides, so that every output stride is positive.
Program orient_output(Program program) {
  const auto valued = valued_indices(program);
  for (std::size_t q = 0; q < program.indices.size(); ++q) {
    if (valued[q]) continue;
    const auto first = std::find_if(program.statements.begin(), program.statements.end(),
                                    [&](const Statement& s) { return s.offset.coefficient[q] != 0; });
    if (first == program.statements.end() || first->offset.coefficient[q] > 0) continue;
    const auto last = program.indices[q].extent - 1;
    for_each_access(program, [&](Affine& affine) {
      affine.constant += affine.coefficient[q] * last;
      affine.coefficient[q] = -affine.coefficient[q];
    });
  }
  return program;
}

/// Slowest output stride first, then what nodes run over, largest strides first; those keep their order where another
/// would round differently. Needs orient_output: strides are compared as positive numbers.
Program order_by_output(Program program) {
  const auto free = program.free_indices();
  const bool any_order =
      !program.exact || std::all_of(program.nodes.begin(), program.nodes.end(), [](const Node& node) {
        return node.kind != NodeKind::reduce || exactly_associates(node.op, node.type);
      });
  std::optional<Colours> roles;  // asked for where all else is alike
  const auto role = [&](std::size_t q) {
    if (!roles) roles = colours(program);
    return roles->index[q];
  };
  const auto loads = static_cast<std::size_t>(std::count_if(
      program.nodes.begin(), program.nodes.end(), [](const Node& node) { return node.kind == NodeKind::load; }));
  Few<std::int64_t, 64> all_strides;  // of loads, largest first, index after index
  all_strides.reserve(loads * program.indices.size());
  for (std::size_t q = 0; q < program.indices.size(); ++q) {
    for (const auto& node : program.nodes) {
      if (node.kind == NodeKind::load) all_strides.push_back(std::abs(node.offset.coefficient[q]));
    }
    std::sort(all_strides.end() - loads, all_strides.end(), std::greater<>());
  }
  const auto strides = [&](std::size_t q) { return std::span(all_strides.data() + q * loads, loads); };
  Few<std::size_t> order(program.indices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto p, auto q) {
    if (free[p] != free[q]) return static_cast<bool>(free[p]);
    if (p == q || (!free[p] && !any_order)) return p < q;
    for (const auto& statement : program.statements) {
      const auto x = statement.offset.coefficient[p], y = statement.offset.coefficient[q];
      if (x != y) return x > y;
    }
    const auto x = strides(p), y = strides(q);
    if (!std::equal(x.begin(), x.end(), y.begin()))
      return std::lexicographical_compare(y.begin(), y.end(), x.begin(), x.end());
    if (program.indices[p].extent != program.indices[q].extent) {
      return program.indices[p].extent > program.indices[q].extent;
    }
    const auto role_p = role(p), role_q = role(q);
    return role_p != role_q ? role_p < role_q : p < q;
  });
  select_indices(program, order);
  return program;
}

/// Merges two neighbours in output order where all accesses are contiguous over both and every reduction runs over both
/// or neither. Needs order_by_output: only neighbours are considered.
Program merge_adjacent(Program program) {
  const auto ordered = ordered_indices(program);
  const auto valued = valued_indices(program);
  Few<std::size_t> kept;
  for (std::size_t q = 0; q < program.indices.size(); ++q) {
    bool merges = !kept.empty() && !ordered[q] && !valued[q] && !ordered[kept.back()] && !valued[kept.back()];
    if (merges) {
      for_each_access(program, [&](const Affine& affine) {
        merges = merges && affine.coefficient[kept.back()] == affine.coefficient[q] * program.indices[q].extent;
      });
      merges = merges && std::all_of(program.nodes.begin(), program.nodes.end(), [&](const Node& node) {
                 const auto runs = [&](std::size_t index) {
                   return std::find(node.over.begin(), node.over.end(), static_cast<int>(index)) != node.over.end();
                 };
                 return runs(kept.back()) == runs(q);
               });
    }
    if (!merges) {
      kept.push_back(q);
      continue;
    }
    const auto slow = kept.back();
    program.indices[q].extent *= program.indices[slow].extent;
    program.indices[q].name = program.indices[slow].name + "." + program.indices[q].name;
    kept.back() = q;
  }
  select_indices(program, kept);
  return program;
}

/// In a copy without arithmetic the types become unsigned integers of the same size (c128 for 16 bytes), so that f32,
/// i32 and u32 share a kernel.
Program copy_bits(Program program) {
  if (std::any_of(program.nodes.begin(), program.nodes.end(),
                  [](const Node& node) { return node.kind != NodeKind::load; })) {
    return program;
  }
  const auto bits = [](DType type) {
    switch (size_of(type)) {
      case 1:
        return DType::u8;
      case 2:
        return DType::u16;
      case 4:
        return DType::u32;
      case 8:
        return DType::u64;
      default:
        return DType::c128;
    }
  };
  for (auto& buffer : program.buffers) buffer.type = bits(buffer.type);
  for (auto& node : program.nodes) node.type = bits(node.type);
  return program;
}

/// Whether the parameter scales what an output held before: a BLAS beta.
bool scales_output(const Program& program, int param) {
  const auto reads = reads_outputs(program);
  return std::any_of(program.nodes.begin(), program.nodes.end(), [&](const Node& node) {
    if (node.kind != NodeKind::op || node.op != OpCode::scale) return false;
    const auto& factor = program.nodes[static_cast<std::size_t>(node.operand[0])];
    return factor.kind == NodeKind::param && factor.source == param && reads[static_cast<std::size_t>(node.operand[1])];
  });
}

/// a .. z, then aa .. az, then letters with numbers.
std::string letter(char first, std::size_t k) {
  const auto last = static_cast<char>(first + static_cast<char>(k % 26));
  if (k < 26) return {last};
  return k < 52 ? std::string{first, last} : fmt::format("{}{}", last, k / 26);
}

/// Buffers are A, B, C, ..., parameters alpha, beta, ... and indices a, b, c, ... in the order of the first load's
/// strides, so that the input reads "abc". Names do not depend on the user's problem, since several problems share a
/// kernel. Needs the order of nodes, buffers and parameters to be final.
Program rename(Program program) {
  Few<std::size_t> order(program.indices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto first_load = std::find_if(program.nodes.begin(), program.nodes.end(),
                                       [](const Node& node) { return node.kind == NodeKind::load; });
  if (first_load != program.nodes.end()) {
    const auto& stride = first_load->offset.coefficient;
    std::sort(order.begin(), order.end(), [&](auto p, auto q) {
      const auto x = std::abs(stride[p]), y = std::abs(stride[q]);
      return x != y ? x > y : p < q;
    });
  }
  for (std::size_t k = 0; k < order.size(); ++k) program.indices[order[k]].name = letter('a', k);
  for (std::size_t k = 0; k < program.buffers.size(); ++k) program.buffers[k].name = letter('A', k);

  constexpr const char* kParams[] = {"alpha", "beta", "gamma", "delta"};
  if (program.params.empty()) return program;
  std::vector<std::string> names;
  for (std::size_t k = 0; k < program.params.size() + std::size(kParams); ++k) {
    names.push_back(k < std::size(kParams) ? kParams[k] : fmt::format("p{}", k));
  }
  Few<bool> named(program.params.size());
  for (std::size_t k = 0; k < named.size() && names[1] == kParams[1]; ++k) {
    if (!scales_output(program, static_cast<int>(k))) continue;
    program.params[k].name = names[1];
    names.erase(names.begin() + 1);
    named[k] = true;
  }
  auto next = names.begin();
  for (std::size_t k = 0; k < named.size(); ++k) {
    if (!named[k]) program.params[k].name = *next++;
  }
  return program;
}

constexpr Pass kPasses[] = {
    {"drop unit indices", drop_unit_indices},
    {"share equal nodes", share_nodes},
    {"join sums", join_sums},
    {"orient output", orient_output},
    {"order by output", order_by_output},
    {"merge adjacent", merge_adjacent},
    {"copy bits", copy_bits},
    {"sort operands", sort_operands},
    {"number", number},
    {"rename", rename},
};

/// The position of each of `now`'s names in `before`. All passes but the last keep names.
template <class T>
std::vector<int> origins(const std::vector<T>& now, const std::vector<std::string>& before) {
  std::vector<int> places;
  places.reserve(now.size());
  for (const auto& item : now) {
    places.push_back(static_cast<int>(std::find(before.begin(), before.end(), item.name) - before.begin()));
  }
  return places;
}

}  // namespace

std::span<const Pass> canonical_passes() { return kPasses; }

Program merge_indices(Program program) { return merge_adjacent(order_by_output(orient_output(std::move(program)))); }

Canonical canonicalise(Program program, std::string* trace) {
  std::vector<std::string> buffers, params;
  buffers.reserve(program.buffers.size());
  params.reserve(program.params.size());
  for (const auto& buffer : program.buffers) buffers.push_back(buffer.name);
  for (const auto& param : program.params) params.push_back(param.name);
  const bool logged = log_enabled(LogTopic::ir);
  std::string before = trace || logged ? print(program) : std::string();
  const auto tell = [&](const std::string& text) {
    if (trace) *trace += text;
    if (logged) log_line(LogTopic::ir, text);
  };
  if (trace || logged) tell(fmt::format("-- as written\n{}", before));
  Canonical result;
  for (const auto& pass : kPasses) {
    if (pass.run == rename) {
      result.buffer = origins(program.buffers, buffers);
      result.param = origins(program.params, params);
    }
    program = pass.run(std::move(program));
    if (!trace && !logged) continue;
    verify(program);  // else at the end: it takes longer than most passes
    auto after = print(program);
    tell(fmt::format("-- after \"{}\"{}", pass.name, after == before ? " (unchanged)\n" : "\n" + after));
    before = std::move(after);
  }
  verify(program);
  static_cast<Program&>(result) = std::move(program);
  return result;
}

Step canonical_step(const Step& step) { return canonical_step(step, canonicalise(step.program)); }

Step canonical_step(const Step& step, Canonical canonical) {
  Step made;
  for (const int buffer : canonical.buffer) made.storage.push_back(step.storage[static_cast<std::size_t>(buffer)]);
  for (const int param : canonical.param) made.param.push_back(step.param[static_cast<std::size_t>(param)]);
  made.program = std::move(canonical);
  return made;
}

}  // namespace ricci::ir
