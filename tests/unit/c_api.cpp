// The C interface, from C++: status and text for each failure, and the same results as the C++ interface.
#include <array>
#include <cstring>
#include <numeric>
#include <thread>

#include "catch.hpp"
#include "ricci/ricci.h"
#include "ricci/ricci.hpp"

using Catch::Matchers::StartsWith;

namespace {

constexpr std::int64_t kIn[] = {2, 3, 4}, kOut[] = {4, 2, 3};
const ricci_layout kInput = {RICCI_F64, 3, kIn, nullptr, 0};
const ricci_layout kOutput = {RICCI_F64, 3, kOut, nullptr, 0};

ricci_status plan_of(const char* spec, const ricci_layout& input, const ricci_layout& output,
                     const ricci_permute_options* options = nullptr) {
  ricci_plan* plan = nullptr;
  const auto status = ricci_plan_permute(spec, &input, &output, options, &plan);
  CHECK((status == RICCI_OK) == (plan != nullptr));
  ricci_plan_release(plan);
  return status;
}

}  // namespace

TEST_CASE("version, names, defaults") {
  CHECK(std::string(ricci_version()) == RICCI_VERSION);
  const char* const words[] = {"ok", "spec", "shape", "plan", "compile", "device", "cache", "io", "internal"};
  for (int k = 0; k < 9; ++k) CHECK(std::string(ricci_status_name(static_cast<ricci_status>(-k))) == words[k]);
  const auto options = ricci_permute_options_default();
  CHECK(options.device == RICCI_CPU);
  CHECK(options.gpu == -1);
  CHECK(options.alpha_re == 1);
  CHECK(options.alpha_im == 0);
  CHECK(options.beta_re == 0);
  CHECK(options.beta_im == 0);
  CHECK(options.conjugate == 0);
  CHECK(options.threads == 0);
}

TEST_CASE("the C enumerations are the C++ ones") {
  CHECK(RICCI_I8 == static_cast<int>(ricci::DType::i8));
  CHECK(RICCI_F16 == static_cast<int>(ricci::DType::f16));
  CHECK(RICCI_C128 == static_cast<int>(ricci::DType::c128));
  CHECK(RICCI_ERROR_SPEC == -1 - static_cast<int>(ricci::ErrorCode::spec));
  CHECK(RICCI_ERROR_INTERNAL == -1 - static_cast<int>(ricci::ErrorCode::internal));
}

TEST_CASE("plan and execute") {
  std::array<double, 24> a, b{}, expected;
  std::iota(a.begin(), a.end(), 1.0);
  ricci::Runtime::interpret_permute("abc->cab", ricci::Layout::row_major(ricci::DType::f64, {2, 3, 4}),
                                    ricci::Layout::row_major(ricci::DType::f64, {4, 2, 3}), a.data(), expected.data());
  ricci_plan* plan = nullptr;
  REQUIRE(ricci_plan_permute("abc->cab", &kInput, &kOutput, nullptr, &plan) == RICCI_OK);
  REQUIRE(plan != nullptr);
  CHECK(ricci_plan_execute(plan, b.data(), a.data(), nullptr) == RICCI_OK);
  CHECK(b == expected);
  CHECK_THAT(ricci_plan_source(plan), Catch::Matchers::ContainsSubstring("extern \"C\" void"));
  CHECK(ricci_plan_execute(plan, a.data(), a.data(), nullptr) == RICCI_ERROR_SHAPE);
  CHECK_THAT(ricci_last_error(), StartsWith("input and output overlap"));
  ricci_plan_release(plan);
}

