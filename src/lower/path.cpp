#include "lower/path.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bitset>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "lower/network.hpp"

namespace ricci::ir {
namespace {

constexpr std::size_t kMaxExact = 8;
/// Tensors with a common axis of which the greedy search looks at all pairs; of more, at these many of each.
constexpr std::size_t kMostNeighbours = 64;
constexpr double kNever = std::numeric_limits<double>::infinity();

/// A way to compute a network: leaves are operands, the root is the output.
struct Tree {
  struct Node {
    int left = -1, right = -1;  ///< -1: a leaf
    int operand = -1;
    NetworkTensor result;  ///< of a leaf: without axes that no other tensor has
    bool summed = false;   ///< a leaf with such axes, which are summed in a step of its own
  };
  std::vector<Node> nodes;
  int root = -1;
};

struct Cost {
  double us = 0, flops = 0, bytes = 0;  // us: 0 where time does not count
  Cost operator+(const Cost& other) const { return {us + other.us, flops + other.flops, bytes + other.bytes}; }
  bool operator<(const Cost& other) const {
    return std::tie(us, flops, bytes) < std::tie(other.us, other.flops, other.bytes);
  }
};

/// What steps cost under a criterion.
class Pricing {
 public:
  explicit Pricing(const PathOptions& options)
      : counts_time_(options.minimise == PathOptions::Minimise::time), rates_(options.rates) {}

  /// What depends on constant operands alone is done once.
  Cost of_step(const NetworkTensor& result, double flops, double bytes) const {
    return result.constant ? Cost() : of_step(flops, bytes);
  }
  Cost of_step(double flops, double bytes) const {
    if (!counts_time_) return {0, flops, bytes};
    return {std::max(flops / rates_.flops_per_us, bytes / rates_.bytes_per_us) + rates_.start_us, flops, bytes};
  }

 private:
  bool counts_time_;
  PathRates rates_;
};

/// The best tree of all, by dynamic programming over subsets of the operands.
class Exact {
 public:
  Exact(const Network& network, const Pricing& pricing) : network_(network), pricing_(pricing) {
    const std::size_t subsets = std::size_t{1} << network.operands().size();
    parts_.resize(subsets);
    any_.resize(subsets);
    std::vector<NetworkTensor> whole(subsets);  // with axes that no other tensor has
    whole[0].constant = true;
    for (std::size_t set = 1; set < subsets; ++set) {
      const auto& rest = whole[set & (set - 1)];
      const auto& operand = network.operands()[static_cast<std::size_t>(__builtin_ctzll(set))];
      whole[set] = {rest.axes | operand.axes, rest.complex || operand.complex, rest.constant && operand.constant};
    }
    for (std::size_t set = 1; set < subsets; ++set) {
      auto& part = parts_[set];
      part.tensor = whole[set];
      part.tensor.axes &= network.output() | whole[set ^ (subsets - 1)].axes;
      part.bytes = network.bytes(part.tensor);
      part.held = part.bytes;
      if ((set & (set - 1)) == 0) {
        part.operand = static_cast<std::size_t>(__builtin_ctzll(set));
        part.summed = whole[set].axes != part.tensor.axes;
        if (!part.summed) {
          part.bytes = network.operand_bytes(part.operand);
          part.held = 0;  // in the caller's memory
        }
      }
    }
    parts_.back().bytes = network.output_bytes();
    parts_.back().held = 0;
  }

  Tree solve(PathOptions::Minimise minimise) {
    const auto all = parts_.size() - 1;
    double budget = kNever;
    if (minimise == PathOptions::Minimise::memory) {
      peaks_.assign(parts_.size(), -1);
      budget = peak(all) * (1 + 1e-12);  // sums of bytes past 2^53 are rounded
    }
    best(all, budget);
    Tree tree;
    tree.root = build(tree, all, budget);
    return tree;
  }

