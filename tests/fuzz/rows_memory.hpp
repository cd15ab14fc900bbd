// Memory of random programs of rows: small numbers of 8 bits, which all types hold.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "fuzz/area.hpp"
#include "ir/sequence.hpp"

namespace ricci::fuzz {

template <class Real>
void fill(unsigned char* memory, std::size_t bytes, std::mt19937_64& random) {
  for (std::size_t at = 0; at + sizeof(Real) <= bytes; at += sizeof(Real)) {
    const auto value = static_cast<Real>(std::uniform_int_distribution<int>(-64, 64)(random)) / static_cast<Real>(32);
    std::memcpy(memory + at, &value, sizeof value);
  }
}

inline void fill(DType type, unsigned char* memory, std::size_t bytes, std::mt19937_64& random) {
  switch (part_type(type)) {
    case DType::f64:
      return fill<double>(memory, bytes, random);
    case DType::f32:
      return fill<float>(memory, bytes, random);
    case DType::i32:
      return fill<std::int32_t>(memory, bytes, random);
    default:
      for (std::size_t at = 0; at + 2 <= bytes; at += 2) {
        const auto sign = static_cast<unsigned>(random() % 2) << 15, fraction = static_cast<unsigned>(random() % 128);
        const auto bits = static_cast<std::uint16_t>(sign | (type == DType::bf16 ? 0x3f00U : 0x3800U) | fraction);
        std::memcpy(memory + at, &bits, sizeof bits);
      }
  }
}

struct TensorMemory {
  std::vector<std::unique_ptr<Line[]>> lines;
  std::vector<Area> areas;
  std::vector<void*> pointers;  ///< per storage; workspace: null
};

inline TensorMemory tensors_of(const ir::Sequence& sequence, std::mt19937_64& random) {
  TensorMemory made;
  for (const auto& storage : sequence.storages) {
    if (storage.role == ir::Role::workspace) break;
    const auto bytes = static_cast<std::size_t>((storage.last + 1) * size_of(storage.type));
    auto& line = made.lines.emplace_back(std::make_unique<Line[]>(bytes / sizeof(Line) + 1));
    fill(storage.type, line[0].at, bytes, random);
    made.areas.push_back({line[0].at, bytes, line[0].at});
    made.pointers.push_back(line[0].at);
  }
  made.pointers.resize(sequence.storages.size());
  return made;
}

}  // namespace ricci::fuzz
