// Which schedule a step gets: by name, by what was measured, by measuring now, or by the model.
#include <fmt/format.h>

#include <algorithm>

#include "ricci/error.hpp"
#include "ricci/log.hpp"
#include "runtime/measure.hpp"
#include "runtime/parallel.hpp"
#include "runtime/runtime_impl.hpp"
#include "runtime/tuning.hpp"
#include "runtime/work.hpp"

namespace ricci {
inline namespace v1 {
namespace {

using Step = Plan::Impl::Step;

/// Parts of the tile range that are worth a thread each. A thread more pays for itself from about 64 KB or some ten
/// microseconds of arithmetic on; a few parts per thread even out what the machine does meanwhile. Where tiles continue
/// the runs of others, `apart` before them (0: nowhere), each part begins with those that continue none: few of its
/// own.
int tasks_of(const runtime::TotalWork& work, std::int64_t tiles, std::int64_t apart, int threads) {
  constexpr std::int64_t kPerThread = 4, kContinued = 32;  // of so many tiles, one that continues none
  if (threads == 1) return 1;
  const auto each =
      apart == 0 ? kPerThread : std::clamp<std::int64_t>(tiles / (kContinued * apart * threads), 1, kPerThread);
  const double worth = std::max(static_cast<double>(work.bytes) / (64 * 1024), work.operations / 20000);
  const double most = std::min({worth, static_cast<double>(tiles), static_cast<double>(each * threads)});
  return std::max(static_cast<int>(most), 1);
}

bool lists(const std::vector<plan::Candidate>& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(), [&](const plan::Candidate& c) { return c.schedule.name == name; });
}

}  // namespace

void Runtime::Impl::prepare(Plan::Impl& plan, Step& step) {
  const auto& schedule = step.schedule;
  step.tiles = schedule.tiles(step.program);
  if (plan.target.device == Device::cpu) {
    const bool continued = schedule.stage && schedule.stage->continued >= 0;
    const auto apart = continued ? ir::continued_runs(step.program, schedule).apart : 0;
    step.tasks = tasks_of(runtime::total_work(step.program), step.tiles, apart, plan.threads);
    if (!options.executor && step.tasks > 1) plan.pool = pool(plan.threads);
  } else {
    step.blocks = static_cast<unsigned>(schedule.blocks(step.program));
    step.dynamic_shared = static_cast<std::size_t>(codegen::dynamic_shared_bytes(step.program, schedule));
  }
}

bool Runtime::Impl::load(const Plan::Impl& plan, Step& step) {
  const auto& schedule = step.schedule;
  const auto notes = [&] {
    codegen::Notes head;
    head.target = plan.target.text();
    head.plan = plan::summary(step.program, schedule);
    head.again = runtime::again(step.program, schedule, plan.target);
    return head;
  };
  bool shared = false;
  step.kernel = kernel(runtime::kernel_key(step.program, schedule, plan.target), step.program, schedule, plan.target,
                       notes, &shared);
  return shared;
}

ir::Schedule Runtime::Impl::best(const Plan::Impl& plan, const Step& step) {
  const auto key = runtime::choice_key(step.program, plan.target, plan.figures_text());
  if (auto kept = runtime::find_choice(store, key, step.program)) return std::move(*kept);
  auto schedule = plan.best(step).schedule;
  store.put(runtime::choice_entry(key, step.program, schedule));
  return schedule;
}

void Runtime::Impl::measure(Plan::Impl& plan, Step& step, const PlanOptions& wanted, const std::string& key) {
  const auto names = plan::entrants(plan.candidates(step, {}), wanted.measured);
  std::vector<Step> steps(names.size(), step);
  for (std::size_t k = 0; k < names.size(); ++k) {
    // Listed anew for each: only a candidate that is wanted is sure to be worked out as it will be when it is taken.
    const auto list = plan.candidates(step, names[k]);
    steps[k].schedule = plan::choose(list, names[k]).schedule;
    prepare(plan, steps[k]);
  }
  runtime::in_parallel(steps.size(), [&](std::size_t k) { load(plan, steps[k]); });
  const auto alone = store.exclusive(runtime::timing_lock(plan.target), runtime::kTimingPatience);
  if (wanted.mode == PlanMode::measure) {  // others may have measured it while we waited
    step.tuning = runtime::find_tuning(store, key);
    if (step.tuning && lists(plan.candidates(step, {}), step.tuning->winner().name)) return;
  }
  std::vector<std::string> texts;
  for (const auto& each : steps) texts.push_back(ir::print(each.schedule, each.program));
  plan::Tuning tuning;
  for (const auto& timing : runtime::time_steps(plan, std::move(steps))) {
    if (tuning.timed.empty()) tuning.schedule = texts[timing.entrant];
    tuning.timed.push_back({names[timing.entrant], timing.us, timing.samples});
  }
  store.put(runtime::tuning_entry(key, step.program, plan.target, plan.threads, tuning));
  step.tuning = std::make_shared<const plan::Tuning>(std::move(tuning));
  step.reason = plan::Reason::measured;
}

void Runtime::Impl::choose(Plan::Impl& plan, Step& step, const PlanOptions& wanted, bool last, bool* scheduled) {
  const bool device = plan.target.device == Device::cpu || plan.target.ordinal >= 0;
  const bool now = wanted.mode == PlanMode::measure || wanted.mode == PlanMode::remeasure;
  if (now && !device) {
    throw PlanError(
        fmt::format("{} is planned for without a device, so nothing can be measured; leave out "
                    "PlanOptions::target_sm, or plan in estimate mode",
                    plan.target.text()));
  }
  std::string key;
  if (device && wanted.mode != PlanMode::model) {
    key = runtime::tuning_key(step.program, plan.target, plan.threads);
    if (wanted.mode != PlanMode::remeasure) step.tuning = runtime::find_tuning(store, key);
  }
  const auto winner = [&] { return step.tuning ? step.tuning->winner().name : std::string(); };
  if (wanted.schedule.empty() && !log_enabled(LogTopic::plan)) {  // without a list of all candidates
    auto kept = step.tuning ? runtime::named_schedule(winner(), step.tuning->schedule, step.program)
                : now       ? std::nullopt
                            : std::optional(best(plan, step));
    if (kept) {
      *scheduled = true;
      step.schedule = std::move(*kept);
      step.reason = step.tuning ? plan::Reason::tuned : plan::Reason::estimated;
      return;
    }
  }
  const auto listed_for = wanted.schedule.empty() ? winner() : wanted.schedule;
  auto list = plan.candidates(step, listed_for);
  const bool known = lists(list, wanted.schedule);
  *scheduled |= known || wanted.schedule.empty();
  // A name that only other steps know is refused when the last step does not know it either.
  if (known || (last && !*scheduled)) {
    step.schedule = plan::choose(list, wanted.schedule).schedule;
    step.reason = plan::Reason::named;
  } else {
    // What an earlier version called so may be gone: then nothing was measured.
    if (step.tuning && !lists(list, winner())) step.tuning = nullptr;
    step.reason = plan::Reason::tuned;
    if (!step.tuning && now) {
      const auto start = std::chrono::steady_clock::now();
      measure(plan, step, wanted, key);
      plan.info.measure_ms +=
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    }
    if (!step.tuning) step.reason = plan::Reason::estimated;
    // Only a candidate that is wanted is sure to be worked out as it will be run.
    if (step.tuning && winner() != listed_for) list = plan.candidates(step, winner());
    step.schedule = plan::choose(list, winner()).schedule;
  }
  if (log_enabled(LogTopic::plan)) {
    log_line(LogTopic::plan, plan::explain(list, plan::choose(list, step.schedule.name), plan.device_text, step.reason,
                                           step.tuning.get()));
  }
}

}  // namespace v1
}  // namespace ricci
