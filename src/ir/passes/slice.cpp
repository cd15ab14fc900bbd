#include "ir/passes/slice.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "ir/passes/step_piece.hpp"

namespace ricci::ir {
namespace {

/// A slot of a storage: elements from one value to the next, and its values.
struct Slot {
  std::int64_t stride = 0, extent = 0;
  bool operator==(const Slot&) const = default;
  std::int64_t period() const { return stride * extent; }
};

/// An access, by the step's buffer.
struct Access {
  int buffer = -1;
  const Affine* offset = nullptr;
  bool written = false;
};

std::vector<Access> accesses_of(const Program& program) {
  std::vector<Access> list;
  for (const auto& node : program.nodes) {
    if (node.kind == NodeKind::load) list.push_back({node.source, &node.offset, false});
  }
  for (const auto& statement : program.statements) list.push_back({statement.buffer, &statement.offset, true});
  return list;
}

/// Whether an access is to a whole number of periods and to places below the stride, but for `index`, which is the
/// slot's: values of the slot are then those of the index.
bool in_slot(const Affine& offset, const std::vector<LoopIndex>& indices, const Slot& slot, int index) {
  if (offset.constant < 0) return false;
  auto below = offset.constant % slot.period();
  for (std::size_t q = 0; q < indices.size(); ++q) {
    const auto coefficient = offset.coefficient[q];
    if (static_cast<int>(q) == index) {
      if (coefficient != slot.stride) return false;
      continue;
    }
    if (indices[q].extent < 2) continue;
    if (coefficient < 0) return false;
    below += coefficient % slot.period() * (indices[q].extent - 1);
  }
  return below < slot.stride;
}

/// The same place where the slot has `block` values.
std::int64_t packed(std::int64_t offset, const Slot& slot, std::int64_t block) {
  return offset / slot.period() * (slot.stride * block) + offset % slot.period();
}

/// The largest power of two that divides a number, up to `most`.
std::int64_t alignment_of(std::int64_t bytes, std::int64_t most) {
  while (most > 1 && bytes % most != 0) most /= 2;
  return most;
}

class Slicer {
 public:
  Slicer(const Sequence& sequence, std::int64_t block, double least_share)
      : sequence_(sequence), block_(block), least_share_(least_share), index_(sequence.steps.size(), -1) {
    for (std::size_t k = 0; k < sequence.steps.size(); ++k) {
      accesses_.push_back(accesses_of(sequence.steps[k].program));
      for (const auto& access : accesses_.back()) {
        auto& users = users_[storage_of(k, access)];
        if (users.empty() || users.back() != k) users.push_back(k);
      }
    }
  }

  std::optional<Sequence> run(int storage, int index) {
    const auto writer = users_[storage].front();
    const auto& program = sequence_.steps[writer].program;
    extent_ = program.indices[at(index)].extent;
    name_ = program.indices[at(index)].name;
    around_ = sequence_.slice_of(writer);
    if (block_ < 1 || block_ > extent_ || extent_ < 2) return std::nullopt;
    if (!join(writer, index) || !slice(storage)) return std::nullopt;
    widen(storage);
    if (!is_right() || !arrange()) return std::nullopt;
    return make();
  }

 private:
  const Step& step(std::size_t k) const { return sequence_.steps[k]; }
  int storage_of(std::size_t k, const Access& access) const { return step(k).storage[at(access.buffer)]; }
  bool is_in(std::size_t k) const { return index_[k] >= 0; }
  bool is_workspace(int storage) const { return sequence_.storages[at(storage)].role == Role::workspace; }
  bool is_sliced(int storage) const { return slots_.contains(storage); }
  std::int64_t coefficient(std::size_t k, const Access& access) const {
    return access.offset->coefficient[at(index_[k])];
  }
  double bytes_of(int storage) const {
    const auto& one = sequence_.storages[at(storage)];
    return static_cast<double>(one.last - one.first + 1) * static_cast<double>(size_of(one.type));
  }

  // ---- which steps, which storages

