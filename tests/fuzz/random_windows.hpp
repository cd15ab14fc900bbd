// Random programs that read tensors in windows: convolutions, their gradients, those of each channel alone, pooling,
// with strides, dilation, windows that run backwards, and values outside of what they read.
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

struct Windows {
  DType type = DType::f64;
  std::string text;
  std::vector<std::int64_t> read;  ///< elements of each input
  std::int64_t results = 1;

  explicit Windows(std::mt19937_64& random) {
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    constexpr DType kTypes[] = {DType::f64, DType::f32, DType::i32};
    type = kTypes[pick(0, 2)];
    enum { convolution, of_weights, each_channel, pooling };
    const int what = pick(0, 3);
    const int dimensions = pick(1, 2);
    struct Axis {
      std::string slot;
      std::int64_t extent;
    };
    const auto n = Axis{"n", pick(1, 3)}, c = Axis{"c", pick(1, 20)}, k = Axis{"k", pick(1, 20)};
    const bool outside = pick(0, 1) == 0;
    std::vector<Axis> places, windows, image;
    std::string head = fmt::format("index n = {}; index c = {}; index k = {}\n", n.extent, c.extent, k.extent);
    for (int d = 0; d < dimensions; ++d) {
      const Axis i{fmt::format("i{}", d), pick(1, 20)}, r{fmt::format("r{}", d), pick(1, 5)};
      const int step = pick(0, 2) == 0 ? pick(2, 3) : 1, apart = pick(0, 3) == 0 ? 2 : 1;
      const bool backwards = pick(0, 3) == 0;
      const auto reach = step * (i.extent - 1) + apart * (r.extent - 1) + 1;
      const auto before = outside ? pick(0, 3) : 0;
      const auto first = (backwards ? apart * (r.extent - 1) : 0) - before;
      image.push_back({fmt::format("{}*{}{}{}*{}{:+}", step, i.slot, backwards ? '-' : '+', apart, r.slot, first),
                       outside ? std::max<std::int64_t>(reach - before - pick(0, 3), 1) : reach + pick(0, 2)});
      places.push_back(i);
      windows.push_back(r);
      head += fmt::format("index {} = {}; index {} = {}\n", i.slot, i.extent, r.slot, r.extent);
    }
    const auto with = [](std::vector<Axis> axes, const std::vector<Axis>& more) {
      axes.insert(axes.end(), more.begin(), more.end());
      return axes;
    };
    std::int64_t elements = 1;  // of what was declared last
    const auto tensor = [&](const char* role, const char* name, std::vector<Axis> axes, const char* attribute) {
      std::shuffle(axes.begin(), axes.end(), random);
      std::vector<std::string> slots;
      std::vector<std::int64_t> extents;
      elements = 1;
      for (const auto& axis : axes) {
        slots.push_back(axis.slot);
        extents.push_back(axis.extent);
        elements *= axis.extent;
      }
      head += fmt::format("{} {}({}) : {}{}\n", role, name, fmt::join(extents, ","), ricci::name(type), attribute);
      return fmt::format("{}({})", name, fmt::join(slots, ","));
    };
    const auto input = [&](const char* name, std::vector<Axis> axes, const char* attribute = "") {
      auto made = tensor("input", name, std::move(axes), attribute);
      read.push_back(elements);
      return made;
    };
    const auto x = input("x", with({n, c}, image), !outside ? "" : pick(0, 1) == 0 ? " outside(0)" : " outside(-2)");
    std::string over, value;
    std::vector<Axis> result;
    const auto names = [](const std::vector<Axis>& axes) {
      std::string list;
      for (const auto& axis : axes) list += " " + axis.slot;
      return list;
    };
    if (what == convolution) {
      value = fmt::format("sum(c{}, {}*{})", names(windows), x, input("w", with({k, c}, windows)));
      result = with({n, k}, places);
    } else if (what == of_weights) {
      value = fmt::format("sum(n{}, {}*{})", names(places), x, input("w", with({n, k}, places)));
      result = with({k, c}, windows);
    } else if (what == each_channel) {
      value = fmt::format("sum({}, {}*{})", names(windows), x, input("w", with({c}, windows)));
      result = with({n, c}, places);
    } else {
      value = fmt::format("{}({}, {})", pick(0, 1) == 0 ? "sum" : "maximum", names(windows), x);
      result = with({n, c}, places);
    }
    const auto z = tensor("output", "z", std::move(result), "");
    results = elements;
    text = fmt::format("{}{} = {}\n", head, z, value);
  }
};

}  // namespace ricci::fuzz
