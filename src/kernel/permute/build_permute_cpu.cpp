// Kernels that move elements on a CPU, straight from the input to the output: loops in the mapping's order around
// single points, rows of vectors, or blocks that are transposed in vector registers.
#include <fmt/format.h>

#include <algorithm>
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

class CpuBuilder : CpuTile {
 public:
  CpuBuilder(const ir::Program& program, const Moves& moves) : CpuTile(program, moves) {
    const auto& digits = moves.mapping.digits;
    vector_ = moves.mapping.vector;
    if (moves.stage) {
      ahead_ = input_ahead(program, moves);
      read_ = moves.stage->mapping.digits.front().index;
      // Loops around large blocks are not spelt out: no faster, and two to five times as long to compile.
      constexpr std::int64_t kLargeBlockBytes = 512;
      large_ = size_of(load().type) * vector_ * vector_ >= kLargeBlockBytes;
    }
    if (moves.stage || moves.streaming) written_ = digits.front().index;
  }

  Kernel run() {
    Body body = origins(false);
    if (ahead_.on()) {
      auto from = at(load().source, load().offset, origin_);
      body.push_back({FetchRows{std::move(from), ahead_.row, ahead_.length, ahead_.tiles, ahead_.in_row},
                      line_of(kernel_, {"prefetch"})});
    }
    append(body, std::move(ends_));
    place_ = origin_;
    append(body, loops(moves_.mapping.digits.size()));
    kernel_.body = in_tasks(std::move(body));
    return std::move(kernel_);
  }

 private:
  bool rows() const { return !moves_.stage && moves_.streaming; }
  /// Values of index q that the innermost statement handles at once.
  std::int64_t step_of(int q) const { return q == read_ || q == written_ ? vector_ : 1; }
  /// Whether there may be no multiple of them in a tile.
  bool ragged(int q) const { return extent(q) % step_of(q) != 0 || tile(q) % step_of(q) != 0; }

  /// Whether what the loops are at is no place of a block.
  bool clamped(int q) const { return ragged(q) && step_of(q) > 1; }

  /// The loops over the first `count` digits, the last of them outermost.
  Body loops(std::size_t count) {
    const auto& digits = moves_.mapping.digits;
    if (count == 0 || (rows() && count == 1)) return innermost();
    const auto& digit = digits[count - 1];
    const auto q = digit.index;
    const auto width = digit.step * digit.count, step = std::max(digit.step, step_of(q));
    if (width <= step) return loops(count - 1);
    const auto outer = place_[as_size(q)];
    const bool inside = looped_[as_size(q)];
    const bool further = std::any_of(
        digits.begin(), digits.begin() + static_cast<std::ptrdiff_t>(count - 1),
        [&](const MixedRadixDigit& other) { return other.index == q && other.step * other.count > step_of(q); });
    const auto var = further      ? kernel_.add_var(fmt::format("{}_{}", name(q), step), extent(q))
                     : clamped(q) ? kernel_.add_var(name(q) + "_at", extent(q))
                                  : value_[as_size(q)];
    Body body;
    auto end = end_[as_size(q)];
    if (inside) {
      end = outer + Affine(width);
      if (extent(q) % width != 0) {
        const auto stop = kernel_.add_var(kernel_.vars[as_size(var)].name + "_stop", extent(q) + 1);
        body.push_back({Let{.var = stop, .of = end, .most = extent(q)}});
        end = Affine::of(stop);
      }
    }
    place_[as_size(q)] = Affine::of(var);
    looped_[as_size(q)] = true;
    const auto bind = large_ ? Bind::rolled : count == 1 ? Bind::vector : Bind::any;
    Sweep sweep{var, outer, end, {{step, loops(count - 1), bind}}};
    sweep.past_end = extent(q) % step != 0 || tile(q) % step != 0;
    body.push_back({std::move(sweep)});
    place_[as_size(q)] = outer;
    looped_[as_size(q)] = inside;
    return body;
  }

