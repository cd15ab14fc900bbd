// u32_ab_to_ba_1024x1024        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 1024
//            index a = 1024
//            input A : u32 [0..1048575] align 16
//            output B : u32 [0..1048575] align 16
//            B[1024*b + a] = A[b + 1024*a]
// extents    b=1024 a=1024
// plan       tiled_pairs: reads of 8 B, writes of 4 B, 8448 B shared, 512 tiles
// traffic    8388608 B (read 4194304, write 4194304)
// index      32 bits: largest offset 1048575
// schedule   tiled_pairs
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/tiled_pairs.case
extern "C" __global__ void __launch_bounds__(256)
u32_ab_to_ba_1024x1024(const u32* __restrict__ A, u32* __restrict__ B)
{
  __shared__ __align__(16) u32 tile[2112];
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const int a0 = 32 * (block % 32);
  const int b0 = 64 * (block / 32);
  A += b0 + 1024 * a0;
  B += 1024 * b0 + a0;

  // read A along b
  {
    const int b = 2 * (t % 32);
    vec<u32, 2> kept[4];
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int a = t / 32 + 8 * u;
      kept[u] = load<vec<u32, 2>>(A + b + 1024 * a);
    }
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int a = t / 32 + 8 * u;
      store(tile + b + 66 * a, kept[u]);
    }
  }
  __syncthreads();

  // write B along a
  {
    const int a = t % 32;
    #pragma unroll
    for (int u = 0; u < 8; ++u) {
      const int b = t / 32 + 8 * u;
      B[1024 * b + a] = tile[b + 66 * a];
    }
  }
}
