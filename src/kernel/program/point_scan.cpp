// Scans and compactions of a point by one worker, value by value; sums on a CPU vector by vector.
#include <algorithm>
#include <tuple>

#include "kernel/expand.hpp"
#include "kernel/program/loops.hpp"
#include "kernel/program/point.hpp"

namespace ricci::kernel {

using ir::NodeKind;
using ir::OpCode;

namespace {

constexpr int kRowBytes = 64;  // one vector of a CPU

}  // namespace

int scan_row(const ir::Program& program, const ir::Node& n) {
  if (n.op != OpCode::add || is_complex(n.type)) return 1;
  if (size_of(n.type) < 4 || (program.exact && !is_integer(n.type))) return 1;
  const int length = kRowBytes / static_cast<int>(size_of(n.type));
  if (program.indices[static_cast<std::size_t>(n.over[0])].extent < std::int64_t{2} * length) return 1;
  const bool sums = std::any_of(program.nodes.begin(), program.nodes.end(),
                                [](const ir::Node& node) { return node.kind == NodeKind::reduce; });
  return sums ? 1 : length;
}

ir::Affine PointBuilder::places(const ir::Statement& statement) const {
  auto affine = statement.offset;
  affine.coefficient[static_cast<std::size_t>(node(statement.value).over[0])] = statement.step;
  return affine;
}

/// The combination of all values, as element `at` of the scan.
void PointBuilder::add_total(const ir::Statement& statement, int running, std::int64_t at) {
  auto total = statement.offset;
  total.constant += statement.step * at;
  store_scanned(statement, total, running);
}

void PointBuilder::store_scanned(const ir::Statement& statement, const ir::Affine& at, int running) {
  const auto set = results();
  auto first = offset(at);
  const auto when = store_guard(set);
  const int loops = open_unrolled(set);
  if (!when.empty()) body_.open(If{when, {}, {}});
  if (block_.lanes > 1) {
    store_lanes(statement, first, value_of(running, set));
  } else {
    body_.add(Store{{statement.buffer, {std::move(first)}}, value_of(running, set)});
  }
  body_.close(loops + (when.empty() ? 0 : 1));
}

int PointBuilder::start_running(const ir::Node& n) {
  const auto set = results();
  if (n.operand[1] >= 0) prepare(n.operand[1], set);
  auto start = n.operand[1] >= 0 ? value(n.operand[1]) : identity_of(n.op, n.type);
  const auto running = add_registers("running", n.type, set, block_.lanes);
  define(running, set, std::move(start));
  return running;
}

void PointBuilder::add_scan(const ir::Statement& statement) {
  if (block_.cooperative_threads > 1) {
    add_cooperative_scan(statement);
    return;
  }
  const auto& n = node(statement.value);
  const int q = n.over[0];
  const auto running = start_running(n);
  if (extent(q) > 0) {
    hoist(n.operand[0], IndexSet().set(static_cast<std::size_t>(q)));
    if (const int length = cpu() && block_.lanes == 1 && results().none() ? scan_row(program_, n) : 1; length > 1) {
      Sweep sweep{enter_index(q), {}, Affine(extent(q)), {}};
      sweep.parts.push_back({length, body_.collect([&] { add_scanned_row(statement, running, length); })});
      if (extent(q) % length != 0)
        sweep.parts.push_back({1, body_.collect([&] { add_scanned_value(statement, running); })});
      body_.add(std::move(sweep));
      leave_index(q);
    } else {
      open_loop(q, {.bind = extent(q) <= kUnrolled ? Bind::unroll : Bind::any, .body = {}});
      add_scanned_value(statement, running);
      close_loop(q);
    }
  }
  if (n.exclusive) add_total(statement, running, extent(q));
}

void PointBuilder::add_scanned_value(const ir::Statement& statement, int running) {
  const auto& n = node(statement.value);
  open_scope();
  // Where the element stands that is stored: the scan may be in place.
  const auto set = results();
  const auto item = n.exclusive ? add_registers("item", n.type, set, block_.lanes) : running;
  if (n.exclusive) define(item, set, value_of(running, set));
  accumulate(n.operand[0], cell(item, set), n.op, set);
  store_scanned(statement, places(statement), running);
  if (n.exclusive) store(running, set, value_of(item, set));
  close_scope();
}

/// One vector of a scan: log2(lanes) additions.
void PointBuilder::add_scanned_row(const ir::Statement& statement, int running, int length) {
  const auto& n = node(statement.value);
  const int q = n.over[0];
  Array items;
  items.name = names_.fresh("item");
  items.type = n.type;
  items.space = Space::registers;
  items.shape = {length};
  items.alignment = kRowBytes;
  const auto item = kernel_.add_array(std::move(items));
  body_.add(Declare{item});
  const auto neighbour = kernel_.add_var(names_.fresh("v"), length);
  const auto inside = [&](Bind bind, const std::function<void()>& write) {
    body_.open(Loop{.var = neighbour, .bind = bind, .body = {}});
    at_neighbour(q, neighbour, write);
    body_.close();
  };
  const Access one{item, {Affine::of(neighbour)}};
  inside(Bind::vector, [&] {
    open_scope();
    if (node(n.operand[0]).kind == NodeKind::guard) body_.add(Store{one, identity_of(n.op, n.type)});
    accumulate(n.operand[0], one, std::nullopt, IndexSet());
    close_scope();
  });
  Value sums;
  sums.kind = Value::Kind::prefixes;
  sums.type = n.type;
  sums.operands.push_back(load_of(n.type, {item, {Affine(0)}, length}));
  const auto upto = add_registers("upto", n.type, {}, length);
  body_.add(Define{upto, apply(OpCode::add, n.type, {std::move(sums), value_of(running, {})})});
  auto stored = upto;
  if (n.exclusive) {
    Value before;
    before.kind = Value::Kind::shifted;
    before.type = n.type;
    before.operands = {value_of(upto, {}), value_of(running, {})};
    stored = add_registers("before", n.type, {}, length);
    body_.add(Define{stored, std::move(before)});
  }
  const auto lane_of = [&](int vector, Affine lane) {
    auto value = value_of(vector, {});
    value.access.lane = std::move(lane);
    return value;
  };
  if (statement.step == 1) {
    body_.add(Store{{statement.buffer, {offset(places(statement))}, length}, value_of(stored, {})});
  } else {
    inside(Bind::unroll, [&] {
      body_.add(Store{{statement.buffer, {offset(places(statement))}}, lane_of(stored, Affine::of(neighbour))});
    });
  }
  body_.add(Store{cell(running, {}), lane_of(upto, Affine(length - 1))});
}

/// The index at a distance from its variable.
void PointBuilder::at_neighbour(int q, Var distance, const std::function<void()>& write) {
  const auto outer = std::pair(block_.lane, block_.point);
  block_.lane = q;
  block_.point = distance;
  write();
  std::tie(block_.lane, block_.point) = outer;
}

/// Where the first element that passes goes, as a variable.
int PointBuilder::start_place(const ir::Statement& statement) {
  const auto base = node(statement.value).operand[2];
  prepare(base, IndexSet());
  auto first = value(base);
  if (const auto from = offset(statement.offset); from != Affine()) {
    Value index;
    index.kind = Value::Kind::index;
    index.type = DType::i64;
    index.affine = from;
    first = apply(OpCode::add, DType::i64, {std::move(index), std::move(first)});
  }
  const auto place = add_registers("place", DType::i64, {}, 1);
  body_.add(Define{place, std::move(first)});
  return place;
}

void PointBuilder::add_compact(const ir::Statement& statement) {
  if (block_.cooperative_threads > 1) {
    add_cooperative_compact(statement);
    return;
  }
  const auto& n = node(statement.value);
  const auto place = start_place(statement);
  const int q = n.over[0];
  if (extent(q) == 0) return;
  open_loop(q, {.bind = extent(q) <= kUnrolled ? Bind::unroll : Bind::any, .body = {}});
  open_scope();
  prepare(n.operand[0], IndexSet());
  If passes;
  passes.values.push_back(condition(n.operand[0]));
  body_.open(std::move(passes));
  open_scope();
  prepare(n.operand[1], IndexSet());
  body_.add(Scatter{statement.buffer, value_of(place, {}), value(n.operand[1])});
  advance(place, statement.step);
  close_scope();
  body_.close();
  close_scope();
  close_loop(q);
}

void PointBuilder::advance(int place, std::int64_t step, std::optional<Value> times) {
  Value by;
  by.type = DType::i64;
  by.bits = static_cast<std::uint64_t>(step);
  if (times) {
    auto count = apply(OpCode::cast, DType::i64, {*std::move(times)});
    by = step == 1 ? std::move(count) : apply(OpCode::mul, DType::i64, {std::move(by), std::move(count)});
  }
  body_.add(Store{cell(place, {}), apply(OpCode::add, DType::i64, {value_of(place, {}), std::move(by)})});
}

}  // namespace ricci::kernel
