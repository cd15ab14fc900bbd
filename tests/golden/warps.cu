// u32_abc_to_acb_60x4x16        made by ricci 0.1.0 for sm_90; do not edit
// problem    index a = 60
//            index c = 16
//            index b = 4
//            input A : u32 [0..3839] align 16
//            output B : u32 [0..3839] align 16
//            B[64*a + 4*c + b] = A[64*a + c + 16*b]
// extents    a=60 c=16 b=4
// plan       warps: reads of 8 B, writes of 8 B, 4 tiles
// traffic    30720 B (read 15360, write 15360)
// index      32 bits: largest offset 3839
// schedule   warps
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/warps.case
extern "C" __global__ void __launch_bounds__(256)
u32_abc_to_acb_60x4x16(const u32* __restrict__ A, u32* __restrict__ B)
{
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const int a0 = 16 * block;
  A += 64 * a0;
  B += 64 * a0;
  vec<u32, 2> kept[2] = {};

  // read A along c
  {
    const int b = t / 8 % 4;
    const int c = 2 * (t % 8);
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int a = t / 32 + 8 * u;
      if (a0 + a < 60) {
        kept[u] = load<vec<u32, 2>>(A + 64 * a + c + 16 * b);
      }
    }
  }

  // exchange within the warp, write B along b
  {
    const int c = t / 2 % 16;
    const int b = 2 * (t % 2);
    {
      const int a = t / 32;
      vec<u32, 2> in;
      {
        const int p = 64 * a + c + 16 * b;
        in.at[0] = shuffle(kept[0].at[0], p / 2 % 32);
        const u32 other1 = shuffle(kept[0].at[1], p / 2 % 32);
        if (p / 512 == 0 && p % 2 == 1) {
          in.at[0] = other1;
        }
      }
      {
        const int p = 64 * a + c + 16 * b + 16;
        in.at[1] = shuffle(kept[0].at[0], p / 2 % 32);
        const u32 other1 = shuffle(kept[0].at[1], p / 2 % 32);
        if (p / 512 == 0 && p % 2 == 1) {
          in.at[1] = other1;
        }
      }
      if (a0 + a < 60) {
        store(B + 64 * a + 4 * c + b, in);
      }
    }
    {
      const int a = t / 32 + 8;
      vec<u32, 2> in;
      {
        const int p = 64 * a + c + 16 * b;
        in.at[0] = shuffle(kept[1].at[0], p / 2 % 32);
        const u32 other1 = shuffle(kept[1].at[1], p / 2 % 32);
        if (p / 512 == 1 && p % 2 == 1) {
          in.at[0] = other1;
        }
      }
      {
        const int p = 64 * a + c + 16 * b + 16;
        in.at[1] = shuffle(kept[1].at[0], p / 2 % 32);
        const u32 other1 = shuffle(kept[1].at[1], p / 2 % 32);
        if (p / 512 == 1 && p % 2 == 1) {
          in.at[1] = other1;
        }
      }
      if (a0 + a < 60) {
        store(B + 64 * a + 4 * c + b, in);
      }
    }
  }
}
