// Scans and compactions of one point: sequentially by one worker, or by cooperative threads (CUDA), which take one
// piece of the index after the other:
//
//   a piece is rows of one warp each, 32 lanes of `vector` neighbours:  values -> scan within the thread -> within the
//   warp (shuffles) -> across warps (one shared array, one barrier) -> stores; the piece's total is carried to the next
//
// Values are combined in an order that depends on the schedule alone.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "codegen/expression.hpp"
#include "codegen/point.hpp"
#include "ricci/error.hpp"

namespace ricci::codegen {

using ir::NodeId;
using ir::NodeKind;
using ir::OpCode;

namespace {

constexpr int kWarp = 32;
constexpr std::int64_t kWidestAccessBytes = 16;

/// The statement's affine offset with the scanned index included.
ir::Affine places(const ir::Statement& statement, int q) {
  auto affine = statement.offset;
  affine.coefficient[static_cast<std::size_t>(q)] = statement.step;
  return affine;
}

constexpr int kRowBytes = 64;

/// Elements of a row: one vector of a CPU.
int row_length(DType type) { return kRowBytes / static_cast<int>(size_of(type)); }

/// Unsigned, since sums of integers wrap.
const char* row_element(DType type) {
  if (!is_integer(type)) return c_type(type);
  return size_of(type) == 4 ? "u32" : "u64";
}

/// Whether a CPU scans the statement's values vector by vector: reorderable sums of values without reductions.
bool adds_rows(const ir::Program& program, const ir::Statement& statement) {
  const auto& n = program.nodes[static_cast<std::size_t>(statement.value)];
  if (n.kind != NodeKind::scan || n.op != OpCode::add || is_complex(n.type)) return false;
  if (size_of(n.type) < 4 || (program.exact && !is_integer(n.type))) return false;
  if (program.indices[static_cast<std::size_t>(n.over[0])].extent < std::int64_t{2} * row_length(n.type)) return false;
  return std::none_of(program.nodes.begin(), program.nodes.end(),
                      [](const ir::Node& node) { return node.kind == NodeKind::reduce; });
}

}  // namespace

std::string scan_functions(const ir::Program& program) {
  std::string text;
  std::vector<DType> made;
  for (const auto& statement : program.statements) {
    const auto type = program.nodes[static_cast<std::size_t>(statement.value)].type;
    if (!adds_rows(program, statement) || std::find(made.begin(), made.end(), type) != made.end()) continue;
    made.push_back(type);
    const auto row = fmt::format("row_{}", name(type));
    const int length = row_length(type);
    text += fmt::format("typedef {} {} __attribute__((ext_vector_type({})));\n", row_element(type), row, length);
    text += fmt::format("typedef {} {}_in_memory __attribute__((aligned({}), may_alias));\n", row, row, size_of(type));
    text += fmt::format("// Inclusive scan of the lanes.\nstatic inline {} inclusive_scan({} x) {{\n", row, row);
    text += fmt::format("  const {} zero = 0;\n", row);
    for (int span = 1; span < length; span *= 2) {
      std::vector<int> lanes;
      for (int v = 0; v < length; ++v) lanes.push_back(v < span ? v : length + v - span);
      text += fmt::format("  x += __builtin_shufflevector(zero, x, {});\n", fmt::join(lanes, ", "));
    }
    text += "  return x;\n}\n\n";
  }
  return text;
}

/// How cooperative threads divide an index into pieces, and the names of the parts in the text.
struct PointEmitter::Pieces {
  int index = -1;
  const char* type = "int";
  int warps = 1, rows = 1, vector = 1;
  std::int64_t length = 0;    ///< values of a piece
  bool ragged = false;        ///< the last piece is shorter
  std::string first;          ///< variable: the piece's first value; empty where there is one piece
  std::string lane, warp;     ///< variables: the thread's lane and warp; warp is empty where there is one
  std::string row, at;        ///< variables: the row's number; the thread's first value in it
  std::vector<NodeId> loads;  ///< loads that are read as vectors
  bool shifted =
      false;  ///< an inclusive scan stored one element earlier, as an exclusive one, so that its vectors are aligned

