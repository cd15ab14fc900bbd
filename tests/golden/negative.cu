// u32_ab_to_ab_30x64        made by ricci 0.1.0 for sm_90; do not edit
// problem    index a = 30
//            index b = 64
//            input A : u32 [-63..1856] align 16
//            output B : u32 [-2030..63] align 16
//            B[70*a + b - 2030] = A[-64*a - b + 1856]
// extents    a=30 b=64
// plan       negative: accesses of 4 B, 8 tiles
// traffic    15360 B (read 7680, write 7680)
// index      32 bits: largest offset 2030
// schedule   negative
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/negative.case
extern "C" __global__ void __launch_bounds__(128)
u32_ab_to_ab_30x64(const u32* __restrict__ A, u32* __restrict__ B)
{
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const int a0 = 4 * block;
  A += -64 * a0 + 1856;
  B += 70 * a0 - 2030;

  // write B along b
  {
    const int b = t % 64;
    u32 kept[2];
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int a = t / 64 + 2 * u;
      if (a0 + a < 30) {
        kept[u] = A[-64 * a - b];
      }
    }
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int a = t / 64 + 2 * u;
      if (a0 + a < 30) {
        B[70 * a + b] = kept[u];
      }
    }
  }
}
