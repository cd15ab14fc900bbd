#include "kernel/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "kernel/print.hpp"
#include "kernel/verifier.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {

static constexpr std::int64_t kMostShared = 227 * 1024;

void Verifier::run() {
  launch();
  for (std::size_t k = 0; k < kernel_.arrays.size(); ++k) array(static_cast<int>(k));
  for (const auto& map : kernel_.maps) this->map(map);
  tiles_ = has_tiles(kernel_.body);
  for (const auto& array : kernel_.arrays) {
    // Tile statements use registers as a whole, and nothing declares them.
    life_.push_back(array.space == Space::global                 ? Life::ready
                    : array.space == Space::registers && !tiles_ ? Life::undeclared
                                                                 : Life::empty);
  }
  moved_.assign(kernel_.arrays.size(), Affine());
  body(kernel_.body, true);
}

void Verifier::expect(bool holds, const char* rule) const {
  if (!holds) fail(rule);
}

void Verifier::launch() const {
  for (const auto& var : kernel_.vars) {
    if (var.extent < 1) fail(fmt::format("{} has an extent of {}", var.name, var.extent));
  }
  if (!cuda()) {
    if (kernel_.threads != 1) fail(fmt::format("{} threads on a CPU", kernel_.threads));
    return;
  }
  if (kernel_.threads < 1 || kernel_.threads > kMostThreads)
    fail(fmt::format("{} threads are none, or more than {}", kernel_.threads, kMostThreads));
  if (kernel_.tasks() > kMostBlocks) fail(fmt::format("{} blocks are more than a launch takes", kernel_.tasks()));
  if (const auto bytes = kernel_.bytes_of(Space::shared); bytes > kMostShared) too_much_shared(bytes);
}

// Directives say how large arrays are, and only all of them together may be too large: no fault of what builds kernels.
void Verifier::too_much_shared(std::int64_t bytes) const {
  const Array* most = nullptr;
  for (const auto& array : kernel_.arrays) {
    if (array.space == Space::shared && (!most || shared_bytes(array) > shared_bytes(*most))) most = &array;
  }
  const auto rule = fmt::format("schedule: {} bytes of shared memory are more than {}, of which {} takes the most",
                                bytes, kMostShared, most->name);
  throw PlanError(with_maker(kernel_, most->origin, rule));
}

void Verifier::array(int number) {
  const auto& array = kernel_.array(number);
  origin_ = array.origin;
  const bool flat = array.space != Space::registers;
  if (flat && array.shape.size() != 1) fail(array.name + " has no shape of its space");
  const bool global = array.space == Space::global;
  for (const auto extent : array.shape) {
    // A tensor of no elements is never read; one that is reached backwards may end before its base.
    if (extent < (global ? array.first : 1)) fail(fmt::format("{} has an extent of {}", array.name, extent));
  }
  if (flat && array.lanes != 1) fail(array.name + " holds vectors, and is no register array");
  if (!is_power_of_two(array.lanes) || array.lanes > kMostLanes)
    fail(fmt::format("{} holds vectors of {} lanes", array.name, array.lanes));
  if (array.written && !global) fail(array.name + " is a result, and not of the caller");
  // Tile statements use registers with no declaration.
  if (array.space == Space::registers && !cuda()) on_stack(array, stack_bytes(array));
  if (array.space == Space::scratch && cuda()) fail(array.name + " is scratch memory, and a GPU has none");
  if (array.space == Space::shared && !cuda()) fail(array.name + " is shared memory, and a CPU has none");
  if (array.swizzle.mask != 0) {
    if (!array.swizzle.is_bijection()) fail(fmt::format("the swizzle of {} is no bijection", array.name));
    if (array.space != Space::shared) fail(fmt::format("{} has a swizzle, and is not shared", array.name));
  }
  if (array.alignment < 0 || (array.alignment > 0 && !is_power_of_two(array.alignment)))
    fail(fmt::format("{} is aligned to {}", array.name, array.alignment));
}

void Verifier::on_stack(const Array& array, std::int64_t bytes) const {
  const auto rule = broken_by_stack(bytes);
  if (!rule.empty()) fail(fmt::format("registers up to {} {}", array.name, rule));
}

