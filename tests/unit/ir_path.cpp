// Contraction paths: against all paths that there are, and against what is known of some.
#include "lower/path.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "catch.hpp"
#include "lower/einsum.hpp"

namespace ir_path_test {

using namespace ricci;
using namespace ricci::ir;

namespace {

/// Dense f64 operands with extents by letter.
EinsumProblem problem_of(const std::string& text, const std::map<char, std::int64_t>& extents) {
  EinsumProblem problem;
  problem.spec = Spec::parse(text);
  const auto layout = [&](const Spec::Term& term) {
    std::vector<std::int64_t> shape;
    for (const auto& axis : term) shape.push_back(extents.at(axis.name.front()));
    return Layout::row_major(DType::f64, shape);
  };
  for (const auto& term : problem.spec.operands) problem.inputs.push_back(layout(term));
  problem.output = layout(problem.spec.output);
  return problem;
}

using Names = std::set<char>;

/// Every tree and every order of its two sides, plainly, for real operands.
class AllPaths {
 public:
  struct Outcome {
    double flops, peak;
  };

  AllPaths(const EinsumProblem& problem, const std::map<char, std::int64_t>& extents) : extents_(extents) {
    for (const auto& term : problem.spec.operands) operands_.push_back(names_of(term));
    output_ = names_of(problem.spec.output);
  }

  std::vector<Outcome> of(const std::set<std::size_t>& set) const {
    const bool all = set.size() == operands_.size();
    if (set.size() == 1) {
      const auto& names = operands_[*set.begin()];
      const auto left = kept(set);
      if (left == names) return {{0, 0}};
      return {{size(names), 8 * size(left)}};
    }
    std::vector<Outcome> found;
    const std::vector<std::size_t> list(set.begin(), set.end());
    for (unsigned mask = 1; mask + 1 < (1u << list.size()); ++mask) {
      std::set<std::size_t> first, second;
      for (std::size_t k = 0; k < list.size(); ++k) (mask >> k & 1 ? first : second).insert(list[k]);
      auto joined = kept(first);
      for (const char c : kept(second)) joined.insert(c);
      const auto flops = size(joined) * (joined == kept(set) ? 1 : 2);
      const auto last = held(first) + held(second) + (all ? 0 : 8 * size(kept(set)));
      for (const auto& a : of(first)) {
        for (const auto& b : of(second)) {
          found.push_back({a.flops + b.flops + flops, std::max({a.peak, held(first) + b.peak, last})});
        }
      }
    }
    return found;
  }

  std::vector<Outcome> all() const {
    std::set<std::size_t> set;
    for (std::size_t k = 0; k < operands_.size(); ++k) set.insert(k);
    return of(set);
  }

 private:
  static Names names_of(const Spec::Term& term) {
    Names names;
    for (const auto& axis : term) names.insert(axis.name.front());
    return names;
  }
  double size(const Names& names) const {
    double product = 1;
    for (const char c : names) product *= static_cast<double>(extents_.at(c));
    return product;
  }
  Names kept(const std::set<std::size_t>& set) const {
    Names outside = output_, result;
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      if (set.count(k) == 0) outside.insert(operands_[k].begin(), operands_[k].end());
    }
    for (const auto k : set) {
      for (const char c : operands_[k]) {
        if (outside.count(c) != 0) result.insert(c);
      }
    }
    return result;
  }
  double held(const std::set<std::size_t>& set) const {
    const bool untouched = set.size() == 1 && kept(set) == operands_[*set.begin()];
    return untouched ? 0 : 8 * size(kept(set));
  }

  std::vector<Names> operands_;
  Names output_;
  const std::map<char, std::int64_t>& extents_;
};

std::vector<std::string> specs(const Path& path) {
  std::vector<std::string> list;
  for (const auto& step : path.steps) list.push_back(step.spec.text);
  return list;
}

constexpr PathOptions kFlops{PathOptions::Minimise::flops}, kMemory{PathOptions::Minimise::memory};

}  // namespace

