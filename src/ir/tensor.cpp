#include "ricci/tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>
#include <vector>

#include "ricci/error.hpp"

namespace ricci {
inline namespace v1 {
namespace {

struct TypeRow {
  const char* name;
  const char* numpy;
  std::int64_t bytes;
};

constexpr std::array<TypeRow, kDTypeCount> kTypes = {{
    {"i8", "int8", 1},
    {"i16", "int16", 2},
    {"i32", "int32", 4},
    {"i64", "int64", 8},
    {"u8", "uint8", 1},
    {"u16", "uint16", 2},
    {"u32", "uint32", 4},
    {"u64", "uint64", 8},
    {"f16", "float16", 2},
    {"bf16", "bfloat16", 2},
    {"f32", "float32", 4},
    {"f64", "float64", 8},
    {"c64", "complex64", 8},
    {"c128", "complex128", 16},
}};

const TypeRow& row(DType type) { return kTypes[static_cast<std::size_t>(type)]; }

}  // namespace

std::int64_t size_of(DType type) noexcept { return row(type).bytes; }
const char* name(DType type) noexcept { return row(type).name; }
bool is_integer(DType type) noexcept { return type <= DType::u64; }
bool is_complex(DType type) noexcept { return type == DType::c64 || type == DType::c128; }

namespace {
constexpr const char* kPrecisions[] = {"operands", "tf32", "tf32x3", "f32", "f64", "bf16", "f16", "i32"};
}  // namespace

const char* name(Precision precision) noexcept { return kPrecisions[static_cast<int>(precision)]; }

Precision parse_precision(std::string_view text) {
  for (int i = 0; i < static_cast<int>(std::size(kPrecisions)); ++i) {
    if (text == kPrecisions[i]) return static_cast<Precision>(i);
  }
  throw PlanError(fmt::format("no precision \"{}\"; there are {}", text, fmt::join(kPrecisions, ", ")));
}

double product_error(Precision precision) noexcept {
  switch (precision) {
    case Precision::tf32:
    case Precision::f16:
      return 0x1p-10;
    case Precision::tf32x3:
      return 0x1p-20;
    case Precision::bf16:
      return 0x1p-7;
    default:
      return 0;
  }
}

DType parse_dtype(std::string_view text) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto type = static_cast<DType>(i);
    if (text == row(type).name || text == row(type).numpy) return type;
  }
  static constexpr std::pair<std::string_view, DType> kOthers[] = {
      {"half", DType::f16}, {"single", DType::f32}, {"float", DType::f32}, {"double", DType::f64}};
  for (const auto& [other, type] : kOthers) {
    if (text == other) return type;
  }
  std::vector<std::string_view> names;
  for (const auto& type : kTypes) names.emplace_back(type.name);
  throw ShapeError(fmt::format("no element type \"{}\"; there are {}", text, fmt::join(names, ", ")));
}

std::int64_t Layout::elements() const noexcept {
  std::int64_t product = 1;
  for (const auto extent : extents) product *= extent;
  return product;
}

Layout Layout::strided(DType type, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides) {
  if (extents.size() != strides.size()) {
    throw ShapeError(fmt::format("{} extents but {} strides; give one stride, in elements, per axis", extents.size(),
                                 strides.size()));
  }
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] < 0)
      throw ShapeError(fmt::format("axis {} has extent {}; extents start at 0", axis, extents[axis]));
  }
  Layout layout;
  layout.type = type;
  layout.extents = std::move(extents);
  layout.strides = std::move(strides);
  return layout;
}

Layout Layout::row_major(DType type, std::vector<std::int64_t> extents) {
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t stride = 1;
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    strides[axis] = stride;
    if (extents[axis] > 0 && __builtin_mul_overflow(stride, extents[axis], &stride)) {
      throw ShapeError(fmt::format("extents ({}) have more than 2^63 elements", fmt::join(extents, ", ")));
    }
  }
  return strided(type, std::move(extents), std::move(strides));
}

Layout Layout::column_major(DType type, std::vector<std::int64_t> extents) {
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t stride = 1;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    strides[axis] = stride;
    if (extents[axis] > 0 && __builtin_mul_overflow(stride, extents[axis], &stride)) {
      throw ShapeError(fmt::format("extents ({}) have more than 2^63 elements", fmt::join(extents, ", ")));
    }
  }
  return strided(type, std::move(extents), std::move(strides));
}

}  // namespace v1
}  // namespace ricci
