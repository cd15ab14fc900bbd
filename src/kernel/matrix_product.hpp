// A contraction as the matrix product of a library: extents, leading dimensions and factors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/program.hpp"

namespace ricci::kernel {

/// result = alpha * op(first) * op(second) + beta * result, for each step of the batch. Matrices are row-major;
/// offsets, strides and leading dimensions count elements.
struct MatrixProduct {
  struct Matrix {
    int buffer = -1;  ///< of the program
    DType type = DType::f64;
    std::int64_t offset = 0;   ///< of the first element
    std::int64_t leading = 1;  ///< from one row to the next, as it is stored
    bool transposed = false;   ///< stored with its columns as rows
    bool conjugated = false;   ///< and transposed, as libraries have it
  };
  /// value, times a parameter of the program where there is one. 0 hides what it multiplies.
  struct Scale {
    int param = -1;
    Scalar value = 0;
  };
  struct Batch {
    std::int64_t extent = 1, in_first = 0, in_second = 0, in_result = 0;
  };

  DType type = DType::f64;  ///< of products and sums
  Precision precision = Precision::operands;
  std::int64_t rows = 1, columns = 1, depth = 1;
  Matrix first, second, result;
  std::vector<Batch> batch;  ///< slowest first
  Scale alpha, beta;

  std::int64_t products() const noexcept;  ///< of the batch
  /// Elements from the first matrices to those of product number `at` of the batch, the fastest index of which changes
  /// first; `without` an index of it: that stays at 0 and is not counted.
  Batch place(std::int64_t at, const Batch* without = nullptr) const noexcept;
  double flops() const noexcept;  ///< of all of them, real operations
  double bytes() const noexcept;  ///< of all matrices, the result's twice where it is read
};

/// Nothing where a program is no such product: rows, columns or depth that are not one index each, elements of a matrix
/// that are contiguous along neither of its axes, another value than alpha and beta make, negative strides.
std::optional<MatrixProduct> matrix_product_of(const ir::Program& program);

/// "2 x C[96 x 80] = alpha * A[96 x 50] * B[80 x 50]^T + beta * C".
std::string print(const MatrixProduct& product, const ir::Program& program);

}  // namespace ricci::kernel
