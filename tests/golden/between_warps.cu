// u64_ab_to_ba_1000x24        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 24
//            index a = 1000
//            input A : u64 [0..23999] align 16
//            output B : u64 [0..23999] align 16
//            B[1000*b + a] = A[b + 24*a]
// extents    b=24 a=1000
// plan       between_warps: reads of 8 B, writes of 8 B, 6400 B shared, 32 tiles
// traffic    384000 B (read 192000, write 192000)
// index      32 bits: largest offset 23999
// schedule   between_warps
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/between_warps.case
extern "C" __global__ void __launch_bounds__(128)
u64_ab_to_ba_1000x24(const u64* __restrict__ A, u64* __restrict__ B)
{
  __shared__ __align__(16) u64 tile[800];
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const int a0 = 32 * block;
  A += 24 * a0;
  B += a0;

  // read A along b
  {
    u64 kept[6];
    #pragma unroll
    for (int u = 0; u < 6; ++u) {
      const int b = (t + 128 * u) % 24;
      const int a = (t + 128 * u) / 24;
      if (a0 + a < 1000) {
        kept[u] = A[b + 24 * a];
      }
    }
    #pragma unroll
    for (int u = 0; u < 6; ++u) {
      const int b = (t + 128 * u) % 24;
      const int a = (t + 128 * u) / 24;
      if (a0 + a < 1000) {
        tile[b + 25 * a] = kept[u];
      }
    }
  }
  __syncthreads();

  // write B along a
  {
    const int a = t % 32;
    #pragma unroll
    for (int u = 0; u < 6; ++u) {
      const int b = t / 32 + 4 * u;
      if (a0 + a < 1000) {
        B[1000 * b + a] = tile[b + 25 * a];
      }
    }
  }
}
