// Schedules that move elements as directives, both ways.
#pragma once

#include "ir/schedule.hpp"
#include "kernel/directives.hpp"

namespace ricci::kernel {

/// What a schedule says, its name aside.
Directives directives_of(const ir::Schedule& schedule, const ir::Program& program);

/// The schedule of such a list. Throws PlanError naming the directive that is not understood: an index that is not
/// there, digits that are none, ... Rules between directives are those of ir::verify().
ir::Schedule moves_of(const ir::Program& program, const Directives& directives);

}  // namespace ricci::kernel
