// u32_abc_to_bac_24x18x96        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 18
//            index a = 24
//            index c = 96
//            input A : u32 [0..41471] align 16
//            output B : u32 [0..41471] align 16
//            B[2304*b + 96*a + c] = A[96*b + 1728*a + c]
// extents    b=18 a=24 c=96
// plan       tiled_copy: accesses of 16 B, 54 tiles
// traffic    331776 B (read 165888, write 165888)
// index      32 bits: largest offset 41471
// schedule   tiled_copy
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/tiled_copy.case
extern "C" __global__ void __launch_bounds__(128)
u32_abc_to_bac_24x18x96(const u32* __restrict__ A, u32* __restrict__ B)
{
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const int a0 = 8 * (block % 3);
  const int b = block / 3;
  A += 96 * b + 1728 * a0;
  B += 2304 * b + 96 * a0;

  // write B along c
  {
    vec<u32, 4> kept[2];
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int a = (t + 128 * u) / 24;
      const int c = 4 * ((t + 128 * u) % 24);
      if (t + 128 * u < 192) {
        kept[u] = load<vec<u32, 4>>(A + 1728 * a + c);
      }
    }
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int a = (t + 128 * u) / 24;
      const int c = 4 * ((t + 128 * u) % 24);
      if (t + 128 * u < 192) {
        store(B + 96 * a + c, kept[u]);
      }
    }
  }
}