void Verifier::body(const Body& body, bool outermost) {
  const auto mark = ranges_.mark();
  std::vector<Var> names;
  std::vector<int> declared, advanced;
  std::set<std::string_view> said;  // names of one scope, which a printer says as they are
  const auto say = [&](const std::string& name) {
    if (!said.insert(name).second) fail(fmt::format("{} is the name of two things side by side", name));
  };
  for (const auto& statement : body) {
    origin_ = statement.origin;
    if (const auto* loop = std::get_if<Loop>(&statement.node); loop && numbers_blocks(loop->bind)) {
      if (!outermost || body.size() != 1) fail("tasks are the outermost loops, with nothing beside them");
      this->loop(*loop, true);
      continue;
    }
    if (const auto* let = std::get_if<Let>(&statement.node)) {
      this->let(*let);
      if (!let->in_place) say(name(let->var));
      names.push_back(let->var);
      continue;
    }
    if (const auto* declare = std::get_if<Declare>(&statement.node)) declared.push_back(declare->array);
    if (const auto* define = std::get_if<Define>(&statement.node)) declared.push_back(define->array);
    if (const auto* advance = std::get_if<Advance>(&statement.node)) advanced.push_back(advance->array);
    if (const auto* lanes = std::get_if<AdvanceByLanes>(&statement.node)) {
      for (const auto& move : lanes->moves) advanced.push_back(move.array);
    }
    std::visit([&](const auto& node) { one(node); }, statement.node);
  }
  ranges_.restore(mark);
  for (const auto var : names) ranges_.leave(var);
  for (const auto array : declared) {
    say(kernel_.array(array).name);
    not_held(array);
    life_[static_cast<std::size_t>(array)] = Life::undeclared;
    stack_ -= stack_bytes(kernel_.array(array));
  }
  for (const auto array : advanced) moved_[static_cast<std::size_t>(array)].reset();
}

void Verifier::enter(Var var, std::int64_t multiple) {
  if (var < 0 || static_cast<std::size_t>(var) >= kernel_.vars.size()) fail("a loop has no variable");
  if (!ranges_.enter(var, kernel_.extent(var), multiple))
    fail(fmt::format("{} is bound inside of a loop over it", kernel_.vars[static_cast<std::size_t>(var)].name));
}

void Verifier::enter(Var var, const Affine& of, std::int64_t multiple) {
  enter(var, multiple);
  const auto place = static_cast<std::size_t>(var);
  varies_[place] = varies(of);
  unrolled_[place] = false;
  tasks_of_[place] = tasks_of(of);
}

void Verifier::loop(const Loop& loop, bool outermost) {
  const bool block = numbers_blocks(loop.bind), digit = block || loop.bind == Bind::thread;
  known(loop.first);
  if (loop.step < 1 || (digit && (loop.step != 1 || loop.first != Affine())))
    fail(fmt::format("{} goes in steps of {} from {}", name(loop.var), loop.step, print(kernel_, loop.first)));
  if (!ranges_.never_below(loop.first, 0)) fail(fmt::format("{} begins below 0", name(loop.var)));
  expect(loop.bind != Bind::vector || !cuda(), "a loop made of vectors on a GPU");
  enter(loop.var, ranges_.multiple(loop.step, loop.first));
  if (block) {
    if (cluster_ >= 0) fail(fmt::format("{} is inside of a cluster", name(loop.var)));
    tasks_.push_back(loop.var);
  }
  if (loop.bind == Bind::cluster) this->cluster(loop);
  const auto around = thread_below_;
  if (loop.bind == Bind::thread) {
    thread_digit(loop);
    threads_.push_back(loop.var);
  }
  const bool repeats = !digit;
  const auto place = static_cast<std::size_t>(loop.var);
  varies_[place] = loop.bind != Bind::thread    ? varies(loop.first)
                   : thread_below_ % kWarp == 0 ? Varies::by_warp
                                                : Varies::by_lane;
  if (loop.bind == Bind::cluster) varies_[place] = Varies::by_block;
  unrolled_[place] = loop.bind == Bind::unroll || loop.bind == Bind::vector;
  tasks_of_[place] = block ? std::vector{loop.var} : tasks_of(loop.first);
  conditions(loop.when);
  // Threads that begin at other values have other rounds.
  const auto parted = std::max(varies(loop.when), varies(loop.first));
  part(parted);
  const auto mark = ranges_.mark();
  if (!loop.first.is_constant() || loop.first.constant != 0) ranges_.assume({loop.first - Affine::of(loop.var), 1});
  ranges_.assume(loop.when);
  const auto inner = [&] { body(loop.body, outermost); };
  repeats ? rounds(inner) : inner();
  ranges_.restore(mark);
  join();
  thread_below_ = around;
  if (block) tasks_.pop_back();
  if (loop.bind == Bind::thread) threads_.pop_back();
  if (loop.bind == Bind::cluster) {
    for (std::size_t k = 0; k < read_by_others_.size(); ++k) {
      if (read_by_others_[k])
        fail(fmt::format("a block ends while others may read its {}: a barrier of the cluster is missing",
                         kernel_.arrays[k].name));
    }
    cluster_ = -1;
  }
  ranges_.leave(loop.var);
}

