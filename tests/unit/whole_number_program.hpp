// Random programs of every kind of node over small whole numbers, with data, for what must hold for all programs.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "ir/builder.hpp"
#include "ir/passes/colour_refinement.hpp"
#include "ir/program.hpp"

namespace ricci::test {

/// Values are small whole numbers, and nothing divides: every order of every sum gives the same bits.
class WholeNumberProgram {
 public:
  ir::Program program;
  std::vector<std::vector<char>> data;  ///< per buffer
  std::vector<Scalar> params;

  explicit WholeNumberProgram(std::uint64_t seed) : random_(seed) {
    do {
      write();
    } while (!every_index_used());
    // Reads may be anywhere: buffers reach as far as they do.
    reach();
    program = builder_.finish();
    fill();
  }

  /// Runs `form`, whose buffer k is this program's buffer `buffer[k]`, on a copy of the data.
  std::vector<std::vector<char>> result(const ir::Program& form, const std::vector<int>& buffer,
                                        const std::vector<int>& param) const {
    auto copy = data;
    std::vector<void*> pointers;
    for (const int k : buffer) {
      const auto& own = program.buffers[static_cast<std::size_t>(k)];
      pointers.push_back(copy[static_cast<std::size_t>(k)].data() - own.first * size_of(own.type));
    }
    std::vector<Scalar> values;
    for (const int k : param) values.push_back(params[static_cast<std::size_t>(k)]);
    ir::interpret(form, pointers, values);
    // A sum of one term -0 is 0 when it is summed, -0 when it is known to be the term.
    for (std::size_t k = 0; k < copy.size(); ++k) {
      if (is_integer(program.buffers[k].type)) continue;
      for (std::size_t at = 0; at < copy[k].size(); at += sizeof(double)) {
        double value = 0;
        std::memcpy(&value, copy[k].data() + at, sizeof value);
        value += 0.0;
        std::memcpy(copy[k].data() + at, &value, sizeof value);
      }
    }
    return copy;
  }

 private:
  void write() {
    builder_ = {};
    params.clear();
    many_.clear();
    constexpr DType kTypes[] = {DType::i32, DType::i64, DType::u8, DType::f64, DType::c128};
    type_ = kTypes[pick(5)];
    builder_.program.exact = pick(2) == 0;
    free_ = 1 + pick(3);
    const int run = pick(3);
    for (int q = 0; q < free_ + run; ++q) {
      const int extent = q < free_ ? 1 + pick(4) : pick(4);
      builder_.program.indices.push_back({"index" + std::to_string(q), extent});
    }
    inputs_ = 1 + pick(4);
    for (int k = 0; k < inputs_; ++k) {
      const auto type = pick(4) == 0 && !is_complex(type_) ? DType::i64 : type_;
      builder_.program.buffers.push_back({"in" + std::to_string(k), type, false, 0, 0, size_of(type)});
    }
    for (int k = 0, count = pick(3); k < count; ++k) {
      builder_.program.params.push_back({"param" + std::to_string(k), type_});
      params.emplace_back(1 + pick(3));
    }
    for (int k = 0, outputs = 1 + pick(2); k < outputs; ++k) statement();
  }

  /// An index that no reduction took up would be one of the statements'.
  bool every_index_used() const {
    const auto& p = builder_.program;
    std::vector<bool> used(p.nodes.size());
    for (const auto& statement : p.statements) used[static_cast<std::size_t>(statement.value)] = true;
    std::vector<bool> run(p.indices.size());
    for (std::size_t id = used.size(); id-- > 0;) {
      if (!used[id]) continue;
      for (const auto operand : p.nodes[id].operand) {
        if (operand >= 0) used[static_cast<std::size_t>(operand)] = true;
      }
      for (const int q : p.nodes[id].over) run[static_cast<std::size_t>(q)] = true;
    }
    return std::all_of(run.begin() + free_, run.end(), [](bool is) { return is; });
  }

