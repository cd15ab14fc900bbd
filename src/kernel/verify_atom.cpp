// The rules of an atom: every element of its operands is in one register of one lane.
#include <fmt/format.h>

#include <vector>

#include "kernel/verify.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

void verify(const Atom& atom, const Fragment& fragment, const char* operand, int rows, int columns) {
  const auto fail = [&](const std::string& rule) {
    throw InternalError(fmt::format("kernel: operand {} of atom {}: {}", operand, atom.name, rule));
  };
  if (fragment.rows != rows || fragment.columns != columns)
    fail(fmt::format("{} x {} instead of {} x {}", fragment.rows, fragment.columns, rows, columns));
  if (fragment.elements * kWarp != rows * columns)
    fail(fmt::format("{} elements of each lane are not {} x {}", fragment.elements, rows, columns));
  std::vector<bool> seen(static_cast<std::size_t>(rows * columns));
  for (int lane = 0; lane < kWarp; ++lane) {
    for (int e = 0; e < fragment.elements; ++e) {
      const auto place = fragment.at(lane, e);
      if (place.row >= rows || place.column >= columns)
        fail(fmt::format("lane {} holds row {}, column {}", lane, place.row, place.column));
      const auto at = static_cast<std::size_t>(place.row * columns + place.column);
      if (seen[at]) fail(fmt::format("row {}, column {} is held twice", place.row, place.column));
      seen[at] = true;
    }
  }
}

}  // namespace

void verify(const Atom& atom) {
  verify(atom, atom.a, "A", atom.m, atom.k);
  verify(atom, atom.b, "B", atom.k, atom.n);
  verify(atom, atom.c, "C", atom.m, atom.n);
}

}  // namespace ricci::kernel
