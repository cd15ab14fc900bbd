// Rules of products of warp groups.
#include <fmt/format.h>

#include <algorithm>

#include "kernel/print.hpp"
#include "kernel/verifier.hpp"
#include "kernel/warp_group.hpp"

namespace ricci::kernel {

constexpr std::int64_t kMostMatrixStride = std::int64_t{1} << 18;  // bytes that a matrix descriptor can say

void Verifier::whole_groups() const {
  all_threads("an instruction of a warp group");
  if (kernel_.threads % (kWarp * kGroupWarps) != 0)
    fail(fmt::format("an instruction of a warp group in a block of {} threads, which are no whole groups",
                     kernel_.threads));
}

void Verifier::one(const Fence& fence) {
  all_threads("a fence");
  if (fence.registers >= 0) {
    life_of(fence.registers);
    unfenced_[static_cast<std::size_t>(fence.registers)] = false;
    return;
  }
  for (std::size_t k = 0; k < life_.size(); ++k) {
    if (kernel_.arrays[k].space == Space::shared && life_[k] == Life::written) life_[k] = Life::fenced;
  }
}

void Verifier::one(const GroupMma& product) {
  whole_groups();
  const auto* atom = find_atom(product.atom);
  if (!atom || atom->warps != kGroupWarps) fail(fmt::format("there is no atom {} of a warp group", product.atom));
  const auto& sum = array_of_checked(product.d);
  if (sum.space != Space::registers || sum.shape.size() != 3 || product.d.index.size() != 1 || sum.lanes != 1 ||
      sum.shape.back() != atom->c.registers() || sum.type != dtype_of(atom->c.type))
    fail(fmt::format("{} is no accumulator of {}", sum.name, product.atom));
  register_index(sum, product.d.index.front(), sum.shape.front());
  const auto columns = atom->n * sum.shape[1];
  if (!has_instruction(*atom, columns)) fail(fmt::format("{} columns in an instruction of a warp group", columns));
  if (const auto* held = std::get_if<Access>(&product.a); atom->holds_a && held) {
    this->held(*held, *atom);
  } else if (const auto* shared = std::get_if<SharedMatrix>(&product.a); !atom->holds_a && shared) {
    matrix(*shared, atom->a, std::int64_t{atom->m} * atom->warps, atom->k);
  } else {
    fail(fmt::format("{} takes its first operand from {}", product.atom, atom->holds_a ? "registers" : "memory"));
  }
  matrix(product.b, atom->b, columns, atom->k);
  auto& life = life_of(product.d.array);
  if (life != Life::multiplying) read_life(product.d.array);
  if (unfenced_[static_cast<std::size_t>(product.d.array)])
    fail(fmt::format("{} is written, and multiplied to by a warp group with no fence between", sum.name));
  life = Life::multiplying;
}

void Verifier::held(const Access& access, const Atom& atom) {
  fragment(access, atom.a, std::string(atom.name));
  const auto& array = array_of(access);
  const auto place = static_cast<std::size_t>(access.array);
  if (atom.a.type == AtomType::tf32 && !array.tf32)
    fail(fmt::format("{} is not rounded to tf32, and a warp group cuts off the rest", array.name));
  if (groups_since_[place] == kNoProduct) read_life(access.array);
  if (unfenced_[place])
    fail(fmt::format("{} is written, and multiplied by a warp group with no fence between", array.name));
  groups_since_[place] = 0;
}

void Verifier::not_held(int array) const {
  if (groups_since_[static_cast<std::size_t>(array)] != kNoProduct)
    fail(fmt::format("{} is accessed while a product of a warp group reads it: a wait is missing",
                     kernel_.array(array).name));
}

bool Verifier::is_tf32(const Value& value) const {
  switch (value.kind) {
    case Value::Kind::load:
      return array_of(value.access).tf32;
    case Value::Kind::constant:
      return value.number == Scalar(0);
    case Value::Kind::pack:
      return std::all_of(value.operands.begin(), value.operands.end(),
                         [&](const Value& lane) { return is_tf32(lane); });
    default:
      return value.kind == Value::Kind::op && (value.op == ir::OpCode::tf32 || value.op == ir::OpCode::tf32_rest);
  }
}

void Verifier::unrounded(const Access& to) const {
  fail(fmt::format("what is no tf32 goes to {}", print(kernel_, to)));
}

void Verifier::matrix(const SharedMatrix& matrix, const Fragment& of, std::int64_t positions, std::int64_t deep) {
  const auto& array = array_of_checked(matrix.start);
  const auto text = print(kernel_, matrix.start);
  if (array.space != Space::shared || array.type != dtype_of(of.type))
    fail(fmt::format("{} is no {} in shared memory", text, ricci::name(dtype_of(of.type))));
  if (of.type == AtomType::tf32 && !array.tf32)
    fail(fmt::format("{} is not rounded to tf32, and a warp group cuts off the rest", text));
  const auto size = size_of(array.type), row = row_of(array), block = kBlockRows * row;
  const auto& expected = swizzle_of_rows(row * size, array.type);
  if (array.swizzle.mask == 0 || array.swizzle.shift != expected.shift || array.swizzle.unit != expected.unit ||
      array.alignment % kMatrixBlock != 0)
    fail(fmt::format("{} has no rows that a warp group reads", array.name));
  if (!matrix.along_depth && !lies_either_way(of.type))
    fail(fmt::format("{} of {} bytes lies along its side", text, size));
  const auto strides = {matrix.stride, matrix.along_depth ? 0 : matrix.leading};
  for (const auto stride : strides) {
    if (stride % block != 0 || stride < 0 || stride * size >= kMostMatrixStride)
      fail(fmt::format("{} has blocks {} elements apart, in rows of {}", text, stride, row));
  }
  // A start within a row, of the first of eight.
  const auto begin = this->offset(matrix.start);
  const auto within = begin.constant % block;
  if (within % (kWidest / size) != 0 || (matrix.along_depth ? within + deep > row : within != 0) ||
      !ranges_.is_multiple(begin - Affine(within), block))
    fail(fmt::format("{} starts inside of a block of rows", text));
  auto last = matrix.start;
  access(last);
  last.index.front() =
      last.index.front() + Affine(layout_of(matrix, row, positions, deep).holder({positions - 1, deep - 1})->memory);
  access(last);
  if (life_of(matrix.start.array) == Life::ready)
    fail(fmt::format("{} is read by a warp group with no fence after what is written to it", array.name));
  read_life(matrix.start.array);
}

}  // namespace ricci::kernel
