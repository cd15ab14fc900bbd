// A library in the place of a BLAS: the functions of the C interface, plainly written, which count their calls.
// Each sum is in the order of the depth; rows of B are gathered first, as tests spend most of their time here.
//
//   FAKE_BLAS_BATCH   it has cblas_dgemm_batch_strided as well
//   FAKE_BLAS_WIDE    integers of 64 bits, under names that end in 64_
//   FAKE_BLAS_PART    it lacks what multiplies complex numbers
#include <algorithm>
#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

#ifdef FAKE_BLAS_WIDE
using Int = std::int64_t;
#define NAME(word) word##64_
#else
using Int = int;
#define NAME(word) word
#endif

constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112, kConjugated = 113;

std::atomic<int> products{0}, calls{0}, most_threads{0}, fewest_threads{1000}, threads{7};
std::atomic<bool> broken{false};

double conjugate(double x) { return x; }
float conjugate(float x) { return x; }
template <class T>
std::complex<T> conjugate(std::complex<T> x) {
  return std::conj(x);
}

/// sums += x * row
template <class T>
void add(T x, const T* row, Int n, T* sums) {
  for (Int j = 0; j < n; ++j) sums[j] += x * row[j];
}
template <class T>
void add(std::complex<T> x, const std::complex<T>* row, Int n, std::complex<T>* sums) {
  for (Int j = 0; j < n; ++j) {
    const auto y = row[j];
    sums[j] += std::complex<T>(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
  }
}

template <class T>
void multiply(int layout, int op_a, int op_b, Int m, Int n, Int k, T alpha, const T* a, Int lda, const T* b, Int ldb,
              T beta, T* c, Int ldc) {
  const bool known = [&] {
    for (const int op : {op_a, op_b}) {
      if (op != kPlain && op != kTransposed && op != kConjugated) return false;
    }
    return layout == kRowMajor && m >= 0 && n >= 0 && k >= 0 && lda >= (op_a == kPlain ? k : m) && lda > 0 &&
           ldb >= (op_b == kPlain ? n : k) && ldb > 0 && ldc >= n && ldc > 0;
  }();
  if (!known) broken = true;  // what CBLAS prints and ignores
  if (!known) return;
  ++products;
  const auto element = [](const T* x, int op, Int ld, Int row, Int column) {
    if (op == kPlain) return x[row * ld + column];
    const T value = x[column * ld + row];
    return op == kConjugated ? conjugate(value) : value;
  };
  const auto columns = static_cast<std::size_t>(n);
  std::vector<T> rows(static_cast<std::size_t>(k) * columns), sums(columns);  // op(B), one of its rows after the other
  for (Int l = 0; l < k; ++l) {
    for (Int j = 0; j < n; ++j) rows[static_cast<std::size_t>(l) * columns + j] = element(b, op_b, ldb, l, j);
  }
  for (Int i = 0; i < m; ++i) {
    std::fill(sums.begin(), sums.end(), T(0));
    for (Int l = 0; l < k; ++l)
      add(element(a, op_a, lda, i, l), rows.data() + static_cast<std::size_t>(l) * columns, n, sums.data());
    for (Int j = 0; j < n; ++j) {
      T& to = c[i * ldc + j];
      to = alpha * sums[static_cast<std::size_t>(j)] + (beta == T(0) ? T(0) : beta * to);
    }
  }
}

void note() {
  ++calls;
  const int now = threads;
  for (int most = most_threads; now > most && !most_threads.compare_exchange_weak(most, now);) {
  }
  for (int fewest = fewest_threads; now < fewest && !fewest_threads.compare_exchange_weak(fewest, now);) {
  }
}

template <class T>
T value(const void* at) {
  return *static_cast<const T*>(at);
}

}  // namespace

extern "C" {

void fake_blas_take(int* products_made, int* calls_made, int* fewest, int* most, int* now, int* wrong) {
  *products_made = products.exchange(0);
  *calls_made = calls.exchange(0);
  *fewest = fewest_threads.exchange(1000);
  *most = most_threads.exchange(0);
  *now = threads;
  *wrong = broken ? 1 : 0;
}

void NAME(openblas_set_num_threads)(int n) { threads = n; }
int NAME(openblas_get_num_threads)() { return threads; }
const char* NAME(openblas_get_config)() { return "made up 1.0"; }

#define GEMM(letter, type)                                                                                        \
  void NAME(cblas_##letter##gemm)(int layout, int op_a, int op_b, Int m, Int n, Int k, type alpha, const type* a, \
                                  Int lda, const type* b, Int ldb, type beta, type* c, Int ldc) {                 \
    note();                                                                                                       \
    multiply<type>(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                             \
  }
#define COMPLEX_GEMM(letter, type)                                                                           \
  void NAME(cblas_##letter##gemm)(int layout, int op_a, int op_b, Int m, Int n, Int k, const void* alpha,    \
                                  const void* a, Int lda, const void* b, Int ldb, const void* beta, void* c, \
                                  Int ldc) {                                                                 \
    note();                                                                                                  \
    multiply<type>(layout, op_a, op_b, m, n, k, value<type>(alpha), static_cast<const type*>(a), lda,        \
                   static_cast<const type*>(b), ldb, value<type>(beta), static_cast<type*>(c), ldc);         \
  }
GEMM(s, float)
GEMM(d, double)
#ifndef FAKE_BLAS_PART
COMPLEX_GEMM(c, std::complex<float>)
COMPLEX_GEMM(z, std::complex<double>)
#endif

#ifdef FAKE_BLAS_BATCH
void NAME(cblas_dgemm_batch_strided)(int layout, int op_a, int op_b, Int m, Int n, Int k, double alpha, const double* a,
                                     Int lda, Int step_a, const double* b, Int ldb, Int step_b, double beta, double* c,
                                     Int ldc, Int step_c, Int count) {
  note();
  for (Int g = 0; g < count; ++g)
    multiply(layout, op_a, op_b, m, n, k, alpha, a + g * step_a, lda, b + g * step_b, ldb, beta, c + g * step_c, ldc);
}
#endif

}  // extern "C"
