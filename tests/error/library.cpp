// Every error that the library throws for bad input: its type, its whole text, and that nothing was touched.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>

#include "catch.hpp"
#include "frontend/problem.hpp"
#include "ricci/ricci.hpp"
#include "temporary_folder.hpp"

namespace library_test {

using namespace ricci;

namespace {

constexpr std::int64_t kLarge = std::int64_t{1} << 40;

/// The type of an error in one word, and its text.
struct Thrown {
  std::string type = "nothing", text;
};

Thrown thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    // The class and the code must say the same.
    const char* classes[] = {"spec", "shape", "plan", "compile", "device", "cache", "io", "internal"};
    const bool is[] = {
        dynamic_cast<const SpecError*>(&error) != nullptr,   dynamic_cast<const ShapeError*>(&error) != nullptr,
        dynamic_cast<const PlanError*>(&error) != nullptr,   dynamic_cast<const CompileError*>(&error) != nullptr,
        dynamic_cast<const DeviceError*>(&error) != nullptr, dynamic_cast<const CacheError*>(&error) != nullptr,
        dynamic_cast<const IoError*>(&error) != nullptr,     dynamic_cast<const InternalError*>(&error) != nullptr};
    const auto code = static_cast<std::size_t>(error.code());
    CHECK(std::count(std::begin(is), std::end(is), true) == 1);
    CHECK(is[code]);
    CHECK(std::string(name(error.code())) == classes[code]);
    return {name(error.code()), error.what()};
  }
  return {};
}

/// A fresh cache directory and a runtime that uses it.
class Sandbox {
 public:
  Sandbox() {
    RuntimeOptions options;
    options.cache_dir = folder_.path().string();
    options.threads = 2;
    runtime = std::make_unique<Runtime>(std::move(options));
  }

  /// Every file with its size and time of change.
  std::string listing() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      if (!entry.is_regular_file()) continue;
      files.push_back(fmt::format("{} {} {}\n", entry.path().string(), entry.file_size(),
                                  entry.last_write_time().time_since_epoch().count()));
    }
    std::sort(files.begin(), files.end());
    return std::accumulate(files.begin(), files.end(), std::string());
  }

  std::unique_ptr<Runtime> runtime;

 private:
  tests::TemporaryFolder folder_;
};

Layout f64(std::vector<std::int64_t> extents) { return Layout::row_major(DType::f64, std::move(extents)); }
Layout strided(std::vector<std::int64_t> extents, std::vector<std::int64_t> strides) {
  return Layout::strided(DType::f64, std::move(extents), std::move(strides));
}
Layout with_alignment(Layout layout, std::int64_t alignment) {
  layout.alignment = alignment;
  return layout;
}
Layout of_type(DType type) { return Layout::row_major(type, {4}); }

struct PlanRow {
  // GCC 12 takes the cleanup of half an aggregate for a use of the other half.
  PlanRow(const char* s, Layout in, Layout out, PermuteOptions o, const char* kind, std::string said)
      : spec(s),
        input(std::move(in)),
        output(std::move(out)),
        options(std::move(o)),
        type(kind),
        text(std::move(said)) {}
  const char* spec;
  Layout input, output;
  PermuteOptions options;
  const char* type;
  std::string text;
};

PermuteOptions factors(Scalar alpha, Scalar beta = 0) {
  PermuteOptions options;
  options.alpha = alpha;
  options.beta = beta;
  return options;
}

}  // namespace

TEST_CASE("specs that cannot be read") {
  const std::pair<const char*, const char*> rows[] = {
      {"a->b->c", "a spec has one '->'\n  a->b->c\n      ^"},
      {"ab->a,b", "a spec has one output; ',' separates operands before '->'\n  ab->a,b\n       ^"},
      {"a..->a", "'.' is part of an ellipsis alone, which is '...'\n  a..->a\n   ^"},
      {"...a...->a", "a term has one ellipsis\n  ...a...->a\n      ^"},
      {"a->...a....", "a term has one ellipsis\n  a->...a....\n         ^"},
      {"a1->1a", "an axis name starts with a letter, not with '1'\n  a1->1a\n   ^"},
      {"occ 2vir -> occ", "an axis name starts with a letter, not with '2'\n  occ 2vir -> occ\n      ^"},
      {"a_->_a", "an axis name starts with a letter, not with '_'\n  a_->_a\n   ^"},
      {"a+b->ab", "'+' is not part of index notation: axis names, ',' and one '->'\n  a+b->ab\n   ^"},
      {"ab->b>a", "'>' is not part of index notation: axis names, ',' and one '->'\n  ab->b>a\n       ^"},
      {"a-b->ab", "'-' is not part of index notation: axis names, ',' and one '->'\n  a-b->ab\n   ^"},
  };
  for (const auto& [spec, text] : rows) {
    INFO(spec);
    const auto error = thrown_by([&] { Spec::parse(spec); });
    CHECK(error.type == "spec");
    CHECK(error.text == text);
  }
}

