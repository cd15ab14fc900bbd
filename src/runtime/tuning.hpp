// Schedules that are kept beside the kernels: which won when a problem was measured on a kind of device (the tuning
// store), and which the model chose, so that another process need not search again.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cache/store.hpp"
#include "ir/program.hpp"
#include "ir/schedule.hpp"
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

/// Everything that the model's choice depends on, as text: the canonical program, the target, the generator.
///   figures  of the device, as plan::print writes them
std::string choice_key(const ir::Program& program, const Target& target, const std::string& figures);

/// The schedule kept under a key, or nothing. Whatever is wrong with an entry makes it none.
std::optional<ir::Schedule> find_choice(cache::Store& store, const std::string& key, const ir::Program& program);

/// An entry of the store. Its metadata is a JSON object with "chosen" (name of the kernel) and "schedule".
cache::Entry choice_entry(const std::string& key, const ir::Program& program, const ir::Schedule& schedule);

/// The schedule that such a text says, by this name; nothing where it says none that keeps the program's rules.
std::optional<ir::Schedule> named_schedule(std::string_view name, std::string_view text, const ir::Program& program);

}  // namespace ricci::runtime
