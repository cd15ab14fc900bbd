// u64_abcd_to_dcba_70x5x6x44        made by ricci 0.1.0 for sm_90; do not edit
// problem    index d = 44
//            index c = 6
//            index b = 5
//            index a = 70
//            input A : u64 [0..92399] align 16
//            output B : u64 [0..92399] align 16
//            B[2100*d + 350*c + 70*b + a] = A[d + 44*c + 264*b + 1320*a]
// extents    d=44 c=6 b=5 a=70
// plan       packed_split: reads of 8 B, writes of 8 B, 7040 B shared, 120 tiles
// traffic    1478400 B (read 739200, write 739200)
// index      32 bits: largest offset 92399
// schedule   packed_split
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/packed_split.case
extern "C" __global__ void __launch_bounds__(128)
u64_abcd_to_dcba_70x5x6x44(const u64* __restrict__ A, u64* __restrict__ B)
{
  __shared__ __align__(16) u64 tile[880];
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const int a0 = 16 * (block % 5);
  const int d0 = 11 * (block / 5 % 4);
  const int c = block / 20;
  A += d0 + 44 * c + 1320 * a0;
  B += 2100 * d0 + 350 * c + a0;

  // read A along d
  {
    u64 kept[7];
    #pragma unroll
    for (int u = 0; u < 7; ++u) {
      const int d = (t + 128 * u) % 11;
      const int b = (t + 128 * u) / 11 % 5;
      const int a = (t + 128 * u) / 55;
      if (t + 128 * u < 880 && a0 + a < 70) {
        kept[u] = A[d + 264 * b + 1320 * a];
      }
    }
    #pragma unroll
    for (int u = 0; u < 7; ++u) {
      const int d = (t + 128 * u) % 11;
      const int b = (t + 128 * u) / 11 % 5;
      const int a = (t + 128 * u) / 55;
      if (t + 128 * u < 880 && a0 + a < 70) {
        tile[d + 11 * b + 55 * a] = kept[u];
      }
    }
  }
  __syncthreads();

  // write B along a
  {
    const int a = t % 16;
    #pragma unroll
    for (int u = 0; u < 7; ++u) {
      const int d = (t + 128 * u) / 80;
      const int b = (t + 128 * u) / 16 % 5;
      if (t + 128 * u < 880 && a0 + a < 70) {
        B[2100 * d + 70 * b + a] = tile[d + 11 * b + 55 * a];
      }
    }
  }
}
