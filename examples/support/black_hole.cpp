#include "black_hole.hpp"

#include <cmath>

namespace examples {
namespace {

/// A function of (t, x, y, z) at one event with its first and second derivatives; of functions that are derivatives
/// themselves only the first are used.
struct Jet {
  double value = 0;
  std::array<double, 4> first{};
  Tensor2 second{};
};

Jet operator+(const Jet& x, const Jet& y) {
  Jet z;
  z.value = x.value + y.value;
  for (int a = 0; a < 4; ++a) {
    z.first[a] = x.first[a] + y.first[a];
    for (int b = 0; b < 4; ++b) z.second[a][b] = x.second[a][b] + y.second[a][b];
  }
  return z;
}

Jet operator*(double factor, const Jet& x) {
  Jet z;
  z.value = factor * x.value;
  for (int a = 0; a < 4; ++a) {
    z.first[a] = factor * x.first[a];
    for (int b = 0; b < 4; ++b) z.second[a][b] = factor * x.second[a][b];
  }
  return z;
}

Jet operator-(const Jet& x, const Jet& y) { return x + -1.0 * y; }

Jet operator*(const Jet& x, const Jet& y) {
  Jet z;
  z.value = x.value * y.value;
  for (int a = 0; a < 4; ++a) {
    z.first[a] = x.first[a] * y.value + x.value * y.first[a];
    for (int b = 0; b < 4; ++b) {
      z.second[a][b] =
          x.second[a][b] * y.value + x.first[a] * y.first[b] + x.first[b] * y.first[a] + x.value * y.second[a][b];
    }
  }
  return z;
}

Jet power(const Jet& x, double exponent) {
  const double slope = exponent * std::pow(x.value, exponent - 1);
  const double bend = exponent * (exponent - 1) * std::pow(x.value, exponent - 2);
  Jet z;
  z.value = std::pow(x.value, exponent);
  for (int a = 0; a < 4; ++a) {
    z.first[a] = slope * x.first[a];
    for (int b = 0; b < 4; ++b) z.second[a][b] = bend * x.first[a] * x.first[b] + slope * x.second[a][b];
  }
  return z;
}

/// d_c of a function, as a function whose second derivatives are not known.
Jet derivative(const Jet& x, int c) {
  Jet z;
  z.value = x.first[c];
  z.first = x.second[c];
  return z;
}

constexpr std::array<double, 4> kMinkowski = {-1, 1, 1, 1};

/// x' = matrix x.
Tensor2 lorentz(const std::array<double, 3>& velocity) {
  double speed2 = 0;
  for (const double v : velocity) speed2 += v * v;
  const double gamma = 1 / std::sqrt(1 - speed2);
  const double along = speed2 > 0 ? (gamma - 1) / speed2 : 0;
  Tensor2 matrix{};
  matrix[0][0] = gamma;
  for (int i = 0; i < 3; ++i) {
    matrix[0][i + 1] = matrix[i + 1][0] = -gamma * velocity[i];
    for (int j = 0; j < 3; ++j) matrix[i + 1][j + 1] = (i == j ? 1 : 0) + along * velocity[i] * velocity[j];
  }
  return matrix;
}

}  // namespace

Fields boosted_black_hole(const std::array<double, 4>& event, const std::array<double, 3>& velocity) {
  // In the hole's rest frame psi' = eta + (2 / r') l' l' with l' = (1, x'/r', y'/r', z'/r').
  const Tensor2 boost = lorentz(velocity);
  std::array<Jet, 4> rest;
  for (int c = 0; c < 4; ++c) {
    rest[c].first = boost[c];
    for (int a = 0; a < 4; ++a) rest[c].value += boost[c][a] * event[a];
  }
  const Jet inverse_radius = power(rest[1] * rest[1] + rest[2] * rest[2] + rest[3] * rest[3], -0.5);
  std::array<Jet, 4> null;
  for (int a = 0; a < 4; ++a) {
    null[a].value = boost[0][a];
    for (int i = 1; i < 4; ++i) null[a] = null[a] + boost[i][a] * (rest[i] * inverse_radius);
  }

  std::array<std::array<Jet, 4>, 4> psi;
  std::array<std::array<Jet, 4>, 4> up;  // the inverse: eta - (2 / r) l l, indices raised with eta
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) {
      const Jet part = 2.0 * (inverse_radius * null[a] * null[b]);
      psi[a][b] = part;
      up[a][b] = (-kMinkowski[a] * kMinkowski[b]) * part;
      if (a == b) psi[a][b].value += kMinkowski[a];
      if (a == b) up[a][b].value += kMinkowski[a];
    }
  }
  const Jet lapse = power(-1.0 * up[0][0], -0.5);
  std::array<Jet, 3> shift;
  for (int i = 0; i < 3; ++i) shift[i] = lapse * lapse * up[0][i + 1];

  Fields fields;
  std::array<std::array<std::array<Jet, 4>, 4>, 4> slope;  // [c][a][b]: d_c psi_ab
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) {
      fields.psi[a][b] = psi[a][b].value;
      for (int c = 0; c < 4; ++c) {
        slope[c][a][b] = derivative(psi[a][b], c);
        fields.dpsi[c][a][b] = psi[a][b].first[c];
        for (int d = 0; d < 4; ++d) fields.ddpsi[d][c][a][b] = psi[a][b].second[d][c];
      }
      Jet flow = slope[0][a][b];
      for (int i = 0; i < 3; ++i) flow = flow - shift[i] * slope[i + 1][a][b];
      const Jet pi = -1.0 * (flow * power(lapse, -1));
      fields.pi[a][b] = pi.value;
      for (int c = 0; c < 4; ++c) fields.dpi[c][a][b] = pi.first[c];
    }
  }
  for (int a = 0; a < 4; ++a) {
    Jet trace;  // psi^bc Gamma_abc
    for (int b = 0; b < 4; ++b) {
      for (int c = 0; c < 4; ++c) {
        trace = trace + 0.5 * (up[b][c] * (slope[b][a][c] + slope[c][a][b] - slope[a][b][c]));
      }
    }
    fields.h[a] = -trace.value;
    for (int c = 0; c < 4; ++c) fields.dh[c][a] = -trace.first[c];
  }
  return fields;
}

}  // namespace examples
