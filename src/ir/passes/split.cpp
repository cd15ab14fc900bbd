#include "ir/passes/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "ir/passes/canonical.hpp"
#include "ir/passes/cut_products.hpp"
#include "ir/passes/index_uses.hpp"
#include "ir/passes/step_piece.hpp"

namespace ricci::ir {
namespace {

/// The smallest power of two from `value` on.
std::int64_t power_from(std::int64_t value) {
  std::int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

class Splitter {
 public:
  Splitter(Sequence sequence, const SplitLimits& limits) : sequence_(std::move(sequence)), limits_(limits) {}

  Sequence run() {
    // Steps made by a cut are looked at again: their tiles may be long, too.
    std::vector<Origin> origins(sequence_.steps.size(), Origin::lowered);
    for (std::size_t k = 0; k < sequence_.steps.size();) {
      origin_ = origins[k];
      auto made = cut(sequence_.steps[k]);
      if (made.empty()) {
        ++k;
        continue;
      }
      origins[k] = origin_;
      origins.insert(origins.begin() + static_cast<std::ptrdiff_t>(k), made.size() - 1, origin_);
      replace_step(sequence_, k, std::move(made));
    }
    return std::move(sequence_);
  }

 private:
  /// Which steps sum across memory: those that were lowered, where they read much, and what combines their results.
  enum class Origin : std::uint8_t { lowered, across, other };

  /// The steps that take the place of this one; none where it stays.
  std::vector<Step> cut(const Step& step) {
    const auto& program = step.program;
    if (program.points() == 0 || (limits_.stays && limits_.stays(program))) return {};
    if (program.statements.size() == 1) {
      const auto kind = program.nodes[at(program.statement().value)].kind;
      if (kind == NodeKind::scan) return cut_scan(step);
      if (kind == NodeKind::compact) return cut_compaction(step);
    }
    const auto reduces = [](const Node& node) { return node.kind == NodeKind::reduce; };
    if (std::none_of(program.nodes.begin(), program.nodes.end(), reduces)) return {};
    if (limits_.lanes_bytes == 0) return cut_reduction(step);
    // Neighbours over several indices fill vectors where each index alone does not.
    auto merged = step;
    merged.program = merge_indices(std::move(merged.program));
    return cut_reduction(merged);
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

  /// Parts of whole vectors, a few more than those of a power of two, that leave the least over: one worker combines
  /// what is left.
  void even_out(Cut& cut, std::int64_t extent) const {
    constexpr std::int64_t kMore = 64;
    const auto unit = limits_.lanes_bytes;  // elements of one byte at least
    const auto first = cut.tiles;
    for (auto tiles = first; tiles < first + kMore; ++tiles) {
      const auto length = extent / tiles / unit * unit, rest = extent - length * tiles;
      if (length > 0 && rest < cut.rest) cut = Cut{cut.index, length, tiles, rest};
    }
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

    const auto lanes = lanes_of(program, scan, {*tiles}, limits_.lanes_bytes);
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
    piece.store(program.statement());
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
    const auto depends = index_uses(program);
    const bool alone = std::count_if(program.nodes.begin(), program.nodes.end(),
                                     [](const Node& node) { return node.kind == NodeKind::reduce; }) == 1;
    for (std::size_t id = 0; id < program.nodes.size(); ++id) {
      const auto& node = program.nodes[id];
      if (node.kind != NodeKind::reduce || !any_order(program, node)) continue;
      bool outermost = true;
      for (std::size_t q = 0; q < free.size(); ++q) outermost = outermost && (!depends[id][q] || free[q]);
      const auto points = program.points(depends[id]);
      std::vector<bool> over(free.size());
      for (const int q : node.over) over[at(q)] = true;
      const auto values = program.points(over);
      if (!outermost) continue;
      // Once for what is in no cache of a core; then for partial results, until they are no work for several workers.
      const auto much = origin_ == Origin::across ? limits_.least_of_rows / 4 : limits_.least_of_rows * 4;
      if (alone && origin_ != Origin::other && points * values >= much) {
        if (const auto cut = cut_across(program, node, depends[id], points * values, limits_))
          return cut_reduction(step, static_cast<NodeId>(id), {{*cut}, 0, true}, depends[id]);
      }
      const bool products = sums_products(program, node);
      if (alone && !products && origin_ == Origin::lowered) {
        if (const auto cut = cut_columns(program, node, depends[id], points, values, limits_))
          return cut_reduction(step, static_cast<NodeId>(id), {{*cut}, 0, true}, depends[id]);
      }
      // What reads a value for each product, or for a few, is bound by memory: neighbours side by side, or whole rows.
      constexpr std::int64_t kFewResults = 16;
      const auto side_by_side = [&] {
        return limits_.lanes_bytes > 0 && (points < kFewResults || uses_once(program, node, points, values));
      };
      // Columns of short rows: tasks for some of the columns each would read a piece of every row.
      constexpr std::int64_t kShortRow = 16384;  // bytes
      const auto short_rows = [&] {
        return points >= limits_.workers && points * size_of(node.type) <= kShortRow &&
               sums_columns(program, node, depends[id], points * values);
      };
      const bool tiles_of_products =
          products && limits_.tile_points > 0 && values >= 2 * limits_.tile_least && (!side_by_side() || short_rows());
      if (worth_cutting(values, points) && limits_.lanes_bytes > 0 && !tiles_of_products) {
        constexpr std::int64_t kRows = 4;  // which hide how long an addition takes by themselves
        // Complex sums are held one by one: as many as a kernel goes on with in one run of neighbours.
        constexpr std::int64_t kComplexLanes = 8;
        const auto of_few = is_complex(node.type) ? kComplexLanes * size_of(node.type) : limits_.lanes_bytes;
        const auto lanes_bytes = points < kRows ? of_few : limits_.vector_bytes;
        if (const auto tiles = cut_of_reduction(program, node, points, values))
          return cut_reduction(step, static_cast<NodeId>(id), {{*tiles}, lanes_bytes}, depends[id]);
      }
      if (tiles_of_products) {
        constexpr std::int64_t kLaneResults = 256;  // of more, packing an operand is little of the time
        const auto lanes_bytes = points <= kLaneResults ? limits_.vector_bytes : 0;
        if (auto cuts = cuts_of_products(program, node, points, values, limits_); !cuts.empty())
          return cut_reduction(step, static_cast<NodeId>(id), {std::move(cuts), lanes_bytes, true}, depends[id]);
      }
      if (products || alone) {
        if (const auto rows = lanes_of_rows(program, node, points, values, limits_))
          return cut_reduction(step, static_cast<NodeId>(id), {{rows->whole}, rows->bytes}, depends[id]);
      }
      if (!worth_cutting(values, points)) continue;
      if (const auto tiles = cut_of_reduction(program, node, points, values))
        return cut_reduction(step, static_cast<NodeId>(id), {{*tiles}}, depends[id]);
    }
    return {};
  }

  /// The outermost index with values for all parts, or else the longest one.
  std::optional<Cut> cut_of_reduction(const Program& program, const Node& node, std::int64_t points,
                                      std::int64_t values) const {
    std::optional<Cut> best;
    for (const int q : node.over) {
      const bool again =
          any_below(program, node.operand[0], [&](const Node& inner) { return contains(inner.over, q); });
      const auto extent = program.indices[at(q)].extent;
      auto cut = again ? std::nullopt : cut_of(q, extent, points, values / extent);
      if (cut && limits_.lanes_bytes > 0) even_out(*cut, extent);
      if (cut && (!best || cut->tiles > 2 * best->tiles)) best = cut;
    }
    return best;
  }

  /// How a reduction is cut.
  struct Parts {
    std::vector<Cut> cuts;  ///< of several indices, whose parts are combined by one step: of one where a rest is left
    std::int64_t lanes_bytes = 0;  ///< of neighbouring partial results that are combined side by side
    bool apart = false;            ///< written tile by tile of points: parts are furthest apart
  };

  std::vector<Step> cut_reduction(const Step& step, NodeId id, const Parts& how, const std::vector<bool>& depends) {
    const auto& program = step.program;
    const auto& node = program.nodes[at(id)];
    const auto& [cuts, lanes_bytes, apart] = how;
    origin_ = cuts.front().across ? Origin::across : Origin::other;
    const auto& tiles = cuts.front();
    const auto lanes = lanes_of(program, node, cuts, lanes_bytes);
    std::int64_t parts = 1;
    for (const auto& cut : cuts) parts *= cut.parts();
    const auto partial = rows(program, depends, (apart ? 1 : parts) * lanes.count, node.type, "partial");
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
      for (const auto& cut : cuts)
        part.push_back(cut.across ? piece.index(cut.index, cut.length, 1, 0, "_in")
                                  : piece.index(cut.index, cut.tiles, cut.length, 0, "_tile"));
      std::vector<int> over;
      int lane = -1;
      for (const int q : node.over) {
        const auto cut = std::find_if(cuts.begin(), cuts.end(), [&](const Cut& c) { return c.index == q; });
        const auto extent = cut != cuts.end() ? cut->length : program.indices[at(q)].extent;
        if (q == lanes.index) {
          over.push_back(piece.index(q, extent / lanes.count, lanes.count, 0, "_in"));
          lane = piece.index(q, lanes.count, 1, 0, "_lane");
        } else {
          over.push_back(cut == cuts.end() ? piece.whole(q)
                         : cut->across     ? piece.index(q, cut->tiles, cut->length, 0, "_tile")
                                           : piece.index(q, extent, 1, 0, "_in"));
        }
      }
      const auto value = piece.builder.reduce(node.op, piece.copy(node.operand[0]), over);
      auto place = piece.row(partial, -1);
      auto step_of_part = parts * (apart ? stride : lanes.count);
      for (std::size_t k = 0; k < cuts.size(); ++k) {
        step_of_part /= cuts[k].parts();
        StepPiece::add_term(place, part[k], step_of_part);
      }
      if (lane >= 0) StepPiece::add_term(place, lane, 1);
      piece.builder.store(piece.buffer(sequence_, partial.storage, true), std::move(place), value);
      made.push_back(piece.finish());
    }
    // Combined by all points that need it, or once for them.
    const auto result = [&](StepPiece& piece) {
      std::vector<int> each{piece.fresh_index("tile", apart ? parts : parts * lanes.count)};
      auto place = piece.row(partial, each[0], stride);
      if (apart && lanes.count > 1) {
        each.push_back(piece.fresh_index("lane", lanes.count));
        StepPiece::add_term(place, each[1], 1);
      }
      const auto part = piece.builder.load(piece.buffer(sequence_, partial.storage), std::move(place));
      auto value = piece.builder.reduce(node.op, part, each);
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
    for (const auto& statement : program.statements) piece.store(statement);
    made.push_back(piece.finish());
    return made;
  }

  Sequence sequence_;
  const SplitLimits limits_;
  Origin origin_ = Origin::lowered;  ///< of the step that is looked at, then of those that are made of it
};

}  // namespace

Sequence split_long(Sequence sequence, const SplitLimits& limits) {
  auto made = Splitter(std::move(sequence), limits).run();
  verify_storages(made);
  return made;
}

}  // namespace ricci::ir
