// The C interface, from C++: status and text for each failure, and the same results as the C++ interface.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "ricci/ricci.h"
#include "ricci/ricci.hpp"

namespace c_api_test {

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

/// Options of a kind, with some of them set.
class Options {
 public:
  explicit Options(ricci_options_kind kind, const std::vector<std::pair<const char*, const char*>>& pairs = {}) {
    REQUIRE(ricci_options_create(kind, &options_) == RICCI_OK);
    for (const auto& [key, value] : pairs) {
      INFO(key << " = " << value);
      REQUIRE(set(key, value) == RICCI_OK);
    }
  }
  ~Options() { ricci_options_destroy(options_); }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  ricci_status set(const char* key, const char* value) { return ricci_options_set(options_, key, value); }
  operator const ricci_options*() const { return options_; }
  operator ricci_options*() { return options_; }

 private:
  ricci_options* options_ = nullptr;
};

std::string text_of(const ricci_plan* plan, const char* name) {
  const char* text = nullptr;
  REQUIRE(ricci_plan_text(plan, name, &text) == RICCI_OK);
  return text;
}

ricci_status plan_of(const char* spec, const ricci_layout& input, const ricci_layout& output,
                     const ricci_options* options = nullptr) {
  ricci_plan* plan = nullptr;
  const auto status = ricci_plan_permute(nullptr, spec, &input, &output, options, &plan);
  CHECK((status == RICCI_OK) == (plan != nullptr));
  ricci_plan_release(plan);
  return status;
}

}  // namespace

TEST_CASE("version, names") {
  CHECK(std::string(ricci_version()) == RICCI_VERSION);
  const char* const words[] = {"ok", "spec", "shape", "plan", "compile", "device", "cache", "io", "internal"};
  for (int k = 0; k < 9; ++k) CHECK(std::string(ricci_status_name(static_cast<ricci_status>(-k))) == words[k]);
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
  REQUIRE(ricci_plan_permute(nullptr, "abc->cab", &kInput, &kOutput, nullptr, &plan) == RICCI_OK);
  REQUIRE(plan != nullptr);
  CHECK(ricci_plan_execute(plan, b.data(), a.data(), nullptr) == RICCI_OK);
  CHECK(b == expected);
  CHECK_THAT(ricci_plan_source(plan), Catch::Matchers::ContainsSubstring("extern \"C\" void"));
  CHECK(ricci_plan_execute(plan, a.data(), a.data(), nullptr) == RICCI_ERROR_SHAPE);
  CHECK_THAT(ricci_last_error(), StartsWith("input and output overlap"));
  ricci_plan_release(plan);
}

TEST_CASE("a mode is taken over") {
  for (const auto& [mode, choice] : {std::pair("remeasure", "measured"), std::pair("measure", "tuned"),
                                     std::pair("estimate", "tuned"), std::pair("untuned", "estimated")}) {
    const Options options(RICCI_OPTIONS_PERMUTE, {{"mode", mode}});
    ricci_plan* plan = nullptr;
    REQUIRE(ricci_plan_permute(nullptr, "abc->cab", &kInput, &kOutput, options, &plan) == RICCI_OK);
    CHECK(text_of(plan, "choice") == choice);
    ricci_plan_release(plan);
  }
}

