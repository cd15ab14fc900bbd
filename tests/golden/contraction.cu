// f64_ab_bc_to_ac_96x50x80        made by ricci 0.1.0 for sm_90; do not edit
// problem    index a = 96
//            index c = 80
//            index b = 50
//            input A : f64 [0..4799] align 16
//            input B : f64 [0..3999] align 16
//            output C : f64 [0..7679] align 16
//            rounding free
//            C[80*a + c] = sum(b : mul(A[50*a + b], B[c + 80*b]))
// extents    a=96 c=80 b=50
// plan       contraction
// traffic    131840 B (read 70400, write 61440)
// index      32 bits: largest offset 7679
// schedule   contraction
//            tile a:32:8
//            tile c:32:16
//            order task a0 c0 thread a c
//            threads 128
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/contraction.case
extern "C" __global__ void __launch_bounds__(128)
f64_ab_bc_to_ac_96x50x80(const double* __restrict__ A, const double* __restrict__ B, double* __restrict__ C)
{
  const int a_tile = (int)blockIdx.x / 3;
  const int c_tile = (int)blockIdx.x % 3;
  const int t = threadIdx.x;
  const int tc = t % 16;
  const int ta = t / 16;
  const int a = 32 * a_tile + ta;
  const int c = 32 * c_tile + tc;
  if (c > 79) return;
  double sum[4][2];
  #pragma unroll
  for (int ua = 0; ua < 4; ++ua) {
    #pragma unroll
    for (int uc = 0; uc < 2; ++uc) {
      sum[ua][uc] = 0.0;
    }
  }
  for (int b = 0; b < 50; ++b) {
    double a2[4];
    #pragma unroll
    for (int ua = 0; ua < 4; ++ua) {
      a2[ua] = A[50 * a + 400 * ua + b];
    }
    double b2[2];
    #pragma unroll
    for (int uc = 0; uc < 2; ++uc) {
      const int c_at = c + 16 * uc < 79 ? c + 16 * uc : 79;
      b2[uc] = B[c_at + 80 * b];
    }
    #pragma unroll
    for (int ua = 0; ua < 4; ++ua) {
      #pragma unroll
      for (int uc = 0; uc < 2; ++uc) {
        sum[ua][uc] += a2[ua] * b2[uc];
      }
    }
  }
  #pragma unroll
  for (int ua = 0; ua < 4; ++ua) {
    #pragma unroll
    for (int uc = 0; uc < 2; ++uc) {
      const int c_at = c + 16 * uc < 79 ? c + 16 * uc : 79;
      if (c + 16 * uc < 80) {
        C[80 * a + 640 * ua + c_at] = sum[ua][uc];
      }
    }
  }
}
