// Values of a kernel: elements of its arrays, and operations on them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program.hpp"
#include "kernel/affine.hpp"

namespace ricci::kernel {

/// Elements of an array: `lanes` neighbours from `index` on, of which the first `count` exist (0: all of them). What is
/// read beyond them is 0, nothing is written there. Several lanes of single registers of a CPU are neighbours along the
/// last dimension.
struct Access {
  int array = -1;
  std::vector<Affine> index;
  int lanes = 1;
  int count = 0;
  bool whole = false;  ///< CUDA: an element of 16 bytes by one instruction, where a compiler would take two
  std::optional<Affine> lane = {};   ///< this one of the neighbours alone, a literal once loops are unrolled
  std::optional<Affine> block = {};  ///< CUDA, shared: as that block of the cluster has it, which is only read
  /// CPU: of neighbours in memory only those from number `since` on and below number `until` exist, which need not be
  /// literals, nor numbers of lanes.
  std::optional<Affine> since = {}, until = {};

  /// Of the value that is read or written.
  int width() const noexcept { return lane ? 1 : lanes; }
};

/// value < below. Conditions are conjunctions of these.
struct Condition {
  Affine value;
  std::int64_t below = 0;
};

/// A scalar or a vector of lanes. An operation of a scalar and a vector takes the scalar for every lane.
struct Value {
  enum class Kind : std::uint8_t {
    load,          ///< access
    param,         ///< Kernel::params[param]
    factor,        ///< of Mma::term: an element of the first operand (param 0) or of the second one (1)
    constant,      ///< number, or bits of an integer type
    index,         ///< the value of `affine`, as i64
    op,            ///< op on operands
    pack,          ///< the operands side by side, as a vector: single values, or, on a CPU, two vectors
    part,          ///< CPU: of a vector access.lanes neighbours from `affine` on, a literal
    shuffle,       ///< CUDA: operand 0 as lane `affine` of the warp has it; all lanes of the warp take part
    shuffle_up,    ///< CUDA: operand 0 of the lane `affine`, a literal, below; the lowest lanes keep their own
    power_of_two,  ///< CUDA: of an f32, within 2 units in the last place; 0 where that is below the normal numbers
    ballot,        ///< CUDA: a u32 of one bit for each lane of the warp: whether its operand 0, a u8, is not 0
    prefixes,      ///< CPU: of a vector the sums of its lanes up to each one
    shifted,       ///< CPU: a vector of operand 1, then the lanes of operand 0 but for the last one
    times_i,       ///< CPU: a vector of pairs (x, y), complex numbers, as (-y, x)
    conj_pairs,    ///< CPU: the same as (x, -y)
    real_pairs,    ///< CPU: the same as (x, x)
    imag_pairs,    ///< CPU: the same as (y, y)
    interleave,    ///< CPU: the lanes of two vectors in turns
    /// CPU: operand 0, a vector of sums, and what a group of lanes of operand 1, the same for all sums, and each group
    /// of operand 2 have for a product: groups of as many lanes as operand 1 has
    dot,
  };
  Kind kind = Kind::constant;
  DType type = DType::f64;
  ir::OpCode op = ir::OpCode::add;
  Access access;
  Affine affine;
  int param = 0;
  bool never_nan = false;  ///< CUDA: of a least or greatest value, operand 0, so that either of two zeros will do
  Scalar number = 0;
  std::uint64_t bits = 0;
  std::vector<Value> operands;
  int lanes() const noexcept;
};

}  // namespace ricci::kernel