TEST_CASE("options: factors, conjugation, strides, threads") {
  const std::int64_t extents[] = {2, 2}, columns[] = {1, 2};
  const ricci_layout input = {RICCI_C128, 2, extents, nullptr, 0}, output = {RICCI_C128, 2, extents, columns, 0};
  using C = std::complex<double>;
  const std::array<C, 4> a = {C{1, 2}, C{3, 4}, C{5, 6}, C{7, 8}};
  std::array<C, 4> b = {C{1, 0}, C{1, 0}, C{1, 0}, C{1, 0}};
  const Options options(RICCI_OPTIONS_PERMUTE, {{"alpha", "1+1i"}, {"beta", "2"}, {"conj", "all"}, {"threads", "1"}});
  ricci_plan* plan = nullptr;
  REQUIRE(ricci_plan_permute(nullptr, "ij->ij", &input, &output, options, &plan) == RICCI_OK);
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
    CHECK(ricci_plan_permute(nullptr, missing == 0 ? nullptr : "abc->cab", missing == 1 ? nullptr : &kInput,
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
  for (const char* threads : {"-4", "-2147483648"}) {
    CHECK(plan_of("abc->cab", kInput, kOutput, Options(RICCI_OPTIONS_PERMUTE, {{"threads", threads}})) ==
          RICCI_ERROR_PLAN);
    CHECK_THAT(ricci_last_error(), StartsWith("a plan of " + std::string(threads) + " threads"));
  }
  CHECK(plan_of("abc->cab", kInput, kOutput, Options(RICCI_OPTIONS_PERMUTE, {{"gpu", "-2"}})) == RICCI_ERROR_DEVICE);
  CHECK_THAT(ricci_last_error(), StartsWith("-2 is no GPU's number"));

  const ricci_layout inputs[] = {kInput, kInput};
  ricci_plan* plan = nullptr;
  for (const int count : {0, 1, 3, 1 << 30}) {  // no layouts past the spec's operands are read
    CHECK(ricci_plan_einsum(nullptr, "abc,abc->", count, inputs, nullptr, nullptr, &plan) == RICCI_ERROR_SHAPE);
    CHECK_THAT(ricci_last_error(), StartsWith("the spec has 2 operands, " + std::to_string(count) + " layout"));
  }
  const Options third(RICCI_OPTIONS_EINSUM, {{"conj", "1,3"}});
  CHECK(ricci_plan_einsum(nullptr, "abc,abc->", 2, inputs, nullptr, third, &plan) == RICCI_ERROR_SHAPE);
  CHECK(std::string(ricci_last_error()) == "conj: there is no operand 3; they count from 1 to 2");

  const char* const text = "index i\ninput x(i) : f64\noutput y(i) : f64\ny(i) = x(i)\n";
  const ricci_extent extent = {"i", 5};
  for (const int count : {2, 1 << 30}) {
    CHECK(ricci_plan_program(nullptr, text, count, &extent, nullptr, &plan) == RICCI_ERROR_SHAPE);
    CHECK_THAT(ricci_last_error(), StartsWith(std::to_string(count) + " extents were given"));
  }
  CHECK(plan == nullptr);
}

TEST_CASE("options are refused by key, by value and by kind, and are as before then") {
  Options einsum(RICCI_OPTIONS_EINSUM, {{"alpha", "any"}, {"path", "memory"}, {"precision", "tf32"}});
  const struct {
    const char *key, *value;
    ricci_status status;
    const char* text;
  } refused[] = {
      {"alhpa", "1", RICCI_ERROR_PLAN,
       "no option \"alhpa\" here; there are alpha, beta, conj-addend, conj, constant, path, device, gpu, target, "
       "schedule, "
       "threads, mode, precision, measured, workspace-limit"},
      {"cache-dir", "off", RICCI_ERROR_PLAN, "no option \"cache-dir\" here; there are alpha"},
      {"alpha", "two", RICCI_ERROR_SHAPE, "alpha: 'two' is no number"},
      {"path", "short", RICCI_ERROR_PLAN, "no path \"short\"; there are time, flops, memory"},
      {"device", "tpu", RICCI_ERROR_DEVICE, "no device \"tpu\"; there are cpu, gpu"},
      {"target", "sm_9", RICCI_ERROR_DEVICE, "target: 'sm_9' is no compute capability"},
      {"mode", "fast", RICCI_ERROR_PLAN, "no mode \"fast\"; there are estimate, measure, remeasure, untuned"},
      {"precision", "f8", RICCI_ERROR_PLAN,
       "no precision \"f8\"; there are operands, tf32, tf32x3, f32, f64, bf16, f16, i32"},
      {"threads", "4294967296", RICCI_ERROR_SHAPE, "threads: '4294967296' does not fit in 32 bits"},
      {"measured", "", RICCI_ERROR_SHAPE, "measured: '' is no whole number"},
  };
  for (const auto& one : refused) {
    CHECK(einsum.set(one.key, one.value) == one.status);
    CHECK_THAT(ricci_last_error(), StartsWith(one.text));
    CHECK(ricci_last_error_status() == one.status);
  }
  CHECK(einsum.set(nullptr, "1") == RICCI_ERROR_SHAPE);
  CHECK(einsum.set("alpha", nullptr) == RICCI_ERROR_SHAPE);
  const Options permute(RICCI_OPTIONS_PERMUTE);
  ricci_plan* plan = nullptr;
  CHECK(ricci_plan_einsum(nullptr, "abc->", 1, &kInput, nullptr, permute, &plan) == RICCI_ERROR_PLAN);
  CHECK_THAT(ricci_last_error(), StartsWith("these options were created for something else"));
  ricci_options_kind kind{};
  set_number(kind, 4);
  ricci_options* none = nullptr;
  CHECK(ricci_options_create(kind, &none) == RICCI_ERROR_PLAN);
  CHECK(none == nullptr);
  CHECK_THAT(ricci_last_error(), StartsWith("4 is no kind of options"));

  // alpha is still the one for all: the values above changed nothing.
  REQUIRE(ricci_plan_einsum(nullptr, "abc->", 1, &kInput, nullptr, einsum, &plan) == RICCI_OK);
  std::array<double, 24> a;
  a.fill(1);
  double sum = 0;
  void* outputs[] = {&sum};
  const void* from[] = {a.data()};
  const ricci_scalar factor = {-3, 0};
  ricci_call call = RICCI_CALL;
  CHECK(ricci_execute(plan, outputs, from, &call) == RICCI_OK);
  CHECK(sum == 48);  // "any" is 2 where a call says nothing
  call.alpha = &factor;
  CHECK(ricci_execute(plan, outputs, from, &call) == RICCI_OK);
  CHECK(sum == -72);
  call.beta = &factor;  // the plan was made with beta = 0
  CHECK(ricci_execute(plan, outputs, from, &call) == RICCI_ERROR_PLAN);
  CHECK(sum == -72);
  // A caller of an older header has fewer members, one of a newer header is told.
  call.size = offsetof(ricci_call, beta);
  CHECK(ricci_execute(plan, outputs, from, &call) == RICCI_OK);
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{-8}, std::int64_t{sizeof call} + 8}) {
    call.size = size;
    CHECK(ricci_execute(plan, outputs, from, &call) == RICCI_ERROR_PLAN);
    CHECK_THAT(ricci_last_error(), StartsWith("a ricci_call of " + std::to_string(size) + " bytes"));
  }
  ricci_plan_release(plan);
}

