#include "plan/models/pipe_rates.hpp"

namespace ricci::plan {
namespace {

/// Of elements of 16 bits by mma.sync. sm_80: NVIDIA's A100 white paper (1024 a cycle). sm_90: 0.62 of the 2048 of its
/// white paper, which take wgmma (Luo et al., arXiv:2402.13499). Others: as sm_86.
double half_rate(int sm) { return sm == 80 ? 1024 : sm >= 90 && sm < 120 ? 1270 : 512; }

/// Of elements of 16 bits by warp groups: what cuBLAS sustains on an H200, 890 TF/s, in cycles of its highest clock.
/// Of 32 bits more than half as many, as they draw less power and the clock stays higher: products of tccg_ccsd00 in
/// tf32 took 1.76 ms on an H100, and 2.29 ms where threads read the first operand into registers, step by step.
constexpr double kGroupRate = 1700, kGroupRate32 = 970, kHeldRate32 = 765;
constexpr double kHeldRate = 1530;  // of 16 bits, taken to lose as much
constexpr double kGroupRate8 = 2 * kGroupRate;

double real_rate(int sm, const kernel::Atom* atom, DType sums, int parts) {
  if (atom == nullptr) {
    const bool large = sm == 80 || (sm >= 90 && sm < 110);  // with full double precision
    const double narrow = sm == 80 ? 64 : 128;
    const auto size = is_complex(sums) ? size_of(sums) / 2 : size_of(sums);
    // As timed on an H200, whose clock is lower under a load of multiply-adds, of one operand along the depth; since
    // rounds are unrolled up to 1,536 of them, on an H100.
    constexpr double kSlower = 1.2;
    return (size == 8 ? (large ? narrow / 2 : 2) : narrow) / kSlower;
  }
  if (atom->a.type == kernel::AtomType::f64) return sm >= 90 ? 128 : 64;
  if (atom->warps > 1) {
    if (kernel::bits_of(atom->a.type) == 32) return atom->holds_a ? kHeldRate32 : kGroupRate32;
    if (kernel::bits_of(atom->a.type) == 8) return kGroupRate8;
    return atom->holds_a ? kHeldRate : kGroupRate;
  }
  // As timed on an H200 in tf32; by two parts of each factor, which are made between products, twelve kernels of
  // ccsd02, 06 and 07 of tccg48_f32 took 1.22 to 1.64 times as long as they were to with the same, ao2mo01 1.08.
  constexpr double kWaits = 1.5, kWaitsForParts = 1.8;
  return half_rate(sm) * 16 / kernel::bits_of(atom->a.type) / (parts == 2 ? 3 * kWaitsForParts : kWaits);
}

}  // namespace

double pipe_rate(int sm, const kernel::Atom* atom, DType sums, int parts) {
  return real_rate(sm, atom, sums, parts) / (is_complex(sums) ? 4 : 1);
}

double multiply_add_rate(int deep) { return deep == 0 ? 1.16 : deep == 1 ? 1 : 0.94; }

}  // namespace ricci::plan
