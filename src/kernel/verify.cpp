#include "kernel/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/operation_types.hpp"
#include "kernel/print.hpp"
#include "kernel/ranges.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

constexpr int kWarp = 32, kMostThreads = 1024;
constexpr std::int64_t kMostShared = 227 * 1024, kMostBlocks = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t kWidest = 16, kRegister = 4;  // bytes
constexpr int kMostLanes = 64;

bool is_power_of_two(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

/// What has happened to an array, as far as statements in order tell.
enum class Life : std::uint8_t {
  undeclared,  ///< registers before their declaration
  empty,
  copying,  ///< asynchronous copies are not waited for
  written,  ///< shared: with no barrier since
  ready,
};

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel)
      : kernel_(kernel), ranges_(kernel), by_thread_(kernel.vars.size()), unrolled_(kernel.vars.size()) {}

  void run() {
    launch();
    for (std::size_t k = 0; k < kernel_.arrays.size(); ++k) array(static_cast<int>(k));
    tiles_ = has_tiles(kernel_.body);
    for (const auto& array : kernel_.arrays) {
      // Tile statements use registers as a whole, and nothing declares them.
      life_.push_back(array.space == Space::global                 ? Life::ready
                      : array.space == Space::registers && !tiles_ ? Life::undeclared
                                                                   : Life::empty);
    }
    body(kernel_.body, true);
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const { broken(kernel_, origin_, rule); }
  void expect(bool holds, const char* rule) const {
    if (!holds) fail(rule);
  }
  const Array& array_of(const Access& access) const { return kernel_.array(access.array); }
  DType type_of(const Access& access) const { return array_of(access).type; }
  bool cuda() const { return kernel_.target == Target::cuda; }

  // ---- the whole

  static bool has_tiles(const Body& body) {
    return std::any_of(body.begin(), body.end(), [](const Statement& statement) {
      const auto& node = statement.node;
      if (const auto* loop = std::get_if<Loop>(&node)) return has_tiles(loop->body);
      if (const auto* branch = std::get_if<If>(&node)) return has_tiles(branch->then) || has_tiles(branch->otherwise);
      return std::holds_alternative<Copy>(node) || std::holds_alternative<Mma>(node) ||
             std::holds_alternative<Flush>(node) || std::holds_alternative<Clear>(node);
    });
  }

  void launch() const {
    for (const auto& var : kernel_.vars) {
      if (var.extent < 1) fail(fmt::format("{} has an extent of {}", var.name, var.extent));
    }
    if (!cuda()) {
      if (kernel_.threads != 1) fail(fmt::format("{} threads on a CPU", kernel_.threads));
      return;
    }
    if (kernel_.threads < 1 || kernel_.threads > kMostThreads || kernel_.threads % kWarp != 0)
      fail(fmt::format("{} threads are no whole warps, or more than {}", kernel_.threads, kMostThreads));
    if (kernel_.tasks() > kMostBlocks) fail(fmt::format("{} blocks are more than a launch takes", kernel_.tasks()));
    if (const auto bytes = kernel_.bytes_of(Space::shared); bytes > kMostShared)
      fail(fmt::format("{} bytes of shared memory are more than {}", bytes, kMostShared));
  }

  void array(int number) {
    const auto& array = kernel_.array(number);
    origin_ = array.origin;
    const bool flat = array.space != Space::registers;
    if (array.shape.empty() || (flat && array.shape.size() != 1)) fail(array.name + " has no shape of its space");
    const bool global = array.space == Space::global;
    for (const auto extent : array.shape) {
      // A tensor of no elements is never read.
      if (extent < (global ? 0 : 1)) fail(fmt::format("{} has an extent of {}", array.name, extent));
    }
    if (flat && array.lanes != 1) fail(array.name + " holds vectors, and is no register array");
    if (!is_power_of_two(array.lanes) || array.lanes > kMostLanes)
      fail(fmt::format("{} holds vectors of {} lanes", array.name, array.lanes));
    if (array.written && !global) fail(array.name + " is a result, and not of the caller");
    if (array.space == Space::scratch && cuda()) fail(array.name + " is scratch memory, and a GPU has none");
    if (array.space == Space::shared && !cuda()) fail(array.name + " is shared memory, and a CPU has none");
    if (array.alignment < 0 || (array.alignment > 0 && !is_power_of_two(array.alignment)))
      fail(fmt::format("{} is aligned to {}", array.name, array.alignment));
  }

  // ---- statements

  void body(const Body& body, bool outermost) {
    const auto mark = ranges_.mark();
    std::vector<Var> names;
    std::vector<int> declared;
    for (const auto& statement : body) {
      origin_ = statement.origin;
      if (const auto* loop = std::get_if<Loop>(&statement.node); loop && loop->bind == Bind::task) {
        if (!outermost || body.size() != 1) fail("tasks are the outermost loops, with nothing beside them");
        this->loop(*loop, true);
        continue;
      }
      if (const auto* let = std::get_if<Let>(&statement.node)) {
        this->let(*let);
        names.push_back(let->var);
        continue;
      }
      if (const auto* declare = std::get_if<Declare>(&statement.node)) declared.push_back(declare->array);
      std::visit([&](const auto& node) { one(node); }, statement.node);
    }
    for (const auto var : names) ranges_.leave(var);
    for (const auto array : declared) life_[static_cast<std::size_t>(array)] = Life::undeclared;
    ranges_.restore(mark);
  }

  void enter(Var var) {
    if (var < 0 || static_cast<std::size_t>(var) >= kernel_.vars.size()) fail("a loop has no variable");
    if (!ranges_.enter(var, kernel_.extent(var)))
      fail(fmt::format("{} is bound inside of a loop over it", kernel_.vars[static_cast<std::size_t>(var)].name));
  }
  const std::string& name(Var var) const { return kernel_.vars[static_cast<std::size_t>(var)].name; }

  void loop(const Loop& loop, bool outermost) {
    enter(loop.var);
    if (loop.bind == Bind::task) tasks_.push_back(loop.var);
    if (loop.bind == Bind::thread) {
      if (!cuda()) fail("a loop over threads on a CPU");
      if (threads_ > 0) fail("a loop over threads inside of another one");
      threads_ = kernel_.extent(loop.var);
      if (threads_ != kernel_.threads)
        fail(fmt::format("a loop over {} threads in a block of {}", threads_, kernel_.threads));
    }
    by_thread_[static_cast<std::size_t>(loop.var)] = loop.bind == Bind::thread;
    unrolled_[static_cast<std::size_t>(loop.var)] = loop.bind == Bind::unroll;
    conditions(loop.when);
    const bool divides = diverges(loop.when);
    divergent_ += divides;
    const auto mark = ranges_.mark();
    ranges_.assume(loop.when);
    body(loop.body, outermost);
    ranges_.restore(mark);
    divergent_ -= divides;
    if (loop.bind == Bind::thread) threads_ = 0;
    if (loop.bind == Bind::task) tasks_.pop_back();
    ranges_.leave(loop.var);
  }
  void one(const Loop& loop) { this->loop(loop, false); }

  void let(const Let& let) {
    known(let.of);
    if (let.divisor < 1 || let.modulus < 0) fail(fmt::format("{} is divided by {}", name(let.var), let.divisor));
    if (!ranges_.never_below(let.of, 0)) fail(fmt::format("{} is a quotient of what may be negative", name(let.var)));
    const auto last = kernel_.extent(let.var) - 1;
    if (let.modulus > 0 ? let.modulus - 1 > last && !ranges_.never_above(let.of, let.divisor * (last + 1) - 1)
                        : !ranges_.never_above(let.of, let.divisor * (last + 1) - 1)) {
      fail(fmt::format("{} may be above {}", name(let.var), last));
    }
    enter(let.var);
    by_thread_[static_cast<std::size_t>(let.var)] = by_thread(let.of);
    unrolled_[static_cast<std::size_t>(let.var)] = false;
    ranges_.assume(let);
  }

  void one(const If& branch) {
    conditions(branch.when);
    const bool divides = diverges(branch.when);
    divergent_ += divides;
    const auto mark = ranges_.mark();
    // What no value reaches is not looked at.
    const bool never = std::any_of(branch.when.begin(), branch.when.end(), [&](const Condition& condition) {
      return ranges_.never_below(condition.value, condition.below);
    });
    ranges_.assume(branch.when);
    if (!never) body(branch.then, false);
    ranges_.restore(mark);
    if (branch.when.size() == 1) ranges_.assume_not(branch.when.front());
    body(branch.otherwise, false);
    ranges_.restore(mark);
    divergent_ -= divides;
  }
  void one(const Comment&) {}
  void one(const Let&) {}

  void one(const Declare& declare) {
    auto& life = life_of(declare.array);
    if (kernel_.array(declare.array).space != Space::registers) fail("a declaration of what is no register array");
    if (life != Life::undeclared) fail(fmt::format("{} is declared twice", kernel_.array(declare.array).name));
    life = Life::empty;
  }

  void one(const Store& store) {
    value(store.value);
    const auto lanes = store.value.lanes();
    if (lanes != 1 && lanes != store.to.lanes)
      fail(fmt::format("{} lanes are stored to {}", lanes, print(kernel_, store.to)));
    if (store.value.type != type_of_checked(store.to))
      fail(fmt::format("a value of type {} is stored to {}", ricci::name(store.value.type), print(kernel_, store.to)));
    written(store.to);
    access(store.to);
  }

  void one(const Transpose& transpose) {
    expect(!cuda(), "a transpose of registers on a GPU");
    read_life(transpose.array);
    const auto& array = kernel_.array(transpose.array);
    if (array.space != Space::registers || array.shape.size() != 1 || array.shape.front() != array.lanes ||
        array.lanes < 2)
      fail(fmt::format("{} is transposed, and has not as many vectors as lanes", array.name));
  }

  void one(const AsyncCopy& copy) {
    expect(cuda(), "an asynchronous copy on a CPU");
    const auto size = size_of(type_of_checked(copy.to));
    if (array_of(copy.to).space != Space::shared || array_of_checked(copy.from).space != Space::global)
      fail("an asynchronous copy goes from global to shared memory");
    if (type_of(copy.from) != type_of(copy.to)) fail("an asynchronous copy converts nothing");
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
    if (life == Life::empty) life = Life::copying;
  }
  void one(const Commit&) { expect(cuda(), "a group of copies on a CPU"); }

  void all_threads(const char* what) const {
    expect(cuda(), "a barrier or a wait on a CPU");
    if (threads_ == 0) fail(fmt::format("{} outside of the loop over threads", what));
    if (divergent_ > 0) fail(fmt::format("{} where not all threads of a block pass", what));
  }
  void one(const Wait& wait) {
    all_threads("a wait");
    if (wait.groups < 0) fail("a wait for less than no groups");
    for (auto& life : life_) {
      if (life == Life::copying) life = Life::written;
    }
  }
  void one(const Barrier&) {
    all_threads("a barrier");
    for (std::size_t k = 0; k < life_.size(); ++k) {
      if (kernel_.arrays[k].space == Space::shared && life_[k] == Life::written) life_[k] = Life::ready;
    }
  }

  void one(const MatrixLoad& load) {
    all_threads("an instruction of a warp");
    const auto& to = array_of_checked(load.to);
    const auto& from = array_of_checked(load.from);
    const auto count = to.shape.back(), size = size_of(to.type);
    if (to.space != Space::registers || to.lanes * size != kRegister || (count != 1 && count != 2 && count != 4) ||
        load.to.index.size() + 1 != to.shape.size())
      fail(fmt::format("{} is not 1, 2 or 4 registers of 32 bits, which matrices are loaded to", to.name));
    for (std::size_t k = 0; k < load.to.index.size(); ++k) register_index(to, load.to.index[k], to.shape[k]);
    if (from.space != Space::shared || from.type != to.type || load.from.lanes * size != kWidest)
      fail(fmt::format("{} is no row of 16 bytes of such elements in shared memory", print(kernel_, load.from)));
    if (load.transposed && size != 2) fail("a matrix of elements that are not 16 bits wide is transposed");
    access(load.from);
    read_life(load.from.array);
    written(load.to);
  }

  void one(const MmaCall& call) {
    all_threads("an instruction of a warp");
    const auto* atom = find_atom(call.atom);
    if (!atom) fail(fmt::format("there is no atom {}", call.atom));
    fragment(call.a, atom->a, call.atom);
    fragment(call.b, atom->b, call.atom);
    fragment(call.d, atom->c, call.atom);
    for (const auto* operand : {&call.a, &call.b, &call.d}) read_life(operand->array);
  }

  /// An operand of an atom: the registers of its fragment, all but the last dimension named.
  void fragment(const Access& access, const Fragment& of, const std::string& atom) {
    const auto& array = array_of_checked(access);
    if (array.space != Space::registers || array.shape.back() != of.registers() || array.lanes != of.per_register() ||
        access.index.size() + 1 != array.shape.size()) {
      fail(fmt::format("{} is no fragment of {} registers, which {} takes", array.name, of.registers(), atom));
    }
    if (const auto type = dtype_of(of.type); array.type != type)
      fail(fmt::format("{} is of type {}, and {} takes {}", array.name, ricci::name(array.type), atom,
                       ricci::name(type)));
    for (std::size_t k = 0; k < access.index.size(); ++k) register_index(array, access.index[k], array.shape[k]);
  }

  // ---- tile statements

  void enter(const std::vector<Digit>& digits) {
    for (const auto& digit : digits) {
      enter(digit.var);
      if (digit.extent != kernel_.extent(digit.var))
        fail(fmt::format("{} has {} values in a tile and {} of its own", name(digit.var), digit.extent,
                         kernel_.extent(digit.var)));
      by_thread_[static_cast<std::size_t>(digit.var)] = unrolled_[static_cast<std::size_t>(digit.var)] = false;
    }
  }
  void leave(const std::vector<Digit>& digits) {
    for (const auto& digit : digits) ranges_.leave(digit.var);
  }

  void one(const Copy& copy) {
    if (array_of_checked(copy.to).space == Space::global || array_of_checked(copy.from).space != Space::global)
      fail("a copy goes from the caller's memory to the kernel's own");
    enter(copy.digits);
    conditions(copy.when);
    access(copy.to);
    // Each element of the copy has a place of its own.
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;
    for (const auto& digit : copy.digits) {
      if (digit.extent > 1) steps.emplace_back(copy.to.index.front().coefficient(digit.var), digit.extent);
    }
    std::sort(steps.begin(), steps.end());
    std::int64_t reached = 0;
    for (const auto& [step, extent] : steps) {
      if (step <= reached) fail(fmt::format("a copy writes elements of {} twice", array_of(copy.to).name));
      reached += step * (extent - 1);
    }
    const auto mark = ranges_.mark();
    ranges_.assume(copy.when);
    access(copy.from);
    ranges_.restore(mark);
    leave(copy.digits);
    auto& life = life_of(copy.to.array);
    life = Life::ready;  // expand() puts what is needed between a copy and its readers
  }

  void one(const Clear& clear) {
    expect(kernel_.array(clear.array).space == Space::registers, "an accumulator that is no register array");
    life_of(clear.array) = Life::ready;
  }

  void one(const Mma& mma) {
    const auto& sum = kernel_.array(mma.accumulator);
    read_life(mma.accumulator);
    enter(mma.rows);
    enter(mma.columns);
    enter(mma.depth);
    const auto product = [](const std::vector<Digit>& digits) {
      std::int64_t n = 1;
      for (const auto& digit : digits) n *= digit.extent;
      return n;
    };
    if (!cuda()) {
      if (mma.atom != "fma") fail(fmt::format("there is no atom {} on a CPU", mma.atom));
      const auto last = mma.columns.empty() ? 1 : mma.columns.back().extent;
      const auto vectors = product(mma.columns) / last * ((last + sum.lanes - 1) / sum.lanes);
      if (sum.shape.size() != 2 || sum.shape[0] != product(mma.rows) || sum.shape[1] != vectors)
        fail(fmt::format("{} has not the {} x {} registers of its rows and columns", sum.name, product(mma.rows),
                         vectors));
    } else if (mma.atom != "fma") {
      const auto* atom = find_atom(mma.atom);
      if (!atom) fail(fmt::format("there is no atom {}", mma.atom));
      if (product(mma.depth) % atom->k != 0)
        fail(fmt::format("a depth of {} in atoms of {}", product(mma.depth), atom->k));
    }
    for (const auto* digits : {&mma.rows, &mma.columns}) {
      const auto& other = digits == &mma.rows ? mma.b : mma.a;
      for (const auto& digit : *digits) {
        if (digit.extent > 1 && other.index.front().coefficient(digit.var) != 0)
          fail(fmt::format("{} moves the operand of the other side", name(digit.var)));
      }
    }
    access(mma.a);
    access(mma.b);
    read_life(mma.a.array);
    read_life(mma.b.array);
    leave(mma.depth);
    leave(mma.columns);
    leave(mma.rows);
  }

  void one(const Flush& flush) {
    enter(flush.rows);
    enter(flush.columns);
    conditions(flush.when);
    const auto mark = ranges_.mark();
    ranges_.assume(flush.when);
    finished_ = flush.accumulator;
    read_life(flush.accumulator);
    value(flush.value);
    finished_ = -1;
    if (flush.value.type != type_of_checked(flush.to))
      fail(fmt::format("a value of type {} is stored to {}", ricci::name(flush.value.type), print(kernel_, flush.to)));
    written(flush.to);
    access(flush.to);
    ranges_.restore(mark);
    leave(flush.columns);
    leave(flush.rows);
  }

  // ---- accesses and values

  Life& life_of(int array) {
    if (array < 0 || static_cast<std::size_t>(array) >= kernel_.arrays.size()) fail("an access of no array");
    return life_[static_cast<std::size_t>(array)];
  }
  const Array& array_of_checked(const Access& access) {
    life_of(access.array);
    return array_of(access);
  }
  DType type_of_checked(const Access& access) { return array_of_checked(access).type; }

  void read_life(int number) {
    const auto life = life_of(number);
    const auto& array = kernel_.array(number);
    const auto rule = [&](const char* text) { fail(fmt::format("{} is read {}", array.name, text)); };
    if (life == Life::undeclared) rule("where it is not declared");
    if (life == Life::empty) rule("before anything is written to it");
    if (life == Life::copying) rule("before a wait for the copies to it");
    if (life == Life::written && array.space == Space::shared) rule("with no barrier after what is written to it");
  }

  /// What storing to an array changes.
  void written(const Access& access) {
    auto& life = life_of(access.array);
    const auto& array = array_of(access);
    if (life == Life::undeclared) fail(fmt::format("{} is written where it is not declared", array.name));
    if (array.space == Space::shared) {
      if (life == Life::empty) life = Life::written;
    } else {
      life = Life::ready;
    }
    if (array.space != Space::global) return;
    if (!array.written) fail(fmt::format("{} is written, and is an operand", array.name));
    for (const auto var : tasks_) {
      if (kernel_.extent(var) > 1 && access.index.front().coefficient(var) == 0)
        fail(fmt::format("tasks along {} write the same elements of {}", name(var), array.name));
    }
  }

  void known(const Affine& affine) const {
    if (!ranges_.knows(affine)) fail(fmt::format("{} names what is not known there", print(kernel_, affine)));
  }
  void conditions(const std::vector<Condition>& when) const {
    for (const auto& condition : when) known(condition.value);
  }
  bool by_thread(const Affine& affine) const {
    return std::any_of(affine.terms.begin(), affine.terms.end(),
                       [&](const Term& term) { return by_thread_[static_cast<std::size_t>(term.var)]; });
  }
  bool diverges(const std::vector<Condition>& when) const {
    return std::any_of(when.begin(), when.end(),
                       [&](const Condition& condition) { return by_thread(condition.value); });
  }

  void register_index(const Array& array, const Affine& index, std::int64_t extent) const {
    known(index);
    for (const auto& term : index.terms) {
      if (!unrolled_[static_cast<std::size_t>(term.var)])
        fail(fmt::format("{} is indexed by {}, which is no literal when loops are unrolled", array.name,
                         name(term.var)));
    }
    if (!ranges_.never_below(index, 0) || !ranges_.never_above(index, extent - 1))
      fail(fmt::format("register {} of {} is outside of its {}", print(kernel_, index), array.name, extent));
  }

  void access(const Access& access) {
    const auto& array = array_of_checked(access);
    if (access.lanes < 1 || !is_power_of_two(access.lanes) || access.lanes > kMostLanes || access.count < 0 ||
        access.count >= std::max(access.lanes, 2))
      fail(fmt::format("{} has {} lanes, of which {} exist", print(kernel_, access), access.lanes, access.count));
    if (array.space == Space::registers) {
      if (access.index.size() != array.shape.size() || access.lanes != array.lanes || access.count != 0)
        fail(fmt::format("{} is no register of {}", print(kernel_, access), array.name));
      for (std::size_t k = 0; k < access.index.size(); ++k) register_index(array, access.index[k], array.shape[k]);
      return;
    }
    if (access.index.size() != 1) fail(fmt::format("{} has not one offset", print(kernel_, access)));
    const auto& offset = access.index.front();
    known(offset);
    const auto width = access.count > 0 ? access.count : access.lanes;
    const auto last = array.shape.front() - width;
    if (!ranges_.never_above(offset, last)) {
      fail(fmt::format("{} may reach element {} of {}", print(kernel_, access), ranges_.largest(offset) + width - 1,
                       array.shape.front()));
    }
    if (!ranges_.never_below(offset, array.first)) {
      fail(fmt::format("{} may reach element {}, before the first one, {}", print(kernel_, access),
                       -ranges_.largest(-1 * offset), array.first));
    }
    if (cuda() && access.lanes > 1) aligned(access);
  }

  /// Wide accesses of a GPU: of up to 16 bytes, at a multiple of their size.
  void aligned(const Access& access) const {
    const auto& array = array_of(access);
    const auto bytes = access.lanes * size_of(array.type);
    const auto& offset = access.index.front();
    bool fits = bytes <= kWidest && is_power_of_two(bytes) && offset.constant % access.lanes == 0;
    for (const auto& term : offset.terms) fits = fits && term.coefficient % access.lanes == 0;
    const auto promised = std::max<std::int64_t>(array.alignment, size_of(array.type));
    if (!fits || (access.lanes > 1 && promised % bytes != 0))
      fail(fmt::format("{} of {} bytes is not aligned", print(kernel_, access), bytes));
  }

  void value(const Value& value) {
    for (const auto& operand : value.operands) this->value(operand);
    const auto lanes = value.lanes();
    switch (value.kind) {
      case Value::Kind::load:
        if (value.type != type_of_checked(value.access))
          fail(fmt::format("{} is read as {}", print(kernel_, value.access), ricci::name(value.type)));
        if (value.access.array == finished_) return;
        access(value.access);
        read_life(value.access.array);
        return;
      case Value::Kind::param:
        expect(value.param >= 0 && static_cast<std::size_t>(value.param) < kernel_.params.size() &&
                   kernel_.params[static_cast<std::size_t>(value.param)].type == value.type,
               "a parameter that there is not, or of another type");
        return;
      case Value::Kind::constant:
        return;
      case Value::Kind::index:
        known(value.affine);
        return;
      case Value::Kind::lane:
        lane(value);
        return;
      case Value::Kind::tf32:
        expect(cuda() && value.operands.size() == 1 && value.type == DType::f32 &&
                   value.operands.front().type == DType::f32 && value.operands.front().lanes() == 1,
               "what is no f32 is rounded to tf32, or not on a GPU");
        return;
      case Value::Kind::pack:
        expect(cuda() && !value.operands.empty(), "a vector is put together of lanes on a GPU alone");
        for (const auto& operand : value.operands)
          expect(operand.type == value.type && operand.lanes() == 1, "a vector of lanes of another type");
        return;
      case Value::Kind::times_i:
      case Value::Kind::conj_pairs:
        expect(!cuda() && lanes % 2 == 0 && is_real(value.type), "no pairs of real numbers");
        return;
      case Value::Kind::op:
        break;
    }
    if (static_cast<int>(value.operands.size()) != ir::operand_count(value.op))
      fail(fmt::format("{} of {} operands", ir::name_of(value.op), value.operands.size()));
    for (const auto& operand : value.operands) {
      if (operand.lanes() != 1 && operand.lanes() != lanes)
        fail(fmt::format("{} of {} and {} lanes", ir::name_of(value.op), operand.lanes(), lanes));
    }
    DType operands[3] = {};
    for (std::size_t k = 0; k < value.operands.size(); ++k) operands[k] = value.operands[k].type;
    if (const char* rule = ir::broken_type_rule(value.op, value.type, operands))
      fail(fmt::format("{} breaks the rule \"{}\"", print(kernel_, value), rule));
  }

  void lane(const Value& value) {
    expect(value.operands.size() == 1 && value.operands.front().type == value.type, "a lane of no vector of its type");
    known(value.affine);
    for (const auto& term : value.affine.terms)
      expect(unrolled_[static_cast<std::size_t>(term.var)],
             "a lane whose number is no literal when loops are unrolled");
    const auto lanes = value.operands.front().lanes();
    if (!ranges_.never_below(value.affine, 0) || !ranges_.never_above(value.affine, lanes - 1))
      fail(fmt::format("lane {} of {}", print(kernel_, value.affine), lanes));
  }

  const Kernel& kernel_;
  Ranges ranges_;
  std::vector<bool> by_thread_, unrolled_;  // per variable in scope
  std::vector<Life> life_;                  // per array
  std::vector<Var> tasks_;
  std::int64_t threads_ = 0;  // of the loop over them
  int divergent_ = 0;         // conditions around that depend on the thread
  int finished_ = -1;         // the accumulator that a Flush stands for
  int origin_ = -1;
  bool tiles_ = false;
};

}  // namespace

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace ricci::kernel