  /// Of each other pair than solve()'s that may come last the best tree, best first, `most` at most.
  std::vector<Tree> others(std::size_t most) {
    const auto all = parts_.size() - 1;
    const auto taken = best(all, kNever);
    std::vector<Choice> lasts;
    for (std::size_t first = (all - 1) & all; first != 0; first = (first - 1) & all) {
      if ((first & 1) == 0 || first == taken.first) continue;
      lasts.push_back({best(first, kNever).cost + best(all ^ first, kNever).cost + step(all, first), first, true});
    }
    std::stable_sort(lasts.begin(), lasts.end(), [](const Choice& x, const Choice& y) { return x.cost < y.cost; });
    lasts.resize(std::min(lasts.size(), most));
    std::vector<Tree> trees;
    for (const auto& last : lasts) {
      any_[all] = last;
      auto& tree = trees.emplace_back();
      tree.root = build(tree, all, kNever);
    }
    return trees;
  }

 private:
  struct Part {
    NetworkTensor tensor;
    double bytes = 0;  ///< read by the step that takes it
    double held = 0;   ///< bytes of workspace until it is used
    std::size_t operand = 0;
    bool summed = false;
  };
  struct Choice {
    Cost cost{kNever, kNever, kNever};
    std::size_t first = 0;  ///< computed before the rest of the subset
    bool known = false;
  };

  static bool is_leaf(std::size_t set) { return (set & (set - 1)) == 0; }

  Cost step(std::size_t set, std::size_t first) const {
    const auto &a = parts_[first], &b = parts_[set ^ first];
    return pricing_.of_step(parts_[set].tensor, network_.flops({a.tensor, b.tensor}, parts_[set].tensor.axes),
                            a.bytes + b.bytes + parts_[set].bytes);
  }
  Cost leaf(const Part& part) const {
    if (!part.summed) return {};
    return pricing_.of_step(part.tensor, network_.flops({network_.operands()[part.operand]}, part.tensor.axes),
                            network_.operand_bytes(part.operand) + part.bytes);
  }

  /// Fewest bytes of intermediates at one time, over all trees.
  double peak(std::size_t set) {
    double& least = peaks_[set];
    if (least >= 0) return least;
    if (is_leaf(set)) return least = parts_[set].held;
    double found = kNever;
    for (std::size_t first = (set - 1) & set; first != 0; first = (first - 1) & set) {
      const auto second = set ^ first;
      found = std::min(found, std::max({peak(first), parts_[first].held + peak(second),
                                        parts_[first].held + parts_[second].held + parts_[set].held}));
    }
    return peaks_[set] = found;
  }

  /// The cheapest way to compute a subset with no more than `budget` bytes of workspace at one time.
  const Choice& best(std::size_t set, double budget) {
    auto& choice = budget == kNever ? any_[set] : within_[{set, budget}];
    if (std::exchange(choice.known, true)) return choice;
    if (is_leaf(set)) {
      if (parts_[set].held <= budget) choice.cost = leaf(parts_[set]);
    } else {
      // Without a budget the order of the two does not matter.
      const auto lowest = set & (~set + 1);
      for (std::size_t first = (set - 1) & set; first != 0; first = (first - 1) & set) {
        if (budget == kNever && (first & lowest) == 0) continue;
        const auto second = set ^ first;
        if (parts_[first].held + parts_[second].held + parts_[set].held > budget) continue;
        const auto before = best(first, budget).cost + best(second, budget - parts_[first].held).cost;
        if (!(before < choice.cost)) continue;  // whatever the step costs
        const auto cost = before + step(set, first);
        if (cost < choice.cost) choice = {cost, first, true};
      }
    }
    return choice;
  }

  int build(Tree& tree, std::size_t set, double budget) {
    Tree::Node node;
    node.result = parts_[set].tensor;
    if (is_leaf(set)) {
      node.operand = static_cast<int>(parts_[set].operand);
      node.summed = parts_[set].summed;
    } else {
      const auto first = best(set, budget).first;
      node.left = build(tree, first, budget);
      node.right = build(tree, set ^ first, budget - parts_[first].held);
    }
    tree.nodes.push_back(node);
    return static_cast<int>(tree.nodes.size()) - 1;
  }

