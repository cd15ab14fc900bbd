// Scans and compactions of a point by cooperative threads (CUDA), which take one piece of the index after the other:
//
//   a piece is rows of one warp each, 32 lanes of `vector` neighbours:  values -> scan within the thread -> within the
//   warp (shuffles) -> across warps (one shared array, one barrier) -> stores; the piece's total is carried to the next
//
// Values are combined in an order that depends on the schedule alone.
#include <algorithm>

#include "kernel/expand.hpp"
#include "kernel/program/point.hpp"

namespace ricci::kernel {

using ir::NodeId;
using ir::NodeKind;
using ir::OpCode;

namespace {

Value shuffled(Value::Kind kind, Value value, int lane) {
  Value result;
  result.kind = kind;
  result.type = value.type;
  result.affine = Affine(lane);
  result.operands.push_back(std::move(value));
  return result;
}

Value bits_of(DType type, std::uint64_t bits) {
  Value value;
  value.type = type;
  value.bits = bits;
  return value;
}

}  // namespace

/// How cooperative threads divide an index into pieces.
struct PointBuilder::Pieces {
  int index = -1;
  int warps = 1, rows = 1, vector = 1;
  std::int64_t length = 0;    ///< values of a piece
  bool ragged = false;        ///< the last piece is shorter
  Var first = -1;             ///< the piece's first value; none where there is one piece
  Var lane = -1, warp = -1;   ///< the thread's lane and warp; no warp where there is one
  Var row = -1;               ///< the row's number; none where there is one
  Var at = -1;                ///< the thread's first value in a row
  Var neighbour = -1;         ///< the distance from it; none where it is the only one
  Var parity = -1;            ///< which half of the parts the piece uses; none where there is one warp or one piece
  std::vector<NodeId> loads;  ///< loads that are read as vectors
  /// An inclusive scan stored one element earlier, as an exclusive one, so that its vectors are aligned.
  bool shifted = false;
  bool several() const { return first >= 0; }
};

PointBuilder::Pieces PointBuilder::pieces(const ir::Node& root, const ir::Statement& statement) {
  Pieces p;
  p.index = root.over[0];
  const auto n = extent(p.index);
  p.warps = block_.cooperative_threads / kWarp;
  if (root.kind == NodeKind::scan) {
    // Loads of neighbours, one per value of the index.
    std::vector<NodeId> loads;
    const auto used = needed(root.operand[0]);
    for (std::size_t id = used.size(); id-- > 0;) {
      const auto& load = program_.nodes[id];
      if (!used[id] || load.kind != NodeKind::load) continue;
      bool looped = false;
      for (std::size_t q = 0; q < free_.size(); ++q)
        looped = looped || (!free_[q] && static_cast<int>(q) != p.index && depends_[id][q]);
      if (!looped && load.offset.coefficient[static_cast<std::size_t>(p.index)] == 1)
        loads.push_back(static_cast<NodeId>(id));
    }
    const auto fits = [&](int vector) {
      const auto whole = [&](int buffer, const ir::Affine& affine) {
        return vector * size_of(program_.buffers[static_cast<std::size_t>(buffer)].type) <= kWidestAccessBytes &&
               ir::vector_access(program_, buffer, affine, p.index, vector);
      };
      if (!std::all_of(loads.begin(), loads.end(), [&](NodeId id) { return whole(node(id).source, node(id).offset); }))
        return false;
      auto to = places(statement);
      p.shifted = false;
      if (whole(statement.buffer, to)) return true;
      to.constant -= 1;
      p.shifted = !root.exclusive && n > 0 && whole(statement.buffer, to);
      return p.shifted;
    };
    for (int vector = 16; vector > 1 && p.vector == 1; vector /= 2) {
      if (block_.items_per_thread % vector == 0 && fits(vector)) p.vector = vector;
    }
    if (p.vector > 1) p.loads = std::move(loads);
  }
  if (p.vector == 1) p.shifted = false;
  p.rows = block_.items_per_thread / p.vector;
  p.length = std::int64_t{block_.cooperative_threads} * block_.items_per_thread;
  p.ragged = n % p.length != 0;
  const auto& name = index_name(p.index);
  const auto pieces = (n + p.length - 1) / p.length;
  if (pieces > 1) p.first = kernel_.add_var(names_.fresh(name + "0"), n);
  p.lane = block_.member;
  if (p.warps > 1) {
    p.lane = kernel_.add_var(names_.fresh("lane"), kWarp);
    p.warp = kernel_.add_var(names_.fresh("warp"), p.warps);
  }
  if (p.rows > 1) p.row = kernel_.add_var(names_.fresh("row"), p.rows);
  // In a loop of its own it can have the index's name.
  const bool alone = p.vector > 1 || (!p.several() && p.rows == 1);
  p.at = kernel_.add_var(alone ? names_.fresh(name + "_at") : name, pieces * p.length);
  if (p.vector > 1) p.neighbour = kernel_.add_var(names_.fresh("v"), p.vector);
  if (p.warps > 1 && pieces > 1) p.parity = kernel_.add_var(names_.fresh("parity"), 2);
  return p;
}

/// Declarations common to all pieces, and the loop over them.
void PointBuilder::open_pieces(const Pieces& p) {
  if (p.warps > 1) {
    body_.add(Let{p.lane, Affine::of(block_.member), 1, kWarp});
    body_.add(Let{p.warp, Affine::of(block_.member), kWarp});
  }
  if (p.several()) body_.open(Loop{.var = p.first, .body = {}, .step = p.length});
  if (p.parity >= 0) body_.add(Let{p.parity, Affine::of(p.first), p.length, 2});
  if (p.rows == 1) add_first_in_row(p);
}

void PointBuilder::close_pieces(const Pieces& p) {
  if (p.several()) body_.close();
}

void PointBuilder::add_first_in_row(const Pieces& p) {
  Affine at = Affine::of(p.rows > 1 ? p.lane : block_.member, p.vector);
  if (p.several()) at = at + Affine::of(p.first);
  if (p.rows > 1) {
    if (p.warps > 1) at = at + Affine::of(p.warp, std::int64_t{kWarp} * block_.items_per_thread);
    at = at + Affine::of(p.row, std::int64_t{kWarp} * p.vector);
  }
  body_.add(Let{p.at, at});
}

/// `write` for every row of a thread; the index is the first of its values there.
void PointBuilder::over_rows(const Pieces& p, const std::function<void()>& write) {
  if (p.rows > 1) {
    body_.open(Loop{.var = p.row, .bind = Bind::unroll, .body = {}});
    add_first_in_row(p);
  }
  enter_index(p.index, p.at);
  write();
  leave_index(p.index);
  if (p.rows > 1) body_.close();
}

/// `write` for every neighbour that a thread takes at a time; the index is that neighbour.
void PointBuilder::over_neighbours(const Pieces& p, std::int64_t first, const std::function<void()>& write) {
  if (p.vector == 1) return write();
  body_.open(Loop{.var = p.neighbour, .bind = Bind::unroll, .body = {}, .first = Affine(first)});
  at_neighbour(p.index, p.neighbour, write);
  body_.close();
}

void PointBuilder::inside_piece(const Pieces& p, const std::function<void()>& write) {
  if (p.ragged) body_.open(If{{{Affine::of(p.at), extent(p.index)}}, {}, {}});
  write();
  if (p.ragged) body_.close();
}

Access PointBuilder::item(const Pieces& p, int array, const Affine& neighbour) const {
  Access access{array, {p.rows > 1 ? Affine::of(p.row) : Affine(0)}};
  if (p.vector > 1) access.index.push_back(neighbour);
  return access;
}

int PointBuilder::add_rows_of(const Pieces& p, const std::string& stem, DType type, int vector) {
  Array array;
  array.name = names_.fresh(stem);
  array.type = type;
  array.space = Space::registers;
  array.shape = {p.rows};
  if (vector > 1) array.shape.push_back(vector);
  const auto number = kernel_.add_array(std::move(array));
  body_.add(Declare{number});
  return number;
}

/// What the first lane of each warp says, to all warps: `own` before the barrier, `each` with the part of every warp
/// after it.
void PointBuilder::across_warps(const Pieces& p, int own, const std::function<void(const Value&, Var)>& each) {
  const auto type = kernel_.array(own).type;
  const std::int64_t halves = p.parity >= 0 ? 2 : 1;
  const auto parts = kernel_.add_array({names_.fresh("parts"), type, Space::shared, {halves * p.warps}});
  const auto half = p.parity >= 0 ? Affine::of(p.parity, p.warps) : Affine();
  body_.open(If{{{Affine::of(p.lane), 1}}, {}, {}});
  body_.add(Store{{parts, {half + Affine::of(p.warp)}}, value_of(own, {})});
  body_.close();
  body_.add(Barrier{});
  const auto other = kernel_.add_var(names_.fresh("other"), p.warps);
  body_.open(Loop{.var = other, .bind = Bind::unroll, .body = {}});
  const auto part = add_registers("part", type, {}, 1);
  body_.add(Define{part, load_of(type, {parts, {half + Affine::of(other)}})});
  each(value_of(part, {}), other);
  body_.close();
}

/// The values of a piece, each where the thread that takes it has room for it.
void PointBuilder::add_items(const Pieces& p, const ir::Node& n, int items) {
  // The identity takes away what the operation would not keep of a first value: a NaN, for minima.
  const bool sanitised = !is_integer(n.type) && (n.op == OpCode::minimum || n.op == OpCode::maximum);
  const auto one = item(p, items, Affine::of(p.neighbour));
  over_rows(p, [&] {
    if (p.ragged || sanitised || node(n.operand[0]).kind == NodeKind::guard)
      over_neighbours(p, 0, [&] { body_.add(Store{one, identity_of(n.op, n.type)}); });
    inside_piece(p, [&] {
      open_scope();
      for (const auto id : p.loads) {
        const auto& load = node(id);
        const auto vector = add_registers(kernel_.array(load.source).name + "_items", load.type, {}, p.vector);
        body_.add(Define{vector, load_of(load.type, {load.source, {offset(load.offset)}, p.vector})});
        vectors_[id] = {vector, p.neighbour};
      }
      over_neighbours(p, 0, [&] {
        open_scope();
        accumulate(n.operand[0], one, sanitised ? std::optional(n.op) : std::nullopt, IndexSet());
        close_scope();
      });
      for (const auto id : p.loads) vectors_.erase(id);
      close_scope();
    });
  });
}

/// Every item becomes the combination of those of its warp up to it, or before it; the sum that of all of them.
void PointBuilder::scan_warp(const Pieces& p, const ir::Node& n, int items, int sum, bool exclusive, bool carried) {
  const auto combine = [&](Value x, Value y) { return apply(n.op, n.type, {std::move(x), std::move(y)}); };
  const auto at = [&](const Affine& neighbour) { return load_of(n.type, item(p, items, neighbour)); };
  if (p.rows > 1) body_.open(Loop{.var = p.row, .bind = Bind::unroll, .body = {}});
  const auto v = Affine::of(p.neighbour);
  if (p.vector > 1) {
    body_.open(Loop{.var = p.neighbour, .bind = Bind::unroll, .body = {}, .first = Affine(1)});
    body_.add(Store{item(p, items, v), combine(at(v - Affine(1)), at(v))});
    body_.close();
  }
  const auto upto = add_registers("upto", n.type, {}, 1), below = add_registers("below", n.type, {}, 1);
  body_.add(Define{upto, at(Affine(p.vector - 1))});
  body_.add(LaneScan{cell(upto, {}), n.op});
  body_.add(Define{below, shuffled(Value::Kind::shuffle_up, value_of(upto, {}), 1)});
  body_.add(If{{{Affine::of(p.lane), 1}},
               {{Store{cell(below, {}), value_of(sum, {})}}},
               {{Store{cell(below, {}), combine(value_of(sum, {}), value_of(below, {}))}}},
               {}});
  if (carried) {
    body_.add(Store{cell(sum, {}),
                    combine(value_of(sum, {}), shuffled(Value::Kind::shuffle, value_of(upto, {}), kWarp - 1))});
  }
  if (!exclusive) {
    over_neighbours(p, 0, [&] { body_.add(Store{item(p, items, v), combine(value_of(below, {}), at(v))}); });
  } else {
    if (p.vector > 1) {  // from the last one down
      const auto up = kernel_.add_var(names_.fresh("v"), p.vector - 1);
      const auto down = Affine(p.vector - 1) - Affine::of(up);
      body_.open(Loop{.var = up, .bind = Bind::unroll, .body = {}});
      body_.add(Store{item(p, items, down), combine(value_of(below, {}), at(down - Affine(1)))});
      body_.close();
    }
    body_.add(Store{item(p, items, Affine(0)), value_of(below, {})});
  }
  if (p.rows > 1) body_.close();
}

void PointBuilder::store_items(const Pieces& p, const ir::Statement& statement, int items, int before) {
  const auto& n = node(statement.value);
  auto to = places(statement);
  if (p.shifted) to.constant -= statement.step;
  const auto result = [&](const Affine& neighbour) {
    return apply(n.op, n.type, {value_of(before, {}), load_of(n.type, item(p, items, neighbour))});
  };
  over_rows(p, [&] {
    inside_piece(p, [&] {
      const Access first{statement.buffer, {offset(to)}};
      if (p.vector == 1) {
        body_.add(Store{first, result(Affine(0))});
        return;
      }
      Value vector;
      vector.kind = Value::Kind::pack;
      vector.type = n.type;
      for (int v = 0; v < p.vector; ++v) vector.operands.push_back(result(Affine(v)));
      Store all{{first.array, first.index, p.vector}, std::move(vector)};
      if (!p.shifted) {
        body_.add(std::move(all));
        return;
      }
      // Nothing stands before the first value.
      Body some;
      for (int v = 1; v < p.vector; ++v)
        some.push_back({Store{{first.array, {first.index.front() + Affine(v)}}, result(Affine(v))}});
      body_.add(If{{{Affine::of(p.at), 1}}, std::move(some), {{std::move(all)}}, {}});
    });
  });
}

void PointBuilder::add_cooperative_scan(const ir::Statement& statement) {
  const auto& n = node(statement.value);
  const auto running = start_running(n);
  const auto length = extent(n.over[0]);
  if (length > 0) {
    const auto p = pieces(n, statement);
    const bool exclusive = n.exclusive || p.shifted;
    const bool carried = p.several() || exclusive;  // what the piece adds up to is used after it
    hoist(n.operand[0], IndexSet().set(static_cast<std::size_t>(p.index)));
    wait_for_readers(statement);
    open_pieces(p);
    ++loops_;
    const auto items = add_rows_of(p, "item", n.type, p.vector);
    add_items(p, n, items);
    body_.add(Comment{"of the warp's rows so far"});
    const auto sum = add_registers("sum", n.type, {}, 1);
    body_.add(Define{sum, identity_of(n.op, n.type)});
    scan_warp(p, n, items, sum, exclusive, p.rows > 1 || p.warps > 1 || carried);
    const auto before = add_registers("before", n.type, {}, 1);
    body_.add(Define{before, value_of(running, {})});
    const auto extend = [&](int array, const Value& by) {
      body_.add(Store{cell(array, {}), apply(n.op, n.type, {value_of(array, {}), by})});
    };
    if (p.warps > 1) {
      across_warps(p, sum, [&](const Value& part, Var other) {
        // All up to the warp's own part, which takes fewer registers than to add the others' once more.
        body_.open(If{{{Affine::of(other) - Affine::of(p.warp), 1}}, {}, {}});
        body_.add(Store{cell(before, {}), value_of(running, {})});
        body_.close();
        extend(running, part);
      });
    } else if (carried) {
      extend(running, value_of(sum, {}));
    }
    store_items(p, statement, items, before);
    --loops_;
    close_pieces(p);
    if (!exclusive) return;
    // An inclusive scan stored as an exclusive one lacks its last element.
    add_last_total(statement, running, p.shifted ? length - 1 : length);
    return;
  }
  wait_for_readers(statement);
  if (n.exclusive) add_last_total(statement, running, 0);
}

/// By one of the threads.
void PointBuilder::add_last_total(const ir::Statement& statement, int running, std::int64_t at) {
  body_.open(If{{{Affine::of(block_.member), 1}}, {}, {}});
  add_total(statement, running, at);
  body_.close();
}

void PointBuilder::add_cooperative_compact(const ir::Statement& statement) {
  const auto& n = node(statement.value);
  const auto place = start_place(statement);
  if (extent(n.over[0]) == 0) return;
  const auto p = pieces(n, statement);
  const auto step = statement.step;
  hoist(n.operand[0], IndexSet().set(static_cast<std::size_t>(p.index)));
  wait_for_readers(statement);
  open_pieces(p);
  ++loops_;
  const auto count_of = [](Value bits) { return apply(OpCode::popcount, DType::u32, {std::move(bits)}); };
  // One bit per lane: whether its value passes.
  const auto passes = add_rows_of(p, "passes", DType::u32, 1), taken = add_rows_of(p, "taken", DType::u8, 1);
  const auto all = load_of(DType::u32, item(p, passes, {})), own = load_of(DType::u8, item(p, taken, {}));
  body_.add(Comment{"of the warp"});
  const auto found = add_registers("found", DType::u32, {}, 1);
  body_.add(Define{found, bits_of(DType::u32, 0)});
  over_rows(p, [&] {
    if (p.ragged) body_.add(Store{own.access, bits_of(DType::u8, 0)});
    inside_piece(p, [&] {
      open_scope();
      prepare(n.operand[0], IndexSet());
      body_.add(Store{own.access, condition(n.operand[0])});
      close_scope();
    });
    body_.add(Store{all.access, [&] {
                      auto ballot = shuffled(Value::Kind::ballot, own, 0);
                      ballot.type = DType::u32;
                      return ballot;
                    }()});
    body_.add(Store{cell(found, {}), apply(OpCode::add, DType::u32, {value_of(found, {}), count_of(all)})});
  });
  body_.add(Comment{"of the warp's first"});
  const auto before = add_registers("before", DType::i64, {}, 1);
  body_.add(Define{before, value_of(place, {})});
  if (p.warps > 1) {
    across_warps(p, found, [&](const Value& part, Var other) {
      body_.open(If{{{Affine::of(other) - Affine::of(p.warp), 0}}, {}, {}});
      advance(before, step, part);
      body_.close();
      advance(place, step, part);
    });
  } else {
    advance(place, step, value_of(found, {}));
  }
  // Bits of the lanes below.
  Value lane;
  lane.kind = Value::Kind::index;
  lane.type = DType::i64;
  lane.affine = Affine::of(p.lane);
  const auto one = bits_of(DType::u32, 1);
  const auto lower = add_registers("lower", DType::u32, {}, 1);
  body_.add(Define{
      lower, apply(OpCode::sub, DType::u32,
                   {apply(OpCode::shift_left, DType::u32, {one, apply(OpCode::cast, DType::u32, {lane})}), one})});
  over_rows(p, [&] {
    If passed;
    if (p.ragged) passed.when.push_back({Affine::of(p.at), extent(p.index)});
    passed.values.push_back(own);
    body_.open(std::move(passed));
    open_scope();
    prepare(n.operand[1], IndexSet());
    const auto to = add_registers("to", DType::i64, {}, 1);
    body_.add(Define{to, value_of(before, {})});
    advance(to, step, count_of(apply(OpCode::bit_and, DType::u32, {all, value_of(lower, {})})));
    body_.add(Scatter{statement.buffer, value_of(to, {}), value(n.operand[1])});
    close_scope();
    body_.close();
    advance(before, step, count_of(all));
  });
  --loops_;
  close_pieces(p);
}

}  // namespace ricci::kernel