TEST_CASE("problems that are refused") {
  std::string many_in, many_out;
  for (int k = 0; k < 33; ++k) many_in += fmt::format("{}x{}", k == 0 ? "" : " ", k);
  many_out = many_in;
  const std::vector<std::int64_t> many(33, 1);
  auto uneven = f64({2, 3});
  uneven.strides.pop_back();
  auto negative = f64({2, 3});
  negative.extents[1] = -3;
  PermuteOptions gpu;
  gpu.device = Device::gpu;
  gpu.target_sm = 90;

  const PlanRow rows[] = {
      // the spec as a permutation
      {"abc",
       f64({2, 3, 4}),
       f64({2, 3, 4}),
       {},
       "spec",
       "a spec says its output after '->', as in \"abc->cab\"\n  abc\n     ^"},
      {"", f64({}), f64({}), {}, "spec", "a spec says its output after '->', as in \"abc->cab\"\n  \n  ^"},
      {"...a->a",
       f64({2, 3}),
       f64({3}),
       {},
       "spec",
       "'...' stands for 1 axis, but the output has no '...' to hold it; write it there, or name what is to be summed "
       "over\n  ...a->a\n  ^"},
      {"...ab->...ba",
       f64({2}),
       f64({2}),
       {},
       "shape",
       "the spec names 2 axes of the input beside '...', but it has 1 in all\n  ...ab->...ba\n  ^"},
      {"ab,bc->ac",
       f64({2, 3}),
       f64({2, 3}),
       {},
       "spec",
       "a permutation has one operand, this spec has 2\n  ab,bc->ac"},
      {"aba->ab",
       f64({2, 3, 2}),
       f64({2, 3}),
       {},
       "spec",
       "axis a appears twice in the input; a permutation uses each axis once\n  aba->ab\n  ^ ^"},
      {"ab->bab",
       f64({2, 3}),
       f64({3, 2, 3}),
       {},
       "spec",
       "axis b appears twice in the output; a permutation uses each axis once\n  ab->bab\n      ^ ^"},
      {"occ vir -> vir cor",
       f64({2, 3}),
       f64({3, 2}),
       {},
       "spec",
       "output axis cor is not an axis of the input\n  occ vir -> vir cor\n                 ^"},
      {"abc->ca",
       f64({2, 3, 4}),
       f64({4, 2}),
       {},
       "spec",
       "input axis b is missing in the output; a permutation keeps every axis\n  abc->ca\n   ^"},
      {nullptr,
       Layout::row_major(DType::f64, many),
       Layout::row_major(DType::f64, many),
       {},
       "spec",
       "33 axes; a permutation takes up to 32"},
      // layouts by themselves
      {"ab->ba", uneven, f64({3, 2}), {}, "shape", "the input layout has 2 extents but 1 strides"},
      {"ab->ba",
       f64({2, 3, 4}),
       f64({3, 2}),
       {},
       "shape",
       "the spec gives the input 2 axes, its layout has 3: extents (2, 3, 4)\n  ab->ba"},
      {"ab->ba",
       f64({2, 3}),
       f64({6}),
       {},
       "shape",
       "the spec gives the output 2 axes, its layout has 1: extents (6)\n  ab->ba"},
      {"ab->ba",
       negative,
       f64({3, 2}),
       {},
       "shape",
       "axis b of the input has extent -3; extents start at 0\n  ab->ba\n   ^"},
      {"ab->ba", with_alignment(f64({2, 3}), 24), f64({3, 2}), gpu, "shape",
       "the input layout promises an alignment of 24 bytes; it must be 0 or a power of two"},
      {"ab->ba", f64({2, 3}), with_alignment(f64({3, 2}), -8), gpu, "shape",
       "the output layout promises an alignment of -8 bytes; it must be 0 or a power of two"},
      {"ab->ba",
       strided({2, 3}, {1, kLarge << 18}),
       f64({3, 2}),
       {},
       "shape",
       "the input reaches past 2^58 elements at axis b (extent 3, stride 288230376151711744)\n  ab->ba\n   ^"},
      {"ab->ba",
       strided({2, 3}, {std::numeric_limits<std::int64_t>::min(), 1}),
       f64({3, 2}),
       {},
       "shape",
       "the input reaches past 2^58 elements at axis a (extent 2, stride -9223372036854775808)\n  ab->ba\n  ^"},
      {"ab->ba",
       strided({kLarge, kLarge}, {0, 0}),
       strided({kLarge, kLarge}, {1, 1}),
       {},
       "shape",
       "the input reaches past 2^58 elements at axis b (extent 1099511627776, stride 0)\n  ab->ba\n   ^"},
      // layouts against each other
      {"abc->cab",
       f64({4, 3, 2}),
       f64({2, 5, 3}),
       {},
       "shape",
       "axis a has extent 4 in the input but 5 in the output\n  abc->cab\n  ^     ^\n"
       "shapes (4, 3, 2) and (2, 5, 3); axes with one name must agree"},
      {"ab->ba",
       f64({2, 3}),
       strided({3, 2}, {2, 0}),
       {},
       "shape",
       "axis a of the output has stride 0 and extent 2: its elements would be written 2 times\n  ab->ba\n       ^"},
      {"ab->ba",
       f64({2, 3}),
       strided({3, 2}, {1, 2}),
       {},
       "shape",
       "elements of the output overlap: extents (3, 2), strides (1, 2); give each index point an element of its own\n"
       "  ab->ba"},
      // factors
      {"a->a", of_type(DType::f64), of_type(DType::f64), factors({1, 2}), "shape",
       "alpha = (1, 2) has an imaginary part, but the output is f64"},
      {"a->a", of_type(DType::f32), of_type(DType::f32), factors(1, {0, -1}), "shape",
       "beta = (0, -1) has an imaginary part, but the output is f32"},
      {"a->a", of_type(DType::i8), of_type(DType::i8), factors(0.5), "shape",
       "alpha = 0.5 is not a whole number below 2^63, but the output is i8"},
      {"a->a", of_type(DType::u64), of_type(DType::u64), factors(1, 1e19), "shape",
       "beta = 1e+19 is not a whole number below 2^63, but the output is u64"},
      {"a->a", of_type(DType::i8), of_type(DType::i8), factors(std::numeric_limits<double>::quiet_NaN()), "shape",
       "alpha = nan is not a whole number below 2^63, but the output is i8"},
  };
  Sandbox sandbox;
  const auto before = sandbox.listing();
  for (const auto& row : rows) {
    const auto spec = row.spec != nullptr ? std::string(row.spec) : many_in + " -> " + many_out;
    INFO(spec);
    const auto error = thrown_by([&] { sandbox.runtime->plan_permute(spec, row.input, row.output, row.options); });
    CHECK(error.type == row.type);
    CHECK(error.text == row.text);
  }
  CHECK(sandbox.listing() == before);
}