  const Network& network_;
  const Pricing& pricing_;
  std::vector<Part> parts_;
  std::vector<double> peaks_;
  std::vector<Choice> any_;  ///< by subset, within any budget
  std::map<std::pair<std::size_t, double>, Choice> within_;
};

/// Criteria of the greedy search: the pair with the least score is contracted next.
enum class Score { growth, flops, size };

/// Contracts the pair with the least score until one tensor is left; outer products last.
Tree greedy(const Network& network, Score score) {
  Tree tree;
  std::vector<int> users(kMaxAxes);  // per axis: remaining tensors that have it, including the output
  for_each(network.output(), [&](std::size_t q) { ++users[q]; });
  for (const auto& operand : network.operands()) for_each(operand.axes, [&](std::size_t q) { ++users[q]; });
  std::vector<int> left;
  for (std::size_t k = 0; k < network.operands().size(); ++k) {
    Tree::Node node;
    node.operand = static_cast<int>(k);
    node.result = network.operands()[k];
    for_each(network.operands()[k].axes, [&](std::size_t q) {
      if (users[q] == 1) node.result.axes.reset(q);
    });
    node.summed = node.result.axes != network.operands()[k].axes;
    left.push_back(static_cast<int>(tree.nodes.size()));
    tree.nodes.push_back(node);
  }
  const auto result = [&](int id) -> const NetworkTensor& { return tree.nodes[static_cast<std::size_t>(id)].result; };
  const auto joined = [&](int a, int b) {
    NetworkTensor tensor{result(a).axes | result(b).axes, result(a).complex || result(b).complex,
                         result(a).constant && result(b).constant};
    const auto all = tensor.axes;
    for_each(all, [&](std::size_t q) {
      if (users[q] == (result(a).axes[q] ? 1 : 0) + (result(b).axes[q] ? 1 : 0)) tensor.axes.reset(q);
    });
    return tensor;
  };
  struct Pair {
    bool apart;  ///< no common axis
    double score;
    double flops;
    int a, b;
    bool operator<(const Pair& other) const {
      return std::tie(apart, score, flops, a, b) < std::tie(other.apart, other.score, other.flops, other.a, other.b);
    }
    bool operator>(const Pair& other) const { return other < *this; }
  };
  const auto rate = [&](int a, int b) {
    const auto tensor = joined(a, b);
    const auto flops = network.flops({result(a), result(b)}, tensor.axes);
    const auto size = network.points(tensor.axes);
    const auto growth = size - network.points(result(a).axes) - network.points(result(b).axes);
    return Pair{(result(a).axes & result(b).axes).none(),
                score == Score::growth  ? growth
                : score == Score::flops ? flops
                                        : size,
                flops, a, b};
  };
  const auto join = [&](int a, int b) {
    Tree::Node node;
    node.left = a;
    node.right = b;
    node.result = joined(a, b);
    for (const int id : {a, b}) for_each(result(id).axes, [&](std::size_t q) { --users[q]; });
    for_each(node.result.axes, [&](std::size_t q) { ++users[q]; });
    tree.nodes.push_back(node);
    return static_cast<int>(tree.nodes.size()) - 1;
  };

  // Pairs with a common axis first. Other pairs keep their score when one is joined: the new tensor holds every axis of
  // the two that anything else still has.
  std::vector<std::vector<int>> having(kMaxAxes);  // per axis: tensors, some of them joined by now
  std::vector<bool> joined_already;
  std::priority_queue<Pair, std::vector<Pair>, std::greater<>> pairs;
  const auto pair_up = [&](int made) {
    joined_already.resize(tree.nodes.size());
    std::set<int> others;
    for_each(result(made).axes, [&](std::size_t q) {
      auto& list = having[q];
      std::erase_if(list, [&](int id) { return joined_already[static_cast<std::size_t>(id)]; });
      const auto count = std::min(list.size(), kMostNeighbours);
      others.insert(list.end() - static_cast<std::ptrdiff_t>(count), list.end());
      list.push_back(made);
    });
    for (const int id : others) pairs.push(rate(id, made));
  };
  for (const int id : left) pair_up(id);
  while (!pairs.empty()) {
    const auto taken = pairs.top();
    pairs.pop();
    if (joined_already[static_cast<std::size_t>(taken.a)] || joined_already[static_cast<std::size_t>(taken.b)])
      continue;
    for (const int id : {taken.a, taken.b}) joined_already[static_cast<std::size_t>(id)] = true;
    const int made = join(taken.a, taken.b);
    left.push_back(made);
    pair_up(made);
  }
  std::erase_if(left, [&](int id) { return joined_already[static_cast<std::size_t>(id)]; });

  // The rest has no axis in common. Of very many, the smallest two are joined without looking at all pairs.
  const auto larger = [&](int a, int b) {
    return std::pair(network.points(result(a).axes), a) > std::pair(network.points(result(b).axes), b);
  };
  std::make_heap(left.begin(), left.end(), larger);
  const auto smallest = [&] {
    std::pop_heap(left.begin(), left.end(), larger);
    const int id = left.back();
    left.pop_back();
    return id;
  };
  while (left.size() > kMostNeighbours) {
    const int a = smallest(), b = smallest();
    left.push_back(join(a, b));
    std::push_heap(left.begin(), left.end(), larger);
  }
  while (left.size() > 1) {
    std::sort(left.begin(), left.end());
    std::optional<Pair> best;
    for (std::size_t i = 0; i < left.size(); ++i) {
      for (std::size_t j = i + 1; j < left.size(); ++j) {
        const auto pair = rate(left[i], left[j]);
        if (!best || pair < *best) best = pair;
      }
    }
    std::erase_if(left, [&](int id) { return id == best->a || id == best->b; });
    left.push_back(join(best->a, best->b));
  }
  tree.root = left.front();
  return tree;
}

/// A tree's steps, each subtree with the larger need of memory first.
class Emitter {
 public:
  Emitter(const Network& network, const Tree& tree, const Pricing& pricing)
      : network_(network), tree_(tree), pricing_(pricing) {
    peaks_.resize(tree.nodes.size());
    orders_.resize(tree.nodes.size());
    orders_[static_cast<std::size_t>(tree.root)] = network.output_order();
    operand_.resize(tree.nodes.size());
    // Trees are as deep as there are operands; children stand before their parents.
    const auto count = static_cast<int>(tree.nodes.size());
    for (int id = count; id-- > 0;) arrange(id);
    for (int id = 0; id < count; ++id) measure(id);
    for (const int id : run_order()) emit(id);
    path_.peak_bytes = peaks_[static_cast<std::size_t>(tree.root)];
  }

