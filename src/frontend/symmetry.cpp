#include "frontend/symmetry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "frontend/components.hpp"
#include "frontend/probe.hpp"
#include "ir/own_stack.hpp"
#include "ricci/error.hpp"
#include "ricci/log.hpp"

namespace ricci::formula {
namespace {

/// A linear combination of products: sorted factors, by the number of their text, and their coefficient.
using Product = std::vector<int>;
using Form = std::map<Product, Scalar>;

void add_to(Form& sum, const Product& product, Scalar coefficient) {
  auto& entry = sum[product];
  entry += coefficient;
  if (entry == Scalar(0)) sum.erase(product);
}

std::string text_of(const Form& form) {
  std::string text;
  for (const auto& [product, coefficient] : form) {
    text += fmt::format("[{}{:+}i {}]", coefficient.real(), coefficient.imag(), fmt::join(product, "*"));
  }
  return text;
}

/// Thrown within this file: a form would be too long to compare.
struct TooLong {};

/// Normal form of expressions under the laws of sums and products, symmetric slots and renaming of summed indices. What
/// is neither a sum nor a product is a text, and equal texts have one number: long products and deep nests stay short.
class Canonical {
 public:
  explicit Canonical(const ProgramGraph& program) : program_(program) {}

  Form form(ExprId id, std::map<int, std::string>& names) {
    constexpr int kMostSteps = 100000;  // what is shared is written out
    if (++steps_ > kMostSteps) throw TooLong{};
    const auto& expr = program_.expr(id);
    switch (expr.kind) {
      case Kind::number:
        return expr.value == Scalar(0) ? Form{} : Form{{{}, expr.value}};
      case Kind::access:
        return access(expr, names);
      case Kind::diagonal:
        return form(expr.operands[0], names);
      case Kind::reduce:
        if (expr.op == OpCode::add) return sum(expr, names);
        break;
      case Kind::op:
        if (const auto made = arithmetic(expr, names)) return *made;
        break;
      default:
        break;
    }
    return opaque(expr, names);
  }

 private:
  std::optional<Form> arithmetic(const Expr& expr, std::map<int, std::string>& names) {
    const auto scaled = [](const Form& form, Scalar factor) {
      Form made;
      for (const auto& [product, coefficient] : form) made[product] = coefficient * factor;
      return made;
    };
    switch (expr.op) {
      case OpCode::add:
      case OpCode::sub: {
        auto made = form(expr.operands[0], names);
        for (const auto& [product, coefficient] : form(expr.operands[1], names)) {
          add_to(made, product, expr.op == OpCode::add ? coefficient : -coefficient);
        }
        return made;
      }
      case OpCode::neg:
        return scaled(form(expr.operands[0], names), -1);
      case OpCode::mul: {
        const auto x = form(expr.operands[0], names), y = form(expr.operands[1], names);
        if (x.empty() || y.empty()) return Form{};
        if (x.size() == 1 && x.begin()->first.empty()) return scaled(y, x.begin()->second);
        if (y.size() == 1 && y.begin()->first.empty()) return scaled(x, y.begin()->second);
        return multiplied(x, y);
      }
      case OpCode::div: {
        const auto x = form(expr.operands[0], names), y = form(expr.operands[1], names);
        if (y.size() == 1 && y.begin()->first.empty()) return scaled(x, Scalar(1) / y.begin()->second);
        return x.empty() ? Form{} : multiplied(x, Form{{{number_of("1/(" + text_of(y) + ")")}, 1}});
      }
      default:
        return {};
    }
  }

  /// Factors that are sums stay together.
  Form multiplied(const Form& x, const Form& y) {
    const auto as_product = [this](const Form& factor) {
      return factor.size() == 1 ? *factor.begin()
                                : std::pair<const Product, Scalar>{{number_of("(" + text_of(factor) + ")")}, 1};
    };
    const auto a = as_product(x), b = as_product(y);
    Product product(a.first.size() + b.first.size());
    std::merge(a.first.begin(), a.first.end(), b.first.begin(), b.first.end(), product.begin());
    return {{std::move(product), a.second * b.second}};
  }

  Form access(const Expr& expr, const std::map<int, std::string>& names) {
    const auto& tensor = program_.tensor(expr.source);
    std::vector<std::string> slots;
    for (const auto& slot : expr.slots) {
      std::vector<std::string> terms;
      for (const auto& [index, coefficient] : slot.terms) {
        terms.push_back(
            fmt::format("{}{}", coefficient == 1 ? "" : fmt::format("{}*", coefficient), name_of(index, names)));
      }
      std::sort(terms.begin(), terms.end());  // whatever the indices are called
      slots.push_back(terms.empty() ? fmt::format("{}", slot.offset)
                                    : fmt::format("{}{:+}", fmt::join(terms, "+"), slot.offset));
    }
    double sign = 1;
    for (const auto& symmetry : tensor.form.symmetry.list) {
      for (std::size_t k = 1; k < symmetry.slots.size(); ++k) {
        for (std::size_t m = k; m > 0; --m) {
          auto& high = slots[static_cast<std::size_t>(symmetry.slots[m])];
          auto& low = slots[static_cast<std::size_t>(symmetry.slots[m - 1])];
          if (high >= low) break;
          std::swap(high, low);
          if (symmetry.antisymmetric) sign = -sign;
        }
      }
    }
    return {{{number_of(fmt::format("{}({})", tensor.name, fmt::join(slots, ",")))}, sign}};
  }

