#include "ir/passes/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "ir/passes/step_piece.hpp"

namespace ricci::ir {
namespace {

bool contains(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// The smallest power of two from `value` on.
std::int64_t power_from(std::int64_t value) {
  std::int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

/// Per node: indices that its value depends on.
std::vector<std::vector<bool>> dependencies(const Program& program) {
  std::vector<std::vector<bool>> depends(program.nodes.size(), std::vector<bool>(program.indices.size()));
  for (std::size_t id = 0; id < depends.size(); ++id) {
    const auto& node = program.nodes[id];
    auto& own = depends[id];
    if (node.kind == NodeKind::index) own[at(node.source)] = true;
    for (std::size_t q = 0; node.kind == NodeKind::load && q < own.size(); ++q)
      own[q] = node.offset.coefficient[q] != 0;
    for (int k = 0; k < operand_count(node); ++k) {
      const auto& below = depends[at(node.operand[k])];
      for (std::size_t q = 0; q < own.size(); ++q)
        own[q] = own[q] || (below[q] && !contains(node.over, static_cast<int>(q)));
    }
  }
  return depends;
}

/// Whether a node that `root` is made of, itself included, is one for which f holds.
template <class F>
bool any_below(const Program& program, NodeId root, F f) {
  std::vector<bool> used(program.nodes.size());
  used[at(root)] = true;
  for (std::size_t id = at(root) + 1; id-- > 0;) {
    if (!used[id]) continue;
    if (f(program.nodes[id])) return true;
    for (int k = 0; k < operand_count(program.nodes[id]); ++k) used[at(program.nodes[id].operand[k])] = true;
  }
  return false;
}

/// How an index is cut: `tiles` whole ones of `length` values, and `rest` behind them.
struct Cut {
  int index = -1;
  std::int64_t length = 0, tiles = 0, rest = 0;
  std::int64_t row = 1;  ///< neighbours that stay together
};

class Splitter {
 public:
  Splitter(Sequence sequence, const SplitLimits& limits) : sequence_(std::move(sequence)), limits_(limits) {}

  Sequence run() {
    // Steps made by a cut are looked at again: their tiles may be long, too.
    for (std::size_t k = 0; k < sequence_.steps.size();) {
      auto made = cut(sequence_.steps[k]);
      if (made.empty()) {
        ++k;
        continue;
      }
      const auto place = sequence_.steps.begin() + static_cast<std::ptrdiff_t>(k);
      sequence_.steps.insert(sequence_.steps.erase(place), std::make_move_iterator(made.begin()),
                             std::make_move_iterator(made.end()));
    }
    return std::move(sequence_);
  }

 private:
  /// The steps that take the place of this one; none where it stays.
  std::vector<Step> cut(const Step& step) {
    const auto& program = step.program;
    if (program.points() == 0) return {};
    if (program.statements.size() == 1) {
      const auto kind = program.nodes[at(program.statement().value)].kind;
      if (kind == NodeKind::scan) return cut_scan(step);
      if (kind == NodeKind::compact) return cut_compaction(step);
    }
    return cut_reduction(step);
  }

  bool any_order(const Program& program, const Node& node) const {
    const bool reduces = node.kind == NodeKind::reduce;
    if (!reduces && !limits_.scans) return false;
    if (exactly_associates(node.op, node.type)) return reduces ? limits_.exact_reductions : limits_.exact_scans;
    return !program.exact;
  }

  /// Few points run over many values each.
  bool worth_cutting(std::int64_t values, std::int64_t points) const {
    return values > limits_.longest && points < limits_.workers;
  }

  /// Of an index that few points run over: tiles of a power of two, which every vector divides.
  std::optional<Cut> cut_of(int index, std::int64_t extent, std::int64_t points, std::int64_t times) const {
    const auto most = std::min(limits_.parts / std::max<std::int64_t>(points, 1), extent * times / limits_.least);
    if (most < 2 || extent < 2) return std::nullopt;
    Cut cut;
    cut.index = index;
    cut.length = power_from((extent + most - 1) / most);
    if (cut.length > extent / 2) cut.length /= 2;
    cut.tiles = extent / cut.length;
    cut.rest = extent % cut.length;
    if (cut.tiles < 2) return std::nullopt;
    return cut;
  }

  /// A new storage with `length` elements for each combination of those indices.
  Rows rows(const Program& program, const std::vector<bool>& indices, std::int64_t length, DType type,
            const std::string& stem) {
    Rows made;
    made.stride.assign(indices.size(), 0);
    for (std::size_t q = indices.size(); q-- > 0;) {
      if (!indices[q]) continue;
      made.stride[q] = length;
      length *= program.indices[q].extent;
    }
    made.storage = static_cast<int>(sequence_.storages.size());
    sequence_.storages.push_back({fresh_name(sequence_, stem), Role::workspace, type, 0, length - 1, 256});
    return made;
  }

  // ---- scans

  std::vector<Step> cut_scan(const Step& step) {
    const auto& program = step.program;
    const auto& statement = program.statement();
    const auto& scan = program.nodes[at(statement.value)];
    const int q = scan.over[0];
    const auto extent = program.indices[at(q)].extent;
    const auto free = program.free_indices();
    const auto points = program.points(free);
    if (!worth_cutting(extent, points) || !any_order(program, scan)) return {};
    const auto body = scan.operand[0];
    const bool heavy = any_below(program, body, [](const Node& node) { return node.kind == NodeKind::reduce; });
    const bool in_place = any_below(program, body, [&](const Node& node) {
      return node.kind == NodeKind::load && node.source == statement.buffer;
    });
    // What an exclusive scan writes lies one element behind what it has read, in another tile perhaps.
    if (heavy || (in_place && scan.exclusive)) return write_body(step, q, free);
    const auto tiles = cut_of(q, extent, points, 1);
    if (!tiles) return {};

    const auto lanes = lanes_of(program, scan, *tiles);
    const auto partial = rows(program, free, tiles->tiles * lanes.count, scan.type, "partial");
    const auto before = rows(program, free, tiles->tiles + 1, scan.type, "before");
    std::vector<Step> made;
    {
      StepPiece piece(step);
      const auto t = piece.index(q, tiles->tiles, tiles->length, 0, "_tile");
      const auto j = piece.index(q, tiles->length / lanes.count, lanes.count, 0, "_in");
      auto place = piece.row(partial, t, lanes.count);
      if (lanes.count > 1) StepPiece::add_term(place, piece.index(q, lanes.count, 1, 0, "_lane"), 1);
      const auto value = piece.builder.reduce(scan.op, piece.copy(body), {j});
      piece.builder.store(piece.buffer(sequence_, partial.storage, true), std::move(place), value);
      made.push_back(piece.finish());
    }
    {
      StepPiece piece(step);
      const auto t = piece.fresh_index("tile", tiles->tiles);
      auto place = piece.row(partial, t, lanes.count);
      std::vector<int> lane;
      if (lanes.count > 1) {
        lane.push_back(piece.fresh_index("lane", lanes.count));
        StepPiece::add_term(place, lane[0], 1);
      }
      const auto load = piece.builder.load(piece.buffer(sequence_, partial.storage), std::move(place));
      const auto combined = piece.builder.reduce(scan.op, load, lane);
      const auto start = scan.operand[1] < 0 ? -1 : piece.copy(scan.operand[1]);
      piece.builder.store(piece.buffer(sequence_, before.storage, true), piece.row(before, -1),
                          piece.builder.scan(scan.op, combined, t, true, start), 1);
      const auto to = piece.buffer(statement.buffer, true);
      if (scan.exclusive) {
        const auto first = start < 0 ? piece.builder.constant(identity_constant(scan.op, scan.type)) : start;
        piece.builder.store(to, piece.affine(statement.offset), first);
      }
      if (tiles->rest > 0) {
        auto total = piece.builder.reduce(scan.op, combined, {t});
        if (start >= 0) total = piece.builder.op(scan.op, scan.type, start, total);
        const auto j = piece.index(q, tiles->rest, 1, tiles->tiles * tiles->length, "_in");
        store_inclusive(piece, step, piece.builder.scan(scan.op, piece.copy(body), j, false, total),
                        tiles->tiles * tiles->length, -1, 0);
      }
      made.push_back(piece.finish());
    }
    {
      StepPiece piece(step);
      const auto t = piece.index(q, tiles->tiles, tiles->length, 0, "_tile");
      const auto j = piece.index(q, tiles->length, 1, 0, "_in");
      const auto start = piece.load(sequence_, before, t);
      store_inclusive(piece, step, piece.builder.scan(scan.op, piece.copy(body), j, false, start), 0, t, tiles->length);
      made.push_back(piece.finish());
    }
    return made;
  }

  /// The prefixes up to element `first` and those behind it, of the tile `index` where there are several: an exclusive
  /// scan's lie one element further on.
  static void store_inclusive(StepPiece& piece, const Step& step, NodeId value, std::int64_t first, int index,
                              std::int64_t length) {
    const auto& statement = step.program.statement();
    const bool exclusive = step.program.nodes[at(statement.value)].exclusive;
    auto place = piece.affine(statement.offset);
    place.constant += statement.step * (first + (exclusive ? 1 : 0));
    if (index >= 0) StepPiece::add_term(place, index, statement.step * length);
    piece.builder.store(piece.buffer(statement.buffer, true), std::move(place), value, statement.step);
  }

  /// The body of a scan into a storage, the scan over what is there.
  std::vector<Step> write_body(const Step& step, int q, const std::vector<bool>& free) {
    const auto& program = step.program;
    const auto& scan = program.nodes[at(program.statement().value)];
    auto all = free;
    all[at(q)] = true;
    const auto values = rows(program, all, 1, scan.type, "values");
    std::vector<Step> made;
    {
      StepPiece piece(step);
      auto value = piece.copy(scan.operand[0]);
      const auto guards = [](const Node& node) { return node.kind == NodeKind::guard; };
      // A guard asks the operation around it what to give instead.
      if (any_below(program, scan.operand[0], guards)) {
        value = piece.builder.reduce(scan.op, value, {piece.fresh_index("once", 1)});
      }
      piece.builder.store(piece.buffer(sequence_, values.storage, true), piece.row(values, -1), value);
      made.push_back(piece.finish());
    }
    StepPiece piece(step);
    piece.replace(scan.operand[0], piece.load(sequence_, values, -1));
    const auto& statement = program.statement();
    const auto value = piece.copy(statement.value);
    piece.builder.store(piece.buffer(statement.buffer, true), piece.affine(statement.offset), value, statement.step);
    made.push_back(piece.finish());
    return made;
  }

  // ---- compactions

  std::vector<Step> cut_compaction(const Step& step) {
    const auto& program = step.program;
    const auto& statement = program.statement();
    const auto& compact = program.nodes[at(statement.value)];
    const int q = compact.over[0];
    const auto extent = program.indices[at(q)].extent;
    const auto free = program.free_indices();
    const auto points = program.points(free);
    if (!worth_cutting(extent, points) || !limits_.scans || !limits_.exact_scans) return {};
    const auto tiles = cut_of(q, extent, points, 1);
    if (!tiles) return {};

    const auto counts = rows(program, free, tiles->tiles, DType::i64, "count");
    const auto before = rows(program, free, tiles->tiles + 1, DType::i64, "before");
    std::vector<Step> made;
    const auto compaction = [&](StepPiece& piece, int j, NodeId passed) {
      auto& builder = piece.builder;
      const auto step_node = builder.integer(static_cast<std::uint64_t>(statement.step), DType::i64);
      if (statement.step != 1) passed = builder.op(OpCode::mul, DType::i64, step_node, passed);
      const auto base = builder.op(OpCode::add, DType::i64, piece.copy(compact.operand[2]), passed);
      const auto predicate = piece.copy(compact.operand[0]), payload = piece.copy(compact.operand[1]);
      const auto value = builder.compact(predicate, payload, base, j);
      builder.store(piece.buffer(statement.buffer, true), piece.affine(statement.offset), value, statement.step);
    };
    {
      StepPiece piece(step);
      const auto t = piece.index(q, tiles->tiles, tiles->length, 0, "_tile");
      const auto j = piece.index(q, tiles->length, 1, 0, "_in");
      auto& builder = piece.builder;
      const auto one = builder.guard(piece.copy(compact.operand[0]), builder.constant(1, DType::i64));
      const auto value = builder.reduce(OpCode::add, one, {j});
      builder.store(piece.buffer(sequence_, counts.storage, true), piece.row(counts, t), value);
      made.push_back(piece.finish());
    }
    {
      StepPiece piece(step);
      const auto t = piece.fresh_index("tile", tiles->tiles);
      const auto combined = piece.load(sequence_, counts, t);
      piece.builder.store(piece.buffer(sequence_, before.storage, true), piece.row(before, -1),
                          piece.builder.scan(OpCode::add, combined, t, true), 1);
      if (tiles->rest > 0) {
        const auto passed = piece.builder.reduce(OpCode::add, combined, {t});
        compaction(piece, piece.index(q, tiles->rest, 1, tiles->tiles * tiles->length, "_in"), passed);
      }
      made.push_back(piece.finish());
    }
    {
      StepPiece piece(step);
      const auto t = piece.index(q, tiles->tiles, tiles->length, 0, "_tile");
      const auto j = piece.index(q, tiles->length, 1, 0, "_in");
      compaction(piece, j, piece.load(sequence_, before, t));
      made.push_back(piece.finish());
    }
    return made;
  }

  // ---- reductions

  std::vector<Step> cut_reduction(const Step& step) {
    const auto& program = step.program;
    const auto free = program.free_indices();
    const auto depends = dependencies(program);
    for (std::size_t id = 0; id < program.nodes.size(); ++id) {
      const auto& node = program.nodes[id];
      if (node.kind != NodeKind::reduce || !any_order(program, node)) continue;
      bool outermost = true;
      for (std::size_t q = 0; q < free.size(); ++q) outermost = outermost && (!depends[id][q] || free[q]);
      const auto points = program.points(depends[id]);
      std::vector<bool> over(free.size());
      for (const int q : node.over) over[at(q)] = true;
      const auto values = program.points(over);
      if (outermost && sums_products(program, node)) {
        if (const auto cuts = cuts_of_products(program, node, points, values); !cuts.empty())
          return cut_reduction(step, static_cast<NodeId>(id), cuts, depends[id]);
      }
      if (!outermost || !worth_cutting(values, points)) continue;
      if (const auto tiles = cut_of_reduction(program, node, points, values)) {
        return cut_reduction(step, static_cast<NodeId>(id), {*tiles}, depends[id]);
      }
    }
    return {};
  }

  bool sums_products(const Program& program, const Node& node) const {
    if (limits_.tile_points == 0 || node.op != OpCode::add) return false;
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

  /// How far apart the values of each index lie in the operands of a product, whichever has them nearer: in those that
  /// are most of what is read.
  static std::vector<std::int64_t> steps_of_operands(const Program& program, const Node& node) {
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

  /// Indices in equal parts, so many that the tiles of all parts are work for all; none where they are without, or
  /// where the sums would be too short to be worth partial results.
  std::vector<Cut> cuts_of_products(const Program& program, const Node& node, std::int64_t points,
                                    std::int64_t values) const {
    const auto step = steps_of_operands(program, node);
    std::vector<Cut> left;  // of each index, what one part has of it
    constexpr std::int64_t kRowBytes = 128;
    for (const int q : node.over) {
      const std::int64_t row =
          step[at(q)] == 1 && limits_.cut_order == CutOrder::furthest ? kRowBytes / size_of(node.type) : 1;
      left.push_back({q, program.indices[at(q)].extent, 1, 0, row});
    }
    std::stable_sort(left.begin(), left.end(),
                     [&](const Cut& x, const Cut& y) { return step[at(x.index)] > step[at(y.index)]; });
    // The furthest apart first, unless too few parts follow: 8 of an index, of which 5 make as many as are wanted.
    std::vector<Cut> best;
    std::int64_t most = 1;
    for (auto first = left.begin(); first != left.end() && wanted_parts(points * most, values / most) > 1; ++first) {
      auto order = left;
      std::rotate(order.begin(), order.begin() + (first - left.begin()), order.begin() + (first - left.begin()) + 1);
      auto cuts = cuts_in_order(std::move(order), points, values);
      std::int64_t parts = 1;
      for (const auto& cut : cuts) parts *= cut.tiles;
      if (parts > most) {
        most = parts;
        best = std::move(cuts);
      }
    }
    return best;
  }

  /// The same, cut in this order of indices.
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
    constexpr std::int64_t kLeastProducts = 1024;  // of a part
    const auto tiles = std::max<std::int64_t>((points + limits_.tile_points - 1) / limits_.tile_points, 1);
    if (2 * tiles > limits_.tile_workers) return 0;
    return std::min(limits_.tile_workers / tiles, values / kLeastProducts);
  }

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

  /// The outermost index with values for all parts, or else the longest one.
  std::optional<Cut> cut_of_reduction(const Program& program, const Node& node, std::int64_t points,
                                      std::int64_t values) const {
    std::optional<Cut> best;
    for (const int q : node.over) {
      const bool again =
          any_below(program, node.operand[0], [&](const Node& inner) { return contains(inner.over, q); });
      const auto extent = program.indices[at(q)].extent;
      const auto cut = again ? std::nullopt : cut_of(q, extent, points, values / extent);
      if (cut && (!best || cut->tiles > 2 * best->tiles)) best = cut;
    }
    return best;
  }

  /// Neighbours of an index of the reduction whose values are combined side by side.
  struct Lanes {
    int index = -1;
    std::int64_t count = 1;
  };

  Lanes lanes_of(const Program& program, const Node& node, const Cut& tiles) const {
    if (limits_.lanes_bytes == 0 || is_integer(node.type)) return {};
    for (const int q : node.over) {
      bool neighbours = false, others = false;
      any_below(program, node.operand[0], [&](const Node& inner) {
        const auto step = inner.kind == NodeKind::load ? inner.offset.coefficient[at(q)] : 0;
        neighbours = neighbours || step == 1;
        others = others || (step != 0 && step != 1) || contains(inner.over, q) ||
                 (inner.kind == NodeKind::index && inner.source == q);
        return false;
      });
      const auto length = q == tiles.index ? tiles.length : program.indices[at(q)].extent;
      const auto lanes = limits_.lanes_bytes / size_of(node.type);
      if (neighbours && !others && length % lanes == 0 && length >= 4 * lanes) return {q, lanes};
    }
    return {};
  }

  ///   cuts  of several indices, whose parts are combined by one step: of one where a rest is left
  std::vector<Step> cut_reduction(const Step& step, NodeId id, const std::vector<Cut>& cuts,
                                  const std::vector<bool>& depends) {
    const auto& program = step.program;
    const auto& node = program.nodes[at(id)];
    const auto& tiles = cuts.front();
    const auto lanes = lanes_of(program, node, tiles);
    std::int64_t parts = 1;
    for (const auto& cut : cuts) parts *= cut.tiles;
    // Partial sums of products are written tile by tile of points: parts are furthest apart.
    const bool apart = sums_products(program, node);
    const auto partial = rows(program, depends, apart ? 1 : parts * lanes.count, node.type, "partial");
    std::int64_t stride = 1;
    if (apart) {
      auto& last = sequence_.storages[static_cast<std::size_t>(partial.storage)].last;
      stride = last + 1;
      last = parts * stride - 1;
    }
    std::vector<Step> made;
    {
      StepPiece piece(step);
      std::vector<int> part;  // of each cut
      for (const auto& cut : cuts) part.push_back(piece.index(cut.index, cut.tiles, cut.length, 0, "_tile"));
      std::vector<int> over;
      int lane = -1;
      for (const int q : node.over) {
        const auto cut = std::find_if(cuts.begin(), cuts.end(), [&](const Cut& c) { return c.index == q; });
        const auto extent = cut != cuts.end() ? cut->length : program.indices[at(q)].extent;
        if (q == lanes.index) {
          over.push_back(piece.index(q, extent / lanes.count, lanes.count, 0, "_in"));
          lane = piece.index(q, lanes.count, 1, 0, "_lane");
        } else {
          over.push_back(cut != cuts.end() ? piece.index(q, extent, 1, 0, "_in") : piece.whole(q));
        }
      }
      const auto value = piece.builder.reduce(node.op, piece.copy(node.operand[0]), over);
      auto place = piece.row(partial, -1);
      auto step_of_part = parts * (apart ? stride : lanes.count);
      for (std::size_t k = 0; k < cuts.size(); ++k) {
        step_of_part /= cuts[k].tiles;
        StepPiece::add_term(place, part[k], step_of_part);
      }
      if (lane >= 0) StepPiece::add_term(place, lane, 1);
      piece.builder.store(piece.buffer(sequence_, partial.storage, true), std::move(place), value);
      made.push_back(piece.finish());
    }
    // Combined by all points that need it, or once for them.
    const auto result = [&](StepPiece& piece) {
      const auto t = piece.fresh_index("tile", parts * lanes.count);
      const auto part = piece.builder.load(piece.buffer(sequence_, partial.storage), piece.row(partial, t, stride));
      auto value = piece.builder.reduce(node.op, part, {t});
      if (tiles.rest > 0) {
        const auto j = piece.index(tiles.index, tiles.rest, 1, tiles.tiles * tiles.length, "_rest");
        std::vector<int> over;
        for (const int q : node.over) over.push_back(q == tiles.index ? j : piece.whole(q));
        const auto rest = piece.builder.reduce(node.op, piece.copy(node.operand[0]), over);
        value = piece.builder.op(node.op, node.type, value, rest);
        piece.forget(tiles.index);
      }
      return value;
    };
    const bool shared = program.points(program.free_indices()) > program.points(depends);
    Rows total;
    if (shared) {
      total = rows(program, depends, 1, node.type, "total");
      StepPiece piece(step);
      const auto value = result(piece);
      piece.builder.store(piece.buffer(sequence_, total.storage, true), piece.row(total, -1), value);
      made.push_back(piece.finish());
    }
    StepPiece piece(step);
    const auto value = shared ? piece.load(sequence_, total, -1) : result(piece);
    piece.replace(id, value);
    for (const auto& statement : program.statements) {
      const auto stored = piece.copy(statement.value);
      piece.builder.store(piece.buffer(statement.buffer, true), piece.affine(statement.offset), stored, statement.step);
    }
    made.push_back(piece.finish());
    return made;
  }

  Sequence sequence_;
  const SplitLimits limits_;
};

}  // namespace

Sequence split_long(Sequence sequence, const SplitLimits& limits) {
  auto made = Splitter(std::move(sequence), limits).run();
  verify(made);
  return made;
}

}  // namespace ricci::ir