  /// A step is part of the slice, along its index `q`.
  bool join(std::size_t k, int q) {
    if (is_in(k)) return index_[k] == q;
    if (sequence_.slice_of(k) != around_) return false;
    const auto& program = step(k).program;
    if (program.points() == 0) return false;
    for (const auto& node : program.nodes) {
      if (node.kind == NodeKind::index && node.source == q) return false;
      if (node.kind == NodeKind::scan || node.kind == NodeKind::compact) return false;
    }
    index_[k] = q;
    return program.free_indices()[at(q)] || sum_of(k) >= 0;
  }

  /// The one reduction over the step's index, or -1: it is part of no other one.
  NodeId sum_of(std::size_t k) const {
    const auto& program = step(k).program;
    if (program.statements.size() != 1) return -1;
    NodeId sum = -1;
    for (std::size_t n = 0; n < program.nodes.size(); ++n) {
      const auto& node = program.nodes[n];
      if (node.kind != NodeKind::reduce) continue;
      if (std::find(node.over.begin(), node.over.end(), index_[k]) == node.over.end()) continue;
      if (sum >= 0 || (program.exact && !exactly_associates(node.op, node.type))) return -1;
      sum = static_cast<NodeId>(n);
    }
    if (sum < 0 || is_below_a_sum(program, sum)) return -1;
    return sum;
  }

  static bool is_below_a_sum(const Program& program, NodeId wanted) {
    std::vector<bool> below(program.nodes.size());
    below[at(wanted)] = true;
    for (std::size_t n = at(wanted) + 1; n < program.nodes.size(); ++n) {
      const auto& node = program.nodes[n];
      for (const auto operand : node.operand) below[n] = below[n] || (operand >= 0 && below[at(operand)]);
      if (below[n] && (node.kind == NodeKind::reduce || node.kind == NodeKind::guard)) return true;
    }
    return false;
  }

  bool sums(std::size_t k) const { return is_in(k) && !step(k).program.free_indices()[at(index_[k])]; }

  /// A storage holds one block: all steps that use it are part of the slice.
  bool slice(int storage) {
    const auto& declared = sequence_.storages[at(storage)];
    if (!is_workspace(storage) || declared.first != 0) return false;
    Slot slot{0, extent_};
    for (const auto k : users_[storage]) {
      for (const auto& access : accesses_[k]) {
        for (const auto& advance : step(k).advance) {
          if (storage_of(k, access) == storage && advance[at(access.buffer)] != 0) return false;
        }
        if (storage_of(k, access) == storage && is_in(k) && slot.stride == 0) slot.stride = coefficient(k, access);
      }
    }
    if (slot.stride <= 0) return false;
    if (declared.last + 1 > slot.period() && (declared.last + 1) % slot.period() != 0) return false;
    slots_[storage] = slot;
    for (const auto k : users_[storage]) {
      const auto& program = step(k).program;
      int index = index_[k];
      for (const auto& access : accesses_[k]) {
        if (storage_of(k, access) != storage) continue;
        if (program.buffers[at(access.buffer)].type != declared.type) return false;  // parts of complex numbers
        for (std::size_t q = 0; index < 0 && q < program.indices.size(); ++q) {
          if (access.offset->coefficient[q] == slot.stride && program.indices[q].extent == extent_)
            index = static_cast<int>(q);
        }
        if (index < 0 || program.indices[at(index)].extent != extent_ ||
            !in_slot(*access.offset, program.indices, slot, index))
          return false;
      }
      if (!join(k, index)) return false;
    }
    return true;
  }

  /// Other storages of steps that are part of the slice hold one block, too, where all that use them can be part of it
  /// and are already, or where they are large.
  void widen(int first) {
    std::vector<int> tried;
    const auto in = [&](std::size_t k) { return is_in(k); };
    const auto worth_it = [&](const auto& one) {
      const auto& [storage, users] = one;
      return is_workspace(storage) && !is_sliced(storage) &&
             std::find(tried.begin(), tried.end(), storage) == tried.end() &&
             std::any_of(users.begin(), users.end(), in) &&
             (std::all_of(users.begin(), users.end(), in) || bytes_of(storage) >= least_share_ * bytes_of(first));
    };
    for (auto next = users_.end(); (next = std::find_if(users_.begin(), users_.end(), worth_it)) != users_.end();) {
      tried.push_back(next->first);
      const auto index = index_;
      const auto slots = slots_;
      if (slice(next->first)) continue;
      index_ = index;
      slots_ = slots;
    }
  }

