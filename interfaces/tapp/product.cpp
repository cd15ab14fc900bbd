// Tensor products of TAPP as plans of Ricci: einsums with C as an addend, and without one where C is D or not read.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <optional>

#include "objects.hpp"

namespace ricci::tapp {
namespace {

struct Destroy {
  void operator()(ricci_plan* plan) const { ricci_plan_release(plan); }
  void operator()(ricci_options* options) const { ricci_options_destroy(options); }
};
using PlanPointer = std::unique_ptr<ricci_plan, Destroy>;
using OptionsPointer = std::unique_ptr<ricci_options, Destroy>;

/// Element types of TAPP, by number.
struct Type {
  ricci_dtype type;
  int bytes;
  bool is_complex, is_double;
};
constexpr Type kTypes[] = {{RICCI_F32, 4, false, false}, {RICCI_F64, 8, false, true},  {RICCI_C64, 8, true, false},
                           {RICCI_C128, 16, true, true}, {RICCI_F16, 2, false, false}, {RICCI_BF16, 2, false, false}};

const Type& row(TAPP_datatype type) { return kTypes[type]; }

/// A tensor and its indices; an index that occurs twice is one whose stride is the sum.
struct Term {
  TAPP_datatype type = TAPP_F32;
  std::vector<std::int64_t> indices, extents, strides;

  std::optional<std::int64_t> extent(std::int64_t index) const {
    const auto place = std::find(indices.begin(), indices.end(), index);
    if (place == indices.end()) return std::nullopt;
    return extents[static_cast<std::size_t>(place - indices.begin())];
  }
  ricci_layout layout() const {
    return {row(type).type, static_cast<int>(extents.size()), extents.data(), strides.data(), 0};
  }
  bool empty() const { return std::find(extents.begin(), extents.end(), 0) != extents.end(); }
  /// Bytes that its elements lie in, from a pointer to the first: [first, second).
  std::pair<const std::byte*, const std::byte*> range(const void* data) const {
    std::int64_t low = 0, high = 1;
    for (std::size_t k = 0; k < extents.size(); ++k) {
      const auto reach = strides[k] * (extents[k] - 1);
      (reach < 0 ? low : high) += reach;
    }
    const auto* base = static_cast<const std::byte*>(data);
    if (empty()) return {base, base};
    return {base + low * row(type).bytes, base + high * row(type).bytes};
  }
};

/// Reads a tensor's indices. `two_extents`: the error of an index that has two.
Term term_of(TAPP_tensor_info handle, const std::int64_t* indices, TAPP_error two_extents) {
  const auto info = object_of<TensorInfo>(handle);
  Term term;
  term.type = info->type;
  for (std::size_t k = 0; k < info->extents.size(); ++k) {
    const auto index = needed(indices)[k];
    const auto place = std::find(term.indices.begin(), term.indices.end(), index);
    if (place == term.indices.end()) {
      term.indices.push_back(index);
      term.extents.push_back(info->extents[k]);
      term.strides.push_back(info->strides[k]);
      continue;
    }
    const auto at = static_cast<std::size_t>(place - term.indices.begin());
    if (term.extents[at] != info->extents[k]) throw Failure{two_extents};
    term.strides[at] += info->strides[k];
  }
  return term;
}

void check_shared(const Term& x, const Term& y, TAPP_error code) {
  for (std::size_t k = 0; k < x.indices.size(); ++k) {
    if (y.extent(x.indices[k]).value_or(x.extents[k]) != x.extents[k]) throw Failure{code};
  }
}

/// Whether elements may overlap: a sufficient condition for that they do not fails.
bool may_alias(const Term& term) {
  std::vector<std::pair<std::int64_t, std::int64_t>> modes;  // |stride|, reach
  for (std::size_t k = 0; k < term.extents.size(); ++k) {
    const auto stride = std::abs(term.strides[k]);
    if (term.extents[k] > 1) modes.emplace_back(stride, stride * (term.extents[k] - 1));
  }
  std::sort(modes.begin(), modes.end());
  std::int64_t reach = 0;
  for (const auto& [stride, own] : modes) {
    if (stride <= reach) return true;
    reach += own;
  }
  return false;
}

/// Words for indices: one letter each, or where there are more than letters, names.
std::string spec_of(const std::vector<const Term*>& operands, const Term& output) {
  std::vector<std::int64_t> all;
  for (const auto* term : operands) {
    for (const auto index : term->indices) {
      if (std::find(all.begin(), all.end(), index) == all.end()) all.push_back(index);
    }
  }
  static constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const auto words = [&](const Term& term) {
    std::string text;
    for (const auto index : term.indices) {
      const auto number = static_cast<std::size_t>(std::find(all.begin(), all.end(), index) - all.begin());
      text += all.size() <= kLetters.size() ? std::string(1, kLetters[number]) : " m" + std::to_string(number);
    }
    return text;
  };
  std::string spec;
  for (const auto* term : operands) spec += (term != operands.front() ? "," : "") + words(*term);
  return spec + "->" + words(output);
}

double half_of(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double value = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                       : exponent == 0 ? std::ldexp(fraction, -24)
                                       : std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 != 0 ? -value : value;
}

ricci_scalar scalar_of(const void* data, TAPP_datatype type) {
  const auto real = [&](int part) -> double {
    if (row(type).is_double) {
      double value = 0;
      std::memcpy(&value, static_cast<const std::byte*>(data) + 8 * part, sizeof value);
      return value;
    }
    std::uint32_t bits = 0;
    if (row(type).bytes == 2) {
      std::uint16_t half = 0;
      std::memcpy(&half, data, sizeof half);
      if (type == TAPP_F16) return half_of(half);
      bits = std::uint32_t{half} << 16;
    } else {
      std::memcpy(&bits, static_cast<const std::byte*>(data) + 4 * part, sizeof bits);
    }
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return static_cast<double>(value);
  };
  return {real(0), row(type).is_complex ? real(1) : 0};
}

/// The word for a precision; null for the default.
const char* precision_of(TAPP_prectype precision, const Term& a, const Term& b) {
  const bool complex = row(a.type).is_complex || row(b.type).is_complex;
  switch (precision) {
    case TAPP_DEFAULT_PREC:
      return nullptr;
    case TAPP_F32F32_ACCUM_F32:
      return "f32";
    case TAPP_F64F64_ACCUM_F64:
      return "f64";
    case TAPP_F16F16_ACCUM_F16:
    case TAPP_F16F16_ACCUM_F32:
      return complex ? nullptr : "f16";
    case TAPP_BF16BF16_ACCUM_F32:
      return complex ? nullptr : "bf16";
    default:
      throw Failure{RICCI_TAPP_PRECISION};
  }
}

}  // namespace

struct Product : Object {
  TAPP_error refused = 0;  ///< why it cannot be executed
  Term c, d;
  bool conjugate_d = false;
  PlanPointer in_place;  ///< D = alpha * op(A) * op(B) + beta * op(D)
  PlanPointer apart;     ///< D = alpha * op(A) * op(B) + beta * op(C)

