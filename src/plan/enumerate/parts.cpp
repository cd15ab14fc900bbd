#include "plan/enumerate/parts.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace ricci::plan {
namespace {

using ir::NodeId;
using ir::NodeKind;

class Splitter {
 public:
  explicit Splitter(const ir::Program& program) : program_(program), parent_(program.statements.size()) {
    std::iota(parent_.begin(), parent_.end(), 0);
    computed_by_.assign(program.nodes.size(), -1);
    reads_.resize(program.nodes.size());
    for (std::size_t id = 0; id < reads_.size(); ++id) {
      const auto& node = program.nodes[id];
      reads_[id] = node.kind == NodeKind::load;
      for (int k = 0; k < ir::operand_count(node); ++k) {
        reads_[id] = reads_[id] || reads_[static_cast<std::size_t>(node.operand[k])];
      }
    }
    loads_.resize(parent_.size());
    std::vector<int> seen(program.nodes.size(), -1);
    for (std::size_t k = 0; k < parent_.size(); ++k) {
      visit(program.statements[k].value, static_cast<int>(k), seen);
    }
    for (std::size_t k = 0; k < parent_.size(); ++k) {
      for (const auto id : loads_[k]) {
        const auto& load = program.nodes[static_cast<std::size_t>(id)];
        for (std::size_t other = 0; other < parent_.size(); ++other) {
          const auto& statement = program.statements[other];
          if (statement.buffer == load.source && statement.offset == load.offset) {
            join(static_cast<int>(k), static_cast<int>(other));
          }
        }
      }
    }
  }

  void join_by_loads(std::size_t streams) {
    std::map<NodeId, std::vector<int>> users;
    for (std::size_t k = 0; k < parent_.size(); ++k) {
      for (const auto id : loads_[k]) users[id].push_back(static_cast<int>(k));
    }
    std::vector<NodeId> rarest;
    for (const auto& [id, list] : users) rarest.push_back(id);
    std::stable_sort(rarest.begin(), rarest.end(),
                     [&](NodeId x, NodeId y) { return users[x].size() < users[y].size(); });
    std::map<int, std::set<NodeId>> read;  // by the part's first statement
    std::map<int, std::size_t> written;
    for (std::size_t k = 0; k < parent_.size(); ++k) {
      const auto part = find(static_cast<int>(k));
      read[part].insert(loads_[k].begin(), loads_[k].end());
      ++written[part];
    }
    for (const auto id : rarest) {
      std::set<int> parts;
      for (const auto k : users[id]) parts.insert(find(k));
      if (parts.size() == 1) continue;
      std::set<NodeId> reads;
      std::size_t writes = 0;
      for (const auto part : parts) {
        reads.insert(read[part].begin(), read[part].end());
        writes += written[part];
      }
      if (reads.size() + writes > streams) continue;
      for (const auto part : parts) join(part, *parts.begin());
      const auto whole = find(*parts.begin());
      read[whole] = std::move(reads);
      written[whole] = writes;
    }
  }

  std::vector<std::vector<int>> parts() {
    std::map<int, std::vector<int>> list;  // a part is known by its first statement
    for (std::size_t k = 0; k < parent_.size(); ++k) list[find(static_cast<int>(k))].push_back(static_cast<int>(k));
    std::vector<std::vector<int>> parts;
    for (auto& [first, statements] : list) parts.push_back(std::move(statements));
    return parts;
  }

 private:
  int find(int k) {
    auto& parent = parent_[static_cast<std::size_t>(k)];
    return parent == k ? k : parent = find(parent);
  }
  void join(int x, int y) {
    x = find(x);
    y = find(y);
    parent_[static_cast<std::size_t>(std::max(x, y))] = std::min(x, y);
  }

  /// Records the loads below a node, and joins the statement with others that need the same operation.
  void visit(NodeId root, int statement, std::vector<int>& seen) {
    std::vector<NodeId> open{root};
    while (!open.empty()) {
      const auto id = open.back();
      open.pop_back();
      const auto n = static_cast<std::size_t>(id);
      if (seen[n] == statement || !reads_[n]) continue;
      seen[n] = statement;
      const auto& node = program_.nodes[n];
      if (node.kind == NodeKind::load) loads_[static_cast<std::size_t>(statement)].push_back(id);
      const auto operands = ir::operand_count(node);
      if (operands == 0) continue;
      auto& owner = computed_by_[n];
      if (owner < 0) owner = statement;
      join(owner, statement);
      for (int k = operands; k-- > 0;) open.push_back(node.operand[k]);
    }
  }

  const ir::Program& program_;
  std::vector<int> parent_;
  std::vector<bool> reads_;                 // per node: there is a load in it
  std::vector<int> computed_by_;            // per node: a statement that needs it
  std::vector<std::vector<NodeId>> loads_;  // per statement
};

}  // namespace

std::vector<std::vector<int>> parts_of(const ir::Program& program, std::size_t streams) {
  Splitter splitter(program);
  splitter.join_by_loads(streams);
  return splitter.parts();
}

}  // namespace ricci::plan
