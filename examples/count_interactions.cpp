// How many pairs of many-body states a two-body interaction connects, counted in two ways: with bit sets of the lowest
// single-particle states as a filter before lists are compared, and with bit sets of all of them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <random>

#include "support/options.hpp"
#include "support/progress.hpp"
#include "support/workbench.hpp"

namespace {

constexpr int kSingleParticleStates = 128;
constexpr int kWords = kSingleParticleStates / 64;
constexpr double kFermi = 35;          // likelihood of single-particle state s: exp(-s / kFermi)
constexpr std::int64_t kBrick = 4096;  // rows that one call counts
constexpr std::int64_t kCheckedRows = 512;

/// Many-body states: ascending lists of occupied single-particle states, and the same as bits.
struct States {
  std::vector<std::int16_t> lists;  // [states][particles]
  std::vector<std::uint64_t> bits;  // [states][kWords]
  std::vector<std::uint64_t> low;   // [states]: the first word alone
};

States random_states(std::int64_t states, std::int64_t particles) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  States out;
  std::vector<std::pair<double, std::int16_t>> drawn(kSingleParticleStates);
  for (std::int64_t k = 0; k < states; ++k) {
    // The states with the smallest of these are a draw without replacement.
    for (int s = 0; s < kSingleParticleStates; ++s) {
      drawn[s] = {-std::log(1 - unit(random)) * std::exp(s / kFermi), static_cast<std::int16_t>(s)};
    }
    std::partial_sort(drawn.begin(), drawn.begin() + particles, drawn.end());
    std::sort(drawn.begin(), drawn.begin() + particles,
              [](const auto& x, const auto& y) { return x.second < y.second; });
    std::array<std::uint64_t, kWords> bits{};
    for (std::int64_t p = 0; p < particles; ++p) {
      const std::int16_t s = drawn[p].second;
      out.lists.push_back(s);
      bits[s / 64] |= std::uint64_t{1} << s % 64;
    }
    out.bits.insert(out.bits.end(), bits.begin(), bits.end());
    out.low.push_back(bits[0]);
  }
  return out;
}

/// Connected states of one row, plainly.
std::int32_t count_row(const States& states, std::int64_t row, std::int64_t particles) {
  std::int32_t count = 0;
  for (std::size_t j = 0; j < states.low.size(); ++j) {
    int common = 0;
    for (int w = 0; w < kWords; ++w) {
      common += std::popcount(states.bits[kWords * row + w] & states.bits[kWords * j + w]);
    }
    count += common >= particles - 2;
  }
  return count;
}

template <class T>
std::vector<T> rows_of(const std::vector<T>& all, std::int64_t first, std::int64_t rows, std::int64_t width) {
  return {all.begin() + first * width, all.begin() + (first + rows) * width};
}

int run(const examples::Options& options) {
  const std::int64_t particles = options.number("particles");
  const std::int64_t states = options.number("states");
  if (particles > kSingleParticleStates / 2) throw std::runtime_error("--particles: at most 64");
  const States all = random_states(states, particles);
  const double pairs = static_cast<double>(states) * static_cast<double>(states);

  examples::Workbench bench(options.device());
  bench.put("bits2", {states}, all.low);
  bench.put("mbs2", {states, particles}, all.lists);
  examples::Workbench exact_bench(options.device());
  exact_bench.put("bits2", {states, kWords}, all.bits);

  const auto count = [&](const char* program, examples::Workbench& on, const std::vector<ricci::Scalar>& params,
                         const auto& put_rows) {
    std::vector<std::int32_t> counts;
    std::int64_t total = 0;
    double ms = 0;
    std::string origin;
    examples::Progress progress(program);
    for (std::int64_t first = 0; first < states; first += kBrick) {
      const std::int64_t rows = std::min(kBrick, states - first);
      put_rows(first, rows);
      const examples::Job job = on.plan(program);
      ms += job.run(params);
      if (first == 0) origin = job.origin();
      const std::vector<std::int32_t> part = on.get<std::int32_t>("counts");
      counts.insert(counts.end(), part.begin(), part.end());
      total += on.get<std::int64_t>("total").at(0);
      progress.done(static_cast<double>(first + rows) / static_cast<double>(states));
    }
    std::printf("%-28s %lld of %.3g pairs, %.3g pairs/s; %s\n", program, static_cast<long long>(total), pairs,
                1e3 * pairs / ms, origin.c_str());
    return std::pair(counts, total);
  };
  const auto [filtered, filtered_total] =
      count("interactions/count_filtered", bench, {}, [&](std::int64_t first, std::int64_t rows) {
        bench.put("bits1", {rows}, rows_of(all.low, first, rows, 1));
        bench.put("mbs1", {rows, particles}, rows_of(all.lists, first, rows, particles));
      });
  const auto [exact, exact_total] =
      count("interactions/count_exact", exact_bench, {static_cast<double>(particles - 2)},
            [&](std::int64_t first, std::int64_t rows) {
              exact_bench.put("bits1", {rows, kWords}, rows_of(all.bits, first, rows, kWords));
            });

  const std::int64_t checked = std::min(states, kCheckedRows);
  std::int64_t wrong = 0;
  std::int64_t reference = 0;
  for (std::int64_t row = 0; row < checked; ++row) {
    const std::int32_t wanted = count_row(all, row, particles);
    reference += wanted;
    wrong += filtered[static_cast<std::size_t>(row)] != wanted || exact[static_cast<std::size_t>(row)] != wanted;
  }
  std::int64_t found = 0;
  for (std::int64_t row = 0; row < checked; ++row) found += exact[static_cast<std::size_t>(row)];
  std::printf("first %lld rows             %lld connected, plainly counted %lld; %lld rows differ\n",
              static_cast<long long>(checked), static_cast<long long>(found), static_cast<long long>(reference),
              static_cast<long long>(wrong));
  std::printf("density                    %.3g of the pairs\n", static_cast<double>(exact_total) / pairs);
  return wrong == 0 && filtered_total == exact_total ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_example(
      argc, argv, "count_interactions: pairs of random many-body states that a two-body interaction connects",
      {{"device", "cpu"}, {"particles", "8"}, {"states", "20000"}}, run);
}
