#include "kernel/interpret/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace ricci::kernel {
namespace {

const Loop* block_loop(const Body& body) {
  if (body.size() != 1) return nullptr;
  const auto* loop = std::get_if<Loop>(&body.front().node);
  return loop && numbers_blocks(loop->bind) ? loop : nullptr;
}

}  // namespace

Machine::Machine(const Kernel& kernel, const std::vector<void*>* buffers, const std::vector<Scalar>& params,
                 std::int64_t steps)
    : kernel_(kernel),
      blocks_(has_tiles(kernel.body) ? 1 : static_cast<int>(kernel.cluster())),
      threads_(has_tiles(kernel.body) ? 1 : kernel.threads * blocks_),
      values_(buffers != nullptr),
      env_(kernel.vars.size() * static_cast<std::size_t>(threads_)),
      advanced_(kernel.arrays.size() * static_cast<std::size_t>(threads_)),
      memory_(kernel, threads_, blocks_, buffers),
      steps_(steps) {
  counts_.arrays.resize(kernel.arrays.size());
  for (std::size_t k = 0; k < params.size(); ++k)
    params_.push_back(ir::oracle::value_of(params[k], kernel.params[k].type));
}

bool Machine::run(bool corners) {
  try {
    tasks(kernel_.body, 0, corners);
  } catch (const Left&) {
    return false;
  }
  if (all_tasks_) memory_.check_results();
  return all_tasks_;
}

void Machine::tasks(const Body& body, std::int64_t number, bool corners) {
  if (const auto* loop = block_loop(body)) {
    if (loop->bind == Bind::cluster) return cluster(*loop, number);
    const auto extent = kernel_.extent(loop->var);
    for (std::int64_t k = 0; k < extent; ++k) {
      if (corners && k > 1 && k < extent - 1) {
        k = extent - 1;
        all_tasks_ = false;
      }
      for (int t = 0; t < threads_; ++t) variable(loop->var, t) = k;
      if (!holds(loop->when, 0)) break;
      tasks(loop->body, number * extent + k, corners);
    }
    return;
  }
  task(body, number);
}

void Machine::cluster(const Loop& loop, std::int64_t number) {
  const auto extent = kernel_.extent(loop.var), times = extent / blocks_;
  parts_.clear();
  for (std::int64_t k = 0; k < times; ++k) {
    for (int t = 0; t < threads_; ++t) variable(loop.var, t) = k * blocks_ + t / block_threads();
    task(loop.body, number * times + k);
  }
}

void Machine::task(const Body& body, std::int64_t number) {
  memory_.begin_task(number);
  tiles_.clear();
  std::fill(advanced_.begin(), advanced_.end(), 0);
  counts_.tasks += blocks_;
  Threads threads(static_cast<std::size_t>(threads_));
  std::iota(threads.begin(), threads.end(), 0);
  execute(body, threads);
  memory_.end_task();
}

void Machine::execute(const Body& body, const Threads& threads) {
  for (const auto& statement : body) {
    steps_ -= static_cast<std::int64_t>(threads.size());
    if (steps_ < 0) throw Left{};
    origin_ = statement.origin;
    memory_.set_origin(origin_);
    passing_ = &threads;
    std::visit([&](const auto& node) { one(node, threads); }, statement.node);
  }
}

void Machine::thread_digits(const Loop& loop, const Threads& threads, std::int64_t product) {
  const auto extent = kernel_.extent(loop.var), below = thread_product_ / extent;
  Threads inside;
  for (const auto t : threads) {
    const auto own = t % block_threads();
    if (own >= product) continue;
    variable(loop.var, t) = own / below % extent;
    if (holds(loop.when, t)) inside.push_back(t);
  }
  const auto outer = thread_product_;
  thread_product_ = below;
  if (!inside.empty()) execute(loop.body, inside);
  thread_product_ = outer;
}

void Machine::one(const Loop& loop, const Threads& threads) {
  if (loop.bind == Bind::thread) {
    const bool outermost = thread_product_ == 0;
    if (outermost) thread_product_ = kernel_.extent(loop.var) * thread_product(kernel_, loop.body);
    thread_digits(loop, threads, outermost ? thread_product_ : block_threads());
    if (outermost) thread_product_ = 0;
    return;
  }
  Threads inside = threads;
  for (const auto t : inside) variable(loop.var, t) = at(loop.first, t);
  const auto extent = kernel_.extent(loop.var);
  for (;;) {
    std::erase_if(inside, [&](int t) { return variable(loop.var, t) >= extent || !holds(loop.when, t); });
    if (inside.empty()) return;
    execute(loop.body, inside);
    for (const auto t : inside) variable(loop.var, t) += loop.step;
  }
}

