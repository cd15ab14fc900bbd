// f32_a_ba_ab_to_ba_40x24        made by ricci 0.1.0 for sm_90; do not edit
// problem    index b = 24
//            index a = 40
//            input A : f32 [0..39] align 16
//            input B : f32 [0..959] align 16
//            input C : f32 [0..959] align 16
//            output D : f32 [0..959] align 16
//            rounding free
//            D[40*b + a] = maximum(add(A[a], mul(B[40*b + a], C[b + 24*a])), f32(0))
// extents    b=24 a=40
// plan       neighbours
// traffic    11680 B (read 7840, write 3840)
// index      32 bits: largest offset 959
// schedule   neighbours
//            tile a:8:4
//            tile b:16:4
//            order task a0 b0 thread a1 b1
//            threads 32
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/neighbours.case
extern "C" __global__ void __launch_bounds__(32)
f32_a_ba_ab_to_ba_40x24(const float* __restrict__ A, const float* __restrict__ B, const float* __restrict__ C, float* __restrict__ D)
{
  const int a_tile = (int)blockIdx.x / 2;
  const int b_tile = (int)blockIdx.x % 2;
  const int t = threadIdx.x;
  if (t > 7) return;
  const int tb = t % 4;
  const int ta = t / 4;
  const int b = 16 * b_tile + 4 * tb;
  const int a = 8 * a_tile + 4 * ta;
  if (b > 23) return;
  const vec<float, 4> a_vector = load<vec<float, 4>>(A + a);
  vec<float, 4> b_vector[4];
  #pragma unroll
  for (int ub = 0; ub < 4; ++ub) {
    b_vector[ub] = load<vec<float, 4>>(B + 40 * b + 40 * ub + a);
  }
  vec<float, 4> c_vector[4];
  #pragma unroll
  for (int ua = 0; ua < 4; ++ua) {
    c_vector[ua] = load<vec<float, 4>>(C + b + 24 * a + 24 * ua);
  }
  #pragma unroll
  for (int ub = 0; ub < 4; ++ub) {
    vec<float, 4> result;
    #pragma unroll
    for (int ua = 0; ua < 4; ++ua) {
      result.at[ua] = maximum<float>(a_vector.at[ua] + b_vector[ub].at[ua] * c_vector[ua].at[ub], 0.0f);
    }
    store(D + 40 * b + 40 * ub + a, result);
  }
}