TEST_CASE("an error tells its place in a spec and in a program") {
  int line = -1, column = -1;
  std::int64_t offset = -2;
  const auto at = [&] {
    ricci_last_error_position(&line, &column, &offset);
    return std::array<std::int64_t, 3>{line, column, offset};
  };
  using Place = std::array<std::int64_t, 3>;
  CHECK(plan_of("abc->ca?", kInput, kOutput) == RICCI_ERROR_SPEC);
  CHECK(at() == Place{1, 8, 7});
  CHECK(plan_of("abc->acb", kInput, kOutput) == RICCI_ERROR_SHAPE);
  CHECK(at() == Place{1, 1, 0});
  ricci_plan* plan = nullptr;
  CHECK(ricci_plan_program(nullptr, "index i\noutput y(i) : f64\ny(i) = 1 + z(i)\n", 0, nullptr, nullptr, &plan) ==
        RICCI_ERROR_SPEC);
  CHECK_THAT(ricci_last_error(), Catch::Matchers::ContainsSubstring("line 3, column 12"));
  CHECK(at() == Place{3, 12, 37});
  CHECK(ricci_plan_text(nullptr, "source", nullptr) == RICCI_ERROR_SHAPE);
  CHECK(at() == Place{0, 0, -1});
  ricci_last_error_position(nullptr, nullptr, nullptr);
}

TEST_CASE("texts and numbers of a plan, by name") {
  ricci_plan* plan = nullptr;
  REQUIRE(ricci_plan_permute(nullptr, "abc->cab", &kInput, &kOutput, nullptr, &plan) == RICCI_OK);
  for (const char* name : {"source", "explain", "program", "passes", "key", "kernel", "schedule", "choice", "origin"}) {
    INFO(name);
    CHECK_FALSE(text_of(plan, name).empty());
  }
  const char* text = nullptr;
  CHECK(ricci_plan_text(plan, "poem", &text) == RICCI_ERROR_PLAN);
  CHECK_THAT(ricci_last_error(), StartsWith("nothing is called \"poem\" here; there are source, explain, program"));
  CHECK(text == nullptr);
  double number = 0;
  CHECK(ricci_plan_number(plan, "compulsory-bytes", &number) == RICCI_OK);
  CHECK(number == 2 * 24 * 8);
  CHECK(ricci_plan_number(plan, "steps", &number) == RICCI_OK);
  CHECK(number == 1);
  CHECK(ricci_plan_number(plan, "weight", &number) == RICCI_ERROR_PLAN);
  ricci_plan_release(plan);
}

