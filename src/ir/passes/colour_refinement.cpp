// Colour refinement: a part's number is made of what it is and of the numbers of its neighbours, again and again, until
// no more parts are told apart.
#include "ir/passes/colour_refinement.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace ricci::ir {
namespace {

std::uint64_t mix(std::uint64_t x) {  // the finaliser of splitmix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// A number of things in order. Sums of such numbers stand for things without one.
template <class... T>
std::uint64_t join(T... parts) {
  std::uint64_t result = 0;
  ((result = mix(result ^ static_cast<std::uint64_t>(parts))), ...);
  return result;
}

class Refinement {
 public:
  explicit Refinement(const Program& program) : program_(program), chains_(program), down_(program.nodes.size()) {
    const auto free = program.free_indices();
    for (std::size_t q = 0; q < free.size(); ++q) colours_.index.push_back(join(program.indices[q].extent, free[q]));
    for (const auto& buffer : program.buffers) {
      colours_.buffer.push_back(join(buffer.type, buffer.written, buffer.first, buffer.last, buffer.alignment));
    }
    for (const auto& param : program.params) colours_.param.push_back(join(param.type));
    colours_.node.resize(program.nodes.size());
    used_index_.resize(program.indices.size());
    used_buffer_.resize(program.buffers.size());
    used_param_.resize(program.params.size());
    for (const auto& node : program.nodes) use(node);
    for (const auto& statement : program.statements) {
      used_buffer_[static_cast<std::size_t>(statement.buffer)] = true;
      use(statement.offset);
    }
    for (std::size_t id = 0; id < program.nodes.size(); ++id) terms_.push_back(chains_.terms(static_cast<NodeId>(id)));
  }

  Colours run() {
    for (;;) {
      for (std::size_t before = 0, now = classes(); now > before; now = classes()) {
        before = now;
        round();
      }
      if (!tell_apart()) break;
    }
    look_up();
    return std::move(colours_);
  }

 private:
  static std::size_t distinct(const std::vector<std::uint64_t>& numbers, const Few<bool>& used) {
    std::vector<std::uint64_t> values;
    values.reserve(numbers.size());
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      if (used[k]) values.push_back(numbers[k]);
    }
    std::sort(values.begin(), values.end());
    return static_cast<std::size_t>(std::unique(values.begin(), values.end()) - values.begin());
  }
  std::size_t classes() const {
    return distinct(colours_.index, used_index_) + distinct(colours_.buffer, used_buffer_) +
           distinct(colours_.param, used_param_);
  }

  void use(const Affine& affine) {
    for (std::size_t q = 0; q < used_index_.size(); ++q) {
      if (affine.coefficient[q] != 0) used_index_[q] = true;
    }
  }
  void use(const Node& node) {
    if (node.kind == NodeKind::load) {
      used_buffer_[static_cast<std::size_t>(node.source)] = true;
      use(node.offset);
    }
    if (node.kind == NodeKind::param) used_param_[static_cast<std::size_t>(node.source)] = true;
    if (node.kind == NodeKind::index) used_index_[static_cast<std::size_t>(node.source)] = true;
    for (const int q : node.over) used_index_[static_cast<std::size_t>(q)] = true;
  }

  std::uint64_t number(const Affine& affine) const {
    std::uint64_t sum = 0;
    for (std::size_t q = 0; q < affine.coefficient.size(); ++q) {
      if (affine.coefficient[q] != 0) sum += join(colours_.index[q], affine.coefficient[q]);
    }
    return join(affine.constant, sum);
  }

  /// What a node computes, from its operands up.
  std::uint64_t number(std::size_t id) const {
    const auto& node = program_.nodes[id];
    const auto head = join(node.kind, node.op, node.type, node.exclusive);
    const auto source = static_cast<std::size_t>(node.source);
    const auto up = [&](NodeId operand) { return colours_.node[static_cast<std::size_t>(operand)]; };
    switch (node.kind) {
      case NodeKind::load:
        return join(head, colours_.buffer[source], number(node.offset));
      case NodeKind::param:
        return join(head, colours_.param[source]);
      case NodeKind::constant:
        return join(head, node.integer, std::bit_cast<std::uint64_t>(node.value.real()),
                    std::bit_cast<std::uint64_t>(node.value.imag()));
      case NodeKind::index:
        return join(head, colours_.index[source]);
      default:
        break;
    }
    if (!terms_[id].empty()) {
      // Sums and differences are one kind of chain: what is subtracted says so itself.
      std::uint64_t sum = 0;
      for (const auto& term : terms_[id]) sum += join(up(term.node), term.inverse);
      return join(node.kind, node.op == OpCode::sub ? OpCode::add : node.op, node.type, sum);
    }
    std::uint64_t over = 0;
    for (const int q : node.over) over += join(colours_.index[static_cast<std::size_t>(q)]);
    auto result = join(head, over);
    for (int k = 0; k < operand_count(node); ++k) result = join(result, up(node.operand[k]));
    return result;
  }

  void look_up() {
    for (std::size_t id = 0; id < colours_.node.size(); ++id) {
      colours_.node[id] = chains_.inner(static_cast<NodeId>(id)) ? 0 : number(id);
    }
  }

  std::uint64_t number(const Statement& statement, std::size_t position) const {
    return join(position, statement.step, colours_.buffer[static_cast<std::size_t>(statement.buffer)],
                number(statement.offset), colours_.node[static_cast<std::size_t>(statement.value)]);
  }

  /// Where a node is used, from the statements down.
  void look_down() {
    std::fill(down_.begin(), down_.end(), 0);
    for (std::size_t s = 0; s < program_.statements.size(); ++s) {
      down_[static_cast<std::size_t>(program_.statements[s].value)] += number(program_.statements[s], s);
    }
    for (std::size_t id = down_.size(); id-- > 0;) {
      // Nobody uses signs that chains see through.
      if (chains_.inner(static_cast<NodeId>(id)) || down_[id] == 0) continue;
      const auto here = join(colours_.node[id], down_[id]);
      for (const auto& term : terms_[id]) down_[static_cast<std::size_t>(term.node)] += join(here, term.inverse);
      const auto& node = program_.nodes[id];
      for (int k = 0; terms_[id].empty() && k < operand_count(node); ++k) {
        down_[static_cast<std::size_t>(node.operand[k])] += join(here, k);
      }
    }
  }

  void round() {
    look_up();
    look_down();
    auto index = colours_.index;
    auto buffer = colours_.buffer;
    auto param = colours_.param;
    for (std::size_t id = 0; id < down_.size(); ++id) {
      const auto& node = program_.nodes[id];
      const auto here = join(colours_.node[id], down_[id]);
      const auto source = static_cast<std::size_t>(node.source);
      if (node.kind == NodeKind::load) {
        buffer[source] += here;
        for (std::size_t q = 0; q < index.size(); ++q) {
          if (node.offset.coefficient[q] != 0) index[q] += join(here, node.offset.coefficient[q]);
        }
      }
      if (node.kind == NodeKind::param) param[source] += here;
      if (node.kind == NodeKind::index) index[source] += here;
      for (const int q : node.over) index[static_cast<std::size_t>(q)] += join(here, node.kind);
    }
    for (std::size_t s = 0; s < program_.statements.size(); ++s) {
      const auto& statement = program_.statements[s];
      const auto here = number(statement, s);
      buffer[static_cast<std::size_t>(statement.buffer)] += join(here, 1);
      for (std::size_t q = 0; q < index.size(); ++q) {
        if (statement.offset.coefficient[q] != 0) index[q] += join(here, statement.offset.coefficient[q]);
      }
    }
    for (auto* numbers : {&index, &buffer, &param}) {
      for (auto& value : *numbers) value = mix(value);
    }
    colours_.index = std::move(index);
    colours_.buffer = std::move(buffer);
    colours_.param = std::move(param);
  }

  /// Gives the first of several parts with one role a role of its own; false when there are none.
  bool tell_apart() {
    const std::pair<std::vector<std::uint64_t>*, const Few<bool>*> lists[] = {
        {&colours_.buffer, &used_buffer_}, {&colours_.param, &used_param_}, {&colours_.index, &used_index_}};
    for (const auto& [numbers, used] : lists) {
      std::map<std::uint64_t, std::vector<std::size_t>> members;
      for (std::size_t k = 0; k < numbers->size(); ++k) {
        if ((*used)[k]) members[(*numbers)[k]].push_back(k);
      }
      for (const auto& [number, who] : members) {
        if (who.size() == 1) continue;
        (*numbers)[who.front()] = join(number, 1);
        return true;
      }
    }
    return false;
  }

  const Program& program_;
  const Chains chains_;
  std::vector<Few<Term, 8>> terms_;  // per node: of the chain that ends in it
  std::vector<std::uint64_t> down_;  // per node
  Few<bool> used_index_, used_buffer_, used_param_;
  Colours colours_;
};

bool is_sum(OpCode op) { return op == OpCode::add || op == OpCode::sub; }

}  // namespace

