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
  bool transposed = false;  ///< rows run along the operand's own side

  /// What is wrong with a descriptor is said in `error`.
  static GroupMatrix of(std::uint64_t descriptor, bool transposed, std::string& error);
  /// Where element (p, k) of 16 bits lies.
  std::uint64_t at(unsigned p, unsigned k) const;
};

}  // namespace ricci::simt