/// Blocks that run at once and read each other's shared memory.
void Verifier::cluster(const Loop& loop) {
  expect(cuda(), "blocks work together on a CPU");
  if (auto rule = broken_by_cluster(kernel_.extent(loop.var)); !rule.empty()) fail(rule);
  if (!loop.when.empty()) fail(fmt::format("blocks of a cluster are left out: {}", print(kernel_, loop.when)));
  cluster_ = loop.var;
}

/// A digit of the thread's number: threads that share its value are neighbours.
void Verifier::thread_digit(const Loop& loop) {
  if (!cuda()) fail("a loop over threads on a CPU");
  const auto threads = kernel_.extent(loop.var) * thread_product(kernel_, loop.body);
  const auto expected = thread_below_ > 0 ? thread_below_ : kernel_.threads;
  if (threads != expected) fail(fmt::format("a loop over {} threads in a block of {}", threads, expected));
  thread_below_ = threads / kernel_.extent(loop.var);
}

void Verifier::one(const Sweep& sweep) {
  known(sweep.first);
  known(sweep.end);
  if (!ranges_.never_below(sweep.first, 0)) fail(fmt::format("{} begins below 0", name(sweep.var)));
  if (const auto extent = kernel_.extent(sweep.var); !ranges_.never_above(sweep.end, extent))
    fail(fmt::format("{} may end at {}, above {}", name(sweep.var), ranges_.largest(sweep.end), extent));
  expect(!sweep.parts.empty(), "a strip-mined loop of no parts");
  const auto parted = std::max(varies(sweep.first), varies(sweep.end));
  part(parted);
  enter(sweep.var, sweep.first, ranges_.multiple(sweep.parts.back().step, sweep.first));
  if (sweep.aligned) {
    expect(!cuda() && sweep.parts.back().step == 1, "a strip-mined loop is aligned by no single steps");
    known(sweep.aligned->index.front());
  }
  auto step = sweep.parts.front().step;
  for (const auto& part : sweep.parts) {
    if (part.step < 1 || step % part.step != 0)
      fail(fmt::format("{} goes in steps of {} after steps of {}", name(sweep.var), part.step, step));
    if (part.bind != Bind::any && (cuda() || (part.bind != Bind::vector && part.bind != Bind::rolled &&
                                              !(part.bind == Bind::unroll && part.times > 0))))
      fail(fmt::format("{} is strip-mined, and bound to something else", name(sweep.var)));
    step = part.step;
    const auto least = sweep.past_end && &part == &sweep.parts.back() ? 1 : step;
    const auto mark = ranges_.mark();
    ranges_.assume({sweep.first - Affine::of(sweep.var), 1});
    ranges_.assume({Affine::of(sweep.var) - sweep.end, 1 - least});
    if (sweep.end.is_constant()) ranges_.assume({Affine::of(sweep.var), sweep.end.constant - least + 1});
    rounds([&] { body(part.body, false); });
    ranges_.restore(mark);
  }
  ranges_.leave(sweep.var);
  join();
}