  Path path() && { return std::move(path_); }

 private:
  const Tree::Node& node(int id) const { return tree_.nodes[static_cast<std::size_t>(id)]; }
  bool is_leaf(int id) const { return node(id).operand >= 0; }

  double held(int id) const {
    if (id == tree_.root || (is_leaf(id) && !node(id).summed)) return 0;
    return network_.bytes(node(id).result);
  }
  /// Peak bytes of a subtree minus those of its result: the larger, the earlier it should run.
  bool first_is_left(int id) const {
    const int a = node(id).left, b = node(id).right;
    return peaks_[static_cast<std::size_t>(a)] - held(a) >= peaks_[static_cast<std::size_t>(b)] - held(b);
  }

  /// The axis order of the intermediates below a node, chosen for matrix products: the operand with the result's
  /// fastest axis is contiguous along it, the other one along the summed axes.
  void arrange(int id) {
    const auto& order = orders_[static_cast<std::size_t>(id)];
    for (const int child : {node(id).left, node(id).right}) {
      if (child < 0) continue;
      const auto& axes = node(child).result.axes;
      std::vector<std::size_t> kept, summed;
      for (const auto q : order) {
        if (axes[q]) kept.push_back(q);
      }
      for_each(axes & ~node(id).result.axes, [&](std::size_t q) { summed.push_back(q); });
      const bool fastest = !order.empty() && axes[order.back()];
      auto& own = orders_[static_cast<std::size_t>(child)];
      own = fastest ? summed : kept;
      own.insert(own.end(), fastest ? kept.begin() : summed.begin(), fastest ? kept.end() : summed.end());
    }
  }

