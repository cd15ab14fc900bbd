// What `einsum --verify` compares with: the interpreter, pair by pair where one nest of loops would take too long.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ricci/runtime.hpp"

namespace ricci::tools {

class EinsumOracle {
 public:
  /// Throws ShapeError where the interpreter would take too long, whatever the order of the products.
  EinsumOracle(const std::string& spec, std::span<const Layout> inputs, bool verified, bool in_pairs);

  /// Runtime::interpret_einsum(), or the same pair by pair: with intermediates of f64 or c128, of integers of the
  /// output's type.
  void interpret(std::span<const Layout> inputs, const Layout& output, std::span<const void* const> from, void* to,
                 const EinsumOptions& options) const;

 private:
  /// The operands at these places are taken out, their product goes behind the others.
  struct Pair {
    std::size_t first, second;
    std::vector<std::size_t> result;  ///< axes
  };

  void find_pairs();
  std::string term(const std::vector<std::size_t>& axes) const;

  std::string spec_;
  std::vector<std::vector<std::size_t>> operands_;  ///< axes
  std::vector<std::size_t> output_;
  std::vector<double> extent_;  ///< of each axis
  std::vector<Pair> pairs_;     ///< none: one nest of loops
  double products_ = 1;         ///< of all loops
};

}  // namespace ricci::tools
