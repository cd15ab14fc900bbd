// f32_ab_to_ab_1000x300        made by ricci 0.1.0 for sm_90; do not edit
// problem    index a = 1000
//            index b = 300
//            input A : f32 [0..299999] align 16
//            output B : f32 [0..999] align 16
//            rounding free
//            let %1 = A[300*a + b]
//            B[a] = sum(b : guard(less(f32(0), %1), %1))
// extents    a=1000 b=300
// plan       guarded_sum
// traffic    1204000 B (read 1200000, write 4000)
// index      32 bits: largest offset 299999
// schedule   guarded_sum
//            tile a:8
//            order task a0 thread a
//            threads 256
//            cooperative 32
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/guarded_sum.case
extern "C" __global__ void __launch_bounds__(256)
f32_ab_to_ab_1000x300(const float* __restrict__ A, float* __restrict__ B)
{
  const int a_tile = blockIdx.x;
  const int t = threadIdx.x / 32;
  const int member = threadIdx.x % 32;
  const int a = 8 * a_tile + t;
  float sum = 0.0f;
  #pragma unroll 8
  for (int b = member; b < 300; b += 32) {
    const float a2 = A[300 * a + b];
    if (0.0f < a2) {
      sum += a2;
    }
  }
  #pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) sum = sum + shuffle_xor(sum, mask);
  if (member > 0) return;
  B[a] = sum;
}
