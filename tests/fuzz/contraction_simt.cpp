// Random contractions in random axis orders, scheduled by a candidate for a GPU drawn at random: on the simulator the
// interpreter's values, without a fault.
#include <cstdio>
#include <random>

#include "catch.hpp"
#include "fuzz/random_problem.hpp"
#include "plan/enumerate/contraction.hpp"
#include "ricci/error.hpp"
#include "simt/contraction_case.hpp"

using namespace ricci;

namespace {

struct Drawn {
  std::string spec;
  std::map<char, std::int64_t> extents;
  ir::EinsumProblem problem;
  int sm = 90;
};

Drawn drawn(std::mt19937_64& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
  Drawn d;
  std::string a, b, c;
  char next = 'a';
  const auto axes = [&](int count, std::initializer_list<std::string*> in, int largest) {
    for (int k = 0; k < count; ++k, ++next) {
      d.extents[next] = below(4) == 0 ? 1 + below(4) : 1 + below(largest);
      for (auto* term : in) *term += next;
    }
  };
  const int rows = below(4), columns = below(4);
  const int largest = rows + columns > 4 ? 9 : rows + columns > 2 ? 20 : 60;
  axes(rows, {&a, &c}, largest);
  axes(columns, {&b, &c}, largest);
  axes(1 + below(2), {&a, &b}, 40);
  axes(below(4) == 0 ? 1 : 0, {&a, &b, &c}, 4);
  for (auto* term : {&a, &b, &c}) std::shuffle(term->begin(), term->end(), random);
  d.spec = a + "," + b + "->" + c;
  const DType types[][2] = {{DType::f64, DType::f64}, {DType::f64, DType::f64},   {DType::f32, DType::f32},
                            {DType::c64, DType::c64}, {DType::c128, DType::c128}, {DType::f32, DType::f64},
                            {DType::c128, DType::f64}};
  const auto& pair = types[below(7)];
  const auto wide = size_of(pair[0]) > size_of(pair[1]) || is_complex(pair[0]) ? pair[0] : pair[1];
  const std::int64_t alignments[] = {256, 256, 16, 0};
  d.problem = simt::problem_of(d.spec, d.extents, {pair[0], pair[1], wide}, alignments[below(4)]);
  d.problem.alpha = below(3) == 0 ? ir::Factor::any : ir::Factor::one;
  d.problem.beta = below(3) == 0 ? ir::Factor::any : ir::Factor::zero;
  d.problem.conjugate = {below(3) == 0, below(3) == 0};
  d.sm = below(4) == 0 ? 80 : 90;
  return d;
}

}  // namespace

TEST_CASE("random contractions on the simulator are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(510001);
  const int count = fuzz::cases(100);
  int run = 0, vectors = 0;
  for (int k = 0; k < count; ++k) {
    const auto seed = first + static_cast<std::uint64_t>(k);
    std::mt19937_64 random(seed);
    const auto d = drawn(random);
    std::string what = "seed " + std::to_string(seed) + ": " + d.spec;
    for (const auto& [name, extent] : d.extents) what += " " + std::string(1, name) + "=" + std::to_string(extent);
    try {
      const auto program = ir::canonicalise(ir::lower(d.problem));
      const auto list = plan::contraction_candidates(program, plan::GpuModel::of_capability(d.sm));
      if (list.empty()) continue;
      const auto& schedule = list[seed % 2 == 0 ? 0 : random() % list.size()].schedule;
      what += "\n" + ir::print(program) + kernel::print(schedule.directives);
      simt::ContractionCase kernel(d.problem, schedule.directives);
      const auto wrong = kernel.wrong(seed);
      if (!wrong.empty()) FAIL(what << kernel.source.text << wrong);
      ++run;
      vectors += kernel.source.text.find("copy_async<16>") != std::string::npos ? 1 : 0;
    } catch (const CompileError& error) {
      FAIL(what << error.what() << error.log());
    } catch (const Error& error) {
      FAIL(what << error.what());
    }
  }
  std::printf("%d of %d random contractions from seed %llu on the simulator, %d of them copied by 16 bytes\n", run,
              count, static_cast<unsigned long long>(first), vectors);
  CHECK(run > count / 2);
}
