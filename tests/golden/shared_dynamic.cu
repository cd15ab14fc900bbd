// c128_ab_to_ba_256x256        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 256
//            index a = 256
//            input A : c128 [0..65535] align 16
//            output B : c128 [0..65535] align 16
//            B[256*b + a] = A[b + 256*a]
// extents    b=256 a=256
// plan       shared_dynamic: reads of 16 B, writes of 16 B, 66560 B shared, 16 tiles
// traffic    2097152 B (read 1048576, write 1048576)
// index      32 bits: largest offset 65535
// schedule   shared_dynamic
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/shared_dynamic.case
extern "C" __global__ void __launch_bounds__(512)
c128_ab_to_ba_256x256(const c128* __restrict__ A, c128* __restrict__ B)
{
  B = (c128*)__builtin_assume_aligned(B, 16);
  extern __shared__ __align__(16) c128 tile[];
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const int a0 = 64 * (block % 4);
  const int b0 = 64 * (block / 4);
  A += b0 + 256 * a0;
  B += 256 * b0 + a0;

  // read A along b
  {
    const int b = t % 64;
    c128 kept[8];
    #pragma unroll
    for (int u = 0; u < 8; ++u) {
      const int a = t / 64 + 8 * u;
      kept[u] = load_whole(A + b + 256 * a);
    }
    #pragma unroll
    for (int u = 0; u < 8; ++u) {
      const int a = t / 64 + 8 * u;
      store_whole(tile + b + 65 * a, kept[u]);
    }
  }
  __syncthreads();

  // write B along a
  {
    const int a = t % 64;
    #pragma unroll
    for (int u = 0; u < 8; ++u) {
      const int b = t / 64 + 8 * u;
      store_whole(B + 256 * b + a, load_whole(tile + b + 65 * a));
    }
  }
}