TEST_CASE("up to eight operands: no path is better") {
  std::mt19937_64 random(2026);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const int rounds = tests::kSanitized ? 10 : 80;
  int shorter = 0;
  for (int round = 0; round < rounds; ++round) {
    std::map<char, std::int64_t> extents;
    const std::string letters = "abcdefg";
    for (const char c : letters) extents[c] = static_cast<std::int64_t>(2 + pick(6));
    const auto operands = 3 + pick(3);  // up to 5: 105 trees
    std::string text;
    Names used;
    for (std::size_t k = 0; k < operands; ++k) {
      if (k > 0) text += ',';
      const auto rank = pick(4);
      for (std::size_t j = 0; j < rank; ++j) {
        text += letters[pick(letters.size())];
        used.insert(text.back());
      }
    }
    text += "->";
    for (const char c : used) {
      if (pick(3) == 0) text += c;
    }
    INFO(text);
    const auto problem = problem_of(text, extents);
    const auto all = AllPaths(problem, extents).all();
    double flops = all.front().flops, peak = all.front().peak;
    for (const auto& outcome : all) {
      flops = std::min(flops, outcome.flops);
      peak = std::min(peak, outcome.peak);
    }
    double flops_at_peak = -1;
    for (const auto& outcome : all) {
      if (outcome.peak == peak && (flops_at_peak < 0 || outcome.flops < flops_at_peak)) flops_at_peak = outcome.flops;
    }
    const auto fast = find_path(problem, kFlops), small = find_path(problem, kMemory);
    CHECK(fast.method == "exact");
    CHECK(fast.flops == flops);
    CHECK(small.peak_bytes == peak);
    CHECK(small.flops == flops_at_peak);
    CHECK(small.peak_bytes <= fast.peak_bytes);
    if (fast.flops < fast.single_kernel_flops) ++shorter;
  }
  CHECK(8 * shorter > 5 * rounds);
}

TEST_CASE("a chain of matrices") {
  // The textbook's: ((A(BC))((DE)F)) with 15125 multiplications.
  const auto problem =
      problem_of("ab,bc,cd,de,ef,fg->ag", {{'a', 30}, {'b', 35}, {'c', 15}, {'d', 5}, {'e', 10}, {'f', 20}, {'g', 25}});
  const auto path = find_path(problem);
  CHECK(path.flops == 2 * 15125);
  CHECK(path.steps.size() == 5);
  CHECK(path.largest_intermediate == 35 * 5);
  CHECK(path.single_kernel_flops == 6.0 * 30 * 35 * 15 * 5 * 10 * 20 * 25);
}

TEST_CASE("one and two operands are one step") {
  const std::map<char, std::int64_t> extents{{'i', 3}, {'j', 4}, {'k', 5}};
  for (const auto* text : {"ij->", "ij,jk->ik", "ij,ij->", "ij,k->ijk"}) {
    INFO(text);
    const auto path = find_path(problem_of(text, extents));
    CHECK(path.method == "one step");
    CHECK(specs(path) == std::vector<std::string>{text});
    CHECK(path.peak_bytes == 0);
    CHECK(path.flops == path.single_kernel_flops);
  }
}

TEST_CASE("an axis that one operand alone has is summed first") {
  const auto path = find_path(problem_of("ijx,jk,kl->il", {{'i', 5}, {'j', 5}, {'k', 5}, {'l', 5}, {'x', 100}}));
  CHECK(specs(path)[0] == "ijx->ij");
  CHECK(path.steps.size() == 3);

  // Of two operands, too: a million million terms otherwise.
  const std::map<char, std::int64_t> extents{{'i', 1000}, {'j', 1000}, {'k', 1000}, {'l', 1000}, {'o', 1}};
  const auto two = problem_of("ij,kl->i", extents);
  CHECK_FALSE(has_one_path(two));
  CHECK(specs(find_path(two)) == std::vector<std::string>{"ij->i", "kl->", "i,->i"});
  CHECK(lower_einsum(two).steps.size() == 3);
  CHECK(find_path(two).flops < 3e6);
  for (const auto* text : {"ij,jk->ik", "io,ik->ik", "ij,ij->"}) CHECK(has_one_path(problem_of(text, extents)));
}

TEST_CASE("an axis of three operands and more is kept until the last of them") {
  const auto path = find_path(problem_of("ib,jb,kb->ijk", {{'i', 2}, {'j', 3}, {'k', 4}, {'b', 50}}));
  CHECK(specs(path) == std::vector<std::string>{"ib,jb->ijb", "ijb,kb->ijk"});
  CHECK(find_path(problem_of("b,b,b,b->", {{'b', 9}})).flops == 9 * 4);
}

TEST_CASE("axes of extent 1 are no axes of a path, and broadcasts none of the operand that has one value") {
  EinsumProblem problem;
  problem.spec = Spec::parse("...iu,...ij,ju->...u");
  problem.inputs = {Layout::row_major(DType::f64, {7, 2, 1}), Layout::row_major(DType::f64, {1, 2, 3}),
                    Layout::row_major(DType::f64, {3, 1})};
  problem.output = Layout::row_major(DType::f64, {7, 1});
  CHECK(specs(find_path(problem)) == std::vector<std::string>{"ij,j->i", "_0 i , i -> _0"});
}

