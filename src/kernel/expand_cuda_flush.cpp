// Results: every lane writes the elements of the accumulator that it holds, neighbours in memory together; or they go
// through shared memory, from which neighbouring threads write whole lines. Blocks of a cluster add their parts of a
// sum there.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <ranges>
#include <utility>

#include "kernel/expand_cuda.hpp"
#include "kernel/warp_group.hpp"

namespace ricci::kernel::cuda {
namespace {

class Flusher {
 public:
  Flusher(Threads& threads, const Flush& flush, const WarpTile& tile)
      : threads_(threads), kernel_(threads.kernel), flush_(flush), tile_(tile), c_(tile.atom->c) {
    per_columns_ = tile.fma() ? 1 : 2;
    rows_width_ = width(flush.rows, tile.rows.run);
    columns_width_ = width(flush.columns, tile.columns.run * (tile.apart() ? 1 : per_columns_));
    (columns_width_ >= rows_width_ ? rows_width_ : columns_width_) = 1;
    if (flush.atomic) rows_width_ = columns_width_ = 1;
  }

  /// Whether results leave in lines: neighbours along the columns, made of nothing but the sums.
  bool has_lines() const {
    const auto line = line_elements(kernel_.array(flush_.to.array).type);
    return !flush_.atomic && tile_.of_groups() && tile_.columns.extent % line == 0 &&
           width(flush_.columns, kUnit) == unit() && of_sums(flush_.value);
  }

  /// Line by line of all rows: into shared memory, and from there to where they belong.
  Body by_lines() {
    const auto type = kernel_.array(flush_.to.array).type;
    const auto line = line_elements(type), row = row_elements(type);
    const auto lines = tile_.columns.extent / line;
    const auto staged = threads_.shared(kernel_.array(flush_.to.array).name + "_tile", type, tile_.rows.padded * row);
    const auto s = threads_.loop_var("line", lines);
    const auto first = lines > 1 ? Affine::of(s, line) : Affine(0);
    Body body = to_shared(staged, row, lines > 1 ? Affine::of(s, line / tile_.atom->n) : Affine(0));
    body.push_back({Barrier{}});
    for (auto& statement : from_shared(staged, row, first)) body.push_back(std::move(statement));
    if (lines > 1) body.push_back({Barrier{}});
    return lines > 1 ? threads_.unrolled(s, std::move(body)) : body;
  }

  /// Columns that leave at a time where neighbours lie along the rows, made of nothing but the sums; 0 where they do
  /// not.
  std::int64_t strip() const {
    const bool along_rows = !flush_.atomic && tile_.of_groups() && width(flush_.rows, kUnit) == unit();
    return along_rows && of_sums(flush_.value)
               ? strip_columns(kernel_.array(flush_.to.array).type, tile_.columns.padded)
               : 0;
  }

  /// All rows of some columns after the other: into shared memory, and from there to where they belong.
  Body by_strips() {
    const auto type = kernel_.array(flush_.to.array).type;
    const auto columns = strip(), pitch = strip_pitch(type, tile_.rows.padded);
    const auto staged = threads_.shared(kernel_.array(flush_.to.array).name + "_tile", type, columns * pitch);
    const auto strips = tile_.columns.padded / columns;
    const auto s = threads_.loop_var("strip", strips), j = threads_.loop_var("j", columns / tile_.atom->n);
    const auto first = strips > 1 ? Affine::of(s, columns / tile_.atom->n) : Affine(0);
    Body lanes;
    for (int p = 0; p < tile_.rows.block(); ++p) {
      for (int e = 0; e < per_columns_; ++e) {
        const auto column = Affine::of(j, tile_.atom->n) + threads_.lane_position(held_, 1) + Affine(e);
        lanes.push_back({Store{{staged, {pitch * column + row_position(Affine(0), p)}},
                               finished(flush_.value, element({Affine(0), p}, {Affine::of(j) + first, 0}, e), 0, 1)}});
      }
    }
    Body body = threads_.unrolled(j, std::move(lanes));
    body.push_back({Barrier{}});
    // Neighbouring threads write neighbours, 16 bytes each.
    const auto parts = tile_.rows.padded / unit(), at_once = threads_.count / parts;
    const auto row = unit() * threads_.digit("strip_part", 1, parts);
    const auto r = threads_.loop_var("r", columns / at_once);
    const auto within = threads_.digit("strip_column", parts, at_once) + Affine::of(r, at_once);
    for (auto& statement : threads_.unrolled(
             r, moved_out(row, within + tile_.atom->n * first, unit(), 1, {staged, {pitch * within + row}, unit()})))
      body.push_back(std::move(statement));
    if (strips > 1) body.push_back({Barrier{}});
    return strips > 1 ? threads_.unrolled(s, std::move(body)) : body;
  }

