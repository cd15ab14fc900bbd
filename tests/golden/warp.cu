// u32_ab_to_ba_4096x8        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 8
//            index a = 4096
//            input A : u32 [0..32767] align 16
//            output B : u32 [0..32767] align 16
//            B[4096*b + a] = A[b + 8*a]
// extents    b=8 a=4096
// plan       warp: reads of 16 B, writes of 16 B, 128 tiles
// traffic    262144 B (read 131072, write 131072)
// index      32 bits: largest offset 32767
// schedule   warp
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/warp.case
extern "C" __global__ void __launch_bounds__(256)
u32_ab_to_ba_4096x8(const u32* __restrict__ A, u32* __restrict__ B)
{
  const int group = blockIdx.x;
  const int warp = threadIdx.x / 32;
  const int t = threadIdx.x % 32;
  const int block = 8 * group + warp;
  const int a0 = 32 * block;
  A += 8 * a0;
  B += a0;
  vec<u32, 4> kept[2];

  // read A along b
  {
    const int b = 4 * (t % 2);
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int a = t / 2 + 16 * u;
      kept[u] = load<vec<u32, 4>>(A + b + 8 * a);
    }
  }

  // exchange within the warp, write B along a
  {
    const int a = 4 * (t % 8);
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int b = t / 8 + 4 * u;
      vec<u32, 4> in;
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        const int p = b + 8 * a + 8 * v;
        in.at[v] = shuffle(kept[0].at[0], p / 4 % 32);
        const u32 other1 = shuffle(kept[0].at[1], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 1) {
          in.at[v] = other1;
        }
        const u32 other2 = shuffle(kept[0].at[2], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 2) {
          in.at[v] = other2;
        }
        const u32 other3 = shuffle(kept[0].at[3], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 3) {
          in.at[v] = other3;
        }
        const u32 other4 = shuffle(kept[1].at[0], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 0) {
          in.at[v] = other4;
        }
        const u32 other5 = shuffle(kept[1].at[1], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 1) {
          in.at[v] = other5;
        }
        const u32 other6 = shuffle(kept[1].at[2], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 2) {
          in.at[v] = other6;
        }
        const u32 other7 = shuffle(kept[1].at[3], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 3) {
          in.at[v] = other7;
        }
      }
      store(B + 4096 * b + a, in);
    }
  }
}
