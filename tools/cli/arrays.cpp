#include "cli/arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/interpret/interpret_value.hpp"
#include "jit/cuda_driver.hpp"
#include "report/text.hpp"
#include "ricci/error.hpp"

namespace ricci::tools {
namespace {

std::string hex_text(const std::byte* element, std::size_t bytes) {
  std::string text = "0x";
  for (std::size_t i = bytes; i-- > 0;) text += fmt::format("{:02x}", static_cast<unsigned>(element[i]));
  return text;
}

std::string element_text(DType type, const std::byte* element) {
  const auto value = ir::oracle::load(element, type);
  const auto hex = hex_text(element, static_cast<std::size_t>(size_of(type)));
  if (is_integer(type)) return hex;
  if (is_complex(type)) return fmt::format("{:.17g}{:+.17g}i ({})", value.re, value.im, hex);
  return fmt::format("{:.17g} ({})", value.re, hex);
}

/// NaN where only one of them is NaN.
double distance(DType type, const std::byte* a, const std::byte* b) {
  const auto x = ir::oracle::load(a, type), y = ir::oracle::load(b, type);
  const auto part = [](double p, double q) {
    if (std::isnan(p) && std::isnan(q)) return 0.0;
    return p == q ? 0.0 : std::abs(p - q);
  };
  return std::hypot(part(x.re, y.re), part(x.im, y.im));
}

}  // namespace

bool is_column_major(const Layout& layout) {
  return layout.strides != Layout::row_major(layout.type, layout.extents).strides;
}

std::string tensor_text(const std::string& path, const Layout& layout) {
  return fmt::format("{}  {} {} in {} order, {}", path, name(layout.type), shape_text(layout.extents),
                     is_column_major(layout) ? "F" : "C",
                     bytes_text(static_cast<double>(layout.elements() * size_of(layout.type))));
}

Json tensor_json(const std::string& path, const std::string& descr, const Layout& layout) {
  return {{"path", path},
          {"dtype", name(layout.type)},
          {"descr", descr},
          {"shape", layout.extents},
          {"order", is_column_major(layout) ? "F" : "C"},
          {"bytes", layout.elements() * size_of(layout.type)}};
}

Comparison compare(const Layout& layout, const std::byte* got, const std::byte* expected, const Bound& bound) {
  Comparison comparison;
  const auto bytes = static_cast<std::size_t>(size_of(layout.type));
  const auto elements = static_cast<std::size_t>(layout.elements());
  std::size_t count = 0, first = 0;
  for (std::size_t k = 0; k < elements; ++k) {
    const auto *a = got + k * bytes, *b = expected + k * bytes;
    if (std::memcmp(a, b, bytes) == 0) continue;
    const double allowed = bound(k);
    if (!is_integer(layout.type)) {
      const auto value = ir::oracle::load(b, layout.type);
      const double off = distance(layout.type, a, b), size = std::hypot(value.re, value.im);
      if (off > 0 && size > 0) comparison.largest = std::max(comparison.largest, off / size);
      if (allowed > 0 && off <= allowed) continue;
    }
    if (count++ == 0) first = k;
  }
  if (count == 0) return comparison;
  std::vector<std::int64_t> index(layout.extents.size());
  auto rest = static_cast<std::int64_t>(first);
  for (std::size_t k = 0; k < index.size(); ++k) {  // slowest axis first
    const std::size_t axis = is_column_major(layout) ? index.size() - 1 - k : k;
    index[axis] = rest / layout.strides[axis];
    rest %= layout.strides[axis];
  }
  comparison.difference =
      fmt::format("{} of {} elements differ from the interpreter's; the first is {}: {} instead of {}", count, elements,
                  shape_text(index), element_text(layout.type, got + first * bytes),
                  element_text(layout.type, expected + first * bytes));
  return comparison;
}

std::string verified_text(double largest) {
  if (largest == 0) return "equal to the interpreter's result, bit for bit";
  return fmt::format("equal to the interpreter's result within rounding; the largest relative difference is {:.1e}",
                     largest);
}

void moduli(const Layout& layout, const std::byte* from, double* to) {
  const auto bytes = static_cast<std::size_t>(size_of(layout.type));
  const bool is_signed = layout.type <= DType::i64;
  for (std::size_t k = 0; k < static_cast<std::size_t>(layout.elements()); ++k) {
    const auto value = ir::oracle::load(from + k * bytes, layout.type);
    if (is_integer(layout.type)) {
      to[k] = is_signed ? std::fabs(static_cast<double>(static_cast<std::int64_t>(value.integer)))
                        : static_cast<double>(value.integer);
    } else {
      to[k] = std::hypot(value.re, value.im);
    }
  }
}

void check_device(const std::string& device) {
  if (device == "gpu" && !jit::cuda::available()) {
    throw DeviceError(
        fmt::format("no GPU: {}\nuse --device cpu; `ricci show SPEC ... --target sm_90` makes and shows a "
                    "GPU kernel without one",
                    jit::cuda::unavailable_reason()));
  }
}

}  // namespace ricci::tools