  /// The whole tile into shared memory, and from there by neighbouring threads to neighbours in memory. Of a sum in
  /// parts the threads of all blocks share the tile, and add up what each block has of an element.
  Body by_tile() {
    const bool parts = flush_.parts >= 0;
    const auto blocks = parts ? kernel_.extent(flush_.parts) : 1;
    const auto tensor = kernel_.array(flush_.to.array).name;  // by value: arrays are added below
    const auto kept = parts ? sum_in(flush_.value) : flush_.value;
    const auto type = kept.type;
    std::vector<ResultDigit> places;
    const auto add = [&](const std::vector<Digit>& digits, bool of_rows) {
      std::int64_t step = 1;
      for (const auto& digit : digits | std::views::reverse) {
        const auto stride = step_along(flush_.to.index.front(), flush_.quotients, digit.var);
        if (digit.extent > 1) places.push_back({of_rows, digit.extent, step, std::abs(stride)});
        step *= digit.extent;
      }
    };
    add(flush_.rows, true);
    add(flush_.columns, false);
    const auto relaid = relaid_tile(tile_, std::move(places), type);
    const auto staged = threads_.shared(tensor + "_tile", type, relaid.elements);
    kernel_.arrays[static_cast<std::size_t>(staged)].swizzle = relaid.swizzle;
    Body body = held_to_shared(staged, relaid, kept);
    body.push_back({Barrier{parts ? Barrier::Of::cluster : Barrier::Of::block}});

    auto rows = flush_.rows, columns = flush_.columns;
    for (auto* digits : {&rows, &columns}) std::erase_if(*digits, [](const Digit& d) { return d.extent == 1; });
    const auto row = position(rows), column = position(columns);
    Copy copy;
    copy.digits = rows;
    copy.digits.insert(copy.digits.end(), columns.begin(), columns.end());
    copy.from = {staged, {relaid.place(row, column)}};
    copy.to = flush_.to;
    copy.when = flush_.when;
    copy.quotients = flush_.quotients;
    // Named here and not in front of all loops, whose registers they would take.
    auto names = std::exchange(threads_.names, {});
    Workers workers{Affine::of(threads_.thread), threads_.count * blocks};
    if (parts) workers.number = workers.number + Affine::of(flush_.parts, threads_.count);
    const auto visits = visits_of(threads_, workers, copy, true);
    std::swap(names, threads_.names);
    for (auto& name : names) body.push_back(std::move(name));
    copy.to.lanes = copy.from.lanes = visits.vector;
    // Vectors of all blocks are under way before any of them is added.
    const int run =
        parts && visits.vector > 1 ? threads_.registers(tensor + "_parts", type, {blocks}, visits.vector) : -1;
    const auto written = parts ? added_parts(copy.from, run, visits) : load_of(type, copy.from);
    for (std::size_t v = 0; v < visits.value.size(); ++v) {
      auto to = copy.to;
      auto value = written;
      auto when = copy.when;
      Body store;
      const auto place = places_of(threads_, store, visits, v, copy);
      for (const auto& [var, by] : place) {
        to = with(to, var, by);
        value = with(std::move(value), var, by);
        when = with(when, var, by);
      }
      when.insert(when.begin(), visits.when[v].begin(), visits.when[v].end());
      if (run >= 0) {
        store.push_back({Declare{run}});
        for (std::int64_t block = 0; block < blocks; ++block) {
          auto from = copy.from;
          from.block = Affine(block);
          for (const auto& [var, by] : place) from = with(std::move(from), var, by);
          store.push_back({Store{{run, {Affine(block)}, visits.vector}, load_of(type, std::move(from))}});
        }
      }
      Store one{std::move(to), std::move(value), nontemporal(visits.vector)};
      one.atomic = flush_.atomic;
      store.push_back({std::move(one)});
      store = where(std::move(when), std::move(store));
      for (const auto round : visits.rounds | std::views::reverse) {
        if (kernel_.extent(round) > 1) store = threads_.unrolled(round, std::move(store));
      }
      for (auto& statement : store) body.push_back(std::move(statement));
    }
    // No block leaves, or begins another tile, while others read what it has.
    if (parts) body.push_back({Barrier{Barrier::Of::cluster}});
    return body;
  }