  Body innermost() {
    if (rows()) return row();
    return moves_.stage ? block() : Body{point(place_)};
  }

  /// The statement at a point.
  Statement point(const std::vector<Affine>& place) const {
    return {
        Store{result_at(place), value_of(program_, statement().value, [&](NodeId id) { return load_at(id, place); })}};
  }

  /// One row by nontemporal stores: single elements up to the first aligned vector, then vectors.
  Body row() {
    const int q = written_;
    const auto var = value_[as_size(q)];
    auto place = place_;
    place[as_size(q)] = Affine::of(var);
    const auto to = result_at(place, vector_);
    const auto& result = node(statement().value);
    Body whole;
    if (result.kind == ir::NodeKind::load && result.offset.coefficient[as_size(q)] == 1) {
      whole = {{Store{to, load_at(statement().value, place, vector_), true}}};
    } else {
      const auto out = add_registers("out", result.type, 1, {vector_});
      const auto v = kernel_.add_var("v", vector_);
      place[as_size(q)] = Affine::of(var) + Affine::of(v);
      auto element = std::get<Store>(point(place).node);
      element.to = Access{out, {Affine::of(v)}};
      whole = {{Declare{out}},
               loop_over(v, Bind::vector, {{std::move(element)}}),
               {Store{to, load_of(result.type, {out, {Affine()}, vector_}), true}}};
      place[as_size(q)] = Affine::of(var);
    }
    Sweep sweep{var, place_[as_size(q)], end_[as_size(q)], {}};
    sweep.parts.push_back({vector_, std::move(whole), Bind::unroll, 4});
    if (!rows_are_aligned()) sweep.aligned = to;
    if (sweep.aligned || ragged(q)) sweep.parts.push_back({1, {point(place)}, Bind::rolled});
    return {{std::move(sweep)}};
  }

  /// Whether all rows have the same alignment in the output, so that all are aligned if one is.
  bool rows_are_aligned() const {
    const auto& affine = statement().offset;
    for (int p = 0; p < indices(); ++p) {
      const auto apart = p == written_ ? tile(p) : 1;
      if (affine.coefficient[as_size(p)] * apart % vector_ != 0 && extent(p) > apart) return false;
    }
    return affine.constant % vector_ == 0;
  }

  /// A block of vector x vector elements along what is contiguous in the output and in the input. At an edge the block
  /// starts earlier to be whole, or goes point by point where the statement adds to the output.
  Body block() {
    Body body;
    auto place = place_;
    const bool edges = ragged(read_) || ragged(written_);
    if (!adds()) {
      for (const int q : {read_, written_}) {
        if (ragged(q)) place[as_size(q)] = whole(body, q);
      }
    }
    append(body, whole_block(place));
    if (edges && adds()) {
      std::vector<Condition> inside;
      for (const int q : {read_, written_})
        if (ragged(q)) inside.push_back({place_[as_size(q)] + Affine(vector_) - end_[as_size(q)], 1});
      body = where(std::move(inside), std::move(body), points());
    }
    if (ahead_.on()) {
      const auto vectors = static_cast<std::int64_t>(vector_) * vector_;
      const auto blocks = ahead_.tiles * ((moves_.tile_points() + vectors - 1) / vectors);
      if (ahead_.lines > 0) body.push_back({FetchLines{(ahead_.lines + blocks - 1) / blocks}});
    }
    return body;
  }

  /// The place of a block along q, moved back where it would reach past the end of the tile or of the index.
  Affine whole(Body& body, int q) {
    auto place = place_[as_size(q)];
    if (tile(q) % vector_ != 0 && tile(q) > vector_ && tile(q) != extent(q)) {
      const auto inner = kernel_.add_var(name(q) + "_inner", tile(q));
      body.push_back({Let{.var = inner, .of = place - origin_[as_size(q)], .most = tile(q) - vector_}});
      place = origin_[as_size(q)] + Affine::of(inner);
    }
    const auto var = value_[as_size(q)];
    body.push_back({Let{.var = var, .of = place, .most = extent(q) - vector_}});
    return Affine::of(var);
  }

