// The calls of TBLIS that the TAPP project's test suite makes, as plain loops: the suite's oracle, without TBLIS.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace tblis {

using len_type = std::ptrdiff_t;
using stride_type = std::ptrdiff_t;
using label_type = char;

enum class Element { f32, f64, c64, c128 };

struct tblis_tensor {
  Element type = Element::f32;
  std::complex<double> scalar = 1;
  void* data = nullptr;
  unsigned ndim = 0;
  len_type* len = nullptr;
  stride_type* stride = nullptr;
};

inline void init(tblis_tensor* t, Element type, std::complex<double> scalar, unsigned ndim, len_type* len, void* data,
                 stride_type* stride) {
  *t = {type, scalar, data, ndim, len, stride};
}

inline std::complex<double> load(const tblis_tensor& t, std::ptrdiff_t at) {
  switch (t.type) {
    case Element::f32:
      return static_cast<double>(static_cast<float*>(t.data)[at]);
    case Element::f64:
      return static_cast<double*>(t.data)[at];
    case Element::c64:
      return static_cast<std::complex<float>*>(t.data)[at];
    default:
      return static_cast<std::complex<double>*>(t.data)[at];
  }
}

inline void store(const tblis_tensor& t, std::ptrdiff_t at, std::complex<double> value) {
  switch (t.type) {
    case Element::f32:
      static_cast<float*>(t.data)[at] = static_cast<float>(value.real());
      break;
    case Element::f64:
      static_cast<double*>(t.data)[at] = value.real();
      break;
    case Element::c64:
      static_cast<std::complex<float>*>(t.data)[at] = std::complex<float>(value);
      break;
    default:
      static_cast<std::complex<double>*>(t.data)[at] = value;
  }
}

/// D = scalar(D) * D + sum over all other labels of the product of the operands.
inline void accumulate(const std::vector<std::pair<const tblis_tensor*, const label_type*>>& operands, tblis_tensor& d,
                       const label_type* labels) {
  std::vector<label_type> all;
  std::vector<len_type> extents;
  const auto place = [&](label_type label, len_type extent) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (all[k] == label) return k;
    }
    all.push_back(label);
    extents.push_back(extent);
    return all.size() - 1;
  };
  // Strides of each tensor over all labels: those of D are the outer loops.
  std::vector<std::vector<stride_type>> strides(operands.size() + 1);
  const auto add = [&](std::size_t tensor, const tblis_tensor& t, const label_type* names) {
    for (unsigned k = 0; k < t.ndim; ++k) {
      const auto at = place(names[k], t.len[k]);
      for (auto& list : strides) list.resize(all.size(), 0);
      strides[tensor][at] += t.stride[k];
    }
  };
  add(operands.size(), d, labels);
  const auto outer = all.size();
  for (std::size_t t = 0; t < operands.size(); ++t) add(t, *operands[t].first, operands[t].second);
  for (auto& list : strides) list.resize(all.size(), 0);
  std::vector<len_type> at(all.size(), 0);
  const auto offset = [&](std::size_t tensor) {
    std::ptrdiff_t sum = 0;
    for (std::size_t k = 0; k < all.size(); ++k) sum += at[k] * strides[tensor][k];
    return sum;
  };
  const auto next = [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) {
      if (++at[k] < extents[k]) return true;
      at[k] = 0;
    }
    return false;
  };
  for (const auto extent : extents) {
    if (extent == 0) return;
  }
  do {
    std::complex<double> sum = 0;
    do {
      std::complex<double> product = 1;
      for (std::size_t t = 0; t < operands.size(); ++t) {
        product *= operands[t].first->scalar * load(*operands[t].first, offset(t));
      }
      sum += product;
    } while (next(outer, all.size()));
    const auto to = offset(operands.size());
    store(d, to, sum + (d.scalar == 0.0 ? 0.0 : d.scalar * load(d, to)));
  } while (next(0, outer));
  d.scalar = 1;
}

}  // namespace tblis

inline constexpr const void* tblis_single = nullptr;

#define TBLIS_INIT(letter, type, element)                                                                         \
  inline void tblis_init_tensor_scaled_##letter(tblis::tblis_tensor* t, type scalar, unsigned ndim,               \
                                                tblis::len_type* len, type* data, tblis::stride_type* stride) {   \
    tblis::init(t, tblis::Element::element, scalar, ndim, len, data, stride);                                     \
  }                                                                                                               \
  inline void tblis_init_tensor_##letter(tblis::tblis_tensor* t, unsigned ndim, tblis::len_type* len, type* data, \
                                         tblis::stride_type* stride) {                                            \
    tblis::init(t, tblis::Element::element, 1, ndim, len, data, stride);                                          \
  }
TBLIS_INIT(s, float, f32)
TBLIS_INIT(d, double, f64)
TBLIS_INIT(c, std::complex<float>, c64)
TBLIS_INIT(z, std::complex<double>, c128)
#undef TBLIS_INIT

inline void tblis_tensor_mult(const void*, const void*, const tblis::tblis_tensor* a, const tblis::label_type* idx_a,
                              const tblis::tblis_tensor* b, const tblis::label_type* idx_b, tblis::tblis_tensor* d,
                              const tblis::label_type* idx_d) {
  tblis::accumulate({{a, idx_a}, {b, idx_b}}, *d, idx_d);
}

inline void tblis_tensor_add(const void*, const void*, const tblis::tblis_tensor* a, const tblis::label_type* idx_a,
                             tblis::tblis_tensor* d, const tblis::label_type* idx_d) {
  tblis::accumulate({{a, idx_a}}, *d, idx_d);
}

extern "C" {
inline void bli_init() {}
inline void bli_finalize() {}
}