void Verifier::let(const Let& let) {
  known(let.of);
  if (!let.values.empty()) return entry(let);
  if (let.value) return parameter(let);
  if (let.divisor < 1 || let.modulus < 0) fail(fmt::format("{} is divided by {}", name(let.var), let.divisor));
  if (!ranges_.never_below(let.of, 0)) fail(fmt::format("{} is a quotient of what may be negative", name(let.var)));
  const auto last = kernel_.extent(let.var) - 1;
  if (let.most > last) fail(fmt::format("{} may be {}, above {}", name(let.var), let.most, last));
  if (let.most >= 0) {
    // Nothing else bounds it.
  } else if (let.modulus > 0 ? let.modulus - 1 > last && !ranges_.never_above(let.of, let.divisor * (last + 1) - 1)
                             : !ranges_.never_above(let.of, let.divisor * (last + 1) - 1)) {
    fail(fmt::format("{} may be above {}", name(let.var), last));
  }
  // A remainder is a multiple of what divides both its expression and the modulus.
  const bool divides = let.divisor == 1 && let.most < 0;
  enter(let.var, let.of, divides ? ranges_.multiple(let.modulus, let.of) : 1);
  ranges_.assume(let);
}

void Verifier::entry(const Let& let) {
  const auto [least, most] = std::minmax_element(let.values.begin(), let.values.end());
  expect(let.in_place, "an entry of a table under a name");
  if (*least < 0 || *most >= kernel_.extent(let.var) || !ranges_.never_below(let.of, 0) ||
      !ranges_.never_above(let.of, static_cast<std::int64_t>(let.values.size()) - 1))
    fail(fmt::format("{} is no entry of its table", name(let.var)));
  enter(let.var, let.of);
}

/// What is executed ahead is of the task alone, and its first statements in it but for names.
void Verifier::one(const Section& section) {
  if (section.ahead > 0) {
    if (cuda() || rounds_ > 0 || ahead_ || !fetches_ || section.fills < 0 ||
        kernel_.array(section.fills).space != Space::scratch)
      fail(
          fmt::format("\"{}\" is executed ahead, and is no section of a task of a CPU with rows ahead", section.title));
    ahead_ = true;
  }
  body(section.body, false);
}

void Verifier::one(const CopyRun& run) {
  expect(!cuda(), "a run is copied on a CPU alone");
  if (type_of_checked(run.from) != type_of_checked(run.to)) fail("a run is of one type");
  const bool streams = run.how == CopyRun::How::nontemporal;
  if (run.count < 1 || !is_power_of_two(run.lanes) || ((run.origin || run.carry || run.fetched > 0) && !streams) ||
      (streams && run.lanes * size_of(type_of(run.to)) > kLineBytes))
    fail(fmt::format("a run of {} by vectors of {}", run.count, run.lanes));
  for (const auto* side : {&run.from, &run.to}) {
    auto end = *side;
    access(end);
    end.index.front() = end.index.front() + Affine(run.count - 1);
    access(end);
  }
  if (run.origin) known(*run.origin);
  if (run.carry) {
    auto line = run.carry->line;
    line.index.front() = line.index.front() + Affine(kLineBytes / size_of(type_of_checked(line)) - 1);
    access(run.carry->line);
    access(line);
    if (array_of(line).space != Space::scratch ||
        std::find(tasks_.begin(), tasks_.end(), run.carry->along) == tasks_.end() ||
        run.carry->tiles > kernel_.extent(run.carry->along))
      fail(fmt::format("{} waits for no other task", print(kernel_, run.carry->line)));
  }
  read_life(run.from.array);
  written(run.to);
}

void Verifier::one(const Beside& beside) {
  if (!ahead_ || beside.bytes < 1) fail("nothing goes on beside what is stored");
}

void Verifier::one(const If& branch) {
  conditions(branch.when);
  auto parted = varies(branch.when);
  for (const auto& condition : branch.values) {
    value(condition);
    if (condition.type != DType::u8 || condition.lanes() != 1)
      fail(fmt::format("{} decides, and is no u8", print(kernel_, condition)));
    parted = std::max(parted, varies(condition));
  }
  part(parted);
  const auto mark = ranges_.mark();
  // What no value reaches is not looked at.
  const bool never = std::any_of(branch.when.begin(), branch.when.end(), [&](const Condition& condition) {
    return ranges_.never_below(condition.value, condition.below);
  });
  ranges_.assume(branch.when);
  if (!never) body(branch.then, false);
  ranges_.restore(mark);
  other_part();
  if (branch.when.size() == 1 && branch.values.empty()) ranges_.assume_not(branch.when.front());
  body(branch.otherwise, false);
  ranges_.restore(mark);
  join();
}

