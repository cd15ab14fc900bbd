// C++ of a tile statement that copies: what moves elements on a CPU.
#pragma once

#include "codegen/source.hpp"

namespace ricci::codegen {

/// As emit_cpp() of source.hpp, for schedules with a `write`. Throws PlanError naming the directive whose rule does not
/// hold.
Source emit_copy(const ir::Program& program, const kernel::Schedule& schedule, const Notes& notes);

}  // namespace ricci::codegen
