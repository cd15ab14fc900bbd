// f64_f16_abc_to_acb_20x64x32        made by ricci 0.1.0 for sm_90; do not edit
// problem    index a = 20
//            index c = 32
//            index b = 64
//            input A : f64 [0..40959] align 16
//            output B : f16 [0..40959] align 16
//            B[2048*a + 64*c + b] = f16(A[2048*a + c + 32*b])
// extents    a=20 c=32 b=64
// plan       f64_to_f16: reads of 16 B, writes of 16 B, 8448 B shared, 40 tiles
// traffic    409600 B (read 327680, write 81920)
// index      32 bits: largest offset 40959
// schedule   f64_to_f16
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/f64_to_f16.case
extern "C" __global__ void __launch_bounds__(128)
f64_f16_abc_to_acb_20x64x32(const double* __restrict__ A, f16* __restrict__ B)
{
  __shared__ __align__(16) double tile[1056];
  const int block = blockIdx.x;
  const int t = threadIdx.x;
  const int b0 = 32 * (block % 2);
  const int a = block / 2;
  A += 2048 * a + 32 * b0;
  B += 2048 * a + b0;

  // read A along c
  {
    const int c = 2 * (t % 16);
    vec<double, 2> kept[4];
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int b = t / 16 + 8 * u;
      kept[u] = load<vec<double, 2>>(A + c + 32 * b);
    }
    #pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int b = t / 16 + 8 * u;
      #pragma unroll
      for (int v = 0; v < 2; ++v) {
        tile[c + 33 * b + v] = kept[u].at[v];
      }
    }
  }
  __syncthreads();

  // write B along b
  {
    const int c = t / 4;
    const int b = 8 * (t % 4);
    vec<f16, 8> out;
    #pragma unroll
    for (int v = 0; v < 8; ++v) {
      out.at[v] = cast_f16(tile[c + 33 * b + 33 * v]);
    }
    store(B + 64 * c + b, out);
  }
}