  /// Whether each block needs of what the slice writes its own part alone, and may be done again where it has to be.
  bool is_right() const {
    const bool rest = extent_ % block_ != 0;
    for (const auto& [storage, users] : users_) {
      if (is_sliced(storage)) continue;
      std::optional<std::int64_t> stride;
      bool written = false, read = false, equal = true, summed = false;
      std::size_t count = 0;
      for (const auto k : users) {
        if (!is_in(k)) continue;
        ++count;
        for (const auto& access : accesses_[k]) {
          if (storage_of(k, access) != storage) continue;
          const auto one = coefficient(k, access);
          equal = equal && stride.value_or(one) == one;
          stride = one;
          written = written || access.written;
          read = read || !access.written;
          summed = summed || (access.written && sums(k));
        }
      }
      if (!written) continue;
      if (!equal || (rest && (read || summed))) return false;
      if (summed) {
        if (count > 1) return false;
        continue;
      }
      if (*stride == 0) return false;
      if (count == 1) continue;
      const Slot slot{*stride, extent_};
      for (const auto k : users) {
        for (const auto& access : accesses_[k]) {
          if (is_in(k) && storage_of(k, access) == storage &&
              (*stride < 0 || !in_slot(*access.offset, step(k).program.indices, slot, index_[k])))
            return false;
        }
      }
    }
    return true;
  }

  // ---- in which order

  bool conflict(std::size_t x, std::size_t y) const {
    for (const auto& a : accesses_[x]) {
      for (const auto& b : accesses_[y]) {
        if ((a.written || b.written) && storage_of(x, a) == storage_of(y, b)) return true;
      }
    }
    return false;
  }

  /// Steps before the slice, of it, and behind it. Other slices stay whole; one that is there gets another loop.
  bool arrange() {
    std::vector<bool> behind(index_.size());
    for (std::size_t k = 0; k < index_.size(); ++k) {
      const auto* const other = sequence_.slice_of(k);
      if (!is_in(k) && around_ != nullptr && other == around_) return false;
      for (std::size_t j = 0; j < k; ++j) {
        if ((!is_in(j) && !behind[j]) || !conflict(j, k)) continue;
        if (is_in(k) && behind[j]) return false;
        behind[k] = !is_in(k);
      }
    }
    for (std::size_t k = 0; k < index_.size(); ++k) {
      const auto* const other = sequence_.slice_of(k);
      if (other != nullptr && other != around_ && behind[k] != behind[other->first]) return false;
      (is_in(k) ? inside_ : behind[k] ? behind_ : before_).push_back(k);
    }
    return true;
  }

  // ---- the sequence

  std::optional<Sequence> make() {
    made_.storages = sequence_.storages;
    made_.params = sequence_.params;
    for (const auto& [storage, slot] : slots_) {
      auto& declared = made_.storages[at(storage)];
      const auto size = declared.last + 1;
      declared.last = (size > slot.period() ? packed(size, slot, block_) : size - slot.stride * (extent_ - block_)) - 1;
      if (declared.last < 0) return std::nullopt;
    }
    std::vector<Step> first, inside, last;
    for (const auto k : inside_) {
      if (!sums(k)) {
        inside.push_back(step(k));
      } else if (!add_up(step(k), sum_of(k), first, inside, last)) {
        return std::nullopt;
      }
      if (!cut(inside.back(), step(k).program.indices[at(index_[k])].name)) return std::nullopt;
    }
    const auto take = [&](const std::vector<std::size_t>& list) {
      for (const auto k : list) {
        const auto* const other = sequence_.slice_of(k);
        if (other != nullptr && k == other->first) {
          auto moved = *other;
          moved.first = made_.steps.size();
          moved.last = moved.first + (other->last - other->first);
          made_.slices.push_back(std::move(moved));
        }
        made_.steps.push_back(step(k));
      }
    };
    const auto add = [&](std::vector<Step>& list) {
      std::move(list.begin(), list.end(), std::back_inserter(made_.steps));
    };
    take(before_);
    add(first);
    Slice slice{made_.steps.size(), made_.steps.size() + inside.size(), {}};
    if (around_ != nullptr) slice.loops = around_->loops;
    slice.loops.push_back({name_, extent_, block_});
    add(inside);
    made_.slices.push_back(std::move(slice));
    add(last);
    take(behind_);
    verify(made_);
    return std::move(made_);
  }

