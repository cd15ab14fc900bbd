// What was measured, as text for the tuning store: for one problem the schedule that won and what it won against, for a
// device what its memory does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::plan {

struct TimedSchedule {
  std::string name;  ///< of a candidate
  double us = 0;     ///< median
  int samples = 0;   ///< 0: given up after its first two runs, the better of which `us` is
};

/// The winner first; at least one.
struct Tuning {
  std::vector<TimedSchedule> timed;
  std::string schedule = {};  ///< the winner's, as ir::print writes it; empty where it is to be looked for by its name
  const TimedSchedule& winner() const { return timed.front(); }
  /// What was measured for a schedule, or null.
  const TimedSchedule* find(std::string_view name) const;
};

/// A table of lines "us <tab> samples <tab> schedule" under a head; then an empty line and the winner's schedule.
std::string print(const Tuning& tuning);

/// What print wrote; nothing for any other text.
std::optional<Tuning> parse_tuning(std::string_view text);

/// GB/s with so many threads, of buffers larger than the caches; a copy counts what it reads and what it writes.
struct MemoryRates {
  int threads = 0;           ///< 0: a GPU, which has copy_GBs alone
  double copy_GBs = 0;       ///< with ordinary stores
  double streaming_GBs = 0;  ///< with stores past the caches
  double read_GBs = 0;       ///< line after line
  double rows_GBs = 0;       ///< two lines of each of 48 rows in turn: more than a processor fetches ahead by itself
  double write_GBs = 0;      ///< past the caches, line after line
  double apart_GBs = 0;      ///< the same where neighbours follow after 256 lines whose addresses share their low bits
};

/// By rising numbers of threads; at least one.
struct MeasuredFigures {
  std::vector<MemoryRates> rates;
  /// Of as many threads, or of the next smaller number that was measured.
  const MemoryRates& of(int threads) const;
};

/// A table. Two digits of each rate are kept: the rest is noise, and nothing that is planned should depend on it.
std::string print(const MeasuredFigures& figures);

/// What print wrote; nothing for any other text.
std::optional<MeasuredFigures> parse_figures(std::string_view text);

}  // namespace ricci::plan
