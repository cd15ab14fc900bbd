// u64_ab_to_ba_42x90        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 90
//            index a = 42
//            input A : u64 [0..3779] align 16
//            output B : u64 [0..3779] align 16
//            B[42*b + a] = A[b + 90*a]
// extents    b=90 a=42
// plan       plain: accesses of 8 B, 15 tiles
// traffic    60480 B (read 30240, write 30240)
// index      32 bits: largest offset 3779
// schedule   plain
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/plain.case
extern "C" __global__ void __launch_bounds__(128)
u64_ab_to_ba_42x90(const u64* __restrict__ A, u64* __restrict__ B)
{
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const int b0 = 6 * block;
  A += b0;
  B += 42 * b0;

  // write B along a
  {
    u64 kept[2];
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int b = (t + 128 * u) / 42;
      const int a = (t + 128 * u) % 42;
      if (t + 128 * u < 252) {
        kept[u] = A[b + 90 * a];
      }
    }
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int b = (t + 128 * u) / 42;
      const int a = (t + 128 * u) % 42;
      if (t + 128 * u < 252) {
        B[42 * b + a] = kept[u];
      }
    }
  }
}
