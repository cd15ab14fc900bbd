// The nodes of a step stand in evaluation order, so every place between two of them is one where it can be cut: what
// stands before computes, what stands behind reads what it needs of that. A value that needs an index that something
// runs over, or a guard's, has a meaning inside of its user alone: such nodes are open, and are copied to each user
// them.
#include "ir/passes/shorten.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "ir/passes/step_piece.hpp"
#include "ir/workspace.hpp"
#include "ricci/error.hpp"

namespace ricci::ir {
namespace {

std::int64_t length_of(const Program& program) {
  std::int64_t total = 0;
  for (const auto& node : program.nodes) total += ir::length_of(node);
  return total;
}

/// Per node: whether it stands for a value of the point alone, wherever it is written.
std::vector<bool> closed_nodes(const Program& program) {
  const auto free = program.free_indices();
  const auto count = program.nodes.size();
  std::vector<bool> reduced(count);  // inside of a reduction or a scan
  for (std::size_t id = count; id-- > 0;) {
    const auto& node = program.nodes[id];
    const bool runs = node.kind == NodeKind::reduce || node.kind == NodeKind::scan;
    for (int k = 0; k < operand_count(node); ++k) {
      if (runs || reduced[id]) reduced[at(node.operand[k])] = true;
    }
  }
  std::vector<bool> closed(count, true), guarded(count);
  std::vector<std::vector<int>> needs(count);  // indices that something runs over and that the value depends on
  for (std::size_t id = 0; id < count; ++id) {
    const auto& node = program.nodes[id];
    auto& mine = needs[id];
    if (node.kind == NodeKind::index && !free[at(node.source)]) mine.push_back(node.source);
    for (std::size_t q = 0; node.kind == NodeKind::load && q < free.size(); ++q) {
      if (!free[q] && node.offset.coefficient[q] != 0) mine.push_back(static_cast<int>(q));
    }
    guarded[id] = node.kind == NodeKind::guard;
    for (int k = 0; k < operand_count(node); ++k) {
      const auto& below = needs[at(node.operand[k])];
      mine.insert(mine.end(), below.begin(), below.end());
      if (node.kind != NodeKind::reduce && guarded[at(node.operand[k])]) guarded[id] = true;
    }
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
    std::erase_if(mine, [&](int q) { return std::binary_search(node.over.begin(), node.over.end(), q); });
    const bool whole = node.kind == NodeKind::guard || node.kind == NodeKind::scan || node.kind == NodeKind::compact;
    closed[id] = mine.empty() && !whole && !(guarded[id] && reduced[id]);
  }
  return closed;
}

/// One step that is too long.
class Shortening {
 public:
  Shortening(const Step& step, const KernelLength& length)
      : step_(step), program_(step.program), length_(length), closed_(closed_nodes(program_)) {
    segment_.resize(program_.nodes.size());
    home_.resize(program_.statements.size());
  }

  std::vector<Step> run(Sequence& sequence) {
    choose_cuts();
    place_statements();
    std::vector<Step> made;
    for (int part = 0; part < parts_; ++part) {
      if (auto piece = build(part, sequence)) made.push_back(std::move(*piece));
    }
    return made;
  }

 private:
  const Node& node(NodeId id) const { return program_.nodes[at(id)]; }
  /// Whether a value can go from one kernel to another.
  bool carries(NodeId id) const { return closed_[at(id)] && operand_count(node(id)) > 0; }

  /// Cuts the list of nodes where the fewest values cross, once a part is half as long as it may be.
  void choose_cuts() {
    const auto count = program_.nodes.size();
    // The last node that needs a value, itself or through open ones.
    std::vector<std::size_t> last(count);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t id = count; id-- > 0;) {
      const auto user = carries(static_cast<NodeId>(id)) ? id : last[id];
      for (int k = 0; k < operand_count(program_.nodes[id]); ++k) {
        auto& own = last[at(program_.nodes[id].operand[k])];
        own = std::max(own, user);
      }
    }
    std::vector<int> change(count + 1);  // of the number of values that cross, in front of a node
    for (std::size_t id = 0; id < count; ++id) {
      if (!carries(static_cast<NodeId>(id)) || last[id] == id) continue;
      ++change[id + 1];
      --change[last[id] + 1];
    }
    std::int64_t taken = 0;
    int crossing = 0, fewest = 0;
    std::size_t best = 0;  // 0: none yet
    for (std::size_t id = 0; id < count; ++id) {
      crossing += change[id];
      const auto own = ir::length_of(program_.nodes[id]);
      if (taken + own > length_.most && best > 0) {
        // Starts again behind the best place.
        ++parts_;
        for (std::size_t k = best; k <= id; ++k) segment_[k] = parts_ - 1;
        taken = 0;
        for (std::size_t k = best; k < id; ++k) taken += ir::length_of(program_.nodes[k]);
        best = 0;
      }
      if (2 * taken >= length_.most && (best == 0 || crossing <= fewest)) {
        best = id;
        fewest = crossing;
      }
      taken += own;
      segment_[id] = parts_ - 1;
    }
  }

