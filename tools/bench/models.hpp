// Models of GPU permutations beside each other: what their choices among timed candidates cost, and how they rank them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/report.hpp"

namespace ricci::tools {

struct TimedCandidate {
  std::string plan;
  double ms = 0;
  double predicted_us = 0, mwp_cwp_us = 0;  ///< by Ricci's model and by MWP-CWP
};

class ModelComparison {
 public:
  /// One case, into its row; `choice` is what Ricci's model takes. Of candidates that MWP-CWP takes for equal the one
  /// that Ricci's model prefers counts as its choice. Cases with a candidate that MWP-CWP says nothing of are left out.
  void add(const std::vector<TimedCandidate>& timed, std::size_t choice, Json& row);
  /// Over all cases, into the results.
  void report(Json& result) const;
  /// Of such results, for people.
  static void print_report(const Json& result);

 private:
  struct Scores {
    std::vector<double> over_best;     // the choice's time, of the best timed one's
    std::vector<double> correlations;  // of predictions and times
    Json json() const;
  };
  Scores ricci_, mwp_cwp_;
};

}  // namespace ricci::tools
