// Random programs of scores, rows of these, and sums of values by what rows become: of any order, with elements left
// out, more added to scores, several results' heads for each of keys and values.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>

#include "ir/types.hpp"

namespace ricci::fuzz {

struct Attention {
  std::string text;

  explicit Attention(std::mt19937_64& random) {
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    constexpr int kRows[] = {2, 16, 17, 48, 64, 65, 100, 130}, kColumns[] = {2, 8, 31, 64, 65, 96, 128, 150, 200};
    constexpr int kDepths[] = {16, 16, 32, 48, 64}, kValues[] = {8, 16, 24, 32, 40};
    const auto half = pick(0, 1) == 0 ? DType::bf16 : DType::f16;
    const std::string type = ricci::name(half);
    const int q = kRows[pick(0, 7)], k = std::max(kColumns[pick(0, 8)], half == DType::bf16 ? 2 : 2);
    const int d = kDepths[pick(0, 4)], e = kValues[pick(0, 4)], h = pick(1, 2), g = pick(0, 2) == 0 ? 2 : 1;
    // Weights of f32 are made of two parts where there are many.
    const bool wide = half == DType::bf16 && k >= 64 && pick(0, 1) == 0;
    const std::string temp = wide ? "f32" : type, sums = pick(0, 1) == 0 ? "f32" : temp;
    constexpr const char *kQueries[] = {"h, g, q, d", "q, h, g, d"}, *kKeys[] = {"h, k, d", "k, h, d"};
    constexpr const char *kLeft[] = {"h, k, e", "k, h, e"}, *kMade[] = {"h, g, q, e", "q, h, g, e", "e, h, g, q"};
    const std::string x = fmt::format("x({})", kQueries[pick(0, 1)]), y = fmt::format("y({})", kKeys[pick(0, 1)]),
                      v = fmt::format("v({})", kLeft[pick(0, 1)]), z = fmt::format("z({})", kMade[pick(0, 2)]);
    for (const auto& [name, extent] : {std::pair{'h', h}, std::pair{'g', g}, std::pair{'q', q}, std::pair{'k', k},
                                       std::pair{'d', d}, std::pair{'e', e}})
      text += fmt::format("index {} = {}\n", name, extent);
    text +=
        fmt::format("input {} : {}\ninput {} : {}\ninput {} : {}\ninput w(q, k) : f32\n", x, type, y, type, v, type);
    text += fmt::format("output {} : {}\n", z, type);
    text +=
        fmt::format("temp S(h, g, q, k) : {}\ntemp P(h, g, q, k) : {}\ntemp M(h, g, q) : {}\ntemp L(h, g, q) : {}\n",
                    temp, temp, sums, sums);
    constexpr const char* kConditions[] = {"k <= q", "k < q + 3", "q < k + 20", "2 * k <= q + 40", "k <= 70"};
    const std::string when = kConditions[pick(0, 4)];
    const int way = pick(0, 3);  // nothing left out; by guards; by a selection; one that is not of indices
    const auto left = [&](const std::string& value) {
      return way == 1 ? fmt::format("guard({}, {})", when, value) : value;
    };
    auto score = fmt::format("0.25 * sum(d, {} * {})", x, y);
    if (pick(0, 2) == 0) score += " + w(q, k)";
    if (pick(0, 3) == 0) score = fmt::format("2 * tanh({})", score);
    if (way == 2) score = fmt::format("select({}, {}, -1e30)", "k <= q", score);
    if (way == 3) score = fmt::format("select(w(q, k) < 1, {}, -20)", score);
    text += fmt::format("S(h, g, q, k) = {}\n", score);
    text += fmt::format("M(h, g, q) = maximum(k, {})\n", left("S(h, g, q, k)"));
    text += "P(h, g, q, k) = exp(S(h, g, q, k) - M(h, g, q))\n";
    text += fmt::format("L(h, g, q) = sum(k, {})\n", left("P(h, g, q, k)"));
    text += fmt::format("{} = sum(k, {})", z, left(fmt::format("P(h, g, q, k) * {}", v)));
    text += pick(0, 3) == 0 ? "\n" : " / (L(h, g, q) + 0.5)\n";
  }
};

}  // namespace ricci::fuzz
