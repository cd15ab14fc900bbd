#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "kernel/composite.hpp"
#include "plan/plan.hpp"
#include "ricci/error.hpp"

namespace ricci::plan {

const Candidate& choose(const std::vector<Candidate>& list, const std::string& name) {
  if (list.empty()) throw InternalError("a problem without a single schedule; please report it");
  if (name.empty()) return list.front();
  const auto place =
      std::find_if(list.begin(), list.end(), [&](const Candidate& c) { return c.schedule.name == name; });
  if (place != list.end()) return *place;
  std::vector<std::string> names;
  for (const auto& candidate : list) names.push_back("  " + candidate.schedule.name);
  throw PlanError(fmt::format("no schedule \"{}\" for this problem; there are\n{}", name, fmt::join(names, "\n")));
}

std::vector<std::string> entrants(const std::vector<Candidate>& list, int count) {
  constexpr double kNear = 4.0 / 3;
  // What holds a tile that is moved, and whether rectangles of it are read; nothing of others.
  const auto kind = [](const Candidate& c) -> std::optional<std::pair<std::string_view, bool>> {
    const auto& directives = c.schedule.directives;
    const auto stage = std::find_if(directives.begin(), directives.end(), [](const kernel::Directive& d) {
      return d.kind == kernel::Directive::Kind::stage;
    });
    if (stage == directives.end() || !kernel::has_write(directives)) return std::nullopt;
    const auto& said = stage->loops;
    return std::pair(std::string_view(stage->space),
                     std::any_of(said.begin(), said.end(), [](const auto& group) { return group.first == "rows"; }));
  };
  const auto otherwise = [&](const Candidate& c) {
    return kind(c) != kind(list[0]) && c.predicted_us <= kNear * list[0].predicted_us;
  };
  const auto written = std::find_if(list.begin(), list.end(), [](const Candidate& c) { return c.written; });
  std::vector<bool> taken(static_cast<std::size_t>(written - list.begin()));
  const auto take = [&](int room, auto&& wanted) {
    for (std::size_t k = 0; k < taken.size() && room > 0; ++k) {
      if (taken[k] || !wanted(list[k])) continue;
      taken[k] = true;
      --room;
    }
    return room;
  };
  int most = std::max(count, 1);
  // A library's rate is known, not what its products lose to their shapes.
  if (most > 1) most -= 1 - take(1, [](const Candidate& c) { return kernel::is_library_product(c.schedule); });
  const int kept = most / 3;
  take(most - kept + take(kept, otherwise), [](const Candidate&) { return true; });
  std::vector<std::string> names;
  for (std::size_t k = 0; k < taken.size(); ++k) {
    if (taken[k]) names.push_back(list[k].schedule.name);
  }
  return names;
}

const char* name(Reason reason) noexcept {
  switch (reason) {
    case Reason::estimated:
      return "estimated";
    case Reason::named:
      return "named";
    case Reason::tuned:
      return "tuned";
    case Reason::measured:
      return "measured";
  }
  return "?";
}

namespace {

/// The columns of a table of candidates whose predictions are of parts: of one of them each part that it has.
std::vector<std::string> part_names(const std::vector<Candidate>& list) {
  std::vector<std::string> names;
  for (const auto& candidate : list) {
    for (const auto& part : candidate.parts) {
      if (std::find(names.begin(), names.end(), part.what) == names.end()) names.emplace_back(part.what);
    }
  }
  return names;
}

std::string head_of(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) text += fmt::format(" {:>9}", part);
  if (!parts.empty()) return text + "   (us, each on its own)\n";
  return fmt::format(" {:>9} {:>9} {:>11} {:>11} {:>10} {:>6} {:>9}\n", "read run", "write run", "sectors rd",
                     "sectors wr", "conflicts", "occ.", "tiles");
}

std::string row_of(const Candidate& candidate, const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& name : parts) {
    const auto part =
        std::find_if(candidate.parts.begin(), candidate.parts.end(), [&](const TimePart& p) { return p.what == name; });
    text += part == candidate.parts.end() ? fmt::format(" {:>9}", "-") : fmt::format(" {:>9.1f}", part->us);
  }
  if (!parts.empty()) return text + "\n";
  const auto& t = candidate.traffic;
  if (t.read.bytes + t.write.bytes == 0)  // predicted by other counts
    return fmt::format(" {0:>9} {0:>9} {0:>11} {0:>11} {0:>10} {0:>6} {1:>9}\n", "-", t.tiles);
  const auto conflicts = t.ideal_wavefronts > 0 ? fmt::format("{:.2f}x", t.bank_wavefronts / t.ideal_wavefronts) : "-";
  return fmt::format(" {:>7} B {:>7} B {:>11.0f} {:>11.0f} {:>10} {:>5.0f}% {:>9}\n", t.read.run_bytes,
                     t.write.run_bytes, t.read.sectors, t.write.sectors, conflicts, 100 * t.occupancy, t.tiles);
}

}  // namespace

