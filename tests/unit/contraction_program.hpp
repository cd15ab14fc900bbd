// Canonical programs of contractions of two tensors, given or drawn at random, and a CPU, for tests of their plans.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "ir/passes/canonical.hpp"
#include "lower/einsum.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::tests {

/// Row-major: extents of both operands and of the result.
inline ir::Program contraction(const std::string& spec, const std::vector<std::vector<std::int64_t>>& extents,
                               DType type, Precision precision = Precision::operands) {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse(spec);
  problem.inputs = {Layout::row_major(type, extents.at(0)), Layout::row_major(type, extents.at(1))};
  problem.output = Layout::row_major(type, extents.at(2));
  problem.precision = precision;
  return ir::canonicalise(ir::lower(problem));
}

/// A CPU with vectors of 64 bytes, whose units compute so many at once.
inline plan::CpuModel with_units(int datapath_bytes) {
  plan::CpuModel device;
  device.vector_bytes = 64;
  device.datapath_bytes = datapath_bytes;
  return device;
}

/// Of three to six indices in any order, each of one of the extents, in one of the types.
inline ir::Program random_contraction(std::mt19937_64& random, std::span<const std::int64_t> of_extents,
                                      std::span<const DType> of_types) {
  const auto draw = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  // Each index is in two of the three tensors, or in all of them.
  std::array<std::string, 3> terms;
  std::map<char, std::int64_t> extents;
  for (std::size_t q = 0, count = 3 + draw(4); q < count; ++q) {
    const auto axis = static_cast<char>('a' + q);
    extents[axis] = of_extents[draw(of_extents.size())];
    const auto without = draw(12) == 0 ? 3 : draw(3);
    for (std::size_t t = 0; t < 3; ++t) {
      if (t != without)
        terms[t].insert(terms[t].begin() + static_cast<std::ptrdiff_t>(draw(terms[t].size() + 1)), axis);
    }
  }
  std::vector<std::vector<std::int64_t>> shapes;
  for (const auto& term : terms) {
    for (shapes.emplace_back(); const char axis : term) shapes.back().push_back(extents[axis]);
  }
  return contraction(terms[0] + "," + terms[1] + "->" + terms[2], shapes, of_types[draw(of_types.size())]);
}

}  // namespace ricci::tests
