// Contractions as products of a library: which are, that they are right, what is copied for them, and what the library
// is asked for. The libraries are made up (fake_blas.cpp), and OpenBLAS where this machine has it.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <numeric>
#include <set>

#include "catch.hpp"
#include "library_schedules.hpp"
#include "ricci/ricci.hpp"

using namespace ricci;
using Catch::Matchers::ContainsSubstring;

namespace {

RuntimeOptions with(const char* file, int threads = 2) {
  RuntimeOptions options;
  options.cache_dir = "off";
  options.threads = threads;
  options.blas = file;
  return options;
}

/// What a made-up library was asked for since the last time.
struct Asked {
  int products = 0, calls = 0, fewest = 0, most = 0, now = 0, wrong = 0;
  explicit Asked(const char* file) {
    using Take = void (*)(int*, int*, int*, int*, int*, int*);
    const auto take = reinterpret_cast<Take>(::dlsym(::dlopen(file, RTLD_NOW), "fake_blas_take"));
    REQUIRE(take != nullptr);
    take(&products, &calls, &fewest, &most, &now, &wrong);
  }
};

template <class T>
std::vector<T> numbers(std::int64_t count, int seed) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double x = static_cast<double>((k * 7 + static_cast<std::size_t>(seed)) % 13) - 6;
    if constexpr (std::is_same_v<T, Scalar>) {
      values[k] = {x, static_cast<double>(k % 5) - 2};
    } else {
      values[k] = static_cast<T>(x);
    }
  }
  return values;
}

std::vector<std::string> names(const Plan& plan) {
  std::vector<std::string> list;
  for (const auto& one : plan.candidates()) {
    if (one.name.rfind("gemm", 0) == 0) list.push_back(one.name);
  }
  return list;
}

/// Each way in which a library computes an einsum of whole numbers gives the interpreter's result; the ways' names.
template <class T>
std::vector<std::string> all_right(Runtime& runtime, const char* spec, std::vector<Layout> inputs, Layout output,
                                   EinsumOptions options = {}) {
  std::vector<std::vector<T>> values;
  std::vector<const void*> from;
  for (const auto& layout : inputs) {
    values.push_back(numbers<T>(layout.elements(), static_cast<int>(values.size())));
    from.push_back(values.back().data());
  }
  auto wanted = numbers<T>(output.elements(), 5), got = wanted;
  Runtime::interpret_einsum(spec, inputs, output, from, wanted.data(), options);
  const auto list = library_schedules(runtime, spec, inputs, output, options);
  for (const auto& name : list) {
    INFO(spec << " by " << name);
    options.schedule = name;
    const auto plan = runtime.plan_einsum(spec, inputs, output, options);
    CHECK(plan.info().kernel.find("cblas_") != std::string::npos);
    got = numbers<T>(output.elements(), 5);
    void* const to = got.data();
    plan(std::span<void* const>(&to, 1), from);
    CHECK(got == wanted);  // exact: whole numbers
  }
  return list;
}

Layout f64(std::vector<std::int64_t> extents) { return Layout::row_major(DType::f64, std::move(extents)); }
Layout c128(std::vector<std::int64_t> extents) { return Layout::row_major(DType::c128, std::move(extents)); }

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a library that is none is refused when the runtime is made") {
  CHECK_THROWS_AS(Runtime(with("/nowhere/libblas.so")), DeviceError);
  CHECK_THROWS_WITH(Runtime(with("/nowhere/libblas.so")),
                    ContainsSubstring("/nowhere/libblas.so") && ContainsSubstring("RICCI_BLAS"));
  CHECK_THROWS_AS(Runtime(with(FAKE_BLAS_PART)), DeviceError);
  CHECK_THROWS_WITH(Runtime(with(FAKE_BLAS_PART)), ContainsSubstring("has no cblas_cgemm"));
}

TEST_CASE("without a library there are no such schedules") {
  Runtime runtime(with("off"));
  const std::vector<Layout> inputs = {f64({40, 30}), f64({30, 50})};
  CHECK(names(runtime.plan_einsum("ak,kb->ab", inputs)).empty());
  EinsumOptions options;
  options.schedule = "library gemm";
  CHECK_THROWS_AS(runtime.plan_einsum("ak,kb->ab", inputs, options), PlanError);
  CHECK_THROWS_WITH(runtime.plan_einsum("ak,kb->ab", inputs, options), ContainsSubstring("RICCI_BLAS"));
}

