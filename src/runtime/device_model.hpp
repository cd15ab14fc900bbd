// Measured properties of a device for its model, kept beside the tuning store.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cache/store.hpp"
#include "plan/models/device_model.hpp"
#include "plan/tuning/tuning.hpp"
#include "runtime/kernel.hpp"
#include "runtime/product_library.hpp"

namespace ricci::runtime {

/// The stored measurement for the target's kind of device, or null.
std::shared_ptr<const plan::MeasuredMemory> find_measured_memory(cache::Store& store, const Target& target);

/// Measures now, for up to `threads` threads of a CPU, and keeps it, or what was better of what was kept: how fast the
/// device is, not what else it did. A second or two. Throws DeviceError when there is
/// no memory, or the device fails.
std::shared_ptr<const plan::MeasuredMemory> measure_memory(cache::Store& store, const Target& target, int threads);

/// The key of what was measured of a library with a number of threads.
std::string library_key(const ProductLibrary& library, const Target& target, int threads);
/// What is stored under a key, or nothing, also where the entry is invalid.
std::optional<plan::LibraryModel> find_library_model(cache::Store& store, const std::string& key);
/// Times products of the library, some milliseconds each, and stores two digits of their rates.
plan::LibraryModel measure_library(cache::Store& store, const std::string& key, const ProductLibrary& library,
                                   int threads);

}  // namespace ricci::runtime
