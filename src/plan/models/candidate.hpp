// A schedule with its counted traffic and predicted time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel/schedule.hpp"
#include "plan/models/contraction_counts.hpp"
#include "plan/models/contraction_counts_cpu.hpp"
#include "plan/models/plain_counts_cpu.hpp"
#include "plan/models/traffic.hpp"

namespace ricci::plan {

/// What a part of the work would take on its own, in microseconds.
struct TimePart {
  const char* what;  ///< a column's head in what `explain` prints
  double us = 0;
};

struct Candidate {
  kernel::Schedule schedule;
  Traffic traffic;
  double predicted_us = 0;
  std::vector<TimePart> parts;                 ///< of the prediction; none where `traffic` says what it is of
  std::optional<ContractionCounts> counts;     ///< of a contraction on a GPU
  std::vector<CpuContractionCounts> products;  ///< of a contraction on a CPU, and of each one of a group
  std::optional<PlainCpuCounts> plain;         ///< of a plain schedule on a CPU
  std::string note;                            ///< what else `explain` says of it
  std::int64_t workspace_bytes = 0;            ///< of its copies, where it is several steps
  /// Of a contraction on a GPU, where it was worked out: seconds that its best tiles of warps would save if the operand
  /// of the rows, or of the columns, were copied by whole vectors and sectors.
  std::optional<std::array<double, 2>> gathers;
  bool written = false;  ///< given as a text, not proposed: listed last
};

/// The least predicted times first, of equal ones what came first; `most` of them at most.
inline void sort_by_time(std::vector<Candidate>& list, std::size_t most = std::numeric_limits<std::size_t>::max()) {
  std::stable_sort(list.begin(), list.end(),
                   [](const Candidate& x, const Candidate& y) { return x.predicted_us < y.predicted_us; });
  if (list.size() > most) list.resize(most);
}

/// One that is weighed while a plan is made, mostly for its time alone: its schedule, the parts of that time and its
/// note are made where they are asked for.
struct WeighedCandidate : Candidate {
  std::function<void(Candidate&)> complete;  ///< makes these; none where they are there

  const Candidate& whole() {
    if (complete) std::exchange(complete, nullptr)(*this);
    return *this;
  }
};

}  // namespace ricci::plan