TEST_CASE("nothing to sum, nothing to plan") {
  CHECK(find_path(problem_of("ij,jk,kl->il", {{'i', 5}, {'j', 0}, {'k', 5}, {'l', 5}})).method == "one step");
  auto hidden = problem_of("ij,jk,kl->il", {{'i', 5}, {'j', 5}, {'k', 5}, {'l', 5}});
  hidden.alpha = Factor::zero;
  CHECK(find_path(hidden).method == "one step");
}

TEST_CASE("intermediates lie as the step that reads them likes it") {
  const std::map<char, std::int64_t> extents{{'i', 4}, {'j', 4}, {'k', 4}, {'l', 4}, {'b', 4}};
  // The left factor of a product along what is summed, the right one along the result's fastest axis.
  CHECK(specs(find_path(problem_of("ij,jk,kl->il", extents))) == std::vector<std::string>{"ij,jk->ik", "ik,kl->il"});
  auto problem = problem_of("ij,jk,kl->il", extents);
  problem.output.strides = {1, 4};  // now i is the fastest
  CHECK(specs(find_path(problem)) == std::vector<std::string>{"ij,jk->ki", "ki,kl->il"});
}

TEST_CASE("operations are those of the types") {
  auto problem = problem_of("ij,jk->ik", {{'i', 2}, {'j', 3}, {'k', 4}});
  CHECK(find_path(problem).flops == 24 * 2);
  problem.output.type = problem.inputs[0].type = DType::c128;
  CHECK(find_path(problem).flops == 24 * (2 + 2));
  problem.inputs[1].type = DType::c128;
  CHECK(find_path(problem).flops == 24 * (6 + 2));
  CHECK(find_path(problem).bytes == 16 * (6 + 12 + 8));
  auto chain = problem_of("ij,jk,kl->il", {{'i', 2}, {'j', 2}, {'k', 2}, {'l', 2}});
  for (auto& input : chain.inputs) input.type = DType::f16;
  chain.output.type = DType::f16;
  const auto path = find_path(chain);
  CHECK(path.steps[0].type == DType::f32);
  CHECK(path.peak_bytes == 4 * 4);
  chain.output.type = DType::c64;
  CHECK(find_path(chain).steps[0].type == DType::f32);  // real as long as the operands are
  chain.inputs[0].type = chain.inputs[1].type = chain.inputs[2].type = DType::c64;
  CHECK(find_path(chain).steps[0].type == DType::c64);
}

TEST_CASE("many operands: greedily, and still far from one nest of loops") {
  // A ring of 40 matrices, and a tree of 31 tensors.
  std::string ring;
  std::map<char, std::int64_t> extents;
  EinsumProblem problem;
  for (int k = 0; k < 40; ++k) {
    if (k > 0) ring += " , ";
    ring += "x" + std::to_string(k) + " x" + std::to_string((k + 1) % 40);
    problem.inputs.push_back(Layout::row_major(DType::f64, {4, 4}));
  }
  problem.spec = Spec::parse(ring + " -> ");
  problem.output = Layout::row_major(DType::f64, {});
  for (const auto& options : {kFlops, kMemory}) {
    const auto path = find_path(problem, options);
    CHECK(path.method == "greedy");
    CHECK(path.steps.size() == 39);
    CHECK(path.flops == 38 * 2 * 64 + 2 * 16);
    const auto sequence = lower_einsum(problem, path);
    CHECK_NOTHROW(verify(sequence));
    // Slots are taken over: 38 intermediates never need 38 of them.
    CHECK(sequence.workspace_bytes() < 38 * 256);
  }
}

TEST_CASE("workspace is known, aligned and taken over") {
  const auto problem = problem_of("ab,bc,cd,de,ef->af", {{'a', 9}, {'b', 9}, {'c', 9}, {'d', 9}, {'e', 9}, {'f', 9}});
  const auto path = find_path(problem, kMemory);
  const auto sequence = lower_einsum(problem, path);
  CHECK(path.steps.size() == 4);
  CHECK(path.peak_bytes == 2 * 81 * 8);
  CHECK(sequence.workspace_bytes() == 2 * 768);  // 648 bytes each, rounded up
  for (const auto& storage : sequence.storages) {
    if (storage.role == Role::workspace) CHECK(storage.alignment == 256);
  }
}