  bool get(TAPP_key key, void** value) override {
    if (key != RICCI_TAPP_EXPLAIN) return false;
    const char* text = nullptr;
    check(ricci_plan_text(in_place.get(), "explain", &text));
    *value = const_cast<char*>(text);
    return true;
  }

  void execute(const ExecutorObject* exec, const void* alpha, const void* a, const void* b, const void* beta,
               const void* from, void* to) const;
};

namespace {

OptionsPointer options_of(ricci_options_kind kind, const Handle* handle) {
  ricci_options* made = nullptr;
  check(ricci_options_create(kind, &made));
  OptionsPointer options(made);
  if (handle != nullptr) {
    for (const auto& [key, value] : handle->options) check(ricci_options_set(made, key.c_str(), value.c_str()));
  }
  return options;
}

/// A product without its plans, checked.
void plan(Product& product, Handle* handle, const Term& a, const Term& b, bool conjugate_a, bool conjugate_b,
          bool conjugate_c, const char* precision) {
  const auto& d = product.d;
  for (const auto index : d.indices) {
    if (!a.extent(index) && !b.extent(index)) throw Failure{RICCI_TAPP_INDEX_OF_D};
  }
  check_shared(a, b, RICCI_TAPP_EXTENTS_A_B);
  check_shared(a, d, RICCI_TAPP_EXTENTS_A_D);
  check_shared(b, d, RICCI_TAPP_EXTENTS_B_D);
  if (product.c.extents != d.extents) throw Failure{RICCI_TAPP_EXTENTS_C_D};

  std::unique_lock<std::mutex> lock;
  if (handle != nullptr) lock = std::unique_lock(handle->mutex);
  // conj(alpha A B + beta C) = conj(alpha) conj(A) conj(B) + conj(beta) conj(C)
  const bool flip = product.conjugate_d;
  const auto options = options_of(RICCI_OPTIONS_EINSUM, handle);
  const std::string conjugated = std::string(conjugate_a != flip ? "1" : "") +
                                 (conjugate_a != flip && conjugate_b != flip ? "," : "") +
                                 (conjugate_b != flip ? "2" : "");
  check(ricci_options_set(options.get(), "alpha", "any"));
  if (precision != nullptr) check(ricci_options_set(options.get(), "precision", precision));
  check(ricci_options_set(options.get(), "beta", "any"));
  check(ricci_options_set(options.get(), "conj", conjugated.c_str()));
  check(ricci_options_set(options.get(), "conj-addend", conjugate_c != flip ? "1" : "0"));
  const std::array<ricci_layout, 2> inputs = {a.layout(), b.layout()};
  const auto output = d.layout(), addend = product.c.layout();
  const auto spec = spec_of({&a, &b}, d);
  ricci_plan* made = nullptr;
  const auto status = ricci_plan_einsum(nullptr, spec.c_str(), 2, inputs.data(), &output, options.get(), &made);
  if (status == RICCI_ERROR_SHAPE && may_alias(d)) throw Failure{RICCI_TAPP_ALIASING_D};
  check(status);
  product.in_place.reset(made);
  check(ricci_options_set_layout(options.get(), "addend", &addend));
  check(ricci_plan_einsum(nullptr, spec.c_str(), 2, inputs.data(), &output, options.get(), &made));
  product.apart.reset(made);
}

}  // namespace

void Product::execute(const ExecutorObject* exec, const void* alpha, const void* a, const void* b, const void* beta,
                      const void* from, void* to) const {
  if (refused != 0) throw Failure{refused};
  auto factor = scalar_of(needed(alpha), d.type), old = scalar_of(needed(beta), d.type);
  if (conjugate_d) factor.im = -factor.im, old.im = -old.im;
  const bool adds = old.re != 0 || old.im != 0;
  if (adds && from == nullptr && !d.empty()) throw Failure{RICCI_TAPP_NO_C};
  const bool same = from == to && c.type == d.type && c.strides == d.strides;
  if (adds && !same) {
    const auto [first, last] = c.range(from);
    const auto [begin, end] = d.range(to);
    if (first < end && begin < last) throw Failure{RICCI_TAPP_OVERLAP_C_D};
  }
  ricci_call call = RICCI_CALL;
  call.stream = exec != nullptr ? exec->stream : nullptr;
  call.alpha = &factor;
  call.beta = &old;
  const void* const operands[] = {a, b, from};
  check(ricci_execute((adds && !same ? apart : in_place).get(), &to, operands, &call));
}

}  // namespace ricci::tapp

