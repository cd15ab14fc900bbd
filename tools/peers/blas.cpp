#include "peers/blas.hpp"

#include <fmt/format.h>

#include <complex>
#include <memory>
#include <type_traits>
#include <vector>

#include "peers/library.hpp"
#include "ricci/error.hpp"

namespace ricci::tools {
namespace {

/// alpha and beta: numbers by value, complex ones by address.
template <class T>
using Factor = std::conditional_t<std::is_floating_point_v<T>, T, const void*>;
template <class T>
using Gemm = void (*)(int, int, int, int, int, int, Factor<T>, const void*, int, const void*, int, Factor<T>, void*,
                      int);

template <class T>
std::function<void()> product(void* function, std::int64_t n) {
  struct Matrices {
    T one, zero;
    std::vector<T> a, b, c;
  };
  const auto size = static_cast<std::size_t>(n * n);
  const auto m = std::make_shared<Matrices>(
      Matrices{T(1), T(0), std::vector<T>(size, T(0.5)), std::vector<T>(size, T(0.25)), std::vector<T>(size)});
  constexpr int kRowMajor = 101, kPlain = 111;
  const int order = static_cast<int>(n);
  const auto factor = [](const T& value) -> Factor<T> {
    if constexpr (std::is_floating_point_v<T>) {
      return value;
    } else {
      return &value;
    }
  };
  return [=, gemm = reinterpret_cast<Gemm<T>>(function)] {
    gemm(kRowMajor, kPlain, kPlain, order, order, order, factor(m->one), m->a.data(), order, m->b.data(), order,
         factor(m->zero), m->c.data(), order);
  };
}

}  // namespace

std::function<void()> open_blas_product(const std::string& file, DType type, std::int64_t n) {
  const SharedLibrary library(file, "BLAS");
  switch (type) {
    case DType::f32:
      return product<float>(library.find({"cblas_sgemm"}), n);
    case DType::f64:
      return product<double>(library.find({"cblas_dgemm"}), n);
    case DType::c64:
      return product<std::complex<float>>(library.find({"cblas_cgemm"}), n);
    case DType::c128:
      return product<std::complex<double>>(library.find({"cblas_zgemm"}), n);
    default:
      throw ShapeError(fmt::format("a BLAS library has no matrix product of {}", name(type)));
  }
}

}  // namespace ricci::tools
