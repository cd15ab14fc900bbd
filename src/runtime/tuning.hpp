// The tuning store: which schedule won when a problem was measured on a kind of device, kept beside the kernels.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "cache/store.hpp"
#include "ir/program.hpp"
#include "plan/tuning.hpp"
#include "runtime/kernel.hpp"

namespace ricci::runtime {

/// A device's kind as text: devices that it does not tell apart share what was measured on one of them.
///   threads  CPU: that a plan uses
std::string device_kind(const Target& target, int threads);

/// Who measures on a device holds this lock of the store; he waits so long for others, then measures beside them.
std::string timing_lock(const Target& target);
inline constexpr std::chrono::seconds kTimingPatience{60};

/// Everything that a measurement depends on, as text: the canonical program, the kind of device, the generator.
std::string tuning_key(const ir::Program& program, const Target& target, int threads);

/// What is stored under a key, or null. Whatever is wrong with an entry makes it none. Never throws for the store.
std::shared_ptr<const plan::Tuning> find_tuning(cache::Store& store, const std::string& key);

/// What an entry says, or null.
std::shared_ptr<const plan::Tuning> tuning_of(const cache::Entry& entry);

/// An entry of the store. Its metadata is a JSON object with "tuned" (name of the kernel), "schedule", "us", "device".
cache::Entry tuning_entry(const std::string& key, const ir::Program& program, const Target& target, int threads,
                          const plan::Tuning& tuning);

}  // namespace ricci::runtime
