// Measured properties of a device for its model, kept beside the tuning store.
#pragma once

#include <memory>

#include "cache/store.hpp"
#include "plan/tuning/tuning.hpp"
#include "runtime/kernel.hpp"

namespace ricci::runtime {

/// The stored measurement for the target's kind of device, or null.
std::shared_ptr<const plan::MeasuredMemory> find_measured_memory(cache::Store& store, const Target& target);

/// Measures now, for up to `threads` threads of a CPU, and keeps it. A second or two. Throws DeviceError when there is
/// no memory, or the device fails.
std::shared_ptr<const plan::MeasuredMemory> measure_memory(cache::Store& store, const Target& target, int threads);

}  // namespace ricci::runtime
