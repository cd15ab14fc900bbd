// A random einsum on a GPU: its tensors copied there, and the result back.
#pragma once

#include <span>
#include <vector>

#include "device_memory.hpp"
#include "fuzz/random_einsum.hpp"
#include "ricci/ricci.hpp"

namespace ricci::fuzz {

/// Runs a plan of the einsum with its tensors on the current device; the last one gets the result. Throws DeviceError.
inline void run_on_device(const Plan& plan, RandomEinsum& e) {
  std::vector<tests::DeviceMemory> copies;
  std::vector<const void*> inputs;
  for (const auto& tensor : e.tensors) {
    copies.emplace_back(tensor.begin(), tensor.bytes());
    inputs.push_back(copies.back().get() + tensor.origin());
  }
  inputs.pop_back();
  auto& result = e.tensors.back();
  void* const output = copies.back().get() + result.origin();
  plan(std::span<void* const>(&output, 1), inputs, e.call());
  copies.back().copy_to_host(result.begin());
}

}  // namespace ricci::fuzz
