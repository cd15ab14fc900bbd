// Kernels that move elements on a CPU through an array: a tile is read in the input's order and written in the
// output's.
//
//   blocks transposed in registers, or rows, or elements -> kept[...] -> contiguous runs of the output
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernel/permute/build_permute.hpp"
#include "kernel/permute/cpu_stage.hpp"
#include "kernel/permute/cpu_tile.hpp"
#include "kernel/permute/makers.hpp"
#include "kernel/verify.hpp"

namespace ricci::kernel {
namespace {

using ir::NodeId;

/// Rows of a block at least so many bytes apart, each in a page of its own, are read without a loop along them, whose
/// end is often mispredicted; nearer ones were read faster with it. Of so many blocks at most, for the code's length.
constexpr std::int64_t kFarApart = 4096, kMostSpeltOut = 8;

/// Offsets of the values along one side of a block, of which `per_block` are in one: numbers, multiples of a number, or
/// elements of a table.
class Side {
 public:
  Side(Kernel& kernel, std::string name, std::string table, std::vector<std::int64_t> offsets, std::int64_t per_block)
      : kernel_(kernel),
        name_(std::move(name)),
        table_(std::move(table)),
        list_(std::move(offsets)),
        per_block_(per_block) {
    for (std::size_t n = 1; n < list_.size(); ++n) even_ = even_ && list_[n] - list_[n - 1] == list_[1] - list_[0];
    least_ = *std::min_element(list_.begin(), list_.end());
    most_ = *std::max_element(list_.begin(), list_.end());
    if (whole()) return;
    first_ = kernel.add_var(ragged() ? name_ + "_at" : name_, values());
    place_ = ragged() ? kernel.add_var(name_, values() - per_block + 1) : first_;
  }

  /// Whether one block has all values.
  bool whole() const { return values() == per_block_; }
  Affine place() const { return whole() ? Affine() : Affine::of(place_); }
  /// The offset of value `n` of a block; what names it comes before.
  Affine at(Body& names, std::int64_t n) const {
    if (whole()) return list_[static_cast<std::size_t>(n)];
    const auto value = Affine::of(place_) + Affine(n);
    if (even_) return (list_[1] - list_[0]) * value + Affine(list_[0]);
    Let let{kernel_.add_var(table_, most_ - least_ + 1), value};
    for (const auto offset : list_) let.values.push_back(offset - least_);
    let.in_place = true;
    const auto var = let.var;
    names.push_back({std::move(let)});
    return Affine::of(var) + Affine(least_);
  }
  /// The last block begins earlier, so that it is whole.
  void name(Body& names) const {
    if (!whole() && ragged())
      names.push_back({Let{.var = place_, .of = Affine::of(first_), .most = values() - per_block_}});
  }
  Body around(Body body, Bind bind = Bind::rolled) const {
    if (whole()) return body;
    Loop loop{first_, bind, {}, std::move(body)};
    loop.step = per_block_;
    return {{std::move(loop)}};
  }

  std::int64_t blocks() const { return (values() + per_block_ - 1) / per_block_; }

 private:
  std::int64_t values() const { return static_cast<std::int64_t>(list_.size()); }
  bool ragged() const { return values() % per_block_ != 0; }

  Kernel& kernel_;
  std::string name_, table_;
  std::vector<std::int64_t> list_;
  std::int64_t per_block_, least_ = 0, most_ = 0;
  bool even_ = true;
  Var first_ = -1, place_ = -1;
};

class StagedBuilder : CpuTile {
 public:
  StagedBuilder(const ir::Program& program, const Moves& moves)
      : CpuTile(program, moves), stage_(*moves.stage), ahead_(input_ahead(program, moves)) {
    const auto arrays = stage_arrays(program, moves);
    before_ = arrays.before;
    kept_ = add_scratch("kept", arrays.arrays * arrays.elements);
    if (arrays.carried > 0) waiting_ = add_scratch("waiting", arrays.carried);
    for (int q = 0; q < indices(); ++q) inner_.push_back(tile(q) > 1 ? kernel_.add_var(name(q), tile(q)) : -1);
  }

