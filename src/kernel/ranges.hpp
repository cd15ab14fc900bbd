// What values an index expression can take where it stands: by the extents of the variables in scope and the conditions
// that hold there.
#pragma once

#include <vector>

#include "kernel/kernel.hpp"

namespace ricci::kernel {

class Ranges {
 public:
  explicit Ranges(const Kernel& kernel) : in_scope_(kernel.vars.size()), multiples_(kernel.vars.size(), 1) {}

  /// A variable begins to be known, its values 0 to extent-1, multiples of a number; false where it is known already.
  bool enter(Var var, std::int64_t extent, std::int64_t multiple = 1);
  void leave(Var var) { in_scope_[static_cast<std::size_t>(var)] = 0; }
  bool knows(const Affine& affine) const;

  /// What divides `step` and every value of the expression; 0 of zeros.
  std::int64_t multiple(std::int64_t step, const Affine& affine) const;

  /// Conditions hold from here on, until the mark is restored.
  void assume(const Condition& condition);
  void assume(const std::vector<Condition>& conditions);
  /// `condition` is false.
  void assume_not(const Condition& condition) { assume({-1 * condition.value, 1 - condition.below}); }
  /// var = of / divisor % modulus.
  void assume(const Let& let);
  struct Mark {
    std::size_t facts, named, narrowed;
  };
  Mark mark() const noexcept { return {facts_.size(), named_.size(), narrowed_.size()}; }
  void restore(const Mark& mark);

  /// Whether the expression is never above `limit`, or never below it. False where it cannot be told: intervals, sums
  /// of multiples of conditions, and the steps that the terms of a condition go in are what is known.
  bool never_above(const Affine& affine, std::int64_t limit) const;
  bool never_below(const Affine& affine, std::int64_t limit) const { return never_above(-1 * affine, -limit); }
  /// The largest value that could be told to be none too small.
  std::int64_t largest(const Affine& affine) const;

  /// Whether the expression is known to be a multiple of `factor`: by its coefficients and what its names stand for.
  bool is_multiple(Affine affine, std::int64_t factor) const;
  /// What a name stands for, where it is one; null otherwise.
  const Let* name(Var var) const;
  /// Whether a variable is in the expression, or in what its names stand for.
  bool depends(const Affine& affine, Var on) const;

 private:
  struct Step;
  struct Way;
  struct Search;
  auto extents() const {
    return [this](Var var) { return in_scope_[static_cast<std::size_t>(var)]; };
  }
  std::int64_t in_box(const Affine& affine) const;
  void greedily(Step step, Search& search) const;
  void search(const Step& step, Search& search, int depth) const;
  void search(const Affine& affine, Search& search) const;
  void add_ways(const Step& step, Search& search) const;
  Step taken(const Step& step, const Way& way) const;

  Affine spelt_out(Affine affine) const;
  Affine in_names(Affine affine) const;
  /// Narrows the values of names of quotients by what has just been assumed.
  void narrow(std::size_t first);
  void narrow(const Let& let);
  void assume_of_quotient(const Let& let, const Condition& condition);
  /// Narrows the values of the variables of a condition.
  void narrow(const Condition& condition);
  /// Adds a condition as it is to what is known.
  void hold(Condition condition);

  /// The expression of a condition that holds, and the largest of the values that it can have there.
  struct Fact {
    Affine value;
    std::int64_t largest;
  };
  struct Narrowed {
    Var var;
    std::int64_t extent;  ///< before
  };
  std::vector<std::int64_t> in_scope_;  // per variable: its extent, or 0
  std::vector<std::int64_t> multiples_;
  std::vector<Fact> facts_;
  std::vector<Let> named_;  // that are in scope, of what spelt_out() gives
  std::vector<Narrowed> narrowed_;
};

}  // namespace ricci::kernel
