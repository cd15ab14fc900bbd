// Arrays of other libraries: views with mdspan's members and DLPack's struct, written here as those define them.
#include "ricci/tensor_ref.hpp"

#include <array>
#include <numeric>

#include "catch.hpp"

namespace tensor_ref_test {

namespace {

using namespace ricci;

/// As std::mdspan with layout_stride, which C++20 does not have.
template <class T, std::size_t Rank>
struct View {
  static constexpr std::size_t rank() { return Rank; }
  std::size_t extent(std::size_t k) const { return extents[k]; }
  std::ptrdiff_t stride(std::size_t k) const { return strides[k]; }
  T* data_handle() const { return data; }
  T* data;
  std::array<std::size_t, Rank> extents;
  std::array<std::ptrdiff_t, Rank> strides;
};

/// As dlpack.h has it.
struct DLDevice {
  int device_type = 1;
  std::int32_t device_id = 0;
};
struct DLDataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

}  // namespace

TEST_CASE("views are read and written as they lie") {
  static_assert(dtype_of<const std::int16_t>() == DType::i16 && dtype_of<std::uint64_t>() == DType::u64);
  static_assert(dtype_of<long long>() == DType::i64 && dtype_of<std::complex<float>>() == DType::c64);
  std::array<double, 6> a;
  std::iota(a.begin(), a.end(), 1.0);
  const View<const double, 2> x{a.data(), {2, 3}, {3, 1}}, backwards{a.data() + 5, {2, 3}, {-3, -1}};
  static_assert(std::same_as<decltype(tensor_ref(x)), ConstTensorRef>);
  std::array<double, 6> b{};
  const View<double, 2> y{b.data(), {3, 2}, {2, 1}};
  static_assert(std::same_as<decltype(tensor_ref(y)), TensorRef>);
  permute("ij->ji", tensor_ref(y), tensor_ref(x));
  CHECK(b == std::array{1.0, 4.0, 2.0, 5.0, 3.0, 6.0});
  permute("ij->ji", tensor_ref(y), tensor_ref(backwards));
  CHECK(b == std::array{6.0, 3.0, 5.0, 2.0, 4.0, 1.0});
  double sum = 0;
  const View<double, 0> scalar{&sum, {}, {}};
  einsum("ij,ji->", tensor_ref(scalar), {tensor_ref(x), tensor_ref(y)});
  CHECK(sum == 1 * 6 + 2 * 5 + 3 * 4 + 4 * 3 + 5 * 2 + 6 * 1);
}

TEST_CASE("DLPack tensors: types, offsets, strides, devices") {
  std::array<float, 8> a;
  std::iota(a.begin(), a.end(), 0.0F);
  std::int64_t shape[] = {2, 3}, turned[] = {3, 2}, strides[] = {1, 3};
  DLTensor x{a.data(), {}, 2, {2, 32, 1}, shape, nullptr, 8};
  std::array<float, 6> b{};
  DLTensor y{b.data(), {}, 2, {2, 32, 1}, turned, strides, 0};
  permute("ij->ji", tensor_ref(y), tensor_ref(x));
  CHECK(b == std::array{2.F, 3.F, 4.F, 5.F, 6.F, 7.F});  // the transpose in column-major order is the input

  const struct {
    std::uint8_t code, bits;
    DType type;
  } types[] = {{0, 8, DType::i8},    {0, 64, DType::i64}, {1, 16, DType::u16},  {2, 16, DType::f16},
               {4, 16, DType::bf16}, {5, 64, DType::c64}, {5, 128, DType::c128}};
  for (const auto& one : types) {
    x.dtype = {one.code, one.bits, 1};
    CHECK(tensor_ref(x).layout.type == one.type);
  }
  for (const auto& type : {DLDataType{6, 8, 1}, DLDataType{2, 8, 1}, DLDataType{2, 32, 4}, DLDataType{5, 32, 1}}) {
    x.dtype = type;
    CHECK_THROWS_AS(tensor_ref(x), ShapeError);
  }
  x.dtype = {2, 32, 1};
  x.device = {2, 1};
  CHECK(tensor_ref(x).device == Device::gpu);
  CHECK(tensor_ref(x).gpu == 1);
  const auto before = b;
  CHECK_THROWS_AS(permute("ij->ji", tensor_ref(y), tensor_ref(x)), DeviceError);
  CHECK_THROWS_AS(einsum("ij->ji", tensor_ref(y), {tensor_ref(x)}), DeviceError);
  CHECK(b == before);
  x.device = {10, 0};  // ROCm
  CHECK_THROWS_AS(tensor_ref(x), DeviceError);
}

}  // namespace tensor_ref_test
