// Tile statements on a GPU: who does what in a block, and when. Copies to shared memory are waited for in front of what
// reads them; in a pipelined loop they run rounds ahead, with one barrier a round.
#include "kernel/expand_cuda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>

#include "kernel/round_loops.hpp"
#include "kernel/warp_group.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace cuda {

Threads::Threads(Kernel& of, const Spread& spread) : kernel(of), count(kWarp * spread.warps()) {
  for (const auto& var : kernel.vars) taken_.insert(var.name);
  for (const auto& array : kernel.arrays) taken_.insert(array.name);
  for (const auto& param : kernel.params) taken_.insert(param.name);
  thread = loop_var("t", count);
  taken_.insert(kernel.vars.back().name);
  const auto t = Affine::of(thread);
  place(spread);
  group = let(names, "group", t, 4, 8);
  member = let(names, "member", t, 1, 4);
}

void Threads::place(const Spread& spread) {
  warp_row = warp_column = Affine(0);
  std::int64_t below = std::int64_t{spread.warp_rows} * spread.warp_columns;
  std::array<std::int64_t, 2> left = {spread.warp_columns, spread.warp_rows};
  for (const auto& [extent, of_rows] : warp_digits(spread)) {
    if (extent == 1) continue;
    auto& place = of_rows ? warp_row : warp_column;
    const char* name = spread.ordered() ? "warp_digit" : of_rows ? "warp_row" : "warp_column";
    below /= extent;
    left[of_rows] /= extent;
    place = place + left[of_rows] * digit(name, kWarp * below, extent);
  }
}

Affine Threads::let(Body& body, const std::string& name, const Affine& of, std::int64_t divisor, std::int64_t modulus) {
  const auto range = bounds(of, [&](Var v) { return kernel.extent(v); });
  if (range.last < divisor || modulus == 1) return {};
  if (range.last / divisor < modulus) modulus = 0;
  if (divisor == 1 && modulus == 0) return of;
  const auto extent = range.last / divisor + 1;
  const auto var = kernel.add_var(free_name(name), modulus > 0 ? std::min(modulus, extent) : extent);
  taken_.insert(kernel.vars.back().name);
  body.push_back({Let{var, of, divisor, modulus}});
  return Affine::of(var);
}

Affine Threads::digit(const std::string& name, std::int64_t divisor, std::int64_t modulus) {
  const auto known = digits_.find({divisor, modulus});
  if (known != digits_.end()) return known->second;
  return digits_[{divisor, modulus}] = let(names, name, Affine::of(thread), divisor, modulus);
}

Affine Threads::lane_position(const Layout& held, int along, const char* what) {
  Affine sum;
  bool odd = true;
  for (const auto& mode : held.all() | std::views::reverse) {  // by rising stride
    if (mode.axis != LayoutAxis::lane || mode.along != along || mode.step == 0) continue;
    const bool is_member = mode.stride == 1 && mode.extent == 4, is_group = mode.stride == 4 && mode.extent == 8;
    const auto name = odd ? fmt::format("odd_{}", what) : fmt::format("{}_pair", what);
    sum = sum + mode.step * (is_member ? member : is_group ? group : digit(name, mode.stride, mode.extent));
    odd = false;
  }
  return sum;
}

std::string Threads::free_name(std::string name) const {
  while (taken_.contains(name)) name += '_';
  return name;
}

Var Threads::loop_var(const std::string& name, std::int64_t extent) { return kernel.add_var(free_name(name), extent); }

Var Threads::table_var(const std::string& name, std::int64_t extent) {
  const auto var = loop_var(name, extent);
  taken_.insert(kernel.vars[static_cast<std::size_t>(var)].name);
  return var;
}

int Threads::registers(const std::string& name, DType type, std::vector<std::int64_t> shape, int lanes) {
  Array array;
  array.name = free_name(name);
  array.type = type;
  array.space = Space::registers;
  array.shape = std::move(shape);
  array.lanes = lanes;
  return kernel.add_array(std::move(array));
}

