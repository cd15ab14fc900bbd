// Figures over many cases, and two models beside each other.
#include "bench/models.hpp"
#include "catch.hpp"
#include "report/statistics.hpp"

namespace tools_models_test {

using ricci::Json;
using namespace ricci::tools;

TEST_CASE("rank correlation") {
  CHECK(*rank_correlation({1, 2, 3, 4}, {10, 20, 30, 1000}) == Approx(1));
  CHECK(*rank_correlation({1, 2, 3, 4}, {4, 3, 2, 1}) == Approx(-1));
  // 1 - 6 * (1 + 1 + 0 + 0) / (4 * 15)
  CHECK(*rank_correlation({1, 2, 3, 4}, {2, 1, 3, 4}) == Approx(0.8));
  // Ranks 0, 1.5, 1.5, 3 and 0, 1, 2, 3: 4.5 / sqrt(4.5 * 5)
  CHECK(*rank_correlation({5, 7, 7, 9}, {1, 2, 3, 4}) == Approx(0.948683));
  CHECK_FALSE(rank_correlation({1, 1, 1}, {1, 2, 3}));
  CHECK_FALSE(rank_correlation({1}, {1}));
}

TEST_CASE("summaries") {
  const auto s = summary({4, 1, 2});
  CHECK(s["min"] == 1);
  CHECK(s["median"] == 2);
  CHECK(s["max"] == 4);
  CHECK(s["geomean"].number() == Approx(2));
}

TEST_CASE("choices of two models") {
  ModelComparison models;
  Json row, result;
  models.report(result);
  CHECK_FALSE(result.contains("models"));
  // Ricci's model takes the first, MWP-CWP prefers c and d alike: d counts, which Ricci's model likes better.
  models.add({{"a", 1.1, 1, 4}, {"b", 1.0, 2, 3}, {"c", 2.0, 4, 1}, {"d", 1.5, 3, 1}}, 0, row);
  CHECK(row["models"]["ricci"]["plan"] == "a");
  CHECK(row["models"]["ricci"]["rank_correlation"].number() == Approx(0.8));
  CHECK(row["models"]["mwp_cwp"]["plan"] == "d");
  CHECK(row["models"]["mwp_cwp"]["ms"] == 1.5);
  CHECK(row["models"]["mwp_cwp"]["rank_correlation"].number() < 0);
  // The other way round, all predictions of MWP-CWP alike.
  models.add({{"a", 3.0, 1, 1}, {"b", 1.0, 2, 1}}, 1, row);
  CHECK(row["models"]["mwp_cwp"]["plan"] == "a");
  CHECK(row["models"]["mwp_cwp"]["rank_correlation"].is_null());
  // One that MWP-CWP says nothing of: the case does not count.
  Json left_out;
  models.add({{"a", 1.0, 1, 0}, {"b", 9.0, 2, 1}}, 1, left_out);
  CHECK_FALSE(left_out.contains("models"));
  models.report(result);
  const auto &ricci = result["models"]["ricci"]["over_best_timed"],
             &mwp_cwp = result["models"]["mwp_cwp"]["over_best_timed"];
  CHECK(ricci["max"].number() == Approx(1.1));
  CHECK(ricci["min"].number() == Approx(1));
  CHECK(mwp_cwp["max"].number() == Approx(3));
  CHECK(mwp_cwp["min"].number() == Approx(1.5));
  CHECK(result["models"]["ricci"]["rank_correlation"].number() == Approx((0.8 - 1) / 2));
}

}  // namespace tools_models_test