  void measure(int id) {
    auto& peak = peaks_[static_cast<std::size_t>(id)];
    peak = held(id);
    if (is_leaf(id)) return;
    const bool left = first_is_left(id);
    const int a = left ? node(id).left : node(id).right, b = left ? node(id).right : node(id).left;
    peak = std::max({peaks_[static_cast<std::size_t>(a)], held(a) + peaks_[static_cast<std::size_t>(b)],
                     held(a) + held(b) + held(id)});
  }

  /// Adds the steps of a node whose subtrees have theirs; the number of the operand that holds its result.
  void emit(int id) {
    const auto& at = node(id);
    auto& own = operand_[static_cast<std::size_t>(id)];
    if (!is_leaf(id)) {
      const int a = operand_[static_cast<std::size_t>(at.left)], b = operand_[static_cast<std::size_t>(at.right)];
      own = add({a, b}, {term_of(at.left), term_of(at.right)}, {node(at.left).result, node(at.right).result},
                bytes_of(at.left) + bytes_of(at.right), id);
    } else if (at.summed) {
      const auto k = static_cast<std::size_t>(at.operand);
      own = add({at.operand}, {network_.operand_term(k)}, {network_.operands()[k]}, network_.operand_bytes(k), id);
    } else {
      own = at.operand;
    }
  }