Colours colours(const Program& program) { return Refinement(program).run(); }

Chains::Chains(const Program& program) : program_(program), inner_(program.nodes.size()) {
  Few<int> users(program.nodes.size());
  for (const auto& node : program.nodes) {
    for (int k = 0; k < operand_count(node); ++k) ++users[static_cast<std::size_t>(node.operand[k])];
  }
  for (const auto& statement : program.statements) ++users[static_cast<std::size_t>(statement.value)];
  // Users first: a sign belongs to the chain that it stands in.
  for (std::size_t id = program.nodes.size(); id-- > 0;) {
    const auto& node = program.nodes[id];
    if (node.kind != NodeKind::op || (program.exact && !is_integer(node.type))) continue;
    const bool in_sum = is_sum(node.op) || (node.op == OpCode::neg && inner_[id]);
    for (int k = 0; k < operand_count(node); ++k) {
      const auto place = static_cast<std::size_t>(node.operand[k]);
      const auto& link = program.nodes[place];
      if (link.kind != NodeKind::op || link.type != node.type || users[place] != 1) continue;
      const bool sums = in_sum && (is_sum(link.op) || link.op == OpCode::neg);
      const bool comparison = node.op == OpCode::equal || node.op == OpCode::not_equal;
      inner_[place] = sums || (node.op == link.op && commutes(node.op) && !comparison);
    }
  }
}

