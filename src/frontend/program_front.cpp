// The C++ front end: handles that call the checked constructors of a formula::ProgramGraph.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/formula.hpp"
#include "frontend/program_extents.hpp"
#include "ir/own_stack.hpp"
#include "ricci/error.hpp"
#include "ricci/program.hpp"

namespace ricci {
inline namespace v1 {
namespace {

using formula::ExprId;
using formula::OpCode;
using formula::SourcePosition;
using Graph = std::shared_ptr<formula::ProgramGraph>;

SourcePosition place_of(const std::source_location& where) {
  SourcePosition place;
  if (where.line() != 0) {
    place.file = where.file_name();
    place.line = where.line();
  }
  return place;
}

/// Expressions of indices and numbers alone belong to no program yet.
Graph fresh() { return std::make_shared<formula::ProgramGraph>(); }

int index_in(const Graph& graph, const Index& index, const SourcePosition& place) {
  return graph->declare_index(index.name(), index.extent(), place);
}

/// The graph that all operands can live in: that of a program, if any has one.
Graph home_of(std::initializer_list<const Expr*> operands) {
  Graph graph = (*operands.begin())->graph();
  for (const auto* operand : operands) {
    if (!operand->graph()->tensors.empty() || !operand->graph()->params.empty()) graph = operand->graph();
  }
  return graph;
}

const std::source_location& where_of(std::initializer_list<const Expr*> operands) {
  for (const auto* operand : operands) {
    if (operand->where().line() != 0) return operand->where();
  }
  return (*operands.begin())->where();
}

/// Brings the operands into one graph and makes an expression of them there.
template <class Make>
Expr combine(std::initializer_list<const Expr*> operands, const Make& make) {
  const auto graph = home_of(operands);
  const auto& where = where_of(operands);
  const auto place = place_of(where);
  std::vector<ExprId> ids;
  for (const auto* operand : operands) ids.push_back(graph->import(*operand->graph(), operand->id(), place));
  return {graph, make(*graph, ids, place), where};
}

Expr unary(OpCode op, const Expr& x) {
  return combine({&x}, [&](formula::ProgramGraph& graph, const std::vector<ExprId>& ids, const SourcePosition& place) {
    return graph.unary(op, ids[0], place);
  });
}

Expr binary(OpCode op, const Expr& x, const Expr& y) {
  return combine({&x, &y}, [&](formula::ProgramGraph& graph, const std::vector<ExprId>& ids,
                               const SourcePosition& place) { return graph.binary(op, ids[0], ids[1], place); });
}

OpCode op_of(Reduction by) {
  constexpr OpCode kOps[] = {OpCode::add,     OpCode::mul,    OpCode::minimum, OpCode::maximum,
                             OpCode::bit_and, OpCode::bit_or, OpCode::bit_xor};
  return kOps[static_cast<std::size_t>(by)];
}

formula::SlotSum sum_in(const Graph& graph, const Slot& slot, const SourcePosition& place) {
  formula::SlotSum made;
  made.offset = slot.offset;
  for (const auto& term : slot.terms) (void)made.add(index_in(graph, term.index, place), term.factor);
  return made;
}

std::vector<formula::SlotValue> slots_in(const Graph& graph, const std::vector<Slot>& slots,
                                         const SourcePosition& place) {
  std::vector<formula::SlotValue> made;
  for (const auto& slot : slots) {
    formula::SlotValue value{sum_in(graph, slot, place)};
    value.shifted = slot.shifted && !value.fixed();
    if (slot.kind == Slot::Kind::position) {
      value.position = graph->import(*slot.position->graph(), slot.position->id(), place);
    }
    made.push_back(std::move(value));
  }
  return made;
}

/// Slots of an access whose stated symmetry, if any, is the tensor's.
std::vector<formula::SlotValue> checked_slots(const Access& access, const SourcePosition& place) {
  auto slots = slots_in(access.graph(), access.slots(), place);
  if (!access.stated().empty()) {
    access.graph()->check_symmetry_words(access.tensor(), slots, access.stated(), place);
  }
  return slots;
}

void record(const Access& target, formula::Assign op, const Expr& value) {
  const auto& graph = target.graph();
  const auto place = place_of(target.where());
  const auto id = graph->import(*value.graph(), value.id(), place);
  graph->record(target.tensor(), checked_slots(target, place), op, id, !target.stated().empty(), place);
}

Expr matrix_function(const Access& matrix, ExprId (formula::ProgramGraph::*make)(ExprId, const SourcePosition&)) {
  const Expr access(matrix);
  return combine({&access}, [&](formula::ProgramGraph& graph, const std::vector<ExprId>& ids,
                                const SourcePosition& place) { return (graph.*make)(ids[0], place); });
}

}  // namespace

Expr::Expr(double number) : graph_(fresh()), id_(graph_->number(number, false)) {}
Expr::Expr(int number) : graph_(fresh()), id_(graph_->number(number, true)) {}
Expr::Expr(std::int64_t number) : graph_(fresh()) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  if (number > kExact || number < -kExact) {
    throw SpecError(fmt::format("the number {} is beyond 2^53, up to which integers are exact", number));
  }
  id_ = graph_->number(static_cast<double>(number), true);
}
Expr::Expr(Scalar number) : graph_(fresh()), id_(graph_->number(number, false)) {}
Expr::Expr(const Index& index) : graph_(fresh()), id_(graph_->index(index_in(graph_, index, {}), {})) {}
Expr::Expr(const Slot& slot) : Expr(slot.offset) {
  if (slot.kind == Slot::Kind::position) {
    *this = *slot.position;
    return;
  }
  std::shared_ptr<const Expr> sum;
  const auto add = [&](const Expr& term) { sum = std::make_shared<const Expr>(sum ? *sum + term : term); };
  for (const auto& [index, factor] : slot.terms) add(factor == 1 ? Expr(index) : Expr(factor) * Expr(index));
  if (sum && slot.offset != 0) add(Expr(slot.offset));
  if (sum) *this = *sum;
}
Expr::Expr(const Access& access) : graph_(access.graph()), where_(access.where()) {
  const auto place = place_of(access.where());
  id_ = graph_->access(access.tensor(), checked_slots(access, place), place);
}

Slot added(const Slot& x, const Slot& y, std::int64_t factor) {
  if (x.kind != Slot::Kind::sum || y.kind != Slot::Kind::sum) {
    throw SpecError("the slots that are added up hold indices and numbers");
  }
  auto made = x;
  made.shifted = true;
  const auto times = [&](std::int64_t value) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(value, factor, &product)) throw SpecError("RangeError: a slot's numbers have 64 bits");
    return product;
  };
  const auto add = [](std::int64_t& to, std::int64_t value) {
    if (__builtin_add_overflow(to, value, &to)) throw SpecError("RangeError: a slot's numbers have 64 bits");
  };
  add(made.offset, times(y.offset));
  for (const auto& term : y.terms) {
    const auto same = std::find_if(made.terms.begin(), made.terms.end(),
                                   [&](const Slot::Term& known) { return known.index.name() == term.index.name(); });
    if (same != made.terms.end()) {
      add(same->factor, times(term.factor));
    } else {
      made.terms.push_back({term.index, times(term.factor)});
    }
  }
  return made;
}

