// u64_abc_to_cba_48x50x40        made by ricci 0.1.0 for sm_90; do not edit
// problem    index c = 40
//            index b = 50
//            index a = 48
//            input A : u64 [0..95999] align 16
//            output B : u64 [0..95999] align 16
//            B[2400*c + 48*b + a] = A[c + 40*b + 2000*a]
// extents    c=40 b=50 a=48
// plan       tiled: reads of 8 B, writes of 8 B, 8448 B shared, 200 tiles
// traffic    1536000 B (read 768000, write 768000)
// index      32 bits: largest offset 95999
// schedule   tiled
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/tiled.case
extern "C" __global__ void __launch_bounds__(256)
u64_abc_to_cba_48x50x40(const u64* __restrict__ A, u64* __restrict__ B)
{
  __shared__ __align__(16) u64 tile[1056];
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const int a0 = 32 * (block % 2);
  const int c0 = 32 * (block / 2 % 2);
  const int b = block / 4;
  A += c0 + 40 * b + 2000 * a0;
  B += 2400 * c0 + 48 * b + a0;

  // read A along c
  {
    const int c = t % 32;
    u64 kept[4];
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int a = t / 32 + 8 * u;
      if (c0 + c < 40 && a0 + a < 48) {
        kept[u] = A[c + 2000 * a];
      }
    }
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int a = t / 32 + 8 * u;
      if (c0 + c < 40 && a0 + a < 48) {
        tile[c + 33 * a] = kept[u];
      }
    }
  }
  __syncthreads();

  // write B along a
  {
    const int a = t % 32;
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int c = t / 32 + 8 * u;
      if (c0 + c < 40 && a0 + a < 48) {
        B[2400 * c + a] = tile[c + 33 * a];
      }
    }
  }
}