  /// The naming of the summed indices that gives the least text.
  Form sum(const Expr& expr, std::map<int, std::string>& names) {
    auto order = expr.over;
    if (order.size() > 4) return opaque(expr, names);
    std::optional<std::pair<std::string, Form>> best;
    ++depth_;
    std::sort(order.begin(), order.end());
    do {
      for (std::size_t k = 0; k < order.size(); ++k) {
        names[order[k]] = fmt::format("${}.{}:{}", depth_, k, program_.extent(order[k]));
      }
      auto inner = form(expr.operands[0], names);
      auto text = text_of(inner);
      if (!best || text < best->first) best = {std::move(text), std::move(inner)};
    } while (std::next_permutation(order.begin(), order.end()));
    for (const int index : order) names.erase(index);
    --depth_;
    Form made;
    for (const auto& [product, coefficient] : best->second) {
      add_to(made, {number_of(fmt::format("sum{}({})", order.size(), fmt::join(product, "*")))}, coefficient);
    }
    return made;
  }

  Form opaque(const Expr& expr, std::map<int, std::string>& names) {
    std::string text = fmt::format("{}.{}.{}.{}", static_cast<int>(expr.kind), static_cast<int>(expr.op),
                                   static_cast<int>(expr.type), expr.kind == Kind::index ? -1 : expr.source);
    if (expr.kind == Kind::index) text += name_of(expr.source, names);
    std::vector<std::string> over, operands;
    for (const int index : expr.over) over.push_back(name_of(index, names));
    if (expr.kind == Kind::delta) std::sort(over.begin(), over.end());
    for (const auto operand : expr.operands) operands.push_back(text_of(form(operand, names)));
    return {{{number_of(fmt::format("{}[{}]({})", text, fmt::join(over, " "), fmt::join(operands, ", ")))}, 1}};
  }

  std::string name_of(int index, const std::map<int, std::string>& names) const {
    const auto found = names.find(index);
    return found != names.end() ? found->second : program_.indices[static_cast<std::size_t>(index)].name;
  }

  int number_of(std::string text) {
    return numbers_.try_emplace(std::move(text), static_cast<int>(numbers_.size())).first->second;
  }

  const ProgramGraph& program_;
  std::unordered_map<std::string, int> numbers_;
  int depth_ = 0, steps_ = 0;
};

/// Two slots of the left side that a symmetry exchanges.
struct Exchange {
  int p, q;
  bool antisymmetric;
};

std::vector<Exchange> exchanges(const ProgramGraph& program, const Expr& target) {
  std::vector<Exchange> list;
  for (const auto& symmetry : program.tensor(target.source).form.symmetry.list) {
    std::vector<int> free;
    for (const int slot : symmetry.slots) {
      if (target.slots[static_cast<std::size_t>(slot)].index() >= 0) free.push_back(slot);
    }
    for (std::size_t k = 1; k < free.size(); ++k) list.push_back({free[k - 1], free[k], symmetry.antisymmetric});
  }
  return list;
}

/// Whether exchanging the indices of two slots keeps the expression, or flips its sign if asked for.
bool same_after(const ProgramGraph& program, const Statement& statement, const Exchange& exchange) {
  const auto& target = program.expr(statement.target);
  const auto& p = target.slots[static_cast<std::size_t>(exchange.p)];
  const auto& q = target.slots[static_cast<std::size_t>(exchange.q)];
  if (p.offset != q.offset || program.extent(p.index()) != program.extent(q.index())) return false;
  const auto& value = program.expr(statement.value);
  if (!std::binary_search(value.free.begin(), value.free.end(), p.index()) &&
      !std::binary_search(value.free.begin(), value.free.end(), q.index())) {
    return !exchange.antisymmetric || (value.kind == Kind::number && value.value == Scalar(0));
  }
  Canonical canonical(program);
  std::map<int, std::string> plain;
  std::map<int, std::string> exchanged{{p.index(), program.indices[static_cast<std::size_t>(q.index())].name},
                                       {q.index(), program.indices[static_cast<std::size_t>(p.index())].name}};
  try {
    const auto before = canonical.form(statement.value, plain);
    auto after = canonical.form(statement.value, exchanged);
    if (exchange.antisymmetric) {
      for (auto& [product, coefficient] : after) coefficient = -coefficient;
    }
    return before == after;
  } catch (const TooLong&) {
    return false;
  }
}

}  // namespace

Verdict symmetry_of(ProgramGraph& program, const Statement& statement) {
  const auto& target = program.expr(statement.target);
  const auto list = exchanges(program, target);
  // Factors have no sign to exchange: they are the same for all components.
  const bool factor = statement.op == Assign::multiply || statement.op == Assign::divide;
  if (factor || list.empty()) return Verdict::proven;
  const auto depth = std::max(program.deepest(), program.expr(statement.value).depth);
  return on_stack_of(stack_for(static_cast<std::size_t>(depth)), [&] {
    const bool same = std::all_of(list.begin(), list.end(),
                                  [&](const Exchange& exchange) { return same_after(program, statement, exchange); });
    return same ? Verdict::proven : probe_symmetry(program, statement);
  });
}

void check_symmetry(ProgramGraph& program, const Statement& statement) {
  const auto& target = program.expr(statement.target);
  const auto verdict = symmetry_of(program, statement);
  if (verdict == Verdict::proven) return;
  const auto& tensor = program.tensor(target.source);
  const auto text = fmt::format("SymmetryUnproven: '{}' is stored as {}, and the right side {} have that symmetry: {}",
                                tensor.name, print_symmetries(tensor.form.symmetry.list),
                                verdict == Verdict::disproven ? "does not" : "could not be shown to",
                                print(program, statement.value));
  if (verdict == Verdict::disproven && !statement.asserted) {
    throw SpecError(text +
                    "\n  add its exchanged form, store the tensor without the symmetry, or assert it on the left "
                    "side, as in " +
                    tensor.name + "(sym(...), ...)" + statement.where);
  }
  log_line(LogTopic::warning, text + "; the first of the equal components is stored" + statement.where);
}

}  // namespace ricci::formula