int Threads::shared(const std::string& name, DType type, std::int64_t elements) {
  Array array;
  array.name = free_name(name);
  taken_.insert(array.name);  // all of them are declared in front
  array.type = type;
  array.space = Space::shared;
  array.shape = {elements};
  array.alignment = 128;
  return kernel.add_array(std::move(array));
}

Body Threads::unrolled(Var var, Body inner) { return only(loop_over(var, Bind::unroll, std::move(inner))); }

std::int64_t stride_of(const Kernel& kernel, const Access& access, const std::vector<Digit>& digits) {
  std::int64_t stride = 0, below = 1;
  for (std::size_t k = digits.size(); k-- > 0;) {
    if (digits[k].extent == 1) continue;
    const auto step = access.index.front().coefficient(digits[k].var);
    if (stride == 0) stride = step;
    if (stride == 0 || step != stride * below)
      throw PlanError(fmt::format("schedule: {} is not one step of {} in the order of the atom's dimensions",
                                  kernel.vars[static_cast<std::size_t>(digits[k].var)].name,
                                  kernel.array(access.array).name));
    below *= digits[k].extent;
  }
  return stride;
}

Body cleared(Threads& threads, int accumulator, ir::OpCode combine) {
  const Array array = threads.kernel.array(accumulator);
  static constexpr const char* kNames[] = {"part", "i", "j", "e"};
  const std::size_t unnamed = array.shape.size() < std::size(kNames) ? 1 : 0;
  Access to{accumulator, {}};
  std::vector<Var> vars;
  for (std::size_t k = 0; k < array.shape.size(); ++k) {
    vars.push_back(threads.loop_var(kNames[k + unnamed], array.shape[k]));
    to.index.push_back(Affine::of(vars.back()));
  }
  Body body{{Store{to, identity_of(combine, array.type)}}};
  for (std::size_t k = vars.size(); k-- > 0;) body = threads.unrolled(vars[k], std::move(body));
  Body all{{Declare{accumulator}}};
  for (auto& statement : body) all.push_back(std::move(statement));
  return all;
}

namespace {

/// The product of a body, of which there is one.
const Mma* product_of(const Body& body) {
  for (const auto& statement : body) {
    if (const auto* mma = std::get_if<Mma>(&statement.node)) return mma;
    if (const auto* loop = std::get_if<Loop>(&statement.node)) {
      if (const auto* mma = product_of(loop->body)) return mma;
    }
  }
  return nullptr;
}

class Expander {
 public:
  Expander(Kernel& kernel, const Mma& mma)
      : kernel_(kernel),
        outer_(mma.outer),
        threads_(kernel, mma.spread),
        tile_(warp_tile(mma.atom, mma.spread, mma.rows, mma.columns, mma.depth, kernel.array(mma.accumulator).type)) {
    auto& sum = kernel.arrays[static_cast<std::size_t>(mma.accumulator)];
    sum.shape = {tile_.rows.atoms(), tile_.columns.atoms()};
    if (!tile_.fma()) sum.shape.push_back(tile_.atom->c.registers());
    if (!tile_.fma() && is_complex(sum.type)) {
      // Real and imaginary parts are sums of real products: two by two, or of each of three.
      sum.type = dtype_of(tile_.atom->c.type);
      sum.shape.insert(sum.shape.begin(), mma.products == 3 ? 3 : 2);
    }
    name_batch(mma);
    for (const bool first : {true, false}) {
      const auto number = (first ? mma.a : mma.b).array;
      auto& array = kernel.arrays[static_cast<std::size_t>(number)];
      if (array.space != Space::shared)
        throw PlanError(fmt::format("schedule: {} is not staged, and atoms read shared memory", array.name));
      const bool by_group = tile_.of_groups() && !(first && tile_.atom->holds_a);
      const auto unit = by_group ? kMatrixBlock : kLine;
      const auto line = unit / size_of(array.type);
      const auto& side = first ? tile_.rows : tile_.columns;
      const auto reach =
          by_group ? array.shape.front() / side.extent * side.padded : reached(threads_, mma, tile_, first);
      array.shape.front() = (std::max(array.shape.front(), reach) + line - 1) / line * line;
      array.alignment = unit;
    }
  }