  Body run() {
    const auto& rows = tile_.rows;
    const auto i = threads_.loop_var("i", rows.blocks());
    const auto outer = rows.blocks() > 1 ? Affine::of(i) : Affine(0);
    const auto store = [&](const Places& places, const Affine&, const auto& sum) { return stored(places, sum); };
    if (!reads_result(flush_.value)) {
      auto all = elements(outer, 0, rows.block(), store);
      return rows.blocks() > 1 ? threads_.unrolled(i, std::move(all)) : all;
    }
    // What the results are added to is read for many of them before any is written: compilers take no read past a
    // write, and each would be waited for on its own (18 contractions of triples on an H200: 43 % of the time).
    constexpr std::int64_t kUnderWay = 128;  // bytes of a thread, as far as a row has no more
    const auto type = kernel_.array(flush_.to.array).type;
    const int width = std::max(rows_width_, columns_width_);
    const auto fits = [&](std::int64_t pieces) { return pieces * width * size_of(type) <= kUnderWay; };
    // Rows of a block, or blocks.
    const auto most = [&](int count, std::int64_t pieces) {
      int n = count;
      while (n > 1 && (count % n != 0 || !fits(n * pieces))) --n;
      return n;
    };
    const int rows_together = rows_width_ * most(rows.block() / rows_width_, pieces_of_row());
    const auto pieces = rows_together / rows_width_ * pieces_of_row();
    const int together = rows_together < rows.block() ? 1 : most(rows.blocks(), pieces);
    const auto block = threads_.loop_var("block", rows.blocks() / together), within = threads_.loop_var("i", together);
    const auto first = rows.blocks() > together ? Affine::of(block, together) : Affine(0);
    row_ = together > 1 ? Affine::of(within) : Affine(0);
    before_ = threads_.registers(kernel_.array(flush_.to.array).name + "_before", type, {together, pieces}, width);
    const auto load = [&](const Places& places, const Affine& piece, const auto&) {
      auto from = flush_.to;
      from.lanes = width;
      for (const auto& [var, by] : places) from = with(from, var, by);
      return Body{{Store{{before_, {row_, piece}, width}, load_of(type, std::move(from))}}};
    };
    Body body{{Declare{before_, true}}};
    for (int p = 0; p < rows.block(); p += rows_together) {
      for (auto part :
           {elements(first + row_, p, p + rows_together, load), elements(first + row_, p, p + rows_together, store)}) {
        if (together > 1) part = threads_.unrolled(within, std::move(part));
        for (auto& statement : part) body.push_back(std::move(statement));
      }
    }
    return rows.blocks() > together ? threads_.unrolled(block, std::move(body)) : body;
  }

 private:
  static constexpr int kUnit = 16;

  /// What `made(places, number, sum)` makes of each piece that one access writes of some rows of a block: its places,
  /// its number among them, and the register of its lane l.
  template <class Made>
  Body elements(const Affine& outer, int begin, int end, const Made& made) {
    const auto& rows = tile_.rows;
    Body all;
    for (int p = begin; p < end; p += rows_width_) {
      Body body;
      const auto position = row_position(outer, p);
      const auto places = decoded(body, flush_.rows, position, rows_width_, "row");
      auto when = held(places, flush_.columns);
      if (rows.padded > rows.extent) when.push_back({position, rows.extent});
      Body inner = columns(
          places, (p - begin) / rows_width_ * pieces_of_row(), [&](int l) { return Piece{outer, p + l}; }, made);
      if (!when.empty()) inner = {{If{std::move(when), std::move(inner), {}}}};
      for (auto& statement : inner) body.push_back(std::move(statement));
      for (auto& statement : body) all.push_back(std::move(statement));
    }
    return all;
  }
  std::int64_t pieces_of_row() const {
    return std::int64_t{tile_.columns.blocks()} * tile_.columns.block() * per_columns_ / columns_width_;
  }

