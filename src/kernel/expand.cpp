#include "kernel/expand.hpp"

#include <algorithm>

#include "kernel/build.hpp"
#include "kernel/complex_pairs.hpp"
#include "kernel/verify.hpp"

namespace ricci::kernel {

Access with(Access access, Var var, const Affine& by) {
  for (auto& index : access.index) index = index.with(var, by);
  if (access.lane) access.lane = access.lane->with(var, by);
  if (access.block) access.block = access.block->with(var, by);
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

Body where(std::vector<Condition> when, Body then, Body otherwise) {
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

Affine position(const std::vector<Digit>& digits) {
  Affine sum;
  std::int64_t stride = 1;
  for (std::size_t k = digits.size(); k-- > 0;) {
    sum = sum + Affine::of(digits[k].var, stride);
    stride *= digits[k].extent;
  }
  return sum;
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
  return kernel;
}

}  // namespace ricci::kernel