  /// What each block does.
  Body run(const Body& body) {
    const auto atom = kernel_.array(product_of(body)->accumulator).origin;
    Body inner = sequence(body, false);
    Body block = std::move(threads_.names);
    made_by(block, atom);
    for (auto& statement : inner) block.push_back(std::move(statement));
    return only({loop_over(threads_.thread, Bind::thread, std::move(block)).node, atom});
  }

 private:
  static constexpr std::int64_t kLine = 128;

  /// A thread's product of those side by side: the digits of its warp's number and, of an atom with lanes for several,
  /// of its lane's, in front of all loops.
  void name_batch(const Mma& mma) {
    const auto name = [&](const Digit& digit, std::int64_t divisor) {
      if (digit.extent == 1) return;
      const bool all = threads_.count <= divisor * digit.extent;
      threads_.names.push_back({Let{digit.var, Affine::of(threads_.thread), divisor, all ? 0 : digit.extent}});
    };
    std::int64_t below = std::int64_t{kWarp} * mma.spread.warp_rows * mma.spread.warp_columns;
    auto digits = mma.batch;
    if (const auto lanes = batch_lanes(*tile_.atom); lanes > 1) {
      name(digits.back(), tile_.atom->c.layout.holder({0, 0, 1})->lane);
      digits.pop_back();
    }
    for (const auto& digit : digits | std::views::reverse) {
      name(digit, below);
      below *= digit.extent;
    }
  }

  static void append(Body& to, Body more, int origin = -1) {
    made_by(more, origin);
    for (auto& statement : more) to.push_back(std::move(statement));
  }

  // ---- copies that are waited for at once

  /// repeats: the statements are run again, so that no thread may still read what the next round writes.
  Body sequence(const Body& from, bool repeats) {
    Body to;
    bool pending = false, async = false, copied_any = false;
    for (const auto& statement : from) {
      if (const auto* copy = std::get_if<Copy>(&statement.node)) {
        if (copy->boxes) throw PlanError("schedule: operands are staged by tensor maps in a pipeline");
        append(to, copied(threads_, visits_of(threads_, *copy), *copy), statement.origin);
        pending = copied_any = true;
        async = async || copy->async;
        continue;
      }
      // Of memory that no copy writes: nothing is waited for.
      if (const auto* prefetch = std::get_if<Prefetch>(&statement.node)) {
        append(to, prefetched(threads_, *prefetch), statement.origin);
        continue;
      }
      if (pending) {
        if (async) append(to, {{Commit{}}, {Wait{0}}});
        append(to, barrier());
        pending = async = false;
      }
      append(to, std::visit([&](const auto& node) { return one(node); }, statement.node), statement.origin);
    }
    if (copied_any && repeats) to.push_back({Barrier{}});
    return to;
  }

  /// Between copies and what reads them.
  Body barrier() const {
    Body body;
    if (tile_.of_groups()) body.push_back({Fence{}});
    body.push_back({Barrier{}});
    return body;
  }

