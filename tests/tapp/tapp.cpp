// TAPP over Ricci: every type, operation and error, against plain loops.
#include "ricci/tapp.h"

#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "catch.hpp"

namespace {

using C64 = std::complex<double>;
using Extents = std::vector<std::int64_t>;

/// A tensor info that lives as long as this.
struct Info {
  Info(TAPP_datatype type, const Extents& extents, const Extents& strides) {
    REQUIRE(TAPP_create_tensor_info(&handle, type, static_cast<int>(extents.size()), extents.data(), strides.data()) ==
            0);
  }
  ~Info() { CHECK(TAPP_destroy_tensor_info(handle) == 0); }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  TAPP_tensor_info handle = 0;
};

using Indices = std::vector<std::int64_t>;

struct Product {
  Product(const Info& a, const Indices& ia, const Info& b, const Indices& ib, const Info& c, const Info& d,
          const Indices& id, std::array<TAPP_element_op, 4> ops = {}, TAPP_prectype precision = TAPP_DEFAULT_PREC,
          TAPP_handle handle = 0)
      : code(TAPP_create_tensor_product(&plan, handle, ops[0], a.handle, ia.data(), ops[1], b.handle, ib.data(), ops[2],
                                        c.handle, id.data(), ops[3], d.handle, id.data(), precision)) {}
  ~Product() { CHECK(TAPP_destroy_tensor_product(plan) == 0); }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  template <class T>
  TAPP_error operator()(T alpha, const void* a, const void* b, T beta, const void* c, void* d) const {
    return TAPP_execute_product(plan, 0, nullptr, &alpha, a, b, &beta, c, d);
  }
  TAPP_tensor_product plan = 0;
  TAPP_error code;
};

std::string text_of(TAPP_error error) {
  std::string text(TAPP_explain_error(error, 0, nullptr), ' ');
  CHECK(TAPP_explain_error(error, text.size() + 1, text.data()) == text.size());
  return text;
}

C64 conjugated(C64 value, TAPP_element_op op) { return op == TAPP_CONJUGATE ? std::conj(value) : value; }

}  // namespace

TEST_CASE("every combination of operations, in place and not, gives what plain loops give") {
  const Info a(TAPP_C64, {2, 3}, {3, 1}), b(TAPP_C64, {3, 4}, {1, 3}), c(TAPP_C64, {2, 4}, {4, 1}),
      d(TAPP_C64, {2, 4}, {1, 2});
  std::vector<C64> x(6), y(12), z(8);
  const auto value = [](std::size_t k) { return C64(static_cast<double>(k % 5) - 2, static_cast<double>(k % 3) - 1); };
  for (std::size_t k = 0; k < 12; ++k) {
    if (k < 6) x[k] = value(k);
    y[k] = value(2 * k + 1);
    if (k < 8) z[k] = value(3 * k + 2);
  }
  const C64 alpha(2, -1), beta(-1, 3);
  for (int bits = 0; bits < 16; ++bits) {
    const std::array<TAPP_element_op, 4> ops = {bits & 1, bits >> 1 & 1, bits >> 2 & 1, bits >> 3};
    const Product apart(a, {0, 1}, b, {1, 2}, c, d, {0, 2}, ops), same(a, {0, 1}, b, {1, 2}, c, c, {0, 2}, ops);
    REQUIRE(apart.code == 0);
    REQUIRE(same.code == 0);
    std::vector<C64> result(8, C64(NAN, NAN)), in_place = z;
    CHECK(apart(alpha, x.data(), y.data(), beta, z.data(), result.data()) == 0);
    CHECK(same(alpha, x.data(), y.data(), beta, in_place.data(), in_place.data()) == 0);
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        C64 sum = 0;
        for (std::size_t k = 0; k < 3; ++k) sum += conjugated(x[3 * i + k], ops[0]) * conjugated(y[k + 3 * j], ops[1]);
        const auto expected = conjugated(alpha * sum + beta * conjugated(z[4 * i + j], ops[2]), ops[3]);
        CHECK(result[i + 2 * j] == expected);  // small whole numbers: exact
        CHECK(in_place[4 * i + j] == expected);
      }
    }
  }
}