void Verifier::one(const Advance& advance) {
  expect(cuda(), "an array is advanced on a CPU");
  life_of(advance.array);
  const auto& array = kernel_.array(advance.array);
  if (array.space != Space::global) fail(fmt::format("{} is advanced, and is not of the caller", array.name));
  if (rounds_ > 0) fail(fmt::format("{} is advanced in a loop", array.name));
  known(advance.by);
  auto& moved = moved_[static_cast<std::size_t>(advance.array)];
  if (!moved) fail(fmt::format("{} is advanced after the end of the body in which it was before", array.name));
  *moved = *moved + advance.by;
}

void Verifier::one(const AdvanceByLanes& advance) {
  all_lanes("shuffles of a warp");
  if (advance.digits.empty() || advance.digits.size() > static_cast<std::size_t>(kWarp))
    fail(fmt::format("{} digits for the lanes of a warp", advance.digits.size()));
  const auto* first = ranges_.name(advance.digits.front());
  for (const auto var : advance.digits) {
    const auto* digit = ranges_.name(var);
    if (digit == nullptr || !digit->in_place || digit->of != first->of) fail("digits that are not of one number");
  }
  for (const auto& move : advance.moves) {
    one(move);
    for (const auto& term : move.by.terms) {
      if (std::find(advance.digits.begin(), advance.digits.end(), term.var) == advance.digits.end())
        fail(fmt::format("{} is no digit that a lane has", name(term.var)));
    }
  }
}

void Verifier::one(const Scatter& scatter) {
  value(scatter.place);
  value(scatter.value);
  const auto& array = array_of_checked({scatter.array, {}});
  if (scatter.place.type != DType::i64 || scatter.place.lanes() != 1)
    fail(fmt::format("{} is a place in {}, and no i64", print(kernel_, scatter.place), array.name));
  if (array.space != Space::global || !array.written) fail(fmt::format("{} takes no results", array.name));
  if (scatter.value.type != array.type || scatter.value.lanes() != 1)
    fail(fmt::format("a value of type {} is stored to {}", ricci::name(scatter.value.type), array.name));
}

void Verifier::one(const FetchRows& fetch) {
  expect(!cuda(), "rows ahead on a GPU");
  expect(rounds_ == 0, "rows ahead are of a task, and are named in a loop");
  if (array_of_checked(fetch.from).space != Space::global || fetch.rows.empty() || fetch.length < 1 ||
      fetch.tasks < 1 || fetch.in_row < fetch.tasks || fetch.early < 0 || fetch.rounds.empty() ||
      (fetch.rounds.size() > 1 && fetch.tasks > 1))
    fail(fmt::format("{} rows of {} are prefetched for {} of {} tasks", fetch.rows.size(), fetch.length, fetch.tasks,
                     fetch.in_row));
  known(fetch.from.index.front());
  fetches_ = true;
}

void Verifier::one(const FetchLines& fetch) {
  if (!fetches_ || fetch.lines < 1) fail(fmt::format("{} lines of no rows ahead", fetch.lines));
}

void Verifier::one(const CopyRow& copy) {
  expect(!cuda(), "a row is copied by vectors on a CPU alone");
  if (type_of_checked(copy.from) != type_of_checked(copy.to)) fail("a copied row is of one type");
  if (copy.lanes < 1 || copy.count < copy.lanes || copy.count % copy.lanes != 0)
    fail(fmt::format("a row of {} is copied by vectors of {}", copy.count, copy.lanes));
  for (const auto* side : {&copy.from, &copy.to}) {
    auto end = *side;
    access(end);
    end.index.front() = end.index.front() + Affine(copy.count - 1);
    access(end);
  }
  read_life(copy.from.array);
  written(copy.to);
}

