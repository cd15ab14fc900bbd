#include "frontend/probe.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "frontend/components.hpp"

namespace ricci::formula {
namespace {

using MultiIndex = std::vector<std::int64_t>;

/// Longest sum that is evaluated.
constexpr std::int64_t kLargestSum = 4096;
constexpr double kTolerance = 1e-8;

/// Thrown and caught within this file: a value that is not evaluated.
struct NotFollowed {};

class Probe {
 public:
  Probe(const ProgramGraph& program, ProbedValues& values) : program_(program), values_(values) {}

  /// All components that a statement on components gives; with `compare` also whether multi-indices that share one
  /// agree.
  std::optional<bool> run(const Statement& statement, bool compare) {
    const auto& target = program_.expr(statement.target);
    std::map<int, Scalar> results;
    bool same = true, finite = true;
    std::vector<int> indices;
    for (const auto& slot : target.slots) {
      if (slot.index() >= 0) indices.push_back(slot.index());
    }
    std::map<int, std::int64_t> at;
    for_each(indices, at, [&] {
      const auto place = component(target, at);
      if (place.sign == 0 && !compare) return;
      if (!compare && results.contains(place.number)) return;
      auto value = evaluate(statement.value, at);
      if (!std::isfinite(value.real()) || !std::isfinite(value.imag())) finite = false;
      if (place.sign == 0) {
        same = same && std::abs(value) <= kTolerance;
        return;
      }
      value *= static_cast<double>(place.sign);
      const auto [known, fresh] = results.try_emplace(place.number, value);
      const auto scale = std::max({1.0, std::abs(value), std::abs(known->second)});
      if (!fresh && !(std::abs(known->second - value) <= kTolerance * scale)) same = false;
    });
    if (compare) return finite ? std::optional<bool>(same) : std::nullopt;
    if (program_.expr(statement.value).kind == Kind::guard) throw NotFollowed{};  // some keep what they had
    known_.clear();
    for (const auto& [number, value] : results) {
      auto& place =
          values_.components.try_emplace({target.source, number}, input(target.source, {number})).first->second;
      switch (statement.op) {
        case Assign::set:
          place = value;
          break;
        case Assign::add:
          place += value;
          break;
        case Assign::subtract:
          place -= value;
          break;
        case Assign::multiply:
          place *= value;
          break;
        case Assign::divide:
          place /= value;
          break;
      }
    }
    return true;
  }

 private:
  template <class F>
  void for_each(const std::vector<int>& indices, std::map<int, std::int64_t>& at, const F& call) {
    std::int64_t count = 1;
    for (const int index : indices) {
      const auto extent = program_.extent(index);
      if (extent == kOpenExtent || (extent != 0 && count > kLargestSum / extent)) throw NotFollowed{};
      count *= extent;
      at[index] = 0;
    }
    if (count == 0) return;
    while (true) {
      call();
      std::size_t k = indices.size();
      while (k > 0) {
        auto& value = at[indices[k - 1]];
        if (++value < program_.extent(indices[k - 1])) break;
        value = 0;
        --k;
      }
      if (k == 0) return;
    }
  }

  static std::int64_t slot_value(const SlotValue& slot, const std::map<int, std::int64_t>& at) {
    auto value = slot.offset;
    for (const auto& term : slot.terms) value += term.coefficient * at.at(term.index);
    return value;
  }

  Component component(const Expr& access, const std::map<int, std::int64_t>& at) {
    MultiIndex multi_index;
    for (const auto& slot : access.slots) multi_index.push_back(slot_value(slot, at));
    const auto known = components_.find(access.source);
    const auto& components =
        known != components_.end()
            ? known->second
            : components_.try_emplace(access.source, program_.tensor(access.source), program_).first->second;
    return components.find(std::move(multi_index));
  }

  /// A pseudo-random number in [0.5, 1.5] that depends on the element alone.
  Scalar input(int tensor, const MultiIndex& place) const {
    std::uint64_t state = 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(tensor + 1);
    const auto next = [&](std::uint64_t mixed) {
      state = (state ^ mixed) * 0xbf58476d1ce4e5b9u;
      state = (state ^ state >> 27) * 0x94d049bb133111ebu;
      state ^= state >> 31;
      return 0.5 + static_cast<double>(state >> 11) * 0x1p-53;
    };
    for (const auto value : place) (void)next(static_cast<std::uint64_t>(value) + 1);
    const auto real = next(1);
    const auto type = tensor >= 0 ? program_.tensor(tensor).type : DType::f64;
    return {real, is_complex(type) ? next(2) : 0.0};
  }