TEST_CASE("operands and results are copied where they are no matrices, and only there") {
  Runtime runtime(with(FAKE_BLAS));
  const auto ways = [&](const char* spec, std::vector<Layout> inputs, Layout output) {
    return all_right<double>(runtime, spec, std::move(inputs), std::move(output));
  };
  CHECK(ways("ak,kb->ab", {f64({9, 8}), f64({8, 7})}, f64({9, 7})) == Names{"gemm"});
  CHECK(ways("ka,bk->ba", {f64({8, 9}), f64({7, 8})}, f64({7, 9})) == Names{"gemm"});
  // Two indices of the depth, in one order and in two.
  CHECK(ways("akl,klb->ab", {f64({9, 3, 4}), f64({3, 4, 7})}, f64({9, 7})) == Names{"gemm"});
  const auto either = ways("akl,lkb->ab", {f64({9, 3, 4}), f64({4, 3, 7})}, f64({9, 7}));
  CHECK(either.size() == 2);
  CHECK(std::set<std::string>(either.begin(), either.end()) == std::set<std::string>{"gemm copied A", "gemm copied B"});
  // Rows and columns interleaved in the result.
  CHECK(ways("ackl,bdkl->abcd", {f64({3, 4, 2, 5}), f64({6, 2, 2, 5})}, f64({3, 6, 4, 2})) == Names{"gemm copied C"});
  // No two matrices agree.
  CHECK(ways("calk,bkld->abcd", {f64({4, 3, 5, 2}), f64({6, 2, 5, 3})}, f64({3, 6, 4, 3})) == Names{"gemm copied B C"});
  // A batch, fastest in one operand.
  CHECK(ways("gak,kbg->gab", {f64({5, 9, 8}), f64({8, 7, 5})}, f64({5, 9, 7})) == Names{"gemm copied B"});
  CHECK(ways("gak,gkb->gab", {f64({5, 9, 8}), f64({5, 8, 7})}, f64({5, 9, 7})) == Names{"gemm"});
  // Vectors, and an outer product.
  CHECK(ways("ak,k->a", {f64({9, 8}), f64({8})}, f64({9})) == Names{"gemm"});
  CHECK(ways("a,b->ab", {f64({9}), f64({8})}, f64({9, 8})) == Names{"gemm"});
  // An index of the result alone.
  CHECK(ways("ak,kb->ab", {f64({9, 8}), f64({8, 7})}, f64({9, 7})) == Names{"gemm"});
  // What one operand alone has is summed first, and leaves matrices.
  CHECK(ways("akl,kb->ab", {f64({9, 8, 3}), f64({8, 7})}, f64({9, 7})) == Names{"gemm"});
  CHECK(Asked(FAKE_BLAS).wrong == 0);
}

TEST_CASE("factors are the library's where they are alpha and beta") {
  Runtime runtime(with(FAKE_BLAS));
  const std::vector<Layout> inputs = {f64({9, 8}), f64({8, 7})};
  EinsumOptions options;
  options.alpha = 3;
  options.beta = -2;
  CHECK(all_right<double>(runtime, "ak,kb->ab", inputs, f64({9, 7}), options) == Names{"gemm"});
  options.alpha = 1;
  options.beta = 1;
  CHECK(all_right<double>(runtime, "ak,kb->ba", inputs, f64({7, 9}), options) == Names{"gemm"});
  options.schedule = "gemm";
  const auto plan = runtime.plan_einsum("ak,kb->ab", inputs, f64({9, 7}), options);
  CHECK_THAT(plan.explain(), ContainsSubstring("+ C, as asked for"));
  CHECK_THAT(plan.source(), ContainsSubstring("cblas_dgemm of") && ContainsSubstring("made up 1.0"));
  CHECK_THAT(plan.key(), ContainsSubstring("made up 1.0"));
  CHECK(plan.info().origin == "library");
  // Zeros hide what is not a number.
  options.schedule = "gemm";
  options.beta = 0;
  const auto a = numbers<double>(72, 1), b = numbers<double>(56, 2);
  std::vector<double> c(63, std::nan(""));
  runtime.plan_einsum("ak,kb->ab", inputs, f64({9, 7}), options)({c.data()}, {a.data(), b.data()});
  for (const double x : c) CHECK(x == x);
}

