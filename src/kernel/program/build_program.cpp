#include "kernel/program/build_program.hpp"

#include <fmt/format.h>

#include "kernel/program/point.hpp"
#include "kernel/program/targets.hpp"
#include "kernel/verify.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {

Kernel build_program(const ir::Program& program, const ir::Schedule& schedule, Target target) {
  if (program.indices.size() > kMostIndices) {
    throw PlanError(fmt::format("{} indices in one kernel; {} is the most", program.indices.size(), kMostIndices));
  }
  constexpr std::int64_t kMostBlocks = (std::int64_t{1} << 31) - 1;
  if (const auto tiles = schedule.tiles(program); target == Target::cuda && tiles > kMostBlocks)
    throw PlanError(fmt::format("{} tiles are more than a launch takes (2^31 - 1)", tiles));
  auto kernel = target == Target::cuda ? build_cuda(program, schedule) : build_cpu(program, schedule);
  verify(kernel);
  return kernel;
}

}  // namespace ricci::kernel