TEST_CASE("a limit of the workspace: steps become parts of the nests that use them") {
  const auto problem = problem_of("ab,bc,cd,de->ae", {{'a', 20}, {'b', 30}, {'c', 40}, {'d', 50}, {'e', 60}});
  const auto free = find_path(problem);
  CHECK(free.steps.size() == 3);
  auto flops = free.flops;
  for (const std::int64_t limit : {100000, 8192, 6400, 1000, 0}) {
    PathOptions options;
    options.workspace_limit = limit;
    const auto path = find_path(problem, options);
    INFO(print(path));
    const auto sequence = lower_einsum(problem, path);
    CHECK_NOTHROW(verify(sequence));
    CHECK(sequence.workspace_bytes() <= limit);
    CHECK(path.flops >= flops);
    flops = path.flops;
  }
  CHECK(flops == free.single_kernel_flops);
  PathOptions some;
  some.workspace_limit = 8192;  // one of the two intermediates of 20 x 40 and 20 x 50 elements fits
  const auto path = find_path(problem, some);
  CHECK(path.steps.size() == 2);
  CHECK(path.flops == 2.0 * 20 * 30 * 40 + 3.0 * 20 * 40 * 50 * 60);
  CHECK(path.method == "exact within 8192 bytes");
}

TEST_CASE("a path prints as a table") {
  CHECK(print(find_path(problem_of("ij,jk,kl->il", {{'i', 2}, {'j', 3}, {'k', 4}, {'l', 5}}))) ==
        "step        spec             flop      bytes   elements\n"
        "W1 = A B    ij,jk->ik          48        208          8\n"
        "D = W1 C    ik,kl->il          80        304         10\n"
        "path exact: 128 flop (one nest of loops: 360), 512 bytes moved, largest intermediate 8 elements, 64 bytes of "
        "intermediates at one time\n");
  CHECK(print(find_path(problem_of("ij->ji", {{'i', 2}, {'j', 3}}))) ==
        "step        spec          flop      bytes   elements\n"
        "B = A       ij->ji           0         96          6\n"
        "path one step: 0 flop, 96 bytes moved\n");
}

TEST_CASE("the path of least time takes no longer than that of fewest operations") {
  const std::map<char, std::int64_t> extents{{'i', 40}, {'j', 3}, {'k', 60}, {'l', 7}, {'m', 25}, {'n', 90}};
  const PathRates rates{1e4, 20, 1e-3, 1e-3, 0};  // arithmetic that memory can hardly feed; nests that never pay
  const auto us = [&](const PathStep& step) {
    return std::max(step.flops / rates.flops_per_us, step.bytes / rates.bytes_per_us) + rates.start_us;
  };
  std::mt19937 random(7);
  const std::string letters = "ijklmn";
  int faster = 0;
  for (int n = 0; n < 200; ++n) {
    std::string text;
    for (int operand = 0; operand < 5; ++operand) {
      if (operand > 0) text += ',';
      auto all = letters;
      std::shuffle(all.begin(), all.end(), random);
      text += all.substr(0, 1 + random() % 3);
    }
    text += "->";
    for (const char c : letters) {
      if (text.find(c) < text.size() - 2 && random() % 4 == 0) text += c;
    }
    INFO(text);
    const auto problem = problem_of(text, extents);
    const auto fast = find_path(problem, {PathOptions::Minimise::time, rates}), few = find_path(problem, kFlops);
    double of_fast = 0, of_few = 0;
    for (const auto& step : fast.steps) of_fast += us(step);
    for (const auto& step : few.steps) of_few += us(step);
    CHECK(fast.us == Approx(of_fast));
    CHECK(of_fast <= of_few * (1 + 1e-12));
    CHECK(fast.flops >= few.flops);
    if (of_fast < of_few * 0.99) ++faster;
  }
  CHECK(faster >= 5);
}

TEST_CASE("steps that take less time inside others are parts of them") {
  const auto problem = problem_of("ab,bc,cd,de->ae", {{'a', 4}, {'b', 4}, {'c', 4}, {'d', 4}, {'e', 4}});
  const auto path_of = [&](const PathRates& rates) { return find_path(problem, {PathOptions::Minimise::time, rates}); };
  // A start that costs more than all operations; sums term by term; and what lies between.
  const auto one = path_of({1e6, 1e6, 10, 1e5, 0});
  CHECK(specs(one) == std::vector<std::string>{"ab,bc,cd,de->ae"});
  CHECK(one.flops == one.single_kernel_flops);
  CHECK(one.us == Approx(10 + one.flops / 1e5));
  CHECK(one.largest_intermediate == 0);
  CHECK(one.peak_bytes == 0);
  CHECK(specs(path_of({1e6, 1e6, 1e-6, 1e5, 0})).size() == 3);
  const auto two = path_of({1e6, 1e6, 2, 1e5, 0.1});
  CHECK(two.steps.size() == 2);
  CHECK(two.steps[0].operands.size() + two.steps[1].operands.size() == 5);
  CHECK(two.peak_bytes > 0);
}

}  // namespace ir_path_test