TEST_CASE("options: factors, conjugation, strides, threads") {
  const std::int64_t extents[] = {2, 2}, columns[] = {1, 2};
  const ricci_layout input = {RICCI_C128, 2, extents, nullptr, 0}, output = {RICCI_C128, 2, extents, columns, 0};
  using C = std::complex<double>;
  const std::array<C, 4> a = {C{1, 2}, C{3, 4}, C{5, 6}, C{7, 8}};
  std::array<C, 4> b = {C{1, 0}, C{1, 0}, C{1, 0}, C{1, 0}};
  auto options = ricci_permute_options_default();
  options.alpha_im = 1;  // 1 + i
  options.beta_re = 2;
  options.conjugate = 1;
  options.threads = 1;
  ricci_plan* plan = nullptr;
  REQUIRE(ricci_plan_permute("ij->ij", &input, &output, &options, &plan) == RICCI_OK);
  REQUIRE(ricci_plan_execute(plan, b.data(), a.data(), nullptr) == RICCI_OK);
  const C alpha{1, 1};
  CHECK(b[0] == alpha * std::conj(a[0]) + 2.0);
  CHECK(b[1] == alpha * std::conj(a[2]) + 2.0);
  CHECK(b[2] == alpha * std::conj(a[1]) + 2.0);
  ricci_plan_release(plan);
}

TEST_CASE("every failure has its status and its text") {
  CHECK(plan_of("abc", kInput, kOutput) == RICCI_ERROR_SPEC);
  CHECK_THAT(ricci_last_error(), StartsWith("a spec says its output after '->'"));
  CHECK(plan_of("abc->acb", kInput, kOutput) == RICCI_ERROR_SHAPE);
  CHECK_THAT(ricci_last_error(), StartsWith("axis a has extent 2 in the input but 4 in the output"));

  auto layout = kInput;
  layout.type = static_cast<ricci_dtype>(14);
  CHECK(plan_of("abc->cab", layout, kOutput) == RICCI_ERROR_SHAPE);
  CHECK(std::string(ricci_last_error()) == "a layout has an unknown element type");
  layout = kInput;
  layout.rank = -1;
  CHECK(plan_of("abc->cab", layout, kOutput) == RICCI_ERROR_SHAPE);
  CHECK(std::string(ricci_last_error()) == "a layout has a negative rank, or no extents");
  layout = kInput;
  layout.extents = nullptr;
  CHECK(plan_of("abc->cab", layout, kOutput) == RICCI_ERROR_SHAPE);

  ricci_plan* plan = nullptr;
  for (int missing = 0; missing < 4; ++missing) {
    CHECK(ricci_plan_permute(missing == 0 ? nullptr : "abc->cab", missing == 1 ? nullptr : &kInput,
                             missing == 2 ? nullptr : &kOutput, nullptr,
                             missing == 3 ? nullptr : &plan) == RICCI_ERROR_SHAPE);
    CHECK(std::string(ricci_last_error()) == "a null argument where a value is needed");
  }
  CHECK(plan == nullptr);
  double element = 0;
  CHECK(ricci_plan_execute(nullptr, &element, &element, nullptr) == RICCI_ERROR_PLAN);
  CHECK(std::string(ricci_plan_source(nullptr)).empty());
  ricci_plan_release(nullptr);
}

TEST_CASE("the last error is each thread's own") {
  CHECK(plan_of("abc", kInput, kOutput) == RICCI_ERROR_SPEC);
  const std::string mine = ricci_last_error();
  std::thread([] {
    CHECK(std::string(ricci_last_error()).empty());
    CHECK(plan_of("a->b->c", kInput, kOutput) == RICCI_ERROR_SPEC);
  }).join();
  CHECK(ricci_last_error() == mine);
}

TEST_CASE("rank 0 needs no extents") {
  const ricci_layout scalar = {RICCI_I16, 0, nullptr, nullptr, 0};
  ricci_plan* plan = nullptr;
  REQUIRE(ricci_plan_permute("->", &scalar, &scalar, nullptr, &plan) == RICCI_OK);
  const std::int16_t a = 7;
  std::int16_t b = 0;
  CHECK(ricci_plan_execute(plan, &b, &a, nullptr) == RICCI_OK);
  CHECK(b == 7);
  ricci_plan_release(plan);
}
