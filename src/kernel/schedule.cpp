#include "kernel/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernel/atoms.hpp"
#include "kernel/build.hpp"
#include "kernel/build_chain.hpp"
#include "kernel/composite.hpp"
#include "kernel/permute/build_permute.hpp"
#include "kernel/permute/cpu_stage.hpp"
#include "kernel/permute/moves.hpp"
#include "kernel/program/build_program.hpp"
#include "kernel/program/loops.hpp"
#include "kernel/program/strips.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

constexpr std::string_view kHead = "directives\n";

std::int64_t dynamic_shared(std::int64_t bytes) { return bytes > kStaticSharedBytes ? bytes : 0; }

Launch launch_of(const ir::Program& program, const Moves& moves, Target target) {
  Launch launch{
      .threads = moves.threads, .shared_bytes = moves.shared_bytes(program), .arguments = arguments_of(program)};
  if (target == Target::cuda) {
    launch.tasks = moves.blocks(program);
    launch.dynamic_shared_bytes = dynamic_shared(launch.shared_bytes);
    return launch;
  }
  launch.tasks = moves.tiles(program);
  launch.scratch_bytes = stage_arrays(program, moves).bytes;
  if (moves.stage && moves.stage->line_carry >= 0) launch.carried_over = line_carry_of(program, moves).apart;
  return launch;
}

/// How far apart tasks are that go on with lines; 0: none does.
std::int64_t carried_over(const Body& body) {
  std::int64_t apart = 0;
  for (const auto& statement : body) {
    if (const auto* run = std::get_if<CopyRun>(&statement.node); run != nullptr && run->carry)
      apart = run->carry->apart;
    for_each_body(statement, [&](const Body& inner) { apart = std::max(apart, carried_over(inner)); });
  }
  return apart;
}

}  // namespace

std::string print(const Schedule& schedule) { return std::string(kHead) + print(schedule.directives); }

std::optional<Schedule> parse_schedule(std::string_view text) {
  if (!text.starts_with(kHead)) return std::nullopt;
  try {
    return Schedule{{}, parse_directives(text.substr(kHead.size()))};
  } catch (const PlanError&) {
    return std::nullopt;
  }
}

void verify(const Schedule& schedule, const ir::Program& program, Target target, bool each) {
  const auto& directives = schedule.directives;
  if (is_composite(schedule)) return verify_composite(program, schedule, target, each);
  if (!each && has_write(directives)) return verify(moves_of(program, directives), program);
  if (!each && !has_atom(directives)) return (void)loops_of(program, directives, target);
  const auto all = std::max<std::size_t>(directives.size(), 1);
  for (auto count = each ? 1 : all; count <= all; ++count) {
    try {
      build(program, schedule, target, count);
    } catch (const InternalError& fault) {
      throw InternalError(fmt::format("{}, after \"{}\"", fault.what(), print(directives[count - 1])));
    }
  }
}

void check_capability(const Directives& directives, int sm) {
  for (const auto& directive : directives) {
    const auto from = [&](bool used, int least, std::string_view what) {
      if (used && sm < least)
        refuse(directive, fmt::format("{} from sm_{} on, and this is for sm_{}", what, least, sm));
    };
    const bool clusters = std::any_of(directive.loops.begin(), directive.loops.end(),
                                      [](const auto& group) { return group.first == "cluster"; });
    from(directive.kind == Directive::Kind::order && clusters, 90, "blocks of a cluster work together");
    from(directive.kind == Directive::Kind::stage && directive.space == "maps", 90, "tensor maps are known");
    // None of multiply-adds, which every GPU has.
    const auto* atom = directive.kind == Directive::Kind::atom ? find_atom(directive.subject) : nullptr;
    if (atom != nullptr && atom->warps > 1 && sm != atom->sm)
      refuse(directive, fmt::format("warp groups multiply so on sm_{} alone, and this is for sm_{}", atom->sm, sm));
    if (atom != nullptr) from(true, atom->sm, "tensor cores multiply so");
  }
}

Kernel build(const ir::Program& program, const Schedule& schedule, Target target, std::size_t count) {
  const auto& directives = schedule.directives;
  if (has_write(directives)) return build_moves(program, directives, target, count);
  if (!has_atom(directives)) return build_program(program, directives, target, count);
  if (const auto contraction = contraction_of(program))
    return build(program, *contraction, directives, target, kLineBytes, count);
  if (const auto group = group_of(program)) return build(program, *group, directives, target, kLineBytes, count);
  if (const auto chain = chain_of(program)) return build_chain(program, *chain, directives, target, count);
  throw PlanError("schedule: an atom is for a contraction, a group or a chain of them, which this program is not");
}

Launch launch_of(const ir::Program& program, const Schedule& schedule, Target target) {
  if (has_write(schedule.directives))  // without building the tree
    return launch_of(program, moves_of(program, schedule.directives), target);
  if (!has_atom(schedule.directives)) {  // likewise: threads that share a point exchange next to nothing
    const auto loops = loops_of(program, schedule.directives, target);
    return {.tasks = loops.tiles(program),
            .threads = loops.threads,
            .scratch_bytes = target == Target::cpu ? scratch_bytes(program, loops) : 0,
            .arguments = arguments_of(program)};
  }
  auto kernel = build(program, schedule, target);
  return launch_of(target == Target::cuda ? expand_unverified(std::move(kernel)) : kernel);
}

Launch launch_of(const Kernel& kernel) {
  const auto shared = kernel.target == Target::cuda ? shared_bytes(kernel) : 0;
  return {.tasks = kernel.tasks(),
          .threads = kernel.threads,
          .cluster = static_cast<int>(kernel.cluster()),
          .scratch_bytes = kernel.bytes_of(Space::scratch),
          .carried_over = carried_over(kernel.body),
          .shared_bytes = shared,
          .dynamic_shared_bytes = dynamic_shared(shared),
          .maps = kernel.maps,
          .arguments = arguments_of(kernel)};
}

std::string summary(const ir::Program& program, const Schedule& schedule) {
  if (!has_write(schedule.directives)) return schedule.name;
  return schedule.name + ": " + summary(moves_of(program, schedule.directives), program);
}

}  // namespace ricci::kernel
