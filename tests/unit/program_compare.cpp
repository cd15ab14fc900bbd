#include "program_compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

#include "ir/passes/shorten.hpp"

namespace ricci::test {
namespace {

template <class T>
T peek(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

Value read_as(const std::byte* from, DType type) {
  const auto integer = [](std::int64_t value) { return Value{static_cast<double>(value), value}; };
  const auto real = [](std::complex<double> value) { return Value{value, 0}; };
  switch (type) {
    case DType::i8:
      return integer(peek<std::int8_t>(from));
    case DType::i16:
      return integer(peek<std::int16_t>(from));
    case DType::i32:
      return integer(peek<std::int32_t>(from));
    case DType::u8:
      return integer(peek<std::uint8_t>(from));
    case DType::u16:
      return integer(peek<std::uint16_t>(from));
    case DType::u32:
      return integer(peek<std::uint32_t>(from));
    case DType::i64:
    case DType::u64:
      return integer(peek<std::int64_t>(from));
    case DType::f32:
      return real(peek<float>(from));
    case DType::f64:
      return real(peek<double>(from));
    case DType::c64:
      return real(peek<std::complex<float>>(from));
    case DType::c128:
      return real(peek<std::complex<double>>(from));
    default:
      FAIL("the comparison has no half types");
      return {};
  }
}

template <class T>
void poke(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

void write_as(std::byte* to, DType type, const Value& value) {
  switch (type) {
    case DType::f32:
      return poke(to, static_cast<float>(value.real.real()));
    case DType::f64:
      return poke(to, value.real.real());
    case DType::c64:
      return poke(to, std::complex<float>(value.real));
    case DType::c128:
      return poke(to, value.real);
    default:
      std::memcpy(to, &value.integer, static_cast<std::size_t>(size_of(type)));  // the low bytes
  }
}

std::size_t storage_of(const ir::Sequence& sequence, const std::string& name) {
  for (std::size_t k = 0; k < sequence.storages.size(); ++k) {
    if (sequence.storages[k].name == name) return k;
  }
  FAIL("no storage " << name);
  return 0;
}

}  // namespace

std::byte* Elements::address(int id, const std::vector<std::int64_t>& multi_index, std::int64_t point,
                             int& sign) const {
  const auto& tensor = program_.tensor(id);
  const auto points = tensor.form.on_grid ? program_.extent(program_.grid) : 1;
  auto name = tensor.name;
  std::int64_t offset = 0;
  sign = 1;
  if (tensor.expanded()) {
    const auto place = stored_component(program_, id, multi_index);
    sign = place.sign;
    if (sign == 0) return nullptr;
    const auto block = tensor.form.parameter;
    switch (tensor.form.storage) {
      case Storage::pointers: {
        auto sorted = multi_index;
        for (const auto& other : multi_indices(extents_of(program_, id))) {
          const auto there = stored_component(program_, id, other);
          if (there.sign == 0 || there.number != place.number) continue;
          sorted = other;
          break;  // the first in lexicographic order is the sorted one
        }
        for (const auto value : sorted) name += "_" + std::to_string(value);
        offset = point;
        break;
      }
      case Storage::blocked:
        offset = point / block * component_count(program_, id) * block + place.number * block + point % block;
        break;
      default:
        offset = place.number * (block > 0 ? block : points) + point;
    }
  } else {
    auto strides = tensor.form.strides;
    const auto extents = extents_of(program_, id);
    if (strides.empty()) strides = Layout::row_major(tensor.type, extents).strides;
    for (std::size_t k = 0; k < strides.size(); ++k) offset += strides[k] * multi_index[k];
  }
  const auto storage = storage_of(sequence_, name);
  REQUIRE(offset >= sequence_.storages[storage].first);
  REQUIRE(offset <= sequence_.storages[storage].last);
  return memory_[storage].data() + (offset - sequence_.storages[storage].first) * size_of(tensor.type);
}

Value Elements::read(int tensor, const std::vector<std::int64_t>& multi_index, std::int64_t point) const {
  int sign = 0;
  const auto* from = address(tensor, multi_index, point, sign);
  if (sign == 0) return {};
  const auto value = read_as(from, program_.tensor(tensor).type);
  return sign > 0 ? value : -value;
}

void Elements::write(int tensor, const std::vector<std::int64_t>& multi_index, std::int64_t point, const Value& value) {
  int sign = 0;
  auto* to = address(tensor, multi_index, point, sign);
  if (sign == 0) return;
  write_as(to, program_.tensor(tensor).type, sign > 0 ? value : -value);
}

void compare(const Program& program, const Inputs& inputs) {
  const auto& formula = program.formula();
  auto sequence = ir::lower(formula);
  if (inputs.longest_kernel > 0) sequence = ir::shorten(std::move(sequence), {.most = inputs.longest_kernel});
  std::vector<std::vector<std::byte>> memory;
  for (const auto& storage : sequence.storages) {
    memory.emplace_back(static_cast<std::size_t>((storage.last - storage.first + 1) * size_of(storage.type)),
                        std::byte{0x3c});
  }
  Elements elements(formula, sequence, memory);
  Reference reference(formula);
  auto state = inputs.seed * 0x9e3779b97f4a7c15u + 1;
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 11;
  };
  const auto for_each_element = [&](int tensor, const auto& call) {
    const auto& declared = formula.tensor(tensor);
    std::size_t k = 0;
    for (const auto& multi_index : multi_indices(extents_of(formula, tensor))) {
      const auto points = declared.form.on_grid ? formula.extent(formula.grid) : 1;
      for (std::int64_t x = 0; x < points; ++x) call(multi_index, x, k++);
    }
  };
  for (std::size_t t = 0; t < formula.tensors.size(); ++t) {
    const auto& tensor = formula.tensors[t];
    const int id = static_cast<int>(t);
    if (tensor.role == TensorRole::local || tensor.role == TensorRole::temp) continue;
    auto& values = reference.values(tensor.name);
    const auto given = inputs.given.find(tensor.name);
    for_each_element(id, [&](const std::vector<std::int64_t>& multi_index, std::int64_t x, std::size_t k) {
      Value value;
      if (given != inputs.given.end()) {
        value = given->second.at(k);
      } else if (is_integer(tensor.type)) {
        value.integer = static_cast<std::int64_t>(next() % inputs.integers);
      } else {
        value.real = 0.5 + static_cast<double>(next()) * 0x1p-53;
        if (is_complex(tensor.type)) value.real += std::complex<double>(0, static_cast<double>(next()) * 0x1p-53);
        if (tensor.type == DType::f32) value.real = static_cast<float>(value.real.real());
      }
      if (tensor.role != TensorRole::output) elements.write(id, multi_index, x, value);
    });
    // Through the storages, so that equal components are equal and an output holds what it holds.
    for_each_element(id, [&](const std::vector<std::int64_t>& multi_index, std::int64_t x, std::size_t k) {
      values[k] = elements.read(id, multi_index, x);
      if (is_integer(tensor.type)) values[k].real = static_cast<double>(values[k].integer);
    });
  }
  std::vector<Scalar> params;
  for (const auto& param : formula.params) {
    const auto value = inputs.params.at(param.name);
    params.emplace_back(is_integer(param.type) ? static_cast<double>(value.integer) : value.real);
    reference.set_param(param.name, value);
  }
  std::vector<void*> pointers;
  for (std::size_t k = 0; k < memory.size(); ++k) {
    pointers.push_back(memory[k].data() - sequence.storages[k].first * size_of(sequence.storages[k].type));
  }
  const auto before = memory;
  ir::interpret(sequence, pointers, params);
  reference.run();
  for (std::size_t k = 0; k < memory.size(); ++k) {
    if (sequence.storages[k].role == ir::Role::input) CHECK(memory[k] == before[k]);
  }
  double unit_roundoff = 0x1p-53;
  for (const auto& tensor : formula.tensors) {
    if (tensor.type == DType::f32 || tensor.type == DType::c64) unit_roundoff = 0x1p-24;
  }
  for (std::size_t t = 0; t < formula.tensors.size(); ++t) {
    const auto& tensor = formula.tensors[t];
    if (tensor.role != TensorRole::output && tensor.role != TensorRole::inout) continue;
    const auto& values = reference.values(tensor.name);
    double worst = 0;  // difference, over the largest that roundings explain
    std::string where;
    std::size_t wrong = 0;
    for_each_element(
        static_cast<int>(t), [&](const std::vector<std::int64_t>& multi_index, std::int64_t x, std::size_t k) {
          const auto got = elements.read(static_cast<int>(t), multi_index, x);
          if (is_integer(tensor.type)) {
            if (got.integer != values[k].integer) ++wrong;
            return;
          }
          if (got.real == values[k].real) return;
          const auto difference = std::abs(got.real - values[k].real) / largest_difference(values[k], unit_roundoff);
          if (std::isnan(difference)) ++wrong;
          if (difference <= worst) return;
          worst = difference;
          where = fmt::format("element {} at {}: {} + {}i, expected {} + {}i, magnitude {}, {} roundings",
                              fmt::join(multi_index, ","), x, got.real.real(), got.real.imag(), values[k].real.real(),
                              values[k].real.imag(), values[k].magnitude(), values[k].rounding.count());
        });
    INFO(program.print());
    INFO("output " << tensor.name << "\n" << where);
    CHECK(wrong == 0);
    CHECK(worst <= 1);
  }
}

}  // namespace ricci::test
