// A black hole in closed form: what the generalised harmonic equations start from and what they must give.
#pragma once

#include <array>

namespace examples {

using Tensor2 = std::array<std::array<double, 4>, 4>;  // [a][b]
using Tensor3 = std::array<Tensor2, 4>;                // [c][a][b]
using Tensor4 = std::array<Tensor3, 4>;                // [d][c][a][b]

/// At one event: the first-order fields, their derivatives along (t, x, y, z), and the gauge source with its gradient.
struct Fields {
  Tensor2 psi{}, pi{};
  Tensor3 dpsi{};   ///< d_c psi_ab; Phi_iab is its spatial part
  Tensor3 dpi{};    ///< d_c Pi_ab
  Tensor4 ddpsi{};  ///< d_d d_c psi_ab
  std::array<double, 4> h{};
  Tensor2 dh{};  ///< d_a H_b
};

/// A hole of mass 1 in Kerr-Schild coordinates, at the origin at t = 0 and moving with `velocity` (of light).
/// H_a = -Gamma_a, so that the metric solves the generalised harmonic equations.
Fields boosted_black_hole(const std::array<double, 4>& event, const std::array<double, 3>& velocity);

}  // namespace examples