Few<Term, 8> Chains::terms(NodeId root) const {
  const auto& node = program_.nodes[static_cast<std::size_t>(root)];
  Few<Term, 8> terms;
  if (node.kind != NodeKind::op || inner(root)) return terms;
  const bool difference = node.op == OpCode::sub && (!program_.exact || is_integer(node.type));
  if (commutes(node.op) || difference) collect(root, terms);
  return terms;
}

void Chains::collect(NodeId root, Few<Term, 8>& terms) const {
  Few<Term, 8> open{{root, false}};
  while (!open.empty()) {
    const auto [id, inverse] = open.back();
    open.pop_back();
    const auto& node = program_.nodes[static_cast<std::size_t>(id)];
    if (id != root && !inner(id)) {
      terms.push_back({id, inverse});
      continue;
    }
    const bool in_sum = is_sum(node.op) && (!program_.exact || is_integer(node.type));
    for (int k = 0; k < operand_count(node); ++k) {
      const auto operand = node.operand[k];
      const auto& link = program_.nodes[static_cast<std::size_t>(operand)];
      const bool mixed = inverse != (node.op == OpCode::neg || (node.op == OpCode::sub && k == 1));
      if (!inner(operand) && in_sum && link.kind == NodeKind::op && link.op == OpCode::neg) {
        open.push_back({link.operand[0], !mixed});  // a sign is part of the sum, whatever else uses it
      } else {
        open.push_back({operand, mixed});
      }
    }
  }
  std::reverse(terms.begin(), terms.end());  // found the other way round
}

}  // namespace ricci::ir
