// Random contractions in random axis orders, for a GPU: types, views, factors and device drawn too.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <string>

#include "ir/passes/canonical.hpp"
#include "lower/einsum.hpp"

namespace ricci::fuzz {

struct GpuContraction {
  std::string spec;
  std::map<char, std::int64_t> extents;
  ir::EinsumProblem problem;
  int sm = 90;
  std::optional<DType> bytes;  ///< of operands that are not floats
  std::string term;            ///< of A and B, which another reduction than a sum of products combines: "max($, A*B)"

  std::string text() const;
  /// In a precision where that is for its types.
  ir::Canonical program(Precision precision = Precision::operands) const;
};
GpuContraction gpu_contraction(std::mt19937_64& random);
/// Of halves, large enough for a warp group on sm_90.
GpuContraction group_contraction(std::mt19937_64& random);
/// The same of f32, with neighbours of both operands along the depth, or of one, as warp groups take tf32.
GpuContraction tf32_contraction(std::mt19937_64& random);
/// The same of bytes with signs or without, sums in i32; the depth's axes are the last ones of both operands.
GpuContraction byte_contraction(std::mt19937_64& random);
/// Of many small products, neighbours of which are as often as not of different ones.
GpuContraction batch_contraction(std::mt19937_64& random);
/// Of terms that are no products, or that are not summed.
GpuContraction term_contraction(std::mt19937_64& random);
/// Of few results, whose sums are over one to three indices.
GpuContraction few_results(std::mt19937_64& random);

}  // namespace ricci::fuzz
