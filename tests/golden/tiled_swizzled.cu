// u32_ab_to_ba_512x256        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 256
//            index a = 512
//            input A : u32 [0..131071] align 16
//            output B : u32 [0..131071] align 16
//            B[512*b + a] = A[b + 256*a]
// extents    b=256 a=512
// plan       tiled_swizzled: reads of 16 B, writes of 16 B, 16384 B shared, swizzled, 32 tiles
// traffic    1048576 B (read 524288, write 524288)
// index      32 bits: largest offset 131071
// schedule   tiled_swizzled
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/tiled_swizzled.case
extern "C" __global__ void __launch_bounds__(256)
u32_ab_to_ba_512x256(const u32* __restrict__ A, u32* __restrict__ B)
{
  __shared__ __align__(16) u32 tile[4096];
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const int a0 = 64 * (block % 8);
  const int b0 = 64 * (block / 8);
  A += b0 + 256 * a0;
  B += 512 * b0 + a0;

  // read A along b
  {
    const int b = 4 * (t % 16);
    vec<u32, 4> kept[4];
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int a = t / 16 + 16 * u;
      kept[u] = load<vec<u32, 4>>(A + b + 256 * a);
    }
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int a = t / 16 + 16 * u;
      store(tile + swizzle<8, 15, 2>(b + 64 * a), kept[u]);
    }
  }
  __syncthreads();

  // write B along a
  {
    const int a = 4 * (t % 16);
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int b = t / 16 + 16 * u;
      vec<u32, 4> in_A;
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        in_A.at[v] = tile[swizzle<8, 15, 2>(b + 64 * a + 64 * v)];
      }
      store(B + 512 * b + a, in_A);
    }
  }
}
