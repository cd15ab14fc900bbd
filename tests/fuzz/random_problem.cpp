#include "fuzz/random_problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "ir/program.hpp"

namespace ricci::fuzz {
namespace {

std::vector<std::int64_t> random_extents(Generator& random, const Limits& limits) {
  const auto rank = static_cast<int>(pick(random, 0, limits.max_rank));
  static constexpr std::int64_t kLiked[] = {1,  2,  3,  4,  5,  7,  8,   15,  16,  17,  24,  31, 32,
                                            33, 48, 63, 64, 65, 96, 100, 127, 128, 129, 200, 333};
  std::vector<std::int64_t> extents(static_cast<std::size_t>(rank), 1);
  if (chance(random, 0.15)) {  // few long axes: tiles with edges, rows that begin anywhere
    const auto long_rank = pick(random, 2, 3);
    const auto side = long_rank == 2 ? 50 : 14;
    extents.clear();
    for (int k = 0; k < long_rank; ++k) extents.push_back(pick(random, side / 2, 3 * side / 2));
    return extents;
  }
  std::int64_t budget = pick(random, 1, limits.max_elements);
  std::vector<std::size_t> order(extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  for (const auto k : order) {
    auto extent = chance(random, 0.5) ? kLiked[pick(random, 0, std::size(kLiked) - 1)] : pick(random, 1, 9);
    extents[k] = std::min(extent, std::max<std::int64_t>(budget, 1));
    budget /= extents[k];
  }
  if (rank > 0 && chance(random, 0.01)) extents[static_cast<std::size_t>(pick(random, 0, rank - 1))] = 0;
  return extents;
}

float random_float(Generator& random) {
  const auto value = std::normal_distribution<float>()(random);
  switch (pick(random, 0, 15)) {
    case 0:
      return 0.0f;
    case 1:
      return -0.0f;
    case 2:
      return value * 1e-39f;  // subnormal
    case 3:
      return value * 1e-7f;  // subnormal in f16
    case 4:
      return value * 3e4f;  // near f16's largest
    default:
      return value;
  }
}

/// Bits for movement (any pattern, NaN payloads too), numbers for arithmetic and conversion.
void fill(Generator& random, Tensor& tensor, bool any_bits) {
  const auto type = tensor.layout().type;
  if (any_bits || is_integer(type)) return tensor.fill_with([&] { return static_cast<unsigned char>(random()); });
  switch (type) {
    case DType::f16:
    case DType::bf16:
      // Every finite pattern: exponents below all ones.
      return tensor.fill_with([&] {
        const auto bits = static_cast<std::uint16_t>(random());
        const unsigned exponent = type == DType::f16 ? 0x7c00u : 0x7f80u;
        return static_cast<std::uint16_t>((bits & exponent) == exponent ? bits & ~0x4000u : bits);
      });
    case DType::f32:
    case DType::c64:
      return tensor.fill_with([&] { return random_float(random); });
    default:
      return tensor.fill_with([&] {
        return static_cast<double>(random_float(random)) * (1 + 1e-9 * static_cast<double>(pick(random, -9, 9)));
      });
  }
}

}  // namespace

ir::EinsumProblem RandomProblem::problem() const {
  ir::EinsumProblem p{Spec::parse(spec), {input}, output, ir::factor_of(alpha), ir::factor_of(beta), {conjugate}};
  if (p.alpha == ir::Factor::zero) p.alpha = ir::Factor::any;
  return p;
}

bool RandomProblem::moves() const {
  return input.type == output.type && alpha == Scalar(1) && beta == Scalar(0) && !conjugate;
}

std::string RandomProblem::text() const {
  return fmt::format(
      "seed {}: \"{}\" {} ({}) strides ({}) align {} -> {} ({}) strides ({}) align {}, alpha ({}, {}) beta ({}, {}){}",
      seed, spec, name(input.type), fmt::join(input.extents, ","), fmt::join(input.strides, ","), input.alignment,
      name(output.type), fmt::join(output.extents, ","), fmt::join(output.strides, ","), output.alignment, alpha.real(),
      alpha.imag(), beta.real(), beta.imag(), conjugate ? " conj" : "");
}

RandomProblem random_problem(std::uint64_t seed, const Limits& limits) {
  Generator random(seed);
  RandomProblem p;
  p.seed = seed;
  const auto extents = random_extents(random, limits);
  std::vector<std::size_t> permutation(extents.size());
  std::iota(permutation.begin(), permutation.end(), std::size_t{0});
  std::shuffle(permutation.begin(), permutation.end(), random);
  if (chance(random, 0.1)) std::sort(permutation.begin(), permutation.end());
  std::vector<std::int64_t> out_extents;
  std::string in_term, out_term;
  for (std::size_t k = 0; k < extents.size(); ++k) in_term += static_cast<char>('a' + k);
  for (const auto k : permutation) {
    out_extents.push_back(extents[k]);
    out_term += static_cast<char>('a' + k);
  }
  p.spec = in_term + "->" + out_term;

  auto type = static_cast<DType>(pick(random, 0, kDTypeCount - 1));
  auto out_type = type;
  if (!is_integer(type) && chance(random, 0.4)) {
    static constexpr DType kReal[] = {DType::f16, DType::bf16, DType::f32, DType::f64, DType::c64, DType::c128};
    out_type = is_complex(type) ? kReal[pick(random, 4, 5)] : kReal[pick(random, 0, 5)];
  }
  p.input = Layout::strided(type, extents, random_strides(random, extents, chance(random, 0.3), chance(random, 0.2)));
  p.output = Layout::strided(out_type, out_extents,
                             random_strides(random, out_extents, chance(random, 0.3), chance(random, 0.2)));
  for (std::size_t k = 0; k < extents.size(); ++k) {
    if (chance(random, 0.06))
      p.input.strides[k] = 0;
    else if (chance(random, 0.06))
      p.input.strides[k] = -p.input.strides[k];
    if (chance(random, 0.03)) p.output.strides[k] = -p.output.strides[k];
  }
  for (auto* layout : {&p.input, &p.output}) layout->alignment = chance(random, 0.7) ? 16 : chance(random, 0.5) ? 0 : 8;

  const bool integer = is_integer(out_type);
  const auto factor = [&]() -> Scalar {
    if (integer) return static_cast<double>(pick(random, out_type <= DType::i64 ? -100 : 0, 100));
    const double re = static_cast<double>(pick(random, -32, 32)) / 8 + 0.1;
    return is_complex(out_type) ? Scalar(re, static_cast<double>(pick(random, -32, 32)) / 8) : Scalar(re);
  };
  if (chance(random, 0.3)) p.alpha = factor();
  if (chance(random, 0.3)) p.beta = chance(random, 0.3) ? Scalar(1) : factor();
  p.conjugate = is_complex(type) && chance(random, 0.4);

  p.a = Tensor(random, p.input);
  p.b = Tensor(random, p.output);
  fill(random, p.a, p.moves());
  fill(random, p.b, p.moves());
  return p;
}

Tensor expected(const RandomProblem& problem) {
  auto a = problem.a, b = problem.b;
  const auto program = ir::lower(problem.problem());
  std::vector<Scalar> params;
  for (const auto& param : program.params) params.push_back(param.name == "alpha" ? problem.alpha : problem.beta);
  ir::interpret(program, {a.element_0(), b.element_0()}, params);
  return b;
}

bool holds(const RandomProblem& problem, const Tensor& expected) {
  const auto& got = problem.b;
  auto type = expected.layout().type;
  if (problem.moves() || is_integer(type)) return got == expected;
  if (is_complex(type)) type = type == DType::c64 ? DType::f32 : DType::f64;  // part by part
  const auto size = static_cast<std::size_t>(size_of(type));
  for (std::size_t k = 0; k < expected.bytes(); k += size) {
    const auto *x = got.begin() + k, *y = expected.begin() + k;
    if (std::memcmp(x, y, size) == 0) continue;
    if (!std::isnan(float_at(x, type).real()) || !std::isnan(float_at(y, type).real())) return false;
  }
  return true;
}

}  // namespace ricci::fuzz