  Kernel run() {
    Body body = origins(true);
    if (ahead_.on())
      body.push_back({FetchRows{at(load().source, load().offset, origin_), ahead_.row, ahead_.length, ahead_.tiles,
                                ahead_.in_row, ahead_.early},
                      line_of(kernel_, {"prefetch"})});
    Section read{fmt::format("read {} along {}", array_name(load().source), name(first_of(stage_.mapping))), reading()};
    if (ahead_.on()) read.ahead = moves_.tile_points() * size_of(output().type), read.fills = kept_;
    body.push_back({std::move(read), line_of(kernel_, {"stage"})});
    body.push_back(
        {Section{fmt::format("write {} along {}", output().name, name(first_of(moves_.mapping))), writing()}});
    kernel_.body = in_tasks(std::move(body));
    return std::move(kernel_);
  }

 private:
  using Digits = std::vector<MixedRadixDigit>;

  static int first_of(const ThreadMapping& mapping) { return mapping.digits.front().index; }
  const std::string& array_name(int array) const { return kernel_.array(array).name; }
  const Array& output() const { return kernel_.array(statement().buffer); }
  std::int64_t kept(int q) const { return stage_.layout.stride[as_size(q)]; }

  int add_scratch(const std::string& name, std::int64_t elements) {
    Array array;
    array.name = name;
    array.type = load().type;
    array.space = Space::scratch;
    array.shape = {elements};
    array.origin = line_of(kernel_, {"layout", "stage"});
    return kernel_.add_array(std::move(array));
  }

  // ---- places in the tile: per index what it is beyond the tile's origin

  std::vector<Affine> beyond(const std::vector<bool>& varies) const {
    std::vector<Affine> place(program_.indices.size());
    for (int q = 0; q < indices(); ++q)
      if (tile(q) > 1 && varies[as_size(q)]) place[as_size(q)] = Affine::of(inner_[as_size(q)]);
    return place;
  }
  std::vector<Affine> absolute(std::vector<Affine> place) const {
    for (int q = 0; q < indices(); ++q) place[as_size(q)] = origin_[as_size(q)] + place[as_size(q)];
    return place;
  }
  Access in_array(const std::vector<Affine>& place) const {
    Affine sum(before_);
    for (int q = 0; q < indices(); ++q) sum = sum + kept(q) * place[as_size(q)];
    return {kept_, {std::move(sum)}};
  }
  static Access moved(Access access, const Affine& by, int lanes = 1) {
    access.index.front() = access.index.front() + by;
    access.lanes = lanes;
    return access;
  }
  Access input(const std::vector<Affine>& place) const { return at(load().source, load().offset, absolute(place)); }

  /// Loops over digits around a body, the last one outermost.
  Body around(const Digits& digits, std::size_t first, std::size_t last, Bind bind, Body body) const {
    for (auto k = first; k < last; ++k) {
      const auto q = digits[k].index;
      if (tile(q) > 1) body = {loop_over(inner_[as_size(q)], bind, std::move(body))};
    }
    return body;
  }
  std::vector<bool> varying(const Digits& digits, std::size_t first, std::size_t last) const {
    std::vector<bool> varies(program_.indices.size());
    for (auto k = first; k < last; ++k) varies[as_size(digits[k].index)] = true;
    return varies;
  }

  // ---- reading. Loops that are never spelt out are stepped through where the section is executed ahead.

  Body reading() { return stage_.mapping.vector > 1 ? blocks() : rows(); }

  /// Contiguous runs, or single elements: executed ahead at once, as nothing is computed that stores could hide.
  Body rows() {
    const auto& digits = stage_.mapping.digits;
    const auto along = [&](int q) { return load().offset.coefficient[as_size(q)]; };
    const auto [runs, length] = run_of(stage_.mapping, along, [&](int q) { return kept(q); });
    const auto place = beyond(varying(digits, runs, digits.size()));
    const auto from = input(place), to = in_array(place);
    Body body;
    if (runs > 0) {
      body = {{CopyRun{to, from, length}}};
    } else {
      body = {{Store{to, load_of(load().type, from)}}};
    }
    return around(digits, runs, digits.size(), Bind::any, std::move(body));
  }