TEST_CASE("types: each alone, factors of their own, and mixed") {
  const Extents n = {3}, one = {1};
  // 2, 3, 1.5 and -0.5 in binary16 and in bfloat16.
  const struct {
    TAPP_datatype type;
    std::uint16_t two, three, alpha, beta;
  } halves[] = {{TAPP_F16, 0x4000, 0x4200, 0x3e00, 0xb800}, {TAPP_BF16, 0x4000, 0x4040, 0x3fc0, 0xbf00}};
  for (const auto& half : halves) {
    const Info v(half.type, n, one);
    const Product product(v, {7}, v, {7}, v, v, {7}, {}, TAPP_DEFAULT_PREC);
    REQUIRE(product.code == 0);
    // 1.5 * 3 * 3 - 0.5 * 2 = 12.5; then 1.5 * 3 * 2 - 0.5 * 3 = 7.5
    const std::array<std::uint16_t, 3> x = {half.three, half.three, half.two}, y = {half.three, half.two, half.two},
                                       z = {half.two, half.three, half.two};
    std::array<std::uint16_t, 3> d{};
    CHECK(product(half.alpha, x.data(), y.data(), half.beta, z.data(), d.data()) == 0);
    const auto bits = [&](float number) -> std::uint16_t {
      std::uint32_t word = 0;
      std::memcpy(&word, &number, 4);
      if (half.type == TAPP_BF16) return static_cast<std::uint16_t>(word >> 16);
      return static_cast<std::uint16_t>((word >> 16 & 0x8000) | ((word >> 23 & 255) - 112) << 10 | (word >> 13 & 1023));
    };
    CHECK(d == std::array{bits(12.5F), bits(7.5F), bits(5.F)});
  }
  const Info f(TAPP_F32, n, one), g(TAPP_F64, n, one), h(TAPP_C32, n, one);
  const float x[3] = {1, 2, 3};
  const double y[3] = {0.5, 0.25, 2};
  double d[3] = {};
  const Product mixed(f, {1}, g, {1}, f, g, {1}, {}, TAPP_F64F64_ACCUM_F64);
  REQUIRE(mixed.code == 0);
  CHECK(mixed(2.0, x, y, 1.0, x, d) == 0);
  CHECK((d[0] == 2 && d[1] == 3 && d[2] == 15));
  const Info three(TAPP_F32, {3}, {1}), none(TAPP_F32, {}, {});
  const auto dot = [&](TAPP_prectype precision, std::array<float, 3> left, std::array<float, 3> right) {
    const Product product(three, {1}, three, {1}, none, none, {}, {}, precision);
    REQUIRE(product.code == 0);
    float sum = 0;
    CHECK(product(1.0F, left.data(), right.data(), 0.0F, nullptr, &sum) == 0);
    return sum;
  };
  constexpr float kNear = 1.00390625F;  // 9 significant bits, and bf16 has 8
  const std::array<float, 3> small = {kNear, 4, 4}, signs = {1, 8, -8};
  CHECK(dot(TAPP_DEFAULT_PREC, small, signs) == kNear);
  CHECK(dot(TAPP_F32F32_ACCUM_F32, small, signs) == kNear);
  CHECK(dot(TAPP_F16F16_ACCUM_F32, small, signs) == kNear);
  CHECK(dot(TAPP_F16F16_ACCUM_F16, small, signs) == kNear);
  CHECK(dot(TAPP_BF16BF16_ACCUM_F32, small, signs) == 1);
  // In f32 what is as large as 2^40 hides it, in whatever order.
  CHECK(dot(TAPP_F64F64_ACCUM_F64, {kNear, 1048576, 1048576}, {1, 1048576, -1048576}) == kNear);
  const Product of_complex(h, {1}, h, {1}, h, h, {1}, {}, TAPP_BF16BF16_ACCUM_F32);
  CHECK(of_complex.code == 0);
  CHECK(Product(f, {1}, f, {1}, f, f, {1}, {}, 9).code == RICCI_TAPP_PRECISION);
  const Product narrowed(h, {1}, f, {1}, f, f, {1});  // complex into real
  CHECK(narrowed.code > RICCI_TAPP_RICCI);
  CHECK(text_of(narrowed.code).find("c64") != std::string::npos);
}

