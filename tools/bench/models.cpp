#include "bench/models.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "report/statistics.hpp"

namespace ricci::tools {

void ModelComparison::add(const std::vector<TimedCandidate>& timed, std::size_t choice, Json& row) {
  using Timed = TimedCandidate;
  if (std::any_of(timed.begin(), timed.end(), [](const Timed& t) { return t.mwp_cwp_us <= 0; })) return;
  const auto best =
      std::min_element(timed.begin(), timed.end(), [](const Timed& x, const Timed& y) { return x.ms < y.ms; });
  const auto other = std::min_element(timed.begin(), timed.end(), [](const Timed& x, const Timed& y) {
    return std::tie(x.mwp_cwp_us, x.predicted_us) < std::tie(y.mwp_cwp_us, y.predicted_us);
  });
  const auto column = [&](double Timed::* member) {
    std::vector<double> values;
    for (const auto& t : timed) values.push_back(t.*member);
    return values;
  };
  const auto score = [&](Scores& scores, const Timed& taken, double Timed::* prediction) {
    scores.over_best.push_back(taken.ms / best->ms);
    const auto correlation = rank_correlation(column(prediction), column(&Timed::ms));
    if (correlation) scores.correlations.push_back(*correlation);
    return Json{
        {"plan", taken.plan}, {"ms", taken.ms}, {"rank_correlation", correlation ? Json(*correlation) : Json()}};
  };
  row["models"] = {{"ricci", score(ricci_, timed[choice], &Timed::predicted_us)},
                   {"mwp_cwp", score(mwp_cwp_, *other, &Timed::mwp_cwp_us)}};
}

Json ModelComparison::Scores::json() const {
  const auto count = static_cast<double>(correlations.size());
  const double sum = std::accumulate(correlations.begin(), correlations.end(), 0.0);
  return {{"over_best_timed", summary(over_best)},
          {"rank_correlation", correlations.empty() ? Json() : Json(sum / count)}};
}

void ModelComparison::report(Json& result) const {
  if (ricci_.over_best.empty()) return;
  result["models"] = {{"ricci", ricci_.json()}, {"mwp_cwp", mwp_cwp_.json()}};
}

void ModelComparison::print_report(const Json& result) {
  if (!result.contains("models")) return;
  const std::pair<const char*, const char*> rows[] = {{"ricci", "model over best timed"},
                                                      {"mwp_cwp", "MWP-CWP over best timed"}};
  for (const auto& [key, title] : rows) {
    const auto& scores = result["models"][key];
    print_summary(title, scores["over_best_timed"]);
    if (scores["rank_correlation"].is_number())
      print("{:<28} mean {:.3f}\n", "rank correlation", scores["rank_correlation"].number());
  }
}

}  // namespace ricci::tools