TEST_CASE("a runtime of one's own has a cache of its own") {
  const Options options(RICCI_OPTIONS_RUNTIME, {{"cache-dir", "off"}, {"threads", "2"}, {"pin", "false"}});
  ricci_runtime* runtime = nullptr;
  REQUIRE(ricci_runtime_create(options, &runtime) == RICCI_OK);
  std::int64_t made = -1, stored = -1;
  CHECK(ricci_runtime_number(runtime, "made", &made) == RICCI_OK);
  CHECK(made == 0);
  ricci_plan* plan = nullptr;
  REQUIRE(ricci_plan_permute(runtime, "abc->cab", &kInput, &kOutput, nullptr, &plan) == RICCI_OK);
  CHECK(ricci_runtime_number(runtime, "made", &made) == RICCI_OK);
  CHECK(made > 0);
  CHECK(ricci_runtime_number(runtime, "stored", &stored) == RICCI_OK);
  CHECK(stored == 0);
  CHECK(ricci_runtime_number(runtime, "hits", &made) == RICCI_ERROR_PLAN);
  ricci_runtime_destroy(runtime);
  std::array<double, 24> a{}, b{};
  CHECK(ricci_plan_execute(plan, b.data(), a.data(), nullptr) == RICCI_OK);  // plans outlive it
  ricci_plan_release(plan);
  const Options many(RICCI_OPTIONS_RUNTIME, {{"threads", "-1"}});
  CHECK(ricci_runtime_create(many, &runtime) == RICCI_ERROR_PLAN);
  CHECK(runtime == nullptr);
}

