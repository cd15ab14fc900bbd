// Options as texts: the keys and values of the command line, of the C interface and of the environment, read in one
// place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ricci/runtime.hpp"

namespace ricci::runtime {

/// A factor: "2", "-0.5", "1e-3", "2i", "1-0.5j". `option` names it in the error. Throws ShapeError.
Scalar parse_scalar(std::string_view text, std::string_view option);

/// The same, or "any" for one that is given at run time.
Scalar parse_factor(std::string_view text, std::string_view option);

/// A signed integer, whole. `what` names it in the error, a ShapeError.
std::int64_t parse_integer(std::string_view text, std::string_view what);

/// The number that an environment variable has; `otherwise` where it is empty or not set. A number above `most` counts
/// as `most`, what is no number from `least` on is ignored; both are warnings.
int number_from_environment(const char* variable, int least, int most, int otherwise);

/// "estimate", "measure", "remeasure" or "untuned".
std::optional<PlanMode> find_mode(std::string_view word) noexcept;

/// "1,3" or "all" for that many operands, "" for none. Throws ShapeError, naming `option`.
std::vector<bool> parse_operands(std::string_view text, std::size_t operands, std::string_view option);

/// "sm_90" or "90" to 90. Throws DeviceError, naming `option`.
int parse_target(std::string_view text, std::string_view option);

/// "flops" or "memory". Throws PlanError.
EinsumOptions::Path parse_path(std::string_view text);

/// Options of an einsum whose number of operands is not known yet.
struct EinsumTexts : EinsumOptions {
  std::string conjugated, constants;  ///< what parse_operands reads
  EinsumOptions of(std::size_t operands) const;
};

/// Options of one of the things that have them.
using Options = std::variant<PermuteOptions, EinsumTexts, PlanOptions, RuntimeOptions>;

/// Sets one option. Throws PlanError for a key that these options do not have, listing those that they have, and the
/// error of the value's kind for a value that is none, listing what there is; `options` are as before then.
void set_option(Options& options, std::string_view key, std::string_view value);
/// The same for an option that is a layout: "addend".
void set_option(Options& options, std::string_view key, const Layout& value);

}  // namespace ricci::runtime
