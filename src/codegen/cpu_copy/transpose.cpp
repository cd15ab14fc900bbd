#include "codegen/cpu_copy/transpose.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

namespace ricci::codegen {
namespace {

int log2_of(int n) { return std::bit_width(static_cast<unsigned>(n)) - 1; }

/// Lane numbers of the two results of a shuffle of two vectors; the second vector's lanes begin at `columns`.
struct Shuffle {
  std::vector<int> low, high;
};

/// Interleaves pieces of `span` elements of two vectors within groups of `group` elements (the low and the high half of
/// each group): one instruction where a group has 16 bytes.
Shuffle interleaved(int columns, int group, int span) {
  Shuffle shuffle;
  for (int j = 0; j < columns; ++j) {
    const int in_group = j % group, piece = in_group / span;
    const int from = j - in_group + piece / 2 * span + j % span + (piece % 2 != 0 ? columns : 0);
    shuffle.low.push_back(from);
    shuffle.high.push_back(from + group / 2);
  }
  return shuffle;
}

/// Exchanges every second piece of `span` elements between two vectors.
Shuffle exchanged(int columns, int span) {
  Shuffle shuffle;
  for (int j = 0; j < columns; ++j) {
    shuffle.low.push_back((j & span) != 0 ? columns + j - span : j);
    shuffle.high.push_back((j & span) != 0 ? columns + j : j + span);
  }
  return shuffle;
}

}  // namespace

const char* lane_type(DType type) {
  switch (size_of(type)) {
    case 1:
      return "u8";
    case 2:
      return "u16";
    case 4:
      return "u32";
    default:
      return "u64";
  }
}

int lanes_of(DType type) { return size_of(type) > 8 ? 2 : 1; }

Transpose::Transpose(DType type, const kernel::TransposeBlock& block)
    : type_(type),
      columns_(block.columns * block.row_packing),
      rows_(block.vectors()),
      piece_(block.transposed_vectors()),
      rounds_(log2_of(piece_)),
      within_(log2_of(std::min<int>(columns_, std::max<int>(16 / static_cast<int>(size_of(type)), 1)))) {}

int Transpose::vector_of(int column) const noexcept { return column >> std::max(within_ - rounds_, 0) & (piece_ - 1); }

int Transpose::part_of(int column) const noexcept {
  const int left = within_ - rounds_;  // low bits of a column's number that do not select the vector
  if (left <= 0) return column >> rounds_;
  return column >> within_ << left | (column & ((1 << left) - 1));
}

void Transpose::emit(Writer& w) const {
  const bool square = piece_ == columns_;
  if (square) w.line("// {} x {}: row i of the result is column i of the argument", rows_, columns_);
  if (!square) w.line("// {} x {}: piece k of row i of the result is a column of the argument:", rows_, columns_);
  for (int part = 0; !square && part < columns_ / piece_; ++part) {
    std::vector<int> list(static_cast<std::size_t>(piece_));
    for (int column = 0; column < columns_; ++column) {
      if (part_of(column) == part) list[static_cast<std::size_t>(vector_of(column))] = column;
    }
    w.line("//   k = {}: {}", part, fmt::join(list, ", "));
  }
  w.line("static inline __attribute__((always_inline)) void transpose(lanes (&row)[{}])", piece_);
  w.open("{{");
  std::vector<std::string> held(static_cast<std::size_t>(piece_));  // expression of each vector; empty: unused
  for (int i = 0; i < rows_; ++i) held[static_cast<std::size_t>(i)] = fmt::format("row[{}]", i);
  const int lanes = lanes_of(type_);
  const auto shuffled = [&](const std::string& name, const std::string& one, const std::string& other,
                            const std::vector<int>& from) {
    std::vector<int> list;
    for (const int element : from) {
      for (int l = 0; l < lanes; ++l) list.push_back(lanes * element + l);
    }
    w.line("const lanes {} = __builtin_shufflevector({}, {}, {});", name, one, other, fmt::join(list, ", "));
  };
  for (int k = 0; k < rounds_; ++k) {
    const int span = 1 << k;
    const bool interleaves = k < within_;
    const auto shuffle = interleaves ? interleaved(columns_, 1 << within_, span) : exchanged(columns_, span);
    for (int i = 0; i < piece_; ++i) {
      auto &low = held[static_cast<std::size_t>(i)], &high = held[static_cast<std::size_t>(i | span)];
      if ((i & span) != 0 || low.empty()) continue;
      const auto one = low, other = high.empty() ? low : high;
      // Exchanging with an unused vector leaves the low result unchanged.
      if (interleaves || !high.empty()) {
        low = fmt::format("low{}_{}", span, i);
        shuffled(low, one, other, shuffle.low);
      }
      high = fmt::format("high{}_{}", span, i);
      shuffled(high, one, other, shuffle.high);
    }
  }
  // Each interleaving round selects by the next lower bit of a column's number, so the bits end up reversed.
  const int interleaved_rounds = std::min(within_, rounds_);
  for (int i = 0; i < piece_; ++i) {
    int from = i >> interleaved_rounds << interleaved_rounds;
    for (int k = 0; k < interleaved_rounds; ++k) from |= (i >> k & 1) << (interleaved_rounds - 1 - k);
    w.line("row[{}] = {};", i, held[static_cast<std::size_t>(from)]);
  }
  w.close();
  w.blank();
}

}  // namespace ricci::codegen
