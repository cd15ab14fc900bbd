// Candidate timing on a clock of the test's own, and the text of its result.
#include "plan/tuning/candidate_timing.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "catch.hpp"
#include "plan/tuning/tuning.hpp"

namespace plan_candidate_timing_test {

namespace {

using namespace ricci;

/// Entrants that always take the same time, and how often each was asked.
struct Fixed {
  std::vector<double> us;
  std::vector<std::size_t> turns = {};
  double operator()(std::size_t k) {
    turns.push_back(k);
    return us[k];
  }
  int count(std::size_t k) const { return static_cast<int>(std::count(turns.begin(), turns.end(), k)); }
};

}  // namespace

TEST_CASE("the fastest wins, and the others follow by time") {
  Fixed clock{{103, 101, 107, 99.5}};
  const auto timings = plan::time_candidates(4, std::ref(clock), {.behind = 2, .tie = 0});
  REQUIRE(timings.size() == 4);
  CHECK(timings[0].entrant == 3);
  CHECK(timings[1].entrant == 1);
  CHECK(timings[2].entrant == 0);
  CHECK(timings[3].entrant == 2);
  CHECK(timings[0].us == 99.5);
  CHECK(timings[0].samples == 15);
}

TEST_CASE("within the noise the one named first wins") {
  Fixed clock{{100.08, 100.05, 100}};
  CHECK(plan::time_candidates(3, std::ref(clock)).front().entrant == 0);
  CHECK(plan::time_candidates(3, std::ref(clock), {.tie = 0.0006}).front().entrant == 1);
  CHECK(plan::time_candidates(3, std::ref(clock), {.tie = 0}).front().entrant == 2);
}

TEST_CASE("those far behind are given up early") {
  Fixed clock{{100, 350, 150, 105}};
  const auto timings = plan::time_candidates(4, std::ref(clock));
  CHECK(clock.count(0) == 16);
  CHECK(clock.count(1) == 2);
  CHECK(clock.count(2) == 4);
  CHECK(clock.count(3) == 16);
  CHECK(timings.front().entrant == 0);
  CHECK(timings.back().entrant == 1);
  CHECK(timings.back().samples == 0);
  CHECK(timings.back().us == 350);
}

TEST_CASE("nobody is given up for one slow sample, nor for a slow first run") {
  int calls = 0;
  const auto sample = [&](std::size_t k) {
    if (k == 0 && ++calls <= 3) return calls == 1 ? 250.0 : 400.0;  // the machine was busy
    return k == 0 ? 100.0 : 120.0;
  };
  const auto timings = plan::time_candidates(2, sample, {.behind = 1.5});
  CHECK(timings.front().entrant == 0);
  CHECK(timings.front().us == 100);
  calls = 0;
  const auto hiccup = [&](std::size_t k) { return k == 1 ? 120.0 : ++calls == 1 ? 50000.0 : 100.0; };
  CHECK(plan::time_candidates(2, hiccup).front().entrant == 0);
  CHECK(plan::time_candidates(2, hiccup).front().samples == 15);
}

TEST_CASE("entrants take turns in both directions, and time is limited") {
  Fixed clock{{10, 10, 10}};
  plan::time_candidates(3, std::ref(clock), {.rounds = 2});
  CHECK(clock.turns == std::vector<std::size_t>{0, 1, 2, 0, 1, 2, 2, 1, 0});
  Fixed slow{{400, 400}};
  const auto timings = plan::time_candidates(2, std::ref(slow), {.limit_us = 1000});
  CHECK(timings.front().samples == 7);
  CHECK(plan::time_candidates(1, std::ref(slow)).size() == 1);
}

TEST_CASE("what a sample throws comes out") {
  const auto fails = [](std::size_t) -> double { throw std::runtime_error("device"); };
  CHECK_THROWS_AS(plan::time_candidates(2, fails), std::runtime_error);
}

TEST_CASE("a tuning is read back from its text, and from no other") {
  const plan::Tuning tuning{{{"transposed a32 b32 v8", 123.456, 15}, {"loops a16", 150.5, 3}, {"plain", 9999, 0}}};
  const auto text = plan::print(tuning);
  const auto read = plan::parse_tuning(text);
  REQUIRE(read);
  REQUIRE(read->timed.size() == 3);
  CHECK(read->winner().name == "transposed a32 b32 v8");
  CHECK(read->winner().us == 123.456);
  CHECK(read->find("loops a16")->samples == 3);
  CHECK(read->find("plain")->us == 9999);
  CHECK(read->find("warp") == nullptr);
  CHECK(plan::print(*read) == text);
  // Cut anywhere but behind a line after the first, it is nothing.
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto part = text.substr(0, size);
    const bool whole_lines = !part.empty() && part.back() == '\n' && std::count(part.begin(), part.end(), '\n') > 1;
    CHECK(plan::parse_tuning(part).has_value() == whole_lines);
  }
  for (const char* line :
       {"x\t1\tname\n", "1.0\t-1\tname\n", "1.0\t1\t\n", "-1\t1\tname\n", "nan\t1\tname\n", "1.0 1 name\n"}) {
    CHECK_FALSE(plan::parse_tuning(plan::print(plan::Tuning{}) + line));
  }
}

