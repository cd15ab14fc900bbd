// The choice of a step's schedule: by name, from the tuning store, by measuring now, or by the model.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernel/composite.hpp"
#include "kernel/contraction.hpp"
#include "ricci/error.hpp"
#include "ricci/log.hpp"
#include "runtime/measure.hpp"
#include "runtime/parallel.hpp"
#include "runtime/program_counts.hpp"
#include "runtime/runtime_impl.hpp"
#include "runtime/tuning.hpp"

namespace ricci {
inline namespace v1 {
namespace {

using Step = Plan::Impl::Step;

/// In units that pay a task: 64 KB, or ten microseconds of arithmetic.
double work_of(const runtime::ProgramCounts& counts) {
  return std::max(static_cast<double>(counts.bytes) / (64 * 1024), counts.operations / 20000);
}

/// Number of tasks that the tile range is divided into, of one unit of `work` or more;
/// several tasks per thread balance load. Where tiles go on with lines that others began (`carried_over`, of a Launch)
/// each task starts with incomplete ones, so tasks must be long.
int tasks_of(double work, std::int64_t tiles, std::int64_t carried_over, int threads) {
  constexpr std::int64_t kPerThread = 4, kCarrying = 32;  // at most one tile in kCarrying starts a line carry
  if (threads == 1) return 1;
  const auto per_thread = carried_over == 0
                              ? kPerThread
                              : std::clamp<std::int64_t>(tiles / (kCarrying * carried_over * threads), 1, kPerThread);
  const double most = std::min({work, static_cast<double>(tiles), static_cast<double>(per_thread * threads)});
  return std::max(static_cast<int>(most), 1);
}

bool lists(const std::vector<plan::Candidate>& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(), [&](const plan::Candidate& c) { return c.schedule.name == name; });
}

}  // namespace

void Runtime::Impl::prepare(Plan::Impl& plan, Step& step) {
  if (plan.target.device == Device::cpu) step.work = work_of(runtime::count_program(step.program));
  if (kernel::is_library_product(step.schedule)) {
    if (!plan.library) {
      throw PlanError(
          fmt::format("the schedule {} is a library's product, and this runtime was given none; set {} (or "
                      "the runtime's option) to a library",
                      step.schedule.name, plan.target.device == Device::cpu ? "RICCI_BLAS" : "RICCI_CUBLAS"));
    }
    const auto product = kernel::matrix_product_of(step.program);
    if (!product) throw InternalError("a step for a library that is no matrix product; please report it");
    runtime::LibraryProduct made{plan.library, *product, 1};
    // Several products to each thread: one thread of the library each, which needs no meeting of them.
    const auto count = product->products();
    if (plan.target.device == Device::cpu && plan.threads > 1 && count >= 2 * std::int64_t{plan.threads})
      made.tasks = tasks_of(step.work, count, 0, plan.threads);
    if (plan.target.ordinal >= 0) plan.library->prepare(plan.target.ordinal);
    step.executor = std::move(made);
    return;
  }
  if (kernel::has_maps(step.schedule.directives) && plan.target.lacks_tensor_maps())
    throw DeviceError(
        fmt::format("the schedule {} takes tensor maps, which drivers of CUDA 12 and newer encode; update the driver",
                    step.schedule.name));
  step.executor = runtime::GeneratedKernel();
}

void Runtime::Impl::find_pool(Plan::Impl& plan, std::span<const Step> steps) {
  const auto in_tasks = [](const Step& step) {
    return std::visit([](const auto& executor) { return executor.tasks > 1; }, step.executor);
  };
  if (!options.executor && std::any_of(steps.begin(), steps.end(), in_tasks)) plan.pool = pool(plan.threads);
}

runtime::Entrant Runtime::Impl::parts_of(Plan::Impl& plan, const Step& step) {
  runtime::Entrant made;
  if (!kernel::is_composite(step.schedule)) {
    made.sequence = ir::sequence_of(step.program);
    made.steps.push_back(step);
    std::iota(made.steps.front().storage.begin(), made.steps.front().storage.end(), 0);
    std::iota(made.steps.front().parameter.begin(), made.steps.front().parameter.end(), 0);
    prepare(plan, made.steps.front());
    return made;
  }
  auto composite = kernel::composite_of(step.program, step.schedule);
  for (std::size_t k = 0; k < composite.sequence.steps.size(); ++k) {
    auto lowered = composite.canonical(k);  // whose names the schedule's directives have: alignments decide on these
    if (plan.target.device == Device::cpu) runtime::drop_alignments(lowered.program);
    Step part;
    part.number = static_cast<int>(k);
    part.program = std::move(lowered.program);
    part.program_text = ir::print(part.program);
    part.storage = lowered.storage;
    part.parameter = lowered.param;
    if (k == composite.product) {
      part.schedule = composite.rest;
      part.reason = step.reason;
      part.tuning = step.tuning;
      part.whole = std::make_shared<const Step>(step);
    } else {
      part.schedule = best(plan, part);
    }
    prepare(plan, part);
    made.steps.push_back(std::move(part));
  }
  if (plan.target.device == Device::cpu) runtime::drop_alignments(composite.sequence);
  made.sequence = std::move(composite.sequence);
  return made;
}

bool Runtime::Impl::load(const Plan::Impl& plan, Step& step) {
  const auto& schedule = step.schedule;
  const auto notes = [&] {
    codegen::Notes head;
    head.target = plan.target.text();
    head.plan = kernel::summary(step.program, schedule);
    head.reproduce = runtime::reproduction_command(step.program, schedule, plan.target);
    return head;
  };
  bool shared = false;
  auto& generated = std::get<runtime::GeneratedKernel>(step.executor);
  generated.loaded = kernel(runtime::kernel_key(step.program, step.program_text, schedule, plan.target), step.program,
                            schedule, plan.target, notes, &shared);
  const auto& launch = generated.loaded->launch;
  generated.tiles = launch.tasks;
  generated.scratch = static_cast<std::size_t>(launch.scratch_bytes);
  generated.shared = static_cast<std::size_t>(launch.shared_bytes);
  if (plan.target.device == Device::cpu) {
    generated.tasks = tasks_of(step.work, generated.tiles, launch.carried_over, plan.threads);
    return shared;
  }
  generated.blocks = static_cast<unsigned>(launch.tasks);
  generated.threads = static_cast<unsigned>(launch.threads);
  generated.dynamic_shared = static_cast<std::size_t>(launch.dynamic_shared_bytes);
  if (!launch.maps.empty()) generated.maps = std::make_shared<const runtime::TensorMaps>(launch.maps);
  return shared;
}

bool Runtime::Impl::load_chosen(Plan::Impl& plan, Step& step) {
  constexpr int kTries = 10;
  constexpr double kWorthTrying = 1.5;  // times the first prediction
  bool shared = load(plan, step);
  const auto save = [&] {
    if (!std::exchange(step.unsaved, false)) return;
    const auto key = runtime::choice_key(step.program_text, plan.target, plan.model_text());
    store.put(runtime::choice_entry(key, step.program, step.schedule));
  };
  // Registers are estimated where schedules are chosen. Where a compiler says that there are too few, the next ones
  // are tried, once: the choice is kept as it then is.
  const auto spills = [](const Step& one) { return one.kernel()->loaded->spill_bytes; };
  const bool fresh = !shared && step.kernel()->loaded->outcome == cache::Outcome::made;
  const bool multiplies = kernel::has_atom(step.schedule.directives);
  // Sums of a group take most registers of every schedule: what is spilled beside them are places of copies.
  const bool of_group = kernel::has(step.schedule.directives, kernel::Directive::Kind::products);
  if (!fresh || of_group || spills(step) == 0 || step.reason != plan::Reason::estimated || step.whole ||
      !(multiplies || kernel::has_write(step.schedule.directives))) {
    save();
    return shared;
  }
  const auto list = plan.candidates(step, {});
  const auto chosen = step.schedule.name;
  int tried = 0;
  for (const auto& candidate : list) {
    if (spills(step) == 0 || tried == kTries || candidate.predicted_us > kWorthTrying * list.front().predicted_us)
      break;
    // Few tensor maps have been timed but those of warp groups, which are chosen at once.
    if (candidate.schedule.name == chosen || kernel::is_composite(candidate.schedule) ||
        kernel::has_atom(candidate.schedule.directives) != multiplies ||
        kernel::has_maps(candidate.schedule.directives))
      continue;
    ++tried;
    auto other = step;
    other.schedule = candidate.schedule;
    prepare(plan, other);
    const bool known = load(plan, other);
    if (spills(other) >= spills(step)) continue;
    step = std::move(other);
    step.unsaved = true;
    shared = known;
  }
  save();
  return shared;
}

kernel::Schedule Runtime::Impl::best(const Plan::Impl& plan, Step& step) {
  const auto key = runtime::choice_key(step.program_text, plan.target, plan.model_text());
  const auto* known = plan.predictions ? plan.predictions->find_best(step.program) : nullptr;
  auto kept = runtime::find_choice(store, key, step.program, plan.target.family(),
                                   known != nullptr ? &known->schedule : nullptr);
  if (kept) return std::move(*kept);
  step.unsaved = plan.copies_limit < 0;  // else it may be the best within the limit alone
  return plan.best(step).schedule;
}

void Runtime::Impl::measure(Plan::Impl& plan, Step& step, const PlanOptions& wanted, const std::string& key) {
  const auto names = plan::entrants(plan.candidates(step, {}), wanted.measured);
  std::vector<runtime::Entrant> entrants;
  std::vector<std::string> texts;
  std::vector<Step*> kernels;
  entrants.reserve(names.size());
  for (const auto& name : names) {
    // One list for each: only the candidate that is asked for is sure to have its final layout.
    const auto list = plan.candidates(step, name);
    auto one = step;
    one.schedule = plan::choose(list, name).schedule;
    texts.push_back(kernel::print(one.schedule));
    entrants.push_back(parts_of(plan, one));
    for (auto& part : entrants.back().steps) {
      if (part.kernel() != nullptr) kernels.push_back(&part);
    }
  }
  runtime::in_parallel(kernels.size(), [&](std::size_t k) { load(plan, *kernels[k]); });
  for (const auto& entrant : entrants) find_pool(plan, entrant.steps);
  const auto alone = store.exclusive(runtime::timing_lock(plan.target), runtime::kTimingPatience);
  if (wanted.mode == PlanMode::measure) {  // another process may have measured it meanwhile
    step.tuning = runtime::find_tuning(store, key);
    if (step.tuning && lists(plan.candidates(step, {}), step.tuning->winner().name)) return;
  }
  plan::Tuning tuning;
  for (const auto& timing : runtime::time_steps(plan, step.program, std::move(entrants))) {
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
    key = runtime::tuning_key(
        step.program_text, plan.target, plan.threads,
        plan.library && kernel::contraction_of(step.program) ? plan.library->identity() : std::string());
    if (wanted.mode != PlanMode::remeasure) step.tuning = runtime::find_tuning(store, key);
  }
  const auto winner = [&] { return step.tuning ? step.tuning->winner().name : std::string(); };
  if (wanted.schedule.empty() && !log_enabled(LogTopic::plan)) {  // without a list of all candidates
    auto kept = step.tuning
                    ? runtime::named_schedule(winner(), step.tuning->schedule, step.program, plan.target.family())
                : now ? std::nullopt
                      : std::optional(best(plan, step));
    if (kept && kernel::is_composite(*kept) && plan.copies_limit >= 0 &&
        !plan.has_room(kernel::composite_of(step.program, *kept).sequence.workspace_bytes())) {
      kept.reset();
      step.unsaved = false;
    }
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
    // The stored winner may not be a candidate any more: then ignore the measurement.
    if (step.tuning && !lists(list, winner())) step.tuning = nullptr;
    step.reason = plan::Reason::tuned;
    if (!step.tuning && now) {
      const auto start = std::chrono::steady_clock::now();
      measure(plan, step, wanted, key);
      plan.info.measure_ms +=
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    }
    if (!step.tuning) step.reason = plan::Reason::estimated;
    // Only the candidate that is asked for is sure to have its final layout.
    if (step.tuning && winner() != listed_for) list = plan.candidates(step, winner());
    step.schedule = plan::choose(list, winner()).schedule;
  }
  if (log_enabled(LogTopic::plan)) {
    log_line(LogTopic::plan, plan::explain(list, plan::choose(list, step.schedule.name), plan.device_text, step.reason,
                                           step.program.precision, step.tuning.get()));
  }
}

}  // namespace v1
}  // namespace ricci
