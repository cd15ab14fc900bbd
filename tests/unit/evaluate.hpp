// Programs of a few nodes, run by the interpreter on values given in place.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "ir/builder.hpp"

namespace ricci::test {

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, std::int8_t>) return DType::i8;
  if constexpr (std::is_same_v<T, std::int16_t>) return DType::i16;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::i32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::u8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return DType::u16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return DType::u32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return DType::u64;
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  if constexpr (std::is_same_v<T, double>) return DType::f64;
  if constexpr (std::is_same_v<T, std::complex<float>>) return DType::c64;
  return DType::c128;
}

/// One operation on the values of up to three operands.
template <class To, class... From>
To apply(ir::OpCode op, From... values) {
  ir::Builder b;
  std::vector<void*> buffers;
  std::vector<ir::NodeId> operands;
  const auto operand = [&](auto& value) {
    const auto type = dtype_of<std::decay_t<decltype(value)>>();
    const auto k = static_cast<int>(buffers.size());
    b.program.buffers.push_back({"in" + std::to_string(k), type, false, 0, 0, size_of(type)});
    operands.push_back(b.load(k, {}));
    buffers.push_back(&value);
  };
  (operand(values), ...);
  To result{};
  b.program.buffers.push_back({"out", dtype_of<To>(), true, 0, 0, size_of(dtype_of<To>())});
  buffers.push_back(&result);
  operands.resize(3, -1);
  b.store(static_cast<int>(buffers.size()) - 1, {}, b.op(op, dtype_of<To>(), operands[0], operands[1], operands[2]));
  ir::interpret(b.finish(), buffers, {});
  return result;
}

/// One list of values per buffer of `program`, in its order, whose first element is at offset 0; returns the last.
template <class T>
std::vector<T> run(const ir::Program& program, std::vector<std::vector<T>> values,
                   const std::vector<Scalar>& params = {}) {
  std::vector<void*> buffers;
  for (auto& list : values) buffers.push_back(list.data());
  ir::interpret(program, buffers, params);
  return values.back();
}

/// A builder with buffers of one type and as many elements as said; the last one is written.
inline ir::Builder builder(DType type, std::vector<ir::LoopIndex> indices, const std::vector<std::int64_t>& elements) {
  ir::Builder b;
  b.program.indices = std::move(indices);
  for (std::size_t k = 0; k < elements.size(); ++k) {
    b.program.buffers.push_back(
        {"T" + std::to_string(k), type, k + 1 == elements.size(), 0, elements[k] - 1, size_of(type)});
  }
  return b;
}

}  // namespace ricci::test
