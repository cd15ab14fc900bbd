// The schedule of a kernel: a list of directives under a name, whatever family it is of; and what launching the kernel
// takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/arguments.hpp"
#include "kernel/directives.hpp"
#include "kernel/kernel.hpp"

namespace ricci::kernel {

struct Schedule {
  std::string name;  ///< unique among a problem's candidates; no part of a kernel's key
  Directives directives;
};

/// The text form without the name: part of the kernel's key.
std::string print(const Schedule& schedule);
/// What print wrote, without a name; nothing for any other text. Not verified.
std::optional<Schedule> parse_schedule(std::string_view text);
/// Throws PlanError, naming the directive whose rule does not hold for this program.
///   each  builds and verifies the tree after each directive, on which the next one stands: InternalError names the one
///         whose tree breaks a rule. Else what the planner once proposed is held against the rules of directives alone
void verify(const Schedule& schedule, const ir::Program& program, Target target, bool each = true);

/// Throws PlanError naming the first directive whose kernel a GPU of this compute capability, times ten, does not run:
/// blocks of a cluster work together and tensor maps are known from sm_90 on, and an atom is of some of them.
void check_capability(const Directives& directives, int sm);

/// The tree of a schedule, which expand() may have to be applied to; or of its first `count` directives, with what is
/// not said yet in its plain form. Throws PlanError as other build() do, and where a launch has too many blocks.
Kernel build(const ir::Program& program, const Schedule& schedule, Target target, std::size_t count = kAll);

/// How a kernel is launched.
struct Launch {
  std::int64_t tasks = 1;          ///< CPU: of the task range; CUDA: blocks of the grid
  int threads = 1;                 ///< CUDA: of a block
  int cluster = 1;                 ///< CUDA: blocks that work together; above 1 from sm_90 on
  std::int64_t scratch_bytes = 0;  ///< CPU: of each worker
  /// CPU: tasks from one to that which goes on with the lines it began; a range of tasks had better be longer. 0: each
  /// is for itself.
  std::int64_t carried_over = 0;
  /// Of a tile that waits in an array, or of all that a block shares (CUDA).
  std::int64_t shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;  ///< CUDA: of them, what a launch asks for
  std::vector<TensorMap> maps = {};       ///< CUDA: the last arguments
  std::vector<Argument> arguments = {};
};
Launch launch_of(const ir::Program& program, const Schedule& schedule, Target target);
/// Of an expanded kernel.
Launch launch_of(const Kernel& kernel);

/// One line about it: "tiled c64 b32: reads of 16 B, writes of 16 B, 8192 B shared, 12 tiles"; of what computes, its
/// name.
std::string summary(const ir::Program& program, const Schedule& schedule);

}  // namespace ricci::kernel
