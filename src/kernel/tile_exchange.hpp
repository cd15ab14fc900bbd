// How the sums of one section of a group become those of the next on a GPU, whose lanes and registers hold a block's
// tile in another way.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernel/warp_tile.hpp"

namespace ricci::kernel {

/// A block's tile of results, as a section has it.
struct PassedTile {
  const WarpTile& tile;
  const std::vector<Digit>&rows, &columns;
};

/// Of each register of `to` the one of `from` that holds its element, in every lane of every warp; nothing where other
/// lanes hold it. Both are whole tiles of the same digits.
std::optional<std::vector<std::int64_t>> renamed_registers(const PassedTile& from, const PassedTile& to);

/// A digit of a register's number, which moves the indices of both arrays by so much.
struct RegisterDigit {
  std::int64_t extent = 1;
  std::vector<std::int64_t> to, from;
};
/// Digits of which `source`, by a register's number in an array of one shape that in an array of the other, is the sum;
/// the fastest first. Nothing where there are none.
std::optional<std::vector<RegisterDigit>> common_digits(const std::vector<std::int64_t>& to,
                                                        const std::vector<std::int64_t>& from,
                                                        const std::vector<std::int64_t>& source);

/// Sums by way of shared memory, a part of the tile after the other.
struct ExchangePlan {
  Layout from, to;            ///< of places in shared memory
  Layout from_part, to_part;  ///< of the numbers of elements' parts
  std::int64_t elements = 1, parts = 1, registers = 1;
};
ExchangePlan exchange_plan(const PassedTile& from, const PassedTile& to, DType type);

}  // namespace ricci::kernel