std::string bounds(const Candidate& candidate) {
  if (!candidate.parts.empty()) {
    const auto longest = std::max_element(candidate.parts.begin(), candidate.parts.end(),
                                          [](const TimePart& x, const TimePart& y) { return x.us < y.us; });
    return fmt::format("bound by {} ({:.1f} us){}", longest->what, longest->us,
                       candidate.note.empty() ? "" : ", " + candidate.note);
  }
  const auto& t = candidate.traffic;
  if (t.read.bytes + t.write.bytes == 0) return fmt::format("{:.1f} us", candidate.predicted_us);
  return fmt::format(
      "touches {:.0f} B in sectors of 32 B for {} B of elements ({:.2f}x)", t.predicted_bytes(),
      t.read.bytes + t.write.bytes,
      t.predicted_bytes() / static_cast<double>(std::max<std::int64_t>(t.read.bytes + t.write.bytes, 1)));
}

std::string explain(const std::vector<Candidate>& list, const Candidate& chosen, const std::string& device,
                    Reason reason, Precision precision, const Tuning* tuning) {
  // Register tiles and plain schedules of a CPU sum in two orders: which of them come first, one thread decides.
  const auto falls = [](const Candidate& x, const Candidate& y) {
    return x.written == y.written && y.predicted_us < x.predicted_us;
  };
  const bool kinds = std::adjacent_find(list.begin(), list.end(), falls) != list.end();
  std::string text =
      fmt::format("candidates for {}{}, best prediction first{}{}\n\n", device,
                  precision == Precision::operands ? "" : fmt::format(", products in {}", name(precision)),
                  kinds ? " of each kind" : "", !list.empty() && list.back().written ? ", then what is written" : "");
  std::size_t width = 10;
  for (const auto& candidate : list) width = std::max(width, candidate.schedule.name.size());
  const auto measured = [&](const std::string& what) {
    return tuning == nullptr ? std::string() : fmt::format(" {:>10}", what);
  };
  const auto parts = part_names(list);
  text += fmt::format("   {:<{}} {:>10}{}{}", "schedule", width, "predicted", measured("measured"), head_of(parts));
  for (const auto& candidate : list) {
    const auto* timed = tuning == nullptr ? nullptr : tuning->find(candidate.schedule.name);
    text += fmt::format("{}  {:<{}} {:>7.1f} us{}{}", &candidate == &chosen ? "*" : " ", candidate.schedule.name, width,
                        candidate.predicted_us, measured(timed == nullptr ? "-" : fmt::format("{:.1f} us", timed->us)),
                        row_of(candidate, parts));
  }
  text += fmt::format("\n* {}: {}", chosen.schedule.name, bounds(chosen));
  const bool least = std::none_of(list.begin(), list.end(), [&](const Candidate& other) {
    return other.written == chosen.written && other.predicted_us < chosen.predicted_us;
  });
  switch (reason) {
    case Reason::estimated:
      if (least) return text + ", the least predicted time\n";
      if (&chosen != &list.front()) return text + ", the least predicted time of those that a plan looks at\n";
      return text +
             ", the least predicted time of the kind that one thread would have, as results do not depend on the "
             "number of threads\n";
    case Reason::named:
      return text + ", as asked for\n";
    case Reason::tuned:
      return text + ", the fastest when this problem was measured on this device\n";
    case Reason::measured:
      return text + ", the fastest of those measured just now\n";
  }
  return text + "\n";
}

}  // namespace ricci::plan