TEST_CASE("types that are not converted") {
  Sandbox sandbox;
  const auto before = sandbox.listing();
  const std::pair<DType, DType> rows[] = {{DType::f64, DType::i64}, {DType::c64, DType::f32}, {DType::i32, DType::i64}};
  for (const auto& [from, to] : rows) {
    const auto error = thrown_by([&] { sandbox.runtime->plan_permute("a->a", of_type(from), of_type(to)); });
    CHECK(error.type == "shape");
    CHECK(error.text ==
          fmt::format("no conversion from {} to {}; types must be equal, or both real floating, both complex, or a "
                      "real floating input with a complex output",
                      name(from), name(to)));
  }
  CHECK(sandbox.listing() == before);
}

TEST_CASE("layouts that cannot be made") {
  const std::pair<std::function<void()>, const char*> rows[] = {
      {[] { Layout::strided(DType::f64, {2, 3}, {1}); },
       "2 extents but 1 strides; give one stride, in elements, per axis"},
      {[] { Layout::row_major(DType::f64, {2, -3}); }, "axis 1 has extent -3; extents start at 0"},
      {[] { Layout::column_major(DType::f64, {-1}); }, "axis 0 has extent -1; extents start at 0"},
      {[] { Layout::row_major(DType::f64, {kLarge, kLarge}); },
       "extents (1099511627776, 1099511627776) have more than 2^63 elements"},
      {[] { Layout::column_major(DType::i8, {kLarge, kLarge}); },
       "extents (1099511627776, 1099511627776) have more than 2^63 elements"},
      {[] { parse_dtype("float80"); },
       "no element type \"float80\"; there are i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128"},
      {[] { parse_dtype(""); },
       "no element type \"\"; there are i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128"},
  };
  for (const auto& [call, text] : rows) {
    const auto error = thrown_by(call);
    CHECK(error.type == "shape");
    CHECK(error.text == text);
  }
}

