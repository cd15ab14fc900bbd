// Random layouts and tensors, and their elements as numbers.
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "ricci/tensor.hpp"

namespace ricci::fuzz {

using Generator = std::mt19937_64;

std::int64_t pick(Generator& random, std::int64_t low, std::int64_t high);  ///< low to high, both included
bool chance(Generator& random, double probability);

/// Dense in a random or the given axis order, then perhaps padded; every element has its own place.
std::vector<std::int64_t> random_strides(Generator& random, const std::vector<std::int64_t>& extents, bool padded,
                                         bool shuffled);

/// Memory of a tensor, aligned to 256 bytes, copies too. Larger than what the layout reaches, so that stray writes
/// show.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Generator& random, const Layout& layout);

  const Layout& layout() const { return layout_; }
  unsigned char* begin() { return lines_.data()->at; }
  const unsigned char* begin() const { return lines_.data()->at; }
  std::size_t bytes() const { return lines_.size() * sizeof(Line); }
  std::int64_t origin() const { return origin_; }  ///< bytes from begin() to element (0, 0, ...)
  void* element_0() { return begin() + origin_; }

  /// Numbers of moderate size, some of them 0; integers of any bits. What is between the elements too.
  void fill(Generator& random);
  void fill_nan();  ///< all bits set
  /// What `make` gives, one after the other, from begin() on.
  template <class Make>
  void fill_with(Make make) {
    using T = decltype(make());
    for (std::size_t k = 0; k + sizeof(T) <= bytes(); k += sizeof(T)) {
      const T value = make();
      std::memcpy(begin() + k, &value, sizeof value);
    }
  }

  /// All bits, those around the elements too.
  friend bool operator==(const Tensor& a, const Tensor& b) {
    return a.bytes() == b.bytes() && std::memcmp(a.begin(), b.begin(), a.bytes()) == 0;
  }

  /// Whether all memory that no element covers is as in `other`, a tensor of the same layout.
  bool same_around(const Tensor& other) const;

 private:
  struct alignas(256) Line {
    unsigned char at[256];
  };
  Layout layout_;
  std::vector<Line> lines_;
  std::int64_t origin_ = 0;
};

/// A float of any type, exactly. Real types have no imaginary part.
std::complex<double> float_at(const void* element, DType type);
/// An integer of any type, sign- or zero-extended.
std::uint64_t integer_at(const void* element, DType type);

}  // namespace ricci::fuzz
