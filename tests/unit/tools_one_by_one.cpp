// Products of a program by calls of another library, which is plain loops here.
#include "bench/one_by_one.hpp"
#include "catch.hpp"

using namespace ricci;
using namespace ricci::tools;

namespace {

/// What becomes of a program's products by a library in TBLIS's or in another one's place.
PeerRun by_library(const char* text, bool check = false,
                   const std::unique_ptr<ContractionLibrary>& library = open_tblis(FAKE_TBLIS)) {
  const auto bench = make_bench(false, 1 << 16, 1);
  Runtime runtime;
  auto program = Program::parse(text);
  const Loaded loaded(*bench, runtime.plan_program(program));
  auto run = one_by_one(*bench, program, loaded, *library, 1);
  if (check) {
    // From zero, where the library's calls end is where the plan ends: the factors are small whole halves and sums
    // exact.
    const auto elements = static_cast<std::size_t>(loaded.plan.outputs().front().last + 1);
    std::vector<double> ours(elements), theirs(elements);
    const auto bytes = static_cast<std::int64_t>(elements * sizeof(double));
    bench->upload(loaded.outputs.front(), ours.data(), bytes);
    loaded();
    bench->fetch(ours.data(), loaded.outputs.front(), bytes);
    bench->upload(loaded.outputs.front(), theirs.data(), bytes);
    run.run();
    bench->fetch(theirs.data(), loaded.outputs.front(), bytes);
    for (std::size_t k = 0; k < elements; ++k) CHECK(theirs[k] == Approx(ours[k]));
    CHECK(ours[0] != 0);
  }
  run.run = {};  // its memory is gone
  return run;
}

}  // namespace

TEST_CASE("products that a program adds to one result are calls of a library") {
  constexpr const char* kTwo =
      "program two\nindex i = 5\nindex j = 7\nindex k = 4\nindex l = 3\n"
      "input a(i, k) : f64\ninput b(k, j) : f64\ninput u(j, l) : f64\ninput v(i, l) : f64\ninout c(j, i) : f64\n"
      "c(j, i) += sum(k, a(i, k) * b(k, j))\nc(j, i) -= sum(l, u(j, l) * v(i, l))\n";
  for (const std::string name : {"tblis", "cutensor"}) {
    const auto run =
        by_library(kTwo, true, name == "tblis" ? open_tblis(FAKE_TBLIS) : open_cutensor_contraction(FAKE_CUTENSOR));
    CHECK(run.name == name);
    CHECK(run.refused.empty());
  }
}

TEST_CASE("programs that are no sums of products added to a result are refused for a library") {
  const auto sum = by_library("program p\nindex i = 5\ninput a(i) : f64\noutput c(i) : f64\nc(i) = 2 * a(i)\n");
  CHECK(sum.refused == "the program is no sum of products of one type that is added to its result");
  const auto integers = by_library(
      "program p\nindex i = 5\nindex j = 4\nindex k = 3\ninput a(i, k) : i32\ninput b(k, j) : i32\ninout c(i, j) : "
      "i32\n"
      "c(i, j) += sum(k, a(i, k) * b(k, j))\nc(i, j) += sum(k, a(i, k) * b(k, j))\n");
  CHECK_FALSE(integers.refused.empty());
}
