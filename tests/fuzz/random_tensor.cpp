#include "fuzz/random_tensor.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace ricci::fuzz {
namespace {

template <class T>
T read(const void* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

double half_at(const void* element) {
  const auto bits = read<std::uint16_t>(element);
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(1024 + fraction, exponent - 25);
}

double bfloat_at(const void* element) {
  const auto bits = static_cast<std::uint32_t>(read<std::uint16_t>(element)) << 16;
  return read<float>(&bits);
}

float moderate(Generator& random) {
  const auto value = std::normal_distribution<float>()(random);
  switch (pick(random, 0, 15)) {
    case 0:
      return 0;
    case 1:
      return value * 64;
    case 2:
      return value / 64;
    default:
      return value;
  }
}

}  // namespace

std::int64_t pick(Generator& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

bool chance(Generator& random, double probability) {
  return std::uniform_real_distribution<double>(0, 1)(random) < probability;
}

std::vector<std::int64_t> random_strides(Generator& random, const std::vector<std::int64_t>& extents, bool padded,
                                         bool shuffled) {
  std::vector<std::size_t> order(extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::reverse(order.begin(), order.end());
  if (shuffled) std::shuffle(order.begin(), order.end(), random);
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t stride = padded && chance(random, 0.3) ? pick(random, 2, 3) : 1;
  for (const auto k : order) {
    strides[k] = stride;
    stride *= std::max<std::int64_t>(extents[k], 1);
    if (padded && chance(random, 0.4)) stride += pick(random, 1, 5);
  }
  return strides;
}

Tensor::Tensor(Generator& random, const Layout& layout) : layout_(layout) {
  std::int64_t low = 0, high = 0;
  for (std::size_t k = 0; k < layout.extents.size(); ++k) {
    const auto reach = layout.strides[k] * std::max<std::int64_t>(layout.extents[k] - 1, 0);
    (reach < 0 ? low : high) += reach;
  }
  const auto size = size_of(layout.type);
  const auto granule = std::max<std::int64_t>(layout.alignment, size);
  origin_ = ((-low * size + granule - 1) / granule + pick(random, 0, 3)) * granule;
  const auto bytes = static_cast<std::size_t>(origin_ + (high + 1) * size + 64);
  lines_.resize((bytes + sizeof(Line) - 1) / sizeof(Line));
}

void Tensor::fill(Generator& random) {
  switch (layout_.type) {
    case DType::f16:
    case DType::bf16:
      // Sign and fraction at random, exponents from 2^-6 to 2^3.
      return fill_with([&] {
        const bool bfloat = layout_.type == DType::bf16;
        const auto exponent = static_cast<unsigned>((bfloat ? 127 : 15) + pick(random, -6, 3));
        const auto rest = static_cast<unsigned>(random());
        const unsigned bits = chance(random, 0.05) ? 0
                              : bfloat             ? (rest & 0x807fu) | exponent << 7
                                                   : (rest & 0x83ffu) | exponent << 10;
        return static_cast<std::uint16_t>(bits);
      });
    case DType::f32:
    case DType::c64:
      return fill_with([&] { return moderate(random); });
    case DType::f64:
    case DType::c128:
      return fill_with([&] { return moderate(random) * (1 + 1e-9 * static_cast<double>(pick(random, -99, 99))); });
    default:
      return fill_with([&] { return static_cast<std::uint8_t>(random()); });
  }
}

void Tensor::fill_nan() { std::memset(begin(), 0xff, bytes()); }

bool Tensor::same_around(const Tensor& other) const {
  std::vector<bool> covered(bytes());
  const auto size = size_of(layout_.type);
  std::vector<std::int64_t> place(layout_.extents.size());
  while (layout_.elements() > 0) {
    auto at = origin_;
    for (std::size_t k = 0; k < place.size(); ++k) at += place[k] * layout_.strides[k] * size;
    std::fill_n(covered.begin() + at, size, true);
    std::size_t k = 0;
    while (k < place.size() && ++place[k] == layout_.extents[k]) place[k++] = 0;
    if (k == place.size()) break;
  }
  for (std::size_t b = 0; b < covered.size(); ++b) {
    if (!covered[b] && begin()[b] != other.begin()[b]) return false;
  }
  return true;
}

std::complex<double> float_at(const void* element, DType type) {
  if (is_integer(type)) {
    const auto bits = integer_at(element, type);
    return type <= DType::i64 ? static_cast<double>(static_cast<std::int64_t>(bits)) : static_cast<double>(bits);
  }
  switch (type) {
    case DType::f16:
      return half_at(element);
    case DType::bf16:
      return bfloat_at(element);
    case DType::f32:
      return read<float>(element);
    case DType::f64:
      return read<double>(element);
    case DType::c64:
      return {read<float>(element), read<float>(static_cast<const char*>(element) + 4)};
    default:
      return {read<double>(element), read<double>(static_cast<const char*>(element) + 8)};
  }
}

std::uint64_t integer_at(const void* element, DType type) {
  const auto extended = [](auto value) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)); };
  switch (type) {
    case DType::i8:
      return extended(read<std::int8_t>(element));
    case DType::i16:
      return extended(read<std::int16_t>(element));
    case DType::i32:
      return extended(read<std::int32_t>(element));
    case DType::u8:
      return read<std::uint8_t>(element);
    case DType::u16:
      return read<std::uint16_t>(element);
    case DType::u32:
      return read<std::uint32_t>(element);
    default:
      return read<std::uint64_t>(element);
  }
}

}  // namespace ricci::fuzz
