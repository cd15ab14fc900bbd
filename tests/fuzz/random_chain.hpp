// Random programs of several steps that hand tensors on: sums of products, sums and differences, with slots in any
// order, indices that stand for each other, and results that several steps read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ir/passes/slice.hpp"
#include "ir/sequence.hpp"

namespace ricci::fuzz {

/// Whole numbers of -1 to 1 give whole results that an f64 holds.
class Chain {
 public:
  /// longest: extent of an index
  explicit Chain(std::mt19937_64& random, int longest = 9) : random_(random) {
    // Of two indices each that stand for each other.
    for (int k = 0; k < kPairs; ++k) {
      const auto extent = 1 + below(longest);
      text += "index " + std::string(1, name(2 * k)) + " " + name(2 * k + 1) + " = " + std::to_string(extent) + "\n";
    }
    const int inputs = 2 + below(2), steps = 2 + below(4);
    for (int k = 0; k < inputs; ++k) add(indices(1 + below(3)), 1, "input");
    std::string body;
    for (int k = 0; k + 1 < steps; ++k) body += statement(k, "temp");
    body += statement(steps - 1, below(3) == 0 ? "inout" : "output");
    text += body;
  }

  std::string text;

 private:
  static constexpr int kPairs = 3;
  struct Tensor {
    std::string name;
    std::vector<int> slots;  ///< indices as declared
    double bits;             ///< of its largest value
    bool temp;
  };

  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  static char name(int index) { return static_cast<char>('i' + index); }

  std::vector<int> indices(int count) {
    std::vector<int> all;
    for (int k = 0; k < 2 * kPairs; ++k) all.push_back(k);
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(static_cast<std::size_t>(count));
    return all;
  }

  static std::string slots(const std::vector<int>& list) {
    std::string made = "(";
    for (const int q : list) made += (made.size() > 1 ? ", " : "") + std::string(1, name(q));
    return made + ")";
  }

  std::string add(const std::vector<int>& list, double bits, const std::string& role) {
    tensors_.push_back({"T" + std::to_string(tensors_.size()), list, bits, role == "temp"});
    text += role + " " + tensors_.back().name + slots(list) + " : f64\n";
    return tensors_.back().name;
  }

  /// A tensor by its own indices, some of which the others of their pairs stand for.
  std::string access(const Tensor& tensor, std::vector<int>& used) {
    auto list = tensor.slots;
    for (auto& q : list) {
      const int other = q ^ 1;
      if (below(4) == 0 && std::find(list.begin(), list.end(), other) == list.end()) q = other;
    }
    for (const int q : list) {
      if (std::find(used.begin(), used.end(), q) == used.end()) used.push_back(q);
    }
    return tensor.name + slots(list);
  }

  const Tensor& some(bool late) {
    const auto count = static_cast<int>(tensors_.size());
    return tensors_[static_cast<std::size_t>(late ? count - 1 - below(std::min(count, 2)) : below(count))];
  }

  std::string statement(int number, const std::string& role) {
    std::vector<int> used;
    const auto first = some(number > 0 || role != "temp");
    const auto second = some(false);
    constexpr double kMost = 40, kSum = 7;
    auto x = access(first, used), y = access(second, used);
    const bool product = below(3) > 0 && first.bits + second.bits < kMost;
    auto value = product ? x + " * " + y : x + (below(2) == 0 ? " - " : " + 2 * ") + y;
    auto bits = product ? first.bits + second.bits : std::max(first.bits, second.bits) + 2;
    std::shuffle(used.begin(), used.end(), random_);
    auto kept = used;
    const bool sums = !used.empty() && bits < kMost && below(4) > 0;
    if (sums) kept.resize(static_cast<std::size_t>(below(static_cast<int>(used.size()))));
    constexpr std::size_t kMostSlots = 4;
    if (kept.size() > kMostSlots && bits < kMost) kept.resize(kMostSlots);
    std::string over;
    for (auto k = kept.size(); k < used.size(); ++k) over += std::string(over.empty() ? "" : " ") + name(used[k]);
    if (!over.empty()) {
      const bool largest = below(6) == 0;
      value = (largest ? "maximum(" : "sum(") + over + ", " + value + ")";
      bits += kSum;
    }
    if (below(4) == 0) value = "2 * " + value + (below(2) == 0 ? " + 1" : "");
    const auto to = add(kept, bits + 2, role);
    return to + slots(kept) + (role == "inout" ? " += " : " = ") + value + "\n";
  }

  std::mt19937_64& random_;
  std::vector<Tensor> tensors_;
};

/// The sequence in random slices, one to three times; as it is where none can be made.
inline ir::Sequence in_slices(ir::Sequence sequence, std::mt19937_64& random) {
  for (auto times = 1 + random() % 3; times > 0; --times) {
    std::vector<int> workspace;
    for (std::size_t k = 0; k < sequence.storages.size(); ++k) {
      if (sequence.storages[k].role == ir::Role::workspace) workspace.push_back(static_cast<int>(k));
    }
    if (workspace.empty()) break;
    const int storage = workspace[random() % workspace.size()];
    const auto indices = ir::slice_indices(sequence, storage);
    if (indices.empty()) continue;
    const auto block = 1 + static_cast<std::int64_t>(random() % 5);
    const double share = random() % 3 == 0 ? 2 : random() % 2 == 0 ? 0 : 0.25;
    if (auto made = ir::sliced(sequence, storage, indices[random() % indices.size()], block, share))
      sequence = std::move(*made);
  }
  return sequence;
}

}  // namespace ricci::fuzz
