// f64_ab_bc_to_ac_96x50x80        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index a = 96
//            index c = 80
//            index b = 50
//            input A : f64 [0..4799] align 16
//            input B : f64 [0..3999] align 16
//            output C : f64 [0..7679] align 16
//            rounding free
//            C[80*a + c] = sum(b : mul(A[50*a + b], B[c + 80*b]))
// extents    a=96 c=80 b=50
// plan       cpu_contraction
// traffic    131840 B (read 70400, write 61440)
// index      32 bits: largest offset 7679
// schedule   cpu_contraction
//            tile a:24:4
//            tile c:16
//            order task a0 serial a1 c0
//            lanes c 8
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_contraction.case
extern "C" void f64_ab_bc_to_ac_96x50x80(void* const* args, i64 first, i64 last)
{
  const double* __restrict__ const A = (const double*)args[0];
  const double* __restrict__ const B = (const double*)args[1];
  double* __restrict__ const C = (double*)args[2];
  for (i64 task = first; task < last; ++task) {
    const i64 a_tile = task;
    const i64 a0 = 24LL * a_tile;
    for (i64 a = a0; a + 4 <= a0 + 24LL; a += 4) {
      for (i64 c = 0; c + 16 <= 80; c += 16) {
        f64x8 sum[4][2];
        #pragma unroll
        for (int ua = 0; ua < 4; ++ua) {
          #pragma unroll
          for (int uc = 0; uc < 2; ++uc) {
            sum[ua][uc] = 0.0;
          }
        }
        for (i64 b = 0; b < 50; ++b) {
          double a2[4];
          #pragma unroll
          for (int ua = 0; ua < 4; ++ua) {
            a2[ua] = A[50LL * a + 50LL * ua + b];
          }
          f64x8 b2[2];
          #pragma unroll
          for (int uc = 0; uc < 2; ++uc) {
            b2[uc] = *(const f64x8_in_memory*)(B + c + 8LL * uc + 80LL * b);
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
            *(f64x8_in_memory*)(C + 80LL * a + 80LL * ua + c + 8LL * uc) = sum[ua][uc];
          }
        }
      }
    }
  }
}