Slot::Slot(const Access& first) : kind(Kind::position), position(std::make_shared<const Expr>(first)) {}

Access Access::operator[](const Slot& slot) const {
  auto made = *this;
  made.slots_.push_back(slot);
  return made;
}

Access Access::with(const Symmetries& stated) const {
  auto made = *this;
  made.stated_.insert(made.stated_.end(), stated.list.begin(), stated.list.end());
  return made;
}

// A statement is recorded, nothing is assigned: A(i) = A(i) is one too.
// NOLINTNEXTLINE(bugprone-unhandled-self-assignment)
const Access& Access::operator=(const Access& value) const {
  record(*this, formula::Assign::set, value);
  return *this;
}
const Access& Access::operator=(const Expr& value) const {
  record(*this, formula::Assign::set, value);
  return *this;
}
const Access& Access::operator+=(const Expr& value) const {
  record(*this, formula::Assign::add, value);
  return *this;
}
const Access& Access::operator-=(const Expr& value) const {
  record(*this, formula::Assign::subtract, value);
  return *this;
}
const Access& Access::operator*=(const Expr& value) const {
  record(*this, formula::Assign::multiply, value);
  return *this;
}
const Access& Access::operator/=(const Expr& value) const {
  record(*this, formula::Assign::divide, value);
  return *this;
}

