// u8_ab_to_ab_70000x40000        made by ricci 0.1.0 for sm_90; do not edit
// problem    index a = 70000
//            index b = 40000
//            input A : u8 [0..2800069998] align 16
//            output B : u8 [0..2799999999] align 16
//            B[40000*a + b] = A[40001*a + b]
// extents    a=70000 b=40000
// plan       wide: accesses of 1 B, 2800000 tiles
// traffic    5600000000 B (read 2800000000, write 2800000000)
// index      64 bits: largest offset 2800069998
// schedule   wide
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/wide.case
extern "C" __global__ void __launch_bounds__(256)
u8_ab_to_ab_70000x40000(const u8* __restrict__ A, u8* __restrict__ B)
{
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const int b0 = 1024 * (block % 40);
  const int a = block / 40;
  A += 40001LL * a + b0;
  B += 40000LL * a + b0;

  // write B along b
  {
    u8 kept[4];
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int b = t + 256 * u;
      if (b0 + b < 40000) {
        kept[u] = A[b];
      }
    }
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int b = t + 256 * u;
      if (b0 + b < 40000) {
        B[b] = kept[u];
      }
    }
  }
}