  template <class Native>
  Body one(const Native& node) {
    return {{node}};
  }
  Body one(const If& branch) {
    return {{If{branch.when, sequence(branch.then, false), sequence(branch.otherwise, false)}}};
  }
  Body one(const Clear& clear) {
    return outer_ ? Body{{Declare{clear.array}}} : cleared(threads_, clear.array, clear.combine);
  }
  Body one(const Mma& mma) {
    if (!tile_.of_groups()) return multiplied(threads_, mma, tile_);
    GroupProducts products(threads_, mma, tile_);
    auto body = products.declared();
    append(body, products.round(mma, false));
    body.push_back({Wait{0, mma.accumulator}});
    return body;
  }
  Body one(const Flush& flush) { return flushed(threads_, flush, tile_); }
  Body one(const Loop& loop) {
    if (numbers_blocks(loop.bind)) throw PlanError("schedule: on a GPU operands are staged inside of all task loops");
    const auto nest = nest_of(loop);
    if (nest.back()->stages > 1) return pipelined(nest);
    if (const auto tiles = nest.size() == 1 ? tile_loop(loop) : std::nullopt) return pipelined(tiles->rounds, &*tiles);
    Loop result = loop;
    ++repeats_;
    result.body = sequence(loop.body, true);
    --repeats_;
    return {{std::move(result)}};
  }

  // ---- pipelines