Access Tensor::operator()(const Slot& s0, const Slot& s1, const Slot& s2, const Slot& s3, const Slot& s4,
                          const Slot& s5, const Slot& s6, const Slot& s7, const Slot& s8, const Slot& s9,
                          const Slot& s10, const Slot& s11, const Slot& s12, const Slot& s13, const Slot& s14,
                          const Slot& s15, std::source_location where) const {
  std::vector<Slot> slots;
  for (const auto* slot : {&s0, &s1, &s2, &s3, &s4, &s5, &s6, &s7, &s8, &s9, &s10, &s11, &s12, &s13, &s14, &s15}) {
    if (slot->kind == Slot::Kind::none) break;
    slots.push_back(*slot);
  }
  return {graph_, id_, std::move(slots), where};
}

Expr operator+(const Expr& x, const Expr& y) { return binary(OpCode::add, x, y); }
Expr operator-(const Expr& x, const Expr& y) { return binary(OpCode::sub, x, y); }
Expr operator*(const Expr& x, const Expr& y) { return binary(OpCode::mul, x, y); }
Expr operator/(const Expr& x, const Expr& y) { return binary(OpCode::div, x, y); }
Expr operator-(const Expr& x) {
  return combine({&x}, [](formula::ProgramGraph& graph, const std::vector<ExprId>& ids, const SourcePosition& place) {
    return graph.negate(ids[0], place);
  });
}
Expr operator<(const Expr& x, const Expr& y) { return binary(OpCode::less, x, y); }
Expr operator<=(const Expr& x, const Expr& y) { return binary(OpCode::less_equal, x, y); }
Expr operator>(const Expr& x, const Expr& y) { return binary(OpCode::less, y, x); }
Expr operator>=(const Expr& x, const Expr& y) { return binary(OpCode::less_equal, y, x); }
Expr operator==(const Expr& x, const Expr& y) { return binary(OpCode::equal, x, y); }
Expr operator!=(const Expr& x, const Expr& y) { return binary(OpCode::not_equal, x, y); }
Expr operator&&(const Expr& x, const Expr& y) { return binary(OpCode::bit_and, x, y); }
Expr operator||(const Expr& x, const Expr& y) { return binary(OpCode::bit_or, x, y); }
Expr operator!(const Expr& x) {
  return combine({&x}, [](formula::ProgramGraph& graph, const std::vector<ExprId>& ids, const SourcePosition& place) {
    return graph.logical_not(ids[0], place);
  });
}
Expr operator&(const Expr& x, const Expr& y) { return binary(OpCode::bit_and, x, y); }
Expr operator|(const Expr& x, const Expr& y) { return binary(OpCode::bit_or, x, y); }
Expr operator^(const Expr& x, const Expr& y) { return binary(OpCode::bit_xor, x, y); }
Expr operator~(const Expr& x) { return unary(OpCode::bit_not, x); }
Expr operator<<(const Expr& x, const Expr& bits) { return binary(OpCode::shift_left, x, bits); }
Expr operator>>(const Expr& x, const Expr& bits) { return binary(OpCode::shift_right, x, bits); }

