#include "cli/einsum_oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>

#include "io/buffer.hpp"
#include "ir/types.hpp"
#include "ricci/error.hpp"
#include "ricci/spec.hpp"

namespace ricci::tools {
namespace {

constexpr double kAtOnce = 1e9;  // products in one nest of loops, before pairs are worth their intermediates
constexpr double kMost = 1e10;   // products: more than a quarter of an hour

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

bool contains(const std::vector<std::size_t>& axes, std::size_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

}  // namespace

EinsumOracle::EinsumOracle(const std::string& spec, std::span<const Layout> inputs, bool verified, bool in_pairs)
    : spec_(spec) {
  if (!verified) return;
  std::vector<int> ranks;
  for (const auto& layout : inputs) ranks.push_back(layout.rank());
  const Spec parsed = Spec::parse(spec);
  const Spec named = parsed.has_ellipsis() ? parsed.expand(ranks) : parsed;
  std::map<std::string, std::size_t> axis_of;
  for (std::size_t t = 0; t < named.operands.size(); ++t) {
    auto& axes = operands_.emplace_back();
    for (std::size_t k = 0; k < named.operands[t].size(); ++k) {
      const auto [known, added] = axis_of.emplace(named.operands[t][k].name, extent_.size());
      if (added) extent_.push_back(1);
      axes.push_back(known->second);
      extent_[known->second] = std::max(extent_[known->second], static_cast<double>(inputs[t].extents[k]));
    }
  }
  for (const auto& axis : named.output) output_.push_back(axis_of.at(axis.name));
  for (std::size_t t = 0; t < operands_.size(); ++t) {
    // What goes with any extent is an axis of its own.
    for (std::size_t k = 0; k < operands_[t].size(); ++k) {
      if (!named.operands[t][k].broadcasts || inputs[t].extents[k] != 1 || extent_[operands_[t][k]] == 1) continue;
      operands_[t][k] = extent_.size();
      extent_.push_back(1);
    }
  }
  for (const auto extent : extent_) products_ *= extent;
  if (products_ > kAtOnce && operands_.size() > 2 && extent_.size() <= kLetters.size() && in_pairs) find_pairs();
  if (products_ <= kMost) return;
  throw ShapeError(fmt::format(
      "--verify: the interpreter would go through {:.2g} products, {:.0f} minutes at the least; leave --verify out, or "
      "check the same spec with smaller extents\n  {}",
      products_, products_ / 6e8, spec));
}

/// The pair of the fewest products first, then that of what is left.
void EinsumOracle::find_pairs() {
  auto left = operands_;
  double all = 0;
  while (left.size() > 1) {
    Pair best{0, 1, {}};
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t x = 0; x < left.size(); ++x) {
      for (std::size_t y = x + 1; y < left.size(); ++y) {
        double products = 1;
        for (std::size_t axis = 0; axis < extent_.size(); ++axis)
          products *= contains(left[x], axis) || contains(left[y], axis) ? extent_[axis] : 1;
        if (products >= least) continue;
        least = products;
        best = {x, y, {}};
      }
    }
    all += least;
    const auto first = left[best.first], second = left[best.second];
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best.second));
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best.first));
    for (std::size_t axis = 0; axis < extent_.size(); ++axis) {
      const bool used = contains(output_, axis) ||
                        std::any_of(left.begin(), left.end(), [&](const auto& other) { return contains(other, axis); });
      if (used && (contains(first, axis) || contains(second, axis))) best.result.push_back(axis);
    }
    if (left.empty()) best.result = output_;
    left.push_back(best.result);
    pairs_.push_back(std::move(best));
  }
  products_ = all;
}

std::string EinsumOracle::term(const std::vector<std::size_t>& axes) const {
  std::string text;
  for (const auto axis : axes) text += kLetters[axis];
  return text;
}

void EinsumOracle::interpret(std::span<const Layout> inputs, const Layout& output, std::span<const void* const> from,
                             void* to, const EinsumOptions& options) const {
  if (pairs_.empty()) return Runtime::interpret_einsum(spec_, inputs, output, from, to, options);
  struct Operand {
    std::vector<std::size_t> axes;
    Layout layout;
    const void* data;
    bool conjugated;
  };
  std::vector<Operand> left;
  bool complex = false;
  for (std::size_t k = 0; k < operands_.size(); ++k) {
    complex = complex || is_complex(inputs[k].type);
    left.push_back({operands_[k], inputs[k], from[k], k < options.conjugate.size() && options.conjugate[k]});
  }
  const auto type = is_integer(output.type) ? output.type : complex ? DType::c128 : DType::f64;
  std::vector<Buffer> intermediates;
  for (const auto& [first, second, result] : pairs_) {
    const Operand x = std::move(left[first]), y = std::move(left[second]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(second));
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(first));
    const bool last = left.empty();
    EinsumOptions pair = last ? options : EinsumOptions();
    pair.conjugate = {x.conjugated, y.conjugated};
    pair.precision = Precision::operands;  // the types of the intermediates
    std::vector<std::int64_t> extents;
    for (const auto axis : result) extents.push_back(static_cast<std::int64_t>(extent_[axis]));
    const auto layout = last ? output : Layout::row_major(type, extents);
    auto* written = to;
    if (!last) {
      intermediates.emplace_back(static_cast<std::size_t>(layout.elements() * size_of(type)));
      written = intermediates.back().data();
    }
    std::vector<const void*> read{x.data, y.data};
    if (last && options.addend) read.push_back(from.back());
    const std::string spec = fmt::format("{},{}->{}", term(x.axes), term(y.axes), term(result));
    Runtime::interpret_einsum(spec, std::vector{x.layout, y.layout}, layout, read, written, pair);
    left.push_back({result, layout, written, false});
  }
}

}  // namespace ricci::tools