  ///   rounds  loops of the rounds
  ///   tiles   around them: copies go on from tile to tile
  Body pipelined(const std::vector<const Loop*>& rounds, const TileLoop* tiles = nullptr) {
    auto nest = rounds;
    if (tiles != nullptr) nest.insert(nest.begin(), tiles->loop);
    std::int64_t chunks = 1;
    for (const auto* loop : nest) chunks *= kernel_.extent(loop->var);
    const auto of_tile = tiles == nullptr ? chunks : chunks / kernel_.extent(tiles->loop->var);
    const auto ends = ends_of(kernel_, nest, chunks / kernel_.extent(nest.front()->var), tiles != nullptr);
    // Whether there is a round `later` than the one of that number.
    const auto is_round = [&](const Affine& number, std::int64_t later) {
      std::vector<Condition> when;
      for (const auto& [value, below] : ends) when.push_back({number + value, below - later});
      if (when.empty() || tiles != nullptr) when.push_back({number, chunks - later});
      return when;
    };
    const Body& body = nest.back()->body;
    std::vector<Copy> copies, boxed;
    std::vector<int> origins;
    int boxes_origin = -1;
    Body rest;
    for (const auto& statement : body) {
      if (const auto* copy = std::get_if<Copy>(&statement.node)) {
        if (copy->boxes) {
          boxed.push_back(*copy);
          boxes_origin = statement.origin;
          continue;
        }
        copies.push_back(*copy);
        origins.push_back(statement.origin);
      } else {
        rest.push_back(statement);
      }
    }
    const bool prefetch = nest.back()->prefetch;
    // Products of a warp group may be under way until the next round's are: their place is not copied to before.
    const bool overlap = tile_.of_groups() && nest.back()->stages > 2;
    std::vector<Visits> visits;
    for (const auto& copy : copies) visits.push_back(visits_of(threads_, copy));
    const auto* mma = rest.size() == 1 ? std::get_if<Mma>(&rest.front().node) : nullptr;
    const bool between = prefetch && mma != nullptr && !tile_.of_groups() && nest.back()->stages > 2;
    const auto shares = between ? shares_of_copies(visits, *mma) : 1;
    // Places that no copy may be under way to: of this round, unless its last fragments have been read by then.
    const auto held = prefetch ? (shares > 1 ? 1 : 0) : overlap ? 2 : 1;
    const auto distance = std::min<std::int64_t>(nest.back()->stages - held, chunks);  // rounds
    const auto places = std::min(distance + held, chunks);
    for (const auto& [value, below] : ends) {
      const auto fewest = below - bounds(value, [&](Var v) { return kernel_.extent(v); }).last;
      if (fewest < places)
        throw PlanError(fmt::format("schedule: a pipeline of {} rounds at once for a sum of {}", places, fewest));
    }
    std::map<int, std::int64_t> size;  // of one place, per array
    const auto make_places = [&](const Copy& copy) {
      auto& array = kernel_.arrays[static_cast<std::size_t>(copy.to.array)];
      size[copy.to.array] = array.shape.front();
      array.shape.front() *= places;
    };
    for (const auto* list : {&copies, &boxed}) {
      for (const auto& copy : *list) make_places(copy);
    }
    if (!boxed.empty() && repeats_ > 0)
      throw PlanError("schedule: operands are staged by tensor maps in a pipeline that runs once");
    BoxCopies boxes(threads_, boxed, places, chunks);
    const bool by_threads = !copies.empty();
    // The copies of one round: those by tensor maps together, those by threads each on its own; what they are named by
    // goes in front of them.
    struct Moves {
      Body by_map;
      std::vector<Body> by_threads = {};
    };
    const auto copies_of = [&](Body& names, const Affine& chunk, const Affine& place,
                               const std::vector<Condition>& only) {
      std::vector<Affine> value(nest.size());
      std::int64_t below = chunks;
      for (std::size_t k = 0; k < nest.size(); ++k) {
        const auto extent = kernel_.extent(nest[k]->var);
        below /= extent;
        if (chunk.is_constant()) {
          value[k] = Affine(chunk.constant / below % extent);
        } else {
          value[k] = threads_.let(names, "next_" + kernel_.vars[static_cast<std::size_t>(nest[k]->var)].name, chunk,
                                  below, extent);
        }
      }
      const auto of_round = [&](Copy copy) {
        for (std::size_t k = 0; k < nest.size(); ++k) {
          copy.from = with(copy.from, nest[k]->var, value[k]);
          copy.when = with(copy.when, nest[k]->var, value[k]);
          copy.quotients = with(copy.quotients, nest[k]->var, value[k]);
          if (!copy.boxes) continue;
          for (auto& coordinate : copy.boxes->at) coordinate = coordinate.with(nest[k]->var, value[k]);
        }
        copy.to.index.front() = copy.to.index.front() + size[copy.to.array] * place;
        return copy;
      };
      std::vector<Copy> by_map;
      for (const auto& copy : boxes.copies()) by_map.push_back(of_round(copy));
      Moves moves{boxes.started(by_map, place, only)};
      made_by(moves.by_map, boxes_origin);
      for (std::size_t c = 0; c < copies.size(); ++c) {
        auto moved = of_round(copies[c]);
        const bool once = chunk == place;  // the first rounds'
        if (!once) moved = by_table(threads_, visits[c], std::move(moved), copies[c]);
        if (once || shares == 1) {
          append(moves.by_threads.emplace_back(), copied(threads_, visits[c], moved, only), origins[c]);
          continue;
        }
        moves.by_threads.resize(static_cast<std::size_t>(shares));
        const auto parts = shared_out(threads_, visits[c], shares);
        for (std::size_t k = 0; k < parts.size(); ++k)
          append(moves.by_threads[k], copied(threads_, parts[k], moved, only), origins[c]);
      }
      return moves;
    };

    // The first rounds' copies: a loop, of which compilers need not see each round.
    Body result = boxes.begun(), first;
    made_by(result, boxes_origin);
    const auto prologue = distance > 1 ? threads_.loop_var("ahead", distance) : -1;
    const auto number = distance > 1 ? Affine::of(prologue) : Affine(0);
    auto moves = copies_of(first, number, number, {});
    append(first, std::move(moves.by_map));
    for (auto& move : moves.by_threads) append(first, std::move(move));
    if (by_threads) first.push_back({Commit{}});
    if (distance > 1) {
      result.push_back(loop_over(prologue, Bind::serial, std::move(first)));
    } else {
      append(result, std::move(first));
    }
    const bool one_loop = rounds.size() == 1;
    const auto chunk = one_loop ? rounds.front()->var : threads_.loop_var("chunk", of_tile);
    const auto now = tiles == nullptr ? Affine::of(chunk) : Affine::of(tiles->loop->var, of_tile) + Affine::of(chunk);
    auto goes_on = ends.empty() || tiles != nullptr ? std::vector<Condition>{} : is_round(now, 0);
    Body round;
    if (!one_loop) {
      std::int64_t below = of_tile;
      for (const auto* loop : rounds) {
        below /= kernel_.extent(loop->var);
        const auto extent = loop == rounds.front() ? 0 : kernel_.extent(loop->var);
        round.push_back({Let{loop->var, Affine::of(chunk), below, extent}});
      }
    }
    // Behind what comes before them; of each tile, where there are several.
    const auto all_rounds = [&](Body of_round, Body behind = {}) {
      auto tile = tiles == nullptr ? Body{} : sequence(tiles->before, false);
      tile.push_back(loop_over(chunk, Bind::serial, std::move(of_round), std::move(goes_on)));
      append(tile, std::move(behind));
      if (tiles != nullptr) {
        append(tile, sequence(tiles->after, false));
        tile = only(loop_over(tiles->loop->var, Bind::serial, std::move(tile), tiles->loop->when));
      }
      append(result, std::move(tile));
      if (repeats_ > 0) result.push_back({Barrier{}});  // before the next pipeline begins, all have read
    };
    // What threads have copied for a round is there for all of them, and all have done the round before.
    const auto arrived = [&](Body& to, std::int64_t behind) {
      if (by_threads) to.push_back({Wait{static_cast<int>(behind)}});
      append(to, by_threads ? barrier() : Body{{Barrier{}}});
    };
    if (prefetch) {
      if (mma == nullptr || tile_.of_groups())
        throw PlanError(
            "schedule: a prefetch of fragments where a round is more than one product, or one of a warp group");
      arrived(result, distance - 1);
      append(result, boxes.awaited(Affine(0), Affine(0)), boxes_origin);
      PrefetchedProducts products(threads_, *mma, tile_);
      append(result, products.first(), rest.front().origin);
      const auto place = wrapped(round, "place", now, places),
                 next_place = wrapped(round, "next_place", now + Affine(1), places);
      Body fence, then;
      if (chunks > 1) append(fence, where(is_round(now, 1), boxes.awaited(now + Affine(1), next_place)), boxes_origin);
      if (distance < chunks) {
        const auto later = now + Affine(distance);
        const auto free = shares > 1 ? wrapped(round, "free_place", later, places) : place;
        moves = copies_of(round, later, free, is_round(now, distance));
      } else {
        moves = {};
      }
      if (shares > 1) {
        append(round, std::move(moves.by_map));
        fence.push_back({Commit{}});
        arrived(fence, distance - 1);
      } else {
        arrived(fence, std::max<std::int64_t>(distance - 2, 0));
        // All have read this round's place.
        append(then, std::move(moves.by_map));
        for (auto& move : std::exchange(moves.by_threads, {})) append(then, std::move(move));
        if (by_threads) then.push_back({Commit{}});
      }
      const auto at = [&](const Affine& where) { return std::get<Mma>(shifted(rest, size, where).front().node); };
      append(round,
             products.round(at(place), at(next_place), std::move(moves.by_threads), std::move(fence), std::move(then)),
             rest.front().origin);
      all_rounds(std::move(round));
      return result;
    }
    arrived(round, distance - 1);
    std::vector<Body> next;
    if (distance < chunks) {
      const auto later = now + Affine(distance);
      const auto next_place = wrapped(round, "next_place", later, places);
      moves = copies_of(round, later, next_place, is_round(now, distance));
      append(round, std::move(moves.by_map));
      next = std::move(moves.by_threads);
    }
    const auto place = wrapped(round, "place", now, places);
    append(round, boxes.awaited(now, place), boxes_origin);
    rest = shifted(std::move(rest), size, place);
    mma = rest.size() == 1 ? std::get_if<Mma>(&rest.front().node) : nullptr;
    Body behind;
    if (mma != nullptr && tile_.of_groups()) {
      GroupProducts products(threads_, *mma, tile_);
      append(result, products.declared(), rest.front().origin);
      append(round, products.round(*mma, overlap), rest.front().origin);
      for (auto& move : next) append(round, std::move(move));
      if (overlap) behind.push_back({Wait{0, mma->accumulator}});
      // Fragments of the next round are not read before those of this one, so that all products before have ended.
      if (!overlap || !tile_.atom->holds_a) round.push_back({Wait{overlap ? 1 : 0, mma->accumulator}});
    } else if (mma != nullptr) {
      // Between the first fragments and later ones: shared memory takes its requests in their order.
      append(round, multiplied(threads_, *mma, tile_, std::move(next)), rest.front().origin);
    } else {
      for (auto& move : next) append(round, std::move(move));
      append(round, sequence(rest, false));
    }
    if (chunks > 1 && by_threads) round.push_back({Commit{}});
    all_rounds(std::move(round), std::move(behind));
    return result;
  }

