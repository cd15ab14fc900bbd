// c64_ab_to_ba_64x64        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 64
//            index a = 64
//            input A : c64 [0..4095] align 16
//            output B : c64 [0..4095] align 16
//            param alpha : c64
//            B[64*b + a] = scale(alpha, conj(A[b + 64*a]))
// extents    b=64 a=64
// plan       conj: reads of 16 B, writes of 16 B, 2304 B shared, 16 tiles
// traffic    65536 B (read 32768, write 32768)
// index      32 bits: largest offset 4095
// schedule   conj
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/conj.case
extern "C" __global__ void __launch_bounds__(128)
c64_ab_to_ba_64x64(const c64* __restrict__ A, c64* __restrict__ B, c64 alpha)
{
  B = (c64*)__builtin_assume_aligned(B, 8);
  __shared__ __align__(16) c64 tile[288];
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const int a0 = 16 * (block % 4);
  const int b0 = 16 * (block / 4);
  A += b0 + 64 * a0;
  B += 64 * b0 + a0;

  // read A along b
  {
    const int a = t / 8;
    const int b = 2 * (t % 8);
    store(tile + b + 18 * a, load<vec<c64, 2>>(A + b + 64 * a));
  }
  __syncthreads();

  // write B along a
  {
    const int b = t / 8;
    const int a = 2 * (t % 8);
    vec<c64, 2> in_A;
    #pragma unroll
    for (int v = 0; v < 2; ++v) {
      in_A.at[v] = tile[b + 18 * a + 18 * v];
    }
    vec<c64, 2> out;
    #pragma unroll
    for (int v = 0; v < 2; ++v) {
      out.at[v] = scale(alpha, conj(in_A.at[v]));
    }
    store(B + 64 * b + a, out);
  }
}