  /// Whether a value is the element that is written, as it was before.
  bool is_before(const Value& value) const {
    return value.kind == Value::Kind::load && value.access.array == flush_.to.array &&
           value.access.index == flush_.to.index;
  }
  bool reads_result(const Value& value) const {
    return is_before(value) || std::any_of(value.operands.begin(), value.operands.end(),
                                           [&](const Value& operand) { return reads_result(operand); });
  }

  int unit() const { return static_cast<int>(kWidest / size_of(kernel_.array(flush_.to.array).type)); }
  static bool of_sums(const Value& value, int accumulator) {
    if (value.kind == Value::Kind::index || (value.kind == Value::Kind::load && value.access.array != accumulator))
      return false;
    return std::all_of(value.operands.begin(), value.operands.end(),
                       [&](const Value& operand) { return of_sums(operand, accumulator); });
  }
  bool of_sums(const Value& value) const { return of_sums(value, flush_.accumulator); }

  /// The accumulator in a value that is made of it.
  Value sum_in(const Value& value) const {
    if (value.kind == Value::Kind::load && value.access.array == flush_.accumulator) return value;
    for (const auto& operand : value.operands) {
      if (auto sum = sum_in(operand); sum.kind == Value::Kind::load && sum.access.array == flush_.accumulator)
        return sum;
    }
    return {};
  }
  static Value replaced(Value value, int accumulator, const Value& sum) {
    if (value.kind == Value::Kind::load && value.access.array == accumulator) return sum;
    for (auto& operand : value.operands) operand = replaced(std::move(operand), accumulator, sum);
    return value;
  }

  /// What is written, of as many neighbours as the visits have, with the sum of what all blocks have at `from` in place
  /// of the accumulator.
  ///   run  registers with the vectors of all blocks; -1: no vectors
  Value added_parts(const Access& from, int run, const Visits& visits) const {
    const auto type = kernel_.array(from.array).type;
    std::vector<Value> lanes;
    for (int l = 0; l < visits.vector; ++l) {
      std::optional<Value> sum;
      for (std::int64_t block = 0; block < kernel_.extent(flush_.parts); ++block) {
        auto part = from;
        if (run < 0) {
          part.block = Affine(block);
        } else {
          part = {run, {Affine(block)}, visits.vector};
          part.lane = Affine(l);
        }
        auto more = load_of(type, std::move(part));
        sum = sum ? apply(ir::OpCode::add, type, {std::move(*sum), std::move(more)}) : std::move(more);
      }
      const auto along = neighbours_along(flush_.quotients, visits.along);
      auto value = l > 0 ? with(flush_.value, along, Affine::of(along) + Affine(l)) : flush_.value;
      lanes.push_back(replaced(std::move(value), flush_.accumulator, *sum));
    }
    if (lanes.size() == 1) return std::move(lanes.front());
    Value all;
    all.kind = Value::Kind::pack;
    all.type = lanes.front().type;
    all.operands = std::move(lanes);
    return all;
  }

  /// What each lane holds of the tile, with what lies beyond its edges; `kept`: what is made of each sum.
  Body held_to_shared(int staged, const RelaidTile& relaid, const Value& kept) {
    const auto& rows = tile_.rows;
    const auto& columns = tile_.columns;
    const auto i = threads_.loop_var("i", rows.blocks()), j = threads_.loop_var("j", columns.blocks());
    const auto row_block = rows.blocks() > 1 ? Affine::of(i) : Affine(0);
    const auto column_block = columns.blocks() > 1 ? Affine::of(j) : Affine(0);
    const int row_step = relaid.by_rows ? relaid.width : 1, column_step = relaid.by_rows ? 1 : relaid.width;
    Body body;
    for (int p = 0; p < rows.block(); p += row_step) {
      const auto row = row_position(row_block, p);
      for (int group = 0; group < columns.block(); group += columns.run) {
        for (int at = 0; at < columns.run * per_columns_; at += column_step) {
          const auto column = column_position(column_block, group, at);
          const auto sum = [&](int l) {
            const int q = at + (relaid.by_rows ? 0 : l);
            return element({row_block, p + (relaid.by_rows ? l : 0)}, {column_block, group + q % columns.run},
                           q / columns.run);
          };
          Value value;
          if (relaid.width > 1) {
            value.kind = Value::Kind::pack;
            value.type = kernel_.array(staged).type;
            for (int l = 0; l < relaid.width; ++l) value.operands.push_back(finished(kept, sum(l), 0, 1));
          } else {
            value = finished(kept, sum(0), 0, 1);
          }
          body.push_back({Store{{staged, {relaid.place(row, column)}, relaid.width}, std::move(value)}});
        }
      }
    }
    if (columns.blocks() > 1) body = threads_.unrolled(j, std::move(body));
    return rows.blocks() > 1 ? threads_.unrolled(i, std::move(body)) : body;
  }

