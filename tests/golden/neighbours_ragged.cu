// f64_ab_to_ba_22x30        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 30
//            index a = 22
//            input A : f64 [0..659] align 16
//            output B : f64 [0..659] align 16
//            rounding free
//            let %1 = A[b + 30*a]
//            B[22*b + a] = add(mul(%1, %1), B[22*b + a])
// extents    b=30 a=22
// plan       neighbours_ragged
// traffic    15840 B (read 10560, write 5280)
// index      32 bits: largest offset 659
// schedule   neighbours_ragged
//            tile a:12:2
//            tile b:8:4
//            order task a0 b0 thread a1 b1
//            threads 32
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/neighbours_ragged.case
extern "C" __global__ void __launch_bounds__(32)
f64_ab_to_ba_22x30(const double* __restrict__ A, double* __restrict__ B)
{
  const int a_tile = (int)blockIdx.x / 4;
  const int b_tile = (int)blockIdx.x % 4;
  const int t = threadIdx.x;
  if (t > 11) return;
  const int tb = t % 2;
  const int ta = t / 2;
  const int b = 8 * b_tile + 4 * tb;
  const int a = 12 * a_tile + 2 * ta;
  if (b > 29) return;
  if (a > 21) return;
  double a2[4][2];
  #pragma unroll
  for (int ub = 0; ub < 4; ++ub) {
    const int b_at = b + ub < 29 ? b + ub : 29;
    #pragma unroll
    for (int ua = 0; ua < 2; ++ua) {
      a2[ub][ua] = A[b_at + 30 * a + 30 * ua];
    }
  }
  #pragma unroll
  for (int ub = 0; ub < 4; ++ub) {
    const int b_at = b + ub < 29 ? b + ub : 29;
    if (b + ub < 30) {
      vec<double, 2> result;
      #pragma unroll
      for (int ua = 0; ua < 2; ++ua) {
        result.at[ua] = a2[ub][ua] * a2[ub][ua] + B[22 * b_at + a + ua];
      }
      store(B + 22 * b_at + a, result);
    }
  }
}
