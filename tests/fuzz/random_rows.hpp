// Random programs that read the same rows several times: chains of reductions along them, each of what is there and of
// the ones before, and results for each place of a row or for all of it.
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "ir/types.hpp"

namespace ricci::fuzz {

struct RowsProgram {
  std::string text;

  ///   least  rows
  explicit RowsProgram(std::mt19937_64& random, int least = 1) {
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    constexpr int kRows[] = {1, 2, 3, 4, 7, 8, 16, 32, 33};
    constexpr int kLong[] = {2, 3, 4, 8, 12, 16, 31, 32, 33, 48, 64, 65, 96, 100, 128, 200, 256, 384, 500, 768, 1028};
    constexpr DType kTypes[] = {DType::f64,  DType::f32, DType::bf16, DType::f16, DType::c64,
                                DType::c128, DType::i32, DType::i64,  DType::u32, DType::u8};
    const auto type = kTypes[pick(0, 9)];
    const bool half = is_half(type), complex = is_complex(type), integer = is_integer(type);
    const auto computed = ricci::name(half ? DType::f32 : type);
    const int rows = least - 1 + kRows[pick(0, 8)], length = kLong[pick(0, 20)],
              more = pick(0, 3) == 0 ? pick(2, 4) : 1;
    // The row's index lies last, or in front of one of the others.
    constexpr const char* kLies[] = {"h, i, j", "h, i, j", "h, i, j", "i, h, j", "h, j, i", "j, h, i"};
    const std::string lies = kLies[pick(0, 5)], other = kLies[pick(0, 5)];
    text =
        fmt::format("index h = {}\nindex i = {}\nindex j = {}\ninput x({}) : {}\ninput w(j) : {}\ninput r(h, i) : {}\n",
                    more, rows, length, lies, ricci::name(type), ricci::name(type), computed);
    const std::string x = fmt::format("x({})", lies);
    std::vector<std::string> known = {"r(h, i)"};  // of a row
    const auto any_of = [&](const std::vector<std::string>& list) {
      return list[static_cast<std::size_t>(pick(0, static_cast<int>(list.size()) - 1))];
    };
    const auto place = [&] {  // a value of each place
      const auto of_row = pick(0, 2) > 0 ? known.back() : any_of(known);
      switch (pick(0, integer || complex ? 4 : 7)) {
        case 0:
          return x;
        case 1:
          return fmt::format("{} * w(j)", x);
        case 2:
          return fmt::format("({} - {})", x, of_row);
        case 3:
          return fmt::format("({} - {}) * ({} - {})", x, of_row, x, of_row);
        case 4:
          return fmt::format("({} * {} + w(j))", x, x);
        case 5:
          return fmt::format("exp({} - abs({}))", x, of_row);
        case 6:
          return fmt::format("abs({})", x);
        default:
          return fmt::format("{} / (1.5 + abs({}))", x, of_row);
      }
    };
    // Rows that a comparison cuts in two parts, as of causal attention.
    constexpr const char* kCuts[] = {"j <= i", "j < i + 3", "i <= j", "i < j", "j <= 20", "2 * i < j + 5"};
    const std::string cut = kCuts[pick(0, 5)];
    const bool cuts = pick(0, 2) == 0;
    const auto reduced = [&](const std::string& value) {
      if (cuts && pick(0, 3) > 0) return fmt::format("sum(j, guard({}, {}))", cut, value);
      if (!complex && pick(0, 3) == 0) return fmt::format("{}(j, {})", pick(0, 1) == 0 ? "maximum" : "minimum", value);
      if (pick(0, 5) == 0 && !complex) return fmt::format("sum(j, guard({} > w(j), {}))", x, value);
      return fmt::format("sum(j, {})", value);
    };
    std::string declared, statements;
    const int chain = pick(0, 3);
    for (int n = 0; n < chain; ++n) {
      const auto name = fmt::format("t{}(h, i)", n);
      declared += fmt::format("temp {} : {}\n", name, computed);
      statements += fmt::format("{} = {}{}\n", name, pick(0, 1) == 0 && !integer ? "0.25 * " : "", reduced(place()));
      known.push_back(name);
    }
    const auto last = known.back();
    if (chain == 0 || pick(0, 3) == 0) {
      declared += fmt::format("output z(h, i) : {}\n", computed);
      statements += fmt::format("z(h, i) = {} + {}\n", last, reduced(fmt::format("({} - {})", x, last)));
    } else {
      const bool adds = pick(0, 4) == 0;
      declared += fmt::format("{} z({}) : {}\n", adds ? "inout" : "output", other, ricci::name(type));
      statements +=
          fmt::format("z({}) {} {} - {}\n", other, adds && !half ? "+=" : "=",
                      cuts && pick(0, 3) > 0 ? fmt::format("select({}, {}, {})", cut, place(), last) : place(), last);
    }
    text += declared + statements;
  }
};

}  // namespace ricci::fuzz
