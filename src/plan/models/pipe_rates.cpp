#include "plan/models/pipe_rates.hpp"

namespace ricci::plan {
namespace {

/// Of elements of 16 bits by mma.sync. sm_80: NVIDIA's A100 white paper (1024 a cycle). sm_90: 0.62 of the 2048 of its
/// white paper, which take wgmma (Luo et al., arXiv:2402.13499). Others: as sm_86.
double half_rate(int sm) { return sm == 80 ? 1024 : sm >= 90 && sm < 120 ? 1270 : 512; }

/// Of elements of 16 bits by warp groups: what cuBLAS sustains on an H200, 890 TF/s, in cycles of its highest clock.
/// Half as many of 32 bits (NVIDIA's H100 white paper).
constexpr double kGroupRate = 1700;
/// Of it where threads read the first operand into registers, step by step of the depth (tccg_ccsd00 in tf32 on an
/// H100: 2.29 ms where 2.28 are predicted).
constexpr double kHeldRate = 0.9;

double real_rate(int sm, const kernel::Atom* atom, DType sums, int parts) {
  if (atom == nullptr) {
    const bool large = sm == 80 || (sm >= 90 && sm < 110);  // with full double precision
    const double narrow = sm == 80 ? 64 : 128;
    const auto size = is_complex(sums) ? size_of(sums) / 2 : size_of(sums);
    // As timed on an H200, whose clock is lower under a load of multiply-adds, of one operand along the depth.
    constexpr double kSlower = 1.275;
    return (size == 8 ? (large ? narrow / 2 : 2) : narrow) / kSlower;
  }
  if (atom->a.type == kernel::AtomType::f64) return sm >= 90 ? 128 : 64;
  if (atom->warps > 1) return kGroupRate * (atom->holds_a ? kHeldRate : 1) * 16 / kernel::bits_of(atom->a.type);
  // As timed on an H200 in tf32.
  constexpr double kWaits = 1.5;
  return half_rate(sm) * 16 / kernel::bits_of(atom->a.type) / (parts == 2 ? 3 : 1) / kWaits;
}

}  // namespace

double pipe_rate(int sm, const kernel::Atom* atom, DType sums, int parts) {
  return real_rate(sm, atom, sums, parts) / (is_complex(sums) ? 4 : 1);
}

double multiply_add_rate(int deep) { return deep == 0 ? 1.16 : deep == 1 ? 1 : 0.94; }

}  // namespace ricci::plan