using namespace ricci::tapp;

TAPP_error TAPP_create_tensor_product(TAPP_tensor_product* plan, TAPP_handle handle, TAPP_element_op op_A,
                                      TAPP_tensor_info A, const int64_t* idx_A, TAPP_element_op op_B,
                                      TAPP_tensor_info B, const int64_t* idx_B, TAPP_element_op op_C,
                                      TAPP_tensor_info C, const int64_t* idx_C, TAPP_element_op op_D,
                                      TAPP_tensor_info D, const int64_t* idx_D, TAPP_prectype prec) {
  return guarded([&] {
    needed(plan);
    auto product = std::make_shared<Product>();
    const auto code = guarded([&] {
      for (const auto op : {op_A, op_B, op_C, op_D}) {
        if (op != TAPP_IDENTITY && op != TAPP_CONJUGATE) throw Failure{RICCI_TAPP_OPERATION};
      }
      const auto a = term_of(A, idx_A, RICCI_TAPP_EXTENTS_A), b = term_of(B, idx_B, RICCI_TAPP_EXTENTS_B);
      const auto of_c = object_of<TensorInfo>(C), of_d = object_of<TensorInfo>(D);
      if (of_c->extents.size() != of_d->extents.size()) throw Failure{RICCI_TAPP_MODES_C_D};
      if (!of_d->extents.empty() && !std::equal(needed(idx_D), idx_D + of_d->extents.size(), needed(idx_C))) {
        throw Failure{RICCI_TAPP_INDICES_C_D};
      }
      product->d = term_of(D, idx_D, RICCI_TAPP_EXTENTS_D);
      product->c = term_of(C, idx_C, RICCI_TAPP_EXTENTS_C_D);
      const auto* const precision = precision_of(prec, a, b);
      product->conjugate_d = op_D == TAPP_CONJUGATE;
      const auto found = find_as<Handle>(handle);
      ricci::tapp::plan(*product, found.get(), a, b, op_A == TAPP_CONJUGATE, op_B == TAPP_CONJUGATE,
                        op_C == TAPP_CONJUGATE, precision);
    });
    product->refused = code;
    *plan = enter(std::move(product));
    if (code != 0) throw Failure{code};
  });
}

TAPP_error TAPP_destroy_tensor_product(TAPP_tensor_product plan) {
  return guarded([&] { leave<Product>(plan); });
}

TAPP_error TAPP_execute_product(TAPP_tensor_product plan, TAPP_executor exec, TAPP_status* status, const void* alpha,
                                const void* A, const void* B, const void* beta, const void* C, void* D) {
  return TAPP_execute_batched_product(plan, exec, status, 1, alpha, &A, &B, beta, &C, &D);
}

TAPP_error TAPP_execute_batched_product(TAPP_tensor_product plan, TAPP_executor exec, TAPP_status* status,
                                        int num_batches, const void* alpha, const void** A, const void** B,
                                        const void* beta, const void** C, void** D) {
  if (status != nullptr) *status = 0;
  return guarded([&] {
    const auto product = object_of<Product>(plan);
    const auto executor = exec != 0 ? object_of<ExecutorObject>(exec) : nullptr;
    if (num_batches < 0) throw Failure{RICCI_TAPP_BATCHES};
    if (num_batches > 0) needed(A), needed(B), needed(D);
    for (int k = 0; k < num_batches; ++k) {
      product->execute(executor.get(), alpha, A[k], B[k], beta, C != nullptr ? C[k] : nullptr, D[k]);
    }
  });
}
