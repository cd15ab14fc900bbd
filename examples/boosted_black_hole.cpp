// The right-hand side of Einstein's equations in generalised harmonic form, programs/grid/generalized_harmonic.ricci,
// where the solution is known: a black hole that moves. Every time derivative is compared with the exact one.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "support/black_hole.hpp"
#include "support/options.hpp"
#include "support/progress.hpp"
#include "support/workbench.hpp"

namespace {

constexpr std::array<double, 3> kVelocity = {0.3, -0.2, 0.1};
constexpr double kTolerance = 1e-13;  // of the largest time derivative of each tensor
constexpr int kRepeat = 5;
constexpr std::int64_t kValues = 223 + 50;  // read and written per point

/// A field tensor: stored components x points.
class Field {
 public:
  Field(std::int64_t components, std::int64_t points)
      : values(static_cast<std::size_t>(components * points)), components_(components), points_(points) {}

  /// Appends a component at the point that is being filled.
  void add(double value, std::int64_t point) {
    values[static_cast<std::size_t>(next_ * points_ + point)] = value;
    next_ = (next_ + 1) % components_;
  }
  void put(examples::Workbench& bench, const char* name) const { bench.put(name, {components_, points_}, values); }

  std::vector<double> values;

 private:
  std::int64_t components_, points_, next_ = 0;
};

/// Of a tensor that is symmetric in a and b the components a <= b are stored.
void add_symmetric(Field& field, const examples::Tensor2& tensor, std::int64_t point) {
  for (int a = 0; a < 4; ++a) {
    for (int b = a; b < 4; ++b) field.add(tensor[a][b], point);
  }
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

int run(const examples::Options& options) {
  const std::int64_t points = options.number("points");
  Field psi(10, points);
  Field pi(10, points);
  Field phi(30, points);
  Field dpi(30, points);
  Field dphi(90, points);
  Field h(4, points);
  Field dh(16, points);
  Field dtpsi(10, points);
  Field dtpi(10, points);
  Field dtphi(30, points);
  std::array<Field, 3> gamma = {Field(1, points), Field(1, points), Field(1, points)};

  // Points around the hole, 2.5 to 8 of its masses away, at t = 0. The solution violates no constraint, so that the
  // damping terms must vanish whatever their factors.
  {
    examples::Progress progress("exact fields");
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> unit(-1, 1);
    for (std::int64_t x = 0; x < points; ++x) {
      std::array<double, 4> event = {0, unit(random), unit(random), unit(random)};
      const double length = std::hypot(event[1], event[2], event[3]);
      const double radius = 2.5 + 5.5 * (0.5 + 0.5 * unit(random));
      for (int i = 1; i < 4; ++i) event[i] *= radius / length;
      const examples::Fields exact = examples::boosted_black_hole(event, kVelocity);
      add_symmetric(psi, exact.psi, x);
      add_symmetric(pi, exact.pi, x);
      add_symmetric(dtpsi, exact.dpsi[0], x);
      add_symmetric(dtpi, exact.dpi[0], x);
      for (int i = 1; i < 4; ++i) {
        add_symmetric(phi, exact.dpsi[i], x);
        add_symmetric(dpi, exact.dpi[i], x);
        add_symmetric(dtphi, exact.ddpsi[0][i], x);
        for (int j = 1; j < 4; ++j) add_symmetric(dphi, exact.ddpsi[i][j], x);
      }
      for (int a = 0; a < 4; ++a) {
        h.add(exact.h[a], x);
        for (int b = 0; b < 4; ++b) dh.add(exact.dh[a][b], x);
      }
      for (Field& factor : gamma) factor.add(unit(random), x);
      progress.done(static_cast<double>(x + 1) / static_cast<double>(points));
    }
  }

  examples::Workbench bench(options.device());
  psi.put(bench, "psi");
  pi.put(bench, "Pi");
  phi.put(bench, "Phi");
  phi.put(bench, "dpsi");
  dpi.put(bench, "dPi");
  dphi.put(bench, "dPhi");
  h.put(bench, "H");
  dh.put(bench, "dH");
  gamma[0].put(bench, "gamma0");
  gamma[1].put(bench, "gamma1");
  gamma[2].put(bench, "gamma2");
  const examples::Job job = bench.plan("grid/generalized_harmonic");
  double ms = job.run();
  for (int k = 0; k < kRepeat; ++k) ms = std::min(ms, job.run());
  std::printf("right-hand side  %s\n", job.origin().c_str());
  std::printf("time             %.3f ms for %lld points: %.2f ns a point, %.1f GB/s\n", ms,
              static_cast<long long>(points), 1e6 * ms / static_cast<double>(points),
              8e-6 * static_cast<double>(kValues * points) / ms);

  bool right = true;
  const std::array<std::pair<const char*, const Field*>, 3> outputs = {
      {{"dtpsi", &dtpsi}, {"dtPi", &dtpi}, {"dtPhi", &dtphi}}};
  for (const auto& [name, exact] : outputs) {
    const std::vector<double> found = bench.get<double>(name);
    const double scale = largest(exact->values);
    double error = 0;
    for (std::size_t k = 0; k < found.size(); ++k)
      error = std::max(error, std::abs(found[k] - exact->values[k]) / scale);
    right = right && error <= kTolerance;
    std::printf("%-16s largest %.6f, exact %.6f, error %.1e of it, at most %.0e\n", name, largest(found), scale, error,
                kTolerance);
  }
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_example(
      argc, argv, "boosted_black_hole: time derivatives of a moving black hole's fields, against the exact ones",
      {{"device", "cpu"}, {"points", "20000"}}, run);
}