  /// The points of a block that reaches past an end.
  Body points() {
    auto place = place_;
    auto vars = value_;
    for (const int q : {read_, written_}) {
      if (!clamped(q)) vars[as_size(q)] = kernel_.add_var(name(q) + "_point", extent(q));
      place[as_size(q)] = Affine::of(vars[as_size(q)]);
    }
    Body body{point(place)};
    for (const int q : {written_, read_}) {
      const auto var = vars[as_size(q)];
      Loop loop{var,
                Bind::rolled,
                {{Affine::of(var) - end_[as_size(q)], 0}, {Affine::of(var) - place_[as_size(q)], vector_}},
                std::move(body)};
      loop.first = place_[as_size(q)];
      body = {{std::move(loop)}};
    }
    return body;
  }

  Body whole_block(const std::vector<Affine>& place) {
    const auto type = load().type;
    const auto block = add_registers("rows", type, vector_, {vector_});
    Body body{{Declare{block}}};
    auto from = load_at(moves_.stage->load, place, vector_);
    auto to = result_at(place, vector_);
    const auto row = [&](const Affine& r) { return Access{block, {r}, vector_}; };
    for (int v = 0; v < vector_; ++v) {
      body.push_back({Store{row(v), from}});
      from.access.index.front() = from.access.index.front() + Affine(load().offset.coefficient[as_size(written_)]);
    }
    body.push_back({Transpose{block}});
    const auto step = statement().offset.coefficient[as_size(read_)];
    const auto& result = node(statement().value);
    if (result.kind == ir::NodeKind::load) {
      for (int v = 0; v < vector_; ++v) {
        body.push_back({Store{to, load_of(type, row(v)), moves_.streaming}});
        to.index.front() = to.index.front() + Affine(step);
      }
      return body;
    }
    const auto r = kernel_.add_var("r", vector_), v = kernel_.add_var("v", vector_);
    const auto in = add_registers("in", type, 1, {vector_});
    auto here = place;
    here[as_size(read_)] = here[as_size(read_)] + Affine::of(r);
    here[as_size(written_)] = here[as_size(written_)] + Affine::of(v);
    auto element = std::get<Store>(point(here).node);
    element.value = value_of(program_, statement().value, [&](NodeId id) {
      return id == moves_.stage->load ? load_of(type, {in, {Affine::of(v)}}) : load_at(id, here);
    });
    Body round{{Declare{in}}, {Store{{in, {Affine()}, vector_}, load_of(type, row(Affine::of(r)))}}};
    if (!moves_.streaming) {
      round.push_back(loop_over(v, Bind::vector, {{std::move(element)}}));
    } else {
      const auto out = add_registers("out", result.type, 1, {vector_});
      element.to = Access{out, {Affine::of(v)}};
      to.index.front() = to.index.front() + Affine::of(r, step);
      round.insert(round.begin(), {Declare{out}});
      round.push_back(loop_over(v, Bind::vector, {{std::move(element)}}));
      round.push_back({Store{to, load_of(result.type, {out, {Affine()}, vector_}), true}});
    }
    body.push_back(loop_over(r, Bind::unroll, std::move(round)));
    return body;
  }

  int vector_ = 1;
  int read_ = -1, written_ = -1;  // indices of blocks and of rows with nontemporal stores; -1: none
  bool large_ = false;
  InputAhead ahead_;
  std::vector<Affine> place_;  // per index: its value in the loops so far
  std::vector<bool> looped_ = std::vector<bool>(program_.indices.size());
};

}  // namespace

Kernel build_permute_cpu(const ir::Program& program, const Moves& moves) {
  verify(moves, program);
  auto kernel = CpuBuilder(program, moves).run();
  verify(kernel);
  return kernel;
}

}  // namespace ricci::kernel