  /// What each lane holds of a line's columns, from the `first` eight of them on.
  Body to_shared(int staged, std::int64_t row, const Affine& first) {
    const auto j = threads_.loop_var("j", line_elements(kernel_.array(staged).type) / tile_.atom->n);
    Body body;
    for (int p = 0; p < tile_.rows.block(); ++p) {
      Value pair;
      pair.kind = Value::Kind::pack;
      pair.type = kernel_.array(staged).type;
      for (int e = 0; e < per_columns_; ++e)
        pair.operands.push_back(finished(flush_.value, element({Affine(0), p}, {Affine::of(j) + first, 0}, e), e, 1));
      Access to{staged,
                {row * row_position(Affine(0), p) + Affine::of(j, tile_.atom->n) + threads_.lane_position(held_, 1)},
                per_columns_};
      body.push_back({Store{std::move(to), std::move(pair)}});
    }
    return threads_.unrolled(j, std::move(body));
  }

  /// Threads that are neighbours write 16 bytes each of a line whose columns begin at `first`.
  Body from_shared(int staged, std::int64_t row, const Affine& first) {
    const auto type = kernel_.array(staged).type;
    const auto per_line = line_elements(type) / unit(), rows = threads_.count / per_line;
    const auto part = threads_.digit("line_part", 1, per_line), line_row = threads_.digit("line_row", per_line, rows);
    const auto r = threads_.loop_var("r", tile_.rows.padded / rows);
    const auto row_at = line_row + Affine::of(r, rows);
    return threads_.unrolled(
        r, moved_out(row_at, unit() * part + first, 1, unit(), {staged, {row * row_at + unit() * part}, unit()}));
  }

  /// Neighbours in shared memory to where they belong: from a position of the tile on, of which as many as an access
  /// has lie along the rows or along the columns.
  Body moved_out(const Affine& row, const Affine& column, int row_width, int column_width, const Access& from) {
    Body body;
    const auto of_rows = decoded(body, flush_.rows, row, row_width, "row");
    const auto of_columns = decoded(body, flush_.columns, column, column_width, "column");
    auto to = flush_.to;
    auto when = flush_.when;
    for (const auto* places : {&of_rows, &of_columns}) {
      for (const auto& [var, by] : *places) {
        to = with(to, var, by);
        when = with(when, var, by);
      }
    }
    if (tile_.rows.padded > tile_.rows.extent) when.push_back({row, tile_.rows.extent});
    if (column_width == 1 && tile_.columns.padded > tile_.columns.extent)
      when.push_back({column, tile_.columns.extent});
    to.lanes = from.lanes;
    Body store{{Store{to, load_of(kernel_.array(from.array).type, from), nontemporal(from.lanes)}}};
    for (auto& statement : where(std::move(when), std::move(store))) body.push_back(std::move(statement));
    return body;
  }

  /// Whether so many results leave at once by a nontemporal store.
  bool nontemporal(int lanes) const {
    return flush_.nontemporal && leaves_at_once(kernel_.array(flush_.to.array), lanes);
  }

  struct Piece {
    Affine outer;
    int within;
  };

  /// Of a lane's element `within` of a block of rows.
  Affine row_position(const Affine& block, int within) const {
    return tile_.rows.position(threads_.warp_row, block, within) + threads_.lane_position(held_, 0, "row");
  }
  /// Of element `place` / run of the atom number `group` + `place` % run of a block of columns.
  Affine column_position(const Affine& block, int group, int place) const {
    const auto& side = tile_.columns;
    const auto element = held_.at({.reg = WarpTile::register_of(c_, 0, place / side.run)})[1];
    return side.position(threads_.warp_column, block, group) + threads_.lane_position(held_, 1) +
           Affine(element + place % side.run);
  }