  /// Per node: the last part that needs its value, with the statements where they are.
  std::vector<int> needed() const {
    std::vector<int> needs(program_.nodes.size(), -1);
    for (std::size_t s = 0; s < home_.size(); ++s) {
      auto& own = needs[at(program_.statements[s].value)];
      own = std::max(own, home_[s]);
    }
    for (std::size_t id = needs.size(); id-- > 0;) {
      if (needs[id] < 0) continue;
      const auto user = carries(static_cast<NodeId>(id)) ? segment_[id] : needs[id];
      for (int k = 0; k < operand_count(program_.nodes[id]); ++k) {
        auto& own = needs[at(program_.nodes[id].operand[k])];
        own = std::max(own, user);
      }
    }
    return needs;
  }

  /// Statements stand where their values are computed. All of a buffer that is also read stand in one part, the last
  /// that reads it or computes a value of it.
  void place_statements() {
    std::vector<int> part(program_.buffers.size(), -1);  // of buffers that are read and written
    for (const auto& load : program_.nodes) {
      if (load.kind == NodeKind::load && program_.buffers[at(load.source)].written) part[at(load.source)] = 0;
    }
    for (bool moved = true; moved;) {
      for (std::size_t s = 0; s < home_.size(); ++s) {
        const auto& statement = program_.statements[s];
        home_[s] = std::max(segment_[at(statement.value)], part[at(statement.buffer)]);
      }
      const auto before = part;
      needs_ = needed();
      for (std::size_t s = 0; s < home_.size(); ++s) {
        auto& own = part[at(program_.statements[s].buffer)];
        if (own >= 0) own = std::max(own, home_[s]);
      }
      for (std::size_t id = 0; id < needs_.size(); ++id) {
        const auto& load = program_.nodes[id];
        if (load.kind != NodeKind::load || part[at(load.source)] < 0) continue;
        part[at(load.source)] = std::max(part[at(load.source)], needs_[id]);
      }
      moved = part != before;
    }
  }

  bool crosses(NodeId id) const { return carries(id) && needs_[at(id)] > segment_[at(id)]; }

  std::optional<Step> build(int part, Sequence& sequence) {
    std::vector<NodeId> open, kept;  // kept: for later parts
    for (std::size_t id = 0; id < segment_.size(); ++id) {
      if (segment_[id] == part && crosses(static_cast<NodeId>(id))) kept.push_back(static_cast<NodeId>(id));
    }
    open = kept;
    std::vector<std::size_t> statements;
    for (std::size_t s = 0; s < home_.size(); ++s) {
      if (home_[s] != part) continue;
      statements.push_back(s);
      open.push_back(program_.statements[s].value);
    }
    if (open.empty()) return std::nullopt;

    StepPiece piece(step_);
    std::set<NodeId> needed;
    std::int64_t length = 0;
    while (!open.empty()) {
      const auto id = open.back();
      open.pop_back();
      if (!needed.insert(id).second) continue;
      if (crosses(id) && segment_[at(id)] < part) continue;
      length += ir::length_of(node(id));
      for (int k = 0; k < operand_count(node(id)); ++k) open.push_back(node(id).operand[k]);
    }
    if (length > length_.most_in_one) {
      throw PlanError(
          fmt::format("{} operations in one kernel that cannot be cut, as the body of a sum cannot; {} is "
                      "the most",
                      length, length_.most_in_one));
    }
    for (const auto id : needed) {  // operands before users
      if (crosses(id) && segment_[at(id)] < part) {
        const auto& values = stored_.at(id);
        piece.replace(id, piece.builder.load(piece.buffer(sequence, values.storage), row(piece, values)));
      } else {
        piece.copy(id);
      }
    }
    for (const auto s : statements) {
      const auto& statement = program_.statements[s];
      piece.builder.store(piece.buffer(statement.buffer, true), piece.affine(statement.offset),
                          piece.copy(statement.value), statement.step);
    }
    store_values(kept, sequence);
    for (const auto id : kept) {
      const auto& values = stored_.at(id);
      piece.builder.store(piece.buffer(sequence, values.storage, true), row(piece, values), piece.copy(id));
    }
    return piece.finish();
  }

