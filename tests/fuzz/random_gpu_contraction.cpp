#include "fuzz/random_gpu_contraction.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "ir/passes/precision.hpp"
#include "lower/lower_program.hpp"
#include "ricci/error.hpp"
#include "simt/contraction_case.hpp"

namespace ricci::fuzz {
namespace {

/// The axes of two factors and of their contraction, named as they are added.
struct Terms {
  std::array<std::string, 3> of;
  char next = 'a';

  void add(GpuContraction& to, std::int64_t extent, std::initializer_list<std::string*> in) {
    to.extents[next] = extent;
    for (auto* term : in) *term += next;
    ++next;
  }
  std::string shuffled(std::mt19937_64& random) {
    for (auto& term : of) std::shuffle(term.begin(), term.end(), random);
    return of[0] + "," + of[1] + "->" + of[2];
  }
};

/// The same contraction as a program: of types that einsums have not, and of other terms than products.
ir::Canonical of_text(const GpuContraction& d, DType type, DType result, const std::string& reduction) {
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
          names[2] + " : " + name(result) + "\n" + names[2] + " = ";
  for (const char letter : reduction)
    text += letter == '$' ? over : letter == 'A' ? names[0] : letter == 'B' ? names[1] : std::string(1, letter);
  return ir::canonicalise(ir::lower(Program::parse(text + "\n")).steps.at(0).program);
}

}  // namespace

std::string GpuContraction::text() const {
  auto text = spec;
  for (const auto& [name, extent] : extents) text += " " + std::string(1, name) + "=" + std::to_string(extent);
  return text;
}

ir::Canonical GpuContraction::program(Precision precision) const {
  if (bytes) return of_text(*this, *bytes, DType::i32, "sum($, cast(i32, A) * cast(i32, B))");
  if (!term.empty()) {
    const auto type = problem.inputs.front().type;
    return of_text(*this, type, is_half(type) ? DType::f32 : type, term);
  }
  auto asked = problem;
  asked.precision = precision;
  try {
    auto made = ir::in_precision(ir::sequence_of(ir::lower(asked)), precision);
    return ir::canonicalise(std::move(made.steps.front().program));
  } catch (const PlanError&) {
    return program();
  }
}

GpuContraction gpu_contraction(std::mt19937_64& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
  GpuContraction d;
  Terms terms;
  auto& [a, b, c] = terms.of;
  const auto axes = [&](int count, std::initializer_list<std::string*> in, int largest) {
    for (int k = 0; k < count; ++k) terms.add(d, below(4) == 0 ? 1 + below(4) : 1 + below(largest), in);
  };
  const int rows = below(4), columns = below(4);
  const int largest = rows + columns > 4 ? 9 : rows + columns > 2 ? 20 : 60;
  axes(rows, {&a, &c}, largest);
  axes(columns, {&b, &c}, largest);
  const int depths = rows > 0 && columns > 0 && below(6) == 0 ? 0 : 1 + below(2);  // none: an outer product
  axes(depths, {&a, &b}, 40);
  axes(below(4) == 0 ? 1 : 0, {&a, &b, &c}, 4);
  d.spec = terms.shuffled(random);
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
  if (depths > 0 && below(6) == 0) d.bytes = below(2) == 0 ? DType::i8 : DType::u8;
  return d;
}

GpuContraction term_contraction(std::mt19937_64& random) {
  constexpr const char* kTerms[] = {"sum($, (A - B) * (A - B))", "sum($, abs(A - B))",
                                    "minimum($, A + B)",         "maximum($, A * B)",
                                    "maximum($, abs(A - B))",    "1 - 2 * sum($, (A + 2) * (B - A))"};
  constexpr DType kTypes[] = {DType::f64, DType::f32, DType::bf16};
  GpuContraction d;
  const auto is_outer = [&] {
    const auto arrow = d.spec.find("->");
    return std::none_of(d.extents.begin(), d.extents.end(),
                        [&](const auto& axis) { return d.spec.find(axis.first, arrow) == std::string::npos; });
  };
  do d = gpu_contraction(random);
  while (is_outer());
  d.bytes.reset();
  d.problem.inputs.front().type = kTypes[random() % std::size(kTypes)];
  d.term = kTerms[random() % std::size(kTerms)];
  return d;
}

GpuContraction group_contraction(std::mt19937_64& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
  GpuContraction d;
  Terms terms;
  auto& [a, b, c] = terms.of;
  const auto axis = [&](std::int64_t extent, std::initializer_list<std::string*> in) { terms.add(d, extent, in); };
  // Multiples of 8 more often than not: neighbours that are copied together.
  const auto extent = [&](int least, int most) {
    const int n = least + below(most - least + 1);
    return std::int64_t{below(4) == 0 ? n : (n + 7) / 8 * 8};
  };
  for (auto* side : {&a, &b}) {
    axis(side == &a ? extent(65, 200) : extent(16, 200), {side, &c});
    if (below(2) == 0) axis(1 + below(4), {side, &c});
  }
  axis(extent(16, 90), {&a, &b});
  if (below(3) == 0) axis(1 + below(4), {&a, &b});
  if (below(4) == 0) axis(1 + below(3), {&a, &b, &c});
  d.spec = terms.shuffled(random);
  const auto type = below(2) == 0 ? DType::f16 : DType::bf16;
  d.problem = simt::problem_of(d.spec, d.extents, {type, type, below(2) == 0 ? type : DType::f32}, 256);
  d.problem.alpha = below(3) == 0 ? ir::Factor::any : ir::Factor::one;
  d.problem.beta = below(3) == 0 ? ir::Factor::any : ir::Factor::zero;
  return d;
}

namespace {

/// group_contraction() with the depth's axes last in both operands but `as_drawn` (0, 1; else none), in types of
/// another problem. Long extents are multiples of `unit`.
GpuContraction along_depth(std::mt19937_64& random, std::uint64_t as_drawn, const std::vector<DType>& types,
                           std::int64_t unit = 1) {
  auto d = group_contraction(random);
  for (auto& [letter, extent] : d.extents) {
    if (extent >= unit) extent = (extent + unit - 1) / unit * unit;
  }
  const auto comma = d.spec.find(','), arrow = d.spec.find('-');
  std::string a = d.spec.substr(0, comma), b = d.spec.substr(comma + 1, arrow - comma - 1),
              c = d.spec.substr(arrow + 2);
  const auto* drawn = as_drawn == 0 ? &a : as_drawn == 1 ? &b : nullptr;
  const auto summed = [&](char axis) { return b.find(axis) != std::string::npos && c.find(axis) == std::string::npos; };
  for (const char axis : std::string(a)) {
    if (!summed(axis)) continue;
    for (auto* term : {&a, &b}) {
      if (term == drawn) continue;
      term->erase(term->find(axis), 1);
      *term += axis;
    }
  }
  d.spec = a + "," + b + "->" + c;
  const auto [alpha, beta] = std::pair(d.problem.alpha, d.problem.beta);
  d.problem = simt::problem_of(d.spec, d.extents, types, 256);
  d.problem.alpha = alpha;
  d.problem.beta = beta;
  return d;
}

}  // namespace

GpuContraction tf32_contraction(std::mt19937_64& random) {
  return along_depth(random, random() % 4, {DType::f32});  // one of them as it is drawn now and then: registers hold it
}

GpuContraction byte_contraction(std::mt19937_64& random) {
  constexpr std::int64_t kOfMaps = 16;
  const auto type = random() % 2 == 0 ? DType::i8 : DType::u8;
  return along_depth(random, 2, {type, type, DType::i32}, random() % 2 == 0 ? kOfMaps : 1);
}

GpuContraction batch_contraction(std::mt19937_64& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
  GpuContraction d;
  const auto extent = [&](int most) { return std::int64_t{1 + below(most)}; };
  d.extents = {{'a', extent(24)}, {'b', extent(24)}, {'k', extent(20)}};
  d.extents['g'] = below(2) == 0 ? 8 * extent(10) : 8 + extent(70);
  std::string terms[] = {"ak", "kb", "ab"};
  const bool two = below(3) == 0;  // axes of the batch
  if (two) d.extents['h'] = extent(4);
  for (auto& term : terms) {
    if (two) term += 'h';
    std::shuffle(term.begin(), term.end(), random);
    term.insert(below(3) == 0 ? term.begin() : term.end(), 'g');
  }
  d.spec = terms[0] + "," + terms[1] + "->" + terms[2];
  const DType types[][3] = {{DType::f64, DType::f64, DType::f64},  {DType::f32, DType::f32, DType::f32},
                            {DType::c64, DType::c64, DType::c64},  {DType::c128, DType::c128, DType::c128},
                            {DType::f32, DType::f64, DType::f64},  {DType::f16, DType::f16, DType::f32},
                            {DType::bf16, DType::bf16, DType::f32}};
  const auto& type = types[below(7)];
  const std::int64_t alignments[] = {256, 16, 0};
  d.problem = simt::problem_of(d.spec, d.extents, {type[0], type[1], type[2]}, alignments[below(3)]);
  for (auto& layout : d.problem.inputs) {  // views
    if (below(5) == 0) layout.strides[0] *= 2;
  }
  d.problem.alpha = below(3) == 0 ? ir::Factor::any : ir::Factor::one;
  d.problem.beta = below(3) == 0 ? ir::Factor::any : ir::Factor::zero;
  d.problem.conjugate = {below(3) == 0, below(3) == 0};
  d.sm = below(4) == 0 ? 80 : 90;
  return d;
}

GpuContraction few_results(std::mt19937_64& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
  GpuContraction d;
  Terms terms;
  auto& [a, b, c] = terms.of;
  const auto axis = [&](std::int64_t extent, std::initializer_list<std::string*> in) { terms.add(d, extent, in); };
  if (below(4) != 0) axis(1 + below(26), {&a, &c});
  if (below(4) != 0) axis(1 + below(26), {&b, &c});
  for (int k = 1 + below(3); k > 0; --k) axis(3 + below(c.size() == 2 ? 18 : 36), {&a, &b});
  if (below(2) == 0) axis(1 + below(3), {&a, &b, &c});
  d.spec = terms.shuffled(random);
  const DType types[][2] = {{DType::f32, DType::f32},
                            {DType::f64, DType::f64},
                            {DType::c64, DType::c64},
                            {DType::c128, DType::f64},
                            {DType::f32, DType::f64}};
  const auto& pair = types[below(5)];
  d.problem = simt::problem_of(d.spec, d.extents,
                               {pair[0], pair[1], size_of(pair[0]) > size_of(pair[1]) ? pair[0] : pair[1]}, 16);
  d.problem.alpha = below(3) == 0 ? ir::Factor::any : ir::Factor::one;
  d.problem.beta = below(3) == 0 ? ir::Factor::any : ir::Factor::zero;
  d.problem.conjugate = {below(3) == 0, below(3) == 0};
  return d;
}

}  // namespace ricci::fuzz
