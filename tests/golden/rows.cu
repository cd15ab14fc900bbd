// f32_ab_ac_to_ab_12x72x72        made by ricci 0.1.0 for sm_90; do not edit
// problem    index a = 12
//            index b = 72
//            index c = 72
//            input A : f32 [0..863] align 16
//            output B : f32 [0..863] align 16
//            rounding free
//            B[72*a + b] = div(exp(A[72*a + b]), sum(c : exp(A[72*a + c])))
// extents    a=12 b=72 c=72
// plan       rows
// traffic    6912 B (read 3456, write 3456)
// index      32 bits: largest offset 863
// schedule   rows
//            tile a:4
//            order task a0 b thread a
//            threads 32
//            cooperative 8
//            row b 4
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/rows.case
extern "C" __global__ void __launch_bounds__(32)
f32_ab_ac_to_ab_12x72x72(const float* __restrict__ A, float* __restrict__ B)
{
  const int a_tile = blockIdx.x;
  const int t = threadIdx.x / 8;
  const int member = threadIdx.x % 8;
  const int a = 4 * a_tile + t;
  vec<float, 4> a_vector[3];
  #pragma unroll
  for (int ub = 0; ub < 3; ++ub) {
    const int b_at = 8 * ub + member < 17 ? 8 * ub + member : 17;
    a_vector[ub] = load<vec<float, 4>>(A + 72 * a + 4 * b_at);
  }
  float sum = 0.0f;
  float value[3][4];
  #pragma unroll
  for (int ub = 0; ub < 3; ++ub) {
    #pragma unroll
    for (int ub_lane = 0; ub_lane < 4; ++ub_lane) {
      value[ub][ub_lane] = expf(a_vector[ub].at[ub_lane]);
    }
  }
  #pragma unroll
  for (int ub = 0; ub < 3; ++ub) {
    #pragma unroll
    for (int ub_lane = 0; ub_lane < 4; ++ub_lane) {
      if (8 * ub + member < 18) {
        sum += value[ub][ub_lane];
      }
    }
  }
  #pragma unroll
  for (int mask = 4; mask > 0; mask /= 2) sum = sum + shuffle_xor(sum, mask);
  #pragma unroll
  for (int ub = 0; ub < 3; ++ub) {
    const int b_at = 8 * ub + member < 17 ? 8 * ub + member : 17;
    if (8 * ub + member < 18) {
      vec<float, 4> result;
      #pragma unroll
      for (int ub_lane = 0; ub_lane < 4; ++ub_lane) {
        result.at[ub_lane] = value[ub][ub_lane] / sum;
      }
      store(B + 72 * a + 4 * b_at, result);
    }
  }
}
