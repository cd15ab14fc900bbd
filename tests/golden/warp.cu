// u32_ab_to_ba_4096x8        made by ricci 0.1.0 for sm_90; do not edit
// problem    B[4096 * b + a] = A[b + 8 * a]
// extents    b=8 a=4096
// plan       warp: reads of 16 B, writes of 16 B, 128 tiles
// traffic    262144 B (read 131072, write 131072)
// index      32 bits: largest offset 32767
// schedule   warp
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/warp.case
extern "C" __global__ void __launch_bounds__(256)
u32_ab_to_ba_4096x8(const u32* __restrict__ A, u32* __restrict__ B)
{
  const int t = threadIdx.x % 32;
  const int block = blockIdx.x * 8 + threadIdx.x / 32;
  const int a0 = 32 * block;
  A += 8 * a0;
  B += a0;

  // read A along b
  vec<u32, 4> kept[2] = {};
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
    {
      const int u = 0;
      const int b = t / 8 + 4 * u;
      u32 in[4];
      {
        const int p = b + 8 * (a);
        in[0] = shuffle(kept[0].at[0], p / 4 % 32);
        const u32 other1 = shuffle(kept[0].at[1], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 1) in[0] = other1;
        const u32 other2 = shuffle(kept[0].at[2], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 2) in[0] = other2;
        const u32 other3 = shuffle(kept[0].at[3], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 3) in[0] = other3;
        const u32 other4 = shuffle(kept[1].at[0], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 0) in[0] = other4;
        const u32 other5 = shuffle(kept[1].at[1], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 1) in[0] = other5;
        const u32 other6 = shuffle(kept[1].at[2], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 2) in[0] = other6;
        const u32 other7 = shuffle(kept[1].at[3], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 3) in[0] = other7;
      }
      {
        const int p = b + 8 * ((a + 1));
        in[1] = shuffle(kept[0].at[0], p / 4 % 32);
        const u32 other1 = shuffle(kept[0].at[1], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 1) in[1] = other1;
        const u32 other2 = shuffle(kept[0].at[2], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 2) in[1] = other2;
        const u32 other3 = shuffle(kept[0].at[3], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 3) in[1] = other3;
        const u32 other4 = shuffle(kept[1].at[0], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 0) in[1] = other4;
        const u32 other5 = shuffle(kept[1].at[1], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 1) in[1] = other5;
        const u32 other6 = shuffle(kept[1].at[2], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 2) in[1] = other6;
        const u32 other7 = shuffle(kept[1].at[3], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 3) in[1] = other7;
      }
      {
        const int p = b + 8 * ((a + 2));
        in[2] = shuffle(kept[0].at[0], p / 4 % 32);
        const u32 other1 = shuffle(kept[0].at[1], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 1) in[2] = other1;
        const u32 other2 = shuffle(kept[0].at[2], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 2) in[2] = other2;
        const u32 other3 = shuffle(kept[0].at[3], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 3) in[2] = other3;
        const u32 other4 = shuffle(kept[1].at[0], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 0) in[2] = other4;
        const u32 other5 = shuffle(kept[1].at[1], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 1) in[2] = other5;
        const u32 other6 = shuffle(kept[1].at[2], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 2) in[2] = other6;
        const u32 other7 = shuffle(kept[1].at[3], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 3) in[2] = other7;
      }
      {
        const int p = b + 8 * ((a + 3));
        in[3] = shuffle(kept[0].at[0], p / 4 % 32);
        const u32 other1 = shuffle(kept[0].at[1], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 1) in[3] = other1;
        const u32 other2 = shuffle(kept[0].at[2], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 2) in[3] = other2;
        const u32 other3 = shuffle(kept[0].at[3], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 3) in[3] = other3;
        const u32 other4 = shuffle(kept[1].at[0], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 0) in[3] = other4;
        const u32 other5 = shuffle(kept[1].at[1], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 1) in[3] = other5;
        const u32 other6 = shuffle(kept[1].at[2], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 2) in[3] = other6;
        const u32 other7 = shuffle(kept[1].at[3], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 3) in[3] = other7;
      }
      vec<u32, 4> out;
      #pragma unroll
      for (int v = 0; v < 4; ++v) out.at[v] = in[v];
      store(B + 4096 * b + a, out);
    }
    {
      const int u = 1;
      const int b = t / 8 + 4 * u;
      u32 in[4];
      {
        const int p = b + 8 * (a);
        in[0] = shuffle(kept[0].at[0], p / 4 % 32);
        const u32 other1 = shuffle(kept[0].at[1], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 1) in[0] = other1;
        const u32 other2 = shuffle(kept[0].at[2], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 2) in[0] = other2;
        const u32 other3 = shuffle(kept[0].at[3], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 3) in[0] = other3;
        const u32 other4 = shuffle(kept[1].at[0], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 0) in[0] = other4;
        const u32 other5 = shuffle(kept[1].at[1], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 1) in[0] = other5;
        const u32 other6 = shuffle(kept[1].at[2], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 2) in[0] = other6;
        const u32 other7 = shuffle(kept[1].at[3], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 3) in[0] = other7;
      }
      {
        const int p = b + 8 * ((a + 1));
        in[1] = shuffle(kept[0].at[0], p / 4 % 32);
        const u32 other1 = shuffle(kept[0].at[1], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 1) in[1] = other1;
        const u32 other2 = shuffle(kept[0].at[2], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 2) in[1] = other2;
        const u32 other3 = shuffle(kept[0].at[3], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 3) in[1] = other3;
        const u32 other4 = shuffle(kept[1].at[0], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 0) in[1] = other4;
        const u32 other5 = shuffle(kept[1].at[1], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 1) in[1] = other5;
        const u32 other6 = shuffle(kept[1].at[2], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 2) in[1] = other6;
        const u32 other7 = shuffle(kept[1].at[3], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 3) in[1] = other7;
      }
      {
        const int p = b + 8 * ((a + 2));
        in[2] = shuffle(kept[0].at[0], p / 4 % 32);
        const u32 other1 = shuffle(kept[0].at[1], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 1) in[2] = other1;
        const u32 other2 = shuffle(kept[0].at[2], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 2) in[2] = other2;
        const u32 other3 = shuffle(kept[0].at[3], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 3) in[2] = other3;
        const u32 other4 = shuffle(kept[1].at[0], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 0) in[2] = other4;
        const u32 other5 = shuffle(kept[1].at[1], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 1) in[2] = other5;
        const u32 other6 = shuffle(kept[1].at[2], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 2) in[2] = other6;
        const u32 other7 = shuffle(kept[1].at[3], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 3) in[2] = other7;
      }
      {
        const int p = b + 8 * ((a + 3));
        in[3] = shuffle(kept[0].at[0], p / 4 % 32);
        const u32 other1 = shuffle(kept[0].at[1], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 1) in[3] = other1;
        const u32 other2 = shuffle(kept[0].at[2], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 2) in[3] = other2;
        const u32 other3 = shuffle(kept[0].at[3], p / 4 % 32);
        if (p / 128 == 0 && p % 4 == 3) in[3] = other3;
        const u32 other4 = shuffle(kept[1].at[0], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 0) in[3] = other4;
        const u32 other5 = shuffle(kept[1].at[1], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 1) in[3] = other5;
        const u32 other6 = shuffle(kept[1].at[2], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 2) in[3] = other6;
        const u32 other7 = shuffle(kept[1].at[3], p / 4 % 32);
        if (p / 128 == 1 && p % 4 == 3) in[3] = other7;
      }
      vec<u32, 4> out;
      #pragma unroll
      for (int v = 0; v < 4; ++v) out.at[v] = in[v];
      store(B + 4096 * b + a, out);
    }
  }
}
