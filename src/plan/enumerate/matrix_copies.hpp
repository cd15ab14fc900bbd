// Copies of a contraction's tensors in front of a product, or behind it: as matrices, and in any order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernel/composite.hpp"
#include "kernel/contraction.hpp"
#include "kernel/directives.hpp"
#include "plan/plan.hpp"

namespace ricci::plan {

/// Copies of a contraction's tensors into matrices: which indices are rows, columns, depth and batch, and in which
/// order.
class MatrixCopies {
 public:
  static constexpr int kFirst = 1, kSecond = 2, kResult = 4;

  /// Of a program that is this contraction; both outlive it.
  MatrixCopies(const ir::Program& program, const kernel::Contraction& contraction)
      : program_(program),
        contraction_(contraction),
        first_(load(contraction.first)),
        second_(load(contraction.second)),
        result_(program.statement()) {}

  bool same_operand() const { return first_.source == second_.source; }
  bool has(kernel::Role role) const { return !contraction_.indices(role).empty(); }

  /// Directives of copies, a suffix of a schedule's name with the names of what is copied, and whether what is not
  /// copied is a matrix each, with neighbours along its rows or columns.
  struct Copies {
    kernel::Directives directives;
    std::string name;
    bool matrices = true;
  };
  /// Those of the tensors in `which`, whose fastest index stays in the group that has it.
  ///   transposed  but the result's, which goes to the other one
  Copies copies(int which, bool transposed = false) const;

  /// Orders of one tensor alone (kFirst, kSecond or kResult) as a matrix: each of its two groups of indices last; of
  /// operands also as panels of neighbours in the result, with the depth outside of these. None in which it lies.
  std::vector<kernel::Directive> orders(int which) const;

 private:
  using Indices = std::vector<int>;

  const ir::Node& load(const kernel::Factor& factor) const {
    return program_.nodes[static_cast<std::size_t>(factor.load)];
  }
  std::int64_t extent(int q) const { return program_.indices[static_cast<std::size_t>(q)].extent; }
  static std::int64_t step(const ir::Affine& access, int q) { return access.coefficient[static_cast<std::size_t>(q)]; }

  /// Indices of a role, slowest first as an access has them.
  Indices sorted(kernel::Role role, const ir::Affine& access) const;
  /// Whether they are one index of an access in that order.
  bool is_one(const Indices& order, const ir::Affine& access) const;
  /// The fastest index of an access is one of them.
  bool holds_fastest(const Indices& indices, const Indices& others, const ir::Affine& access) const;
  /// A copy of a buffer in the order of these groups, slowest first.
  kernel::Directive copy(int buffer, const std::vector<const Indices*>& groups) const;

  const ir::Program& program_;
  const kernel::Contraction& contraction_;
  const ir::Node &first_, &second_;
  const ir::Statement& result_;
};

/// What copies of tensors are predicted to take; equal ones are worked out once.
template <class Device>
class CopyTimes {
 public:
  explicit CopyTimes(const Device& device) : device_(device) {}
  double us(const kernel::Composite& composite) {
    double sum = 0;
    for (std::size_t k = 0; k < composite.sequence.steps.size(); ++k) {
      if (k == composite.product) continue;
      const auto program = composite.canonical(k).program;
      const auto [place, fresh] = known_.try_emplace(ir::print(program));
      if (fresh) place->second = best_candidate(program, device_).predicted_us;
      sum += place->second;
    }
    return sum;
  }

 private:
  const Device& device_;
  std::map<std::string, double> known_;
};

}  // namespace ricci::plan