  Scalar evaluate(ExprId id, std::map<int, std::int64_t>& at) {
    const auto& expr = program_.expr(id);
    if (expr.kind == Kind::number) return expr.value;
    std::pair<ExprId, MultiIndex> key{id, {}};
    for (const int index : expr.free) key.second.push_back(at.at(index));
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    const auto value = compute(expr, at);
    known_.emplace(std::move(key), value);
    return value;
  }

  Scalar compute(const Expr& expr, std::map<int, std::int64_t>& at) {
    switch (expr.kind) {
      case Kind::param:
        return input(-2 - expr.source, {});
      case Kind::index:
        if (expr.source == program_.grid) throw NotFollowed{};
        return static_cast<double>(at.at(expr.source));
      case Kind::access:
        return access(expr, at);
      case Kind::diagonal:
        return evaluate(expr.operands[0], at);
      case Kind::delta:
        return at.at(expr.over[0]) == at.at(expr.over[1]) ? 1 : 0;
      case Kind::guard:
        return evaluate(expr.operands[0], at) != Scalar(0) ? evaluate(expr.operands[1], at) : Scalar(0);
      case Kind::reduce:
        return reduction(expr, at);
      case Kind::determinant:
      case Kind::inverse:
        return matrix(expr, at);
      case Kind::op:
        return operation(expr, at);
      default:
        throw NotFollowed{};
    }
  }

  Scalar access(const Expr& expr, const std::map<int, std::int64_t>& at) {
    if (program_.tensor(expr.source).expanded()) {
      const auto place = component(expr, at);
      if (place.sign == 0) return 0;
      const auto value =
          values_.components.try_emplace({expr.source, place.number}, input(expr.source, {place.number})).first;
      return static_cast<double>(place.sign) * value->second;
    }
    if (program_.tensor(expr.source).role != TensorRole::input) values_.guessed = true;
    MultiIndex place;
    for (const auto& slot : expr.slots) {
      if (program_.grid >= 0 && slot.holds(program_.grid)) throw NotFollowed{};
      place.push_back(slot_value(slot, at));
    }
    const auto& declared = program_.tensor(expr.source);
    for (std::size_t k = 0; k < place.size() && declared.form.outside; ++k) {
      const auto values = program_.extent(declared.slots[k]);
      if (values == kOpenExtent) throw NotFollowed{};
      if (place[k] < 0 || place[k] >= values) return *declared.form.outside;
    }
    return input(expr.source, place);
  }

  Scalar reduction(const Expr& expr, std::map<int, std::int64_t>& at) {
    if (expr.op != OpCode::add && expr.op != OpCode::mul) throw NotFollowed{};
    if (std::find(expr.over.begin(), expr.over.end(), program_.grid) != expr.over.end()) throw NotFollowed{};
    Scalar total = expr.op == OpCode::add ? 0 : 1;
    for_each(expr.over, at, [&] {
      const auto term = evaluate(expr.operands[0], at);
      total = expr.op == OpCode::add ? total + term : total * term;
    });
    for (const int index : expr.over) at.erase(index);
    return total;
  }

  Scalar matrix(const Expr& expr, std::map<int, std::int64_t>& at) {
    auto there = at;
    const auto element = [&](std::int64_t row, std::int64_t column) {
      there[expr.over[0]] = row;
      there[expr.over[1]] = column;
      return evaluate(expr.operands[0], there);
    };
    const auto cofactor = [&](std::int64_t r, std::int64_t c) {
      return element((r + 1) % 3, (c + 1) % 3) * element((r + 2) % 3, (c + 2) % 3) -
             element((r + 1) % 3, (c + 2) % 3) * element((r + 2) % 3, (c + 1) % 3);
    };
    Scalar determinant = 0;
    for (std::int64_t c = 0; c < 3; ++c) determinant += element(0, c) * cofactor(0, c);
    if (expr.kind == Kind::determinant) return determinant;
    return cofactor(at.at(expr.over[1]), at.at(expr.over[0])) / determinant;
  }

