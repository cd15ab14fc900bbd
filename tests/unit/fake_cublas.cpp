// A library in the place of cuBLAS: products of f32 and f64 and their complex numbers in the host's memory, which is
// that of a made-up driver's devices, written down as they are asked for.
#include <complex>
#include <cstdint>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

namespace {

struct Handle {
  int device = 0;
  void* stream = nullptr;
};

std::mutex mutex;
std::vector<std::string> asked;
int handles = 0;

template <class T>
void multiply(int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a_, int lda, long long step_a,
              const void* b_, int ldb, long long step_b, const void* beta, void* c_, int ldc, long long step_c,
              int count) {
  const auto conjugate = [](T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return x;
    } else {
      return std::conj(x);
    }
  };
  const auto element = [&](const T* x, int op, int ld, int row, int column) {
    if (op == 0) return x[static_cast<long long>(column) * ld + row];
    const T value = x[static_cast<long long>(row) * ld + column];
    return op == 2 ? conjugate(value) : value;
  };
  const T with = *static_cast<const T*>(alpha), old = *static_cast<const T*>(beta);
  for (int g = 0; g < count; ++g) {
    const T* const a = static_cast<const T*>(a_) + g * step_a;
    const T* const b = static_cast<const T*>(b_) + g * step_b;
    T* const c = static_cast<T*>(c_) + g * step_c;
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        T sum = 0;
        for (int l = 0; l < k; ++l) sum += element(a, op_a, lda, i, l) * element(b, op_b, ldb, l, j);
        T& to = c[static_cast<long long>(j) * ldc + i];
        to = old == T(0) ? with * sum : with * sum + old * to;
      }
    }
  }
}

}  // namespace

extern "C" {

/// Hands out what was asked for since the last time, a line each.
void fake_cublas_asked(void (*line)(const char* text, void* context), void* context) {
  std::vector<std::string> lines;
  {
    const std::lock_guard lock(mutex);
    lines.swap(asked);
  }
  for (const auto& text : lines) line(text.c_str(), context);
}

int cublasCreate_v2(void** handle) {
  const std::lock_guard lock(mutex);
  *handle = new Handle{handles++, nullptr};
  asked.emplace_back("create");
  return 0;
}
int cublasSetStream_v2(void* handle, void* stream) { return static_cast<Handle*>(handle)->stream = stream, 0; }
int cublasSetPointerMode_v2(void*, int mode) { return mode == 0 ? 0 : 7; }
int cublasGetProperty(int part, int* value) { return *value = part == 0 ? 13 : 0, 0; }

int cublasGemmStridedBatchedEx(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a,
                               int type_a, int lda, long long step_a, const void* b, int type_b, int ldb,
                               long long step_b, const void* beta, void* c, int type_c, int ldc, long long step_c,
                               int count, int compute, int algorithm) {
  const auto stream = reinterpret_cast<std::uintptr_t>(static_cast<Handle*>(handle)->stream);
  {
    const std::lock_guard lock(mutex);
    asked.push_back(std::to_string(count) + " of " + std::to_string(m) + " x " + std::to_string(n) + " x " +
                    std::to_string(k) + " types " + std::to_string(type_a) + std::to_string(type_b) +
                    std::to_string(type_c) + " compute " + std::to_string(compute) + " stream " +
                    std::to_string(stream));
  }
  const bool laid = lda >= (op_a == 0 ? m : k) && ldb >= (op_b == 0 ? k : n) && ldc >= m;
  if (!laid || algorithm != -1) return 7;  // CUBLAS_STATUS_INVALID_VALUE
  const auto with = [&](auto run) {
    run(op_a, op_b, m, n, k, alpha, a, lda, step_a, b, ldb, step_b, beta, c, ldc, step_c, count);
  };
  if (type_a == 0) with(multiply<float>);
  if (type_a == 1) with(multiply<double>);
  if (type_a == 4) with(multiply<std::complex<float>>);
  if (type_a == 5) with(multiply<std::complex<double>>);
  return type_a == 3 ? 15 : 0;
}

}  // extern "C"
