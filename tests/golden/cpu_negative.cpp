// c64_ab_to_ba_40x24        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index b = 24
//            index a = 40
//            input A : c64 [-936..23] align 16
//            output B : c64 [0..959] align 16
//            B[40*b + a] = conj(A[b - 24*a])
// extents    b=24 a=40
// plan       cpu_negative: accesses of 8 B, 1 tiles
// traffic    15360 B (read 7680, write 7680)
// index      32 bits: largest offset 959
// schedule   cpu_negative
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_negative.case
extern "C" void c64_ab_to_ba_40x24(void* const* args, i64 first, i64 last)
{
  const c64* __restrict__ const A = (const c64*)args[0];
  c64* __restrict__ const B = (c64*)args[1];
  for (i64 task = first; task < last; ++task) {
    for (i64 b = 0; b < 24; ++b) {
      #pragma clang loop vectorize(assume_safety)
      for (i64 a = 0; a < 40; ++a) {
        B[40LL * b + a] = conj(A[b - 24LL * a]);
      }
    }
  }
}