  struct StoredValues {
    int storage = -1;
    std::int64_t first = 0;
  };

  /// Row-major over all free indices, as every point of the step writes an element of its own.
  Affine row(StepPiece& piece, const StoredValues& values) const {
    const auto free = program_.free_indices();
    Affine made;
    made.coefficient.resize(free.size());
    made.constant = values.first;
    std::int64_t step = 1;
    for (std::size_t q = free.size(); q-- > 0;) {
      if (!free[q]) continue;
      made.coefficient[q] = step;
      step *= program_.indices[q].extent;
    }
    return piece.affine(made);
  }

  /// Values that leave a part share a storage with those of their type. Slots share memory by their lifetimes
  /// (workspace.hpp).
  void store_values(const std::vector<NodeId>& kept, Sequence& sequence) {
    std::map<DType, std::vector<NodeId>> groups;
    for (const auto id : kept) groups[node(id).type].push_back(id);
    const auto points = std::max<std::int64_t>(program_.points(program_.free_indices()), 1);
    for (const auto& [type, ids] : groups) {
      const auto count = static_cast<std::int64_t>(ids.size());
      std::int64_t elements = 0;
      constexpr std::int64_t kMostElements = std::int64_t{1} << 58;
      if (__builtin_mul_overflow(points, count, &elements) || elements > kMostElements) {
        throw PlanError(
            fmt::format("{} values at {} points between two kernels; together more than 2^58", count, points));
      }
      sequence.storages.push_back({fresh(sequence), Role::workspace, type, 0, elements - 1, kWorkspaceAlignment});
      for (std::int64_t k = 0; k < count; ++k) {
        stored_[ids[static_cast<std::size_t>(k)]] = {static_cast<int>(sequence.storages.size()) - 1, k * points};
      }
    }
  }

  /// A name that nothing in the step or among the storages has.
  std::string fresh(const Sequence& sequence) const {
    std::set<std::string> names;
    for (const auto& storage : sequence.storages) names.insert(storage.name);
    for (const auto& index : program_.indices) names.insert(index.name);
    for (const auto& buffer : program_.buffers) names.insert(buffer.name);
    for (const auto& param : program_.params) names.insert(param.name);
    std::string name = "kept";
    for (int k = 2; names.contains(name); ++k) name = fmt::format("kept{}", k);
    return name;
  }

  const Step& step_;
  const Program& program_;
  const KernelLength& length_;
  std::vector<bool> closed_;
  int parts_ = 1;
  std::vector<int> segment_;  // per node: the part that computes it, where it is closed
  std::vector<int> home_;     // per statement
  std::vector<int> needs_;    // per node: the last part that needs it
  std::map<NodeId, StoredValues> stored_;
};

}  // namespace

std::int64_t length_of(const Node& node) {
  if (operand_count(node) == 0) return 0;
  if (node.kind != NodeKind::op) return 1;
  constexpr std::int64_t kFunction = 4, kDivision = 16;  // functions are called, divisions are written out
  if (node.op == OpCode::div || node.op == OpCode::remainder) return kDivision;
  return is_function(node.op) ? kFunction : 1;
}

Sequence shorten(Sequence sequence, const KernelLength& length) {
  const bool any = std::any_of(sequence.steps.begin(), sequence.steps.end(),
                               [&](const Step& step) { return length_of(step.program) > length.most; });
  if (!any) return sequence;
  std::vector<Step> steps;
  for (auto& step : sequence.steps) {
    if (length_of(step.program) <= length.most) {
      steps.push_back(std::move(step));
      continue;
    }
    for (auto& made : Shortening(step, length).run(sequence)) steps.push_back(std::move(made));
  }
  sequence.steps = std::move(steps);
  verify(sequence);
  return sequence;
}

}  // namespace ricci::ir
