// The text in which a user states what to compute: index notation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ricci {
inline namespace v1 {

/// Parsed index notation: `operand , operand ... -> output`.
///
///   "abc->cab"                          one letter per axis
///   "occ vir aux -> aux occ vir"        named axes, when any operand holds two words
///   "labi,kjcl->kjicba"                 several operands
///   "->"                                rank 0
///
/// First axis is the slowest of a row-major tensor, as in NumPy. Names are letters, digits and underscores, starting
/// with a letter. Whether a spec makes sense for one operation is checked where that operation is planned.
struct Spec {
  struct Axis {
    std::string name;
    int column = 0;  ///< byte offset in `text`, for error messages
  };
  using Term = std::vector<Axis>;

  std::string text;
  std::vector<Term> operands;
  Term output;

  /// Reads a spec. Throws SpecError, with a caret under the place.
  static Spec parse(std::string_view text);

  /// `text`, and under it `^` at each of the axes given: the body of every message about a spec.
  std::string caret(const std::vector<const Axis*>& axes) const;
};

}  // namespace v1
}  // namespace ricci
