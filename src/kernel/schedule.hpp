// The schedule of a kernel: directives, which of what only moves elements are read into the fields of ir::Schedule; and
// what launching the kernel takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ir/schedule.hpp"
#include "kernel/directives.hpp"
#include "kernel/kernel.hpp"

namespace ricci::kernel {

struct Schedule : ir::Schedule {
  Schedule() = default;
  Schedule(ir::Schedule fields) : ir::Schedule(std::move(fields)) {}  // NOLINT(google-explicit-constructor)

  Directives directives;  ///< of what computes; empty: what moves elements, by the fields
  bool by_directives() const noexcept { return !directives.empty(); }
  /// Whether build() makes a tree of it; copies of a CPU go to emitters of src/codegen.
  bool builds(Target target) const noexcept { return by_directives() || target == Target::cuda; }
};

/// The schedule that directives are. Throws PlanError naming the one that is not understood.
Schedule schedule_of(Directives directives, const ir::Program& program);
/// Its directives, a line each.
std::string text_of(const Schedule& schedule, const ir::Program& program);
/// The text form without the name: part of the kernel's key.
std::string print(const Schedule& schedule, const ir::Program& program);
/// What print wrote for this program; nothing for any other text. Not verified.
std::optional<Schedule> parse_schedule(std::string_view text, const ir::Program& program);
/// Throws PlanError, naming the directive whose rule does not hold for this program.
void verify(const Schedule& schedule, const ir::Program& program, Target target);

/// The tree of a schedule that builds() one for the target, which expand() may have to be applied to. Throws PlanError
/// as build() does, where directives are not for the program, and where a launch has too many blocks.
Kernel build(const ir::Program& program, const Schedule& schedule, Target target);

/// How a kernel is launched.
struct Launch {
  std::int64_t tasks = 1;          ///< CPU: of the task range; CUDA: blocks of the grid
  int threads = 1;                 ///< CUDA: of a block
  std::int64_t scratch_bytes = 0;  ///< CPU: of each worker
};
Launch launch_of(const ir::Program& program, const Schedule& schedule, Target target);

}  // namespace ricci::kernel
