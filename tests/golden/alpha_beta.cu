// f32_ab_to_ba_100x60        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 60
//            index a = 100
//            input A : f32 [0..5999] align 16
//            output B : f32 [0..5999] align 16
//            param alpha : f32
//            param beta : f32
//            B[100*b + a] = add(scale(alpha, A[b + 60*a]), scale(beta, B[100*b + a]))
// extents    b=60 a=100
// plan       alpha_beta: reads of 4 B, writes of 4 B, 4224 B shared, 8 tiles
// traffic    72000 B (read 48000, write 24000)
// index      32 bits: largest offset 5999
// schedule   alpha_beta
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/alpha_beta.case
extern "C" __global__ void __launch_bounds__(256)
f32_ab_to_ba_100x60(const float* __restrict__ A, float* __restrict__ B, float alpha, float beta)
{
  __shared__ __align__(16) float tile[1056];
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const int a0 = 32 * (block % 4);
  const int b0 = 32 * (block / 4);
  A += b0 + 60 * a0;
  B += 100 * b0 + a0;

  // read A along b
  {
    const int b = t % 32;
    float kept[4];
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int a = t / 32 + 8 * u;
      if (b0 + b < 60 && a0 + a < 100) {
        kept[u] = A[b + 60 * a];
      }
    }
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int a = t / 32 + 8 * u;
      if (b0 + b < 60 && a0 + a < 100) {
        tile[b + 33 * a] = kept[u];
      }
    }
  }
  __syncthreads();

  // write B along a
  {
    const int a = t % 32;
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int b = t / 32 + 8 * u;
      if (b0 + b < 60 && a0 + a < 100) {
        B[100 * b + a] = scale(alpha, tile[b + 33 * a]) + scale(beta, B[100 * b + a]);
      }
    }
  }
}
