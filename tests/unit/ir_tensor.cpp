// Element types and layouts.
#include "ricci/tensor.hpp"

#include <complex>

#include "catch.hpp"
#include "ricci/error.hpp"

namespace ir_tensor_test {

using namespace ricci;
using Extents = std::vector<std::int64_t>;

TEST_CASE("each type has a size, a name and a NumPy name") {
  struct Row {
    DType type;
    std::int64_t bytes;
    const char *name, *numpy;
    bool integer, complex;
  };
  const Row rows[] = {
      {DType::i8, 1, "i8", "int8", true, false},        {DType::i16, 2, "i16", "int16", true, false},
      {DType::i32, 4, "i32", "int32", true, false},     {DType::i64, 8, "i64", "int64", true, false},
      {DType::u8, 1, "u8", "uint8", true, false},       {DType::u16, 2, "u16", "uint16", true, false},
      {DType::u32, 4, "u32", "uint32", true, false},    {DType::u64, 8, "u64", "uint64", true, false},
      {DType::f16, 2, "f16", "float16", false, false},  {DType::bf16, 2, "bf16", "bfloat16", false, false},
      {DType::f32, 4, "f32", "float32", false, false},  {DType::f64, 8, "f64", "float64", false, false},
      {DType::c64, 8, "c64", "complex64", false, true}, {DType::c128, 16, "c128", "complex128", false, true},
  };
  CHECK(std::size(rows) == kDTypeCount);
  for (const auto& row : rows) {
    INFO(row.name);
    CHECK(size_of(row.type) == row.bytes);
    CHECK(std::string(name(row.type)) == row.name);
    CHECK(parse_dtype(row.name) == row.type);
    CHECK(parse_dtype(row.numpy) == row.type);
    CHECK(is_integer(row.type) == row.integer);
    CHECK(is_complex(row.type) == row.complex);
  }
}

TEST_CASE("row-major: the last axis is contiguous") {
  const auto layout = Layout::row_major(DType::f32, {2, 3, 4});
  CHECK(layout.type == DType::f32);
  CHECK(layout.extents == Extents{2, 3, 4});
  CHECK(layout.strides == Extents{12, 4, 1});
  CHECK(layout.alignment == 16);
  CHECK(layout.rank() == 3);
  CHECK(layout.elements() == 24);
}

TEST_CASE("column-major: the first axis is contiguous") {
  const auto layout = Layout::column_major(DType::f32, {2, 3, 4});
  CHECK(layout.strides == Extents{1, 2, 6});
}

TEST_CASE("unit and empty axes") {
  CHECK(Layout::row_major(DType::f64, {}).elements() == 1);
  CHECK(Layout::row_major(DType::f64, {5, 1, 7}).strides == Extents{7, 7, 1});
  const auto empty = Layout::row_major(DType::f64, {5, 0, 7});
  CHECK(empty.elements() == 0);
  CHECK(empty.strides == Extents{7, 7, 1});
  CHECK(Layout::column_major(DType::f64, {5, 0, 7}).strides == Extents{1, 5, 5});
}

TEST_CASE("strides may be anything") {
  const auto layout = Layout::strided(DType::i8, {4, 4}, {-4, 0});
  CHECK(layout.strides == Extents{-4, 0});
}

TEST_CASE("more elements than can be counted are refused") {
  const std::int64_t big = std::int64_t{1} << 32;
  CHECK_THROWS_AS(Layout::row_major(DType::i8, {big, big}), ShapeError);
  CHECK_THROWS_AS(Layout::column_major(DType::i8, {big, big, 2}), ShapeError);
  CHECK(Layout::row_major(DType::i8, {big, big / 4}).strides[0] == big / 4);
}

}  // namespace ir_tensor_test