  Body blocks() {
    const auto block = transpose_block(moves_);
    const auto& along = stage_.mapping.digits;
    const auto& across = moves_.mapping.digits;
    const Side columns(kernel_, fresh("column"), fresh("column_in_kept"),
                       offsets(along, 0, as_size(stage_.along), stage_.layout.stride), block.columns);
    const Side rows(kernel_, fresh("row"), fresh("row_in_" + array_name(load().source)),
                    offsets(across, 0, as_size(stage_.across), load().offset.coefficient), block.rows);
    // Digits of the input's mapping outside of blocks.
    auto inside = varying(along, 0, as_size(stage_.along));
    for (int k = 0; k < stage_.across; ++k) inside[as_size(across[as_size(k)].index)] = true;
    Digits outside;
    for (const auto& digit : along)
      if (!inside[as_size(digit.index)]) outside.push_back(digit);
    const auto place = beyond(varying(outside, 0, outside.size()));
    Body body =
        one_block(block, columns, rows, moved(input(place), columns.place()), moved(in_array(place), rows.place()));
    // Executed ahead, along the rows first, which hardware prefetchers follow; otherwise rows are the inner loop: they
    // fill a cache line of the array while it is in L1.
    if (ahead_.on()) {
      const auto apart = std::abs(load().offset.coefficient[as_size(across.front().index)]) * size_of(load().type);
      const bool spelt_out = apart >= kFarApart && columns.blocks() <= kMostSpeltOut;
      body = rows.around(columns.around(std::move(body), spelt_out ? Bind::unroll : Bind::rolled));
    } else {
      body = columns.around(rows.around(std::move(body)));
    }
    return around(outside, 0, outside.size(), ahead_.on() ? Bind::rolled : Bind::any, std::move(body));
  }

  Body one_block(const TransposeBlock& block, const Side& columns, const Side& rows, const Access& from,
                 const Access& to) {
    const auto type = load().type;
    const int vectors = block.transposed_vectors(), lanes = block.columns * block.row_packing;
    const auto held = add_registers("rows", type, lanes, {vectors});
    const auto row = [&](int v) { return Access{held, {Affine(v)}, lanes}; };
    Body body;
    columns.name(body);
    rows.name(body);
    body.push_back({Declare{held}});
    for (int v = 0; v < block.vectors(); ++v) {
      std::vector<Value> parts;
      for (int r = v; r < block.piece; r += vectors) {
        // Rows that are not used repeat one that is.
        const auto offset = rows.at(body, r < block.rows ? r : v);
        parts.push_back(load_of(type, moved(from, offset, block.columns)));
      }
      for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
        for (std::size_t k = 0; k < parts.size() / 2; ++k) {
          Value both;
          both.kind = Value::Kind::pack;
          both.type = type;
          both.operands = {std::move(parts[2 * k]), std::move(parts[2 * k + 1])};
          parts[k] = std::move(both);
        }
      }
      body.push_back({Store{row(v), std::move(parts.front())}});
    }
    body.push_back({Transpose{held, block.vectors()}});
    for (int c = 0; c < block.columns; ++c) {
      const auto spot = transposed(kernel_.array(held), c);
      auto column = load_of(type, row(spot.vector));
      if (block.piece < lanes) {
        Value part;
        part.kind = Value::Kind::part;
        part.type = type;
        part.affine = spot.lane;
        part.access.lanes = block.piece;
        part.operands = {std::move(column)};
        column = std::move(part);
      }
      auto target = moved(to, columns.at(body, c), block.piece);
      if (block.rows < block.piece || block.piece == 1) target.count = block.rows;
      body.push_back({Store{std::move(target), std::move(column)}});
    }
    return body;
  }

  // ---- writing

