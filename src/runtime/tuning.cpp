#include "runtime/tuning.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "json/json.hpp"
#include "ricci/error.hpp"

namespace ricci::runtime {
namespace {

constexpr char kKeyHead[] = "ricci tuning 1\n";

std::string choice_text(const kernel::Schedule& schedule) {
  return fmt::format("{}\n{}", schedule.name, kernel::print(schedule));
}

}  // namespace

std::string device_kind(const Target& target, int threads) {
  if (target.device == Device::cpu) {
    const long l3_bytes = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), 0L);
    return fmt::format("{}, L3 {} KB, {} threads", target.text(), l3_bytes >> 10, threads);
  }
  const auto info = jit::cuda::device_info(target.ordinal);
  return fmt::format("{}, sm_{}, {} multiprocessors, L2 {} KB, memory {} bits at {} kHz", info.name, info.sm,
                     info.multiprocessors, info.l2_bytes >> 10, info.memory_bus_bits, info.memory_clock_khz);
}

std::string timing_lock(const Target& target) {
  return target.device == Device::cpu ? "timing-cpu" : fmt::format("timing-gpu{}", target.ordinal);
}

std::string tuning_key(std::string_view program_text, const Target& target, int threads, std::string_view library) {
  return fmt::format("{}generator {}\ndevice {}\n{}{}", kKeyHead, codegen::generator_version(),
                     device_kind(target, threads), library.empty() ? "" : fmt::format("library {}\n", library),
                     program_text);
}

std::shared_ptr<const plan::Tuning> tuning_of(const cache::Entry& entry) {
  auto tuning = plan::parse_tuning(entry.source);
  return tuning ? std::make_shared<const plan::Tuning>(std::move(*tuning)) : nullptr;
}

std::shared_ptr<const plan::Tuning> find_tuning(cache::Store& store, const std::string& key) {
  const auto entry = store.find(key);
  return entry ? tuning_of(*entry) : nullptr;
}

cache::Entry tuning_entry(const std::string& key, const ir::Program& program, const Target& target, int threads,
                          const plan::Tuning& tuning) {
  cache::Entry entry;
  entry.key = key;
  entry.metadata = Json{{"tuned", codegen::kernel_name(program)},
                        {"schedule", tuning.winner().name},
                        {"us", std::round(1000 * tuning.winner().us) / 1000},
                        {"device", device_kind(target, threads)}}
                       .dump();
  entry.source = plan::print(tuning);
  return entry;
}

std::string choice_key(std::string_view program_text, const Target& target, const std::string& model) {
  return fmt::format("ricci choice 1\ngenerator {}\ntarget {}\n{}{}", codegen::generator_version(), target.text(),
                     model, program_text);
}

std::optional<kernel::Schedule> find_choice(cache::Store& store, const std::string& key, const ir::Program& program,
                                            kernel::Target target, const kernel::Schedule* best) {
  const auto entry = store.find(key);
  if (!entry) return std::nullopt;
  const std::string_view text = entry->source;
  if (best != nullptr && text == choice_text(*best)) return *best;
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  return named_schedule(text.substr(0, end), text.substr(end + 1), program, target);
}

cache::Entry choice_entry(const std::string& key, const ir::Program& program, const kernel::Schedule& schedule) {
  cache::Entry entry;
  entry.key = key;
  entry.metadata = Json{{"chosen", codegen::kernel_name(program)}, {"schedule", schedule.name}}.dump();
  entry.source = choice_text(schedule);
  return entry;
}

std::optional<kernel::Schedule> named_schedule(std::string_view name, std::string_view text, const ir::Program& program,
                                               kernel::Target target) {
  auto schedule = kernel::parse_schedule(text);
  if (!schedule) return std::nullopt;
  schedule->name = name;
  try {
    kernel::verify(*schedule, program, target, false);
  } catch (const Error&) {  // not one that was ever proposed for this program
    return std::nullopt;
  }
  return schedule;
}

}  // namespace ricci::runtime
