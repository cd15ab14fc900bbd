#include "peers/blas.hpp"

#include <memory>
#include <vector>

#include "peers/library.hpp"

namespace ricci::tools {
namespace {

using Dgemm = void (*)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*,
                       int);
using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);

template <class T, class Gemm>
std::function<void()> product(Gemm gemm, std::int64_t n) {
  struct Matrices {
    std::vector<T> a, b, c;
  };
  const auto size = static_cast<std::size_t>(n * n);
  const auto m = std::make_shared<Matrices>(
      Matrices{std::vector<T>(size, T(0.5)), std::vector<T>(size, T(0.25)), std::vector<T>(size)});
  constexpr int kRowMajor = 101, kPlain = 111;
  const int order = static_cast<int>(n);
  return [=] {
    gemm(kRowMajor, kPlain, kPlain, order, order, order, T(1), m->a.data(), order, m->b.data(), order, T(0),
         m->c.data(), order);
  };
}

}  // namespace

std::function<void()> open_blas_product(const std::string& file, DType type, std::int64_t n) {
  const SharedLibrary library(file, "BLAS");
  if (type == DType::f32) return product<float>(reinterpret_cast<Sgemm>(library.find({"cblas_sgemm"})), n);
  return product<double>(reinterpret_cast<Dgemm>(library.find({"cblas_dgemm"})), n);
}

}  // namespace ricci::tools
