// bf16_f32_ab_to_ba_20x192        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 192
//            index a = 20
//            input A : bf16 [0..3839] align 16
//            output B : f32 [0..191] align 16
//            rounding free
//            B[b] = maximum(a : f32(A[b + 192*a]))
// extents    b=192 a=20
// plan       columns
// traffic    8448 B (read 7680, write 768)
// index      32 bits: largest offset 3839
// schedule   columns
//            tile b:64:4
//            order task b0 thread b1
//            threads 32
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/columns.case
extern "C" __global__ void __launch_bounds__(32)
bf16_f32_ab_to_ba_20x192(const bf16* __restrict__ A, float* __restrict__ B)
{
  const int b_tile = blockIdx.x;
  const int t = threadIdx.x;
  if (t > 15) return;
  const int tb = t;
  const int b = 64 * b_tile + 4 * tb;
  float reduced[4];
  #pragma unroll
  for (int ub = 0; ub < 4; ++ub) {
    reduced[ub] = -infinity_f32();
  }
  for (int a = 0; a < 20; ++a) {
    const vec<bf16, 4> a_vector = load<vec<bf16, 4>>(A + b + 192 * a);
    #pragma unroll
    for (int ub = 0; ub < 4; ++ub) {
      reduced[ub] = maximum<float>(reduced[ub], cast_f32(a_vector.at[ub]));
    }
  }
  vec<float, 4> result;
  #pragma unroll
  for (int ub = 0; ub < 4; ++ub) {
    result.at[ub] = reduced[ub];
  }
  store(B + b, result);
}
