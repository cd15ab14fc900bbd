// Random sums of products of more than two tensors, of a tensor with itself and of several products, as programs: with
// products that differ in the names of indices alone, with sums that many results have in common, and behind guards.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ricci/tensor.hpp"

namespace ricci::fuzz {

struct Products {
  DType type = DType::f64, read_type = DType::f64;  ///< of the output and of the inputs
  std::string text, all_added;                      ///< of a program; the same with nothing subtracted
  std::vector<std::int64_t> read;                   ///< elements of each input
  std::int64_t results = 1;                         ///< elements of the output's memory
  double terms = 0;                                 ///< roundings of an element, at most

  ///   longest   extent of the sum's index
  ///   shortest  extent of those of the result
  ///   pairs     several products of two tensors each
  ///   halves    whether inputs may be of bf16, with an output of f32
  explicit Products(std::mt19937_64& random, int longest = 400, int shortest = 1, bool pairs = false,
                    bool halves = false) {
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    constexpr DType kTypes[] = {DType::f64, DType::f32, DType::f64, DType::c128, DType::c64, DType::i32};
    type = read_type = kTypes[pick(0, 5)];
    if (halves && pick(0, pairs ? 3 : 1) == 0) type = DType::f32, read_type = DType::bf16;
    const bool square = pick(0, 2) == 0;           // of tensors that are multiplied by themselves
    const bool chain = !pairs && pick(0, 3) == 0;  // three factors of which no two have all indices
    const int i = pick(shortest, 50), j = square ? i : pick(shortest, 50), l = pick(6, 16),
              k = chain             ? pick(6, 24)
                  : pick(0, 3) == 0 ? pick(1, 20)
                                    : pick(30, longest);
    const auto turned = [&](const char* x, const char* y) {
      return pick(0, 1) == 0 ? fmt::format("{}, {}", x, y) : fmt::format("{}, {}", y, x);
    };
    std::string declared, sum, all;
    const auto declare = [&](const std::string& name, const std::string& axes) {
      std::int64_t elements = 1;
      for (const char axis : axes)
        elements *= axis == 'i' ? i : axis == 'j' ? j : axis == 'k' ? k : axis == 'l' ? l : 1;
      declared += fmt::format("input {}({}) : {}\n", name, axes, ricci::name(read_type));
      read.push_back(elements);
      return fmt::format("{}({})", name, axes);
    };
    const int products = pairs || pick(0, 2) == 0 ? pick(2, 3) : 1;
    const auto add = [&](const std::string& product, bool first) {
      const bool negative = !first && pick(0, 1) == 0;
      sum += (first ? "" : negative ? " - " : " + ") + product;
      all += (first ? "" : " + ") + product;
    };
    for (int p = 0; p < products; ++p) {
      const auto number = std::to_string(p);
      std::vector<std::string> factors;
      if (chain) {
        constexpr const char* kChains[][3] = {{"i, k, l", "k, j", "l, j"}, {"i, k", "j, k, l", "l, i"},
                                              {"i, k", "k, l", "l, j"},    {"k, l, j", "i, l", "i, k"},
                                              {"i, k, j", "l, k", "j, l"}, {"j, i, l", "k, i", "k, l"}};
        const auto& axes = kChains[pick(0, 5)];
        for (int f = 0; f < 3; ++f) factors.push_back(declare(fmt::format("T{}{}", number, f), axes[f]));
        std::shuffle(factors.begin(), factors.end(), random);
        add(fmt::format("sum(k l, {})", fmt::join(factors, " * ")), p == 0);
        terms += k * l + 8;
        continue;
      }
      const auto first = declare("A" + number, turned("i", "k"));
      factors.push_back(first);
      if (square && pick(0, 1) == 0) {
        auto other = first;
        std::replace(other.begin(), other.end(), 'i', 'j');
        factors.push_back(pick(0, 3) == 0 && type >= DType::c64 ? fmt::format("conj({})", other) : other);
      } else {
        factors.push_back(declare("B" + number, turned("k", "j")));
      }
      constexpr const char* kMore[] = {"k", "i", "j", "i, k", "j, k", "i, j"};
      const bool has_more = !pairs && (pick(0, 5) < 4 || read_type == DType::bf16);
      for (int more = has_more ? pick(1, 2) : 0; more > 0; --more)
        factors.push_back(declare(fmt::format("F{}{}", number, more), kMore[pick(0, 5)]));
      if (pick(0, 4) == 0) factors.push_back("2");
      std::shuffle(factors.begin(), factors.end(), random);
      auto inside = fmt::format("{}", fmt::join(factors, " * "));
      if (!pairs && pick(0, 3) == 0) {
        constexpr const char* kGuards[] = {"k <= i", "j <= i", "k > 5", "i + k < 30 and k >= j",
                                           "mod(k, 3) == mod(j, 3)"};
        const auto* const guard = kGuards[pick(0, 4)];
        const auto one = factors[static_cast<std::size_t>(pick(0, static_cast<int>(factors.size()) - 1))];
        inside = pick(0, 2) > 0 ? fmt::format("guard({}, {})", guard, inside)
                                : fmt::format("{} * guard({}, {})", inside, guard, one);
      }
      const auto product = fmt::format("{}sum(k, {})", pick(0, 3) == 0 ? "3 * " : "", inside);
      add(product, p == 0);
      terms += k + 8;
      if (square && pick(0, 2) == 0) {
        auto turned_over = product;
        for (auto at = turned_over.find('(') + 1; at < turned_over.size(); ++at) {
          auto& axis = turned_over[at];
          if (turned_over[at - 1] == 'n') continue;  // of conj
          axis = axis == 'i' ? 'j' : axis == 'j' ? 'i' : axis;
        }
        add(turned_over, false);
        terms += k + 8;
      }
    }
    std::string before, behind;
    if (const int map = pick(0, 4); map < 3) {
      before = map == 0 ? "2 * (" : "(";
      behind = map == 0 ? ")" : ") * " + declare("G", "i") + " + " + declare("H", "i, j");
      if (map == 2) behind += fmt::format(" * sum(k, {})", declare("S", turned("j", "k")));
    }
    std::string strides;
    results = std::int64_t{i} * j;
    if (const int lies = pick(0, 5); lies < 3) {
      const int step = lies == 0 ? 2 : 1, more = pick(0, 3);
      const bool across = pick(0, 1) == 0;
      const std::int64_t row = step * (across ? i : j) + more;
      results = row * (across ? j : i);
      strides = across ? fmt::format(" strides({}, {})", step, row) : fmt::format(" strides({}, {})", row, step);
    }
    const auto head =
        fmt::format("{}index k = {}\nindex l = {}\n{}output C(i, j) : {}{}\n",
                    square ? fmt::format("index i j = {}\n", i) : fmt::format("index i = {}\nindex j = {}\n", i, j), k,
                    l, declared, ricci::name(type), strides);
    text = fmt::format("{}C(i, j) = {}{}{}\n", head, before, sum, behind);
    all_added = fmt::format("{}C(i, j) = {}{}{}\n", head, before, all, behind);
  }
};

}  // namespace ricci::fuzz
