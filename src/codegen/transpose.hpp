// Blocks transposed in vector registers.
#pragma once

#include "codegen/writer.hpp"
#include "ir/schedule.hpp"
#include "ricci/tensor.hpp"

namespace ricci::codegen {

/// The unsigned integer that holds an element's bits while it is moved between vector lanes; and how many of them.
const char* lane_type(DType type);
int lanes_of(DType type);

/// A function transpose(row) of a block's vectors. Each of the vectors that it leaves (a power of two) holds one column
/// or several, each a piece of it; of a folded block the parts of one column that each of those rows has.
class Transpose {
 public:
  Transpose(DType type, const ir::Block& block);

  /// Behind the type `lanes`, which is one vector.
  void emit(Writer& writer) const;

  /// Which vector holds a column, and which of that vector's pieces it is.
  int vector_of(int column) const noexcept;
  int part_of(int column) const noexcept;

 private:
  DType type_;
  int columns_, rows_, piece_;
  int rounds_;  // binary logarithm of `piece`
  int within_;  // and that of the elements in 16 bytes, which instructions interleave by themselves
};

}  // namespace ricci::codegen
