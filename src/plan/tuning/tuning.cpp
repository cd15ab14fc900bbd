#include "plan/tuning/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "ir/read_number.hpp"

namespace ricci::plan {
namespace {

constexpr std::string_view kMemoryHead =
    "threads\tcopy GB/s\tstreaming GB/s\tread GB/s\tahead GB/s\trows GB/s\twrite GB/s\tapart GB/s\tmultiply GF/s\tpage "
    "ns\t"
    "small page ns\n";
constexpr std::array kFigures = {&MemoryRates::copy_GBs,     &MemoryRates::streaming_GBs, &MemoryRates::read_GBs,
                                 &MemoryRates::ahead_GBs,    &MemoryRates::rows_GBs,      &MemoryRates::write_GBs,
                                 &MemoryRates::apart_GBs,    &MemoryRates::multiply_GFs,  &MemoryRates::page_ns,
                                 &MemoryRates::small_page_ns};
constexpr std::size_t kOfPages = 2;  // of these, the last ones
constexpr std::string_view kHead = "microseconds\tsamples\tschedule, the winner first\n";

/// Takes the text up to `end` off the front; nothing where `end` is missing.
std::optional<std::string_view> take(std::string_view& text, char end) {
  const auto place = text.find(end);
  if (place == std::string_view::npos) return std::nullopt;
  const auto part = text.substr(0, place);
  text.remove_prefix(place + 1);
  return part;
}

template <class T>
bool read(std::string_view text, T& value) {
  const auto number = ir::read_number<T>(text);
  value = number.value_or(value);
  return number.has_value();
}

}  // namespace

const TimedSchedule* Tuning::find(std::string_view name) const {
  const auto place = std::find_if(timed.begin(), timed.end(), [&](const TimedSchedule& t) { return t.name == name; });
  return place == timed.end() ? nullptr : &*place;
}

std::string print(const Tuning& tuning) {
  std::string text(kHead);
  for (const auto& t : tuning.timed) text += fmt::format("{:.3f}\t{}\t{}\n", t.us, t.samples, t.name);
  if (!tuning.schedule.empty()) text += '\n' + tuning.schedule;
  return text;
}

std::optional<Tuning> parse_tuning(std::string_view text) {
  if (!text.starts_with(kHead)) return std::nullopt;
  text.remove_prefix(kHead.size());
  Tuning tuning;
  while (!text.empty()) {
    if (text.starts_with('\n')) {
      tuning.schedule = text.substr(1);
      break;
    }
    const auto us = take(text, '\t'), samples = take(text, '\t'), name = take(text, '\n');
    TimedSchedule one;
    if (!us || !samples || !name || name->empty() || !read(*us, one.us) || !read(*samples, one.samples))
      return std::nullopt;
    if (!std::isfinite(one.us) || one.us < 0 || one.samples < 0) return std::nullopt;
    one.name = *name;
    tuning.timed.push_back(std::move(one));
  }
  if (tuning.timed.empty()) return std::nullopt;
  return tuning;
}

const MemoryRates& MeasuredMemory::of(int threads) const {
  const auto above =
      std::find_if(rates.begin(), rates.end(), [&](const MemoryRates& r) { return r.threads > threads; });
  return above == rates.begin() ? rates.front() : *(above - 1);
}

MeasuredMemory better_of(const MeasuredMemory& latest, const MeasuredMemory& before) {
  auto better = latest;
  for (const auto& known : before.rates) {
    const auto place = std::find_if(better.rates.begin(), better.rates.end(),
                                    [&](const MemoryRates& r) { return r.threads >= known.threads; });
    if (place == better.rates.end() || place->threads != known.threads) {
      better.rates.insert(place, known);
      continue;
    }
    for (const auto figure : std::span(kFigures).first(kFigures.size() - kOfPages))
      (*place).*figure = std::max((*place).*figure, known.*figure);
  }
  return better;
}

std::string print(const MeasuredMemory& measured) {
  std::string text(kMemoryHead);
  for (const auto& r : measured.rates) {
    text += fmt::format("{}", r.threads);
    for (const auto figure : kFigures) text += fmt::format("\t{:.1e}", r.*figure);
    text += '\n';
  }
  return text;
}

std::optional<MeasuredMemory> parse_measured_memory(std::string_view text) {
  if (!text.starts_with(kMemoryHead)) return std::nullopt;
  text.remove_prefix(kMemoryHead.size());
  MeasuredMemory measured;
  const auto rate = [](std::string_view word, double& value) {
    return read(word, value) && std::isfinite(value) && value >= 0;
  };
  while (!text.empty()) {
    const auto threads = take(text, '\t');
    MemoryRates r;
    bool whole = threads && read(*threads, r.threads);
    for (const auto& figure : kFigures) {
      const auto word = take(text, &figure == &kFigures.back() ? '\n' : '\t');
      whole = whole && word && rate(*word, r.*figure);
    }
    if (!whole) {
      return std::nullopt;
    }
    const bool rising = measured.rates.empty() ? r.threads >= 0 : r.threads > measured.rates.back().threads;
    if (!rising || r.copy_GBs == 0 || (r.threads > 0 && r.multiply_GFs == 0)) return std::nullopt;
    measured.rates.push_back(r);
  }
  if (measured.rates.empty()) return std::nullopt;
  return measured;
}

}  // namespace ricci::plan