TEST_CASE("conjugates: by the library where it transposes, by the copy elsewhere") {
  Runtime runtime(with(FAKE_BLAS));
  EinsumOptions options;
  options.conjugate = {true, false};
  options.alpha = {1, 2};
  options.beta = {0, -1};
  CHECK(all_right<Scalar>(runtime, "ka,kb->ab", {c128({8, 9}), c128({8, 7})}, c128({9, 7}), options) == Names{"gemm"});
  CHECK(all_right<Scalar>(runtime, "ak,kb->ab", {c128({9, 8}), c128({8, 7})}, c128({9, 7}), options) ==
        Names{"gemm copied B"});  // operands have other names in canonical form
  CHECK(Asked(FAKE_BLAS).wrong == 0);
}

TEST_CASE("types that the library has not are converted as they are copied") {
  Runtime runtime(with(FAKE_BLAS));
  const auto of = [](DType type, std::vector<std::int64_t> extents) {
    return Layout::row_major(type, std::move(extents));
  };
  const std::vector<Layout> inputs = {of(DType::f32, {9, 8}), of(DType::f64, {8, 7})};
  const auto list = names(runtime.plan_einsum("ak,kb->ab", inputs, f64({9, 7})));
  CHECK(list == Names{"gemm copied B"});
  const auto a = numbers<float>(72, 1);
  const auto b = numbers<double>(56, 2);
  std::vector<double> c(63), wanted(63);
  EinsumOptions options;
  options.schedule = list.front();
  runtime.plan_einsum("ak,kb->ab", inputs, f64({9, 7}), options)({c.data()}, {a.data(), b.data()});
  Runtime::interpret_einsum("ak,kb->ab", inputs, f64({9, 7}), std::vector<const void*>{a.data(), b.data()},
                            wanted.data());
  CHECK(c == wanted);
  const std::vector<Layout> whole = {of(DType::i32, {9, 8}), of(DType::i32, {8, 7})};
  CHECK(names(runtime.plan_einsum("ak,kb->ab", whole)).empty());
}

TEST_CASE("copies lie in the workspace, within its limit") {
  Runtime runtime(with(FAKE_BLAS));
  const std::vector<Layout> inputs = {f64({9, 3, 4}), f64({4, 3, 7})};
  EinsumOptions options;
  options.schedule = "gemm copied B";
  const auto plan = runtime.plan_einsum("akl,lkb->ab", inputs, options);
  CHECK(plan.info().workspace_bytes == 768);  // 84 elements, in pieces of 256 bytes
  CHECK(plan.info().steps == 2);
  options.workspace_limit = 700;
  CHECK_THROWS_AS(runtime.plan_einsum("akl,lkb->ab", inputs, options), PlanError);
  options.schedule.clear();
  CHECK(names(runtime.plan_einsum("akl,lkb->ab", inputs, options)).empty());
}

TEST_CASE("the library has the plan's threads, or one for each part of a batch") {
  Runtime runtime(with(FAKE_BLAS, 3));
  EinsumOptions options;
  options.schedule = "gemm";
  const auto run = [&](const char* spec, std::vector<Layout> inputs) {
    const auto plan = runtime.plan_einsum(spec, inputs, options);
    const auto a = numbers<double>(inputs[0].elements(), 1), b = numbers<double>(inputs[1].elements(), 2);
    std::vector<double> c(static_cast<std::size_t>(plan.output_layout().elements()));
    Asked before(FAKE_BLAS);
    plan({c.data()}, {a.data(), b.data()});
    return Asked(FAKE_BLAS);
  };
  const auto one = run("ak,kb->ab", {f64({90, 80}), f64({80, 70})});
  CHECK(one.products == 1);
  CHECK(one.fewest == 3);
  CHECK(one.now == 7);  // as it was before
  const auto many = run("gak,gkb->gab", {f64({24, 60, 40}), f64({24, 40, 50})});
  CHECK(many.products == 24);
  CHECK(many.most == 1);
  options.threads = 2;
  CHECK(run("ak,kb->ab", {f64({90, 80}), f64({80, 70})}).most == 2);
}

