#include "bench/sample.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <random>

#include "ricci/error.hpp"
#include "ricci/spec.hpp"

namespace ricci::tools {
namespace {

/// Whether an element has a part that is not a number.
bool has_nan(const unsigned char* element, DType type) {
  const auto any = [&](auto zero) {
    for (std::int64_t byte = 0; byte < size_of(type); byte += static_cast<std::int64_t>(sizeof zero)) {
      auto value = zero;
      std::memcpy(&value, element + byte, sizeof value);
      if (std::isnan(value)) return true;
    }
    return false;
  };
  if (type == DType::f32 || type == DType::c64) return any(0.0F);
  if (type == DType::f64 || type == DType::c128) return any(0.0);
  if (type != DType::f16) return false;
  std::uint16_t bits;
  std::memcpy(&bits, element, sizeof bits);
  return (bits & 0x7fff) > 0x7c00;
}

}  // namespace

View view_of(const PermuteCase& c) {
  const auto spec = Spec::parse(c.spec);
  const auto in = Layout::row_major(DType::u8, c.extents);
  View view;
  for (const auto& axis : spec.output) {
    for (std::size_t k = 0; k < spec.operands[0].size(); ++k) {
      if (spec.operands[0][k].name != axis.name) continue;
      view.extents.push_back(c.extents[k]);
      view.from.push_back(in.strides[k]);
      view.order.push_back(static_cast<int>(k));
    }
  }
  view.to = Layout::row_major(DType::u8, view.extents).strides;
  return view;
}

void check_sample(Bench& bench, const PermuteCase& c, DType type) {
  const auto size = size_of(type);
  const auto view = view_of(c);
  std::int64_t elements = 1;
  for (const auto n : view.extents) elements *= n;
  const auto* got = bench.fetch_output(elements * size);
  std::mt19937_64 random(11);
  constexpr int kSamples = 20000;
  for (int s = 0; s < kSamples; ++s) {
    const auto to = s == 0 ? elements - 1 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(elements));
    std::int64_t from = 0, rest = to;
    for (std::size_t k = view.extents.size(); k-- > 0;) {
      from += rest % view.extents[k] * view.from[k];
      rest /= view.extents[k];
    }
    unsigned char want[16];
    for (std::int64_t byte = 0; byte < size; ++byte) {
      want[byte] = bench.pattern()[(from * size + byte) % Bench::pattern_bytes()];
    }
    for (std::int64_t byte = 0; byte < size; ++byte) {
      if (got[to * size + byte] != want[byte]) {
        throw InternalError(fmt::format("case {}: element {} of Ricci's output is wrong; please report it", c.id, to));
      }
    }
  }
}

void check_equal(Bench& bench, const PermuteCase& c, DType type, const std::string& peer,
                 const std::vector<unsigned char>& own) {
  const auto bytes = static_cast<std::int64_t>(own.size());
  const auto* const got = bench.fetch_output(bytes);
  if (std::memcmp(got, own.data(), own.size()) == 0) return;
  const auto size = size_of(type);
  for (std::int64_t at = 0; at < bytes; at += size) {
    const bool same = std::memcmp(got + at, own.data() + at, static_cast<std::size_t>(size)) == 0;
    if (same || (has_nan(own.data() + at, type) && has_nan(got + at, type))) continue;
    throw InternalError(fmt::format("case {}: element {} of {}'s output is not Ricci's", c.id, at / size, peer));
  }
}

}  // namespace ricci::tools
