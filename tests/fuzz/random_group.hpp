// Random groups of contractions: one sum with several products in it.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "ricci/tensor.hpp"

namespace ricci::fuzz {

struct Group {
  DType type = DType::f64;
  std::string text, all_added;        ///< of a program; the same with no product subtracted
  std::vector<std::int64_t> factors;  ///< elements of each input
  std::int64_t results = 1;
  double terms = 1;  ///< of an element, more than there are

  ///   f32                   also groups of f32
  ///   least_rank, shortest  of the result, and of its extents
  explicit Group(std::mt19937_64& random, bool f32 = true, int least_rank = 2, int shortest = 1) {
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    if (f32 && pick(0, 2) == 0) type = DType::f32;
    std::map<char, int> extents;
    std::string result;
    const int rank = pick(least_rank, 5);
    for (int k = 0; k < rank; ++k) {
      result += static_cast<char>('a' + k);
      extents[result.back()] = pick(shortest, rank == 2 ? 70 : rank == 3 ? 24 : rank == 4 ? 12 : 8);
      results *= extents[result.back()];
    }
    const auto element = [](const std::string& name, const std::string& axes) {
      return fmt::format("{}({})", name, fmt::join(std::vector<char>(axes.begin(), axes.end()), ", "));
    };
    std::string head, sum, all;
    const int products = pick(2, 5);
    for (int p = 1; p <= products; ++p) {
      const std::string depth(1, static_cast<char>('k' + pick(0, 2)));
      if (extents.count(depth[0]) == 0) extents[depth[0]] = pick(1, 40);
      terms += extents.at(depth[0]);
      auto order = result;
      std::shuffle(order.begin(), order.end(), random);
      const auto cut = static_cast<std::size_t>(pick(1, rank - 1));
      std::string sides[] = {order.substr(0, cut) + depth, order.substr(cut) + depth};
      std::string product;
      for (const int side : {0, 1}) {
        std::shuffle(sides[side].begin(), sides[side].end(), random);
        const auto name = fmt::format("{}{}", side == 0 ? 'A' : 'B', p);
        head += fmt::format("input {} : {}\n", element(name, sides[side]), ricci::name(type));
        std::int64_t elements = 1;
        for (const char axis : sides[side]) elements *= extents.at(axis);
        factors.push_back(elements);
        product += (side == 0 ? "" : " * ") + element(name, sides[side]);
      }
      product = fmt::format("sum({}, {})", depth, product);
      const bool negative = p > 1 && pick(0, 1) == 0;
      sum += (p == 1 ? "" : negative ? " - " : " + ") + product;
      all += (p == 1 ? "" : " + ") + product;
    }
    std::string indices;
    for (const auto& [axis, extent] : extents) indices += fmt::format("index {} = {}\n", axis, extent);
    const auto written = element("C", result);
    head = indices + head + fmt::format("output {} : {}\n", written, ricci::name(type));
    text = fmt::format("{}{} = {}\n", head, written, sum);
    all_added = fmt::format("{}{} = {}\n", head, written, all);
  }
};

}  // namespace ricci::fuzz
