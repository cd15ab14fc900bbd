#include "kernel/schedule.hpp"

#include "kernel/build.hpp"
#include "kernel/permute/build_permute.hpp"
#include "kernel/permute/moves.hpp"
#include "kernel/program/build_program.hpp"
#include "kernel/program/loops.hpp"
#include "kernel/program/strips.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

constexpr std::string_view kHead = "directives\n";

}  // namespace

std::string text_of(const Schedule& schedule, const ir::Program& program) {
  return print(schedule.by_directives() ? schedule.directives : directives_of(schedule, program));
}

std::string print(const Schedule& schedule, const ir::Program& program) {
  return std::string(kHead) + text_of(schedule, program);
}

Schedule schedule_of(Directives directives, const ir::Program& program) {
  if (has_write(directives)) return moves_of(program, directives);
  Schedule schedule;
  schedule.directives = std::move(directives);
  return schedule;
}

std::optional<Schedule> parse_schedule(std::string_view text, const ir::Program& program) {
  if (!text.starts_with(kHead)) return std::nullopt;
  try {
    return schedule_of(parse_directives(text.substr(kHead.size())), program);
  } catch (const PlanError&) {
    return std::nullopt;
  }
}

void verify(const Schedule& schedule, const ir::Program& program, Target target) {
  if (!schedule.by_directives()) return ir::verify(schedule, program);
  if (has_atom(schedule.directives)) {
    build(program, schedule, target);
  } else {
    loops_of(program, schedule.directives, target);
  }
}

Kernel build(const ir::Program& program, const Schedule& schedule, Target target) {
  if (!schedule.by_directives()) return build_permute(program, schedule);
  if (!has_atom(schedule.directives)) return build_program(program, schedule.directives, target);
  if (const auto contraction = contraction_of(program))
    return build(program, *contraction, schedule.directives, target);
  if (const auto group = group_of(program)) return build(program, *group, schedule.directives, target);
  throw PlanError("schedule: an atom is for a contraction or a group of them, which this program is not");
}

Launch launch_of(const ir::Program& program, const Schedule& schedule, Target target) {
  Launch launch;
  if (!schedule.by_directives()) {
    launch.tasks = target == Target::cpu ? schedule.tiles(program) : schedule.blocks(program);
    launch.threads = schedule.threads;
    if (target == Target::cpu) launch.scratch_bytes = ir::stage_arrays(program, schedule).bytes;
  } else if (!has_atom(schedule.directives)) {  // without building the tree
    const auto loops = loops_of(program, schedule.directives, target);
    launch.tasks = loops.tiles(program);
    launch.threads = loops.threads;
    launch.scratch_bytes = scratch_bytes(program, loops);
  } else {
    const auto kernel = build(program, schedule, target);
    launch.tasks = kernel.tasks();
    launch.threads = kernel.threads;
    launch.scratch_bytes = kernel.bytes_of(Space::scratch);
  }
  return launch;
}

}  // namespace ricci::kernel