  Body writing() {
    const auto& digits = moves_.mapping.digits;
    const auto [runs, length] = run_of(
        moves_.mapping, [&](int q) { return statement().offset.coefficient[as_size(q)]; },
        [&](int q) { return kept(q); });
    const auto place = beyond(varying(digits, runs, digits.size()));
    const bool copies = node(statement().value).kind == ir::NodeKind::load;
    // While a run is written, its share of the lines that are to be prefetched.
    const auto all = ahead_.tiles * (moves_.tile_points() / length);
    const auto lines = ahead_.on() ? (ahead_.lines + all - 1) / all : 0;
    Body body = copies ? Body{run(place, runs, length, lines)} : results(place, length, lines);
    return around(digits, runs, digits.size(), Bind::any, std::move(body));
  }

  Statement run(const std::vector<Affine>& place, std::size_t runs, std::int64_t length, std::int64_t lines) {
    CopyRun run{result_at(absolute(place)), in_array(place), length, CopyRun::How::lines};
    if (!moves_.streaming) return {std::move(run)};
    run.how = CopyRun::How::nontemporal;
    run.lanes = moves_.mapping.vector;
    run.fetched = lines;
    if (ahead_.prefetches_ends) run.origin = result_at(origin_).index.front();
    if (stage_.line_carry < 0) return {std::move(run)};
    const auto carry = line_carry_of(program_, moves_);
    const auto& digits = moves_.mapping.digits;
    Affine number;
    std::int64_t below = 1;
    for (auto k = runs; k < digits.size(); ++k) {
      number = number + below * place[as_size(digits[k].index)];
      below *= digits[k].count;
    }
    std::int64_t faster = 1;
    for (const auto q : moves_.order) {
      if (q == carry.index) break;
      if (moves_.tiles_along(program_, q) > 1) number = number + carry.runs * faster * Affine::of(task_of(q));
      faster *= moves_.tiles_along(program_, q);
    }
    run.carry = CopyRun::Carry{
        {waiting_, {kLineBytes / size_of(load().type) * number}}, task_of(carry.index), carry.tiles, carry.apart};
    return {std::move(run)};
  }

  /// Results computed from a run.
  Body results(const std::vector<Affine>& place, std::int64_t length, std::int64_t lines) {
    const auto i = kernel_.add_var(fresh("i"), length);
    const auto to = result_at(absolute(place));
    const auto value_at = [&](const Affine& more) {
      return value_of(program_, statement().value, [&](NodeId id) {
        return load_of(
            node(id).type,
            moved(id == stage_.load ? in_array(place) : at(node(id).source, node(id).offset, absolute(place)), more));
      });
    };
    if (!moves_.streaming || length < moves_.mapping.vector)
      return {loop_over(i, Bind::vector, {{Store{moved(to, Affine::of(i)), value_at(Affine::of(i))}}})};
    const int vector = moves_.mapping.vector;
    const auto type = node(statement().value).type;
    const auto v = kernel_.add_var(fresh("v"), vector);
    const auto out = add_registers("out", type, 1, {vector});
    const auto target = moved(to, Affine::of(i), vector);
    Body whole{{Declare{out}},
               loop_over(v, Bind::vector, {{Store{{out, {Affine::of(v)}}, value_at(Affine::of(i) + Affine::of(v))}}}),
               {Store{target, load_of(type, {out, {Affine()}, vector}), true}}};
    if (ahead_.on()) whole.push_back({Beside{vector * size_of(type)}});
    Sweep sweep{
        i,
        Affine(),
        length,
        {{vector, std::move(whole)}, {1, {{Store{moved(to, Affine::of(i)), value_at(Affine::of(i))}}}, Bind::rolled}}};
    sweep.aligned = target;
    Body body{{std::move(sweep)}};
    const auto left = lines - length * size_of(type) / kLineBytes;
    if (left > 0) body.push_back({FetchLines{left}});
    return body;
  }

  const Stage& stage_;
  InputAhead ahead_;
  std::int64_t before_ = 0;
  int kept_ = -1, waiting_ = -1;
  std::vector<Var> inner_;  // per index: its name within the tile
};

}  // namespace

Kernel build_permute_staged(const ir::Program& program, const Moves& moves) {
  verify(moves, program);
  auto kernel = StagedBuilder(program, moves).run();
  verify(kernel);
  return kernel;
}

}  // namespace ricci::kernel
