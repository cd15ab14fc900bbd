// u32_ab_to_ba_4096x4        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 4
//            index a = 4096
//            input A : u32 [0..16383] align 16
//            output B : u32 [0..16383] align 16
//            B[4096*b + a] = A[b + 4*a]
// extents    b=4 a=4096
// plan       streaming: reads of 16 B, writes of 4 B, 128 tiles
// traffic    131072 B (read 65536, write 65536)
// index      32 bits: largest offset 16383
// schedule   streaming
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/streaming.case
extern "C" __global__ void __launch_bounds__(256)
u32_ab_to_ba_4096x4(const u32* __restrict__ A, u32* __restrict__ B)
{
  const int group = blockIdx.x;
  const int warp = threadIdx.x / 32;
  const int t = threadIdx.x % 32;
  const int block = 8 * group + warp;
  const int a0 = 32 * block;
  A += 4 * a0;
  B += a0;
  vec<u32, 4> kept;

  // read A along b
  {
    const int b = 0;
    const int a = t;
    kept = load<vec<u32, 4>>(A + b + 4 * a);
  }

  // write B along a
  {
    const int a = t;
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int b = u;
      u32 in;
      in = kept.at[u];
      store_nontemporal<u32>(B + 4096 * b + a, in);
    }
  }
}