  Scalar operation(const Expr& expr, std::map<int, std::int64_t>& at) {
    Scalar operand[3];
    for (std::size_t k = 0; k < expr.operands.size(); ++k) operand[k] = evaluate(expr.operands[k], at);
    const auto x = operand[0], y = operand[1];
    if (is_integer(expr.type) && expr.op == OpCode::div) throw NotFollowed{};
    const bool by_parts = !expr.operands.empty() && is_complex(program_.expr(expr.operands[0]).type);
    const bool follows = ir::is_arithmetic(expr.op) || expr.op == OpCode::conj || expr.op == OpCode::cast ||
                         expr.op == OpCode::real_part || expr.op == OpCode::imag_part;
    if (by_parts && !follows) throw NotFollowed{};
    switch (expr.op) {
      case OpCode::add:
        return x + y;
      case OpCode::sub:
        return x - y;
      case OpCode::mul:
        return x * y;
      case OpCode::div:
        return x / y;
      case OpCode::neg:
        return -x;
      case OpCode::conj:
        return std::conj(x);
      case OpCode::cast:
        return x;
      case OpCode::real_part:
        return x.real();
      case OpCode::imag_part:
        return x.imag();
      case OpCode::atan2:
        return std::atan2(x.real(), y.real());
      case OpCode::hypot:
        return std::hypot(x.real(), y.real());
      case OpCode::minimum:
        return std::min(x.real(), y.real());
      case OpCode::maximum:
        return std::max(x.real(), y.real());
      case OpCode::absolute:
        return std::abs(x.real());
      case OpCode::sign:
        return x.real() > 0 ? 1 : x.real() < 0 ? -1 : 0;
      case OpCode::sqrt:
        return std::sqrt(x.real());
      case OpCode::cbrt:
        return std::cbrt(x.real());
      case OpCode::rsqrt:
        return 1 / std::sqrt(x.real());
      case OpCode::exp:
        return std::exp(x.real());
      case OpCode::log:
        return std::log(x.real());
      case OpCode::sin:
        return std::sin(x.real());
      case OpCode::cos:
        return std::cos(x.real());
      case OpCode::tan:
        return std::tan(x.real());
      case OpCode::asin:
        return std::asin(x.real());
      case OpCode::acos:
        return std::acos(x.real());
      case OpCode::atan:
        return std::atan(x.real());
      case OpCode::sinh:
        return std::sinh(x.real());
      case OpCode::cosh:
        return std::cosh(x.real());
      case OpCode::tanh:
        return std::tanh(x.real());
      case OpCode::pow:
        return std::pow(x.real(), y.real());
      case OpCode::remainder:
        if (is_integer(expr.type)) throw NotFollowed{};
        return std::fmod(x.real(), y.real());
      case OpCode::equal:
        return x == y ? 1 : 0;
      case OpCode::not_equal:
        return x != y ? 1 : 0;
      case OpCode::less:
        return x.real() < y.real() ? 1 : 0;
      case OpCode::less_equal:
        return x.real() <= y.real() ? 1 : 0;
      case OpCode::select:
        return x != Scalar(0) ? y : operand[2];
      default:
        throw NotFollowed{};  // bits of random reals prove nothing
    }
  }

  const ProgramGraph& program_;
  ProbedValues& values_;
  std::map<int, Components> components_;  // by tensor
  std::map<std::pair<ExprId, MultiIndex>, Scalar> known_;
};

}  // namespace

Verdict probe_symmetry(ProgramGraph& program, const Statement& statement) {
  auto& values = program.probed;
  if (!values.followed) return Verdict::unknown;
  Probe probe(program, values);
  try {
    for (auto& done = values.statements; done < program.statements.size(); ++done) {
      const auto& earlier = program.statements[done];
      if (program.tensor(program.expr(earlier.target).source).expanded()) (void)probe.run(earlier, false);
    }
  } catch (const NotFollowed&) {
    values.followed = false;
    return Verdict::unknown;
  }
  try {
    const auto same = probe.run(statement, true);
    if (!same) return Verdict::unknown;
    if (*same) return Verdict::proven;
    return values.guessed ? Verdict::unknown : Verdict::disproven;
  } catch (const NotFollowed&) {
    return Verdict::unknown;
  }
}

}  // namespace ricci::formula