  /// Neighbours that one access may write, of a run of the side whose last digit moves `to` by 1.
  int width(const std::vector<Digit>& digits, int run) const {
    const auto& array = kernel_.array(flush_.to.array);
    const auto last = std::find_if(digits.rbegin(), digits.rend(), [](const Digit& d) { return d.extent > 1; });
    if (last == digits.rend()) return 1;
    for (std::int64_t n = std::min<std::int64_t>(run, kWidest / size_of(array.type)); n > 1; n /= 2) {
      if (last->extent % n == 0 && has_runs(flush_.to.index.front(), flush_.quotients, last->var, n) &&
          hold_alike(flush_.when, last->var, n) && array.alignment > 0 &&
          array.alignment % (n * size_of(array.type)) == 0)
        return static_cast<int>(n);
    }
    return 1;
  }

  /// The digits of a position in the tile, a multiple of `width` neighbours along the fastest one, and quotients of
  /// them.
  Places decoded(Body& body, const std::vector<Digit>& digits, Affine position, int width, const char* what) {
    Places places;
    std::int64_t below = 1, count = 1;
    for (const auto& d : digits) count *= d.extent;
    position.constant /= width;
    for (auto& term : position.terms) term.coefficient /= width;
    for (std::size_t k = digits.size(); k-- > 0;) {
      const auto var = digits[k].var;
      if (digits[k].extent == 1) {
        places.emplace_back(var, 0);
        continue;
      }
      const auto n = digits[k].extent / width;
      const auto name = kernel_.vars[static_cast<std::size_t>(digits[k].var)].name + "_" + what;
      // A digit alone is the position, which conditions hold inside; of several, the first would run past its end.
      places.emplace_back(var, width * threads_.let(body, name, position, below, digits[k].extent == count ? 0 : n));
      below *= n;
      width = 1;
    }
    std::vector<Let> quotients;
    std::copy_if(flush_.quotients.begin(), flush_.quotients.end(), std::back_inserter(quotients),
                 [&](const Let& let) { return moved(let.of, digits); });
    add_quotients(threads_, body, places, std::move(quotients), "", std::string("_") + what);
    return places;
  }

  static bool moved(const Affine& value, const std::vector<Digit>& by) {
    return std::any_of(by.begin(), by.end(), [&](const Digit& d) { return value.coefficient(d.var) != 0; });
  }

  /// The conditions that digits in their places decide, without those of which `others` are a part.
  std::vector<Condition> held(const Places& places, const std::vector<Digit>& others) const {
    std::vector<Condition> result;
    for (const auto& condition : flush_.when) {
      if (moved(condition.value, others)) continue;
      auto one = condition;
      for (const auto& [var, by] : places) one.value = one.value.with(var, by);
      result.push_back(std::move(one));
    }
    return result;
  }

  ///   first  number of the row's first piece
  template <class Row, class Made>
  Body columns(const Places& row_places, std::int64_t first, const Row& row, const Made& made) {
    const auto& side = tile_.columns;
    const auto j = threads_.loop_var("j", side.blocks());
    const auto outer = side.blocks() > 1 ? Affine::of(j) : Affine(0);
    Body all;
    const auto of_block = pieces_of_row() / side.blocks();
    for (int group = 0; group < side.block(); group += side.run) {
      for (int place = 0; place < side.run * per_columns_; place += columns_width_, ++first) {
        const auto position = column_position(outer, group, place);
        Body body;
        auto places = decoded(body, flush_.columns, position, columns_width_, "column");
        places.insert(places.begin(), row_places.begin(), row_places.end());
        std::vector<Condition> when;
        for (const auto& condition : flush_.when) {
          if (moved(condition.value, flush_.columns)) when.push_back(condition);
        }
        for (const auto& [var, by] : places) when = with(when, var, by);
        if (side.padded > side.extent) when.push_back({position, side.extent});
        piece_ = of_block * outer + Affine(first);
        Body store = made(places, piece_, [&](int l) {
          const int at = place + (columns_width_ > 1 ? l : 0);
          const auto r = row(rows_width_ > 1 ? l : 0);
          return element(r, {outer, group + at % side.run}, at / side.run);
        });
        if (!when.empty()) store = {{If{std::move(when), std::move(store), {}}}};
        for (auto& statement : store) body.push_back(std::move(statement));
        for (auto& statement : body) all.push_back(std::move(statement));
      }
    }
    return side.blocks() > 1 ? threads_.unrolled(j, std::move(all)) : all;
  }

