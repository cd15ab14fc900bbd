#include "plan/enumerate/mapped_contractions.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "ricci/error.hpp"

namespace ricci::plan {
namespace {

using kernel::Directive;

constexpr int kLeastSm = 90;
constexpr std::size_t kMapped = 4;           ///< candidates that are tried so
constexpr std::int64_t kCounterBytes = 128;  ///< of shared memory

bool is_copy_ahead(const Directive& d) { return d.kind == Directive::Kind::stage && d.space == "async"; }

/// The schedule with all copies ahead by tensor maps, or as many of them as can be.
std::optional<kernel::Schedule> mapped(const ir::Program& program, const kernel::Schedule& of) {
  kernel::Schedule made{of.name + " maps", of.directives};
  bool any = false;
  for (auto& directive : made.directives) {
    if (!is_copy_ahead(directive)) continue;
    directive.space = "maps";
    try {
      kernel::verify(made, program, kernel::Target::cuda);
      any = true;
    } catch (const PlanError&) {
      directive.space = "async";
    }
  }
  return any ? std::optional(std::move(made)) : std::nullopt;
}

}  // namespace

std::vector<Candidate> with_maps(const ir::Program& program, const GpuModel& device, std::vector<Candidate> list) {
  if (device.sm < kLeastSm) return list;
  std::vector<Candidate> all;
  for (std::size_t k = 0; k < list.size(); ++k) {
    auto& one = all.emplace_back(std::move(list[k]));
    const auto& directives = one.schedule.directives;
    const bool ahead = std::any_of(directives.begin(), directives.end(), is_copy_ahead) &&
                       std::any_of(directives.begin(), directives.end(),
                                   [](const Directive& d) { return d.kind == Directive::Kind::pipeline; });
    const bool fits =
        one.counts && one.counts->shared_bytes + kCounterBytes <= static_cast<double>(device.shared_bytes_per_block);
    if (k >= kMapped || !ahead || !fits) continue;
    auto schedule = mapped(program, one.schedule);
    if (!schedule) continue;
    auto other = one;
    other.schedule = std::move(*schedule);
    other.counts->shared_bytes += kCounterBytes;
    all.push_back(std::move(other));
  }
  return all;
}

}  // namespace ricci::plan
