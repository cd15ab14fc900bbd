// From a sequence to a plan: canonicalises, schedules and compiles each step, and prepares all checks of a call.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>

#include "ir/passes/canonical.hpp"
#include "ir/passes/distinct_factors.hpp"
#include "ir/passes/step_piece.hpp"
#include "ir/workspace.hpp"
#include "kernel/atom_types.hpp"
#include "kernel/composite.hpp"
#include "plan/enumerate/plain.hpp"
#include "ricci/error.hpp"
#include "ricci/log.hpp"
#include "runtime/parallel.hpp"
#include "runtime/program_counts.hpp"
#include "runtime/runtime_impl.hpp"
#include "runtime/sequences.hpp"
#include "runtime/slices.hpp"
#include "runtime/tuning.hpp"

namespace ricci {
inline namespace v1 {
namespace {

constexpr std::int64_t kMostInGraph = 8192;  ///< launches; a graph takes the driver some microseconds for each

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// The lattice of a storage's element addresses over all accesses of all steps: constant + multiples of `bytes`.
struct Lattice {
  std::int64_t bytes = 0;
  std::optional<std::int64_t> constant;

  void add(const ir::Program& program, const ir::Affine& offset, std::int64_t size) {
    for (std::size_t q = 0; q < offset.coefficient.size(); ++q) {
      if (program.indices[q].extent > 1) bytes = std::gcd(bytes, offset.coefficient[q] * size);
    }
    if (!constant) constant = offset.constant * size;
    bytes = std::gcd(bytes, offset.constant * size - *constant);
  }
};

/// How the steps use one storage.
struct Use {
  bool written = false;
  std::int64_t first = 0, last = -1, alignment = 1;
  Lattice lattice;
};

std::vector<Use> uses_of(const ir::Sequence& sequence, const std::vector<Plan::Impl::Step>& steps) {
  std::vector<Use> uses(sequence.storages.size());
  for (const auto& planned : steps) {
    const auto& step = sequence.steps[static_cast<std::size_t>(planned.number)];
    const auto& program = step.program;
    const auto use = [&](int buffer) -> Use& {
      return uses[static_cast<std::size_t>(step.storage[static_cast<std::size_t>(buffer)])];
    };
    for (std::size_t k = 0; k < program.buffers.size(); ++k) {
      const auto& buffer = program.buffers[k];
      auto& one = use(static_cast<int>(k));
      one.written |= buffer.written;
      one.alignment = std::max(one.alignment, buffer.alignment);
      if (buffer.last < buffer.first) continue;
      const bool fresh = one.last < one.first;
      const auto& storage = sequence.storages[static_cast<std::size_t>(step.storage[k])];
      const auto parts = size_of(storage.type) / size_of(buffer.type);  // of an element, that a buffer of reals has
      const auto element = [&](std::int64_t place) { return (place - (place < 0 ? parts - 1 : 0)) / parts; };
      auto first = buffer.first, last = buffer.last;
      for (std::size_t l = 0; l < step.advance.size(); ++l) {
        const auto& loop = sequence.slice_of(static_cast<std::size_t>(planned.number))->loops[l];
        const auto most = step.advance[l][k] * loop.first(loop.blocks() - 1);
        (most < 0 ? first : last) += most;
        one.lattice.bytes = std::gcd(one.lattice.bytes, step.advance[l][k] * size_of(buffer.type));
      }
      one.first = fresh ? element(first) : std::min(one.first, element(first));
      one.last = fresh ? element(last) : std::max(one.last, element(last));
    }
    for (const auto& node : program.nodes) {
      if (node.kind != ir::NodeKind::load) continue;
      use(node.source).lattice.add(program, node.offset, size_of(node.type));
    }
    for (const auto& statement : program.statements) {
      const auto size = size_of(program.buffers[static_cast<std::size_t>(statement.buffer)].type);
      const auto kind = program.nodes[static_cast<std::size_t>(statement.value)].kind;
      auto& lattice = use(statement.buffer).lattice;
      lattice.add(program, statement.offset, size);
      if (kind == ir::NodeKind::scan) lattice.bytes = std::gcd(lattice.bytes, statement.step * size);
      if (kind == ir::NodeKind::compact) lattice.bytes = std::gcd(lattice.bytes, size);  // its start depends on data
    }
  }
  return uses;
}

const char* word(ir::Role role) { return role == ir::Role::output ? "output" : "input"; }

/// Names and checks of the storages, and the pairs that must not overlap.
void prepare_storages(Plan::Impl& plan, std::vector<std::string> labels, const std::vector<int>& kept, bool aligned) {
  const auto& sequence = plan.sequence;
  const auto uses = uses_of(sequence, plan.steps);
  const auto workspace = ir::workspace_layout(sequence);
  for (std::size_t k = 0; k < sequence.storages.size(); ++k) {
    const auto& storage = sequence.storages[k];
    const auto size = size_of(storage.type);
    const auto& use = uses[k];
    SlotCheck check;
    check.label = k < labels.size() ? labels[k] : fmt::format("{} {}", word(storage.role), storage.name);
    check.first_byte = use.first * size;
    check.end_byte = (use.last + 1) * size;
    if (aligned) check.alignment = std::max(use.alignment, storage.alignment);
    plan.storages.push_back(std::move(check));
    const Argument argument{storage.name, storage.type, use.first, use.last};
    if (storage.role == ir::Role::workspace) {
      plan.workspace_offsets.push_back(workspace.offset[k] - storage.first * size);
      continue;
    }
    plan.workspace_offsets.push_back(-1);
    if (std::find(kept.begin(), kept.end(), static_cast<int>(k)) != kept.end()) continue;
    const bool output = storage.role == ir::Role::output;
    (output ? plan.outputs : plan.inputs).push_back(argument);
    (output ? plan.output_storages : plan.input_storages).push_back(static_cast<int>(k));
  }
  for (const auto written : plan.output_storages) {
    const auto w = static_cast<std::size_t>(written);
    if (!uses[w].written || !plan.storages[w].touched()) continue;
    for (std::size_t k = 0; k < sequence.storages.size(); ++k) {
      const bool also_written = sequence.storages[k].role == ir::Role::output && uses[k].written;
      if (sequence.storages[k].role == ir::Role::workspace || !plan.storages[k].touched() || k == w) continue;
      if (also_written && k < w) continue;  // each pair once
      PairCheck pair;
      pair.written = written;
      pair.other = static_cast<int>(k);
      pair.written_bytes = size_of(sequence.storages[w].type);
      pair.other_bytes = size_of(sequence.storages[k].type);
      pair.lattice_bytes = std::max<std::int64_t>(std::gcd(uses[w].lattice.bytes, uses[k].lattice.bytes), 1);
      pair.phase = uses[k].lattice.constant.value_or(0) - uses[w].lattice.constant.value_or(0);
      plan.pairs.push_back(pair);
    }
  }
}

/// The slices of the sequence, of those of its steps that have points.
void prepare_slices(Plan::Impl& plan) {
  for (const auto& slice : plan.sequence.slices) {
    const auto at = [&](std::size_t number) {
      return static_cast<std::size_t>(
          std::count_if(plan.steps.begin(), plan.steps.end(),
                        [&](const Plan::Impl::Step& step) { return static_cast<std::size_t>(step.number) < number; }));
    };
    plan.slices.push_back({at(slice.first), at(slice.last), slice.loops});
    if (plan.slices.back().first == plan.slices.back().last) plan.slices.pop_back();
  }
}

/// Places of the packed operands, one behind the other.
void prepare_kept(Plan::Impl& plan, const std::vector<int>& kept) {
  for (const int number : kept) {
    const auto& storage = plan.sequence.storages[static_cast<std::size_t>(number)];
    const auto bytes = std::max<std::int64_t>(storage.last + 1, 0) * size_of(storage.type);  // dense, from 0
    plan.kept.push_back({number, plan.info.packed_bytes});
    plan.info.packed_bytes += (bytes + ir::kWorkspaceAlignment - 1) / ir::kWorkspaceAlignment * ir::kWorkspaceAlignment;
  }
}

void prepare_params(Plan::Impl& plan) {
  for (const auto& param : plan.sequence.params) {
    ParamSource source;
    source.type = param.type;
    if (plan.factors && param.name == "alpha") {
      source.from = ParamSource::From::alpha;
    } else if (plan.factors && param.name == "beta") {
      source.from = ParamSource::From::beta;
    } else {
      source.position = static_cast<int>(plan.params.size());
      plan.params.push_back({param.name, param.type});
    }
    plan.sources.push_back(source);
  }
}

void check_limits(const ir::Sequence& sequence) {
  const auto check = [](std::size_t count, int most, const char* what) {
    if (count > static_cast<std::size_t>(most)) {
      throw PlanError(fmt::format("{} {}; a plan takes up to {}", count, what, most));
    }
  };
  check(sequence.params.size(), Plan::Impl::kMaxParams, "parameters");
  for (const auto& step : sequence.steps) {
    check(step.storage.size() + step.param.size(), Plan::Impl::kMaxArguments, "tensors and parameters in one kernel");
  }
}

/// How the bases of some of a step's buffers advance; others (-1) stay. In elements, or in bytes of the storages.
std::vector<std::vector<std::int64_t>> advance_of(const ir::Step& step, const std::vector<int>& buffers) {
  std::vector<std::vector<std::int64_t>> all;
  for (const auto& advance : step.advance) {
    auto& some = all.emplace_back();
    for (const int b : buffers) some.push_back(b < 0 ? 0 : advance[static_cast<std::size_t>(b)]);
  }
  return all;
}

/// In bytes, for the buffers of a canonical program.
std::vector<std::vector<std::int64_t>> bytes_of(std::vector<std::vector<std::int64_t>> advance,
                                                const ir::Program& program) {
  for (auto& one : advance) {
    for (std::size_t b = 0; b < one.size(); ++b) one[b] *= size_of(program.buffers[b].type);
  }
  return advance;
}

/// The parts of a step in its place in the plan's sequence, with storages and parameters of that.
///   buffer  of the sequence's step: per buffer of the step's canonical program
std::vector<Plan::Impl::Step> in_place(Plan::Impl& plan, const Plan::Impl::Step& step, const std::vector<int>& buffer,
                                       runtime::Entrant parts) {
  auto& sequence = plan.sequence;
  const auto whole = sequence.steps[static_cast<std::size_t>(step.number)];
  // What parts hand on is workspace of one block.
  const auto advance = [&](const std::vector<int>& storages) {
    std::vector<int> buffers;
    for (const int storage : storages)
      buffers.push_back(storage < static_cast<int>(buffer.size()) ? buffer[static_cast<std::size_t>(storage)] : -1);
    return advance_of(whole, buffers);
  };
  auto storage = step.storage;
  for (auto k = storage.size(); k < parts.sequence.storages.size(); ++k) {
    auto& temporary = parts.sequence.storages[k];
    temporary.name = ir::fresh_name(sequence, temporary.name);
    storage.push_back(static_cast<int>(sequence.storages.size()));
    sequence.storages.push_back(std::move(temporary));
  }
  const auto renumber = [](std::vector<int>& numbers, const std::vector<int>& as) {
    for (auto& number : numbers) number = as[static_cast<std::size_t>(number)];
  };
  for (auto& lowered : parts.sequence.steps) {
    lowered.advance = advance(lowered.storage);
    renumber(lowered.storage, storage);
    renumber(lowered.param, step.parameter);
  }
  for (auto& part : parts.steps) {
    part.advance = bytes_of(advance(part.storage), part.program);
    part.number += step.number;
    renumber(part.storage, storage);
    renumber(part.parameter, step.parameter);
  }
  const auto more = parts.sequence.steps.size() - 1;
  for (auto& slice : sequence.slices) {
    if (slice.first > static_cast<std::size_t>(step.number)) slice.first += more;
    if (slice.last > static_cast<std::size_t>(step.number)) slice.last += more;
  }
  const auto place = sequence.steps.begin() + step.number;
  *place = std::move(parts.sequence.steps.front());
  sequence.steps.insert(place + 1, std::make_move_iterator(parts.sequence.steps.begin() + 1),
                        std::make_move_iterator(parts.sequence.steps.end()));
  ir::verify(sequence);
  return std::move(parts.steps);
}

/// What runs in place of the lowered sequence: other steps and, where these need too much workspace, in slices.
void choose_steps(Plan::Impl& plan, std::int64_t limit) {
  const auto instead = [&](ir::Sequence lowered, std::int64_t room) {
    plan.workspace_limit = room;
    auto* const predictions = plan.predictions.get();
    lowered = predictions == nullptr ? runtime::multiplied(std::move(lowered), plan.cpu_model(), room)
                                     : ir::distinct_factors(std::move(lowered));
    auto made = runtime::steps_instead(lowered, plan, predictions);
    if (made) plan.uncut = std::exchange(lowered, std::move(*made));
    return lowered;
  };
  auto lowered = plan.sequence;
  plan.sequence = instead(std::move(plan.sequence), limit);
  if (!plan.sequence.fits(limit)) {
    // Of a CPU's one thread, and of the steps as they were lowered, so that results do not depend on how many there
    // are.
    const auto us_of = [&](const ir::Program& program) {
      return plan.predictions ? plan.predictions->us(program)
                              : plan::time_alone(ir::canonicalise(program), plan.cpu_model()).us;
    };
    auto ways = runtime::sliced_to_fit(lowered, limit, us_of);
    const std::size_t most = plan.predictions ? 3 : 1;
    if (ways.size() > most) ways.resize(most);
    double least = std::numeric_limits<double>::infinity();
    for (const auto& way : ways) {
      auto made = runtime::in_runs(way, limit, instead);
      const double us = ways.size() == 1 ? 0 : runtime::predicted_us(made, us_of);
      if (us >= least) continue;
      least = us;
      plan.sequence = std::move(made);
    }
    if (!ways.empty()) plan.uncut = std::move(lowered);
  }
  plan.workspace_limit = limit;
}

}  // namespace

int Runtime::Impl::plan_step(Plan::Impl& plan, int number, const PlanOptions& wanted, bool* scheduled) {
  const auto& lowered = plan.sequence.steps[static_cast<std::size_t>(number)];
  if (!runtime::has_points(lowered.program)) return number + 1;
  const auto start = std::chrono::steady_clock::now();
  Plan::Impl::Step step;
  step.number = number;
  auto canonical = plan.predictions ? plan.predictions->canonical(lowered.program) : ir::canonicalise(lowered.program);
  for (const int buffer : canonical.buffer) step.storage.push_back(lowered.storage[static_cast<std::size_t>(buffer)]);
  for (const int param : canonical.param) step.parameter.push_back(lowered.param[static_cast<std::size_t>(param)]);
  const auto buffer = canonical.buffer;
  step.program = std::move(canonical);
  step.advance = bytes_of(advance_of(lowered, buffer), step.program);
  step.program.precision = kernel::effective_precision(step.program, wanted.precision, plan.target.sm);
  step.program_text = ir::print(step.program);
  auto& info = plan.info;
  const double measured_before_ms = info.measure_ms;
  choose(plan, step, wanted, number + 1 == static_cast<int>(plan.sequence.steps.size()), scheduled);
  int next = number + 1;
  if (kernel::is_composite(step.schedule)) {
    if (std::exchange(step.unsaved, false)) {
      const auto key = runtime::choice_key(step.program_text, plan.target, plan.model_text());
      store.put(runtime::choice_entry(key, step.program, step.schedule));
    }
    auto uncopied = plan.sequence;
    auto parts = in_place(plan, step, buffer, parts_of(plan, step));
    if (!plan.sequence.fits(wanted.workspace_limit)) {  // as they leave gaps between each other
      throw PlanError(
          fmt::format("the copies of schedule {} need a workspace of {} bytes, and the limit is {}; raise "
                      "PlanOptions::workspace_limit, or name another schedule",
                      step.schedule.name, plan.sequence.workspace_bytes(), wanted.workspace_limit));
    }
    next = number + static_cast<int>(parts.size());
    if (parts.size() > 1 && !plan.uncut) plan.uncut = std::move(uncopied);
    for (auto& part : parts) plan.steps.push_back(std::move(part));
  } else {
    prepare(plan, step);
    plan.steps.push_back(std::move(step));
  }
  info.plan_ms += ms_since(start) - (info.measure_ms - measured_before_ms);
  return next;
}

void Runtime::Impl::load_steps(Plan::Impl& plan) {
  // Steps with equal kernels wait for the first of them, which compiles it.
  std::map<std::string, std::size_t> known;
  std::vector<std::size_t> first;
  std::vector<std::pair<std::size_t, std::size_t>> equal;  // a step, and the first of its kind
  for (std::size_t k = 0; k < plan.steps.size(); ++k) {
    const auto& step = plan.steps[k];
    if (step.kernel() == nullptr) continue;
    const auto [place, fresh] = known.emplace(step.program_text + kernel::print(step.schedule), k);
    if (fresh) {
      first.push_back(k);
    } else {
      equal.emplace_back(k, place->second);
    }
  }
  std::vector<char> shared(plan.steps.size());  // a byte each: threads write neighbouring elements
  const auto load_step = [&](std::size_t k) { shared[k] = load_chosen(plan, plan.steps[k]) ? 1 : 0; };
  runtime::in_parallel(first.size(), [&](std::size_t n) { load_step(first[n]); });
  for (const auto& [k, as] : equal) {
    plan.steps[k].schedule = plan.steps[as].schedule;
    plan.steps[k].unsaved = false;
    prepare(plan, plan.steps[k]);
    load_step(k);
  }
  find_pool(plan, plan.steps);
  auto& info = plan.info;
  for (std::size_t k = 0; k < plan.steps.size(); ++k) {
    const auto& step = plan.steps[k];
    const char* const separator = k == 0 ? "" : "; ";
    info.schedule += separator + kernel::summary(step.program, step.schedule);
    info.choice += std::string(separator) + plan::name(step.reason);
    if (const auto* product = step.product()) {
      info.kernel += separator + product->library->function(product->product.type);
      continue;
    }
    const auto& made = *step.kernel()->loaded;
    info.kernel += separator + made.name;
    const std::string origin = shared[k] != 0 || made.outcome == cache::Outcome::memory ? "memory"
                               : made.outcome == cache::Outcome::disk                   ? "disk"
                                                                                        : "compiled";
    // Of several kernels, what took longest.
    if (info.origin.empty() || origin == "compiled" || info.origin == "memory") info.origin = origin;
    if (shared[k] == 0) {
      info.generate_ms += made.generate_ms;
      info.compile_ms += made.compile_ms;
      info.load_ms += made.load_ms;
    }
    info.registers = std::max(info.registers, made.registers);
    info.spill_bytes = std::max(info.spill_bytes, made.spill_bytes);
    info.shared_bytes = std::max(info.shared_bytes, made.shared_bytes);
  }
  if (info.origin.empty() && !plan.steps.empty()) info.origin = "library";
}

Plan Runtime::Impl::plan(Subject subject, const PlanOptions& wanted) {
  if (wanted.threads < 0) {
    throw PlanError(fmt::format("a plan of {} threads; give 0 for all, or a number from 1", wanted.threads));
  }
  if (wanted.workspace_limit < -1) {
    throw PlanError(
        fmt::format("a workspace limit of {} bytes; give -1 for any, or a number from 0", wanted.workspace_limit));
  }
  if (wanted.gpu < -1) {
    throw DeviceError(
        fmt::format("{} is no GPU's number; give -1 for the current one, or a number from 0", wanted.gpu));
  }
  auto plan = std::make_shared<Plan::Impl>();
  plan->sequence = std::move(subject.sequence);
  plan->factors = subject.factors;
  plan->precision = wanted.precision;
  plan->output_layout = std::move(subject.output_layout);
  plan->orders = std::move(subject.orders);
  plan->target = runtime::target_of(wanted);
  const bool cpu = wanted.device == Device::cpu;
  plan->threads = threads_of(wanted);
  plan->executor = options.executor;
  if (wanted.mode != PlanMode::model && (cpu || plan->target.ordinal >= 0)) {
    const bool measures = wanted.mode == PlanMode::measure || wanted.mode == PlanMode::remeasure;
    plan->measured = measured_memory(plan->target, measures ? Need::now : Need::if_there);
  }
  plan->library = library(wanted.device);
  if (plan->library) {
    const bool rated = cpu && wanted.mode != PlanMode::model;
    plan->library_model = rated ? blas_model(plan->target, plan->threads) : plan::LibraryModel{};
  }
  if (!cpu) plan->predictions = std::make_unique<runtime::Predictions>(plan->gpu_model(), wanted.precision);
  choose_steps(*plan, wanted.workspace_limit);
  if (!plan->sequence.fits(wanted.workspace_limit)) {
    throw PlanError(
        fmt::format("this needs a workspace of {} bytes, and the limit is {}; raise "
                    "PlanOptions::workspace_limit, or declare large temporaries as outputs",
                    plan->sequence.workspace_bytes(), wanted.workspace_limit));
  }
  if (wanted.workspace_limit >= 0) plan->copies_limit = wanted.workspace_limit - plan->sequence.workspace_bytes();
  check_limits(plan->sequence);
  if (cpu) {
    runtime::drop_alignments(plan->sequence);
    plan->device_text = fmt::format("{}, {} threads", plan->target.text(), plan->threads);
  } else {
    plan->device_text = plan->target.ordinal >= 0 ? jit::cuda::device_info(plan->target.ordinal).name
                                                  : fmt::format("sm_{} (no device)", plan->target.sm);
  }
  if (!store.config().root.empty()) plan->cache_root = store.config().root.string();
  auto& info = plan->info;
  info.plan_ms = ms_since(subject.start);
  bool scheduled = false;
  for (int k = 0; k < static_cast<int>(plan->sequence.steps.size());) k = plan_step(*plan, k, wanted, &scheduled);
  plan->predictions = nullptr;
  load_steps(*plan);
  const auto start = std::chrono::steady_clock::now();
  plan->packing = std::move(subject.packing);
  prepare_slices(*plan);
  prepare_storages(*plan, std::move(subject.labels), subject.kept, !cpu);
  prepare_kept(*plan, subject.kept);
  prepare_params(*plan);
  info.steps = static_cast<int>(plan->steps.size());
  const auto generated = [](const Plan::Impl::Step& step) { return step.kernel() != nullptr; };
  std::int64_t launches = 0;
  for (std::size_t k = 0; k < plan->steps.size(); ++k) launches += plan->launches_of(k);
  if (plan->target.ordinal >= 0 && graph_kernels > 0 && launches >= graph_kernels && launches <= kMostInGraph &&
      std::all_of(plan->steps.begin(), plan->steps.end(), generated) && jit::cuda::has_graphs()) {
    plan->graphs = std::make_unique<runtime::StepGraphs>(*plan);
  }
  if (plan->steps.empty()) {
    info.origin = "none";
    info.schedule = "nothing to run";
  } else {
    const auto counts = runtime::count_program(plan->sequence);
    info.compulsory_bytes = counts.bytes;
    info.flops = counts.flops;
    info.workspace_bytes = plan->sequence.workspace_bytes();
  }
  plan->source = plan->text("//", [](const Plan::Impl::Step& step) {
    if (const auto* kernel = step.kernel()) return kernel->loaded->entry->source;
    const auto& [library, product, tasks] = *step.product();
    return fmt::format("// {} of {}:\n// {}\n", library->function(product.type), library->identity(),
                       kernel::print(product, step.program));
  });
  if (plan->steps.empty()) plan->source = "// nothing to run: the tensor has no elements\n";
  info.plan_ms += ms_since(start);
  return Plan(std::move(plan));
}

}  // namespace v1
}  // namespace ricci