  /// In how many parts the copies of a round are made, each between two steps of the products before: 1: all at once,
  /// behind the last fragments.
  std::int64_t shares_of_copies(const std::vector<Visits>& visits, const Mma& mma) {
    // Of a thread. Reads of fragments wait behind more; parts of fewer come later for no gain. Measured on an H200:
    // from 12 on 0.84 to 1.02 of the time, 10.5 up to 1.035, 6 up to 1.04.
    constexpr std::int64_t kFewCopies = 11;
    std::int64_t count = 0;
    for (const auto& visit : visits) {
      if (visit.value.empty()) return 1;  // by a rule of its own
      auto of_operand = static_cast<std::int64_t>(visit.value.size());
      for (const auto round : visit.rounds) of_operand *= kernel_.extent(round);
      count += of_operand;
    }
    const std::int64_t steps = tile_.depth.blocks();
    const bool as_text = steps > 1 && steps_together(kernel_, mma, tile_, true) == steps;
    return as_text && count > kFewCopies ? steps - 1 : 1;
  }

  Affine wrapped(Body& body, const char* name, const Affine& of, std::int64_t places) {
    return places == 1 ? Affine(0) : threads_.let(body, name, of, 1, places);
  }

  /// Products that read arrays of several places, at one of them.
  static Body shifted(Body body, const std::map<int, std::int64_t>& size, const Affine& place) {
    const auto shift = [&](Access& access) {
      if (const auto found = size.find(access.array); found != size.end())
        access.index.front() = access.index.front() + found->second * place;
    };
    for (auto& statement : body) {
      if (auto* mma = std::get_if<Mma>(&statement.node)) {
        shift(mma->a);
        shift(mma->b);
      } else if (auto* loop = std::get_if<Loop>(&statement.node)) {
        loop->body = shifted(std::move(loop->body), size, place);
      }
    }
    return body;
  }

  Kernel& kernel_;
  bool outer_;  ///< nothing is summed
  Threads threads_;
  WarpTile tile_;
  int repeats_ = 0;  ///< loops around what is being expanded
};

/// What blocks do, in the loops over them, which stay outside.
template <class Of>
Body in_blocks(const Body& body, const Of& of) {
  if (body.size() == 1) {
    if (const auto* loop = std::get_if<Loop>(&body.front().node); loop != nullptr && numbers_blocks(loop->bind)) {
      Loop outer = *loop;
      outer.body = in_blocks(loop->body, of);
      return only({std::move(outer), body.front().origin});
    }
  }
  return of(body);
}

}  // namespace
}  // namespace cuda

Body expand_cuda(Kernel& kernel, const Body& body) {
  return cuda::in_blocks(body, [&](const Body& block) {
    if (!block.empty() && std::holds_alternative<Section>(block.front().node))
      return cuda::sections_expanded(kernel, block);
    const auto* mma = cuda::product_of(block);
    if (mma == nullptr) throw PlanError("schedule: a kernel for a GPU needs an atom");
    return cuda::Expander(kernel, *mma).run(block);
  });
}

}  // namespace ricci::kernel
