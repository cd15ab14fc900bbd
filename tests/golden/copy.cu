// u64_a_to_a_14800        made by ricci 0.1.0 for sm_90; do not edit
// problem    index a = 14800
//            input A : u64 [0..14799] align 16
//            output B : u64 [0..14799] align 16
//            B[a] = A[a]
// extents    a=14800
// plan       copy: accesses of 16 B, 15 tiles
// traffic    236800 B (read 118400, write 118400)
// index      32 bits: largest offset 14799
// schedule   copy
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/copy.case
extern "C" __global__ void __launch_bounds__(256)
u64_a_to_a_14800(const u64* __restrict__ A, u64* __restrict__ B)
{
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const int a0 = 1024 * block;
  A += a0;
  B += a0;

  // write B along a
  {
    vec<u64, 2> kept[2];
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int a = 2 * t + 512 * u;
      if (a0 + a < 14800) {
        kept[u] = load<vec<u64, 2>>(A + a);
      }
    }
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int a = 2 * t + 512 * u;
      if (a0 + a < 14800) {
        store(B + a, kept[u]);
      }
    }
  }
}
