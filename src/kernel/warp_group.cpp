#include "kernel/warp_group.hpp"

#include <fmt/format.h>

#include <bit>

#include "kernel/expand.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

constexpr std::int64_t kUnit = 16;  // bytes that a swizzle leaves together

/// Offset of every position of a tile along its digits, the last one fastest.
std::vector<std::int64_t> offsets(const Access& access, const std::vector<Digit>& digits) {
  std::vector<std::int64_t> all = {0};
  for (const auto& digit : digits) {
    const auto step = access.index.front().coefficient(digit.var);
    std::vector<std::int64_t> finer;
    finer.reserve(all.size() * static_cast<std::size_t>(digit.extent));
    for (const auto start : all) {
      for (std::int64_t v = 0; v < digit.extent; ++v) finer.push_back(start + v * step);
    }
    all = std::move(finer);
  }
  return all;
}

}  // namespace

Swizzle swizzle_of_rows(std::int64_t row_bytes, DType type) noexcept {
  if (row_bytes != 32 && row_bytes != 64 && row_bytes != kMatrixRow) return {};
  const auto power = [&](std::int64_t bytes) {
    return std::countr_zero(static_cast<std::uint64_t>(bytes / size_of(type)));
  };
  return {power(kMatrixRow), row_bytes / kUnit - 1, power(kUnit)};
}

Layout layout_of(const SharedMatrix& matrix, std::int64_t row, std::int64_t positions, std::int64_t deep) {
  constexpr auto kMemory = LayoutAxis::memory;
  const int of_rows = matrix.along_depth ? 0 : 1;  // the coordinate that numbers them
  const auto rows = matrix.along_depth ? positions : deep;
  Layout made{.shape = {positions, deep, 1}};
  made.add(kMemory, kBlockRows, of_rows, 1, row)
      .add(kMemory, (rows + kBlockRows - 1) / kBlockRows, of_rows, kBlockRows, matrix.stride);
  if (matrix.along_depth) return made.add(kMemory, deep, 1, 1, 1);
  return made.add(kMemory, row, 0, 1, 1).add(kMemory, (positions + row - 1) / row, 0, row, matrix.leading);
}

StagedMatrices matrices_of(const Kernel& kernel, const Access& access, const std::vector<Digit>& side,
                           const std::vector<Digit>& depth, std::int64_t rows, std::int64_t deep) {
  const auto& array = kernel.array(access.array);
  const auto along = offsets(access, side), down = offsets(access, depth);
  const auto row = row_of(array);
  const auto positions = static_cast<std::int64_t>(along.size()), deepest = static_cast<std::int64_t>(down.size());
  const auto at = [](const std::vector<std::int64_t>& all, std::int64_t k) { return all[static_cast<std::size_t>(k)]; };
  StagedMatrices made;
  auto& first = made.first;
  first.start = access;
  for (const auto* digits : {&side, &depth}) {
    for (const auto& digit : *digits) first.start = with(first.start, digit.var, 0);
  }
  first.along_depth = deepest > 1 && at(down, 1) == 1;
  first.leading = positions > row ? at(along, row) : row * deep;
  first.stride = !first.along_depth       ? at(down, kBlockRows)
                 : positions > kBlockRows ? at(along, kBlockRows)
                                          : kBlockRows * row;
  // Rows along the depth follow each other, and those past the end are there: what products make of them is dropped.
  const auto matrix = layout_of(first, row, positions, deep);
  const auto offset = [&](std::int64_t p, std::int64_t k) { return matrix.holder({p, k})->memory; };
  bool fits = array.swizzle.mask != 0 && deepest % deep == 0 && (first.along_depth || positions % kBlockRows == 0);
  for (std::int64_t p = 0; fits && p < positions; ++p) fits = at(along, p) == offset(p, 0);
  for (std::int64_t k = 0; fits && k < deepest; ++k) {
    const auto start = at(down, k / deep * deep);
    fits = at(down, k) == start + offset(0, k % deep) && (!first.along_depth || start % row + deep <= row);
  }
  if (!fits)
    throw PlanError(
        fmt::format("schedule: {} does not lie in rows of {} bytes, eight to a block, as a warp group reads it",
                    array.name, row * size_of(array.type)));
  for (std::int64_t k = 0; k < deepest; k += deep) made.steps.push_back(at(down, k));
  made.of_rows = positions > rows ? at(along, rows) : 0;
  return made;
}

}  // namespace ricci::kernel
