// u8_a_to_a_3000000001        made by ricci 0.1.0 for sm_90; do not edit
// problem    index a = 3000000001
//            input A : u8 [0..3000000000] align 16
//            output B : u8 [0..3000000000] align 16
//            B[a] = A[a]
// extents    a=3000000001
// plan       huge: accesses of 1 B, 732422 tiles
// traffic    6000000002 B (read 3000000001, write 3000000001)
// index      64 bits: largest offset 3000000000
// schedule   huge
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/huge.case
extern "C" __global__ void __launch_bounds__(256)
u8_a_to_a_3000000001(const u8* __restrict__ A, u8* __restrict__ B)
{
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const i64 a0 = 4096LL * block;
  A += a0;
  B += a0;

  // write B along a
  {
    u8 kept[16];
    #pragma unroll
    for (int u = 0; u < 16; ++u) {
      const int a = t + 256 * u;
      if (a0 + a < 3000000001) {
        kept[u] = A[a];
      }
    }
    #pragma unroll
    for (int u = 0; u < 16; ++u) {
      const int a = t + 256 * u;
      if (a0 + a < 3000000001) {
        B[a] = kept[u];
      }
    }
  }
}