  /// The step that adds a block's sum to what there is, what comes before all blocks, and what comes behind them.
  bool add_up(const Step& whole, NodeId sum, std::vector<Step>& first, std::vector<Step>& inside,
              std::vector<Step>& last) {
    const auto& program = whole.program;
    const auto& statement = program.statement();
    const auto& value = program.nodes[at(statement.value)];
    const auto op = program.nodes[at(sum)].op;
    const auto type = program.nodes[at(sum)].type;
    const auto is_own = [&](NodeId id) {
      const auto& node = program.nodes[at(id)];
      return node.kind == NodeKind::load && node.source == statement.buffer && node.offset == statement.offset;
    };
    if (value.kind == NodeKind::op && value.op == op && (value.operand[0] == sum || value.operand[1] == sum) &&
        is_own(value.operand[value.operand[0] == sum ? 1 : 0])) {
      inside.push_back(whole);  // it adds already
      return true;
    }
    if (around_ != nullptr) return false;  // sums of each block of the other loops
    // The sum's place: the result itself, or workspace where more is done with it.
    const bool plain = statement.value == sum;
    const auto free = program.free_indices();
    std::vector<int> order;
    for (const auto q : by_falling_stride(statement.offset, free)) {
      if (free[q]) order.push_back(static_cast<int>(q));
    }
    Rows rows;
    if (!plain) rows = add_rows(made_, program, order, 0, type, "sum");
    const auto store = [&](StepPiece& piece, NodeId node) {
      const int to = plain ? piece.buffer(statement.buffer, true) : piece.buffer(made_, rows.storage, true);
      piece.builder.store(to, plain ? piece.affine(statement.offset) : piece.row(rows, -1), node);
    };
    {
      StepPiece piece(whole);
      store(piece, piece.builder.constant(identity_constant(op, type)));
      first.push_back(piece.finish());
    }
    {
      StepPiece piece(whole);
      const auto own = plain ? piece.builder.load(piece.buffer(statement.buffer, true), piece.affine(statement.offset))
                             : piece.load(made_, rows, -1);
      store(piece, piece.builder.op(op, type, own, piece.copy(sum)));
      inside.push_back(piece.finish());
    }
    if (plain) return true;
    StepPiece piece(whole);
    piece.replace(sum, piece.load(made_, rows, -1));
    const auto rest = piece.copy(statement.value);
    piece.builder.store(piece.buffer(statement.buffer, true), piece.affine(statement.offset), rest);
    last.push_back(piece.finish());
    return true;
  }