void Machine::one(const Sweep& sweep, const Threads& threads) {
  for (const auto t : threads) variable(sweep.var, t) = at(sweep.first, t);
  for (const auto& part : sweep.parts) {
    const auto least = sweep.past_end && &part == &sweep.parts.back() ? 1 : part.step;
    Threads inside = threads;
    for (;;) {
      std::erase_if(inside, [&](int t) { return variable(sweep.var, t) + least > at(sweep.end, t); });
      if (inside.empty()) break;
      execute(part.body, inside);
      for (const auto t : inside) variable(sweep.var, t) += part.step;
    }
  }
}

void Machine::one(const Let& let, const Threads& threads) {
  for (const auto t : threads) {
    if (let.value) {
      // Where values do not matter, the largest one: most elements are looked at.
      variable(let.var, t) =
          values_ ? static_cast<std::int64_t>(value(*let.value, t).front().value.integer) : kernel_.extent(let.var) - 1;
      continue;
    }
    if (!let.values.empty()) {
      variable(let.var, t) = let.values[static_cast<std::size_t>(at(let.of, t))];
      continue;
    }
    auto result = at(let.of, t) / let.divisor;
    if (let.modulus > 0) result %= let.modulus;
    if (let.most >= 0) result = std::min(result, let.most);
    variable(let.var, t) = result;
  }
}

void Machine::one(const If& branch, const Threads& threads) {
  // Each condition is looked at by those for which the ones before it hold.
  Threads then = threads, otherwise;
  const auto part = [&](const auto& condition) {
    const auto rest = std::stable_partition(then.begin(), then.end(), condition);
    otherwise.insert(otherwise.end(), rest, then.end());
    then.erase(rest, then.end());
  };
  part([&](int t) { return holds(branch.when, t); });
  for (const auto& value : branch.values) {
    if (then.empty()) break;
    count_loads(value, then);
    part([&](int t) { return decides(value, t); });
  }
  std::sort(otherwise.begin(), otherwise.end());
  if (!then.empty()) execute(branch.then, then);
  if (!otherwise.empty()) execute(branch.otherwise, otherwise);
}

void Machine::one(const Declare& declare, const Threads& threads) {
  if (!declare.zeros) return;
  const auto elements = kernel_.array(declare.array).elements();
  for (const auto t : threads) {
    for (std::int64_t e = 0; e < elements; ++e) memory_.write(declare.array, e, t, {});
  }
}

void Machine::one(const Define& define, const Threads& threads) {
  one(Store{{define.array, {}, kernel_.array(define.array).lanes}, define.value}, threads);
}

void Machine::one(const Advance& advance, const Threads& threads) {
  for (const auto t : threads) advanced(advance.array, t) += at(advance.by, t);
}

void Machine::one(const AdvanceByLanes& advance, const Threads& threads) {
  whole_warps(threads, "shuffles");
  for (const auto& move : advance.moves) one(move, threads);
}

void Machine::one(const Store& store, const Threads& threads) {
  count_loads(store.value, threads);
  check_shuffles(store.value, threads);
  count(store.to, threads, true);
  // Lanes exchange what they have before any of them stores.
  std::vector<std::vector<Item>> values;
  for (const auto t : threads) values.push_back(value(store.value, t));
  for (std::size_t k = 0; k < threads.size(); ++k)
    store.atomic ? add(store.to, values[k].front(), threads[k]) : this->store(store.to, values[k], threads[k]);
}

void Machine::one(const Scatter& scatter, const Threads& threads) {
  const auto& array = kernel_.array(scatter.array);
  count_loads(scatter.place, threads);
  Threads storing;
  std::vector<std::pair<int, std::int64_t>> written;
  for (const auto t : threads) {
    const auto place = value(scatter.place, t).front();
    if (!values_) {
      value(scatter.value, t);
      continue;
    }
    if (place.unwritten >= 0) broken(kernel_, origin_, array.name + " is written at a place that nothing has written");
    const auto element = static_cast<std::int64_t>(place.value.integer);
    if (element < array.first || element >= array.shape.front()) continue;
    storing.push_back(t);
    written.emplace_back(t, element);
  }
  count_loads(scatter.value, storing);
  // Lanes exchange what they have before any of them stores.
  std::vector<Item> items;
  for (const auto t : storing) items.push_back(value(scatter.value, t).front());
  for (std::size_t k = 0; k < storing.size(); ++k)
    memory_.write(scatter.array, written[k].second, storing[k], items[k]);
  count(scatter.array, written, size_of(array.type), 1, true);
}

void Machine::one(const CopyRow& copy, const Threads& threads) {
  auto from = copy.from, to = copy.to;
  from.lanes = to.lanes = copy.lanes;
  for (std::int64_t k = 0; k < copy.count; k += copy.lanes) {
    count(from, threads, false);
    count(to, threads, true);
    for (const auto t : threads) store(to, load(from, t), t);
    from.index.front() = from.index.front() + Affine(copy.lanes);
    to.index.front() = to.index.front() + Affine(copy.lanes);
  }
}

