#include "plan/tuning/candidate_timing.hpp"

#include <algorithm>
#include <limits>

namespace ricci::plan {
namespace {

struct Entrant {
  double first_us = 0;
  std::vector<double> samples;
  bool running = true;

  double median() const {
    auto sorted = samples;
    std::sort(sorted.begin(), sorted.end());
    return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
  }
  double best() const { return *std::min_element(samples.begin(), samples.end()); }
};

double leader_us(const std::vector<Entrant>& entrants) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& entrant : entrants) {
    if (entrant.running) least = std::min(least, entrant.median());
  }
  return least;
}

void warm_up(std::vector<Entrant>& entrants, const std::function<double(std::size_t)>& sample,
             const TimingRules& rules) {
  double fastest = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < entrants.size(); ++k) {
    entrants[k].first_us = sample(k);
    fastest = std::min(fastest, entrants[k].first_us);
  }
  for (std::size_t k = 0; k < entrants.size(); ++k) {
    auto& entrant = entrants[k];
    const auto hopeless = [&] { return entrant.first_us > rules.hopeless * fastest; };
    // A single slow run may be noise: repeat it.
    if (hopeless()) entrant.first_us = std::min(entrant.first_us, sample(k));
    entrant.running = !hopeless();
  }
}

}  // namespace

std::vector<Timing> time_candidates(std::size_t count, const std::function<double(std::size_t)>& sample,
                                    const TimingRules& rules) {
  std::vector<Entrant> entrants(count);
  warm_up(entrants, sample, rules);
  double spent_us = 0;
  for (int round = 0; round < rules.rounds; ++round) {
    if (round >= rules.enough && spent_us > rules.limit_us) break;
    for (std::size_t turn = 0; turn < count; ++turn) {
      const auto k = round % 2 == 0 ? turn : count - 1 - turn;
      if (!entrants[k].running) continue;
      const double us = sample(k);
      entrants[k].samples.push_back(us);
      spent_us += us;
    }
    if (round + 1 < rules.least) continue;
    const double leader = leader_us(entrants);
    for (auto& entrant : entrants) entrant.running = entrant.running && entrant.best() <= rules.behind * leader;
  }

  std::vector<Timing> timings;
  for (std::size_t k = 0; k < count; ++k) {
    const auto& entrant = entrants[k];
    timings.push_back(
        {k, entrant.samples.empty() ? entrant.first_us : entrant.median(), static_cast<int>(entrant.samples.size())});
  }
  const double fastest = leader_us(entrants);
  const auto wins = [&](const Timing& t) { return entrants[t.entrant].running && t.us <= (1 + rules.tie) * fastest; };
  const auto winner = std::find_if(timings.begin(), timings.end(), wins);
  std::rotate(timings.begin(), winner, winner + 1);
  std::stable_sort(timings.begin() + 1, timings.end(), [](const Timing& x, const Timing& y) { return x.us < y.us; });
  return timings;
}

}  // namespace ricci::plan
