// Schedules stored beside the kernels: the winners of measurements per problem and kind of device (the tuning store),
// and the model's choices, so that other processes need not search.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cache/store.hpp"
#include "ir/program.hpp"
#include "kernel/schedule.hpp"
#include "plan/tuning/tuning.hpp"
#include "runtime/kernel.hpp"

namespace ricci::runtime {

/// A device's kind as text: devices that it does not tell apart share what was measured on one of them.
///   threads  CPU: that a plan uses
std::string device_kind(const Target& target, int threads);

/// The lock that a measurement on a device holds; after waiting this long for others it measures anyway.
std::string timing_lock(const Target& target);
inline constexpr std::chrono::seconds kTimingPatience{60};

/// Everything that a measurement depends on, as text: the canonical program, the kind of device, the generator.
///   library  ProductLibrary::identity() of the one that was timed too; empty: none
std::string tuning_key(std::string_view program_text, const Target& target, int threads, std::string_view library = {});

/// The tuning stored under a key, or null, also where the entry is invalid. Store errors do not throw.
std::shared_ptr<const plan::Tuning> find_tuning(cache::Store& store, const std::string& key);

/// The tuning in an entry, or null.
std::shared_ptr<const plan::Tuning> tuning_of(const cache::Entry& entry);

/// An entry of the store. Its metadata is a JSON object with "tuned" (name of the kernel), "schedule", "us", "device".
cache::Entry tuning_entry(const std::string& key, const ir::Program& program, const Target& target, int threads,
                          const plan::Tuning& tuning);

/// Everything that the model's choice depends on, as text: the canonical program, the target, the generator.
///   model  the device model as plan::print() writes it
std::string choice_key(std::string_view program_text, const Target& target, const std::string& model);

/// The schedule stored under a key, or nothing, also where the entry is invalid.
///   best  one that need not be verified where it is that; or null
std::optional<kernel::Schedule> find_choice(cache::Store& store, const std::string& key, const ir::Program& program,
                                            kernel::Target target, const kernel::Schedule* best = nullptr);

/// An entry of the store. Its metadata is a JSON object with "chosen" (name of the kernel) and "schedule".
cache::Entry choice_entry(const std::string& key, const ir::Program& program, const kernel::Schedule& schedule);

/// The schedule in a text, with this name; nothing where it is invalid for the program.
std::optional<kernel::Schedule> named_schedule(std::string_view name, std::string_view text, const ir::Program& program,
                                               kernel::Target target);

}  // namespace ricci::runtime
