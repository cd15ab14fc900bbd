// The same program written in another order is the same kernel: one entry in the cache, and the right result from it.
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "catch.hpp"
#include "ricci/program.hpp"
#include "ricci/runtime.hpp"

using namespace ricci;
using Values = std::vector<double>;

namespace {

/// A runtime with a cache directory of its own.
class FreshRuntime {
 public:
  FreshRuntime() {
    char path[] = "/tmp/ricci-entry-XXXXXX";
    REQUIRE(mkdtemp(path) != nullptr);
    folder_ = path;
    RuntimeOptions options;
    options.cache_dir = folder_;
    runtime_ = Runtime(options);
  }
  ~FreshRuntime() {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }

  Runtime* operator->() { return &runtime_; }

  int kernels() const {
    int count = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder_)) {
      if (file.path().extension() == ".k") ++count;
    }
    return count;
  }

 private:
  std::string folder_;
  Runtime runtime_{RuntimeOptions{"off"}};
};

Values numbers(std::size_t count, double first) {
  Values values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
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
