// Blocks transposed in vector registers.
#pragma once

#include "codegen/writer.hpp"
#include "ricci/tensor.hpp"

namespace ricci::codegen {

/// The unsigned integer that holds an element's bits while it is moved between vector lanes; and how many of them.
const char* lane_type(DType type);
int lanes_of(DType type);

/// A function transpose(row) of `rows` vectors of `columns` elements. Each of the `piece` vectors that it leaves (a
/// power of two, `rows` or more) holds columns / piece columns, in pieces of `piece` elements of which `rows` count.
class Transpose {
 public:
  Transpose(DType type, int columns, int rows, int piece);

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