TEST_CASE("the log goes where a program wants it") {
  std::string lines;
  ricci_set_log_topics(4);
  ricci_set_log_sink(
      [](unsigned topic, const char* line, void* context) {
        if (topic == 4) *static_cast<std::string*>(context) += line;
      },
      &lines);
  CHECK(plan_of("abc->cab", kInput, kOutput) == RICCI_OK);
  ricci_set_log_sink(nullptr, nullptr);
  ricci_set_log_topics(0);
  CHECK_FALSE(lines.empty());
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
  REQUIRE(ricci_plan_permute(nullptr, "->", &scalar, &scalar, nullptr, &plan) == RICCI_OK);
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
  const Options options(RICCI_OPTIONS_EINSUM, {{"alpha", "2"}, {"path", "flops"}});
  ricci_plan* plan = nullptr;
  REQUIRE(ricci_plan_einsum(nullptr, "ab,bc,cd->ad", 3, inputs, nullptr, options, &plan) == RICCI_OK);
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
  ricci_call call = RICCI_CALL;
  call.workspace = workspace;
  call.workspace_bytes = bytes;
  CHECK(ricci_execute(plan, outputs, from, &call) == RICCI_OK);
  for (int k = 0; k < 4; ++k) CHECK(d[k] == expected[k]);

  std::memset(d, 0, sizeof d);
  call.workspace_bytes = bytes - 1;
  CHECK(ricci_execute(plan, outputs, from, &call) == RICCI_ERROR_SHAPE);
  CHECK_THAT(ricci_last_error(), StartsWith("the workspace has "));
  call.workspace_bytes = bytes;
  call.workspace = workspace + 8;
  CHECK(ricci_execute(plan, outputs, from, &call) == RICCI_ERROR_SHAPE);
  CHECK_THAT(ricci_last_error(), Catch::Matchers::ContainsSubstring("is not a multiple of 256 bytes"));
  call.workspace = workspace;
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

TEST_CASE("an addend of another type, in another order, read from where it lies") {
  const std::int64_t square[] = {2, 2}, columns[] = {1, 2};
  const ricci_layout matrix = {RICCI_F64, 2, square, nullptr, 0}, old = {RICCI_F32, 2, square, columns, 0};
  const ricci_layout operands[] = {matrix, matrix};
  Options options(RICCI_OPTIONS_EINSUM, {{"alpha", "2"}, {"beta", "any"}});
  REQUIRE(ricci_options_set_layout(options, "addend", &old) == RICCI_OK);
  ricci_plan* plan = nullptr;
  REQUIRE(ricci_plan_einsum(nullptr, "ij,jk->ik", 2, operands, &matrix, options, &plan) == RICCI_OK);
  REQUIRE(ricci_plan_inputs(plan) == 3);
  CHECK(std::string(ricci_plan_output_name(plan, 0)) == "D");
  const std::array<double, 4> a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
  const std::array<float, 4> c = {1, 2, 3, 4};
  std::array<double, 4> d = {};
  const void* const inputs[] = {a.data(), b.data(), c.data()};
  void* const outputs[] = {d.data()};
  const ricci_scalar beta = {-1, 0};
  ricci_call call = RICCI_CALL;
  call.beta = &beta;
  REQUIRE(ricci_execute(plan, outputs, inputs, &call) == RICCI_OK);
  CHECK(d == std::array<double, 4>{38 - 1, 44 - 3, 86 - 2, 100 - 4});
  ricci_plan_release(plan);

  CHECK(ricci_options_set_layout(options, "output", &old) == RICCI_ERROR_PLAN);
  CHECK(std::string(ricci_last_error()) == "no layout \"output\" here; there is addend");
  Options program(RICCI_OPTIONS_PROGRAM);
  CHECK(ricci_options_set_layout(program, "addend", &old) == RICCI_ERROR_PLAN);
  CHECK(ricci_options_set_layout(options, "addend", nullptr) == RICCI_ERROR_SHAPE);
}

TEST_CASE("a constant operand is packed once, and used by many calls") {
  const std::int64_t shape[] = {3, 4}, wide[] = {5, 4}, out[] = {3, 5};
  const ricci_layout operands[] = {{RICCI_F32, 2, shape, nullptr, 0}, {RICCI_F32, 2, wide, nullptr, 0}};
  const ricci_layout output = {RICCI_F32, 2, out, nullptr, 0};
  const Options options(RICCI_OPTIONS_EINSUM, {{"constant", "2"}});
  ricci_plan* plan = nullptr;
  REQUIRE(ricci_plan_einsum(nullptr, "ij,kj->ik", 2, operands, &output, options, &plan) == RICCI_OK);
  CHECK(ricci_plan_inputs(plan) == 1);
  CHECK(ricci_plan_constants(plan) == 1);
  double bytes = 0;
  CHECK(ricci_plan_number(plan, "packed-bytes", &bytes) == RICCI_OK);
  CHECK(bytes == 256);
  std::array<float, 20> b;
  std::iota(b.begin(), b.end(), 1.0F);
  const void* const constants[] = {b.data()};
  ricci_packed* packed = nullptr;
  REQUIRE(ricci_plan_pack(plan, constants, nullptr, &packed) == RICCI_OK);
  const auto kept = b;
  b.fill(0);  // no longer needed

  std::array<float, 12> a;
  std::array<float, 15> c;
  const void* const inputs[] = {a.data()};
  void* const outputs[] = {c.data()};
  CHECK(ricci_execute(plan, outputs, inputs, nullptr) == RICCI_ERROR_PLAN);
  CHECK_THAT(ricci_last_error(), StartsWith("this plan has constant operands; give what its pack() made"));
  ricci_call call = RICCI_CALL;
  call.packed = packed;
  for (const float first : {1.0F, -3.0F}) {
    std::iota(a.begin(), a.end(), first);
    REQUIRE(ricci_execute(plan, outputs, inputs, &call) == RICCI_OK);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t k = 0; k < 5; ++k) {
        float sum = 0;
        for (std::size_t j = 0; j < 4; ++j) sum += a[4 * i + j] * kept[4 * k + j];
        CHECK(c[5 * i + k] == sum);
      }
    }
  }
  ricci_plan* other = nullptr;
  REQUIRE(ricci_plan_einsum(nullptr, "ij,kj->ik", 2, operands, &output, options, &other) == RICCI_OK);
  CHECK(ricci_execute(other, outputs, inputs, &call) == RICCI_ERROR_PLAN);
  CHECK(std::string(ricci_last_error()) == "Call::packed was made by the pack() of another plan");
  ricci_plan_release(other);
  ricci_plan_release(plan);
  ricci_packed_release(packed);  // outlives its plan

  const Options all(RICCI_OPTIONS_EINSUM, {{"constant", "all"}});
  CHECK(ricci_plan_einsum(nullptr, "ij,kj->ik", 2, operands, &output, all, &plan) == RICCI_ERROR_PLAN);
  CHECK_THAT(ricci_last_error(), StartsWith("all operands are constant, so there is nothing to compute"));
  REQUIRE(ricci_plan_einsum(nullptr, "ij,kj->ik", 2, operands, &output, nullptr, &plan) == RICCI_OK);
  CHECK(ricci_plan_pack(plan, constants, nullptr, &packed) == RICCI_ERROR_PLAN);
  CHECK_THAT(ricci_last_error(), StartsWith("this plan has no constant operands"));
  CHECK(ricci_plan_load(plan, 0) == RICCI_ERROR_PLAN);
  ricci_plan_release(plan);
}

