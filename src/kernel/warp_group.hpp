// Operands of a warp group's products in shared memory: the layouts that its instructions read, which are those of
// CUTLASS (include/cute/arch/mma_sm90_desc.hpp) with a swizzle.
#pragma once

#include <vector>

#include "kernel/kernel.hpp"

namespace ricci::kernel {

/// Rows of 128 bytes, and blocks of eight of them: swizzles repeat at least as often.
constexpr std::int64_t kMatrixRow = 128, kMatrixBlock = 8 * kMatrixRow;
constexpr std::int64_t kBlockRows = 8;

/// The swizzle of rows of that many bytes of such elements: 16 bytes of each row change places by the number of its 128
/// bytes. Nothing (mask 0) where no instruction reads such rows.
Swizzle swizzle_of_rows(std::int64_t row_bytes, DType type) noexcept;

/// Elements of a row of an array with such a swizzle.
inline std::int64_t row_of(const Array& array) { return array.swizzle.group(); }

/// Where element (p, k) lies, from that of (0, 0) on and before the swizzle.
///   row              elements of one
///   positions, deep  of the side and of the depth
Layout layout_of(const SharedMatrix& matrix, std::int64_t row, std::int64_t positions, std::int64_t deep);

/// A staged operand as the matrices of one instruction after the other.
struct StagedMatrices {
  SharedMatrix first;               ///< at the start of the side and of the depth
  std::vector<std::int64_t> steps;  ///< elements that the start moves, for each instruction along the depth
  std::int64_t of_rows = 0;         ///< and for the next `rows` positions of the side
};
/// Throws PlanError where the operand does not lie in rows and blocks.
///   side, depth  digits of the tile
///   rows, deep   positions of an instruction along them
StagedMatrices matrices_of(const Kernel& kernel, const Access& access, const std::vector<Digit>& side,
                           const std::vector<Digit>& depth, std::int64_t rows, std::int64_t deep);

/// Results of a warp group on their way to memory line by line. Neighbours along the columns: elements of a line, and
/// of a row of shared memory that holds one such that lanes which write pairs to eight rows meet in no bank.
inline std::int64_t line_elements(DType type) { return kMatrixRow / size_of(type); }
inline std::int64_t row_elements(DType type) {
  return line_elements(type) + (size_of(type) == 2 ? 16 : 32) / size_of(type);
}
/// Neighbours along the rows: columns of a tile that leave at a time, all threads of a block busy (0: there are none),
/// and elements of shared memory from one of them to the next, as many rows and what keeps lanes apart.
inline std::int64_t strip_columns(DType type, std::int64_t columns) {
  for (auto n = line_elements(type); n * size_of(type) >= 2 * 16; n /= 2) {
    if (columns % n == 0) return n;
  }
  return 0;
}
inline std::int64_t strip_pitch(DType type, std::int64_t rows) { return rows + 16 / size_of(type); }

}  // namespace ricci::kernel
