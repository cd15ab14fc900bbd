// Libraries of contractions beside Ricci: their calls, with libraries of plain loops in their place.
#include <dlfcn.h>

#include <complex>
#include <functional>
#include <map>
#include <numeric>

#include "catch.hpp"
#include "fake_contraction.hpp"
#include "peers/contraction.hpp"
#include "ricci/error.hpp"

using namespace ricci;
using namespace ricci::tools;

namespace {

template <class Function>
Function* in_library(const char* file, const char* name) {
  return reinterpret_cast<Function*>(dlsym(dlopen(file, RTLD_NOW | RTLD_NOLOAD), name));
}

/// "abc,cd->dba" of whole numbers, whose sums are exact; the runs that the library makes of it.
template <class T>
std::vector<PeerRun> check(ContractionLibrary& library, DType type) {
  const std::int64_t a = 3, b = 4, c = 5, d = 2;
  std::vector<unsigned char> workspace;
  const PeerContraction problem{.type = type,
                                .first = {"abc", {a, b, c}},
                                .second = {"cd", {c, d}},
                                .result = {"dba", {d, b, a}},
                                .threads = 2,
                                .allocate = [&](std::int64_t bytes) {
                                  workspace.resize(static_cast<std::size_t>(bytes));
                                  return workspace.data();
                                }};
  std::vector<T> first(a * b * c), second(c * d), result(d * b * a);
  for (std::size_t k = 0; k < first.size(); ++k) first[k] = static_cast<T>(static_cast<float>(k % 7) - 2);
  for (std::size_t k = 0; k < second.size(); ++k) second[k] = static_cast<T>(static_cast<float>(k % 5) - 1);
  auto runs = library.prepare(problem, result.data(), first.data(), second.data());
  for (const auto& run : runs) {
    if (!run.run) continue;
    std::fill(result.begin(), result.end(), T(99));
    run.run();
    for (std::int64_t i = 0; i < a; ++i) {
      for (std::int64_t j = 0; j < b; ++j) {
        for (std::int64_t l = 0; l < d; ++l) {
          T sum = 0;
          for (std::int64_t k = 0; k < c; ++k)
            sum += first[static_cast<std::size_t>((i * b + j) * c + k)] * second[static_cast<std::size_t>(k * d + l)];
          CHECK(result[static_cast<std::size_t>((l * b + j) * a + i)] == sum);
        }
      }
    }
  }
  return runs;
}

}  // namespace

TEST_CASE("TBLIS is called for each of its types, with the threads of the problem") {
  const auto library = open_tblis(FAKE_TBLIS);
  CHECK(check<float>(*library, DType::f32).size() == 1);
  CHECK(check<double>(*library, DType::f64).size() == 1);
  CHECK(check<std::complex<float>>(*library, DType::c64).size() == 1);
  const auto runs = check<std::complex<double>>(*library, DType::c128);
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].name == "tblis");
  CHECK(in_library<unsigned()>(FAKE_TBLIS, "fake_threads")() == 2);
  CHECK(check<float>(*library, DType::f16).empty());
}

TEST_CASE("TBLIS and cuTENSOR add multiples of sums to a result that is part of a larger one, einsum_ir refuses that") {
  // A row of three in a matrix of rows of five, minus twice a product of two of two rows.
  const std::vector<double> first{1, 2, 3, 4}, second{5, 6, 7, 8, 9, 10};
  std::vector<double> result(10, 100);
  std::vector<char> workspace;
  const PeerContraction problem{.type = DType::f64,
                                .first = {"ak", {2, 2}},
                                .second = {"kb", {2, 3}},
                                .result = {"ab", {2, 3}, {5, 1}},
                                .adds = -2,
                                .allocate = [&](std::int64_t bytes) -> void* {
                                  workspace.resize(static_cast<std::size_t>(bytes));
                                  return workspace.data();
                                }};
  for (const bool by_tblis : {true, false}) {
    const auto library = by_tblis ? open_tblis(FAKE_TBLIS) : open_cutensor_contraction(FAKE_CUTENSOR);
    result.assign(10, 100);
    const auto runs = library->prepare(problem, result.data(), first.data(), second.data());
    REQUIRE(runs.size() == 1);
    runs[0].run();
    CHECK(result == std::vector<double>{58, 52, 46, 100, 100, 6, -8, -22, 100, 100});
  }
  CHECK(open_einsum_ir(FAKE_EINSUM_IR)->prepare(problem, result.data(), first.data(), second.data()).empty());
}

