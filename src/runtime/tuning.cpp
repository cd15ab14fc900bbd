#include "runtime/tuning.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "ricci/error.hpp"

namespace ricci::runtime {
namespace {

constexpr char kKeyHead[] = "ricci tuning 1\n";

/// Names of devices and schedules stand in JSON as they are, but for what would end a string.
std::string json_text(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '"' || c == '\\' || (c >= 0 && c < ' '); }, '_');
  return text;
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

std::string tuning_key(const ir::Program& program, const Target& target, int threads) {
  return fmt::format("{}generator {}\ndevice {}\n{}", kKeyHead, codegen::generator_version(),
                     device_kind(target, threads), ir::print(program));
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
  entry.metadata =
      fmt::format(R"({{"tuned":"{}","schedule":"{}","us":{:.3f},"device":"{}"}})", codegen::kernel_name(program),
                  json_text(tuning.winner().name), tuning.winner().us, json_text(device_kind(target, threads)));
  entry.source = plan::print(tuning);
  return entry;
}

std::string choice_key(const ir::Program& program, const Target& target, const std::string& figures) {
  return fmt::format("ricci choice 1\ngenerator {}\ntarget {}\n{}{}", codegen::generator_version(), target.text(),
                     figures, ir::print(program));
}

std::optional<ir::Schedule> find_choice(cache::Store& store, const std::string& key, const ir::Program& program) {
  const auto entry = store.find(key);
  if (!entry) return std::nullopt;
  const std::string_view text = entry->source;
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  return named_schedule(text.substr(0, end), text.substr(end + 1), program);
}

cache::Entry choice_entry(const std::string& key, const ir::Program& program, const ir::Schedule& schedule) {
  cache::Entry entry;
  entry.key = key;
  entry.metadata =
      fmt::format(R"({{"chosen":"{}","schedule":"{}"}})", codegen::kernel_name(program), json_text(schedule.name));
  entry.source = fmt::format("{}\n{}", schedule.name, ir::print(schedule, program));
  return entry;
}

std::optional<ir::Schedule> named_schedule(std::string_view name, std::string_view text, const ir::Program& program) {
  auto schedule = ir::parse_schedule(text, program);
  if (!schedule) return std::nullopt;
  schedule->name = name;
  try {
    ir::verify(*schedule, program);
  } catch (const InternalError&) {  // not one that was ever proposed for this program
    return std::nullopt;
  }
  return schedule;
}

}  // namespace ricci::runtime
