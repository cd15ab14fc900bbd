// f64_abcd_cedf_to_beaf_15x3x9x10x7x13        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index b = 3
//            index e = 7
//            index a = 15
//            index f = 13
//            index c = 9
//            index d = 10
//            input A : f64 [0..4049] align 16
//            input B : f64 [0..8189] align 16
//            output C : f64 [0..4094] align 16
//            rounding free
//            C[1365*b + 195*e + 13*a + f] = add(mul(f64(2), sum(c d : mul(A[90*b + 270*a + 10*c + d], B[130*e + f + 910*c + 13*d]))), mul(f64(0.5), C[1365*b + 195*e + 13*a + f]))
// extents    b=3 e=7 a=15 f=13 c=9 d=10
// plan       cpu_joined
// traffic    163440 B (read 130680, write 32760)
// index      32 bits: largest offset 8189
// schedule   cpu_joined
//            join ba b a
//            join ef e f
//            tile ba:20:5
//            tile ef:32:16
//            order task ba0 ef0 serial ef1 ba1
//            stage A at ef0 scratch ba1 c d ba
//            stage B at ef0 scratch ef1 c d ef
//            prefetch
//            atom fma rows ba columns ef depth c d lanes 8
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_joined.case
extern "C" void f64_abcd_cedf_to_beaf_15x3x9x10x7x13(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const double* __restrict__ const A = (const double*)args[0];
  const double* __restrict__ const B = (const double*)args[1];
  double* __restrict__ const C = (double*)args[2];
  double* __restrict__ const A_packed = (double*)(scratch + 0);
  double* __restrict__ const B_packed = (double*)(scratch + 14400);
  for (i64 task = first; task < last; ++task) {
    const i64 ba0 = task / 3;
    const i64 ef0 = task % 3;
    {
      for (i64 ba1 = 0; ba1 < 4 && 20LL * ba0 + 5LL * ba1 < 45; ++ba1) {
        for (i64 c = 0; c < 9; ++c) {
          for (i64 db = 0; db < 2; ++db) {
            if (20LL * ba0 + 5LL * ba1 + 3LL < 45) {
              {
                f64x4 A_packed_rows[4];
                #pragma unroll
                for (int u = 0; u < 4; ++u) {
                  const i64 a = (20LL * ba0 + 5LL * ba1 + u) % 15;
                  const i64 b = (20LL * ba0 + 5LL * ba1 + u) / 15;
                  A_packed_rows[u] = *(const f64x4_in_memory*)(A + 10LL * c + 270LL * a + 90LL * b + 4LL * db);
                }
                transpose<double, 4>(A_packed_rows);
                #pragma unroll
                for (int w = 0; w < 4; ++w) {
                  *(f64x4_in_memory*)(A_packed + 450LL * ba1 + 50LL * c + 20LL * db + 5LL * w) = A_packed_rows[w];
                }
              }
            } else {
              for (i64 ba = 0; ba < 4; ++ba) {
                if (20LL * ba0 + 5LL * ba1 + ba < 45) {
                  const i64 a = (20LL * ba0 + 5LL * ba1 + ba) % 15;
                  const i64 b = (20LL * ba0 + 5LL * ba1 + ba) / 15;
                  for (i64 d = 0; d < 4; ++d) {
                    A_packed[450LL * ba1 + 50LL * c + 20LL * db + ba + 5LL * d] = A[10LL * c + 270LL * a + 90LL * b + 4LL * db + d];
                  }
                }
              }
            }
          }
          if (20LL * ba0 + 5LL * ba1 + 3LL < 45) {
            {
              f64x4 A_packed_rows[4];
              #pragma unroll
              for (int u = 0; u < 4; ++u) {
                const i64 a = (20LL * ba0 + 5LL * ba1 + u) % 15;
                const i64 b = (20LL * ba0 + 5LL * ba1 + u) / 15;
                A_packed_rows[u] = load_part<f64x4, 2>(A + 10LL * c + 270LL * a + 90LL * b + 8LL);
              }
              transpose<double, 4>(A_packed_rows);
              #pragma unroll
              for (int w = 0; w < 2; ++w) {
                *(f64x4_in_memory*)(A_packed + 450LL * ba1 + 50LL * c + 5LL * w + 40LL) = A_packed_rows[w];
              }
            }
          } else {
            for (i64 ba = 0; ba < 4; ++ba) {
              if (20LL * ba0 + 5LL * ba1 + ba < 45) {
                const i64 a = (20LL * ba0 + 5LL * ba1 + ba) % 15;
                const i64 b = (20LL * ba0 + 5LL * ba1 + ba) / 15;
                for (i64 d = 0; d < 2; ++d) {
                  A_packed[450LL * ba1 + 50LL * c + ba + 5LL * d + 40LL] = A[10LL * c + 270LL * a + 90LL * b + d + 8LL];
                }
              }
            }
          }
        }
        for (i64 c = 0; c < 9; ++c) {
          for (i64 db = 0; db < 2; ++db) {
            if (20LL * ba0 + 5LL * ba1 + 4LL < 45) {
              {
                f64x4 A_packed_rows[4];
                #pragma unroll
                for (int u = 0; u < 4; ++u) {
                  const i64 a = (20LL * ba0 + 5LL * ba1 + u + 1LL) % 15;
                  const i64 b = (20LL * ba0 + 5LL * ba1 + u + 1LL) / 15;
                  A_packed_rows[u] = *(const f64x4_in_memory*)(A + 10LL * c + 270LL * a + 90LL * b + 4LL * db);
                }
                transpose<double, 4>(A_packed_rows);
                #pragma unroll
                for (int w = 0; w < 4; ++w) {
                  *(f64x4_in_memory*)(A_packed + 450LL * ba1 + 50LL * c + 20LL * db + 5LL * w + 1LL) = A_packed_rows[w];
                }
              }
            } else {
              for (i64 ba = 0; ba < 4; ++ba) {
                if (20LL * ba0 + 5LL * ba1 + ba + 1LL < 45) {
                  const i64 a = (20LL * ba0 + 5LL * ba1 + ba + 1LL) % 15;
                  const i64 b = (20LL * ba0 + 5LL * ba1 + ba + 1LL) / 15;
                  for (i64 d = 0; d < 4; ++d) {
                    A_packed[450LL * ba1 + 50LL * c + 20LL * db + ba + 5LL * d + 1LL] = A[10LL * c + 270LL * a + 90LL * b + 4LL * db + d];
                  }
                }
              }
            }
          }
          if (20LL * ba0 + 5LL * ba1 + 4LL < 45) {
            {
              f64x4 A_packed_rows[4];
              #pragma unroll
              for (int u = 0; u < 4; ++u) {
                const i64 a = (20LL * ba0 + 5LL * ba1 + u + 1LL) % 15;
                const i64 b = (20LL * ba0 + 5LL * ba1 + u + 1LL) / 15;
                A_packed_rows[u] = load_part<f64x4, 2>(A + 10LL * c + 270LL * a + 90LL * b + 8LL);
              }
              transpose<double, 4>(A_packed_rows);
              #pragma unroll
              for (int w = 0; w < 2; ++w) {
                *(f64x4_in_memory*)(A_packed + 450LL * ba1 + 50LL * c + 5LL * w + 41LL) = A_packed_rows[w];
              }
            }
          } else {
            for (i64 ba = 0; ba < 4; ++ba) {
              if (20LL * ba0 + 5LL * ba1 + ba + 1LL < 45) {
                const i64 a = (20LL * ba0 + 5LL * ba1 + ba + 1LL) % 15;
                const i64 b = (20LL * ba0 + 5LL * ba1 + ba + 1LL) / 15;
                for (i64 d = 0; d < 2; ++d) {
                  A_packed[450LL * ba1 + 50LL * c + ba + 5LL * d + 41LL] = A[10LL * c + 270LL * a + 90LL * b + d + 8LL];
                }
              }
            }
          }
        }
      }
    }
    {
      for (i64 ef1 = 0; ef1 < 2 && 32LL * ef0 + 16LL * ef1 < 91; ++ef1) {
        {
          if (32LL * ef0 + 16LL * ef1 < 91) {
            const i64 e = (32LL * ef0 + 16LL * ef1) / 13;
            const i64 f = (32LL * ef0 + 16LL * ef1) % 13;
            if (f + 7LL < 13) {
              const i64 f_ahead = (32LL * ef0 + 16LL * ef1 + 16LL) % 13;
              const i64 e_ahead = (32LL * ef0 + 16LL * ef1 + 16LL) / 13;
              for (i64 c = 0; c < 9; ++c) {
                for (i64 d = 0; d < 10; ++d) {
                  __builtin_prefetch(B + 910LL * c + 13LL * d + f_ahead + 130LL * e_ahead, 0, 2);
                  *(f64x8_in_memory*)(B_packed + 1440LL * ef1 + 160LL * c + 16LL * d) = *(const f64x8_in_memory*)(B + 910LL * c + 13LL * d + f + 130LL * e);
                }
              }
            } else {
              const i64 f_ahead = (32LL * ef0 + 16LL * ef1 + 16LL) % 13;
              const i64 e_ahead = (32LL * ef0 + 16LL * ef1 + 16LL) / 13;
              for (i64 c = 0; c < 9; ++c) {
                for (i64 d = 0; d < 10; ++d) {
                  __builtin_prefetch(B + 910LL * c + 13LL * d + f_ahead + 130LL * e_ahead, 0, 2);
                  *(f64x8_in_memory*)(B_packed + 1440LL * ef1 + 160LL * c + 16LL * d) = load_lanes<f64x8>(B + 910LL * c + 13LL * d + f + 130LL * e, 0, -f + 13LL);
                }
              }
              {
                const i64 e_next = (32LL * ef0 + 16LL * ef1 + 13LL) / 13;
                if (e_next < 7) {
                  for (i64 c = 0; c < 9; ++c) {
                    for (i64 d = 0; d < 10; ++d) {
                      store_lanes<f64x8>(B_packed + 1440LL * ef1 + 160LL * c + 16LL * d, load_lanes<f64x8>(B + 910LL * c + 13LL * d + f + 130LL * e_next - 13LL, -f + 13LL, 8), -f + 13LL, 8);
                    }
                  }
                }
              }
            }
          }
        }
        {
          if (32LL * ef0 + 16LL * ef1 + 8LL < 91) {
            const i64 e = (32LL * ef0 + 16LL * ef1 + 8LL) / 13;
            const i64 f = (32LL * ef0 + 16LL * ef1 + 8LL) % 13;
            if (f + 7LL < 13) {
              const i64 f_ahead = (32LL * ef0 + 16LL * ef1 + 24LL) % 13;
              const i64 e_ahead = (32LL * ef0 + 16LL * ef1 + 24LL) / 13;
              for (i64 c = 0; c < 9; ++c) {
                for (i64 d = 0; d < 10; ++d) {
                  __builtin_prefetch(B + 910LL * c + 13LL * d + f_ahead + 130LL * e_ahead, 0, 2);
                  *(f64x8_in_memory*)(B_packed + 1440LL * ef1 + 160LL * c + 16LL * d + 8LL) = *(const f64x8_in_memory*)(B + 910LL * c + 13LL * d + f + 130LL * e);
                }
              }
            } else {
              const i64 f_ahead = (32LL * ef0 + 16LL * ef1 + 24LL) % 13;
              const i64 e_ahead = (32LL * ef0 + 16LL * ef1 + 24LL) / 13;
              for (i64 c = 0; c < 9; ++c) {
                for (i64 d = 0; d < 10; ++d) {
                  __builtin_prefetch(B + 910LL * c + 13LL * d + f_ahead + 130LL * e_ahead, 0, 2);
                  *(f64x8_in_memory*)(B_packed + 1440LL * ef1 + 160LL * c + 16LL * d + 8LL) = load_lanes<f64x8>(B + 910LL * c + 13LL * d + f + 130LL * e, 0, -f + 13LL);
                }
              }
              {
                const i64 e_next = (32LL * ef0 + 16LL * ef1 + 21LL) / 13;
                if (e_next < 7) {
                  for (i64 c = 0; c < 9; ++c) {
                    for (i64 d = 0; d < 10; ++d) {
                      store_lanes<f64x8>(B_packed + 1440LL * ef1 + 160LL * c + 16LL * d + 8LL, load_lanes<f64x8>(B + 910LL * c + 13LL * d + f + 130LL * e_next - 13LL, -f + 13LL, 8), -f + 13LL, 8);
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
    for (i64 ef1 = 0; ef1 < 2; ++ef1) {
      for (i64 ba1 = 0; ba1 < 4 && 20LL * ba0 + 5LL * ba1 < 45; ++ba1) {
        f64x8 sum[5][2];
        #pragma unroll
        for (int r = 0; r < 5; ++r) {
          #pragma unroll
          for (int v = 0; v < 2; ++v) {
            sum[r][v] = 0.0;
          }
        }
        for (i64 c = 0; c < 9; ++c) {
          if (c < 5) {
            {
              const i64 a = (20LL * ba0 + 5LL * ba1 + c) % 15;
              const i64 b = (20LL * ba0 + 5LL * ba1 + c) / 15;
              #pragma unroll
              for (int efl = 0; efl < 2; ++efl) {
                {
                  const i64 f = (32LL * ef0 + 16LL * ef1 + 8LL * efl) % 13;
                  const i64 e = (32LL * ef0 + 16LL * ef1 + 8LL * efl) / 13;
                  __builtin_prefetch(C + 13LL * a + 1365LL * b + f + 195LL * e, 1, 3);
                }
              }
              {
                const i64 f = (32LL * ef0 + 16LL * ef1 + 15LL) % 13;
                const i64 e = (32LL * ef0 + 16LL * ef1 + 15LL) / 13;
                __builtin_prefetch(C + 13LL * a + 1365LL * b + f + 195LL * e, 1, 3);
              }
            }
          }
          #pragma unroll
          for (int d = 0; d < 10; ++d) {
            double a_[5];
            f64x8 b_[2];
            #pragma unroll
            for (int ba = 0; ba < 5; ++ba) {
              a_[ba] = A_packed[450LL * ba1 + ba + 50LL * c + 5LL * d];
            }
            #pragma unroll
            for (int efv = 0; efv < 2; ++efv) {
              b_[efv] = *(const f64x8_in_memory*)(B_packed + 1440LL * ef1 + 160LL * c + 16LL * d + 8LL * efv);
            }
            #pragma unroll
            for (int ba = 0; ba < 5; ++ba) {
              #pragma unroll
              for (int efv = 0; efv < 2; ++efv) {
                sum[ba][efv] += a_[ba] * b_[efv];
              }
            }
          }
        }
        {
          #pragma unroll
          for (int efv = 0; efv < 2; ++efv) {
            if (32LL * ef0 + 16LL * ef1 + 8LL * efv < 91) {
              const i64 e = (32LL * ef0 + 16LL * ef1 + 8LL * efv) / 13;
              const i64 f = (32LL * ef0 + 16LL * ef1 + 8LL * efv) % 13;
              if (f + 7LL < 13) {
                #pragma unroll
                for (int ba = 0; ba < 5; ++ba) {
                  const i64 a = (20LL * ba0 + 5LL * ba1 + ba) % 15;
                  const i64 b = (20LL * ba0 + 5LL * ba1 + ba) / 15;
                  if (20LL * ba0 + 5LL * ba1 + ba < 45) {
                    *(f64x8_in_memory*)(C + 13LL * a + 1365LL * b + f + 195LL * e) = 2.0 * sum[ba][efv] + 0.5 * (*(const f64x8_in_memory*)(C + 13LL * a + 1365LL * b + f + 195LL * e));
                  }
                }
              } else {
                #pragma unroll
                for (int ba = 0; ba < 5; ++ba) {
                  const i64 a = (20LL * ba0 + 5LL * ba1 + ba) % 15;
                  const i64 b = (20LL * ba0 + 5LL * ba1 + ba) / 15;
                  if (20LL * ba0 + 5LL * ba1 + ba < 45) {
                    store_lanes<f64x8>(C + 13LL * a + 1365LL * b + f + 195LL * e, 2.0 * sum[ba][efv] + 0.5 * (load_lanes<f64x8>(C + 13LL * a + 1365LL * b + f + 195LL * e, 0, -f + 13LL)), 0, -f + 13LL);
                  }
                }
                {
                  const i64 e_next = (32LL * ef0 + 16LL * ef1 + 8LL * efv + 13LL) / 13;
                  if (e_next < 7) {
                    #pragma unroll
                    for (int ba = 0; ba < 5; ++ba) {
                      const i64 a = (20LL * ba0 + 5LL * ba1 + ba) % 15;
                      const i64 b = (20LL * ba0 + 5LL * ba1 + ba) / 15;
                      if (20LL * ba0 + 5LL * ba1 + ba < 45) {
                        store_lanes<f64x8>(C + 13LL * a + 1365LL * b + f + 195LL * e_next - 13LL, 2.0 * sum[ba][efv] + 0.5 * (load_lanes<f64x8>(C + 13LL * a + 1365LL * b + f + 195LL * e_next - 13LL, -f + 13LL, 8)), -f + 13LL, 8);
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
}