  /// Nodes below one, itself included, each behind those below it, the subtree that should run first before the other.
  std::vector<int> run_order() const {
    std::vector<int> open{tree_.root}, order;  // the other way round
    while (!open.empty()) {
      const int id = open.back();
      open.pop_back();
      order.push_back(id);
      if (is_leaf(id)) continue;
      const bool left = first_is_left(id);
      open.push_back(left ? node(id).left : node(id).right);
      open.push_back(left ? node(id).right : node(id).left);
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

  Spec::Term term_of(int id) const {
    if (is_leaf(id) && !node(id).summed) return network_.operand_term(static_cast<std::size_t>(node(id).operand));
    return network_.term(orders_[static_cast<std::size_t>(id)]);
  }
  double bytes_of(int id) const {
    if (is_leaf(id) && !node(id).summed) return network_.operand_bytes(static_cast<std::size_t>(node(id).operand));
    return network_.bytes(node(id).result);
  }

  int add(std::vector<int> operands, std::vector<Spec::Term> terms, const std::vector<NetworkTensor>& tensors,
          double read, int id) {
    const auto& result = node(id).result;
    const bool last = id == tree_.root;
    PathStep step;
    step.operands = std::move(operands);
    step.spec =
        spec_of(std::move(terms), last ? network_.output_term() : network_.term(orders_[static_cast<std::size_t>(id)]));
    step.type = network_.type_of(result);
    step.flops = network_.flops(tensors, result.axes);
    step.bytes = read + (last ? network_.output_bytes() : network_.bytes(result));
    step.elements = network_.points(result.axes);
    step.us = pricing_.of_step(result, step.flops, step.bytes).us;
    path_.us += step.us;
    if (!last) path_.largest_intermediate = std::max(path_.largest_intermediate, step.elements);
    path_.flops += step.flops;
    path_.bytes += step.bytes;
    path_.steps.push_back(std::move(step));
    return static_cast<int>(network_.operands().size() + path_.steps.size()) - 1;
  }

  const Network& network_;
  const Tree& tree_;
  const Pricing& pricing_;
  std::vector<double> peaks_;
  std::vector<std::vector<std::size_t>> orders_;  ///< per node: axes of its result, slowest first
  std::vector<int> operand_;                      ///< per node: the operand that holds its result
  Path path_;
};

Path one_step(const Network& network, const EinsumProblem& problem, const Pricing& pricing) {
  PathStep step;
  step.operands.resize(problem.inputs.size());
  std::iota(step.operands.begin(), step.operands.end(), 0);
  step.spec = problem.spec;
  step.type = problem.output.type;
  step.flops = network.flops(network.operands(), network.output());
  for (std::size_t k = 0; k < problem.inputs.size(); ++k) step.bytes += network.operand_bytes(k);
  step.bytes += network.output_bytes();
  step.elements = network.points(network.output());
  Path path;
  path.us = step.us = pricing.of_step(step.flops, step.bytes).us;
  path.flops = step.flops;
  path.bytes = step.bytes;
  path.method = "one step";
  path.steps.push_back(std::move(step));
  return path;
}

Cost cost_of(const Path& path) { return {path.us, path.flops, path.bytes}; }

/// Without a limit; of a problem without ellipses.
Path best_path(const EinsumProblem& problem, const PathOptions& options) {
  const Pricing pricing(options);
  const auto squeezed = squeeze(problem);
  const Network network(squeezed);
  const bool empty = std::any_of(problem.inputs.begin(), problem.inputs.end(),
                                 [](const Layout& layout) { return layout.elements() == 0; });
  Path path;
  if (has_one_path(problem) || empty || problem.alpha == Factor::zero) {
    path = one_step(network, problem, pricing);
  } else if (problem.inputs.size() <= kMaxExact) {
    path = Emitter(network, Exact(network, pricing).solve(options.minimise), pricing).path();
    path.method = "exact";
  } else {
    for (const auto score : {Score::growth, Score::flops, Score::size}) {
      auto candidate = Emitter(network, greedy(network, score), pricing).path();
      const bool better = options.minimise == PathOptions::Minimise::memory
                              ? std::tie(candidate.peak_bytes, candidate.flops) < std::tie(path.peak_bytes, path.flops)
                              : cost_of(candidate) < cost_of(path);
      if (path.steps.empty() || better) path = std::move(candidate);
    }
    path.method = "greedy";
  }
  path.operands = static_cast<int>(problem.inputs.size());
  path.addend = problem.addend.has_value();
  path.single_kernel_flops = network.flops(network.operands(), network.output());
  return path;
}

}  // namespace

Spec spec_of(std::vector<Spec::Term> operands, Spec::Term output) {
  Spec spec;
  bool words = false;
  operands.push_back(std::move(output));
  for (const auto& term : operands) {
    for (const auto& axis : term) words = words || axis.name.size() > 1;
  }
  for (std::size_t t = 0; t < operands.size(); ++t) {
    if (t > 0) {
      const std::string sign = t + 1 == operands.size() ? "->" : ",";
      spec.text += words ? " " + sign + " " : sign;
    }
    for (std::size_t k = 0; k < operands[t].size(); ++k) {
      if (words && k > 0) spec.text += ' ';
      operands[t][k].column = static_cast<int>(spec.text.size());
      spec.text += operands[t][k].name;
    }
  }
  spec.output = std::move(operands.back());
  operands.pop_back();
  spec.operands = std::move(operands);
  return spec;
}

std::vector<Path> other_paths(const EinsumProblem& given, const PathOptions& options, std::size_t most) {
  const auto problem = expand(given);
  const auto count = problem.inputs.size();
  if (count <= 2 || count > kMaxExact || options.minimise == PathOptions::Minimise::memory) return {};
  const Pricing pricing(options);
  const auto squeezed = squeeze(problem);
  const Network network(squeezed);
  std::vector<Path> paths;
  for (const auto& tree : Exact(network, pricing).others(most)) {
    auto path = Emitter(network, tree, pricing).path();
    path.operands = static_cast<int>(count);
    path.addend = problem.addend.has_value();
    path.method = "exact";
    if (options.minimise == PathOptions::Minimise::time) path = fused(problem, std::move(path), options.rates);
    paths.push_back(std::move(path));
  }
  return paths;
}

Path find_path(const EinsumProblem& given, const PathOptions& options) {
  check(given);
  const auto problem = expand(given);
  auto path = best_path(problem, options);
  if (options.minimise == PathOptions::Minimise::time) path = fused(problem, std::move(path), options.rates);
  if (options.workspace_limit < 0) return path;
  const auto steps = path.steps.size();
  path = within_limit(problem, std::move(path), options.workspace_limit);
  if (path.steps.size() == steps || options.minimise == PathOptions::Minimise::memory) return path;
  auto smaller = within_limit(problem, best_path(problem, {PathOptions::Minimise::memory}), options.workspace_limit);
  return smaller.flops < path.flops ? smaller : path;
}

}  // namespace ricci::ir
