// Blocks transposed in vector registers.
#pragma once

#include "codegen/writer.hpp"
#include "kernel/permute/cpu_stage.hpp"
#include "ricci/tensor.hpp"

namespace ricci::codegen {

/// The unsigned integer type of the lanes that hold an element's bits in a vector; and how many lanes an element takes.
const char* lane_type(DType type);
int lanes_of(DType type);

/// The emitter of a function transpose(row) for a block's vectors. Each vector of the result holds the pieces of one or
/// more columns; with row packing, the parts of one column from all packed rows.
class Transpose {
 public:
  Transpose(DType type, const kernel::TransposeBlock& block);

  /// Uses the type `lanes`, one vector, which must be declared before.
  void emit(Writer& writer) const;

  /// The vector of the result that holds a column, and the column's position among that vector's pieces.
  int vector_of(int column) const noexcept;
  int part_of(int column) const noexcept;

 private:
  DType type_;
  int columns_, rows_, piece_;
  int rounds_;  // binary logarithm of `piece`
  int within_;  // binary logarithm of the elements in 16 bytes, within which interleaving is one instruction
};

}  // namespace ricci::codegen