TEST_CASE("diagonals, isolated indices, scalars, many indices, batches") {
  const Info matrix(TAPP_F64, {2, 2}, {2, 1}), vector(TAPP_F64, {2}, {1}), scalar(TAPP_F64, {}, {});
  const double a[4] = {1, 2, 3, 4}, b[2] = {10, 100};
  double d[4] = {-1, -1, -1, -1};
  // d_ii = a_ii * sum_j b_j: the elements off the diagonal of d stay.
  const Product diagonal(matrix, {5, 5}, vector, {6}, matrix, matrix, {5, 5});
  REQUIRE(diagonal.code == 0);
  CHECK(diagonal(1.0, a, b, 0.0, nullptr, d) == 0);
  CHECK((d[0] == 110 && d[1] == -1 && d[2] == -1 && d[3] == 440));
  const Product inner(vector, {-3}, vector, {-3}, scalar, scalar, {});
  REQUIRE(inner.code == 0);
  const void* lists[2][3] = {{a, b, &a[2]}, {b, b, &b[0]}};
  double results[3] = {};
  void* to[3] = {&results[0], &results[1], &results[2]};
  const double alpha = 1, beta = 0;
  CHECK(TAPP_execute_batched_product(inner.plan, 0, nullptr, 3, &alpha, lists[0], lists[1], &beta, nullptr, to) == 0);
  CHECK((results[0] == 210 && results[1] == 10100 && results[2] == 430));
  CHECK(TAPP_execute_batched_product(inner.plan, 0, nullptr, -1, &alpha, lists[0], lists[1], &beta, nullptr, to) ==
        RICCI_TAPP_BATCHES);
  const Product scaled(scalar, {}, matrix, {1, 2}, matrix, matrix, {1, 2});
  REQUIRE(scaled.code == 0);
  CHECK(scaled(1.0, &b[0], a, 0.0, nullptr, d) == 0);
  CHECK((d[0] == 10 && d[1] == 20 && d[2] == 30 && d[3] == 40));
  // More indices than there are letters.
  Indices left(30), right(30);
  for (std::size_t k = 0; k < 30; ++k)
    left[k] = static_cast<std::int64_t>(k), right[k] = static_cast<std::int64_t>(k + 30);
  const Info ones(TAPP_F64, Extents(30, 1), Extents(30, 1));
  const Product many(ones, left, ones, right, scalar, scalar, {});
  REQUIRE(many.code == 0);
  CHECK(many(3.0, &a[1], &a[2], 0.0, nullptr, d) == 0);
  CHECK(d[0] == 18);
}

TEST_CASE("each error has its code and its text, at the plan and at the call, and writes nothing") {
  const Info a(TAPP_F64, {2, 3}, {3, 1}), b(TAPP_F64, {3, 4}, {4, 1}), c(TAPP_F64, {2, 4}, {4, 1}),
      wide(TAPP_F64, {2, 5}, {5, 1}), flat(TAPP_F64, {2, 4}, {0, 1}), cube(TAPP_F64, {2, 4, 1}, {4, 1, 1});
  const double x[20] = {}, y[20] = {};
  double z[20];
  for (double& element : z) element = 7;
  const auto refused = [&](const Product& product) {
    CHECK(product(1.0, x, y, 1.0, z, z) == product.code);
    CHECK(text_of(product.code) != "unknown error");
    return product.code;
  };
  CHECK(refused(Product(a, {0, 1}, wide, {1, 2}, c, c, {0, 2})) == RICCI_TAPP_EXTENTS_A_B);
  CHECK(refused(Product(a, {0, 1}, b, {1, 2}, c, c, {1, 2})) == RICCI_TAPP_EXTENTS_A_D);
  CHECK(refused(Product(a, {0, 1}, b, {1, 2}, wide, wide, {0, 2})) == RICCI_TAPP_EXTENTS_B_D);
  CHECK(refused(Product(a, {0, 1}, b, {1, 2}, c, c, {0, 3})) == RICCI_TAPP_INDEX_OF_D);
  CHECK(refused(Product(a, {0, 1}, b, {1, 2}, cube, c, {0, 2, 9})) == RICCI_TAPP_MODES_C_D);
  CHECK(refused(Product(a, {0, 1}, b, {1, 2}, wide, c, {0, 2})) == RICCI_TAPP_EXTENTS_C_D);
  CHECK(refused(Product(a, {0, 1}, b, {1, 2}, c, flat, {0, 2})) == RICCI_TAPP_ALIASING_D);
  CHECK(refused(Product(a, {1, 1}, b, {1, 2}, c, c, {0, 2})) == RICCI_TAPP_EXTENTS_A);
  CHECK(refused(Product(a, {0, 1}, b, {1, 1}, c, c, {0, 2})) == RICCI_TAPP_EXTENTS_B);
  CHECK(refused(Product(a, {0, 1}, b, {1, 2}, c, c, {0, 2}, {0, 0, 0, 2})) == RICCI_TAPP_OPERATION);

  const Product good(a, {0, 1}, b, {1, 2}, c, c, {0, 2});
  REQUIRE(good.code == 0);
  CHECK(good(1.0, x, y, 1.0, nullptr, z) == RICCI_TAPP_NO_C);
  CHECK(good(1.0, x, y, 1.0, z + 1, z) == RICCI_TAPP_OVERLAP_C_D);
  CHECK(good(1.0, z + 2, y, 0.0, nullptr, z) > RICCI_TAPP_RICCI);
  CHECK(text_of(good(1.0, z + 2, y, 0.0, nullptr, z)).find("overlap") != std::string::npos);
  CHECK(good(1.0, nullptr, y, 0.0, nullptr, z) > RICCI_TAPP_RICCI);
  CHECK(TAPP_execute_product(good.plan, 0, nullptr, nullptr, x, y, x, x, z) == RICCI_TAPP_NULL);
  CHECK(TAPP_execute_product(good.plan, 12345, nullptr, x, x, y, x, x, z) == RICCI_TAPP_HANDLE);
  CHECK(TAPP_execute_product(12345, 0, nullptr, x, x, y, x, x, z) == RICCI_TAPP_HANDLE);
  for (const double element : z) CHECK(element == 7);

  TAPP_tensor_info info = 0;
  const std::int64_t extents[] = {2, -1}, strides[] = {1, 1};
  CHECK(TAPP_create_tensor_info(&info, TAPP_F64, 2, extents, strides) == RICCI_TAPP_EXTENT);
  CHECK(TAPP_create_tensor_info(&info, TAPP_F64, -1, extents, strides) == RICCI_TAPP_MODES);
  CHECK(TAPP_create_tensor_info(&info, 6, 1, extents, strides) == RICCI_TAPP_TYPE);
  CHECK(TAPP_create_tensor_info(&info, TAPP_F64, 1, nullptr, strides) == RICCI_TAPP_NULL);
  CHECK(TAPP_destroy_tensor_info(good.plan) == RICCI_TAPP_HANDLE);
  char word[4];
  CHECK(TAPP_explain_error(0, sizeof word, word) == 3);
  CHECK(std::string(word) == "suc");
  CHECK(TAPP_check_success(0));
  CHECK_FALSE(TAPP_check_success(1));
}