  std::string cell(const std::string& name) const {
    return vector == 1 ? fmt::format("{}[{}]", name, row) : fmt::format("{}[{}][v]", name, row);
  }
  std::string inside(std::int64_t extent) const { return fmt::format("{} < {}", at, extent); }
};

std::vector<std::size_t> PointEmitter::statement_order() {
  const auto count = program_.statements.size();
  // reads[s]: buffers that statement s reads inside its loops.
  std::vector<std::vector<bool>> reads(count, std::vector<bool>(program_.buffers.size()));
  for (std::size_t s = 0; s < count; ++s) {
    const auto used = needed(program_.statements[s].value);
    for (std::size_t id = 0; id < used.size(); ++id) {
      const auto& n = program_.nodes[id];
      if (!used[id]) continue;
      bool looped = false;
      for (std::size_t q = 0; q < free_.size(); ++q) looped = looped || (!free_[q] && depends_[id][q]);
      if (n.kind == NodeKind::load && looped) reads[s][static_cast<std::size_t>(n.source)] = true;
    }
  }
  const auto before = [&](std::size_t s, std::size_t r) {  // s reads what r writes
    return s != r && reads[s][static_cast<std::size_t>(program_.statements[r].buffer)];
  };
  std::vector<std::size_t> order;
  std::vector<bool> done(count);
  while (order.size() < count) {
    const auto waits = [&](std::size_t r) {
      for (std::size_t s = 0; s < count; ++s) {
        if (!done[s] && before(s, r)) return true;
      }
      return false;
    };
    std::size_t next = 0;
    while (next < count && (done[next] || waits(next))) ++next;
    if (next == count) {
      throw PlanError(
          "statements of one kernel each read, value by value, what another of them writes; write one of "
          "the results to a tensor of its own");
    }
    for (std::size_t s = 0; s < count; ++s) crossing_ = crossing_ || before(s, next);
    done[next] = true;
    order.push_back(next);
  }
  return order;
}

PointEmitter::Pieces PointEmitter::pieces(const ir::Node& root, const ir::Statement& statement) {
  Pieces p;
  p.index = root.over[0];
  const auto n = extent(p.index);
  const bool wide = block_.wide || n > std::numeric_limits<std::int32_t>::max() / 2;
  if (wide) p.type = "i64";
  p.warps = block_.cooperative_threads / kWarp;
  if (root.kind == NodeKind::scan) {
    // Loads of neighbours, one per value of the index.
    std::vector<NodeId> loads;
    const auto used = needed(root.operand[0]);
    for (std::size_t id = used.size(); id-- > 0;) {
      const auto& used_node = program_.nodes[id];
      if (!used[id]) continue;
      bool looped = false;
      for (std::size_t q = 0; q < free_.size(); ++q) {
        looped = looped || (!free_[q] && static_cast<int>(q) != p.index && depends_[id][q]);
      }
      if (used_node.kind != NodeKind::load || looped) continue;
      if (used_node.offset.coefficient[static_cast<std::size_t>(p.index)] == 1)
        loads.push_back(static_cast<NodeId>(id));
    }
    const auto fits = [&](int vector) {
      const auto whole = [&](int buffer, const ir::Affine& affine) {
        return vector * size_of(program_.buffers[static_cast<std::size_t>(buffer)].type) <= kWidestAccessBytes &&
               ir::vector_access(program_, buffer, affine, p.index, vector);
      };
      if (!std::all_of(loads.begin(), loads.end(), [&](NodeId id) { return whole(node(id).source, node(id).offset); }))
        return false;
      auto to = places(statement, p.index);
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
  p.ragged = n == 0 || n % p.length != 0;
  const auto& name = index_name(p.index);
  if (n > p.length) p.first = fresh(name + "0");
  p.lane = block_.cooperative_threads == kWarp ? "member" : fresh("lane");
  if (p.warps > 1) p.warp = fresh("warp");
  p.row = p.rows > 1 ? fresh("row") : "0";
  p.at = p.vector > 1 ? fresh(name + "_at") : name;
  return p;
}

/// Declarations common to all pieces, and the loop over them.
void PointEmitter::open_pieces(const Pieces& p) {
  if (p.warps > 1) w_.line("const int {} = member % {}, {} = member / {};", p.lane, kWarp, p.warp, kWarp);
  if (p.first.empty()) {
    w_.open("{{");
  } else {
    w_.line("#pragma unroll 1");
    w_.open("for ({} {} = 0; {} < {}; {} += {}) {{", p.type, p.first, p.first, extent(p.index), p.first, p.length);
  }
}

/// The loop over a thread's rows.
void PointEmitter::open_rows(const Pieces& p) {
  if (p.rows > 1) {
    w_.line("#pragma unroll");
    w_.open("for (int {} = 0; {} < {}; ++{}) {{", p.row, p.row, p.rows, p.row);
  } else {
    w_.open("{{");
  }
  std::vector<std::string> terms;
  if (!p.first.empty()) terms.push_back(p.first);
  if (p.warps > 1) terms.push_back(fmt::format("{} * {}", kWarp * block_.items_per_thread, p.warp));
  if (p.rows > 1) terms.push_back(fmt::format("{} * {}", kWarp * p.vector, p.row));
  terms.push_back(p.vector > 1 ? fmt::format("{} * {}", p.vector, p.lane) : p.lane);
  w_.line("const {} {} = {};", p.type, p.at, fmt::join(terms, " + "));
}

void PointEmitter::emit_scan(const ir::Statement& statement) {
  if (block_.cooperative_threads > 1) {
    emit_cooperative_scan(statement);
    return;
  }
  const auto& n = node(statement.value);
  const auto& buffer = program_.buffers[static_cast<std::size_t>(statement.buffer)].name;
  const int q = n.over[0];
  if (n.operand[1] >= 0) prepare(n.operand[1], Set());
  const auto running = fresh("running");
  w_.line("{} {} = {};", c_type(n.type), running,
          n.operand[1] >= 0 ? value(n.operand[1]).text : identity_literal(n.op, n.type));
  const auto place = places(statement, q);
  if (extent(q) > 0) hoist(n.operand[0], Set().set(static_cast<std::size_t>(q)));
  bool any_left = true;
  if (language_ == Language::cpp && adds_rows(program_, statement)) {
    const auto at = fresh(index_name(q) + "_at");
    emit_scan_rows(statement, running, at);
    any_left = extent(q) % row_length(n.type) != 0;
    if (any_left)
      w_.open("for (i64 {} = {}; {} < {}; ++{}) {{", index_name(q), at, index_name(q), extent(q), index_name(q));
  } else {
    open_loop(q, false, extent(q) <= kUnrolled);
  }
  if (any_left) {
    open_scope();
    if (n.exclusive) {
      // Read the element before storing there: the scan may be in place.
      const auto item = fresh("item");
      w_.line("{} {} = {};", c_type(n.type), item, running);
      accumulate(n.operand[0], item, n.op, Set());
      w_.line("{}[{}] = {};", buffer, offset(place), running);
      w_.line("{} = {};", running, item);
    } else {
      accumulate(n.operand[0], running, n.op, Set());
      w_.line("{}[{}] = {};", buffer, offset(place), running);
    }
    close_scope();
    close(1);
  }
  if (!n.exclusive) return;
  auto total = statement.offset;
  total.constant += statement.step * extent(q);
  w_.line("{}[{}] = {};", buffer, offset(total), running);
}

/// The vectorised part of a scan, log2(lanes) additions for each vector; it ends at value `at`.
void PointEmitter::emit_scan_rows(const ir::Statement& statement, const std::string& running, const std::string& at) {
  const auto& n = node(statement.value);
  const auto& buffer = program_.buffers[static_cast<std::size_t>(statement.buffer)].name;
  const int q = n.over[0];
  const int length = row_length(n.type);
  const auto row = fmt::format("row_{}", name(n.type));
  const auto [item, upto, out] = std::array{fresh("item"), fresh("upto"), fresh("out")};
  w_.line("i64 {} = 0;", at);
  w_.open("for (; {} + {} <= {}; {} += {}) {{", at, length, extent(q), at, length);
  w_.line("alignas(64) {} {}[{}];", c_type(n.type), item, length);
  w_.open("for (int v = 0; v < {}; ++v) {{", length);
  w_.line("const i64 {} = {} + v;", index_name(q), at);
  open_scope();
  if (node(n.operand[0]).kind == NodeKind::guard) w_.line("{}[v] = {};", item, identity_literal(n.op, n.type));
  accumulate(n.operand[0], item + "[v]", std::nullopt, Set());
  close_scope();
  w_.close();
  const auto all = fmt::format("({})({}){}", row, row_element(n.type), running);
  w_.line("const {} {} = inclusive_scan(*(const {}_in_memory*){}) + {};", row, upto, row, item, all);
  if (n.exclusive) {
    std::vector<int> lanes{length};
    for (int v = 0; v + 1 < length; ++v) lanes.push_back(v);
    w_.line("const {} {} = __builtin_shufflevector({}, {}, {});", row, out, upto, all, fmt::join(lanes, ", "));
  }
  const auto& stored = n.exclusive ? out : upto;
  auto rest = statement.offset;
  if (statement.step == 1) {
    const auto first = offset(rest);
    w_.line("*({}_in_memory*)({} + {}{}) = {};", row, buffer, first == "0" ? "" : first + " + ", at, stored);
  } else {
    w_.open("for (int v = 0; v < {}; ++v) {{", length);
    w_.line("const i64 {} = {} + v;", index_name(q), at);
    w_.line("{}[{}] = ({}){}[v];", buffer, offset(places(statement, q)), c_type(n.type), stored);
    w_.close();
  }
  w_.line("{} = ({}){}[{}];", running, c_type(n.type), upto, length - 1);
  w_.close();
}

void PointEmitter::emit_cooperative_scan(const ir::Statement& statement) {
  const auto& n = node(statement.value);
  const auto& buffer = program_.buffers[static_cast<std::size_t>(statement.buffer)].name;
  const auto p = pieces(n, statement);
  const auto q = static_cast<std::size_t>(p.index);
  const std::string type = c_type(n.type);
  const auto identity = identity_literal(n.op, n.type);
  const auto combine = [&](const std::string& x, const std::string& y) { return combined(n.op, n.type, x, {y}); };
  const bool exclusive = n.exclusive || p.shifted;
  const auto over_neighbours = [&](const std::string& line) {
    if (p.vector > 1) {
      w_.line("#pragma unroll");
      w_.line("for (int v = 0; v < {}; ++v) {}", p.vector, line);
    } else {
      w_.line("{}", line);
    }
  };

  if (n.operand[1] >= 0) prepare(n.operand[1], Set());
  const auto running = fresh("running");
  w_.line("{} {} = {};", type, running, n.operand[1] >= 0 ? value(n.operand[1]).text : identity);
  if (extent(p.index) > 0) hoist(n.operand[0], Set().set(q));
  wait_for_readers(statement);
  const auto [item, sum, before, parts, parity] =
      std::array{fresh("item"), fresh("sum"), fresh("before"), fresh("parts"), fresh("parity")};
  if (p.warps > 1) {
    w_.line("static __shared__ {} {}[2][{}];", type, parts, p.warps);
    w_.line("int {} = 0;", parity);
  }
  open_pieces(p);
  ++loops_;
  w_.line("{} {}[{}]{};", type, item, p.rows, p.vector > 1 ? fmt::format("[{}]", p.vector) : "");
  open_rows(p);
  open_scope();
  for (const auto id : p.loads) {
    auto rest = node(id).offset;
    rest.coefficient[q] = 0;
    const auto& from = program_.buffers[static_cast<std::size_t>(node(id).source)];
    const auto name = fresh(fmt::format("{}_items", from.name));
    const auto vector = fmt::format("vec<{}, {}>", c_type(from.type), p.vector);
    const auto first = offset(rest);
    const auto read = fmt::format("load<{}>({} + {}{})", vector, from.name, first == "0" ? "" : first + " + ", p.at);
    w_.line("{} {} = {};", vector, name, p.ragged ? std::string("{}") : read);
    if (p.ragged) w_.line("if ({}) {} = {};", p.inside(extent(p.index)), name, read);
    names_[id] = name + ".at[v]";
    scope_.back().push_back(id);
  }
  if (p.vector > 1) {
    w_.line("#pragma unroll");
    w_.open("for (int v = 0; v < {}; ++v) {{", p.vector);
    w_.line("const {} {} = {} + v;", p.type, index_name(p.index), p.at);
  }
  // The identity takes away what the operation would not keep of a first value: a NaN, for minima.
  const bool floats = !is_integer(n.type);
  const bool sanitised = floats && (n.op == OpCode::minimum || n.op == OpCode::maximum);
  const bool starts = p.ragged || sanitised || node(n.operand[0]).kind == NodeKind::guard;
  if (starts) w_.line("{} = {};", p.cell(item), identity);
  if (p.ragged) w_.open("if ({}) {{", p.inside(extent(p.index)));
  open_scope();
  accumulate(n.operand[0], p.cell(item), sanitised ? std::optional(n.op) : std::nullopt, Set());
  close_scope();
  close((p.ragged ? 1 : 0) + (p.vector > 1 ? 1 : 0));
  close_scope();
  close(1);

  w_.line("{} {} = {};  // of the warp's rows so far", type, sum, identity);
  if (p.rows > 1) {
    w_.line("#pragma unroll");
    w_.open("for (int {} = 0; {} < {}; ++{}) {{", p.row, p.row, p.rows, p.row);
  } else {
    w_.open("{{");
  }
  const auto neighbour = [&](const char* v) { return fmt::format("{}[{}][{}]", item, p.row, v); };
  if (p.vector > 1) {
    w_.line("#pragma unroll");
    w_.line("for (int v = 1; v < {}; ++v) {} = {};", p.vector, neighbour("v"),
            combine(neighbour("v - 1"), neighbour("v")));
  }
  const auto last = p.vector > 1 ? neighbour(std::to_string(p.vector - 1).c_str()) : p.cell(item);
  w_.line("{} upto = {};  // the lane", type, last);
  w_.line("#pragma unroll");
  w_.open("for (int span = 1; span < {}; span *= 2) {{", kWarp);
  w_.line("const {} below = shuffle_up(upto, span);", type);
  w_.line("if ({} >= span) upto = {};", p.lane, combine("below", "upto"));
  w_.close();
  w_.line("{} below = shuffle_up(upto, 1);", type);
  w_.line("below = {} == 0 ? {} : ({})({});", p.lane, sum, type, combine(sum, "below"));
  if (p.rows > 1 || p.warps > 1 || !p.first.empty() || exclusive)
    w_.line("{} = {};", sum, combine(sum, fmt::format("shuffle(upto, {})", kWarp - 1)));
  if (exclusive) {
    if (p.vector > 1) {
      w_.line("#pragma unroll");
      w_.line("for (int v = {}; v > 0; --v) {} = {};", p.vector - 1, neighbour("v"),
              combine("below", neighbour("v - 1")));
      w_.line("{} = below;", neighbour("0"));
    } else {
      w_.line("{} = below;", p.cell(item));
    }
  } else {
    over_neighbours(fmt::format("{} = {};", p.cell(item), combine("below", p.cell(item))));
  }
  w_.close();

  w_.line("{} {} = {};", p.warps > 1 ? type : "const " + type, before, running);
  if (p.warps > 1) {
    w_.line("if ({} == 0) {}[{}][{}] = {};", p.lane, parts, parity, p.warp, sum);
    w_.line("__syncthreads();");
    w_.line("#pragma unroll");
    w_.open("for (int other = 0; other < {}; ++other) {{", p.warps);
    w_.line("const {} part = {}[{}][other];", type, parts, parity);
    w_.line("if (other < {}) {} = {};", p.warp, before, combine(before, "part"));
    w_.line("{} = {};", running, combine(running, "part"));
    w_.close();
    w_.line("{} ^= 1;", parity);
  } else if (!p.first.empty() || exclusive) {
    w_.line("{} = {};", running, combine(running, sum));
  }

  auto place = places(statement, p.index);
  if (p.shifted) place.constant -= statement.step;
  open_rows(p);
  if (p.ragged) w_.open("if ({}) {{", p.inside(extent(p.index)));
  const auto result = combine(before, p.cell(item));
  if (p.vector == 1) {
    w_.line("{}[{}] = {};", buffer, offset(place), result);
  } else {
    auto rest = place;
    rest.coefficient[q] = 0;
    const auto first = offset(rest);
    const auto to = fmt::format("{}{}", first == "0" ? "" : first + " + ", p.at);
    w_.line("vec<{}, {}> out;", type, p.vector);
    over_neighbours(fmt::format("out.at[v] = {};", result));
    if (p.shifted) {
      w_.open("if ({} == 0) {{", p.at);
      w_.line("#pragma unroll");
      w_.line("for (int v = 1; v < {}; ++v) {}[{} + v] = out.at[v];", p.vector, buffer, to);
      w_.close();
      w_.line("else store({} + {}, out);", buffer, to);
    } else {
      w_.line("store({} + {}, out);", buffer, to);
    }
  }
  close(p.ragged ? 2 : 1);
  --loops_;
  close(1);
  if (!exclusive) return;
  auto total = statement.offset;
  total.constant += statement.step * (extent(p.index) - (p.shifted ? 1 : 0));
  w_.line("if (member == 0) {}[{}] = {};", buffer, offset(total), running);
}

void PointEmitter::emit_compact(const ir::Statement& statement) {
  if (block_.cooperative_threads > 1) {
    emit_cooperative_compact(statement);
    return;
  }
  const auto& n = node(statement.value);
  const auto& buffer = program_.buffers[static_cast<std::size_t>(statement.buffer)];
  const auto [predicate, payload, base] = std::tuple{n.operand[0], n.operand[1], n.operand[2]};
  prepare(base, Set());
  const auto place = fresh("place");
  auto first = offset(statement.offset);
  w_.line("i64 {} = {}{};", place, first == "0" ? "" : first + " + ", value(base).text);
  open_loop(n.over[0], false, extent(n.over[0]) <= kUnrolled);
  open_scope();
  prepare(predicate, Set());
  w_.open("if ({}) {{", condition(predicate).text);
  open_scope();
  prepare(payload, Set());
  w_.line("if ({} >= {} && {} <= {}) {}[{}] = {};", place, buffer.first, place, buffer.last, buffer.name, place,
          value(payload).text);
  w_.line("{} += {};", place, statement.step);
  for (int k = 0; k < 2; ++k) {
    close_scope();
    w_.close();
  }
}

void PointEmitter::emit_cooperative_compact(const ir::Statement& statement) {
  const auto& n = node(statement.value);
  const auto& buffer = program_.buffers[static_cast<std::size_t>(statement.buffer)];
  const auto [predicate, payload, base] = std::tuple{n.operand[0], n.operand[1], n.operand[2]};
  prepare(base, Set());
  const auto place = fresh("place");
  auto start = offset(statement.offset);
  w_.line("i64 {} = {}{};", place, start == "0" ? "" : start + " + ", value(base).text);
  const auto p = pieces(n, statement);
  const auto [passes, found, before, parts, parity] =
      std::array{fresh("passes"), fresh("found"), fresh("before"), fresh("parts"), fresh("parity")};
  if (extent(p.index) > 0) hoist(predicate, Set().set(static_cast<std::size_t>(p.index)));
  wait_for_readers(statement);
  if (p.warps > 1) {
    w_.line("static __shared__ int {}[2][{}];", parts, p.warps);
    w_.line("int {} = 0;", parity);
  }
  open_pieces(p);
  ++loops_;
  w_.line("u32 {}[{}];  // one bit per lane", passes, p.rows);
  w_.line("int {} = 0;  // of the warp", found);
  open_rows(p);
  w_.line("bool taken = false;");
  if (p.ragged) w_.open("if ({}) {{", p.inside(extent(p.index)));
  open_scope();
  prepare(predicate, Set());
  w_.line("taken = ({}) != 0;", value(predicate).text);
  close_scope();
  close(p.ragged ? 1 : 0);
  w_.line("{}[{}] = ballot(taken);", passes, p.row);
  w_.line("{} += popcount32({}[{}]);", found, passes, p.row);
  w_.close();

  const auto step = statement.step == 1 ? std::string() : fmt::format("{} * ", statement.step);
  w_.line("i64 {} = {};  // of the warp's first", before, place);
  if (p.warps > 1) {
    w_.line("if ({} == 0) {}[{}][{}] = {};", p.lane, parts, parity, p.warp, found);
    w_.line("__syncthreads();");
    w_.line("#pragma unroll");
    w_.open("for (int other = 0; other < {}; ++other) {{", p.warps);
    w_.line("const int part = {}[{}][other];", parts, parity);
    w_.line("if (other < {}) {} += {}part;", p.warp, before, step);
    w_.line("{} += {}part;", place, step);
    w_.close();
    w_.line("{} ^= 1;", parity);
  } else {
    w_.line("{} += {}{};", place, step, found);
  }
  open_rows(p);
  w_.open("if ({}[{}] >> {} & 1u) {{", passes, p.row, p.lane);
  open_scope();
  prepare(payload, Set());
  w_.line("const i64 to = {} + {}popcount32({}[{}] & ((1u << {}) - 1u));", before, step, passes, p.row, p.lane);
  w_.line("if (to >= {} && to <= {}) {}[to] = {};", buffer.first, buffer.last, buffer.name, value(payload).text);
  close_scope();
  w_.close();
  w_.line("{} += {}popcount32({}[{}]);", before, step, passes, p.row);
  w_.close();
  --loops_;
  close(1);
}

}  // namespace ricci::codegen
