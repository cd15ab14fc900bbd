#include "peers/blas.hpp"

#include <fmt/format.h>

#include <complex>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "peers/contraction.hpp"
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
Factor<T> factor(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value;
  } else {
    return &value;
  }
}

constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;

template <class T>
std::function<void()> product(void* function, std::int64_t n) {
  struct Squares {
    T one, zero;
    std::vector<T> a, b, c;
  };
  const auto size = static_cast<std::size_t>(n * n);
  const auto m = std::make_shared<Squares>(
      Squares{T(1), T(0), std::vector<T>(size, T(0.5)), std::vector<T>(size, T(0.25)), std::vector<T>(size)});
  const int order = static_cast<int>(n);
  return [=, gemm = reinterpret_cast<Gemm<T>>(function)] {
    gemm(kRowMajor, kPlain, kPlain, order, order, order, factor(m->one), m->a.data(), order, m->b.data(), order,
         factor(m->zero), m->c.data(), order);
  };
}

/// A contraction as one matrix product: the rows and columns of its result and their depth, where no tensor has the
/// axes of one between those of another, or in another order than the other tensor; the operands in the order of the
/// result.
struct Matrices {
  bool swapped = false;  ///< the result's rows are of the second operand
  bool first_transposed = false, second_transposed = false;
  int rows = 1, columns = 1, depth = 1;
};

std::optional<Matrices> matrices_of(const PeerContraction& problem) {
  const auto of_both = [](const std::string& axes, const std::string& other) {
    std::string kept;
    for (const char axis : axes) {
      if (other.find(axis) != std::string::npos) kept += axis;
    }
    return kept;
  };
  const auto extent = [&](const PeerContraction::Tensor& tensor, const std::string& axes) {
    int all = 1;
    for (std::size_t k = 0; k < tensor.axes.size(); ++k) {
      if (axes.find(tensor.axes[k]) != std::string::npos) all *= static_cast<int>(tensor.extents[k]);
    }
    return all;
  };
  for (const bool swapped : {false, true}) {
    const auto& first = swapped ? problem.second : problem.first;
    const auto& second = swapped ? problem.first : problem.second;
    const auto rows = of_both(problem.result.axes, first.axes), columns = of_both(problem.result.axes, second.axes),
               depth = of_both(first.axes, second.axes);
    if (problem.result.axes != rows + columns) continue;  // with an index of both: no single product
    const bool plain[] = {first.axes == rows + depth, second.axes == depth + columns};
    if (!(plain[0] || first.axes == depth + rows) || !(plain[1] || second.axes == columns + depth)) continue;
    return Matrices{swapped, !plain[0], !plain[1], extent(first, rows), extent(second, columns), extent(first, depth)};
  }
  return std::nullopt;
}

class OpenBlas : public ContractionLibrary {
 public:
  explicit OpenBlas(const std::string& file) : library_(file, "OpenBLAS") {
    set_threads_ = reinterpret_cast<void (*)(int)>(library_.find({"openblas_set_num_threads"}));
  }

  std::vector<PeerRun> prepare(const PeerContraction& problem, void* result, const void* first,
                               const void* second) override {
    const auto matrices = matrices_of(problem);
    if (!matrices || problem.adds) return {};
    set_threads_(problem.threads);
    const void* a = matrices->swapped ? second : first;
    const void* b = matrices->swapped ? first : second;
    switch (problem.type) {
      case DType::f32:
        return run<float>("cblas_sgemm", *matrices, a, b, result);
      case DType::f64:
        return run<double>("cblas_dgemm", *matrices, a, b, result);
      case DType::c64:
        return run<std::complex<float>>("cblas_cgemm", *matrices, a, b, result);
      case DType::c128:
        return run<std::complex<double>>("cblas_zgemm", *matrices, a, b, result);
      default:
        return {};
    }
  }

 private:
  template <class T>
  std::vector<PeerRun> run(const char* name, const Matrices& m, const void* a, const void* b, void* c) {
    return {{"openblas",
             [=, gemm = reinterpret_cast<Gemm<T>>(library_.find({name}))] {
               const T one(1), zero(0);
               gemm(kRowMajor, m.first_transposed ? kTransposed : kPlain, m.second_transposed ? kTransposed : kPlain,
                    m.rows, m.columns, m.depth, factor(one), a, m.first_transposed ? m.rows : m.depth, b,
                    m.second_transposed ? m.depth : m.columns, factor(zero), c, m.columns);
             },
             {}}};
  }

  SharedLibrary library_;
  void (*set_threads_)(int);
};

}  // namespace

std::unique_ptr<ContractionLibrary> open_openblas(const std::string& file) { return std::make_unique<OpenBlas>(file); }

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