TEST_CASE("OpenBLAS multiplies what is one matrix product where it lies, and nothing else") {
  const auto library = open_openblas(FAKE_OPENBLAS);
  const std::map<char, std::int64_t> extent{{'a', 3}, {'b', 4}, {'c', 2}, {'d', 5}, {'e', 2}};
  const auto tensor = [&](const std::string& axes) {
    PeerContraction::Tensor made{axes, {}};
    for (const char axis : axes) made.extents.push_back(extent.at(axis));
    return made;
  };
  const auto size = [](const PeerContraction::Tensor& of) {
    return static_cast<std::size_t>(
        std::accumulate(of.extents.begin(), of.extents.end(), std::int64_t{1}, std::multiplies<>()));
  };
  const auto check_product = [&](const char* a, const char* b, const char* c, bool taken) {
    INFO(a << "," << b << "->" << c);
    const PeerContraction problem{
        .type = DType::f64, .first = tensor(a), .second = tensor(b), .result = tensor(c), .threads = 2, .allocate = {}};
    std::vector<double> first(size(problem.first)), second(size(problem.second)), result(size(problem.result), 99),
        expected(result.size());
    for (std::size_t k = 0; k < first.size(); ++k) first[k] = static_cast<double>(k % 7) - 2;
    for (std::size_t k = 0; k < second.size(); ++k) second[k] = static_cast<double>(k % 5) - 1;
    const auto runs = library->prepare(problem, result.data(), first.data(), second.data());
    REQUIRE(runs.size() == (taken ? 1 : 0));
    if (!taken) return;
    CHECK(runs[0].name == "openblas");
    runs[0].run();
    const auto dense = [](const PeerContraction::Tensor& of) {
      fake::Tensor made{of.axes, of.extents, std::vector<std::int64_t>(of.extents.size(), 1)};
      for (std::size_t k = made.strides.size(); k-- > 1;) made.strides[k - 1] = made.strides[k] * made.extents[k];
      return made;
    };
    fake::contract(dense(problem.first), first.data(), dense(problem.second), second.data(), dense(problem.result),
                   expected.data());
    CHECK(result == expected);
  };
  check_product("abd", "dec", "abec", true);
  check_product("dab", "dec", "abec", true);
  check_product("abd", "ecd", "abec", true);
  check_product("dab", "ecd", "ecab", true);
  check_product("abde", "dec", "abc", true);
  check_product("abde", "edc", "abc", false);  // the depth in two orders
  check_product("adb", "dc", "abc", false);    // the depth between the rows
  check_product("abd", "dc", "acb", false);    // the columns between the rows
  check_product("abd", "adc", "abc", false);   // a batch
  CHECK(check<std::complex<float>>(*open_openblas(FAKE_OPENBLAS), DType::c64).empty());
}

TEST_CASE("einsum_ir's adapter is asked for all its ways, and its plans are given back") {
  const auto alive = [] { return in_library<int()>(FAKE_EINSUM_IR, "fake_alive")(); };
  const auto library = open_einsum_ir(FAKE_EINSUM_IR);
  check<float>(*library, DType::f32);
  {
    const auto runs = check<double>(*library, DType::f64);
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].name == "einsum_ir");
    CHECK(!runs[1].run);
    CHECK(runs[1].refused == "the library compiles no such contraction");
    CHECK(alive() == 1);
  }
  CHECK(alive() == 0);
  CHECK(check<std::complex<float>>(*library, DType::c64).empty());
}

TEST_CASE("cuTENSOR contracts by each of its algorithms that takes the problem, all in one workspace") {
  const auto alive = [] { return in_library<int()>(FAKE_CUTENSOR, "fake_alive")(); };
  const auto refuse = [](const char* function) {
    in_library<void(const char*)>(FAKE_CUTENSOR, "fake_refuse")(function);
  };
  {
    const auto library = open_cutensor_contraction(FAKE_CUTENSOR);
    refuse("");
    CHECK(check<float>(*library, DType::f32).size() == 4);  // all but one
    CHECK(check<std::complex<float>>(*library, DType::c64).size() == 4);
    CHECK(check<std::complex<double>>(*library, DType::c128).size() == 4);
    {
      const auto runs = check<double>(*library, DType::f64);
      REQUIRE(runs.size() == 4);
      CHECK(runs[3].name == "cutensor");
      CHECK(alive() == 1 + 4 * 6);  // the handle; three tensors, operation, preference and plan of each
    }
    CHECK(alive() == 1);
    refuse("contraction");
    const auto refused = check<double>(*library, DType::f64);
    REQUIRE(refused.size() == 1);
    CHECK(!refused[0].run);
    CHECK(refused[0].refused == "cutensorCreateContraction: not supported (15)");
    refuse("");
  }
  CHECK(alive() == 0);
}

TEST_CASE("a library that lacks a function of TBLIS is named with the function") {
  CHECK_THROWS_MATCHES(open_tblis(FAKE_EINSUM_IR), IoError, Catch::Matchers::Predicate<IoError>([](const IoError& e) {
                         return std::string(e.what()).find("has no tblis_tensor_mult") != std::string::npos;
                       }));
  CHECK_THROWS_AS(open_einsum_ir("/nowhere/libeinsum_ir.so"), IoError);
}
