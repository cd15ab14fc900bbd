// f64_abc_cd_to_bda_45x20x40x20        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index b = 20
//            index d = 20
//            index a = 45
//            index c = 40
//            input A : f64 [0..35999] align 16
//            input B : f64 [0..799] align 16
//            output C : f64 [0..17999] align 16
//            rounding free
//            C[900*b + 45*d + a] = sum(c : mul(A[40*b + 800*a + c], B[d + 20*c]))
// extents    b=20 d=20 a=45 c=40
// plan       cpu_transposed_results
// traffic    438400 B (read 294400, write 144000)
// index      32 bits: largest offset 35999
// schedule   cpu_transposed_results
//            tile d:24:24
//            tile b:20:10:1
//            tile a:48:12:6
//            order task d0 b0 a0 serial b1 a1 d1 b2 a2
//            stage B at a0 scratch d1 c d
//            stage A at a1 scratch b2 a2 c b a
//            atom fma rows b a columns d depth c lanes 8
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_transposed_results.case
extern "C" void f64_abc_cd_to_bda_45x20x40x20(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const double* __restrict__ const A = (const double*)args[0];
  const double* __restrict__ const B = (const double*)args[1];
  double* __restrict__ const C = (double*)args[2];
  double* __restrict__ const B_packed = (double*)(scratch + 0);
  double* __restrict__ const A_packed = (double*)(scratch + 7680);
  for (i64 task = first; task < last; ++task) {
    for (i64 c = 0; c < 40; ++c) {
      #pragma unroll
      for (int dv = 0; dv < 2; ++dv) {
        *(f64x8_in_memory*)(B_packed + 24LL * c + 8LL * dv) = *(const f64x8_in_memory*)(B + 20LL * c + 8LL * dv);
      }
      store_part<4>(B_packed + 24LL * c + 16LL, load_part<f64x8, 4>(B + 20LL * c + 16LL));
    }
    for (i64 b1 = 0; b1 < 2; ++b1) {
      for (i64 a1 = 0; a1 < 4; ++a1) {
        for (i64 a2 = 0; a2 < 2 && 12LL * a1 + 6LL * a2 < 45; ++a2) {
          for (i64 b2 = 0; b2 < 10; ++b2) {
            if (12LL * a1 + 6LL * a2 + 5LL < 45) {
              for (i64 cb = 0; cb < 5; ++cb) {
                f64x8 A_packed_rows[8];
                #pragma unroll
                for (int u = 0; u < 6; ++u) {
                  __builtin_prefetch(A + 400LL * b1 + 40LL * b2 + 9600LL * a1 + 4800LL * a2 + 8LL * cb + 800LL * u + 32LL, 0, 2);
                  A_packed_rows[u] = *(const f64x8_in_memory*)(A + 400LL * b1 + 40LL * b2 + 9600LL * a1 + 4800LL * a2 + 8LL * cb + 800LL * u);
                }
                #pragma unroll
                for (int z = 0; z < 2; ++z) {
                  A_packed_rows[z + 6LL] = 0.0;
                }
                transpose<double, 8>(A_packed_rows);
                #pragma unroll
                for (int w = 0; w < 8; ++w) {
                  store_part<6>(A_packed + 480LL * b2 + 240LL * a2 + 48LL * cb + 6LL * w, A_packed_rows[w]);
                }
              }
            } else {
              for (i64 cb = 0; cb < 10; ++cb) {
                f64x4 A_packed_rows[4];
                #pragma unroll
                for (int u = 0; u < 3; ++u) {
                  __builtin_prefetch(A + 400LL * b1 + 40LL * b2 + 9600LL * a1 + 4800LL * a2 + 4LL * cb + 800LL * u + 32LL, 0, 2);
                  A_packed_rows[u] = *(const f64x4_in_memory*)(A + 400LL * b1 + 40LL * b2 + 9600LL * a1 + 4800LL * a2 + 4LL * cb + 800LL * u);
                }
                #pragma unroll
                for (int z = 0; z < 1; ++z) {
                  A_packed_rows[z + 3LL] = 0.0;
                }
                transpose<double, 4>(A_packed_rows);
                #pragma unroll
                for (int w = 0; w < 4; ++w) {
                  store_part<3>(A_packed + 480LL * b2 + 240LL * a2 + 24LL * cb + 6LL * w, A_packed_rows[w]);
                }
              }
            }
          }
        }
        for (i64 b2 = 0; b2 < 10; ++b2) {
          for (i64 a2 = 0; a2 < 2; ++a2) {
            f64x8 sum[6][3];
            #pragma unroll
            for (int r = 0; r < 6; ++r) {
              #pragma unroll
              for (int v = 0; v < 3; ++v) {
                sum[r][v] = 0.0;
              }
            }
            for (i64 c = 0; c < 40; ++c) {
              double a_[6];
              f64x8 b_[3];
              #pragma unroll
              for (int a = 0; a < 6; ++a) {
                a_[a] = A_packed[480LL * b2 + 240LL * a2 + a + 6LL * c];
              }
              #pragma unroll
              for (int dv = 0; dv < 3; ++dv) {
                b_[dv] = *(const f64x8_in_memory*)(B_packed + 24LL * c + 8LL * dv);
              }
              #pragma unroll
              for (int a = 0; a < 6; ++a) {
                #pragma unroll
                for (int dv = 0; dv < 3; ++dv) {
                  sum[a][dv] += a_[a] * b_[dv];
                }
              }
            }
            if (12LL * a1 + 6LL * a2 + 5LL < 45) {
              #pragma unroll
              for (int dv = 0; dv < 3; ++dv) {
                f64x8 sum_across_0[8];
                #pragma unroll
                for (int u = 0; u < 6; ++u) {
                  sum_across_0[u] = sum[u][dv];
                }
                #pragma unroll
                for (int z = 0; z < 2; ++z) {
                  sum_across_0[z + 6LL] = 0.0;
                }
                transpose<double, 8>(sum_across_0);
                #pragma unroll
                for (int w = 0; w < 8; ++w) {
                  if (8LL * dv + w < 20) {
                    store_part<6>(C + 9000LL * b1 + 900LL * b2 + 12LL * a1 + 6LL * a2 + 360LL * dv + 45LL * w, sum_across_0[w]);
                  }
                }
              }
            } else {
              if (12LL * a1 + 6LL * a2 < 45) {
                #pragma unroll
                for (int dv = 0; dv < 3; ++dv) {
                  f64x8 sum_across_0[8];
                  #pragma unroll
                  for (int u = 0; u < 3; ++u) {
                    sum_across_0[u] = sum[u][dv];
                  }
                  #pragma unroll
                  for (int z = 0; z < 5; ++z) {
                    sum_across_0[z + 3LL] = 0.0;
                  }
                  transpose<double, 8>(sum_across_0);
                  #pragma unroll
                  for (int w = 0; w < 8; ++w) {
                    if (8LL * dv + w < 20) {
                      store_part<3>(C + 9000LL * b1 + 900LL * b2 + 12LL * a1 + 6LL * a2 + 360LL * dv + 45LL * w, sum_across_0[w]);
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