Expr sqrt(const Expr& x) { return unary(OpCode::sqrt, x); }
Expr cbrt(const Expr& x) { return unary(OpCode::cbrt, x); }
Expr rsqrt(const Expr& x) { return unary(OpCode::rsqrt, x); }
Expr exp(const Expr& x) { return unary(OpCode::exp, x); }
Expr log(const Expr& x) { return unary(OpCode::log, x); }
Expr sin(const Expr& x) { return unary(OpCode::sin, x); }
Expr cos(const Expr& x) { return unary(OpCode::cos, x); }
Expr tan(const Expr& x) { return unary(OpCode::tan, x); }
Expr asin(const Expr& x) { return unary(OpCode::asin, x); }
Expr acos(const Expr& x) { return unary(OpCode::acos, x); }
Expr atan(const Expr& x) { return unary(OpCode::atan, x); }
Expr sinh(const Expr& x) { return unary(OpCode::sinh, x); }
Expr cosh(const Expr& x) { return unary(OpCode::cosh, x); }
Expr tanh(const Expr& x) { return unary(OpCode::tanh, x); }
Expr abs(const Expr& x) { return unary(OpCode::absolute, x); }
Expr sign(const Expr& x) { return unary(OpCode::sign, x); }
Expr conj(const Expr& x) { return unary(OpCode::conj, x); }
Expr real(const Expr& x) { return unary(OpCode::real_part, x); }
Expr imag(const Expr& x) { return unary(OpCode::imag_part, x); }
Expr popcount(const Expr& x) { return unary(OpCode::popcount, x); }
Expr pow(const Expr& x, const Expr& y) { return binary(OpCode::pow, x, y); }
Expr atan2(const Expr& x, const Expr& y) { return binary(OpCode::atan2, x, y); }
Expr hypot(const Expr& x, const Expr& y) { return binary(OpCode::hypot, x, y); }
Expr min(const Expr& x, const Expr& y) { return binary(OpCode::minimum, x, y); }
Expr max(const Expr& x, const Expr& y) { return binary(OpCode::maximum, x, y); }
Expr mod(const Expr& x, const Expr& y) { return binary(OpCode::remainder, x, y); }

Expr cast(DType type, const Expr& x) {
  return combine({&x}, [&](formula::ProgramGraph& graph, const std::vector<ExprId>& ids, const SourcePosition& place) {
    return graph.cast(type, ids[0], place);
  });
}

Expr select(const Expr& condition, const Expr& x, const Expr& y) {
  return combine({&condition, &x, &y},
                 [](formula::ProgramGraph& graph, const std::vector<ExprId>& ids, const SourcePosition& place) {
                   return graph.select(ids[0], ids[1], ids[2], place);
                 });
}

Expr guard(const Expr& condition, const Expr& x) {
  return combine({&condition, &x}, [](formula::ProgramGraph& graph, const std::vector<ExprId>& ids,
                                      const SourcePosition& place) { return graph.guard(ids[0], ids[1], place); });
}

Expr reduce(Reduction by, const Indices& over, const Expr& body) {
  return combine({&body},
                 [&](formula::ProgramGraph& graph, const std::vector<ExprId>& ids, const SourcePosition& place) {
                   std::vector<int> list;
                   for (const auto& index : over.list)
                     list.push_back(graph.declare_index(index.name(), index.extent(), place));
                   return graph.reduce(op_of(by), std::move(list), ids[0], place);
                 });
}
Expr sum(const Indices& over, const Expr& body) { return reduce(Reduction::sum, over, body); }
Expr product(const Indices& over, const Expr& body) { return reduce(Reduction::product, over, body); }
Expr minimum(const Indices& over, const Expr& body) { return reduce(Reduction::minimum, over, body); }
Expr maximum(const Indices& over, const Expr& body) { return reduce(Reduction::maximum, over, body); }

namespace {

Expr scanned(Reduction by, const Index& over, const Expr& body, bool exclusive) {
  return combine(
      {&body}, [&](formula::ProgramGraph& graph, const std::vector<ExprId>& ids, const SourcePosition& place) {
        return graph.scan(op_of(by), graph.declare_index(over.name(), over.extent(), place), ids[0], exclusive, place);
      });
}

}  // namespace

Expr scan(Reduction by, const Index& over, const Expr& body) { return scanned(by, over, body, false); }
Expr exclusive_scan(Reduction by, const Index& over, const Expr& body) { return scanned(by, over, body, true); }

Expr compact(const Index& over, const Expr& predicate, const Expr& payload) {
  return combine({&predicate, &payload},
                 [&](formula::ProgramGraph& graph, const std::vector<ExprId>& ids, const SourcePosition& place) {
                   return graph.compact(graph.declare_index(over.name(), over.extent(), place), ids[0], ids[1], place);
                 });
}

Expr det3(const Access& matrix) { return matrix_function(matrix, &formula::ProgramGraph::determinant); }
Expr inv3(const Access& matrix) { return matrix_function(matrix, &formula::ProgramGraph::inverse); }

Expr delta(const Index& i, const Index& j) {
  const auto graph = fresh();
  return {graph, graph->delta(index_in(graph, i, {}), index_in(graph, j, {}), {}), {}};
}

