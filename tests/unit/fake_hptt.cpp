// A library in HPTT's place: the same functions, element by element.
#include <complex>
#include <memory>
#include <vector>

namespace hptt {

enum SelectionMethod { ESTIMATE, MEASURE, PATIENT, CRAZY };

namespace {
int alive = 0, measured = 0;
}

template <class T>
class Transpose {
 public:
  Transpose(const int* order, int rank, T alpha, const T* from, const int* sizes, T beta, T* to, bool row_major)
      : order_(order, order + rank), sizes_(sizes, sizes + rank), alpha_(alpha), beta_(beta), from_(from), to_(to) {
    if (!row_major) sizes_.clear();
    ++alive;
  }
  Transpose(const Transpose&) = delete;
  ~Transpose() { --alive; }
  void execute() noexcept;

 private:
  std::vector<int> order_, sizes_;
  T alpha_, beta_;
  const T* from_;
  T* to_;
};

template <class T>
void Transpose<T>::execute() noexcept {
  const auto rank = sizes_.size();
  std::vector<std::size_t> strides(rank, 1);
  std::size_t elements = rank == 0 ? 0 : 1;
  for (std::size_t k = rank; k-- > 1;) strides[k - 1] = strides[k] * static_cast<std::size_t>(sizes_[k]);
  for (const int n : sizes_) elements *= static_cast<std::size_t>(n);
  for (std::size_t at = 0; at < elements; ++at) {
    std::size_t rest = at, source = 0;
    for (std::size_t k = rank; k-- > 0;) {
      const auto axis = static_cast<std::size_t>(order_[k]);
      source += rest % static_cast<std::size_t>(sizes_[axis]) * strides[axis];
      rest /= static_cast<std::size_t>(sizes_[axis]);
    }
    // A product with one may change a NaN's bits.
    to_[at] = alpha_ == T(1) && beta_ == T(0) ? from_[source] : alpha_ * from_[source] + beta_ * to_[at];
  }
}

#define FAKE_CREATE(T)                                                                                             \
  template class Transpose<T>;                                                                                     \
  std::shared_ptr<Transpose<T>> create_plan(const int* order, int rank, T alpha, const T* from, const int* sizes,  \
                                            const int*, T beta, T* to, const int*, SelectionMethod selection, int, \
                                            const int*, bool row_major) {                                          \
    measured += selection == MEASURE;                                                                              \
    return std::make_shared<Transpose<T>>(order, rank, alpha, from, sizes, beta, to, row_major);                   \
  }
FAKE_CREATE(float)
FAKE_CREATE(double)
FAKE_CREATE(std::complex<float>)
FAKE_CREATE(std::complex<double>)

}  // namespace hptt

namespace {

template <class T>
void run(const int* order, int rank, T alpha, const T* from, const int* sizes, T beta, T* to, int row_major) {
  hptt::create_plan(order, rank, alpha, from, sizes, nullptr, beta, to, nullptr, hptt::ESTIMATE, 1, nullptr,
                    row_major != 0)
      ->execute();
}

}  // namespace

extern "C" {
void sTensorTranspose(const int* order, int rank, float alpha, const float* from, const int* sizes, const int*,
                      float beta, float* to, const int*, int, int row_major) {
  run(order, rank, alpha, from, sizes, beta, to, row_major);
}
void dTensorTranspose(const int* order, int rank, double alpha, const double* from, const int* sizes, const int*,
                      double beta, double* to, const int*, int, int row_major) {
  run(order, rank, alpha, from, sizes, beta, to, row_major);
}
void cTensorTranspose(const int* order, int rank, std::complex<float> alpha, bool, const std::complex<float>* from,
                      const int* sizes, const int*, std::complex<float> beta, std::complex<float>* to, const int*, int,
                      int row_major) {
  run(order, rank, alpha, from, sizes, beta, to, row_major);
}
void zTensorTranspose(const int* order, int rank, std::complex<double> alpha, bool, const std::complex<double>* from,
                      const int* sizes, const int*, std::complex<double> beta, std::complex<double>* to, const int*,
                      int, int row_major) {
  run(order, rank, alpha, from, sizes, beta, to, row_major);
}
int fake_alive() { return hptt::alive; }
int fake_measured() { return hptt::measured; }
}