TEST_CASE("what was measured of a device is read back with two digits of each rate, and from no other text") {
  const plan::MeasuredMemory measured{{{1, 11.249, 13.4, 9.99, 12.04, 7.06, 6, 3.14, 58.49, 0, 1.26},
                                       {2, 20.04, 25.6, 19, 21, 12, 11, 5, 117, 0.1, 1.3},
                                       {8, 61, 77, 80, 81, 60, 40, 40, 460, 0.1, 2}}};
  const auto text = plan::print(measured);
  const auto read = plan::parse_measured_memory(text);
  REQUIRE(read);
  REQUIRE(read->rates.size() == 3);
  CHECK(read->of(1).copy_GBs == 11);
  CHECK(read->of(1).read_GBs == 10);
  CHECK(read->of(1).ahead_GBs == 12);
  CHECK(read->of(1).rows_GBs == 7.1);
  CHECK(read->of(1).multiply_GFs == 58);
  CHECK(read->of(1).page_ns == 0);
  CHECK(read->of(1).small_page_ns == 1.3);
  CHECK(read->of(2).streaming_GBs == 26);
  CHECK(read->of(7).threads == 2);
  CHECK(read->of(64).threads == 8);
  CHECK(read->of(0).threads == 1);
  CHECK(plan::print(*read) == text);
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto part = text.substr(0, size);
    const bool whole_lines = !part.empty() && part.back() == '\n' && std::count(part.begin(), part.end(), '\n') > 1;
    CHECK(plan::parse_measured_memory(part).has_value() == whole_lines);
  }
  for (const char* line :
       {"x\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\n", "8\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\n", "9\t0\t1\t1\t1\t1\t1\t1\t1\t1\t1\n",
        "9\t-1\t1\t1\t1\t1\t1\t1\t1\t1\t1\n", "9\tinf\t1\t1\t1\t1\t1\t1\t1\t1\t1\n",
        "9\t1\t1\t1\t1\t1\t1\t1\t0\t1\t1\n", "9\t1\t1\t1\t1\t1\t1\t1\t1\t1\n", "9\t1\t1\t1\t1\t1\t1\t1\t1\t1\tnan\n"}) {
    CHECK_FALSE(plan::parse_measured_memory(text + line));
  }
  CHECK(read->of(1).apart_GBs == 3.1);
  // Neither what was written before multiply-adds and pages were measured.
  CHECK_FALSE(
      plan::parse_measured_memory("threads\tcopy GB/s\tstreaming GB/s\tread GB/s\trows GB/s\twrite GB/s\tapart "
                                  "GB/s\n1\t11\t13\t10\t7.1\t6\t3.1\n"));
  CHECK(plan::parse_measured_memory(text + "9\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\n"));
}

TEST_CASE("of two measurements of a device each rate is the better one, and what pages cost the latest") {
  const plan::MeasuredMemory before{
      {{1, 11, 13, 10, 12, 7, 6, 3, 58, 0, 1.2}, {2, 20, 25, 19, 21, 12, 11, 5, 59, 0, 1.3}}};
  const plan::MeasuredMemory latest{
      {{2, 30, 24, 18, 22, 13, 10, 6, 117, 0.1, 1}, {4, 40, 50, 40, 41, 20, 21, 10, 230, 0, 1}}};
  const auto better = plan::better_of(latest, before);
  REQUIRE(better.rates.size() == 3);
  const auto printed = [](const plan::MemoryRates& rates) { return plan::print(plan::MeasuredMemory{{rates}}); };
  CHECK(printed(better.of(1)) == printed(before.of(1)));
  CHECK(printed(better.of(2)) == printed({2, 30, 25, 19, 22, 13, 11, 6, 117, 0.1, 1}));
  CHECK(printed(better.of(4)) == printed(latest.of(4)));
  CHECK(plan::print(plan::better_of(latest, {})) == plan::print(latest));
}

}  // namespace plan_candidate_timing_test