Expr diag(const Expr& x) {
  return combine({&x}, [](formula::ProgramGraph& graph, const std::vector<ExprId>& ids, const SourcePosition& place) {
    return graph.diagonal(ids[0], place);
  });
}

Expr diag(const Access& x) {
  const auto place = place_of(x.where());
  return {x.graph(), x.graph()->diagonal_access(x.tensor(), slots_in(x.graph(), x.slots(), place), place), x.where()};
}

Symmetries sym(std::vector<int> slots) { return {{{std::move(slots), false}}}; }
Symmetries antisym(std::vector<int> slots) { return {{{std::move(slots), true}}}; }
Symmetries operator&&(Symmetries first, const Symmetries& second) {
  first.list.insert(first.list.end(), second.list.begin(), second.list.end());
  return first;
}

Program::Program(std::string name) : graph_(fresh()) { graph_->name = std::move(name); }

Program Program::parse(std::string_view text) {
  auto graph = fresh();
  on_stack_of(kPlainStack, [&] { formula::parse(*graph, text); });
  return Program(std::move(graph));
}

std::string Program::print() const { return formula::print(*graph_); }
const std::string& Program::name() const noexcept { return graph_->name; }

Index Program::grid(const std::string& name, std::int64_t points, std::source_location where) {
  graph_->declare_grid(name, points, place_of(where));
  return Index(name, points);
}

Tensor Program::declare(TensorRole role, const std::string& name, const std::vector<Extent>& extents, DType type,
                        TensorForm form, std::source_location where) {
  const auto place = place_of(where);
  formula::TensorDecl made;
  made.name = name;
  made.role = role;
  made.type = type;
  made.form = std::move(form);
  for (const auto& extent : extents) made.slots.push_back({sum_in(graph_, extent.slot, place)});
  return {graph_, graph_->declare_tensor(std::move(made), place)};
}

Tensor Program::input(const std::string& name, const std::vector<Extent>& extents, DType type, TensorForm form,
                      std::source_location where) {
  return declare(TensorRole::input, name, extents, type, std::move(form), where);
}
Tensor Program::output(const std::string& name, const std::vector<Extent>& extents, DType type, TensorForm form,
                       std::source_location where) {
  return declare(TensorRole::output, name, extents, type, std::move(form), where);
}
Tensor Program::inout(const std::string& name, const std::vector<Extent>& extents, DType type, TensorForm form,
                      std::source_location where) {
  return declare(TensorRole::inout, name, extents, type, std::move(form), where);
}
Tensor Program::local(const std::string& name, const std::vector<Extent>& extents, DType type, TensorForm form,
                      std::source_location where) {
  return declare(TensorRole::local, name, extents, type, std::move(form), where);
}
Tensor Program::temp(const std::string& name, const std::vector<Extent>& extents, DType type, TensorForm form,
                     std::source_location where) {
  return declare(TensorRole::temp, name, extents, type, std::move(form), where);
}

Expr Program::param(const std::string& name, DType type, std::source_location where) {
  const int id = graph_->declare_param(name, type, place_of(where));
  return {graph_, graph_->param(id), where};
}

void Program::set_exact(bool exact) { graph_->exact = exact; }
bool Program::exact() const noexcept { return graph_->exact; }
void Program::set_einstein(bool einstein) { graph_->einstein = einstein; }

void Program::set_extent(const std::string& index, std::int64_t extent) {
  const int id = graph_->find_index(index);
  if (id < 0) throw ShapeError(fmt::format("program '{}' has no index '{}'", graph_->name, index));
  graph_->set_extent(id, extent, {});
}

std::vector<std::string> Program::open_extents() const {
  std::vector<std::string> open;
  for (const auto& index : graph_->indices) {
    if (index.extent == kOpenExtent) open.push_back(index.name);
  }
  return open;
}

std::vector<TensorInfo> Program::tensors() const { return formula::tensor_infos(*graph_); }

std::vector<ParamInfo> Program::params() const {
  std::vector<ParamInfo> infos;
  for (const auto& param : graph_->params) infos.push_back({param.name, param.type});
  return infos;
}

void Program::bind(const std::map<std::string, std::vector<std::int64_t>>& shapes) { formula::bind(*graph_, shapes); }

}  // namespace v1
}  // namespace ricci
