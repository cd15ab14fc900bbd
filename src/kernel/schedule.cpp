#include "kernel/schedule.hpp"

#include "kernel/build.hpp"
#include "kernel/permute/build_permute.hpp"
#include "kernel/program/build_program.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

constexpr std::string_view kHead = "directives\n";

}  // namespace

std::string print(const Schedule& schedule, const ir::Program& program) {
  if (!schedule.by_directives()) return ir::print(schedule, program);
  return std::string(kHead) + print(schedule.directives);
}

std::optional<Schedule> parse_schedule(std::string_view text, const ir::Program& program) {
  Schedule schedule;
  if (text.starts_with(kHead)) {
    try {
      schedule.directives = parse_directives(text.substr(kHead.size()));
    } catch (const PlanError&) {
      return std::nullopt;
    }
    return schedule;
  }
  auto fields = ir::parse_schedule(text, program);
  if (!fields) return std::nullopt;
  static_cast<ir::Schedule&>(schedule) = std::move(*fields);
  return schedule;
}

void verify(const Schedule& schedule, const ir::Program& program, Target target) {
  if (!schedule.by_directives()) return ir::verify(schedule, program);
  build(program, schedule, target);
}

Kernel build(const ir::Program& program, const Schedule& schedule, Target target) {
  if (!schedule.by_directives()) {
    ir::verify(schedule, program);
    return schedule.computes() ? build_program(program, schedule, target) : build_permute(program, schedule);
  }
  if (const auto contraction = contraction_of(program))
    return build(program, *contraction, schedule.directives, target);
  if (const auto group = group_of(program)) return build(program, *group, schedule.directives, target);
  throw PlanError("schedule: these directives are for a contraction or a group of them, which this program is not");
}

Launch launch_of(const ir::Program& program, const Schedule& schedule, Target target) {
  Launch launch;
  if (schedule.by_directives()) {
    const auto kernel = build(program, schedule, target);
    launch.tasks = kernel.tasks();
    launch.threads = kernel.threads;
    launch.scratch_bytes = kernel.bytes_of(Space::scratch);
    return launch;
  }
  launch.tasks = target == Target::cpu ? schedule.tiles(program) : schedule.blocks(program);
  launch.threads = schedule.threads;
  if (target == Target::cpu) {
    launch.scratch_bytes =
        schedule.computes() ? scratch_bytes(program, schedule) : ir::stage_arrays(program, schedule).bytes;
  }
  return launch;
}

}  // namespace ricci::kernel
