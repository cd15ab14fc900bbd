// What the parts of a CPU's expansion share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel/expand.hpp"

namespace ricci::kernel {

/// A copy as loops over loads and stores; `origin` is the directive that made it.
Body expand_copy_cpu(Kernel& kernel, const Copy& copy, int origin);
/// The same of one whose neighbours in the copy are groups along the depth, as dot products take them; nothing where
/// none are worth vectors.
std::optional<Body> expand_grouped_copy_cpu(Kernel& kernel, const Copy& copy, int origin);
/// The same of one whose source is made of quotients of its digits, without digits of one value.
Body expand_joined_copy_cpu(Kernel& kernel, const Copy& copy, int origin);

/// Loops over the digits of a copy as far as they are inside of the tensor: a digit that is a block of a ragged index
/// ends where the index does.
///   inner_digits  those of what is in the loops
Body copy_loops(Kernel& kernel, const std::vector<Digit>& digits, const std::vector<Digit>& inner_digits,
                const std::vector<Condition>& when, Body inner);

/// The results of a register tile; `origin` is the directive that made them.
Body expand_flush_cpu(Kernel& kernel, const Flush& flush, int origin);

/// A new array of `count` registers of `lanes` each.
int add_registers(Kernel& kernel, const std::string& stem, DType type, std::int64_t count, int lanes, int origin);

/// What is loaded, in another type where that of the array is not `to`.
Value converted(const Kernel& kernel, Access access, DType to, std::optional<DType> rounded = {});

/// Columns of a tile with vectors in place of the last one's elements.
struct Columns {
  std::vector<Digit> digits;
  Var lane = -1, vectors = -1;  ///< the last column, and the loop over its vectors
  int lanes = 1;
};
Columns columns_of(Kernel& kernel, const std::vector<Digit>& columns, int lanes);

/// `from` with `by` in place of a variable.
Body substituted(const Body& from, Var var, const Affine& by);

/// Nested loops over digits, the first outermost, without those of one value. Quotients are named as soon as what they
/// are of is known.
Body loops(const std::vector<Digit>& digits, Bind bind, Body inner, const std::vector<Let>& quotients = {});
/// Takes away the last digits that have up to so many rounds together.
std::vector<Digit> take_spelt(std::vector<Digit>& digits, std::int64_t most);
/// The same of serial loops, but for those inside that have up to so many rounds together, which are spelt out.
Body loops_inside_spelt(std::vector<Digit> digits, std::int64_t most, Body inner);

// ---- joined indices

/// Whether some of the quotients are of a digit.
bool is_joined(const std::vector<Let>& quotients, Var digit);
/// An expression in joined indices: where it goes along their axis evenly, in the axis itself.
Affine along_axes(Affine index, const std::vector<Let>& quotients);

/// Neighbours along a digit of joined indices, as far as the fastest of these goes, and then from the next run on.
class JoinedRuns {
 public:
  /// Of a digit that some of the quotients are of; `when` says where the axis ends.
  JoinedRuns(const Kernel& kernel, Var digit, const std::vector<Let>& quotients, const std::vector<Condition>& when);

  /// Those of some neighbours that are in one run.
  struct Piece {
    std::vector<std::pair<Var, Var>> names;  ///< what slower indices are called there
    std::int64_t before = 0;                 ///< neighbours of the runs before it
    std::optional<Affine> since, until;      ///< its neighbours among all of them: of Access

    /// The neighbours of an access that the fastest index moves by one.
    Access of(Access access, int lanes, Var fastest) const;
  };

  Var fastest() const { return fastest_.var; }
  /// Whether values of the digit and elements that an expression says are neighbours at once, as far as a run goes.
  bool are_neighbours(const Affine& index) const {
    return fastest_.of.coefficient(digit_) == 1 && index.coefficient(fastest_.var) == 1;
  }
  /// Whether the last run ends with the digit.
  bool end_with_digit() const { return fastest_.of == Affine::of(digit_); }
  /// make(piece) of each run that `lanes` neighbours from the digit's value `first` on lie in: mostly all are in one.
  Body pieces(Kernel& kernel, const Affine& first, int lanes, const std::function<Body(const Piece&)>& make) const;

 private:
  Var digit_;
  Let fastest_;
  std::vector<Let> slower_;
  Var slowest_ = -1;
  std::int64_t runs_ = 1;         ///< values of that
  std::optional<Condition> end_;  ///< of the axis, where a tile may end behind it
};

}  // namespace ricci::kernel