#ifdef RICCI_TEST_CPU
TEST_CASE("schedules that there are not") {
  Sandbox sandbox;
  const auto before = sandbox.listing();
  RuntimeOptions without_cache;
  without_cache.cache_dir = "off";
  std::string there_are;  // depends on the machine's vectors
  for (const auto& candidate : Runtime(without_cache).plan_permute("a->a", of_type(DType::f64)).candidates()) {
    there_are += "\n  " + candidate.name;
  }
  CHECK(there_are.starts_with("\n  loops a4"));
  PermuteOptions options;
  options.schedule = "fast";
  const auto error = thrown_by([&] { sandbox.runtime->plan_permute("a->a", of_type(DType::f64), options); });
  CHECK(error.type == "plan");
  CHECK(error.text == "no schedule \"fast\" for this problem; there are" + there_are);
  CHECK(sandbox.listing() == before);
}

TEST_CASE("calls that are refused leave the output and the cache alone") {
  Sandbox sandbox;
  auto& runtime = *sandbox.runtime;
  const auto plain = runtime.plan_permute("ab->ba", f64({4, 5}));
  const auto scaled = runtime.plan_permute("ab->ba", f64({4, 5}), factors(2, 3));
  const auto added = runtime.plan_permute("ab->ba", f64({4, 5}), factors(1, 1));
  const auto whole = runtime.plan_permute("a->a", of_type(DType::i32), factors(2));
  const auto before = sandbox.listing();
  CHECK_FALSE(before.empty());  // the four kernels

  std::vector<double> memory(60);
  std::iota(memory.begin(), memory.end(), 0.5);
  const auto poison = memory;
  double *a = memory.data(), *b = a + 30;
  struct Row {
    std::function<void()> call;
    const char* type;
    std::string text;
  };
  const auto no_place = [](const char* factor, int planned, const char* given) {
    return fmt::format(
        "this plan was made with {} = {}; its kernel has no place for {}. Plan with another {}, neither 0 nor 1, to "
        "have it as an argument of each call",
        factor, planned, given, factor);
  };
  const std::string overlap = "input and output overlap; give what is written memory of its own";
  const Row rows[] = {
      {[&] { plain(b, nullptr); }, "shape", "the input pointer is null"},
      {[&] { plain(nullptr, a); }, "shape", "the output pointer is null"},
      {[&] { plain(a, a); }, "shape", overlap},
      {[&] { plain(a + 19, a); }, "shape", overlap},
      {[&] { plain(a, a + 19); }, "shape", overlap},
      {[&] { plain(b, a, {2.0, {}, nullptr}); }, "plan", no_place("alpha", 1, "(2, 0)")},
      {[&] { plain(b, a, {{}, 1.0, nullptr}); }, "plan", no_place("beta", 0, "(1, 0)")},
      {[&] { added(b, a, {{}, 0.0, nullptr}); }, "plan", no_place("beta", 1, "(0, 0)")},
      {[&] { scaled(b, a, {Scalar(1, 1), {}, nullptr}); }, "shape",
       "alpha = (1, 1) has an imaginary part, but the output is f64"},
      {[&] { whole(b, a, {0.25, {}, nullptr}); }, "shape",
       "alpha = 0.25 is not a whole number below 2^63, but the output is i32"},
  };
  for (const auto& row : rows) {
    const auto error = thrown_by(row.call);
    CHECK(error.type == row.type);
    CHECK(error.text == row.text);
    CHECK(memory == poison);
  }
  CHECK(sandbox.listing() == before);
  // What is just allowed: neighbours, and views of one buffer that never meet.
  CHECK_NOTHROW(plain(a + 20, a));
  // On a CPU any address will do: the alignment of a layout is a promise to GPU kernels.
  auto* odd = reinterpret_cast<char*>(a) + 4;
  CHECK_NOTHROW(plain(b, odd));
  CHECK(std::memcmp(b + 1, odd + 5 * sizeof(double), sizeof(double)) == 0);
  const auto even = runtime.plan_permute("a->a", strided({10}, {2}), strided({10}, {2}));
  CHECK_NOTHROW(even(a + 1, a));
  CHECK(thrown_by([&] { even(a + 2, a); }).text == overlap);
  CHECK_NOTHROW(scaled(b, a, {5.0, 7.0, nullptr}));
  CHECK_NOTHROW(plain(b, a, {1.0, 0.0, nullptr}));
}

TEST_CASE("an empty tensor is no error, whatever the pointers") {
  Sandbox sandbox;
  const auto plan = sandbox.runtime->plan_permute("ab->ba", f64({4, 0}));
  CHECK_NOTHROW(plan(nullptr, nullptr));
  CHECK(sandbox.listing().empty());
  CHECK(plan.info().origin == "none");
  CHECK(plan.cache_path().empty());
  CHECK(plan.candidates().empty());
  CHECK(plan.source() == "// nothing to run: the tensor has no elements\n");
  CHECK(plan.explain() == "nothing to run: the tensor has no elements\n");
}
#endif

}  // namespace library_test
