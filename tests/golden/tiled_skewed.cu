// u64_ab_to_ba_67x41        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 41
//            index a = 67
//            input A : u64 [0..2746] align 16
//            output B : u64 [0..2746] align 16
//            B[67*b + a] = A[b + 41*a]
// extents    b=41 a=67
// plan       tiled_skewed: reads of 8 B, writes of 16 B, 9240 B shared, 6 tiles
// traffic    43952 B (read 21976, write 21976)
// index      32 bits: largest offset 2746
// schedule   tiled_skewed
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/tiled_skewed.case
extern "C" __global__ void __launch_bounds__(128)
u64_ab_to_ba_67x41(const u64* __restrict__ A, u64* __restrict__ B)
{
  __shared__ __align__(16) u64 tile[1155];
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const int a0 = 32 * (block % 3);
  const int b0 = 32 * (block / 3);
  A += b0 + 41 * a0 - 123;
  B += 67 * b0 + a0 - 3;

  // read A along b
  {
    const int b = t % 32;
    u64 kept[9];
    #pragma unroll
    for (int u = 0; u < 9; ++u) {
      const int a = t / 32 + 4 * u;
      if (t + 128 * u < 1120 && b0 + b < 41 && a0 + a > 2 && a0 + a < 70) {
        kept[u] = A[b + 41 * a];
      }
    }
    #pragma unroll
    for (int u = 0; u < 9; ++u) {
      const int a = t / 32 + 4 * u;
      if (t + 128 * u < 1120 && b0 + b < 41 && a0 + a > 2 && a0 + a < 70) {
        tile[b + 33 * a] = kept[u];
      }
    }
  }
  __syncthreads();

  // write B along a
  {
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int b = t / 16 + 8 * u;
      const int phase = (3 * b0 + 3 * b) % 4;
      const int a = 2 * (t % 16) - phase + 3;
      if (b0 + b < 41 && a0 + a > 1 && a0 + a < 70) {
        vec<u64, 2> in_A;
        #pragma unroll
        for (int v = 0; v < 2; ++v) {
          in_A.at[v] = tile[b + 33 * a + 33 * v];
        }
        if (a0 + a > 2 && a0 + a < 69) {
          store(B + 67 * b + a, in_A);
        } else {
          #pragma unroll
          for (int v = 0; v < 2; ++v) {
            if (a0 + a + v > 2 && a0 + a + v < 70) {
              B[67 * b + a + v] = in_A.at[v];
            }
          }
        }
      }
    }
  }
}
