// f32_abcd_aedc_to_abe_30x3x18x20x2        made by ricci 0.1.0 for sm_90; do not edit
// problem    index a = 30
//            index b = 3
//            index e = 2
//            index c = 18
//            index d = 20
//            input A : f32 [0..32399] align 16
//            input B : f32 [0..21599] align 16
//            output C : f32 [0..179] align 16
//            rounding free
//            C[6*a + 2*b + e] = sum(c d : mul(A[1080*a + 360*b + 20*c + d], B[720*a + 360*e + c + 18*d]))
// extents    a=30 b=3 e=2 c=18 d=20
// plan       crossed_sums
// traffic    216720 B (read 216000, write 720)
// index      32 bits: largest offset 32399
// schedule   crossed_sums
//            tile c:4
//            tile d:16
//            order task a
//            threads 64
//            cooperative 64
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/crossed_sums.case
extern "C" __global__ void __launch_bounds__(64)
f32_abcd_aedc_to_abe_30x3x18x20x2(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C)
{
  __shared__ __align__(128) float parts[12];
  const int a = blockIdx.x;
  const int member = threadIdx.x;
  const int b = 0;
  const int e = 0;
  float sum[3][2];
  #pragma unroll
  for (int ub = 0; ub < 3; ++ub) {
    #pragma unroll
    for (int ue = 0; ue < 2; ++ue) {
      sum[ub][ue] = 0.0f;
    }
  }
  const int md = member % 16;
  const int mc = member / 16;
  #pragma unroll
  for (int rc = 0; rc < 5; ++rc) {
    const int c2 = mc + 4 * rc;
    if (c2 < 18) {
      #pragma unroll
      for (int rd = 0; rd < 2; ++rd) {
        const int d2 = md + 16 * rd;
        if (d2 < 20) {
          float a2[3];
          #pragma unroll
          for (int ub = 0; ub < 3; ++ub) {
            a2[ub] = A[1080 * a + 360 * b + 360 * ub + 20 * c2 + d2];
          }
          float b2[2];
          #pragma unroll
          for (int ue = 0; ue < 2; ++ue) {
            b2[ue] = B[720 * a + 360 * e + 360 * ue + c2 + 18 * d2];
          }
          #pragma unroll
          for (int ub = 0; ub < 3; ++ub) {
            #pragma unroll
            for (int ue = 0; ue < 2; ++ue) {
              sum[ub][ue] += a2[ub] * b2[ue];
            }
          }
        }
      }
    }
  }
  #pragma unroll
  for (int ub = 0; ub < 3; ++ub) {
    #pragma unroll
    for (int ue = 0; ue < 2; ++ue) {
      #pragma unroll
      for (int mask = 16; mask > 0; mask /= 2) sum[ub][ue] = sum[ub][ue] + shuffle_xor(sum[ub][ue], mask);
    }
  }
  const int warp = member / 32;
  const int lane = member % 32;
  #pragma unroll
  for (int ub = 0; ub < 3; ++ub) {
    #pragma unroll
    for (int ue = 0; ue < 2; ++ue) {
      if (lane == 0) {
        parts[4 * ub + 2 * ue + warp] = sum[ub][ue];
      }
    }
  }
  __syncthreads();
  #pragma unroll
  for (int ub = 0; ub < 3; ++ub) {
    #pragma unroll
    for (int ue = 0; ue < 2; ++ue) {
      sum[ub][ue] = parts[4 * ub + 2 * ue];
      for (int other = 1; other < 2; ++other) {
        sum[ub][ue] += parts[4 * ub + 2 * ue + other];
      }
    }
  }
  #pragma unroll
  for (int ub = 0; ub < 3; ++ub) {
    if (member == 0) {
      vec<float, 2> result;
      #pragma unroll
      for (int ue = 0; ue < 2; ++ue) {
        result.at[ue] = sum[ub][ue];
      }
      store(C + 6 * a + 2 * b + 2 * ub + e, result);
    }
  }
}
