#include "bench/operands.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace ricci::tools {
namespace {

constexpr std::int64_t kPeriod = 1024;  ///< of the numbers of types wider than a half
constexpr std::int64_t kSmall = 7;      ///< values of integers of 8 to 32 bits are below

/// One real number: of halves a 64th, which both have, and of wider types a 1024th.
double part_at(DType type, std::int64_t k) {
  if (size_of(type) > 2) return 0.5 + static_cast<double>((k * 7919 + 13) % kPeriod) / kPeriod;
  const auto mixed = static_cast<std::uint64_t>(k) * 0x9e3779b97f4a7c15u;  // the golden ratio: no period along an axis
  return 0.5 + static_cast<double>(mixed >> 58) / 64;
}

/// Of a number that the type has, in its normal range.
std::uint16_t half_bits(DType type, double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == DType::bf16) return static_cast<std::uint16_t>(bits >> 16);
  return static_cast<std::uint16_t>((bits >> 13) - ((127u - 15u) << 10));
}

double of_half(DType type, std::uint16_t bits) {
  if (type == DType::bf16) return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 31  ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                           : exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

template <class T>
void put(std::vector<unsigned char>& bytes, std::int64_t k, T value) {
  std::memcpy(bytes.data() + k * static_cast<std::int64_t>(sizeof value), &value, sizeof value);
}

/// One period of numbers, then copies of what stands: gigabytes at the memory's speed.
template <class T>
void fill_periodic(std::vector<unsigned char>& bytes, DType type, std::int64_t parts) {
  const auto first = std::min(parts, kPeriod);
  for (std::int64_t k = 0; k < first; ++k) put(bytes, k, static_cast<T>(part_at(type, k)));
  for (auto filled = static_cast<std::size_t>(first) * sizeof(T); filled < bytes.size();) {
    const auto more = std::min(filled, bytes.size() - filled);
    std::memcpy(bytes.data() + filled, bytes.data(), more);
    filled += more;
  }
}

template <class T>
T get(const unsigned char* bytes, int k = 0) {
  T value;
  std::memcpy(&value, bytes + static_cast<std::size_t>(k) * sizeof value, sizeof value);
  return value;
}

}  // namespace

std::complex<double> value_at(DType type, std::int64_t k) {
  if (is_integer(type)) return static_cast<double>(k % kSmall);
  if (is_complex(type)) return {part_at(type, 2 * k), part_at(type, 2 * k + 1)};
  return part_at(type, k);
}

std::vector<unsigned char> contents(DType type, std::int64_t elements) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(elements * size_of(type)));
  const auto parts = elements * (is_complex(type) ? 2 : 1);
  switch (type) {
    case DType::f16:
    case DType::bf16:
      for (std::int64_t k = 0; k < parts; ++k) put(bytes, k, half_bits(type, part_at(type, k)));
      break;
    case DType::f32:
    case DType::c64:
      fill_periodic<float>(bytes, type, parts);
      break;
    case DType::f64:
    case DType::c128:
      fill_periodic<double>(bytes, type, parts);
      break;
    case DType::i64:
    case DType::u64: {
      std::mt19937_64 random(3);
      for (std::int64_t k = 0; k < elements; ++k) put(bytes, k, random());
      break;
    }
    default:
      for (std::int64_t k = 0; k < elements; ++k) {
        bytes[static_cast<std::size_t>(k * size_of(type))] = static_cast<unsigned char>(k % kSmall);
      }
  }
  return bytes;
}

std::complex<double> element(DType type, const unsigned char* bytes) {
  switch (type) {
    case DType::f16:
    case DType::bf16:
      return of_half(type, get<std::uint16_t>(bytes));
    case DType::f32:
      return get<float>(bytes);
    case DType::i32:
      return get<std::int32_t>(bytes);
    case DType::c64:
      return {get<float>(bytes), get<float>(bytes, 1)};
    case DType::c128:
      return {get<double>(bytes), get<double>(bytes, 1)};
    default:
      return get<double>(bytes);
  }
}

}  // namespace ricci::tools
