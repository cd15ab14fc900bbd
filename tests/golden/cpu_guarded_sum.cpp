// f32_ab_to_ab_1000x300        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index a = 1000
//            index b = 300
//            input A : f32 [0..299999] align 16
//            output B : f32 [0..999] align 16
//            rounding free
//            let %1 = A[300*a + b]
//            B[a] = sum(b : guard(less(f32(0), %1), %1))
// extents    a=1000 b=300
// plan       cpu_guarded_sum
// traffic    1204000 B (read 1200000, write 4000)
// index      32 bits: largest offset 299999
// schedule   cpu_guarded_sum
//            tile a:100:4
//            order task a0 serial a1
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_guarded_sum.case
extern "C" void f32_ab_to_ab_1000x300(void* const* args, i64 first, i64 last)
{
  const float* __restrict__ const A = (const float*)args[0];
  float* __restrict__ const B = (float*)args[1];
  for (i64 task = first; task < last; ++task) {
    const i64 a_tile = task;
    const i64 a0 = 100LL * a_tile;
    for (i64 a = a0; a + 4 <= a0 + 100LL; a += 4) {
      float sum[4];
      #pragma unroll
      for (int ua = 0; ua < 4; ++ua) {
        sum[ua] = 0.0f;
      }
      for (i64 b = 0; b < 300; ++b) {
        float a2[4];
        #pragma unroll
        for (int ua = 0; ua < 4; ++ua) {
          a2[ua] = A[300LL * a + 300LL * ua + b];
        }
        u8 value[4];
        #pragma unroll
        for (int ua = 0; ua < 4; ++ua) {
          value[ua] = 0.0f < a2[ua];
        }
        u8 any = (u8)0;
        #pragma unroll
        for (int ua = 0; ua < 4; ++ua) {
          any = any || value[ua];
        }
        if (any) {
          #pragma unroll
          for (int ua = 0; ua < 4; ++ua) {
            if (value[ua]) {
              sum[ua] += a2[ua];
            }
          }
        }
      }
      #pragma unroll
      for (int ua = 0; ua < 4; ++ua) {
        B[a + ua] = sum[ua];
      }
    }
  }
}
