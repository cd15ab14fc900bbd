// The text in which a user states what to compute: index notation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ricci/error.hpp"

namespace ricci {
inline namespace v1 {

/// Parsed index notation: `operand , operand ... -> output`.
///
///   "abc->cab"                          one letter per axis
///   "occ vir aux -> aux occ vir"        named axes, when any operand holds two words
///   "labi,kjcl->kjicba"                 several operands
///   "->"                                rank 0
///   "...ik,...kj->...ij"                an ellipsis: the axes that a term does not name, as many as its tensor has
///   "ik,kj"                             no arrow: the axes that appear once, in alphabetical order, after any ellipsis
///
/// First axis is the slowest of a row-major tensor, as in NumPy. Names are letters, digits and underscores, starting
/// with a letter. Whether a spec makes sense for one operation is checked where that operation is planned.
struct Spec {
  struct Axis {
    std::string name;         ///< "..." for an ellipsis
    int column = 0;           ///< byte offset in `text`, for error messages
    bool broadcasts = false;  ///< came from an ellipsis: extent 1 in one operand goes with any extent in another
  };
  using Term = std::vector<Axis>;

  std::string text;
  std::vector<Term> operands;
  Term output;
  bool implicit_output = false;  ///< there was no "->"; the output's columns are those of the operands

  /// Reads a spec. Throws SpecError, with a caret under the place.
  static Spec parse(std::string_view text);

  bool has_ellipsis() const noexcept;

  /// The spec without ellipses, for operands of these ranks: axes "_0", "_1", ... in their place, which no written axis
  /// can be called, aligned from the right as in NumPy. Throws ShapeError when an operand has fewer axes than the spec
  /// names, SpecError when an output that is written out has no place for the axes of an ellipsis.
  Spec expand(const std::vector<int>& ranks) const;

  /// `text`, and under it `^` at each of the axes given: the body of every message about a spec.
  std::string caret(const std::vector<const Axis*>& axes) const;
  /// The place of an axis, as errors tell it.
  static TextPosition position(const Axis& axis) { return {1, axis.column + 1, axis.column}; }
};

}  // namespace v1
}  // namespace ricci
