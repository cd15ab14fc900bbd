#include <fmt/format.h>

#include <memory>

#include "peers/blas.hpp"
#include "peers/library.hpp"
#include "ricci/error.hpp"

namespace ricci::tools {
namespace {

/// One in the type of the sums, whose real part comes first; and zero behind it.
union Factor {
  float single[2];
  double twice[2];
};

/// The numbers of cublas_api.h and library_types.h.
struct Type {
  DType type;
  int data, compute;
  Factor one;
};
constexpr int kSums32 = 68, kSums64 = 70, kTf32 = 77, kDefault = -1, kPlain = 0;
constexpr Type kTypes[] = {
    {DType::f16, 2, kSums32, {.single = {1, 0}}}, {DType::bf16, 14, kSums32, {.single = {1, 0}}},
    {DType::f32, 0, kSums32, {.single = {1, 0}}}, {DType::f64, 1, kSums64, {.twice = {1, 0}}},
    {DType::c64, 4, kSums32, {.single = {1, 0}}}, {DType::c128, 5, kSums64, {.twice = {1, 0}}},
};

using Create = int (*)(void**);
using GemmEx = int (*)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                       const void*, void*, int, int, int, int);

}  // namespace

std::function<void()> open_cublas_product(const std::string& file, DType type, Precision precision, std::int64_t n,
                                          const void* a, const void* b, void* c) {
  for (const auto& known : kTypes) {
    if (known.type != type) continue;
    const SharedLibrary library(file, "cuBLAS");
    const auto gemm = reinterpret_cast<GemmEx>(library.find({"cublasGemmEx"}));
    const auto check = [](int status, const char* function) {
      if (status != 0) throw DeviceError(fmt::format("{}: status {}", function, status));
    };
    void* handle = nullptr;  // kept until the process ends, as the library is
    check(reinterpret_cast<Create>(library.find({"cublasCreate_v2"}))(&handle), "cublasCreate");
    const int order = static_cast<int>(n);
    const int compute = type == DType::f32 && precision == Precision::tf32 ? kTf32 : known.compute;
    return [=, one = known.one] {
      // Its matrices are column-major: the product of the transposed ones, in the other order.
      const Factor zero{.twice = {0, 0}};
      check(gemm(handle, kPlain, kPlain, order, order, order, &one, b, known.data, order, a, known.data, order, &zero,
                 c, known.data, order, compute, kDefault),
            "cublasGemmEx");
    };
  }
  throw ShapeError(fmt::format("cuBLAS has no matrix product of {}", name(type)));
}

}  // namespace ricci::tools