void Verifier::one(const Store& store) {
  value(store.value);
  const auto lanes = store.value.lanes();
  expect(!store.to.lane || array_of(store.to).space == Space::registers, "a lane of a vector in memory is stored");
  expect(!store.to.block, "shared memory of another block is written");
  if (lanes != 1 && lanes != store.to.width())
    fail(fmt::format("{} lanes are stored to {}", lanes, print(kernel_, store.to)));
  if (store.value.type != type_of_checked(store.to))
    fail(fmt::format("a value of type {} is stored to {}", ricci::name(store.value.type), print(kernel_, store.to)));
  if (array_of(store.to).tf32 && array_of(store.to).space != Space::global && !is_tf32(store.value))
    unrounded(store.to);
  if (store.atomic) atomic(store);
  written(store.to, store.atomic);
  access(store.to);
  holds(store.to, varies(store.value));
}

void Verifier::atomic(const Store& store) {
  const auto& array = array_of(store.to);
  expect(cuda(), "an atomic addition on a CPU");
  if (array.space != Space::global || store.to.lanes != 1)
    fail(fmt::format("{} is no single element of the caller, to which is added", print(kernel_, store.to)));
  if (!has_atomic_addition(array.type)) fail(fmt::format("there is no atomic addition of {}", ricci::name(array.type)));
  if (reads(store.value, store.to.array)) fail(fmt::format("{} is read, and others add to it in no order", array.name));
}

void Verifier::one(const Transpose& transpose) {
  expect(!cuda(), "a transpose of registers on a GPU");
  read_life(transpose.array);
  const auto& array = kernel_.array(transpose.array);
  if (transpose.group != 1 && transpose.group * size_of(array.type) != kRegister)
    fail(fmt::format("{} is transposed by groups of {}, which are no words", array.name, transpose.group));
  if (array.space != Space::registers || array.shape.size() != 1 ||
      array.shape.front() * transpose.group > array.lanes || !is_power_of_two(array.shape.front()) || array.lanes < 2 ||
      transpose.used < 0 || transpose.used > array.shape.front())
    fail(fmt::format("{} is transposed, and has more vectors than lanes, or not a power of two", array.name));
}

void Verifier::one(const AsyncCopy& copy) {
  expect(cuda(), "an asynchronous copy on a CPU");
  const auto size = size_of(type_of_checked(copy.to));
  if (array_of(copy.to).space != Space::shared || array_of_checked(copy.from).space != Space::global)
    fail("an asynchronous copy goes from global to shared memory");
  if (type_of(copy.from) != type_of(copy.to)) fail("an asynchronous copy converts nothing");
  if (array_of(copy.to).tf32 && !array_of(copy.from).tf32) unrounded(copy.to);
  if ((copy.bytes != 4 && copy.bytes != 8 && copy.bytes != 16) || copy.bytes % size != 0)
    fail(fmt::format("an asynchronous copy of {} bytes in elements of {}", copy.bytes, size));
  conditions(copy.when);
  auto to = copy.to, from = copy.from;
  to.lanes = from.lanes = static_cast<int>(copy.bytes / size);
  access(to);
  const auto mark = ranges_.mark();
  ranges_.assume(copy.when);
  access(from);
  ranges_.restore(mark);
  // One element may be narrower than the copy asks of its addresses.
  aligned(to);
  aligned(from);
  auto& life = life_of(copy.to.array);
  written_to_shared(copy.to.array);
  if (life == Life::empty) life = Life::copying;
}

void Verifier::one(const Commit& commit) {
  expect(cuda(), "a group of copies on a CPU");
  if (!commit.products) return;
  whole_groups();
  for (auto& since : groups_since_) {
    if (since != kNoProduct) since = std::min(since + 1, kMostGroups);
  }
}

void Verifier::all_threads(const char* what) const {
  expect(cuda(), "a barrier or a wait on a CPU");
  if (thread_below_ == 0) fail(fmt::format("{} outside of the loop over threads", what));
  if (divergent_ > 0) fail(fmt::format("{} where not all threads of a block pass", what));
}

void Verifier::all_lanes(const char* what) const {
  expect(cuda(), "lanes of a warp on a CPU");
  if (thread_below_ == 0) fail(fmt::format("{} outside of the loop over threads", what));
  if (divergent_lanes_ > 0) fail(fmt::format("{} where not all lanes of a warp pass", what));
  whole_warps(what);
}

