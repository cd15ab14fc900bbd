// Tensor-core functions, matrix loads and asynchronous copies on the simulator: results, traffic, and one small GEMM.
#include <algorithm>
#include <set>

#include "catch.hpp"
#include "simt/simulator.hpp"
#include "simt/tensor_core_kernels.hpp"

namespace test_tensor_core {

using namespace ricci::simt;

namespace {

const Order kOrders[] = {Order::forward, Order::reverse, Order::random};

Report run_simulated(OneWarp& one, const Options& options = {}) {
  Launch launch;
  launch.source = portable_part() + one.text;
  launch.kernel = one.name;
  launch.parameter_types = one.types;
  launch.block = 32;
  std::vector<const void*> begins;
  std::vector<void*> arguments;
  std::vector<Buffer> buffers;
  for (const auto& buffer : one.buffers) {
    begins.push_back(buffer.data());
    buffers.push_back({buffer.data(), buffer.size(), &buffer == &one.out()});
  }
  for (const void*& begin : begins) arguments.push_back(&begin);
  return run(launch, arguments.data(), buffers, options);
}

}  // namespace

TEST_CASE("every element of an operand is in one register of one lane") {
  for (const Atom& atom : ricci::kernel::kAtoms) {
    INFO(atom.name);
    CHECK(ricci::kernel::find_atom(atom.name) == &atom);
    CHECK((atom.a.rows() == atom.m && atom.a.columns() == atom.k));
    CHECK((atom.b.rows() == atom.k && atom.b.columns() == atom.n));
    CHECK((atom.c.rows() == atom.m && atom.c.columns() == atom.n));
    for (const Fragment* fragment : {&atom.a, &atom.b, &atom.c}) {
      std::set<std::pair<int, int>> places;
      for (int lane = 0; lane < 32; ++lane)
        for (int e = 0; e < fragment->elements(); ++e) {
          const auto place = fragment->at(lane, e);
          CHECK((place.row < fragment->rows() && place.column < fragment->columns()));
          places.insert({place.row, place.column});
        }
      CHECK(places.size() == std::size_t{32} * fragment->elements());
      CHECK(places.size() == std::size_t{fragment->rows()} * fragment->columns());
    }
  }
  CHECK(ricci::kernel::find_atom("m16n8k8") == nullptr);
}

TEST_CASE("places of elements as PTX states them") {
  const auto place = [](const char* atom, char operand, int lane, int element) {
    const Atom& found = *ricci::kernel::find_atom(atom);
    const auto at = (operand == 'a' ? found.a : operand == 'b' ? found.b : found.c).at(lane, element);
    return std::pair<int, int>{at.row, at.column};
  };
  using Place = std::pair<int, int>;
  // Lane 13 is member 1 of group 3.
  CHECK(place("m8n8k4_f64", 'a', 13, 0) == Place{3, 1});
  CHECK(place("m8n8k4_f64", 'b', 13, 0) == Place{1, 3});
  CHECK(place("m8n8k4_f64", 'c', 13, 1) == Place{3, 3});
  CHECK(place("m16n8k16_f64", 'a', 13, 5) == Place{11, 9});
  CHECK(place("m16n8k16_f64", 'b', 13, 3) == Place{13, 3});
  CHECK(place("m16n8k8_tf32", 'a', 13, 1) == Place{11, 1});
  CHECK(place("m16n8k8_tf32", 'a', 13, 2) == Place{3, 5});
  CHECK(place("m16n8k8_tf32", 'c', 13, 2) == Place{11, 2});
  CHECK(place("m16n8k16_f16", 'a', 13, 3) == Place{11, 3});
  CHECK(place("m16n8k16_f16", 'a', 13, 4) == Place{3, 10});
  CHECK(place("m16n8k16_bf16", 'b', 13, 3) == Place{11, 3});
  CHECK(place("m16n8k32_i8", 'a', 13, 6) == Place{11, 6});
  CHECK(place("m16n8k32_i8", 'a', 13, 9) == Place{3, 21});
  CHECK(place("m16n8k32_u8", 'b', 13, 7) == Place{23, 3});
}

TEST_CASE("products of fragments are those of a plain loop") {
  for (const Atom& atom : ricci::kernel::kAtoms) {
    INFO(atom.name);
    for (const bool exact : {true, false})
      for (const Order order : kOrders) {
        const AtomCase given = atom_case(atom, exact, 7 + static_cast<std::uint64_t>(order));
        OneWarp one = atom_launch(atom, given);
        Options options;
        options.order = order;
        const Report report = run_simulated(one, options);
        INFO(report.text());
        CHECK(report.clean());
        const auto result = unpack(atom.c, one.out());
        for (std::size_t i = 0; i < result.size(); ++i) {
          INFO(i << ": " << result[i] << " and " << given.expected[i]);
          REQUIRE(std::fabs(result[i] - given.expected[i]) <= given.bound[i]);
          // In binary64 the loop is what the simulator promises, bit for bit.
          if (atom.c.type == AtomType::f64) REQUIRE(result[i] == given.expected[i]);
        }
      }
  }
}

TEST_CASE("matrix loads bring the fragments of an atom") {
  for (const Atom& atom : ricci::kernel::kAtoms)
    for (const Fragment* fragment : {&atom.a, &atom.b})
      for (const bool transposed : {false, true}) {
        const int bits = ricci::kernel::bits_of(fragment->type);
        if (bits == 64 || (transposed && bits != 16)) continue;
        INFO(atom.name << (fragment == &atom.a ? ", A" : ", B") << (transposed ? ", transposed" : ""));
        MatrixLoad load = matrix_load(*fragment, transposed, 11);
        const Report report = run_simulated(load.launch);
        INFO(report.text());
        CHECK(report.clean());
        CHECK(load.launch.out() == load.expected);
        // One request of a wavefront for each matrix: eight rows of 16 bytes.
        const auto read = std::find_if(report.lines.begin(), report.lines.end(), [](const LineTraffic& line) {
          return line.space == Space::shared && !line.write;
        });
        REQUIRE(read != report.lines.end());
        CHECK(read->bytes == 16);
        CHECK(read->requests == 1);
        CHECK(read->units == static_cast<unsigned>(fragment->registers()));
        CHECK(read->ideal == read->units);
      }
}

TEST_CASE("a matrix load whose rows lie in the same banks") {
  MatrixLoad load = matrix_load(ricci::kernel::find_atom("m16n8k16_f16")->a, false, 1);
  std::vector<std::int32_t> rows;
  for (int lane = 0; lane < 32; ++lane) rows.push_back(128 * (lane % 4));
  load.launch.buffers[1] = bytes_of(rows);
  const Report report = run_simulated(load.launch);
  INFO(report.text());
  CHECK(report.clean());
  // Each matrix asks for four different rows in one place of the banks; two lanes to a row share it.
  std::uint64_t units = 0, ideal = 0;
  for (const LineTraffic& line : report.lines)
    if (line.space == Space::shared && !line.write) units += line.units, ideal += line.ideal;
  CHECK(units == 4 * 4);
  CHECK(ideal == 4);
}

TEST_CASE("numbers rounded to tf32") {
  OneWarp one = rounding_launch();
  const Report report = run_simulated(one);
  INFO(report.text());
  CHECK(report.clean());
  const auto out = values_of<std::uint32_t>(one.out());
  const auto x = numbers_to_round();
  for (std::size_t i = 0; i < x.size(); ++i) {
    INFO(i << ": " << x[i]);
    const float nearest = std::bit_cast<float>(out[2 * i]);
    if (std::isnan(x[i])) {
      CHECK(std::isnan(nearest));
      continue;
    }
    CHECK(std::bit_cast<std::uint32_t>(nearest) == std::bit_cast<std::uint32_t>(rounded_to_tf32(x[i])));
    if (!std::isfinite(nearest)) continue;
    const double big = nearest, small = std::bit_cast<float>(out[2 * i + 1]);
    CHECK(std::fabs(big + small - x[i]) <= std::ldexp(std::fabs(x[i]), -22) + std::ldexp(1.0, -136));
  }
}

TEST_CASE("sums of many threads") {
  for (const Order order : kOrders) {
    OneWarp one = reduce_launch();
    Options options;
    options.order = order;
    const Report report = run_simulated(one, options);
    INFO(report.text());
    CHECK(report.clean());
    CHECK(values_of<double>(one.out()) == reduced());
  }
}

TEST_CASE("a product staged by asynchronous copies") {
  constexpr int m = 128, n = 64, k = 72;  // four tiles of 16 and a half
  Launch launch;
  launch.source = portable_part() + gemm_kernel();
  launch.kernel = "gemm";
  launch.parameter_types = {"const f64*", "const f64*", "f64*", "int", "int"};
  launch.grid_x = m / 64;
  launch.grid_y = n / 64;
  launch.block = 128;
  SimulatedKernel kernel(launch);
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> real(-1, 1);
  struct alignas(32) Sector {
    double at[4];
  };
  std::vector<Sector> a_memory(m * k / 4), b_memory(k * n / 4), c_memory(m * n / 4);
  double *a = a_memory[0].at, *b = b_memory[0].at, *c = c_memory[0].at;
  for (int i = 0; i < m * k; ++i) a[i] = real(random);
  for (int i = 0; i < k * n; ++i) b[i] = real(random);
  int n_value = n, k_value = k;
  void* arguments[] = {&a, &b, &c, &n_value, &k_value};
  const Buffer buffers[] = {{a, m * k * 8, false}, {b, k * n * 8, false}, {c, m * n * 8, true}};
  for (const Order order : kOrders) {
    std::fill(c, c + m * n, -1.0);
    Options options;
    options.order = order;
    options.check_uninitialised = true;
    const Report report = kernel.run(arguments, buffers, options);
    INFO(report.text());
    CHECK(report.clean());
    int wrong = 0;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int l = 0; l < k; ++l) sum = std::fma(a[i * k + l], b[l * n + j], sum);
        wrong += c[i * n + j] != sum;
      }
    CHECK(wrong == 0);
    // Every byte is asked for once by each block; zeros are not read.
    CHECK(report.read.bytes == 2 * (64 * k + k * 64) * 8);
    CHECK(report.read.sectors == report.read.ideal);
    // What is copied and read back in fragments meets no two words of a bank.
    CHECK(report.shared.wavefronts == report.shared.ideal);
    CHECK(report.written.sectors == report.written.ideal);
  }
}

}  // namespace test_tensor_core