void Machine::one(const Transpose& transpose, const Threads& threads) {
  const auto& array = kernel_.array(transpose.array);
  for (const auto t : threads) {
    std::vector<Item> items;
    for (std::int64_t e = 0; e < array.elements(); ++e) items.push_back(memory_.read(transpose.array, e, t));
    for (int row = 0; row < array.shape.front(); ++row) {
      for (int lane = 0; lane < array.lanes; ++lane) {
        const auto spot = transposed(array, lane / transpose.group, transpose.group);
        memory_.write(transpose.array,
                      spot.vector * array.lanes + (spot.lane + row) * transpose.group + lane % transpose.group, t,
                      items[static_cast<std::size_t>(row * array.lanes + lane)]);
      }
    }
  }
}

void Machine::one(const CopyRun& run, const Threads& threads) {
  auto from = run.from, to = run.to;
  for (std::int64_t k = 0; k < run.count; ++k) {
    count(from, threads, false);
    count(to, threads, true);
    for (const auto t : threads) store(to, load(from, t), t);
    from.index.front() = from.index.front() + Affine(1);
    to.index.front() = to.index.front() + Affine(1);
  }
}

void Machine::one(const AsyncCopy& copy, const Threads& threads) {
  const auto size = size_of(kernel_.array(copy.to.array).type);
  auto from = copy.from, to = copy.to;
  from.lanes = to.lanes = static_cast<int>(copy.bytes / size);
  from.count = to.count = 0;
  Threads reading;
  for (const auto t : threads) {
    if (holds(copy.when, t)) reading.push_back(t);
  }
  count(from, reading, false);
  count(to, threads, true);
  for (const auto t : threads) {
    const auto first = element(to, t);
    auto items = holds(copy.when, t) ? load(from, t) : std::vector<Item>(static_cast<std::size_t>(to.lanes));
    for (int k = 0; k < to.lanes; ++k) memory_.start(to.array, first + k, t, items[static_cast<std::size_t>(k)]);
  }
}

void Machine::one(const Commit& commit, const Threads& threads) {
  for (const auto t : threads) commit.products ? memory_.commit_products(t) : memory_.commit(t);
}

void Machine::all_take_part(const Threads& threads, const char* what) const {
  const auto of_block = static_cast<std::size_t>(block_threads());
  for (std::size_t k = 0; k < threads.size(); k += of_block) {
    const auto block = threads[k] / block_threads();
    const auto count = static_cast<std::size_t>(
        std::count_if(threads.begin(), threads.end(), [&](int t) { return t / block_threads() == block; }));
    if (count != of_block)
      broken(kernel_, origin_, fmt::format("{} is reached by {} of the {} threads of a block", what, count, of_block));
  }
}

void Machine::whole_warps(const Threads& threads, const char* what) const {
  for (std::size_t k = 0; k < threads.size(); ++k) {
    const auto first = k - k % kWarp;
    if (threads.size() % kWarp == 0 && threads[k] == threads[first] + static_cast<int>(k % kWarp) &&
        threads[first] % kWarp == 0)
      continue;
    broken(kernel_, origin_, fmt::format("{} that not all lanes of a warp reach", what));
  }
}

void Machine::one(const Wait& wait, const Threads& threads) {
  all_take_part(threads, "a wait");
  for (const auto t : threads)
    wait.sums >= 0 ? memory_.wait_for_products(t, wait.groups) : memory_.wait(t, wait.groups);
}

void Machine::one(const Barrier& barrier, const Threads& threads) {
  if (barrier.of == Barrier::Of::warp) {
    whole_warps(threads, "a barrier of a warp");
    for (const auto t : threads) memory_.barrier_of_warp(t);
    return;
  }
  all_take_part(threads, "a barrier");
  for (std::size_t k = 0; k < threads.size(); k += static_cast<std::size_t>(block_threads())) {
    ++counts_.barriers;
    memory_.barrier(threads[k]);
  }
  if (barrier.of != Barrier::Of::cluster) return;
  if (threads.size() != static_cast<std::size_t>(threads_))
    broken(kernel_, origin_, "a barrier of a cluster that not all of its blocks reach");
  memory_.barrier_of_cluster();
}

Counts execute(const Kernel& kernel, const std::vector<void*>& buffers, const std::vector<Scalar>& params) {
  Machine machine(kernel, &buffers, params, std::numeric_limits<std::int64_t>::max());
  machine.run(false);
  return machine.counts();
}

bool check_elements(const Kernel& kernel, std::int64_t steps) {
  Machine machine(kernel, nullptr, std::vector<Scalar>{}, steps);
  return machine.run(true);
}

Counts count_elements(const Kernel& kernel, std::int64_t steps) {
  Machine machine(kernel, nullptr, std::vector<Scalar>{}, steps);
  machine.run(true);
  return machine.counts();
}

}  // namespace ricci::kernel
