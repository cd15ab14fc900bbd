// Operands of warp groups in shared memory, as their descriptors say it: the PTX ISA's "matrix descriptor" and
// "canonical layouts" with a swizzle.
#pragma once

#include <cstdint>
#include <string>

namespace ricci::simt {

struct GroupMatrix {
  std::uint64_t start = 0;  ///< all addresses in bytes from the anchor of shared memory
  std::uint64_t leading = 0, stride = 0;
  std::uint64_t row = 128;  ///< bytes of a row, which are swizzled by the number of the row's 128 bytes
  unsigned size = 2;        ///< bytes of an element
  bool transposed = false;  ///< rows run along the operand's own side

  /// Of elements of so many bits; what is wrong with a descriptor is said in `error`.
  static GroupMatrix of(std::uint64_t descriptor, bool transposed, int bits, std::string& error);
  /// Where element (p, k) lies.
  std::uint64_t at(unsigned p, unsigned k) const;
};

}  // namespace ricci::simt
