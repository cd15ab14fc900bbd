// A sequence run by the interpreter over memory of its own.
#pragma once

#include <cstddef>
#include <vector>

#include "ir/sequence.hpp"

namespace ricci::tests {

/// What is in each storage after a run; they begin with small numbers that sums of halves round.
///   T  of the tensors: no storage has wider elements
template <class T>
std::vector<std::vector<T>> executed(const ir::Sequence& sequence) {
  std::vector<std::vector<T>> memory;
  std::vector<void*> storages;
  for (const auto& storage : sequence.storages) {
    auto& values = memory.emplace_back(static_cast<std::size_t>(storage.last + 1));
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = 1 + T(0.1) * static_cast<T>(k * 7 % 31);
  }
  for (auto& values : memory) storages.push_back(values.data());
  ir::interpret(sequence, storages, {});
  return memory;
}

}  // namespace ricci::tests
