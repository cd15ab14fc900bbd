// The C interface, from C++: status and text for each failure, and the same results as the C++ interface.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <thread>

#include "catch.hpp"
#include "ricci/ricci.h"
#include "ricci/ricci.hpp"

using Catch::Matchers::StartsWith;

namespace {

constexpr std::int64_t kIn[] = {2, 3, 4}, kOut[] = {4, 2, 3};
const ricci_layout kInput = {RICCI_F64, 3, kIn, nullptr, 0};
const ricci_layout kOutput = {RICCI_F64, 3, kOut, nullptr, 0};

/// Puts a number where an enumerator stands, as C does; C++ has no such value.
template <class Enum>
void set_number(Enum& enumerator, int number) {
  std::memcpy(&enumerator, &number, sizeof number);
}

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
  CHECK(RICCI_PLAN_MEASURE == static_cast<int>(ricci::PlanMode::measure));
  CHECK(RICCI_PLAN_REMEASURE == static_cast<int>(ricci::PlanMode::remeasure));
  CHECK(RICCI_PLAN_MODEL == static_cast<int>(ricci::PlanMode::model));
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

TEST_CASE("a mode is taken over") {
  auto options = ricci_permute_options_default();
  CHECK(options.mode == RICCI_PLAN_ESTIMATE);
  for (const auto& [mode, choice] :
       {std::pair(RICCI_PLAN_REMEASURE, "measured"), std::pair(RICCI_PLAN_MEASURE, "tuned"),
        std::pair(RICCI_PLAN_ESTIMATE, "tuned"), std::pair(RICCI_PLAN_MODEL, "estimated")}) {
    options.mode = mode;
    ricci_plan* plan = nullptr;
    REQUIRE(ricci_plan_permute("abc->cab", &kInput, &kOutput, &options, &plan) == RICCI_OK);
    CHECK(std::string(ricci_plan_choice(plan)) == choice);
    ricci_plan_release(plan);
  }
  CHECK(std::string(ricci_plan_choice(nullptr)).empty());
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
  set_number(layout.type, 14);
  CHECK(plan_of("abc->cab", layout, kOutput) == RICCI_ERROR_SHAPE);
  CHECK_THAT(ricci_last_error(), StartsWith("a layout has an unknown element type, 14; there are 0 (RICCI_I8) to 13"));
  layout = kInput;
  layout.rank = -1;
  CHECK(plan_of("abc->cab", layout, kOutput) == RICCI_ERROR_SHAPE);
  CHECK(std::string(ricci_last_error()) == "a layout has rank -1; a tensor has 0 to 32 axes");
  for (const int rank : {33, 1 << 30, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    layout.rank = rank;  // the extents behind it are never read
    CHECK(plan_of("abc->cab", layout, kOutput) == RICCI_ERROR_SHAPE);
    CHECK_THAT(ricci_last_error(), StartsWith("a layout has rank " + std::to_string(rank)));
  }
  layout = kInput;
  layout.extents = nullptr;
  CHECK(plan_of("abc->cab", layout, kOutput) == RICCI_ERROR_SHAPE);
  CHECK(std::string(ricci_last_error()) == "a layout of rank 3 has no extents");

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

TEST_CASE("numbers that are no enumerators, ordinals or counts are refused before anything is read") {
  auto options = ricci_permute_options_default();
  set_number(options.device, 7);
  CHECK(plan_of("abc->cab", kInput, kOutput, &options) == RICCI_ERROR_DEVICE);
  CHECK(std::string(ricci_last_error()) == "7 is no device; there are 0 (RICCI_CPU) and 1 (RICCI_GPU)");
  options = ricci_permute_options_default();
  set_number(options.mode, -1);
  CHECK(plan_of("abc->cab", kInput, kOutput, &options) == RICCI_ERROR_PLAN);
  CHECK_THAT(ricci_last_error(), StartsWith("-1 is no plan mode"));
  for (const int threads : {-4, std::numeric_limits<int>::min()}) {
    options = ricci_permute_options_default();
    options.threads = threads;
    CHECK(plan_of("abc->cab", kInput, kOutput, &options) == RICCI_ERROR_PLAN);
    CHECK_THAT(ricci_last_error(), StartsWith("a plan of " + std::to_string(threads) + " threads"));
  }
  options = ricci_permute_options_default();
  options.gpu = -2;
  CHECK(plan_of("abc->cab", kInput, kOutput, &options) == RICCI_ERROR_DEVICE);
  CHECK_THAT(ricci_last_error(), StartsWith("-2 is no GPU's number"));

  const ricci_layout inputs[] = {kInput, kInput};
  ricci_plan* plan = nullptr;
  auto einsum = ricci_einsum_options_default();
  set_number(einsum.path, 2);
  CHECK(ricci_plan_einsum("abc,abc->", 2, inputs, nullptr, &einsum, &plan) == RICCI_ERROR_PLAN);
  CHECK_THAT(ricci_last_error(), StartsWith("2 is no path"));
  const int conjugate[] = {1, 0};
  einsum = ricci_einsum_options_default();
  einsum.conjugate = conjugate;
  for (const int count : {0, 1, 3, 1 << 30}) {  // neither layouts nor conjugations past the spec's operands are read
    CHECK(ricci_plan_einsum("abc,abc->", count, inputs, nullptr, &einsum, &plan) == RICCI_ERROR_SHAPE);
    CHECK_THAT(ricci_last_error(), StartsWith("the spec has 2 operands, " + std::to_string(count) + " layout"));
  }

  const char* const text = "index i\ninput x(i) : f64\noutput y(i) : f64\ny(i) = x(i)\n";
  const ricci_extent extent = {"i", 5};
  for (const int count : {2, 1 << 30}) {
    CHECK(ricci_plan_program(text, count, &extent, RICCI_CPU, -1, 0, RICCI_PLAN_ESTIMATE, &plan) == RICCI_ERROR_SHAPE);
    CHECK_THAT(ricci_last_error(), StartsWith(std::to_string(count) + " extents were given"));
  }
  CHECK(ricci_plan_program(text, 1, &extent, RICCI_CPU, -1, -1, RICCI_PLAN_ESTIMATE, &plan) == RICCI_ERROR_PLAN);
  CHECK(plan == nullptr);
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

TEST_CASE("an einsum of three operands, with a workspace of one's own") {
  const std::int64_t ab[] = {2, 3}, bc[] = {3, 4}, cd[] = {4, 2};
  const ricci_layout inputs[] = {
      {RICCI_F64, 2, ab, nullptr, 0}, {RICCI_F64, 2, bc, nullptr, 0}, {RICCI_F64, 2, cd, nullptr, 0}};
  std::array<double, 6> a{};
  std::array<double, 12> b{};
  std::array<double, 8> c{};
  std::iota(a.begin(), a.end(), 1.0);
  std::iota(b.begin(), b.end(), -5.0);
  std::iota(c.begin(), c.end(), 2.0);
  double expected[4] = {};
  for (int i = 0; i < 2; ++i) {
    for (int l = 0; l < 2; ++l) {
      for (int j = 0; j < 3; ++j) {
        for (int k = 0; k < 4; ++k) {
          expected[2 * i + l] += 2 * a[static_cast<std::size_t>(3 * i + j)] * b[static_cast<std::size_t>(4 * j + k)] *
                                 c[static_cast<std::size_t>(2 * k + l)];
        }
      }
    }
  }
  auto options = ricci_einsum_options_default();
  options.alpha_re = 2;
  ricci_plan* plan = nullptr;
  REQUIRE(ricci_plan_einsum("ab,bc,cd->ad", 3, inputs, nullptr, &options, &plan) == RICCI_OK);
  CHECK(ricci_plan_inputs(plan) == 3);
  CHECK(ricci_plan_outputs(plan) == 1);
  CHECK(ricci_plan_params(plan) == 0);
  CHECK(std::string(ricci_plan_input_name(plan, 2)) == "C");
  CHECK(std::string(ricci_plan_output_name(plan, 0)) == "D");
  CHECK(std::string(ricci_plan_output_name(plan, 1)).empty());
  ricci_dtype type = RICCI_I8;
  int rank = 0;
  std::int64_t extents[2] = {};
  CHECK(ricci_plan_output_shape(plan, &type, &rank, extents) == RICCI_OK);
  CHECK(type == RICCI_F64);
  CHECK(rank == 2);
  CHECK(extents[0] == 2);
  CHECK(extents[1] == 2);

  const auto bytes = ricci_plan_workspace_bytes(plan);
  REQUIRE(bytes >= 256);
  alignas(256) static unsigned char workspace[8192];
  REQUIRE(bytes <= static_cast<std::int64_t>(sizeof workspace) - 256);
  double d[4] = {};
  void* outputs[] = {d};
  const void* from[] = {a.data(), b.data(), c.data()};
  CHECK(ricci_execute(plan, outputs, from, nullptr) == RICCI_OK);
  for (int k = 0; k < 4; ++k) CHECK(d[k] == expected[k]);
  std::memset(d, 0, sizeof d);
  ricci_call call = {nullptr, workspace, bytes, nullptr};
  CHECK(ricci_execute(plan, outputs, from, &call) == RICCI_OK);
  for (int k = 0; k < 4; ++k) CHECK(d[k] == expected[k]);

  std::memset(d, 0, sizeof d);
  call.workspace_bytes = bytes - 1;
  CHECK(ricci_execute(plan, outputs, from, &call) == RICCI_ERROR_SHAPE);
  CHECK_THAT(ricci_last_error(), StartsWith("the workspace has "));
  call = {nullptr, workspace + 8, bytes, nullptr};
  CHECK(ricci_execute(plan, outputs, from, &call) == RICCI_ERROR_SHAPE);
  CHECK_THAT(ricci_last_error(), Catch::Matchers::ContainsSubstring("is not a multiple of 256 bytes"));
  call = {nullptr, workspace, bytes, nullptr};
  outputs[0] = workspace + 64;
  CHECK(ricci_execute(plan, outputs, from, &call) == RICCI_ERROR_SHAPE);
  CHECK_THAT(ricci_last_error(), StartsWith("output D and the workspace overlap"));
  outputs[0] = b.data() + 2;
  CHECK(ricci_execute(plan, outputs, from, nullptr) == RICCI_ERROR_SHAPE);
  CHECK_THAT(ricci_last_error(), StartsWith("input B and output D overlap"));
  outputs[0] = nullptr;
  CHECK(ricci_execute(plan, outputs, from, nullptr) == RICCI_ERROR_SHAPE);
  CHECK(std::string(ricci_last_error()) == "the output D pointer is null");
  CHECK(ricci_execute(plan, nullptr, from, nullptr) == RICCI_ERROR_SHAPE);
  CHECK(std::count(d, d + 4, 0.0) == 4);
  // The call for one input and one output is not this plan's.
  CHECK(ricci_plan_execute(plan, d, a.data(), nullptr) == RICCI_ERROR_SHAPE);
  CHECK_THAT(ricci_last_error(),
             StartsWith("this plan writes 1 (D) and reads 3 (A, B, C); 1 and 1 pointers were given"));
  ricci_plan_release(plan);
}

TEST_CASE("a program from text, its parameter changing from call to call") {
  const char* const text =
      "program scaled\nindex i\nparam s : f64\ninput x(i) : f64\noutput y(i) : f64\ny(i) = s * x(i) + 1\n";
  ricci_plan* plan = nullptr;
  CHECK(ricci_plan_program(text, 0, nullptr, RICCI_CPU, -1, 0, RICCI_PLAN_ESTIMATE, &plan) ==
        RICCI_ERROR_SHAPE);  // i is open
  CHECK(plan == nullptr);
  CHECK(ricci_plan_program("y(i) = 1", 0, nullptr, RICCI_CPU, -1, 0, RICCI_PLAN_ESTIMATE, &plan) == RICCI_ERROR_SPEC);
  const ricci_extent extent = {"i", 5};
  REQUIRE(ricci_plan_program(text, 1, &extent, RICCI_CPU, -1, 0, RICCI_PLAN_ESTIMATE, &plan) == RICCI_OK);
  CHECK(ricci_plan_params(plan) == 1);
  CHECK(std::string(ricci_plan_param_name(plan, 0)) == "s");
  const double x[5] = {1, 2, 3, 4, 5};
  double y[5] = {};
  void* outputs[] = {y};
  const void* inputs[] = {x};
  for (const double s : {2.0, -0.5, 0.0}) {
    const ricci_scalar value = {s, 0};
    const ricci_call call = {&value, nullptr, 0, nullptr};
    REQUIRE(ricci_execute(plan, outputs, inputs, &call) == RICCI_OK);
    for (int k = 0; k < 5; ++k) CHECK(y[k] == s * x[k] + 1);
  }
  CHECK(ricci_execute(plan, outputs, inputs, nullptr) == RICCI_ERROR_SHAPE);  // no value
  const ricci_scalar wrong = {1, 1};
  const ricci_call call = {&wrong, nullptr, 0, nullptr};
  CHECK(ricci_execute(plan, outputs, inputs, &call) == RICCI_ERROR_SHAPE);
  CHECK(std::string(ricci_last_error()) == "parameter s = (1, 1) has an imaginary part, but it is f64");
  ricci_plan_release(plan);
}
