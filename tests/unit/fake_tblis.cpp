// A library in TBLIS's place: the same functions, as plain loops.
#include <complex>

#include "fake_contraction.hpp"

namespace {

/// As large as TBLIS 1's own.
struct Tensor {
  void* data;
  std::ptrdiff_t *extents, *strides;
  unsigned rank;
  int type;
  double factor[2];
  char rest[32];
};
static_assert(sizeof(Tensor) == 80);
unsigned threads = 0;

template <class T>
void init(Tensor* tensor, int type, T factor, unsigned rank, std::ptrdiff_t* extents, void* data,
          std::ptrdiff_t* strides) {
  const std::complex<double> wide = factor;
  *tensor = {data, extents, strides, rank, type, {wide.real(), wide.imag()}, {}};
}

ricci::fake::Tensor as_loops(const Tensor& tensor, const char* axes) {
  return {axes, {tensor.extents, tensor.extents + tensor.rank}, {tensor.strides, tensor.strides + tensor.rank}};
}

template <class T>
void multiply(const Tensor& a, const char* a_axes, const Tensor& b, const char* b_axes, const Tensor& c,
              const char* c_axes) {
  ricci::fake::contract(as_loops(a, a_axes), static_cast<const T*>(a.data), as_loops(b, b_axes),
                        static_cast<const T*>(b.data), as_loops(c, c_axes), static_cast<T*>(c.data),
                        static_cast<T>(static_cast<float>(a.factor[0])), c.factor[0] != 0);
}

}  // namespace

#define FAKE_INIT(letter, T, number)                                                                             \
  extern "C" void tblis_init_tensor_scaled_##letter(Tensor* t, T factor, unsigned rank, std::ptrdiff_t* extents, \
                                                    void* data, std::ptrdiff_t* strides) {                       \
    init<T>(t, number, factor, rank, extents, data, strides);                                                    \
  }
FAKE_INIT(s, float, 0)
FAKE_INIT(d, double, 1)
FAKE_INIT(c, std::complex<float>, 2)
FAKE_INIT(z, std::complex<double>, 3)

extern "C" void tblis_set_num_threads(unsigned n) { threads = n; }
extern "C" unsigned fake_threads() { return threads; }

extern "C" void tblis_tensor_mult(const void*, const void*, const Tensor* a, const char* a_axes, const Tensor* b,
                                  const char* b_axes, Tensor* c, const char* c_axes) {
  // The second operand counts once, what the result held once or not at all.
  if (b->factor[0] != 1 || (c->factor[0] != 0 && c->factor[0] != 1) || c->factor[1] != 0) return;
  if (a->type == 0) multiply<float>(*a, a_axes, *b, b_axes, *c, c_axes);
  if (a->type == 1) multiply<double>(*a, a_axes, *b, b_axes, *c, c_axes);
  if (a->type == 2) multiply<std::complex<float>>(*a, a_axes, *b, b_axes, *c, c_axes);
  if (a->type == 3) multiply<std::complex<double>>(*a, a_axes, *b, b_axes, *c, c_axes);
}
