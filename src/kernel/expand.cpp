#include "kernel/expand.hpp"

#include <algorithm>

#include "kernel/build.hpp"
#include "kernel/complex_pairs.hpp"
#include "kernel/verify.hpp"

namespace ricci::kernel {

Access with(Access access, Var var, const Affine& by) {
  for (auto& index : access.index) index = index.with(var, by);
  for (auto* some : {&access.lane, &access.block, &access.since, &access.until}) {
    if (*some) *some = (*some)->with(var, by);
  }
  return access;
}

Value with(Value value, Var var, const Affine& by) {
  value.access = with(std::move(value.access), var, by);
  value.affine = value.affine.with(var, by);
  for (auto& operand : value.operands) operand = with(std::move(operand), var, by);
  return value;
}

std::vector<Condition> with(std::vector<Condition> when, Var var, const Affine& by) {
  for (auto& condition : when) condition.value = condition.value.with(var, by);
  return when;
}

std::vector<Let> with(std::vector<Let> quotients, Var var, const Affine& by) {
  for (auto& let : quotients) let.of = let.of.with(var, by);
  return quotients;
}

namespace {

const Let* remainder_of(const std::vector<Let>& quotients, Var digit) {
  const auto found = std::find_if(quotients.begin(), quotients.end(),
                                  [&](const Let& let) { return let.divisor == 1 && let.of.coefficient(digit) != 0; });
  return found == quotients.end() ? nullptr : &*found;
}

bool multiple(const Affine& value, Var besides, std::int64_t of) {
  return value.constant % of == 0 && std::all_of(value.terms.begin(), value.terms.end(), [&](const Term& term) {
           return term.var == besides || term.coefficient % of == 0;
         });
}

}  // namespace

Var neighbours_along(const std::vector<Let>& quotients, Var digit) {
  const auto* let = remainder_of(quotients, digit);
  return let != nullptr && let->of.coefficient(digit) == 1 ? let->var : digit;
}

std::int64_t step_along(const Affine& index, const std::vector<Let>& quotients, Var digit) {
  const auto* let = remainder_of(quotients, digit);
  return let != nullptr ? let->of.coefficient(digit) * index.coefficient(let->var) : index.coefficient(digit);
}

bool has_runs(const Affine& index, const std::vector<Let>& quotients, Var digit, std::int64_t n) {
  const auto along = neighbours_along(quotients, digit);
  if (along != digit) {
    const auto* let = remainder_of(quotients, digit);
    if (let->modulus % n != 0 || !multiple(let->of, digit, n)) return false;
  }
  return index.coefficient(along) == 1 && multiple(index, along, n);
}

bool hold_alike(const std::vector<Condition>& when, Var digit, std::int64_t n) {
  return std::all_of(when.begin(), when.end(), [&](const Condition& c) {
    const auto moved = c.value.coefficient(digit);
    return moved == 0 || (moved == 1 && multiple(c.value, digit, n) && c.below % n == 0);
  });
}

Body where(std::vector<Condition> when, Body then, Body otherwise) {
  if (then.empty() && otherwise.empty()) return {};
  const auto fails = [](const Condition& c) { return c.value.is_constant() && c.value.constant >= c.below; };
  if (std::any_of(when.begin(), when.end(), fails)) return otherwise;
  std::erase_if(when, [](const Condition& c) { return c.value.is_constant(); });
  if (when.empty()) return then;
  return {{If{std::move(when), std::move(then), std::move(otherwise)}}};
}

void made_by(Body& body, int origin) {
  for (auto& statement : body) {
    if (statement.origin < 0) statement.origin = origin;
    if (auto* loop = std::get_if<Loop>(&statement.node)) {
      made_by(loop->body, statement.origin);
    } else if (auto* sweep = std::get_if<Sweep>(&statement.node)) {
      for (auto& part : sweep->parts) made_by(part.body, statement.origin);
    } else if (auto* section = std::get_if<Section>(&statement.node)) {
      made_by(section->body, statement.origin);
    } else if (auto* branch = std::get_if<If>(&statement.node)) {
      made_by(branch->then, statement.origin);
      made_by(branch->otherwise, statement.origin);
    }
  }
}

Value identity_of(ir::OpCode op, DType type) {
  Value value;
  value.type = type;
  if (is_integer(type)) {
    value.bits = ir::identity_bits(op, type);
  } else {
    value.number = ir::identity(op, type);
  }
  return value;
}

namespace {

Value with_factors(Value value, const Value& a, const Value& b) {
  if (value.kind == Value::Kind::factor) return value.param == 0 ? a : b;
  for (auto& operand : value.operands) operand = with_factors(std::move(operand), a, b);
  return value;
}

int operations_in(const Value& value) {
  int count = value.kind == Value::Kind::op ? 1 : 0;
  for (const auto& operand : value.operands) count += operations_in(operand);
  return count;
}

}  // namespace

Value term_of(const Mma& mma, DType type, Value a, Value b) {
  if (mma.term) return with_factors(*mma.term, a, b);
  return apply(ir::OpCode::mul, type, {std::move(a), std::move(b)});
}

int operations_of(const Mma& mma) { return mma.term ? operations_in(*mma.term) + 1 : 1; }

std::int64_t product(const std::vector<Digit>& digits) {
  std::int64_t n = 1;
  for (const auto& digit : digits) n *= digit.extent;
  return n;
}

Affine position(const std::vector<Digit>& digits) {
  Affine sum;
  std::int64_t stride = 1;
  for (std::size_t k = digits.size(); k-- > 0;) {
    sum = sum + Affine::of(digits[k].var, stride);
    stride *= digits[k].extent;
  }
  return sum;
}

std::int64_t rounds_together(std::int64_t rounds, std::int64_t fewest, std::int64_t most) {
  auto best = std::min(rounds, most);
  for (auto times = best - 1; times >= fewest; --times) {
    if (rounds % times < rounds % best) best = times;
  }
  return best;
}

Kernel expand(Kernel kernel) {
  if (!has_tiles(kernel.body)) return kernel;
  kernel = expand_unverified(std::move(kernel));
  verify(kernel);
  return kernel;
}

Kernel expand_unverified(Kernel kernel) {
  if (!has_tiles(kernel.body)) return kernel;
  kernel = in_pairs(std::move(kernel));
  const Body body = std::move(kernel.body);
  kernel.body = kernel.target == Target::cpu ? expand_cpu(kernel, body) : expand_cuda(kernel, body);
  made_by(kernel.body, -1);  // what a loop has taken in is its directive's where nothing else is said
  return kernel;
}

}  // namespace ricci::kernel
