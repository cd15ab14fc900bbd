#include "plan/enumerate/mapped_contractions.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/build.hpp"
#include "kernel/tensor_map.hpp"
#include "plan/models/contraction_cost.hpp"
#include "plan/models/contraction_counts.hpp"
#include "ricci/error.hpp"

namespace ricci::plan {
namespace {

using kernel::Directive;

constexpr int kLeastSm = 90;
constexpr int kLeastWarps = 4;               ///< of a block: fewer copy for themselves as fast (ts02131 0.77)
constexpr std::size_t kMapped = 4;           ///< candidates that are tried so, and those that gain the lead by it
constexpr std::int64_t kCounterBytes = 128;  ///< of shared memory

/// What products by an atom take by tensor maps, of what they take where threads copy their operands: geometric means
/// of some 600 pairs of kernels of tccg48 and bench/problems/gemm.csv on an H100 (fit/contract-maps-*-h100.json), where
/// as many blocks are resident. Others took as long or longer, as did those that read fragments ahead. In tf32 five
/// pairs of ao2mo00 and ao2mo02 of tccg48_f32 whose results leave through shared memory took 0.78 to 0.86 on an H200,
/// by maps what was predicted without or 1.03 times that; two of others took 1.11 and 1.20. By two parts of each factor
/// (tf32x3) five took 0.98 to 1.06.
struct OfMaps {
  std::string_view atom;
  double factor;
  double through_shared;  ///< the same where results leave through shared memory
  /// Sums of a thread where that is so: multiply-adds with more have all its registers, with fewer wait for counters.
  double least_sums = 0, most_sums = std::numeric_limits<double>::infinity();
  int along_depth = 2;  ///< operands whose rows of shared memory may be the depth's: maps cannot pad them
};
constexpr OfMaps kOfMaps[] = {
    {"wgmma_f16", 0.94, 0.94}, {"wgmma_bf16", 0.94, 0.94},       {"wgmma_rs_tf32", 0.9, 0.9},
    {"wgmma_i8", 0.94, 0.94},  {"wgmma_u8", 0.94, 0.94},         {"wgmma_tf32", 0.95, 0.95},
    {"m16n8k8_f64", 0.965, 1}, {"fma", 0.955, 0.96, 48, 100, 1}, {"m16n8k8_tf32", 1, 0.97},
};

/// Null: products by the atom gain nothing.
const OfMaps* maps_of(std::string_view atom) {
  const auto* const of =
      std::find_if(std::begin(kOfMaps), std::end(kOfMaps), [&](const OfMaps& each) { return each.atom == atom; });
  return of == std::end(kOfMaps) ? nullptr : of;
}

/// Elements of a block along indices that an atom names.
std::int64_t block_size(const ir::Program& program, const kernel::Directives& directives,
                        const std::vector<std::string>& names) {
  std::int64_t size = 1;
  for (const auto& name : names) {
    const auto tile = std::find_if(directives.begin(), directives.end(), [&](const Directive& d) {
      return d.kind == Directive::Kind::tile && d.subject == name;
    });
    const auto index =
        std::find_if(program.indices.begin(), program.indices.end(), [&](const auto& i) { return i.name == name; });
    if (tile != directives.end())
      size *= tile->sizes.back();
    else if (index != program.indices.end())
      size *= index->extent;
  }
  return size;
}

/// Whether memory takes longer to be read than products: maps gain nothing there (40 kernels of talsh300 on an H100, of
/// matrices by few columns most, took 1.07 times as long beside their predictions as those that threads copy for).
bool waits_for_operands(const ContractionCounts& counts, const GpuModel& device) {
  const double seconds = (counts.memory_bytes - counts.result_bytes) / (device.copy_rate_GBs() * 1e9);
  return seconds > contraction_time(counts, device).products;
}

/// Whether counts tell that maps gain nothing, whatever the schedule.
bool gain_nothing(const ContractionCounts& counts, const GpuModel& device) {
  return counts.prefetched || counts.warps < kLeastWarps || waits_for_operands(counts, device);
}

double factor_of(const ir::Program& program, const GpuModel& device, const Candidate& candidate) {
  if (!candidate.counts || gain_nothing(*candidate.counts, device)) return 1;
  const auto& directives = candidate.schedule.directives;
  const auto atom = std::find_if(directives.begin(), directives.end(),
                                 [](const Directive& d) { return d.kind == Directive::Kind::atom; });
  if (atom == directives.end()) return 1;
  const auto* const of = maps_of(atom->subject);
  if (of == nullptr || atom->parts > 1) return 1;
  std::int64_t results = 1;
  std::vector<std::string> depth;
  for (const auto& [side, names] : atom->loops) {
    if (side == "depth")
      depth = names;
    else
      results *= block_size(program, directives, names);
  }
  if (candidate.counts->stored_wavefronts > 0) return of->through_shared;
  const auto along_depth = std::count_if(directives.begin(), directives.end(), [&](const Directive& d) {
    return d.kind == Directive::Kind::stage && !depth.empty() && !d.loops.empty() &&
           d.loops.front().second.back() == depth.back();
  });
  const auto sums = static_cast<double>(results) / (32 * candidate.counts->warps);
  return along_depth <= of->along_depth && sums >= of->least_sums && sums <= of->most_sums ? of->factor : 1;
}

/// Whether as many blocks are resident with the counters of maps.
bool fits(const ContractionCounts& counts, const GpuModel& device) {
  const auto bytes = counts.shared_bytes + kCounterBytes;
  return bytes <= static_cast<double>(device.shared_bytes_per_block) &&
         counts.resident * (bytes + kReservedBytes) <= static_cast<double>(device.shared_bytes_per_multiprocessor);
}

bool is_copy_ahead(const Directive& d) { return d.kind == Directive::Kind::stage && d.space == "async"; }

/// Whether a tensor map may be of an operand as it lies, whatever the tile (kernel::fault): asked first, as most
/// operands that have none lie so.
bool may_be_mapped(const ir::Program& program, const std::string& name) {
  for (const auto& node : program.nodes) {
    if (node.kind != ir::NodeKind::load) continue;
    const auto& buffer = program.buffers[static_cast<std::size_t>(node.source)];
    if (buffer.name != name) continue;
    const auto size = size_of(buffer.type);
    if (size > 8 || buffer.alignment % kernel::kMapUnit != 0) return false;
    std::size_t dimensions = 0;
    for (std::size_t q = 0; q < program.indices.size(); ++q) {
      const auto stride = node.offset.coefficient[q];
      if (stride == 0 || program.indices[q].extent == 1) continue;
      ++dimensions;
      if (stride != 1 && (stride < 0 || stride * size % kernel::kMapUnit != 0)) return false;
    }
    return dimensions <= kernel::kMostMapDimensions;
  }
  return false;
}

/// The schedule with all copies ahead by tensor maps, or as many of them as can be.
std::optional<kernel::Schedule> mapped(const ir::Program& program, const kernel::Schedule& of) {
  std::vector<std::size_t> copies;
  const auto pipeline = std::find_if(of.directives.begin(), of.directives.end(),
                                     [](const Directive& d) { return d.kind == Directive::Kind::pipeline; });
  if (pipeline == of.directives.end()) return std::nullopt;
  for (std::size_t k = 0; k < of.directives.size(); ++k) {
    if (of.directives[k].at == pipeline->subject && is_copy_ahead(of.directives[k]) &&
        may_be_mapped(program, of.directives[k].subject))
      copies.push_back(k);
  }
  if (copies.empty()) return std::nullopt;
  kernel::Schedule made{of.name + " maps", of.directives};
  const auto stage_by = [&](std::size_t copy, const char* space) { made.directives[copy].space = space; };
  // All rules of maps are rules of staging: what stands behind it need not be looked at to know whether they hold.
  const auto staged = copies.back() + 1;
  const auto contraction = kernel::contraction_of(program);
  const auto is_sound = [&] {
    try {
      kernel::check_directives(program, *contraction, made.directives, kernel::Target::cuda, staged);
    } catch (const PlanError&) {
      return false;
    }
    return true;
  };
  // Seldom one of them alone.
  for (const auto copy : copies) stage_by(copy, "maps");
  if (is_sound()) return made;
  if (copies.size() == 1) return std::nullopt;
  for (const auto copy : copies) stage_by(copy, "async");
  bool any = false;
  for (const auto copy : copies) {
    stage_by(copy, "maps");
    if (is_sound()) {
      any = true;
    } else {
      stage_by(copy, "async");
    }
  }
  return any ? std::optional(std::move(made)) : std::nullopt;
}

/// The schedule of a candidate with them; nothing where it has none.
std::optional<kernel::Schedule> mapped(const ir::Program& program, const GpuModel& device, const Candidate& one) {
  const auto& directives = one.schedule.directives;
  const bool ahead = std::any_of(directives.begin(), directives.end(), is_copy_ahead) &&
                     std::any_of(directives.begin(), directives.end(),
                                 [](const Directive& d) { return d.kind == Directive::Kind::pipeline; });
  if (!ahead || !one.counts || !fits(*one.counts, device)) return std::nullopt;
  return mapped(program, one.schedule);
}

/// The candidate by it, which takes `factor` of its time.
Candidate with_schedule(Candidate one, kernel::Schedule mapped, double factor) {
  one.schedule = std::move(mapped);
  one.counts->shared_bytes += kCounterBytes;
  one.predicted_us *= factor;
  return one;
}

}  // namespace

std::vector<Candidate> with_maps(const ir::Program& program, const GpuModel& device, std::vector<Candidate> list) {
  if (device.sm < kLeastSm) return list;
  std::vector<Candidate> all;
  auto least_us = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < list.size(); ++k) {
    const auto& one = all.emplace_back(std::move(list[k]));
    const double factor = factor_of(program, device, one);
    least_us = std::min(least_us, one.predicted_us);
    auto other = k < kMapped || factor * one.predicted_us < least_us ? mapped(program, device, one) : std::nullopt;
    if (!other) continue;
    least_us = std::min(least_us, factor * one.predicted_us);
    all.push_back(with_schedule(one, std::move(*other), factor));
  }
  sort_by_time(all);
  return all;
}

double least_by_maps(const ir::Program& program, const GpuModel& device, std::string_view atom) {
  const auto* const of = maps_of(atom);
  const bool any = device.sm >= kLeastSm && of != nullptr &&
                   std::any_of(program.buffers.begin(), program.buffers.end(), [&](const ir::Buffer& buffer) {
                     return !buffer.written && may_be_mapped(program, buffer.name);
                   });
  return any ? std::min(of->factor, of->through_shared) : 1;
}

bool may_gain_by_maps(const ContractionCounts& counts, const GpuModel& device, std::string_view atom) {
  const auto* const of = maps_of(atom);
  return of != nullptr && !gain_nothing(counts, device) && fits(counts, device) &&
         (counts.stored_wavefronts > 0 ? of->through_shared : of->factor) < 1;
}

Candidate by_maps(const ir::Program& program, const GpuModel& device, Candidate best) {
  const double factor = device.sm < kLeastSm ? 1 : factor_of(program, device, best);
  auto other = factor < 1 ? mapped(program, device, best) : std::nullopt;
  return other ? with_schedule(std::move(best), std::move(*other), factor) : best;
}

}  // namespace ricci::plan