TEST_CASE("a batch is one call where the library has such a function") {
  Runtime runtime(with(FAKE_BLAS_BATCH, 1));
  CHECK(all_right<double>(runtime, "hgak,hgkb->hgab", {f64({3, 5, 9, 8}), f64({3, 5, 8, 7})}, f64({3, 5, 9, 7})) ==
        Names{"gemm"});
  Asked(FAKE_BLAS_BATCH);
  EinsumOptions options;
  options.schedule = "gemm";
  const std::vector<Layout> inputs = {f64({6, 9, 8}), f64({6, 8, 7})};
  const auto plan = runtime.plan_einsum("gak,gkb->gab", inputs, options);
  const auto a = numbers<double>(432, 1), b = numbers<double>(336, 2);
  std::vector<double> c(378);
  plan({c.data()}, {a.data(), b.data()});
  const Asked asked(FAKE_BLAS_BATCH);
  CHECK(asked.products == 6);
  CHECK(asked.calls == 1);
  CHECK(asked.wrong == 0);
}

TEST_CASE("integers of 64 bits, by the names that say so") {
  Runtime runtime(with(FAKE_BLAS_WIDE));
  CHECK(all_right<double>(runtime, "ak,kb->ab", {f64({9, 8}), f64({8, 7})}, f64({9, 7})) == Names{"gemm"});
}

TEST_CASE("what was measured with one library is kept for that one") {
  const auto folder = std::filesystem::temp_directory_path() / ("ricci-blas-test-" + std::to_string(::getpid()));
  auto options = with(FAKE_BLAS);
  options.cache_dir = folder.string();
  const std::vector<Layout> inputs = {f64({20, 30}), f64({30, 24})};
  EinsumOptions einsum;
  einsum.mode = PlanMode::measure;
  einsum.measured = 4;
  {
    Runtime runtime(options);
    const auto plan = runtime.plan_einsum("ak,kb->ab", inputs, einsum);
    CHECK(plan.info().choice == "measured");
    bool timed = false;
    for (const auto& one : plan.candidates()) timed = timed || (one.name == "gemm" && one.measured_us > 0);
    CHECK(timed);
  }
  einsum.mode = PlanMode::estimate;
  CHECK(Runtime(options).plan_einsum("ak,kb->ab", inputs, einsum).info().choice == "tuned");
  options.blas = "off";
  CHECK(Runtime(options).plan_einsum("ak,kb->ab", inputs, einsum).info().choice == "estimated");
  std::filesystem::remove_all(folder);
}

TEST_CASE("OpenBLAS, where it is") {
  constexpr const char* kFile = "libopenblas.so.0";
  if (::dlopen(kFile, RTLD_NOW | RTLD_LOCAL) == nullptr) {
    std::printf("[SKIP] no %s\n", kFile);
    return;
  }
  Runtime runtime(with(kFile));
  CHECK(all_right<double>(runtime, "ackl,bdkl->abcd", {f64({30, 4, 2, 50}), f64({6, 20, 2, 50})},
                          f64({30, 6, 4, 20})) == Names{"gemm copied C"});
  CHECK(all_right<double>(runtime, "gak,gkb->gab", {f64({9, 33, 18}), f64({9, 18, 47})}, f64({9, 33, 47})) ==
        Names{"gemm"});
  EinsumOptions options;
  options.conjugate = {true, false};
  CHECK(all_right<Scalar>(runtime, "ka,kb->ab", {c128({80, 90}), c128({80, 70})}, c128({90, 70}), options) ==
        Names{"gemm"});
  CHECK_THAT(runtime.plan_einsum("ak,kb->ab", std::vector<Layout>{f64({500, 500}), f64({500, 500})}).explain(),
             ContainsSubstring("gemm"));
}
