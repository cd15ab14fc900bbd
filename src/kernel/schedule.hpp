// The schedule of a kernel: directives, or of what only moves elements the fields of ir::Schedule; and what launching
// the kernel takes.
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

  Directives directives;  ///< empty: the fields of ir::Schedule say it all
  bool by_directives() const noexcept { return !directives.empty(); }
  /// Whether build() makes a tree of it; copies of a CPU go to emitters of src/codegen.
  bool builds(Target target) const noexcept { return by_directives() || target == Target::cuda; }
};

/// The text form without the name: part of the kernel's key.
std::string print(const Schedule& schedule, const ir::Program& program);
/// What print wrote for this program; nothing for any other text. Not verified.
std::optional<Schedule> parse_schedule(std::string_view text, const ir::Program& program);
/// Throws InternalError or PlanError, naming the first rule that the schedule breaks for this program.
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
