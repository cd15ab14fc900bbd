// The same program is the same kernel, written in another order, again, or in another process: one entry in the cache,
// and the right result from it.
#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "ricci/program.hpp"
#include "ricci/runtime.hpp"
#include "stored_kernels.hpp"
#include "temporary_folder.hpp"

using namespace ricci;
using Values = std::vector<double>;

namespace {

/// Runtimes with one cache directory, which is new: one, or others as later processes have them.
class FreshRuntime {
 public:
  FreshRuntime() : runtime_(another()) {}

  Runtime* operator->() { return &runtime_; }
  Runtime& operator*() { return runtime_; }
  Runtime another() const {
    RuntimeOptions options;
    options.cache_dir = folder_.path().string();
    return Runtime(options);
  }

  int kernels() const { return static_cast<int>(tests::stored_kernels(folder_.path()).size()); }

 private:
  tests::TemporaryFolder folder_;
  Runtime runtime_;
};

Values numbers(std::size_t count, double first) {
  Values values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

using MakePlan = std::function<Plan(Runtime&)>;

/// Whatever way the same problem is written in, and however often, its kernels are the first way's.
void check_one_entry_each(const std::vector<MakePlan>& ways) {
  FreshRuntime runtime;
  const auto first = ways.front()(*runtime);
  CHECK(first.info().origin == "compiled");
  REQUIRE(first.info().steps > 0);
  CHECK(runtime.kernels() == first.info().steps);
  auto later = runtime.another();
  for (std::size_t k = 0; k < ways.size(); ++k) {
    INFO("way " << k);
    const auto again = ways[k](*runtime), elsewhere = ways[k](later);
    CHECK(again.info().origin == "memory");
    CHECK(again.cache_path() == first.cache_path());
    CHECK(elsewhere.info().origin == (k == 0 ? "disk" : "memory"));
    CHECK(elsewhere.cache_path() == first.cache_path());
  }
  CHECK(runtime.kernels() == first.info().steps);
}

std::vector<MakePlan> programs(const std::vector<std::string>& texts) {
  std::vector<MakePlan> ways;
  for (const auto& text : texts) {
    ways.emplace_back([text](Runtime& runtime) { return runtime.plan_program(Program::parse(text)); });
  }
  return ways;
}

}  // namespace

TEST_CASE("a product of matrices with its factors swapped") {
  FreshRuntime runtime;
  const auto a = Layout::row_major(DType::f64, {6, 7}), b = Layout::row_major(DType::f64, {7, 5});
  const auto x = numbers(42, 1), y = numbers(35, -3);
  const Layout one[] = {a, b}, other[] = {b, a};
  const auto first = runtime->plan_einsum("ik,kj->ij", one);
  const auto second = runtime->plan_einsum("qr,pq->pr", other);
  CHECK(first.info().origin == "compiled");
  CHECK(second.info().origin == "memory");
  CHECK(first.key() == second.key());
  CHECK(runtime.kernels() == 1);
  Values u(30), v(30), expected(30);
  first({u.data()}, {x.data(), y.data()});
  second({v.data()}, {y.data(), x.data()});
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      for (std::size_t k = 0; k < 7; ++k) expected[5 * i + j] += x[7 * i + k] * y[5 * k + j];
    }
  }
  CHECK(u == expected);
  CHECK(v == expected);
}

TEST_CASE("a program of statements with other names, in another order") {
  FreshRuntime runtime;
  const auto first = Program::parse(
      "index i j = 3\n"
      "grid x = 100\n"
      "param s : f64\n"
      "param t : f64\n"
      "input A(3, 3) : f64 on x\n"
      "input B(3) : f64 on x\n"
      "output C(3) : f64 on x\n"
      "C(i) = 3 * (s * sum(j, A(i, j) * B(j)) + t * B(i))\n");
  const auto second = Program::parse(
      "param factor : f64\n"
      "grid point = 100\n"
      "index p q = 3\n"
      "param scale : f64\n"
      "output result(3) : f64 on point\n"
      "input vector(3) : f64 on point\n"
      "input matrix(3, 3) : f64 on point\n"
      "result(p) = (vector(p) * factor + sum(q, vector(q) * matrix(p, q)) * scale) * 3\n");
  const auto one = runtime->plan_program(first), other = runtime->plan_program(second);
  CHECK(one.info().origin == "compiled");
  CHECK(other.info().origin == "memory");
  CHECK(one.key() == other.key());
  CHECK(runtime.kernels() == 1);
  const auto matrix = numbers(900, 1), vector = numbers(300, -7);
  Values u(300), v(300), expected(300);
  const Scalar values[] = {2, 0.5}, turned[] = {0.5, 2};
  Call call;
  call.params = values;
  one({u.data()}, {matrix.data(), vector.data()}, call);
  call.params = turned;
  other({v.data()}, {vector.data(), matrix.data()}, call);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t x = 0; x < 100; ++x) {
      double sum = 0;
      for (std::size_t j = 0; j < 3; ++j) sum += matrix[(3 * i + j) * 100 + x] * vector[j * 100 + x];
      expected[i * 100 + x] = 3 * (2 * sum + 0.5 * vector[i * 100 + x]);
    }
  }
  CHECK(u == expected);
  CHECK(v == expected);
}

TEST_CASE("an einsum of three operands in every order, again and again") {
  const std::pair<std::string, Layout> operands[] = {{"ik", Layout::row_major(DType::f64, {6, 40})},
                                                     {"kl", Layout::row_major(DType::f64, {40, 30})},
                                                     {"lj", Layout::row_major(DType::f64, {30, 5})}};
  std::vector<MakePlan> ways;
  std::vector<std::size_t> order = {0, 1, 2};
  do {
    ways.emplace_back([&operands, order](Runtime& runtime) {
      std::string spec;
      std::vector<Layout> layouts;
      for (const auto k : order) {
        spec += (layouts.empty() ? "" : ",") + operands[k].first;
        layouts.push_back(operands[k].second);
      }
      return runtime.plan_einsum(spec + "->ij", layouts);
    });
  } while (std::next_permutation(order.begin(), order.end()));
  check_one_entry_each(ways);
}

TEST_CASE("statements on a grid with factors and terms swapped, again and again") {
  const std::string head =
      "index i j = 3\n"
      "grid x = 100\n"
      "input A(3, 3) : f64 sym(0,1) on x\n"
      "input B(3) : f64 on x\n"
      "output C(3) : f64 on x\n"
      "output D() : f64 on x\n";
  check_one_entry_each(programs({head + "C(i) = sum(j, A(i, j) * B(j)) + 2 * B(i)\nD() = sum(i, B(i) * C(i))\n",
                                 head + "C(i) = B(i) * 2 + sum(j, B(j) * A(j, i))\nD() = sum(i, C(i) * B(i))\n"}));
}

TEST_CASE("counts, scans and compactions with operands swapped, again and again") {
  const std::string head =
      "index i = 20\n"
      "index j = 30\n"
      "index n = 600\n"
      "input a(i) : u64\n"
      "input b(j) : u64\n"
      "output rows(i+1) : i64\n"
      "output cols(n) : i32\n"
      "temp counts(i) : i32\n";
  const auto text = [&](const std::string& common) {
    return head + "counts(i) = sum(j, guard(popcount(and(" + common + ")) >= 2, cast(i32, 1)))\n" +
           "rows(i) = exclusive_scan(sum, i, cast(i64, counts(i)))\n" + "cols(rows(i)) = compact(j, popcount(and(" +
           common + ")) >= 2, cast(i32, j))\n";
  };
  check_one_entry_each(programs({text("a(i), b(j)"), text("b(j), a(i)")}));
}
