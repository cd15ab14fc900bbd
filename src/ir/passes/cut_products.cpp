#include "ir/passes/cut_products.hpp"

#include <cstdlib>
#include <limits>
#include <utility>

#include "ir/operation_types.hpp"

namespace ricci::ir {
namespace {

/// How far apart the values of each index lie in the operands of a product, whichever has them nearer: in those that
/// are most of what is read.
std::vector<std::int64_t> steps_of_operands(const Program& program, const Node& node) {
  struct Operand {
    const Affine* offset;
    std::int64_t elements;
  };
  std::vector<Operand> operands;
  any_below(program, node.operand[0], [&](const Node& inner) {
    if (inner.kind != NodeKind::load) return false;
    std::vector<bool> along;
    for (const auto apart : inner.offset.coefficient) along.push_back(apart != 0);
    operands.push_back({&inner.offset, program.points(along)});
    return false;
  });
  std::int64_t most = 0;
  for (const auto& operand : operands) most = std::max(most, operand.elements);
  std::vector<std::int64_t> step(program.indices.size(), std::numeric_limits<std::int64_t>::max());
  constexpr std::int64_t kSmall = 8;  // times as small as the other
  for (const auto& operand : operands) {
    for (std::size_t q = 0; kSmall * operand.elements >= most && q < step.size(); ++q) {
      if (const auto apart = std::abs(operand.offset->coefficient[q]); apart != 0) step[q] = std::min(step[q], apart);
    }
  }
  return step;
}

class Cutter {
 public:
  explicit Cutter(const SplitLimits& limits) : limits_(limits) {}

  /// A sum cut in this order of indices.
  std::vector<Cut> cuts_in_order(std::vector<Cut> left, std::int64_t points, std::int64_t values) const {
    std::vector<Cut> cuts;
    while (auto* next = cut_further(left, points, values)) {
      const auto n = next->tiles;
      const auto known = std::find_if(cuts.begin(), cuts.end(), [&](const Cut& c) { return c.index == next->index; });
      next->length /= n;
      if (known == cuts.end()) {
        cuts.push_back({next->index, next->length, n, 0});
      } else {
        known->tiles *= n;
        known->length = next->length;
      }
      points *= n;
      values /= n;
    }
    return cuts;
  }

  /// Parts that give all workers tiles of so many points, and are long enough; up to 1: none.
  std::int64_t wanted_parts(std::int64_t points, std::int64_t values) const {
    const auto tiles = std::max<std::int64_t>((points + limits_.tile_points - 1) / limits_.tile_points, 1);
    if (2 * tiles > limits_.tile_workers) return 0;
    return std::min(limits_.tile_workers / tiles, values / limits_.tile_least);
  }

  /// Parts of the first index that has as many as are wanted, or up to twice as many, with little left over: whole rows
  /// of memory in each, and multiples of as large a power of two as can be, so that what sums them divides them
  /// further.
  std::optional<Cut> cut_with_rest(const std::vector<Cut>& left, std::int64_t points, std::int64_t values) const {
    constexpr std::int64_t kLittle = 128;  // a part of the sum that the step which combines all others takes along
    constexpr std::int64_t kMostUnit = 1024;
    const auto wanted = wanted_parts(points, values);
    if (wanted < 2) return std::nullopt;
    for (const auto& whole : left) {
      for (auto unit = kMostUnit; unit >= whole.row; unit /= 2) {
        Cut best;
        for (auto n = wanted; n <= 2 * wanted; ++n) {
          const auto length = whole.length / n / unit * unit;
          if (length > 1 && n * length > best.length * best.tiles)
            best = Cut{whole.index, length, n, whole.length - n * length};
        }
        if (best.length > 1 && kLittle * best.rest <= whole.length) return best;
      }
    }
    return std::nullopt;
  }

 private:
  /// The next index to cut, with the number of its parts: of those of which a cut makes no more than are wanted the
  /// first, or the one that makes the most, as CutOrder says; or else the one that makes the fewest too many. Null
  /// where none are wanted.
  ///   left  furthest apart in memory first
  Cut* cut_further(std::vector<Cut>& left, std::int64_t points, std::int64_t values) const {
    const auto wanted = wanted_parts(points, values);
    // Each part sums over something, and over whole rows of memory.
    const auto most = [&](const Cut& cut) {
      return cut.length / std::max<std::int64_t>(cut.row, cut.length == values ? 2 : 1);
    };
    Cut* best = nullptr;
    for (auto& cut : left) {
      for (auto n = std::min(wanted, most(cut)); n > 1; --n) {
        if (cut.length % n != 0) continue;
        if (best == nullptr || n > best->tiles) {
          cut.tiles = n;
          best = &cut;
        }
        break;
      }
      if (best != nullptr && limits_.cut_order == CutOrder::furthest) return best;
    }
    if (best != nullptr && 2 * best->tiles > wanted) return best;
    // Rather more parts than wanted than half as many: an axis of 31 is one part or 31.
    for (auto& cut : left) {
      for (auto n = wanted + 1; n <= std::min(2 * wanted, most(cut)); ++n) {
        if (cut.length % n != 0 || (best != nullptr && best->tiles > wanted && n >= best->tiles)) continue;
        cut.tiles = n;
        best = &cut;
        break;
      }
    }
    return best;
  }