TEST_CASE("a workspace within a limit, or a refusal that says the number") {
  const std::int64_t shape[] = {64, 64};
  const ricci_layout matrix = {RICCI_F64, 2, shape, nullptr, 0};
  const ricci_layout chain[] = {matrix, matrix, matrix};
  const auto bytes = [&](const char* limit) {
    const Options options(RICCI_OPTIONS_EINSUM, {{"workspace-limit", limit}});
    ricci_plan* plan = nullptr;
    REQUIRE(ricci_plan_einsum(nullptr, "ij,jk,kl->il", 3, chain, nullptr, options, &plan) == RICCI_OK);
    const auto needed = ricci_plan_workspace_bytes(plan);
    ricci_plan_release(plan);
    return needed;
  };
  CHECK(bytes("-1") == 64 * 64 * 8);
  CHECK(bytes("32768") == 64 * 64 * 8);
  const auto sliced = bytes("32767");  // one block of the rows of ij,jk
  CHECK((sliced > 0 && sliced <= 32767));
  CHECK(bytes("0") == 0);  // computed where it is used

  const char* const text =
      "index i = 64\ninput a(i, j) : f64\ntemp t(i, j) : f64\noutput b(i, j) : f64\n"
      "t(i, j) = sum(k, a(i, k) * a(k, j))\nb(i, j) = sum(k, t(i, k) * t(k, j))\n";
  const std::string indexed = std::string("index j = 64\nindex k = 64\n") + text;
  const Options limited(RICCI_OPTIONS_PROGRAM, {{"workspace-limit", "1000"}});
  ricci_plan* plan = nullptr;
  CHECK(ricci_plan_program(nullptr, indexed.c_str(), 0, nullptr, limited, &plan) == RICCI_ERROR_PLAN);
  CHECK_THAT(ricci_last_error(), StartsWith("this needs a workspace of 32768 bytes, and the limit is 1000"));
  const Options wrong(RICCI_OPTIONS_PROGRAM, {{"workspace-limit", "-2"}});
  CHECK(ricci_plan_program(nullptr, indexed.c_str(), 0, nullptr, wrong, &plan) == RICCI_ERROR_PLAN);
  CHECK_THAT(ricci_last_error(), StartsWith("a workspace limit of -2 bytes"));
}

TEST_CASE("a program from text, its parameter changing from call to call") {
  const char* const text =
      "program scaled\nindex i\nparam s : f64\ninput x(i) : f64\noutput y(i) : f64\ny(i) = s * x(i) + 1\n";
  ricci_plan* plan = nullptr;
  CHECK(ricci_plan_program(nullptr, text, 0, nullptr, nullptr, &plan) == RICCI_ERROR_SHAPE);  // i is open
  CHECK(plan == nullptr);
  CHECK(ricci_plan_program(nullptr, "y(i) = 1", 0, nullptr, nullptr, &plan) == RICCI_ERROR_SPEC);
  const ricci_extent extent = {"i", 5};
  REQUIRE(ricci_plan_program(nullptr, text, 1, &extent, nullptr, &plan) == RICCI_OK);
  CHECK(ricci_plan_params(plan) == 1);
  CHECK(std::string(ricci_plan_param_name(plan, 0)) == "s");
  const double x[5] = {1, 2, 3, 4, 5};
  double y[5] = {};
  void* outputs[] = {y};
  const void* inputs[] = {x};
  for (const double s : {2.0, -0.5, 0.0}) {
    const ricci_scalar value = {s, 0};
    ricci_call call = RICCI_CALL;
    call.params = &value;
    REQUIRE(ricci_execute(plan, outputs, inputs, &call) == RICCI_OK);
    for (int k = 0; k < 5; ++k) CHECK(y[k] == s * x[k] + 1);
  }
  CHECK(ricci_execute(plan, outputs, inputs, nullptr) == RICCI_ERROR_SHAPE);  // no value
  const ricci_scalar wrong = {1, 1};
  ricci_call call = RICCI_CALL;
  call.params = &wrong;
  CHECK(ricci_execute(plan, outputs, inputs, &call) == RICCI_ERROR_SHAPE);
  CHECK(std::string(ricci_last_error()) == "parameter s = (1, 1) has an imaginary part, but it is f64");
  ricci_plan_release(plan);
}

}  // namespace c_api_test
