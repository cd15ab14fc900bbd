// What a device does at best, measured once and kept beside the tuning store.
#pragma once

#include <memory>

#include "cache/store.hpp"
#include "plan/tuning.hpp"
#include "runtime/kernel.hpp"

namespace ricci::runtime {

/// What is kept for the target's kind of device, or null.
std::shared_ptr<const plan::MeasuredFigures> find_figures(cache::Store& store, const Target& target);

/// Measures now, for up to `threads` threads of a CPU, and keeps it. A second or two. Throws DeviceError when there is
/// no memory, or the device fails.
std::shared_ptr<const plan::MeasuredFigures> measure_figures(cache::Store& store, const Target& target, int threads);

}  // namespace ricci::runtime