  const SplitLimits& limits_;
};

}  // namespace

Lanes lanes_of(const Program& program, const Node& node, const std::vector<Cut>& cuts, std::int64_t bytes) {
  if (bytes == 0 || is_integer(node.type)) return {};
  for (const int q : node.over) {
    bool neighbours = false, others = false;
    any_below(program, node.operand[0], [&](const Node& inner) {
      const auto step = inner.kind == NodeKind::load ? inner.offset.coefficient[at(q)] : 0;
      neighbours = neighbours || step == 1;
      others = others || (step != 0 && step != 1) || contains(inner.over, q) ||
               (inner.kind == NodeKind::index && inner.source == q);
      return false;
    });
    const auto cut = std::find_if(cuts.begin(), cuts.end(), [&](const Cut& c) { return c.index == q; });
    const auto length = cut != cuts.end() ? cut->length : program.indices[at(q)].extent;
    const auto lanes = bytes / size_of(node.type);
    if (neighbours && !others && length % lanes == 0 && length >= 4 * lanes) return {q, lanes};
  }
  return {};
}

bool sums_products(const Program& program, const Node& node) {
  if (node.op != OpCode::add) return false;
  const auto& product = program.nodes[at(node.operand[0])];
  if (product.kind != NodeKind::op || product.op != OpCode::mul) return false;
  const auto loads = [&](NodeId id) {
    while (program.nodes[at(id)].kind == NodeKind::op &&
           (program.nodes[at(id)].op == OpCode::cast || program.nodes[at(id)].op == OpCode::conj))
      id = program.nodes[at(id)].operand[0];
    return program.nodes[at(id)].kind == NodeKind::load;
  };
  return loads(product.operand[0]) && loads(product.operand[1]);
}

std::vector<Cut> cuts_of_products(const Program& program, const Node& node, std::int64_t points, std::int64_t values,
                                  const SplitLimits& limits) {
  if (limits.tile_points == 0) return {};
  const Cutter cutter{limits};
  const auto step = steps_of_operands(program, node);
  std::vector<Cut> left;  // of each index, what one part has of it
  for (const int q : node.over) {
    const std::int64_t row =
        step[at(q)] == 1 && limits.cut_order == CutOrder::furthest ? kRowBytes / size_of(node.type) : 1;
    left.push_back({q, program.indices[at(q)].extent, 1, 0, row});
  }
  std::stable_sort(left.begin(), left.end(),
                   [&](const Cut& x, const Cut& y) { return step[at(x.index)] > step[at(y.index)]; });
  // The furthest apart first, unless too few parts follow: 8 of an index, of which 5 make as many as are wanted.
  std::vector<Cut> best;
  std::int64_t most = 1;
  for (auto first = left.begin(); first != left.end() && cutter.wanted_parts(points * most, values / most) > 1;
       ++first) {
    auto order = left;
    std::rotate(order.begin(), order.begin() + (first - left.begin()), order.begin() + (first - left.begin()) + 1);
    auto cuts = cutter.cuts_in_order(std::move(order), points, values);
    std::int64_t parts = 1;
    for (const auto& cut : cuts) parts *= cut.tiles;
    if (parts > most) {
      most = parts;
      best = std::move(cuts);
    }
  }
  // Prime extents, and parts of the only index that neither vectors along it nor shorter sums divide.
  constexpr std::int64_t kEven = 128;
  const bool ragged = best.size() == 1 && left.size() == 1 && best.front().length % kEven != 0;
  if (limits.vector_bytes > 0 && (ragged || 2 * most < cutter.wanted_parts(points, values))) {
    if (const auto cut = cutter.cut_with_rest(left, points, values)) return {*cut};
  }
  return best;
}

std::optional<Cut> cut_across(const Program& program, const Node& node, const std::vector<bool>& depends,
                              std::int64_t elements, const SplitLimits& limits) {
  constexpr std::int64_t kStreams = 16;  // that prefetchers follow beside those of another thread
  if (limits.vector_bytes == 0) return std::nullopt;
  std::int64_t loads = 0;
  std::vector<std::int64_t> step(program.indices.size());
  const bool others = any_below(program, node.operand[0], [&](const Node& inner) {
    if (inner.kind != NodeKind::load) return inner.kind != NodeKind::op && inner.kind != NodeKind::constant;
    ++loads;
    bool along_results = false;
    for (std::size_t q = 0; q < step.size(); ++q) {
      const auto apart = std::abs(inner.offset.coefficient[q]);
      along_results = along_results || (depends[q] && apart == 1);
      step[q] = std::max(step[q], apart);
    }
    return !along_results || reached(inner.offset, program.indices) != elements;
  });
  if (others || loads == 0) return std::nullopt;
  const auto furthest =
      std::max_element(node.over.begin(), node.over.end(), [&](int p, int q) { return step[at(p)] < step[at(q)]; });
  const auto extent = program.indices[at(*furthest)].extent, most = kStreams / loads;
  if (extent < 2 * most) return std::nullopt;
  Cut best{*furthest, 0, 0, extent, 1, true};
  for (auto tiles = most; 2 * tiles > most; --tiles) {
    if (extent % tiles < best.rest) best = Cut{*furthest, extent / tiles, tiles, extent % tiles, 1, true};
  }
  constexpr std::int64_t kRun = 32768;  // bytes from one value of a part to the next, which streams read in between
  if (best.length * step[at(*furthest)] * size_of(node.type) < kRun) return std::nullopt;
  return best;
}

std::optional<Cut> cut_columns(const Program& program, const Node& node, const std::vector<bool>& depends,
                               std::int64_t points, std::int64_t values, const SplitLimits& limits) {
  constexpr std::int64_t kLeastOfPart = 64;      // values: partial results are few beside what they are made of
  constexpr std::int64_t kLeastOfAll = 1 << 21;  // which one kernel sums in the time that a second one takes to start
  if (limits.column_workers == 0 || points * values < kLeastOfAll) return std::nullopt;
  const auto most = std::min(limits.column_workers / points, values / kLeastOfPart);
  bool columns = false, rows = false;
  const bool reduces = any_below(program, node.operand[0], [&](const Node& inner) {
    if (inner.kind != NodeKind::load || reached(inner.offset, program.indices) != points * values)
      return !inner.over.empty();
    for (std::size_t q = 0; q < depends.size(); ++q) {
      if (std::abs(inner.offset.coefficient[q]) == 1) (depends[q] ? columns : rows) = true;
    }
    return false;
  });
  if (most < 2 || !columns || rows || reduces) return std::nullopt;
  const auto longest = *std::max_element(node.over.begin(), node.over.end(), [&](int p, int q) {
    return program.indices[at(p)].extent < program.indices[at(q)].extent;
  });
  const auto extent = program.indices[at(longest)].extent;
  Cut best{longest, 0, 0, extent, 1, true};
  for (auto parts = std::min(most, extent / 2); parts > 1 && 2 * parts > most; --parts) {
    if (extent % parts < best.rest) best = Cut{longest, parts, extent / parts, extent % parts, 1, true};
  }
  return best.length > 0 ? std::optional(best) : std::nullopt;
}

bool sums_columns(const Program& program, const Node& node, const std::vector<bool>& depends, std::int64_t elements) {
  bool found = false;
  int of_results = 0;  // operands that differ between them
  any_below(program, node.operand[0], [&](const Node& inner) {
    if (inner.kind != NodeKind::load) return false;
    bool along = false, differs = false;
    for (std::size_t q = 0; q < depends.size(); ++q) {
      if (!depends[q]) continue;
      along = along || std::abs(inner.offset.coefficient[q]) == 1;
      differs = differs || inner.offset.coefficient[q] != 0;
    }
    of_results += differs ? 1 : 0;
    found = found || (along && reached(inner.offset, program.indices) == elements);
    return false;
  });
  return found && of_results == 1;
}

bool uses_once(const Program& program, const Node& node, std::int64_t points, std::int64_t values) {
  return any_below(program, node.operand[0], [&](const Node& inner) {
    return inner.kind == NodeKind::load && reached(inner.offset, program.indices) == points * values;
  });
}

std::optional<RowLanes> lanes_of_rows(const Program& program, const Node& node, std::int64_t points,
                                      std::int64_t values, const SplitLimits& limits) {
  constexpr std::int64_t kVectors = 16;  // of a row, so that partial results are few beside what they are made of
  if (limits.vector_bytes == 0 || points * values < limits.least_of_rows) return std::nullopt;
  const bool one_by_one = any_below(program, node.operand[0], [&](const Node& inner) {
    return inner.kind == NodeKind::load && inner.type != node.type &&
           (is_integer(inner.type) || !converts_vectors(inner.type, node.type));
  });
  if (one_by_one || !uses_once(program, node, points, values)) return std::nullopt;
  const auto widest = limits.vector_bytes / size_of(node.type);
  constexpr std::int64_t kLittle = 64;  // a rest of which is read again, element by element
  for (const int q : node.over) {
    const auto extent = program.indices[at(q)].extent;
    const auto fits = [&](std::int64_t lanes) { return lanes > 1 && extent >= kVectors * lanes; };
    const auto leaves_little = [&](std::int64_t lanes) { return extent % lanes * kLittle <= extent; };
    std::int64_t lanes = 0;
    for (auto fewer = widest; 4 * fewer >= widest; fewer /= 2) {
      if (fits(fewer) && (lanes == 0 || (!leaves_little(lanes) && leaves_little(fewer)))) lanes = fewer;
    }
    if (lanes == 0) continue;
    const Cut whole{q, extent / lanes * lanes, 1, extent % lanes};
    const auto bytes = lanes * size_of(node.type);
    if (lanes_of(program, node, {whole}, bytes).index == q) return RowLanes{whole, bytes};
  }
  return std::nullopt;
}

}  // namespace ricci::ir
