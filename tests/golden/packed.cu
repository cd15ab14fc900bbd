// u32_abc_to_cba_9x7x200        made by ricci 0.1.0 for sm_90; do not edit
// problem    index c = 200
//            index b = 7
//            index a = 9
//            input A : u32 [0..12599] align 16
//            output B : u32 [0..12599] align 16
//            B[63*c + 9*b + a] = A[c + 200*b + 1400*a]
// extents    c=200 b=7 a=9
// plan       packed: reads of 4 B, writes of 4 B, 4068 B shared, 13 tiles
// traffic    100800 B (read 50400, write 50400)
// index      32 bits: largest offset 12599
// schedule   packed
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/packed.case
extern "C" __global__ void __launch_bounds__(256)
u32_abc_to_cba_9x7x200(const u32* __restrict__ A, u32* __restrict__ B)
{
  __shared__ __align__(16) u32 tile[1017];
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const int c0 = 16 * block;
  A += c0;
  B += 63 * c0;

  // read A along c
  {
    const int c = t % 16;
    u32 kept[4];
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int b = (t + 256 * u) / 16 % 7;
      const int a = (t + 256 * u) / 112;
      if (t + 256 * u < 1008 && c0 + c < 200) {
        kept[u] = A[c + 200 * b + 1400 * a];
      }
    }
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int b = (t + 256 * u) / 16 % 7;
      const int a = (t + 256 * u) / 112;
      if (t + 256 * u < 1008 && c0 + c < 200) {
        tile[c + 16 * b + 113 * a] = kept[u];
      }
    }
  }
  __syncthreads();

  // write B along a
  {
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int c = (t + 256 * u) / 63;
      const int b = (t + 256 * u) / 9 % 7;
      const int a = (t + 256 * u) % 9;
      if (t + 256 * u < 1008 && c0 + c < 200) {
        B[63 * c + 9 * b + a] = tile[c + 16 * b + 113 * a];
      }
    }
  }
}
