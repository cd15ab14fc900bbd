// Rules of accesses and values.
#include <fmt/format.h>

#include <algorithm>

#include "ir/operation_types.hpp"
#include "kernel/parameter.hpp"
#include "kernel/print.hpp"
#include "kernel/verifier.hpp"

namespace ricci::kernel {

Life& Verifier::life_of(int array) {
  if (array < 0 || static_cast<std::size_t>(array) >= kernel_.arrays.size()) fail("an access of no array");
  return life_[static_cast<std::size_t>(array)];
}

const Array& Verifier::array_of_checked(const Access& access) {
  life_of(access.array);
  return array_of(access);
}

void Verifier::read_life(int number) {
  const auto life = life_of(number);
  const auto& array = kernel_.array(number);
  const auto rule = [&](const char* text) { fail(fmt::format("{} is read {}", array.name, text)); };
  not_held(number);
  if (life == Life::undeclared) rule("where it is not declared");
  if (life == Life::empty) rule("before anything is written to it");
  if (life == Life::copying) rule("before a wait for the copies to it");
  if ((life == Life::written && array.space == Space::shared) || life == Life::fenced)
    rule("with no barrier after what is written to it");
  if (life == Life::multiplying) rule("while products to it are under way: a wait is missing");
}

void Verifier::written(const Access& access, bool adds) {
  auto& life = life_of(access.array);
  const auto& array = array_of(access);
  if (life == Life::undeclared) fail(fmt::format("{} is written where it is not declared", array.name));
  not_held(access.array);
  if (life == Life::multiplying)
    fail(fmt::format("{} is written while products to it are under way: a wait is missing", array.name));
  if (array.space == Space::shared) {
    written_to_shared(access.array);
    if (life == Life::empty) life = Life::written;
  } else {
    life = Life::ready;
    unfenced_[static_cast<std::size_t>(access.array)] = array.space == Space::registers;
  }
  if (array.space != Space::global) return;
  if (!array.written) fail(fmt::format("{} is written, and is an operand", array.name));
  for (const auto var : adds ? std::vector<Var>{} : tasks_) {
    const auto moved = tasks_of(offset(access));
    const bool moves = std::find(moved.begin(), moved.end(), var) != moved.end();
    const bool several = kernel_.extent(var) > 1 && !ranges_.never_above(Affine::of(var), 0);
    if (several && !moves && !ranges_.depends(offset(access), var))
      fail(fmt::format("tasks along {} write the same elements of {}", name(var), array.name));
  }
}

void Verifier::written_to_shared(int array) {
  const auto place = static_cast<std::size_t>(array);
  if (read_by_others_[place])
    fail(fmt::format("{} is written while other blocks may read it: a barrier of the cluster is missing",
                     kernel_.array(array).name));
  met_[place] = false;
}

void Verifier::known(const Affine& affine) const {
  if (!ranges_.knows(affine)) fail(fmt::format("{} names what is not known there", print(kernel_, affine)));
}

void Verifier::conditions(const std::vector<Condition>& when) const {
  for (const auto& condition : when) known(condition.value);
}

Varies Verifier::varies(const Affine& affine) const {
  auto most = Varies::never;
  for (const auto& term : affine.terms) most = std::max(most, varies_[static_cast<std::size_t>(term.var)]);
  return most;
}

Varies Verifier::varies(const std::vector<Condition>& when) const {
  auto most = Varies::never;
  for (const auto& condition : when) most = std::max(most, varies(condition.value));
  return most;
}

void Verifier::register_index(const Array& array, const Affine& index, std::int64_t extent) const {
  known(index);
  for (const auto& term : index.terms) {
    if (!unrolled_[static_cast<std::size_t>(term.var)])
      fail(fmt::format("{} is indexed by {}, which is no literal when loops are unrolled", array.name, name(term.var)));
  }
  if (!ranges_.never_below(index, 0) || !ranges_.never_above(index, extent - 1))
    fail(fmt::format("register {} of {} is outside of its {}", print(kernel_, index), array.name, extent));
}

void Verifier::access(const Access& access) {
  const auto& array = array_of_checked(access);
  if (access.lanes < 1 || !is_power_of_two(access.lanes) || access.lanes > kMostLanes || access.count < 0 ||
      access.count >= std::max(access.lanes, 2))
    fail(fmt::format("{} has {} lanes, of which {} exist", print(kernel_, access), access.lanes, access.count));
  if (access.lane) lane(access);
  if (access.block) read_of_block(access);
  const bool some = access.since || access.until;
  if (some && (cuda() || array.space == Space::registers || access.lanes < 2 || access.count != 0 || access.lane))
    fail(fmt::format("{} has some lanes of no vector in memory", print(kernel_, access)));
  if (array.space == Space::registers) return register_access(access);
  if (access.index.size() != 1) fail(fmt::format("{} has not one offset", print(kernel_, access)));
  known(access.index.front());
  const auto offset = this->offset(access);
  if (some) return some_lanes(access, offset);
  const auto width = access.count > 0 ? access.count : access.lanes;
  // A swizzle mixes elements of a whole group.
  const auto group = array.swizzle.group();
  const auto last = array.shape.front() / group * group - width;
  if (!ranges_.never_above(offset, last)) {
    fail(fmt::format("{} may reach element {} of {}", print(kernel_, access), ranges_.largest(offset) + width - 1,
                     array.shape.front()));
  }
  if (!ranges_.never_below(offset, array.first)) {
    fail(fmt::format("{} may reach element {}, before the first one, {}", print(kernel_, access),
                     -ranges_.largest(-1 * offset), array.first));
  }
  if (access.whole && (!cuda() || access.lanes > 1 || size_of(array.type) != kWidest))
    fail(fmt::format("{} is no single element of {} bytes", print(kernel_, access), kWidest));
  if (cuda() && (access.lanes > 1 || access.whole)) aligned(access);
}

void Verifier::some_lanes(const Access& access, const Affine& offset) const {
  const auto& array = array_of(access);
  const auto since = access.since.value_or(Affine(0)), until = access.until.value_or(Affine(access.lanes));
  known(since);
  known(until);
  if (const auto end = offset + until; !ranges_.never_above(end, array.shape.front()))
    fail(fmt::format("{} may reach element {} of {}", print(kernel_, access), ranges_.largest(end) - 1,
                     array.shape.front()));
  if (const auto first = offset + since; !ranges_.never_below(first, array.first))
    fail(fmt::format("{} may reach element {}, before the first one, {}", print(kernel_, access),
                     -ranges_.largest(-1 * first), array.first));
}

void Verifier::register_access(const Access& access) const {
  const auto& array = array_of(access);
  // Neighbours along the last dimension make a vector on a CPU.
  const bool row = !cuda() && array.lanes == 1 && access.lanes > 1 && !array.shape.empty();
  if (access.index.size() != array.shape.size() || (access.lanes != array.lanes && !row) || access.count != 0 ||
      access.whole)
    fail(fmt::format("{} is no register of {}", print(kernel_, access), array.name));
  for (std::size_t k = 0; k < access.index.size(); ++k) {
    const auto extent = array.shape[k];
    register_index(array, access.index[k], row && k + 1 == array.shape.size() ? extent - access.lanes + 1 : extent);
  }
}

Affine Verifier::offset(const Access& access) const {
  const auto& moved = moved_[static_cast<std::size_t>(access.array)];
  if (!moved) fail(fmt::format("{} is accessed after the body in which it is advanced", array_of(access).name));
  return access.index.front() + *moved;
}

void Verifier::aligned(const Access& access) const {
  const auto& array = array_of(access);
  const auto bytes = access.lanes * size_of(array.type);
  // Compilers make several accesses of a wider one; banks are counted for single ones.
  const bool narrow = bytes <= kWidest || array.space == Space::global;
  const bool fits = narrow && is_power_of_two(bytes) && ranges_.is_multiple(offset(access), access.lanes) &&
                    (array.swizzle.mask == 0 || access.lanes <= 1 << array.swizzle.unit);
  const auto promised = std::max<std::int64_t>(array.alignment, access.whole ? 0 : size_of(array.type));
  if (!fits || ((access.lanes > 1 || access.whole) && promised % bytes != 0))
    fail(fmt::format("{} of {} bytes is not aligned", print(kernel_, access), bytes));
}

void Verifier::value(const Value& value) {
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
    case Value::Kind::factor:
      expect(term_of_ == value.type && (value.param == 0 || value.param == 1), "an element of no product's operand");
      return;
    case Value::Kind::constant:
      return;
    case Value::Kind::index:
      known(value.affine);
      return;
    case Value::Kind::pack:
      expect(!value.operands.empty(), "a vector of no lanes");
      for (const auto& operand : value.operands) {
        const bool two = !cuda() && value.operands.size() == 2 && operand.lanes() == value.operands.front().lanes();
        expect(operand.type == value.type && (operand.lanes() == 1 || two), "a vector of lanes of another type");
      }
      return;
    case Value::Kind::part:
      expect(!cuda() && value.operands.size() == 1 && value.operands.front().type == value.type &&
                 value.affine.is_constant() && value.affine.constant >= 0 &&
                 value.affine.constant + lanes <= value.operands.front().lanes(),
             "part of no vector");
      return;
    case Value::Kind::shuffle:
      all_lanes("a shuffle");
      expect(value.operands.size() == 1 && value.operands.front().type == value.type && lanes == 1,
             "a shuffle of no single value of its type");
      known(value.affine);
      if (!ranges_.never_below(value.affine, 0) || !ranges_.never_above(value.affine, kWarp - 1))
        fail(fmt::format("lane {} of a warp", print(kernel_, value.affine)));
      return;
    case Value::Kind::power_of_two:
      expect(cuda() && value.operands.size() == 1 && value.operands.front().lanes() == 1 && value.type == DType::f32 &&
                 value.operands.front().type == DType::f32,
             "a power of two of no single f32 on a GPU");
      return;
    case Value::Kind::shuffle_up:
    case Value::Kind::ballot:
      exchange(value);
      return;
    case Value::Kind::prefixes:
    case Value::Kind::shifted:
      expect(!cuda() && lanes > 1 && !is_complex(value.type) && value.operands.front().type == value.type,
             "the lanes of no vector of a CPU");
      if (value.operands.size() != (value.kind == Value::Kind::shifted ? 2U : 1U) ||
          value.operands.back().type != value.type)
        fail(fmt::format("{} has other operands", print(kernel_, value)));
      return;
    case Value::Kind::times_i:
    case Value::Kind::conj_pairs:
    case Value::Kind::real_pairs:
    case Value::Kind::imag_pairs:
      expect(!cuda() && lanes % 2 == 0 && is_real(value.type), "no pairs of real numbers");
      return;
    case Value::Kind::interleave:
      expect(!cuda() && value.operands.size() == 2 && value.operands.front().lanes() == value.operands.back().lanes() &&
                 value.operands.front().type == value.type && value.operands.back().type == value.type,
             "the lanes of no two vectors of a CPU");
      return;
    case Value::Kind::dot:
      dot(value);
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

void Verifier::dot(const Value& value) const {
  expect(!cuda() && value.operands.size() == 3 && value.lanes() > 1 && value.operands.front().type == value.type,
         "sums of products of no vectors of a CPU");
  const auto &a = value.operands[1], &b = value.operands[2];
  const auto* types = dot_types(a.type, b.type);
  if (types == nullptr || types->sum != value.type || a.lanes() != types->group ||
      b.lanes() != a.lanes() * value.lanes())
    fail(fmt::format("no instruction sums products of {} {} by {} {} in {} {}", a.lanes(), ricci::name(a.type),
                     b.lanes(), ricci::name(b.type), value.lanes(), ricci::name(value.type)));
}

void Verifier::parameter(const Let& let) {
  value(*let.value);
  const auto bounds = bounds_of_parameters(*let.value);
  expect(let.of == Affine() && let.divisor == 1 && let.modulus == 0 && let.most < 0 && bounds,
         "a name that is of no parameters, or not of these alone");
  if (bounds->first < 0 || bounds->last >= kernel_.extent(let.var))
    fail(fmt::format("{} is outside of its {} values, as a parameter may be", name(let.var), kernel_.extent(let.var)));
  enter(let.var, let.of);
}

void Verifier::lane(const Access& access) const {
  const auto& array = array_of(access);
  const bool whole = array.space == Space::registers ? access.lanes == array.lanes : cuda() && !access.whole;
  if (!whole || access.lanes < 2 || access.count != 0)
    fail(fmt::format("{} is a lane of no vector", print(kernel_, access)));
  known(*access.lane);
  for (const auto& term : access.lane->terms)
    expect(unrolled_[static_cast<std::size_t>(term.var)], "a lane whose number is no literal when loops are unrolled");
  if (!ranges_.never_below(*access.lane, 0) || !ranges_.never_above(*access.lane, access.lanes - 1))
    fail(fmt::format("lane {} of {}", print(kernel_, *access.lane), access.lanes));
}

void Verifier::one(const Declare& declare) {
  auto& life = life_of(declare.array);
  if (kernel_.array(declare.array).space != Space::registers) fail("a declaration of what is no register array");
  // Registers of a tree with tile statements live from the start, beside those of what is native already.
  const bool begins = life == Life::undeclared || (tiles_ && life == Life::empty);
  if (!begins) fail(fmt::format("{} is declared twice", kernel_.array(declare.array).name));
  life = declare.zeros ? Life::ready : Life::empty;
  stack_ += stack_bytes(kernel_.array(declare.array));
  if (!cuda()) on_stack(kernel_.array(declare.array), stack_);
  registers_[static_cast<std::size_t>(declare.array)] = Varies::never;
}

void Verifier::one(const Define& define) {
  one(Declare{define.array});
  const auto& array = kernel_.array(define.array);
  if (!array.shape.empty()) fail(fmt::format("{} of several registers begins with a value", array.name));
  one(Store{{define.array, {}, array.lanes}, define.value});
}

}  // namespace ricci::kernel
