#include "plan/enumerate/mapped_contractions.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "plan/enumerate/gpu_contraction.hpp"
#include "ricci/error.hpp"

namespace ricci::plan {
namespace {

using kernel::Directive;

constexpr int kLeastSm = 90;
constexpr std::size_t kMapped = 4;           ///< candidates that are tried so
constexpr std::int64_t kCounterBytes = 128;  ///< of shared memory
/// Of what products of warp groups in half types take whose operands threads copy (28 pairs of kernels of
/// bench/problems/gemm.csv in bf16 on an H100, fit/contract-gemm-bf16-h100.json: 0.88 to 1.04, 0.94 in the mean).
constexpr double kOfHalfGroups = 0.94;

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
  const auto way = GpuContraction::of(program, device);
  const bool half = way && size_of(way->operand_type) == 2;
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
    if (half && other.counts->overlapped) other.predicted_us *= kOfHalfGroups;
    all.push_back(std::move(other));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& x, const Candidate& y) { return x.predicted_us < y.predicted_us; });
  return all;
}

Candidate by_maps(const ir::Program& program, const GpuModel& device, Candidate best) {
  // Only there are they predicted to take less time.
  if (!best.counts || !best.counts->overlapped) return best;
  std::vector<Candidate> one;
  one.push_back(std::move(best));
  return with_maps(program, device, std::move(one)).front();
}

}  // namespace ricci::plan
