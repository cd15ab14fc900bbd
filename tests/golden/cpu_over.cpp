// f64_abc_bd_to_adc_7x11x5x9        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index a = 7
//            index d = 9
//            index c = 5
//            index b = 11
//            input A : f64 [0..384] align 16
//            input B : f64 [0..98] align 16
//            output C : f64 [0..314] align 16
//            rounding free
//            C[45*a + 5*d + c] = add(mul(f64(2), sum(b : mul(A[55*a + c + 5*b], B[d + 9*b]))), mul(f64(0.5), C[45*a + 5*d + c]))
// extents    a=7 d=9 c=5 b=11
// plan       cpu_over
// traffic    8912 B (read 6392, write 2520)
// index      32 bits: largest offset 384
// schedule   cpu_over
//            tile a:6:2
//            tile c:5:5
//            tile d:8:4:2
//            order task a0 c0 d0 serial d1 a1 c1 d2
//            stage A at d0 scratch pad 6 a1 c1 b a c
//            stage B at d1 scratch d2 b d
//            prefetch
//            atom fma rows d columns a c depth b lanes 8 over 2
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_over.case
extern "C" void f64_abc_bd_to_adc_7x11x5x9(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const double* __restrict__ const A = (const double*)args[0];
  const double* __restrict__ const B = (const double*)args[1];
  double* __restrict__ const C = (double*)args[2];
  double* __restrict__ const A_packed = (double*)(scratch + 0);
  double* __restrict__ const B_packed = (double*)(scratch + 4288);
  for (i64 task = first; task < last; ++task) {
    const i64 a0 = task / 2;
    const i64 d0 = task % 2;
    for (i64 a1 = 0; a1 < 3 && 6LL * a0 + 2LL * a1 < 7; ++a1) {
      for (i64 a = 0; a < 2; ++a) {
        for (i64 b = 0; b < 11; ++b) {
          if (6LL * a0 + 2LL * a1 + a < 7) {
            store_part<5>(A_packed + 176LL * a1 + 5LL * a + 16LL * b, load_part<f64x8, 5>(A + 330LL * a0 + 110LL * a1 + 55LL * a + 5LL * b));
          }
        }
      }
    }
    for (i64 d1 = 0; d1 < 2 && 8LL * d0 + 4LL * d1 < 9; ++d1) {
      for (i64 b = 0; b < 11; ++b) {
        #pragma unroll
        for (int d2 = 0; d2 < 2 && 8LL * d0 + 4LL * d1 + 2LL * d2 < 9; ++d2) {
          if (8LL * d0 + 4LL * d1 + 2LL * d2 + 1LL < 9) {
            *(f64x2_in_memory*)(B_packed + 22LL * d2 + 2LL * b) = *(const f64x2_in_memory*)(B + 8LL * d0 + 4LL * d1 + 2LL * d2 + 9LL * b);
          } else {
            B_packed[22LL * d2 + 2LL * b] = B[8LL * d0 + 4LL * d1 + 2LL * d2 + 9LL * b];
          }
        }
      }
      for (i64 a1 = 0; a1 < 3 && 6LL * a0 + 2LL * a1 < 7; ++a1) {
        for (i64 d2 = 0; d2 < 2 && 8LL * d0 + 4LL * d1 + 2LL * d2 < 9; ++d2) {
          f64x8 sum[2][2];
          #pragma unroll
          for (int r = 0; r < 2; ++r) {
            #pragma unroll
            for (int v = 0; v < 2; ++v) {
              sum[r][v] = 0.0;
            }
          }
          #pragma unroll
          for (int b = 0; b < 11; ++b) {
            {
              const i64 visit = b / 4;
              const i64 rest = b % 4;
              if (rest == 0 && visit < 2) {
                #pragma unroll
                for (int a = 0; a < 2; ++a) {
                  __builtin_prefetch(C + 270LL * a0 + 90LL * a1 + 45LL * a + 40LL * d0 + 20LL * d1 + 10LL * d2 + 5LL * visit, 1, 3);
                  __builtin_prefetch(C + 270LL * a0 + 90LL * a1 + 45LL * a + 40LL * d0 + 20LL * d1 + 10LL * d2 + 5LL * visit + 4LL, 1, 3);
                }
              }
            }
            double a_[2];
            f64x8 b_[2];
            #pragma unroll
            for (int d = 0; d < 2; ++d) {
              a_[d] = B_packed[22LL * d2 + d + 2LL * b];
            }
            #pragma unroll
            for (int acv = 0; acv < 2; ++acv) {
              b_[acv] = *(const f64x8_in_memory*)(A_packed + 176LL * a1 + 16LL * b + 8LL * acv);
            }
            #pragma unroll
            for (int d = 0; d < 2; ++d) {
              #pragma unroll
              for (int acv = 0; acv < 2; ++acv) {
                sum[d][acv] += a_[d] * b_[acv];
              }
            }
          }
          {
            #pragma unroll
            for (int acv = 0; acv < 2; ++acv) {
              const i64 a = 8LL * acv / 5;
              const i64 c = 8LL * acv % 5;
              #pragma unroll
              for (int d = 0; d < 2; ++d) {
                if (6LL * a0 + 2LL * a1 + a < 7 && 8LL * d0 + 4LL * d1 + 2LL * d2 + d < 9) {
                  store_lanes<f64x8>(C + 270LL * a0 + 90LL * a1 + 45LL * a + c + 40LL * d0 + 20LL * d1 + 10LL * d2 + 5LL * d, 2.0 * sum[d][acv] + 0.5 * (load_lanes<f64x8>(C + 270LL * a0 + 90LL * a1 + 45LL * a + c + 40LL * d0 + 20LL * d1 + 10LL * d2 + 5LL * d, 0, -c + 5LL)), 0, -c + 5LL);
                }
              }
              {
                const i64 a_next = (8LL * acv + 5LL) / 5;
                if (a_next < 2) {
                  #pragma unroll
                  for (int d = 0; d < 2; ++d) {
                    if (6LL * a0 + 2LL * a1 + a_next < 7 && 8LL * d0 + 4LL * d1 + 2LL * d2 + d < 9) {
                      store_lanes<f64x8>(C + 270LL * a0 + 90LL * a1 + c + 40LL * d0 + 20LL * d1 + 10LL * d2 + 5LL * d + 45LL * a_next - 5LL, 2.0 * sum[d][acv] + 0.5 * (load_lanes<f64x8>(C + 270LL * a0 + 90LL * a1 + c + 40LL * d0 + 20LL * d1 + 10LL * d2 + 5LL * d + 45LL * a_next - 5LL, -c + 5LL, -c + 10LL)), -c + 5LL, -c + 10LL);
                    }
                  }
                }
              }
              {
                const i64 a_next = (8LL * acv + 10LL) / 5;
                if (a_next < 2) {
                  #pragma unroll
                  for (int d = 0; d < 2; ++d) {
                    if (6LL * a0 + 2LL * a1 + a_next < 7 && 8LL * d0 + 4LL * d1 + 2LL * d2 + d < 9) {
                      store_lanes<f64x8>(C + 270LL * a0 + 90LL * a1 + c + 40LL * d0 + 20LL * d1 + 10LL * d2 + 5LL * d + 45LL * a_next - 10LL, 2.0 * sum[d][acv] + 0.5 * (load_lanes<f64x8>(C + 270LL * a0 + 90LL * a1 + c + 40LL * d0 + 20LL * d1 + 10LL * d2 + 5LL * d + 45LL * a_next - 10LL, -c + 10LL, 8)), -c + 10LL, 8);
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}