void Verifier::whole_warps(const char* what) const {
  if (kernel_.threads % kWarp != 0)
    fail(fmt::format("{} in a block of {} threads, which are no whole warps", what, kernel_.threads));
}

void Verifier::one(const Wait& wait) {
  all_threads("a wait");
  if (wait.groups < 0) fail("a wait for less than no groups");
  if (wait.sums >= 0) {
    whole_groups();
    if (auto& life = life_of(wait.sums); wait.groups == 0 && life == Life::multiplying) life = Life::ready;
    for (auto& since : groups_since_) {
      if (since > wait.groups) since = kNoProduct;
    }
    return;
  }
  for (auto& life : life_) {
    if (life == Life::copying && !arriving_[static_cast<std::size_t>(&life - life_.data())]) life = Life::written;
  }
}

void Verifier::one(const Barrier& barrier) {
  if (barrier.of == Barrier::Of::warp) return all_lanes("a barrier of a warp");
  all_threads("a barrier");
  all_expected();
  if (barrier.of == Barrier::Of::cluster) {
    if (cluster_ < 0) fail("a barrier of a cluster where there is none");
    if (divergent_blocks_ > 0) fail("a barrier of a cluster where not all of its blocks pass");
    meet_blocks();
  }
  for (std::size_t k = 0; k < life_.size(); ++k) {
    if (life_[k] == Life::fenced) life_[k] = Life::shown;
    if (kernel_.arrays[k].space == Space::shared && life_[k] == Life::written) life_[k] = Life::ready;
  }
}

void Verifier::one(const MatrixLoad& load) {
  all_threads("an instruction of a warp");
  whole_warps("an instruction of a warp");
  const auto& to = array_of_checked(load.to);
  const auto& from = array_of_checked(load.from);
  const auto count = load.fragments * to.shape.back(), size = size_of(to.type);
  if (to.space != Space::registers || to.lanes * size != kRegister || (count != 1 && count != 2 && count != 4) ||
      load.to.index.size() + 1 != to.shape.size())
    fail(fmt::format("{} is not 1, 2 or 4 registers of 32 bits, which matrices are loaded to", to.name));
  for (std::size_t k = 0; k < load.to.index.size(); ++k) {
    const bool last = k + 1 == load.to.index.size();
    register_index(to, load.to.index[k], to.shape[k] - (last ? load.fragments - 1 : 0));
  }
  expect(load.fragments == 1 || !load.to.index.empty(), "several fragments in one dimension");
  if (from.space != Space::shared || from.type != to.type || load.from.lanes * size != kWidest)
    fail(fmt::format("{} is no row of 16 bytes of such elements in shared memory", print(kernel_, load.from)));
  if (load.transposed && size != 2) fail("a matrix of elements that are not 16 bits wide is transposed");
  access(load.from);
  read_life(load.from.array);
  written(load.to);
}

void Verifier::one(const MmaCall& call) {
  all_threads("an instruction of a warp");
  whole_warps("an instruction of a warp");
  const auto* atom = find_atom(call.atom);
  if (!atom) fail(fmt::format("there is no atom {}", call.atom));
  fragment(call.a, atom->a, call.atom);
  fragment(call.b, atom->b, call.atom);
  fragment(call.d, atom->c, call.atom);
  for (const auto* operand : {&call.a, &call.b, &call.d}) read_life(operand->array);
}

void Verifier::fragment(const Access& access, const Fragment& of, const std::string& atom) {
  const auto& array = array_of_checked(access);
  if (array.space != Space::registers || array.shape.back() != of.registers() || array.lanes != of.per_register() ||
      access.index.size() + 1 != array.shape.size()) {
    fail(fmt::format("{} is no fragment of {} registers, which {} takes", array.name, of.registers(), atom));
  }
  if (const auto type = dtype_of(of.type); array.type != type)
    fail(
        fmt::format("{} is of type {}, and {} takes {}", array.name, ricci::name(array.type), atom, ricci::name(type)));
  for (std::size_t k = 0; k < access.index.size(); ++k) register_index(array, access.index[k], array.shape[k]);
}

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace ricci::kernel