  int pick(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
  int indices() const { return static_cast<int>(builder_.program.indices.size()); }
  std::int64_t extent(int q) const { return builder_.program.indices[static_cast<std::size_t>(q)].extent; }

  ir::Affine affine(const std::vector<int>& allowed) {
    ir::Affine offset;
    offset.coefficient.resize(static_cast<std::size_t>(indices()));
    for (const int q : allowed) {
      if (pick(3) != 0) offset.coefficient[static_cast<std::size_t>(q)] = pick(7) - 2;
    }
    offset.constant = pick(3);
    return offset;
  }

  ir::NodeId value(int depth, std::vector<int> allowed) {
    auto& b = builder_;
    const auto sub = [&] { return value(depth - 1, allowed); };
    // Operands are drawn one by one, the last first: compilers differ in the order in which they evaluate arguments.
    const auto binary = [&](ir::OpCode op, auto first) {
      const auto y = sub(), x = first();
      return b.op(op, type_, x, y);
    };
    const int kind = depth == 0 ? pick(4) : 2 + pick(10);
    if (kind == 0) return b.constant(1 + pick(3), type_);
    if (kind == 1 && !b.program.params.empty()) return b.param(pick(static_cast<int>(b.program.params.size())));
    if (kind == 2 && !is_complex(type_) && type_ != DType::u8 && !allowed.empty()) {
      return b.cast(b.index(allowed[static_cast<std::size_t>(pick(static_cast<int>(allowed.size())))]), type_);
    }
    if (kind <= 3) {
      const int buffer = pick(inputs_);
      return b.cast(b.load(buffer, affine(allowed)), type_);
    }
    if (kind == 4) return binary(ir::OpCode::sub, sub);
    if (kind == 5) return b.op(ir::OpCode::neg, type_, sub());
    if (kind == 6) return binary(ir::OpCode::mul, [&] { return value(0, allowed); });
    if (kind == 7 && !is_complex(type_)) return binary(ir::OpCode::minimum, sub);
    if (kind == 8) {
      std::vector<int> over;
      for (int q = free_; q < indices(); ++q) {
        const bool bound = std::find(allowed.begin(), allowed.end(), q) != allowed.end();
        if (!bound && pick(3) != 0) over.push_back(q);
      }
      if (!over.empty()) {
        allowed.insert(allowed.end(), over.begin(), over.end());
        auto body = value(depth - 1, allowed);
        if (pick(3) == 0) body = b.guard(predicate(allowed), body);
        return b.reduce(ir::OpCode::add, body, over);
      }
    }
    if (kind == 9 && !is_complex(type_)) {
      const auto y = sub(), x = sub(), condition = predicate(allowed);
      return b.op(ir::OpCode::select, type_, condition, x, y);
    }
    return binary(ir::OpCode::add, sub);
  }

  ir::NodeId predicate(const std::vector<int>& allowed) {
    auto& b = builder_;
    if (allowed.empty()) return b.constant(pick(2), DType::u8);
    const auto q = allowed[static_cast<std::size_t>(pick(static_cast<int>(allowed.size())))];
    const auto bound = b.constant(pick(4), DType::i64);
    return b.op(ir::OpCode::less, DType::u8, b.index(q), bound);
  }

  void statement() {
    auto& b = builder_;
    std::vector<int> order(static_cast<std::size_t>(free_));
    std::iota(order.begin(), order.end(), 0);
    auto allowed = order;
    std::shuffle(order.begin(), order.end(), random_);
    const bool runs = indices() > free_;
    const int kind = pick(8);
    const int over = runs ? free_ + pick(indices() - free_) : -1;
    // Room for a scan's n + 1 elements or a compaction's n.
    const std::int64_t many = runs && kind < 2 ? extent(over) + 1 : 1;
    std::int64_t stride = many;
    ir::Affine offset;
    offset.coefficient.resize(static_cast<std::size_t>(indices()));
    for (const int q : order) {
      offset.coefficient[static_cast<std::size_t>(q)] = pick(4) == 0 ? -stride : stride;
      stride *= extent(q) + pick(2);
    }
    const auto buffer = static_cast<int>(b.program.buffers.size());
    b.program.buffers.push_back({"out" + std::to_string(buffer), type_, true, 0, 0, size_of(type_)});
    if (many > 1 && kind == 0) {
      allowed.push_back(over);
      b.store(buffer, offset, b.scan(ir::OpCode::add, value(2, allowed), over, true), 1);
    } else if (many > 1) {
      const auto base = b.constant(0, DType::i64);
      allowed.push_back(over);
      b.store(buffer, offset, b.compact(predicate(allowed), value(2, allowed), base, over), 1);
    } else {
      auto result = value(4, allowed);
      if (kind == 2) result = b.op(ir::OpCode::add, type_, b.load(buffer, offset), result);
      if (kind == 3) result = b.guard(predicate(allowed), result);
      b.store(buffer, offset, result);
    }
    many_.push_back(many);
  }

  void reach() {
    auto& p = builder_.program;
    std::vector<bool> seen(p.buffers.size());
    const auto see = [&](int k, const ir::Affine& offset, std::int64_t more) {
      ir::Bounds range{offset.constant, offset.constant + more};
      for (std::size_t q = 0; q < p.indices.size(); ++q) {
        const auto far = offset.coefficient[q] * std::max<std::int64_t>(p.indices[q].extent - 1, 0);
        (far < 0 ? range.first : range.last) += far;
      }
      auto& buffer = p.buffers[static_cast<std::size_t>(k)];
      const bool fresh = !seen[static_cast<std::size_t>(k)];
      buffer.first = fresh ? range.first : std::min(buffer.first, range.first);
      buffer.last = fresh ? range.last : std::max(buffer.last, range.last);
      seen[static_cast<std::size_t>(k)] = true;
    };
    for (const auto& node : p.nodes) {
      if (node.kind == ir::NodeKind::load) see(node.source, node.offset, 0);
    }
    for (std::size_t s = 0; s < p.statements.size(); ++s) {
      see(p.statements[s].buffer, p.statements[s].offset, many_[s] - 1);
    }
  }

  void fill() {
    for (const auto& buffer : program.buffers) {
      const auto size = static_cast<std::size_t>(size_of(buffer.type));
      std::vector<char> bytes(size * static_cast<std::size_t>(buffer.last - buffer.first + 1));
      for (std::size_t at = 0; at < bytes.size(); at += size) {
        const auto whole = static_cast<std::int64_t>(pick(4));
        const auto real = static_cast<double>(whole);
        const void* from = is_integer(buffer.type) ? static_cast<const void*>(&whole) : &real;
        std::memcpy(bytes.data() + at, from, std::min(size, sizeof whole));
      }
      data.push_back(std::move(bytes));
    }
  }

  std::mt19937_64 random_;
  ir::Builder builder_;
  DType type_ = DType::f64;
  int free_ = 0, inputs_ = 0;
  std::vector<std::int64_t> many_;  // per statement: elements that one point writes
};

/// The program as somebody else would have written it: other names, other orders of indices, buffers, parameters and
/// nodes, operands that commute the other way round, and what was shared computed twice. With `regroup`, chains are
/// combined in another order too.
inline ir::Program rewritten(const ir::Program& program, std::uint64_t seed, bool regroup) {
  std::mt19937_64 random(seed);
  const auto shuffled = [&](std::size_t count) {
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    return order;  // new position of each
  };
  const auto place = [](const std::vector<int>& order, int k) { return order[static_cast<std::size_t>(k)]; };
  auto index = shuffled(program.indices.size());
  if (program.exact) {  // the order of sums is part of what was written
    const auto free = program.free_indices();
    std::vector<int> positions;
    for (std::size_t q = 0; q < free.size(); ++q) {
      if (!free[q]) positions.push_back(index[q]);
    }
    std::sort(positions.begin(), positions.end());
    auto next = positions.begin();
    for (std::size_t q = 0; q < free.size(); ++q) {
      if (!free[q]) index[q] = *next++;
    }
  }
  const auto buffer = shuffled(program.buffers.size()), param = shuffled(program.params.size());
  ir::Program other;
  other.exact = program.exact;
  other.indices.resize(index.size());
  other.buffers.resize(buffer.size());
  other.params.resize(param.size());
  const auto put = [](const auto& from, auto& to, const std::vector<int>& order, const char* name) {
    for (std::size_t k = 0; k < order.size(); ++k) {
      auto& item = to[static_cast<std::size_t>(order[k])];
      item = from[k];
      item.name = name + std::to_string(order[k]);
    }
  };
  put(program.indices, other.indices, index, "i");
  put(program.buffers, other.buffers, buffer, "T");
  put(program.params, other.params, param, "x");
  const auto moved = [&](const ir::Affine& affine) {
    ir::Affine result;
    result.coefficient.resize(index.size());
    result.constant = affine.constant;
    for (std::size_t q = 0; q < index.size(); ++q) {
      result.coefficient[static_cast<std::size_t>(index[q])] = affine.coefficient[q];
    }
    return result;
  };
  const ir::Chains chains(program);
  std::map<ir::NodeId, ir::NodeId> known;
  const auto copy = [&](const auto& self, ir::NodeId id) -> ir::NodeId {
    if (known.count(id) != 0 && random() % 4 != 0) return known[id];
    auto node = program.nodes[static_cast<std::size_t>(id)];
    auto terms = regroup ? chains.terms(id) : decltype(chains.terms(id))();
    if (!terms.empty()) {
      std::shuffle(terms.begin(), terms.end(), random);
      const auto added = std::find_if(terms.begin(), terms.end(), [](const auto& t) { return !t.inverse; });
      if (added != terms.end()) std::iter_swap(terms.begin(), added);
      auto last = self(self, terms[0].node);
      if (terms[0].inverse) {
        ir::Node sign;
        sign.kind = ir::NodeKind::op;
        sign.op = ir::OpCode::neg;
        sign.type = node.type;
        sign.operand[0] = last;
        other.nodes.push_back(std::move(sign));
        last = static_cast<ir::NodeId>(other.nodes.size()) - 1;
      }
      for (std::size_t k = 1; k < terms.size(); ++k) {
        ir::Node link;
        link.kind = ir::NodeKind::op;
        link.type = node.type;
        link.op = terms[k].inverse ? ir::OpCode::sub : node.op == ir::OpCode::sub ? ir::OpCode::add : node.op;
        const auto next = self(self, terms[k].node);
        const bool swaps = !terms[k].inverse && random() % 2 == 0;
        link.operand[0] = swaps ? next : last;
        link.operand[1] = swaps ? last : next;
        other.nodes.push_back(std::move(link));
        last = static_cast<ir::NodeId>(other.nodes.size()) - 1;
      }
      return known[id] = last;
    }
    const int count = operand_count(node);
    const bool backwards = random() % 2 == 0;
    for (int k = 0; k < count; ++k) {
      const int which = backwards ? count - 1 - k : k;
      node.operand[which] = self(self, node.operand[which]);
    }
    if (node.kind == ir::NodeKind::op && commutes(node.op) && random() % 2 == 0) {
      std::swap(node.operand[0], node.operand[1]);
    }
    if (node.kind == ir::NodeKind::load) {
      node.source = place(buffer, node.source);
      node.offset = moved(node.offset);
    }
    if (node.kind == ir::NodeKind::param) node.source = place(param, node.source);
    if (node.kind == ir::NodeKind::index) node.source = place(index, node.source);
    for (auto& q : node.over) q = place(index, q);
    std::sort(node.over.begin(), node.over.end());
    other.nodes.push_back(std::move(node));
    return known[id] = static_cast<ir::NodeId>(other.nodes.size()) - 1;
  };
  for (const auto& statement : program.statements) {
    const auto value = copy(copy, statement.value);
    other.statements.push_back({place(buffer, statement.buffer), moved(statement.offset), value, statement.step});
  }
  verify(other);
  return other;
}

}  // namespace ricci::test
