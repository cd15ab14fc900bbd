// Random contractions in random axis orders, scheduled by a candidate for a GPU drawn at random: on the simulator the
// interpreter's values, without a fault.
#include <cstdio>
#include <optional>
#include <random>

#include "catch.hpp"
#include "fuzz/random_problem.hpp"
#include "kernel/atom_types.hpp"
#include "lower/lower_program.hpp"
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
  std::optional<DType> bytes;  ///< of operands that are not floats
};

/// The same contraction of bytes, with sums in i32: as a program, which has types that einsums have not.
ir::Canonical of_bytes(const Drawn& d, DType type) {
  const auto comma = d.spec.find(','), arrow = d.spec.find("->");
  const std::string terms[] = {d.spec.substr(0, comma), d.spec.substr(comma + 1, arrow - comma - 1),
                               d.spec.substr(arrow + 2)};
  const auto access = [](const char* name, const std::string& term) {
    std::string text = std::string(name) + "(";
    for (std::size_t k = 0; k < term.size(); ++k) text += std::string(k == 0 ? "" : ", ") + term[k];
    return text + ")";
  };
  const std::string names[] = {access("A", terms[0]), access("B", terms[1]), access("C", terms[2])};
  std::string text, over;
  for (const auto& [letter, extent] : d.extents) {
    text += std::string("index ") + letter + " = " + std::to_string(extent) + "\n";
    if (terms[2].find(letter) == std::string::npos) over += std::string(over.empty() ? "" : " ") + letter;
  }
  text += "input " + names[0] + " : " + name(type) + "\ninput " + names[1] + " : " + name(type) + "\noutput " +
          names[2] + " : i32\n";
  text += names[2] + " = sum(" + over + ", cast(i32, " + names[0] + ") * cast(i32, " + names[1] + "))\n";
  return ir::canonicalise(ir::lower(Program::parse(text)).steps.at(0).program);
}

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
  const DType types[][2] = {{DType::f64, DType::f64},  {DType::f64, DType::f64},   {DType::f32, DType::f32},
                            {DType::c64, DType::c64},  {DType::c128, DType::c128}, {DType::f32, DType::f64},
                            {DType::c128, DType::f64}, {DType::f16, DType::f16},   {DType::bf16, DType::bf16},
                            {DType::f16, DType::f16},  {DType::f16, DType::f32}};
  const auto& pair = types[below(11)];
  auto wide = size_of(pair[0]) > size_of(pair[1]) || is_complex(pair[0]) ? pair[0] : pair[1];
  if (is_half(wide) && below(2) == 0) wide = DType::f32;
  const std::int64_t alignments[] = {256, 256, 16, 0};
  d.problem = simt::problem_of(d.spec, d.extents, {pair[0], pair[1], wide}, alignments[below(4)]);
  // Views: from some axis outwards, every second element or row of a larger tensor.
  for (auto& layout : d.problem.inputs) {
    const int rank = layout.rank();
    if (rank == 0 || below(4) != 0) continue;
    const auto apart = static_cast<std::size_t>(1 + below(rank));
    for (std::size_t q = 0; q < apart; ++q) layout.strides[q] *= 2;
  }
  d.problem.alpha = below(3) == 0 ? ir::Factor::any : ir::Factor::one;
  d.problem.beta = below(3) == 0 ? ir::Factor::any : ir::Factor::zero;
  d.problem.conjugate = {below(3) == 0, below(3) == 0};
  d.sm = below(4) == 0 ? 80 : 90;
  if (below(6) == 0) d.bytes = below(2) == 0 ? DType::i8 : DType::u8;
  return d;
}

}  // namespace

TEST_CASE("random contractions on the simulator are the interpreter's, without a fault") {
  const auto first = fuzz::first_seed(510001);
  const int count = fuzz::cases(100);
  int run = 0, vectors = 0, halves = 0, bytes = 0, tf32 = 0, matrices = 0;
  for (int k = 0; k < count; ++k) {
    const auto seed = first + static_cast<std::uint64_t>(k);
    std::mt19937_64 random(seed);
    const auto d = drawn(random);
    std::string what = "seed " + std::to_string(seed) + ": " + d.spec;
    for (const auto& [name, extent] : d.extents) what += " " + std::string(1, name) + "=" + std::to_string(extent);
    try {
      auto program = d.bytes ? of_bytes(d, *d.bytes) : ir::canonicalise(ir::lower(d.problem));
      program.precision = kernel::effective_precision(program, static_cast<Precision>(seed % 3), d.sm);
      const auto list = plan::contraction_candidates(program, plan::GpuModel::of_capability(d.sm));
      if (list.empty()) continue;
      const auto& schedule = list[seed % 2 == 0 ? 0 : random() % list.size()].schedule;
      what += "\n" + ir::print(program) + kernel::print(schedule.directives);
      simt::ContractionCase kernel(program, schedule.directives);
      const auto wrong = kernel.wrong(seed);
      if (!wrong.empty()) FAIL(what << kernel.source.text << wrong);
      ++run;
      const auto has = [&](const char* word) { return kernel.source.text.find(word) != std::string::npos ? 1 : 0; };
      halves += has("mma_m16n8k16_");
      bytes += has("mma_m16n8k32_");
      tf32 += has("m16n8k8_tf32(");
      matrices += has("load_matrix_");
      vectors += has("<16>(");
    } catch (const CompileError& error) {
      FAIL(what << error.what() << error.log());
    } catch (const Error& error) {
      FAIL(what << error.what());
    }
  }
  std::printf(
      "%d of %d random contractions from seed %llu on the simulator, %d of them copied by 16 bytes; %d of halves, "
      "%d of bytes and %d in tf32 on tensor cores, %d of them by matrix loads\n",
      run, count, static_cast<unsigned long long>(first), vectors, halves, bytes, tf32, matrices);
  if (fuzz::enough(count)) CHECK(run > count / 2);
}