  /// One block of a step along the index of that name.
  bool cut(Step& step, const std::string& name) {
    auto& program = step.program;
    const auto own = std::find_if(program.indices.begin(), program.indices.end(),
                                  [&](const LoopIndex& index) { return index.name == name; });
    if (own == program.indices.end()) return false;  // folded away
    const auto q = static_cast<std::size_t>(own - program.indices.begin());
    own->extent = block_;
    step.advance.resize(around_ != nullptr ? around_->loops.size() : 0, std::vector<std::int64_t>(step.storage.size()));
    std::vector<std::optional<std::int64_t>> advance(step.storage.size());
    // Elements that a buffer's base moves by; of what lies otherwise, one more buffer.
    const auto place = [&](int& buffer, Affine& offset) {
      const auto storage = step.storage[at(buffer)];
      if (const auto sliced = slots_.find(storage); sliced != slots_.end()) {
        advance[at(buffer)] = 0;
        offset.constant = packed(offset.constant, sliced->second, block_);
        for (auto& coefficient : offset.coefficient) coefficient = packed(coefficient, sliced->second, block_);
        return;
      }
      const auto by = offset.coefficient[q];
      for (std::size_t b = 0; b < step.storage.size(); ++b) {
        if (step.storage[b] != storage || advance[b].value_or(by) != by || !same_part(program, b, at(buffer))) continue;
        advance[b] = by;
        buffer = static_cast<int>(b);
        return;
      }
      auto another = program.buffers[at(buffer)];
      another.name = unused_name(program, another.name);
      for (auto& outer : step.advance) outer.push_back(outer[at(buffer)]);
      buffer = static_cast<int>(step.storage.size());
      program.buffers.push_back(std::move(another));
      step.storage.push_back(storage);
      advance.emplace_back(by);
    };
    for (auto& node : program.nodes) {
      if (node.kind == NodeKind::load) place(node.source, node.offset);
    }
    for (auto& statement : program.statements) place(statement.buffer, statement.offset);
    auto& mine = step.advance.emplace_back(step.storage.size());
    const auto accesses = accesses_of(program);
    for (std::size_t b = 0; b < step.storage.size(); ++b) {
      mine[b] = advance[b].value_or(0);
      auto& buffer = program.buffers[b];
      if (slots_.contains(step.storage[b])) {
        auto reach = Bounds{0, -1};
        for (const auto& access : accesses) {
          if (access.buffer != static_cast<int>(b)) continue;
          const auto one = bounds(*access.offset, program.indices);
          reach =
              reach.last < reach.first ? one : Bounds{std::min(reach.first, one.first), std::max(reach.last, one.last)};
        }
        buffer.first = reach.first;
        buffer.last = reach.last;
        continue;
      }
      const auto behind = mine[b] * (extent_ - block_);
      (behind < 0 ? buffer.first : buffer.last) -= behind;
      const auto bytes = mine[b] * size_of(buffer.type);
      buffer.alignment = alignment_of(bytes * block_, alignment_of(bytes * (extent_ - block_), buffer.alignment));
    }
    return true;
  }

  /// Whether two buffers of a storage are of the same type, within the same bounds and both written or neither.
  static bool same_part(const Program& program, std::size_t x, std::size_t y) {
    const auto& a = program.buffers[x];
    const auto& b = program.buffers[y];
    return a.type == b.type && a.written == b.written && a.first == b.first && a.last == b.last;
  }

  static std::string unused_name(const Program& program, const std::string& stem) {
    for (int n = 2;; ++n) {
      auto name = stem + "_" + std::to_string(n);
      const auto taken = [&](const auto& list) {
        return std::any_of(list.begin(), list.end(), [&](const auto& one) { return one.name == name; });
      };
      if (!taken(program.buffers) && !taken(program.indices) && !taken(program.params)) return name;
    }
  }

  const Sequence& sequence_;
  std::int64_t block_, extent_ = 0;
  double least_share_;
  std::string name_;
  std::vector<int> index_;  ///< per step: the index that it is sliced along; -1: it is no part of the slice
  std::vector<std::vector<Access>> accesses_;
  std::map<int, std::vector<std::size_t>> users_;  ///< per storage
  std::map<int, Slot> slots_;                      ///< of storages that hold one block
  std::vector<std::size_t> before_, inside_, behind_;
  const Slice* around_ = nullptr;  ///< what the steps are in already, or null
  Sequence made_;
};

}  // namespace

std::vector<int> slice_indices(const Sequence& sequence, int storage) {
  for (const auto& step : sequence.steps) {
    for (const auto& statement : step.program.statements) {
      if (step.storage[at(statement.buffer)] != storage) continue;
      std::vector<int> indices;
      for (const auto q : by_falling_stride(statement.offset, std::vector<bool>(step.program.indices.size()))) {
        if (step.program.indices[q].extent > 1) indices.push_back(static_cast<int>(q));
      }
      return indices;
    }
  }
  return {};
}

std::optional<Sequence> sliced(const Sequence& sequence, int storage, int index, std::int64_t block,
                               double least_share) {
  return Slicer(sequence, block, least_share).run(storage, index);
}

}  // namespace ricci::ir
