// Schedules for a CPU: of copies, of contractions by register tiles beside plain ones and a library's products, and of
// all else.
#include <algorithm>
#include <iterator>
#include <optional>

#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/copied_contractions.hpp"
#include "plan/enumerate/copies_cpu.hpp"
#include "plan/enumerate/library_products.hpp"
#include "plan/enumerate/plain.hpp"
#include "plan/enumerate/register_tile.hpp"
#include "plan/plan.hpp"

namespace ricci::plan {
namespace {

bool is_by_atom(const Candidate& candidate) { return kernel::has_atom(candidate.schedule.directives); }

/// So many plain schedules, then as many register tiles of a contraction, or those of a group, where there are such.
std::vector<Candidate> computing(const ir::Program& program, const CpuModel& device, std::size_t most) {
  auto contractions = contraction_candidates(program, device, most);
  if (contractions.empty()) contractions = group_candidates(program, device);
  auto list = plain_candidates(program, device, most);
  for (auto& candidate : contractions) list.push_back(std::move(candidate));
  return list;
}

/// Best first, with so many register tiles of a contraction.
std::vector<Candidate> ranked(const ir::Program& program, const CpuModel& device, std::size_t most_tiles) {
  auto list = computing(program, device, most_tiles);
  if (!std::any_of(list.begin(), list.end(), is_by_atom)) return fastest(std::move(list));
  // Register tiles sum in another order than plain schedules, and than those of copied operands: which are preferred
  // does not depend on the threads.
  const auto alone = device.alone();
  const auto best = fastest(computing(program, alone, 1)).front();
  const bool tiles = is_by_atom(best);
  const auto others =
      std::stable_partition(list.begin(), list.end(), [&](const Candidate& c) { return is_by_atom(c) == tiles; });
  auto preferred = fastest({list.begin(), others}), rest = fastest({others, list.end()});
  preferred = with_copies(std::move(preferred), program, device, best.predicted_us, most_tiles);
  preferred.insert(preferred.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
  return preferred;
}

/// The first of them, of a contraction that has register tiles: plain schedules that cannot be as fast are not worked
/// out.
std::optional<Candidate> best_of_contraction(const ir::Program& program, const CpuModel& device) {
  CpuContraction contraction(program, device);
  auto best = contraction.best();
  if (!best) return std::nullopt;
  const auto alone = device.alone();
  double alone_us = contraction.best_us_alone().value();
  std::vector<Candidate> list;
  list.push_back(std::move(*best));
  if (const auto plain = plain_candidates(program, alone, 1, alone_us); !plain.empty()) {
    alone_us = plain.front().predicted_us;
    list = plain_candidates(program, device, 1);
  }
  return std::move(with_copies(std::move(list), program, device, alone_us, 1).front());
}

}  // namespace

std::vector<Candidate> candidates(const ir::Program& program, const CpuModel& device) {
  if (is_copy(program)) return copy_candidates(program, device);
  return merged(ranked(program, device, kMostListed), library_candidates(program, device));
}

Candidate best_candidate(const ir::Program& program, const CpuModel& device) {
  if (is_copy(program)) return best_copy(program, device);
  auto best = best_of_contraction(program, device);
  auto list = best ? std::vector<Candidate>() : ranked(program, device, 1);
  if (best) list.push_back(std::move(*best));
  return std::move(merged(std::move(list), library_candidates(program, device)).front());
}

AloneTime time_alone(const ir::Program& program, const CpuModel& device) {
  auto alone = device.alone();
  alone.library.reset();
  const auto best = best_candidate(program, alone);
  return {best.predicted_us, is_by_atom(best)};
}

}  // namespace ricci::plan
