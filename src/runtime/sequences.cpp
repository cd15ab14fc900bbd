#include "runtime/sequences.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "ir/passes/canonical.hpp"
#include "ir/passes/distinct_factors.hpp"
#include "ir/passes/half_parts.hpp"
#include "ir/passes/masked_factors.hpp"
#include "ir/passes/products_apart.hpp"
#include "ir/passes/read_once.hpp"
#include "ir/passes/simpler_products.hpp"
#include "ir/passes/split.hpp"
#include "ir/passes/sums_apart.hpp"
#include "kernel/chain.hpp"
#include "kernel/program/rows.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/rows_cpu.hpp"
#include "plan/plan.hpp"
#include "runtime/copies.hpp"
#include "runtime/repeated_steps.hpp"
#include "runtime/turned_operands.hpp"
#include "runtime/windows.hpp"

namespace ricci::runtime {
namespace {

constexpr double kAny = std::numeric_limits<double>::infinity();  ///< us

/// Whether a program goes along rows, of which there is one for each of so many workers.
template <class Row>
bool has_rows(const ir::Program& program, std::int64_t workers, const Row& row_of) {
  const int row = row_of(program);
  if (row < 0) return false;
  auto free = program.free_indices();
  free[static_cast<std::size_t>(row)] = false;
  return program.points(free) >= workers;
}

/// How long loops are split. On a CPU a split that affects rounding does not depend on the number of threads. Exact
/// loops are split only where enough threads gain from it: tiled scans read memory twice, which two threads do not make
/// up for.
ir::SplitLimits split_limits(const Plan::Impl& plan) {
  ir::SplitLimits limits;
  if (plan.target.device == Device::cpu) {
    constexpr std::int64_t kAccumulators = 4;  // vectors that hide how long an addition takes
    constexpr std::int64_t kVectorBytes = 64;
    limits.workers = 64;
    limits.parts = 1024;
    limits.least = 16384;
    limits.lanes_bytes = kAccumulators * kVectorBytes;
    limits.vector_bytes = kVectorBytes;
    limits.tile_points = 32 * 32;  // few results of long sums are a few tasks, whatever the threads
    limits.tile_workers = 32;
    limits.tile_least = 16384;
    limits.least_of_rows = 1 << 18;  // what is in a cache, one kernel sums in the time that a second one takes to start
    static const bool more_than_two = sysconf(_SC_NPROCESSORS_CONF) > 2;  // cached: it reads a file
    limits.scans = more_than_two;
    limits.exact_scans = plan.threads > 2;
    limits.exact_reductions = plan.threads > 1;
    limits.stays = [device = plan.cpu_model(), workers = limits.workers](const ir::Program& program) {
      return has_rows(program, workers, [&](const ir::Program& of) { return plan::row_in_cache(of, device); });
    };
  } else {
    const auto multiprocessors = gpu_model(plan.target).multiprocessors;
    limits.workers = 8 * std::int64_t{multiprocessors};
    limits.parts = 32 * std::int64_t{multiprocessors};
    limits.column_workers = 2048 * std::int64_t{multiprocessors};
    limits.tile_points = 64 * 64;
    limits.tile_workers = 2 * std::int64_t{multiprocessors};
  }
  return limits;
}

/// Whether a step is a contraction of so few tiles, of so many points, that they are large and leave multiprocessors
/// idle, or small and read their operands often: parts of its sums are more of them.
bool leaves_idle(const ir::Sequence& sequence, Predictions& predictions, std::int64_t tile) {
  constexpr std::int64_t kTurns = 6;  // of all multiprocessors, of which the last one is little of the time
  constexpr double kLong = 50;        // us
  constexpr double kIdle = 1.2;       // times what the products take
  return std::any_of(sequence.steps.begin(), sequence.steps.end(), [&](const ir::Step& step) {
    const auto points = step.program.points(step.program.free_indices());
    if (points > kTurns * predictions.device().multiprocessors * tile || !has_points(step.program)) return false;
    const auto& program = predictions.canonical(step.program);
    const auto least = plan::least_contraction_us(program, predictions.device());
    return least > kLong && !std::isinf(least) && predictions.us_of_canonical(program) > kIdle * least;
  });
}

Form form_of(const ir::Sequence& sequence) {
  Form form;
  for (const auto& step : sequence.steps) add_form(form, step.program);
  return form;
}

struct Split {
  ir::Sequence sequence;
  std::optional<ir::Sequence> copied = {};  ///< the same with_copies(), where that was asked for
};

/// A sequence with its long loops split. On a GPU sums of products come in as many parts as are predicted to take the
/// least time: blocks for all multiprocessors, whatever tiles they are of, against partial results to be read again.
Split split(const ir::Sequence& lowered, const Plan::Impl& plan, Predictions* of_gpu,
            std::vector<ir::Sequence>* considered) {
  auto limits = split_limits(plan);
  auto first = ir::split_long(lowered, limits);
  if (of_gpu == nullptr) return {std::move(first)};
  auto& predictions = *of_gpu;
  const bool few = first.storages.size() != lowered.storages.size();
  constexpr std::int64_t kLargeTile = 128 * 128;
  if (!few && !leaves_idle(lowered, predictions, kLargeTile)) return {std::move(first)};
  constexpr double kNear = 1.3;  // of the least time: copies may make up for it
  struct Way {
    double us;
    Split split;
  };
  std::vector<Way> ways;
  std::set<Form> tried;
  const auto consider = [&](ir::Sequence sequence) {
    if (!tried.insert(form_of(sequence)).second) return;
    if (considered != nullptr) considered->push_back(sequence);
    const double least = ways.empty() ? kAny : ways.front().us;
    const auto us = predictions.us(sequence.steps, kNear * least);
    if (us >= kNear * least) return;
    const auto place = std::find_if(ways.begin(), ways.end(), [&](const Way& way) { return us < way.us; });
    ways.insert(place, {us, {std::move(sequence)}});
  };
  consider(std::move(first));
  const auto in_parts = [&](int workers, std::int64_t points, ir::CutOrder order) {
    limits.tile_workers = std::int64_t{workers} * predictions.device().multiprocessors;  // none: in one part
    limits.tile_points = points;
    limits.cut_order = order;
    consider(ir::split_long(lowered, limits));
  };
  using enum ir::CutOrder;
  const auto whole = limits.tile_points;
  if (few) {
    for (const int workers : {0, 4, 8}) in_parts(workers, whole, furthest);
    for (const int workers : {2, 4}) in_parts(workers, whole, nearest);
    // Results that are fewer than a tile: a part is a block's all the same.
    constexpr std::int64_t kSmallTile = 64;
    for (const int workers : {8, 32}) in_parts(workers, kSmallTile, furthest);
  } else {
    in_parts(4, kLargeTile, furthest);
    in_parts(8, kLargeTile, nearest);
  }
  std::erase_if(ways, [most = kNear * ways.front().us](const Way& way) { return way.us > most; });
  if (ways.size() > 1) {
    double best = kAny;
    for (auto& [us, way] : ways) {
      way.copied = with_copies(way.sequence, predictions, plan.workspace_limit, considered, best);
      us = predictions.us(way.copied->steps);
      best = std::min(best, us);
    }
  }
  const auto best = std::min_element(ways.begin(), ways.end(), [](const Way& x, const Way& y) { return x.us < y.us; });
  return std::move(best->split);
}

/// The sequence with several steps in place of each that they are predicted to take less than; nothing where all stay.
///   ways_of     sequences with others in place of a step
///   us_of       what steps take if that is less than `below`, else anything that is not
///   most_of     of a step: what others in its place are to take less than
///   considered  where not null, is given each sequence that was looked at
template <class Ways, class Us, class Most>
std::optional<ir::Sequence> in_steps(const ir::Sequence& lowered, std::int64_t workspace_limit,
                                     std::vector<ir::Sequence>* considered, const Ways& ways_of, const Us& us_of,
                                     const Most& most_of) {
  std::optional<ir::Sequence> made;
  const auto sequence = [&]() -> const ir::Sequence& { return made ? *made : lowered; };
  for (std::size_t k = 0; k < sequence().steps.size(); ++k) {
    const auto steps = sequence().steps.size();
    std::vector<ir::Sequence> ways = ways_of(sequence(), k);
    std::erase_if(ways, [&](const ir::Sequence& way) { return !way.fits(workspace_limit); });
    if (ways.empty()) continue;
    double least = most_of(sequence().steps[k]);
    std::size_t count = 1;
    for (auto& way : ways) {
      if (considered != nullptr) considered->push_back(way);
      const auto parts = way.steps.size() - steps + 1;
      const double us = us_of(std::span<const ir::Step>(&way.steps[k], parts), least);
      if (us >= least) continue;
      least = us;
      count = parts;
      made = std::move(way);
    }
    k += count - 1;
  }
  return made;
}

/// The same with common sums first, then with products of two tensors each.
template <class Us, class Most>
std::optional<ir::Sequence> in_products(const ir::Sequence& lowered, std::int64_t workspace_limit,
                                        std::vector<ir::Sequence>* considered, const Us& us_of, const Most& most_of) {
  const auto sums = [](const ir::Sequence& sequence, std::size_t step) {
    std::vector<ir::Sequence> ways;
    if (auto made = ir::sums_apart(sequence, step)) ways.push_back(std::move(*made));
    return ways;
  };
  auto made = in_steps(lowered, workspace_limit, considered, sums, us_of, most_of);
  auto products = in_steps(made ? *made : lowered, workspace_limit, considered, ir::products_apart, us_of, most_of);
  if (products) made = std::move(products);
  return made;
}

/// The same on a GPU, with their types where others are predicted to take less.
std::optional<ir::Sequence> multiplied(const ir::Sequence& lowered, Predictions& predictions,
                                       std::int64_t workspace_limit, std::vector<ir::Sequence>* considered) {
  const auto us_of = [&](std::span<const ir::Step> steps, double below) {
    double least = 0;
    for (const auto& step : steps) {
      const auto of_step = plan::least_contraction_us(predictions.canonical(step.program), predictions.device());
      least += std::isinf(of_step) ? 0 : of_step;
    }
    return least < below ? predictions.us(steps, below) : least;
  };
  const auto most_of = [&](const ir::Step& step) { return predictions.us(step.program); };
  auto made = in_products(lowered, workspace_limit, considered, us_of, most_of);
  for (const auto& in_other_types : {ir::simpler_products, ir::half_parts}) {
    const auto& sequence = made ? *made : lowered;
    auto other = in_other_types(sequence);
    if (!other || !other->fits(workspace_limit)) continue;
    if (considered != nullptr) considered->push_back(*other);
    const double us = predictions.us(sequence.steps);
    if (predictions.us(other->steps, us) < us) made = std::move(other);
  }
  return made;
}

/// The sequence with steps computed in the ones that read them, where that is predicted to take less. Nothing where all
/// stay.
///   way_of  the sequence with what a step reads computed in it; nothing where it cannot be
///   us_of   what the steps of a sequence take, if that is less than `below`
template <class Way, class Us>
std::optional<ir::Sequence> in_fewer_steps(const ir::Sequence& lowered, const Way& way_of, const Us& us_of,
                                           std::vector<ir::Sequence>* considered) {
  std::optional<ir::Sequence> made;
  for (std::size_t left = lowered.steps.size(); left > 1; --left) {
    const auto& now = made ? *made : lowered;
    auto way = way_of(now, left - 1);
    if (!way) continue;
    if (considered != nullptr) considered->push_back(*way);
    const double us = us_of(now, kAny);
    if (us_of(*way, us) >= us) continue;
    left -= now.steps.size() - way->steps.size();
    made = std::move(way);
  }
  return made;
}

/// The same of chains of two products, on a GPU: what the first one makes is then never in memory.
std::optional<ir::Sequence> in_chains(const ir::Sequence& lowered, Predictions& predictions,
                                      std::vector<ir::Sequence>* considered) {
  const auto us_of = [&](const ir::Sequence& sequence, double below) { return predictions.us(sequence.steps, below); };
  return in_fewer_steps(lowered, kernel::chained, us_of, considered);
}

/// The same of sums along rows, and what reads the same rows behind them: rows are then read once. Of fewer rows than
/// workers parts may be summed.
///   row_of  the index of a program's rows; -1: it has none
template <class Row, class Us>
std::optional<ir::Sequence> in_rows(const ir::Sequence& lowered, std::int64_t workers, const Row& row_of,
                                    const Us& us_of, std::vector<ir::Sequence>* considered) {
  const auto allowed = [&](const ir::Program& program) { return has_rows(program, workers, row_of); };
  const auto way_of = [&](const ir::Sequence& now, std::size_t step) {
    return ir::computed_where_read(now, step, allowed);
  };
  return in_fewer_steps(lowered, way_of, us_of, considered);
}

/// The same for each device.
std::optional<ir::Sequence> in_rows(const ir::Sequence& lowered, const Plan::Impl& plan, Predictions* of_gpu,
                                    std::vector<ir::Sequence>* considered) {
  const auto limits = split_limits(plan);
  if (of_gpu != nullptr) {
    const auto us_of = [&](const ir::Sequence& sequence, double below) { return of_gpu->us(sequence.steps, below); };
    return in_rows(lowered, limits.workers, kernel::row_of, us_of, considered);
  }
  const auto device = plan.cpu_model();
  const auto row_of = [&](const ir::Program& program) { return plan::row_in_cache(program, device); };
  const auto us_of = [&](const ir::Sequence& sequence, double below) {
    double us = 0;
    for (const auto& step : ir::split_long(sequence, limits).steps) {
      if (us >= below) break;
      if (step.program.points() > 0) us += plan::time_alone(ir::canonicalise(step.program), device).us;
    }
    return us;
  };
  return in_rows(lowered, limits.workers, row_of, us_of, considered);
}

/// The sequence with the factors of a step masked in place of guards, and with products of two tensors then.
std::vector<ir::Sequence> masked(const ir::Sequence& sequence, std::size_t step) {
  auto made = ir::masked_factors(sequence, step);
  if (!made) return {};
  auto ways = ir::products_apart(*made, step + made->steps.size() - sequence.steps.size());
  ways.push_back(std::move(*made));
  return ways;
}

}  // namespace

ir::Sequence multiplied(ir::Sequence sequence, const plan::CpuModel& device, std::int64_t workspace_limit) {
  const auto us_of = [&](std::span<const ir::Step> steps, double below) {
    double us = 0;
    for (const auto& step : steps) {
      if (us >= below) break;
      us += plan::time_alone(ir::canonicalise(step.program), device).us;
    }
    return us;
  };
  // Plain sums of one tensor in several orders take up to three times what is predicted (18 of 20^6 doubles on an AMD
  // EPYC): what register tiles compute in one step stays unless far less is predicted.
  constexpr double kOfTiles = 0.35;
  const auto most_of = [&](const ir::Step& step) {
    const auto alone = plan::time_alone(ir::canonicalise(step.program), device);
    return alone.us * (alone.tiles ? kOfTiles : 1);
  };
  if (auto made = in_steps(sequence, workspace_limit, nullptr, masked, us_of, most_of)) sequence = std::move(*made);
  if (auto made = in_products(sequence, workspace_limit, nullptr, us_of, most_of)) sequence = std::move(*made);
  const auto windows = [&](const ir::Sequence& whole, std::size_t step) {
    return windows_reordered(whole, step, workspace_limit);
  };
  constexpr double kWorth = 0.9;  // how far predictions are to be trusted
  const auto most_of_windows = [&](const ir::Step& step) {
    return kWorth * plan::time_alone(ir::canonicalise(step.program), device).us;
  };
  if (auto made = in_steps(sequence, workspace_limit, nullptr, windows, us_of, most_of_windows))
    sequence = std::move(*made);
  if (auto simpler = ir::simpler_products(sequence); simpler && simpler->fits(workspace_limit))
    sequence = std::move(*simpler);
  return ir::distinct_factors(std::move(sequence));
}

namespace {

std::optional<ir::Sequence> steps_of(const ir::Sequence& lowered, const Plan::Impl& plan, Predictions* predictions,
                                     std::vector<ir::Sequence>* considered) {
  std::optional<ir::Sequence> rows, products, made;
  auto chains = predictions != nullptr ? in_chains(lowered, *predictions, considered) : std::nullopt;
  rows = in_rows(chains ? *chains : lowered, plan, predictions, considered);
  if (!rows) rows = std::move(chains);
  const auto& whole = rows ? *rows : lowered;
  products = predictions != nullptr ? multiplied(whole, *predictions, plan.workspace_limit, considered)
                                    : turned(whole, plan.cpu_model(), split_limits(plan), plan.workspace_limit);
  const auto& multiplied = products ? *products : whole;
  auto [cut, copied] = split(multiplied, plan, predictions, considered);
  if (cut.storages.size() > multiplied.storages.size() && cut.fits(plan.workspace_limit)) {
    made = std::move(cut);
  } else {
    copied.reset();
  }
  if (predictions == nullptr) {
    if (made) return made;
    return products ? std::move(products) : std::move(rows);
  }
  const auto& gathered = made ? *made : multiplied;
  if (!copied) copied = with_copies(gathered, *predictions, plan.workspace_limit, considered);
  if (copied->steps.size() > gathered.steps.size()) {
    made = std::move(copied);
  } else if (!made) {
    made = std::move(products);
  }
  // What is split or copied for kernels of one's own may be a library's product whole.
  if (made && plan.library && whole.fits(plan.workspace_limit) &&
      predictions->us(whole.steps) < predictions->us(made->steps))
    made.reset();
  constexpr std::size_t kMayRepeat = 4;  // steps: two copies, and what reads them
  if (made && made->steps.size() >= kMayRepeat)
    made = without_repeats(std::move(*made), *predictions, plan.workspace_limit);
  return made ? made : rows;
}

}  // namespace

std::optional<ir::Sequence> steps_instead(const ir::Sequence& lowered, const Plan::Impl& plan, Predictions* predictions,
                                          std::vector<ir::Sequence>* considered) {
  auto made = steps_of(lowered, plan, predictions, considered);
  if (predictions == nullptr) return made;
  double least = -1;  // us of those made, where there is another way
  auto whole = lowered;
  for (std::size_t k = 0; k < whole.steps.size(); ++k) {
    std::optional<ir::Sequence> best;
    auto ways = windows_reordered(whole, k, plan.workspace_limit);
    if (auto way = ir::masked_factors(whole, k); way && way->fits(plan.workspace_limit))
      ways.push_back(std::move(*way));
    for (auto& way : ways) {
      if (least < 0) least = predictions->us((made ? *made : lowered).steps);
      auto steps = steps_of(way, plan, predictions, considered);
      if (!steps) steps = way;
      const double us = predictions->us(steps->steps);
      if (us >= least) continue;
      least = us;
      made = std::move(steps);
      best = std::move(way);
    }
    if (!best) continue;
    k += best->steps.size() - whole.steps.size();  // copies
    whole = std::move(*best);
  }
  return made;
}

}  // namespace ricci::runtime