  /// The register of a row and a column: of atom number and element `e` of the atom's columns that a lane holds.
  Access element(const Piece& row, const Piece& column, int e) const {
    const auto& rows = tile_.rows;
    Access access{flush_.accumulator,
                  {(rows.block() / rows.per_atom) * row.outer + Affine(row.within / rows.per_atom),
                   tile_.columns.block() * column.outer + Affine(column.within)}};
    if (!tile_.fma()) access.index.emplace_back(WarpTile::register_of(c_, row.within % rows.per_atom, e));
    return access;
  }

  template <class Sum>
  Body stored(const Places& places, const Sum& sum) {
    const int count = std::max(rows_width_, columns_width_);
    Value value;
    if (count > 1) {
      value.kind = Value::Kind::pack;
      value.type = kernel_.array(flush_.to.array).type;
      for (int l = 0; l < count; ++l) value.operands.push_back(finished(flush_.value, sum(l), l, count));
    } else {
      value = finished(flush_.value, sum(0), 0, 1);
    }
    Access to = flush_.to;
    to.lanes = count;
    // Lane l of what is not read as a vector lies l further along the digit that vectors run along.
    for (const auto& [var, by] : places) {
      to = with(to, var, by);
      value = with(std::move(value), var, by);
    }
    Store store{to, std::move(value), nontemporal(count)};
    store.atomic = flush_.atomic;
    return {{std::move(store)}};
  }

  /// The value of lane `l` of `count`, with its element in place of the accumulator.
  Value finished(const Value& value, const Access& sum, int l, int count) const {
    if (value.kind == Value::Kind::load && value.access.array == flush_.accumulator) {
      const auto type = kernel_.array(flush_.accumulator).type;
      if (type == value.type) return load_of(type, sum);
      const auto part = [&](int number) {
        auto access = sum;
        access.index.insert(access.index.begin(), Affine(number));
        return load_of(type, std::move(access));
      };
      const auto without = [&](Value whole, int number) {
        return apply(ir::OpCode::sub, type, {std::move(whole), part(number)});
      };
      const bool three = kernel_.array(flush_.accumulator).shape.front() == 3;
      return apply(ir::OpCode::complex_of, value.type,
                   {three ? without(part(0), 1) : part(0), three ? without(without(part(2), 0), 1) : part(1)});
    }
    const auto& along = columns_width_ > 1 ? flush_.columns : flush_.rows;
    const auto last = std::find_if(along.rbegin(), along.rend(), [](const Digit& d) { return d.extent > 1; });
    if (is_before(value) && (count > 1 || before_ >= 0)) {
      Value lane = value;
      if (before_ >= 0) lane.access = {before_, {row_, piece_}};
      lane.access.lanes = count;
      if (count == 1) return lane;
      lane.access.lane = Affine(l);
      return lane;
    }
    Value result = value;
    if (count > 1) {
      const auto neighbours = neighbours_along(flush_.quotients, last->var);
      const auto further = Affine::of(neighbours) + Affine(l);
      result.access = with(std::move(result.access), neighbours, further);
      result.affine = result.affine.with(neighbours, further);
    }
    for (auto& operand : result.operands) operand = finished(operand, sum, l, count);
    return result;
  }

  Threads& threads_;
  Kernel& kernel_;
  const Flush& flush_;
  const WarpTile& tile_;
  const Fragment& c_;
  const Layout held_ = tile_.c();
  int per_columns_ = 1, rows_width_ = 1, columns_width_ = 1;
  int before_ = -1;     // registers: elements as they were before, by the block of rows and the piece
  Affine row_, piece_;  // of those
};

}  // namespace

Body flushed(Threads& threads, const Flush& flush, const WarpTile& tile) {
  Flusher flusher(threads, flush, tile);
  if (flush.relaid || flush.parts >= 0) return flusher.by_tile();
  if (flusher.has_lines()) return flusher.by_lines();
  return flusher.strip() > 0 ? flusher.by_strips() : flusher.run();
}

}  // namespace ricci::kernel::cuda
