// u64_abcde_to_ebdac_10x12x14x16x33        made by ricci 0.1.0 for sm_90; do not edit
// problem    index e = 33
//            index b = 12
//            index d = 16
//            index a = 10
//            index c = 14
//            input A : u64 [0..887039] align 16
//            output B : u64 [0..887039] align 16
//            B[26880*e + 2240*b + 140*d + 14*a + c] = A[e + 7392*b + 33*d + 88704*a + 528*c]
// extents    e=33 b=12 d=16 a=10 c=14
// plan       shuffled: reads of 8 B, writes of 8 B, 1904 B shared, 5760 tiles
// traffic    14192640 B (read 7096320, write 7096320)
// index      32 bits: largest offset 887039
// schedule   shuffled
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/shuffled.case
// per digit of the block's number: its divisor, its number of values, what it moves each array by
static __device__ const int kDivisor[4] = {1, 3, 30, 480};
static __device__ const int kExtent[4] = {3, 10, 16, 12};
static __device__ const int kStepA[4] = {16, 88704, 33, 7392};
static __device__ const int kStepB[4] = {430080, 14, 140, 2240};

extern "C" __global__ void __launch_bounds__(128)
u64_abcde_to_ebdac_10x12x14x16x33(const u64* __restrict__ A, u64* __restrict__ B)
{
  __shared__ __align__(16) u64 tile[238];
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const int e0 = 16 * (block % 3);

  // origin: lane k holds digit k, a butterfly adds them up
  const int lane = threadIdx.x % 32;
  int stepA = 0;
  int stepB = 0;
  if (lane < 4) {
    const int digit = block / kDivisor[lane] % kExtent[lane];
    stepA = digit * kStepA[lane];
    stepB = digit * kStepB[lane];
  }
  #pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) {
    stepA += shuffle_xor(stepA, mask);
    stepB += shuffle_xor(stepB, mask);
  }
  A += stepA;
  B += stepB;

  // read A along e
  {
    const int e = t % 16;
    u64 kept[2];
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int c = t / 16 + 8 * u;
      if (t + 128 * u < 224 && e0 + e < 33) {
        kept[u] = A[e + 528 * c];
      }
    }
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int c = t / 16 + 8 * u;
      if (t + 128 * u < 224 && e0 + e < 33) {
        tile[e + 17 * c] = kept[u];
      }
    }
  }
  __syncthreads();

  // write B along c
  {
    #pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int e = (t + 128 * u) / 14;
      const int c = (t + 128 * u) % 14;
      if (t + 128 * u < 224 && e0 + e < 33) {
        B[26880 * e + c] = tile[e + 17 * c];
      }
    }
  }
}