TEST_CASE("infos change, attributes are kept, options of a handle reach the plan") {
  const Info info(TAPP_F64, {2, 3}, {3, 1});
  CHECK(TAPP_get_nmodes(info.handle) == 2);
  CHECK(TAPP_set_nmodes(info.handle, 3) == 0);
  std::int64_t numbers[3] = {};
  TAPP_get_extents(info.handle, numbers);
  CHECK((numbers[0] == 2 && numbers[1] == 3 && numbers[2] == 1));
  const std::int64_t extents[] = {4, 5, 6}, strides[] = {30, 6, 1};
  CHECK(TAPP_set_extents(info.handle, extents) == 0);
  CHECK(TAPP_set_strides(info.handle, strides) == 0);
  TAPP_get_strides(info.handle, numbers);
  CHECK(numbers[1] == 6);

  TAPP_handle handle = 0;
  REQUIRE(TAPP_create_handle(&handle) == 0);
  int mine = 5;
  void* got = nullptr;
  CHECK(TAPP_attr_get(handle, 3, &got) == RICCI_TAPP_KEY);
  CHECK(TAPP_attr_set(handle, 3, &mine) == 0);
  CHECK(TAPP_attr_get(handle, 3, &got) == 0);
  CHECK(got == &mine);
  CHECK(TAPP_attr_clear(handle, 3) == 0);
  CHECK(TAPP_attr_clear(handle, 3) == RICCI_TAPP_KEY);
  CHECK(TAPP_attr_set(handle + 1, 3, &mine) == RICCI_TAPP_HANDLE);
  char good[] = "threads=1", bad[] = "threads=two", unknown[] = "thread=1", impossible[] = "threads=-3";
  CHECK(TAPP_attr_set(handle, RICCI_TAPP_OPTION, good) == 0);
  CHECK(TAPP_attr_set(handle, RICCI_TAPP_OPTION, bad) > RICCI_TAPP_RICCI);
  CHECK(text_of(TAPP_attr_set(handle, RICCI_TAPP_OPTION, unknown)).find("there are device, gpu") != std::string::npos);
  const Info v(TAPP_F64, {4}, {1});
  {
    const Product product(v, {1}, v, {1}, v, v, {1}, {}, TAPP_DEFAULT_PREC, handle);
    REQUIRE(product.code == 0);
    CHECK(TAPP_attr_get(product.plan, RICCI_TAPP_EXPLAIN, &got) == 0);
    CHECK(std::strlen(static_cast<const char*>(got)) > 20);
  }
  CHECK(TAPP_attr_set(handle, RICCI_TAPP_OPTION, impossible) == 0);
  const Product refused(v, {1}, v, {1}, v, v, {1}, {}, TAPP_DEFAULT_PREC, handle);
  CHECK(text_of(refused.code).find("a plan of -3 threads") != std::string::npos);
  CHECK(TAPP_destroy_handle(handle) == 0);
  CHECK(TAPP_destroy_handle(handle) == RICCI_TAPP_HANDLE);
}
