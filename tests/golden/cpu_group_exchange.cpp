// f64_abc_cd_to_abd_21x4x10x8x6        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index a = 21
//            index b = 4
//            index d = 8
//            index e = 6
//            index c = 10
//            input A : f64 [0..839] align 16
//            input B : f64 [0..79] align 16
//            input C : f64 [0..125] align 16
//            input D : f64 [0..191] align 16
//            output E : f64 [0..671] align 16
//            rounding free
//            E[32*a + 8*b + d] = sub(add(sum(c : mul(A[40*a + 10*b + c], B[d + 8*c])), E[32*a + 8*b + d]), sum(e : mul(C[a + 21*e], D[6*b + 24*d + e])))
// extents    a=21 b=4 d=8 e=6 c=10
// plan       cpu_group_exchange
// traffic    20656 B (read 15280, write 5376)
// index      32 bits: largest offset 839
// schedule   cpu_group_exchange
//            products 1
//            tile a:2
//            order task a0
//            stage A at a0 scratch b c a
//            atom fma rows a b columns d depth c lanes 4
//            products 2
//            tile a:2
//            order task a0
//            stage C at a0 scratch e a
//            stage D at a0 scratch e d b
//            atom fma rows a columns d b depth e lanes 4
//            exchange
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_group_exchange.case
extern "C" void f64_abc_cd_to_abd_21x4x10x8x6(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const double* __restrict__ const A = (const double*)args[0];
  const double* __restrict__ const B = (const double*)args[1];
  const double* __restrict__ const C = (const double*)args[2];
  const double* __restrict__ const D = (const double*)args[3];
  double* __restrict__ const E = (double*)args[4];
  double* __restrict__ const A_packed = (double*)(scratch + 0);
  double* __restrict__ const C_packed = (double*)(scratch + 640);
  double* __restrict__ const D_packed = (double*)(scratch + 768);
  for (i64 task = first; task < last; ++task) {
    const i64 a0 = task;
    // products 1
    {
      for (i64 b = 0; b < 4; ++b) {
        if (2LL * a0 + 1LL < 21) {
          for (i64 cb = 0; cb < 2; ++cb) {
            f64x4 A_packed_rows[4];
            #pragma unroll
            for (int u = 0; u < 2; ++u) {
              A_packed_rows[u] = *(const f64x4_in_memory*)(A + 80LL * a0 + 10LL * b + 4LL * cb + 40LL * u);
            }
            #pragma unroll
            for (int z = 0; z < 2; ++z) {
              A_packed_rows[z + 2LL] = 0.0;
            }
            transpose<double, 4>(A_packed_rows);
            #pragma unroll
            for (int w = 0; w < 4; ++w) {
              store_part<2>(A_packed + 20LL * b + 8LL * cb + 2LL * w, A_packed_rows[w]);
            }
          }
          #pragma unroll
          for (int cr = 0; cr < 2; ++cr) {
            #pragma unroll
            for (int ar = 0; ar < 2; ++ar) {
              A_packed[20LL * b + ar + 2LL * cr + 16LL] = A[80LL * a0 + 10LL * b + 40LL * ar + cr + 8LL];
            }
          }
        } else {
          #pragma unroll
          for (int c = 0; c < 10; ++c) {
            A_packed[20LL * b + 2LL * c] = A[80LL * a0 + 10LL * b + c];
          }
        }
      }
      f64x4 sum[8][2];
      #pragma unroll
      for (int r = 0; r < 8; ++r) {
        #pragma unroll
        for (int v = 0; v < 2; ++v) {
          sum[r][v] = 0.0;
        }
      }
      for (i64 c = 0; c < 10; ++c) {
        double a_[8];
        f64x4 b_[2];
        #pragma unroll
        for (int a = 0; a < 2; ++a) {
          #pragma unroll
          for (int b = 0; b < 4; ++b) {
            a_[4LL * a + b] = A_packed[a + 20LL * b + 2LL * c];
          }
        }
        #pragma unroll
        for (int dv = 0; dv < 2; ++dv) {
          b_[dv] = *(const f64x4_in_memory*)(B + 8LL * c + 4LL * dv);
        }
        #pragma unroll
        for (int a = 0; a < 2; ++a) {
          #pragma unroll
          for (int b = 0; b < 4; ++b) {
            #pragma unroll
            for (int dv = 0; dv < 2; ++dv) {
              sum[4LL * a + b][dv] += a_[4LL * a + b] * b_[dv];
            }
          }
        }
      }
      // products 2
      {
        for (i64 e = 0; e < 6; ++e) {
          if (2LL * a0 + 1LL < 21) {
            *(f64x2_in_memory*)(C_packed + 2LL * e) = *(const f64x2_in_memory*)(C + 2LL * a0 + 21LL * e);
          } else {
            C_packed[2LL * e] = C[2LL * a0 + 21LL * e];
          }
        }
        for (i64 d = 0; d < 8; ++d) {
          for (i64 bb = 0; bb < 1; ++bb) {
            for (i64 eb = 0; eb < 1; ++eb) {
              f64x4 D_packed_rows[4];
              #pragma unroll
              for (int u = 0; u < 4; ++u) {
                D_packed_rows[u] = *(const f64x4_in_memory*)(D + 24LL * d + 24LL * bb + 4LL * eb + 6LL * u);
              }
              transpose<double, 4>(D_packed_rows);
              #pragma unroll
              for (int w = 0; w < 4; ++w) {
                *(f64x4_in_memory*)(D_packed + 4LL * d + 4LL * bb + 128LL * eb + 32LL * w) = D_packed_rows[w];
              }
            }
            f64x4 D_packed_rows[4];
            #pragma unroll
            for (int u = 0; u < 4; ++u) {
              D_packed_rows[u] = load_part<f64x4, 2>(D + 24LL * d + 24LL * bb + 6LL * u + 4LL);
            }
            transpose<double, 4>(D_packed_rows);
            #pragma unroll
            for (int w = 0; w < 2; ++w) {
              *(f64x4_in_memory*)(D_packed + 4LL * d + 4LL * bb + 32LL * w + 128LL) = D_packed_rows[w];
            }
          }
        }
        f64x4 sum_2[2][8];
        #pragma unroll
        for (int a = 0; a < 2; ++a) {
          {
            f64x4 turned[4];
            #pragma unroll
            for (int u = 0; u < 4; ++u) {
              turned[u] = sum[4LL * a + u][0];
            }
            transpose<double, 4>(turned);
            #pragma unroll
            for (int w = 0; w < 4; ++w) {
              sum_2[a][w] = turned[w];
            }
          }
          {
            f64x4 turned[4];
            #pragma unroll
            for (int u = 0; u < 4; ++u) {
              turned[u] = sum[4LL * a + u][1];
            }
            transpose<double, 4>(turned);
            #pragma unroll
            for (int w = 0; w < 4; ++w) {
              sum_2[a][w + 4LL] = turned[w];
            }
          }
        }
        #pragma unroll
        for (int e = 0; e < 6; ++e) {
          double a_[2];
          f64x4 b_[8];
          #pragma unroll
          for (int a = 0; a < 2; ++a) {
            a_[a] = C_packed[a + 2LL * e];
          }
          #pragma unroll
          for (int d = 0; d < 8; ++d) {
            b_[d] = *(const f64x4_in_memory*)(D_packed + 4LL * d + 32LL * e);
            #pragma unroll
            for (int a = 0; a < 2; ++a) {
              sum_2[a][d] = sum_2[a][d] - a_[a] * b_[d];
            }
          }
        }
        if (2LL * a0 + 1LL < 21) {
          #pragma unroll
          for (int a = 0; a < 2; ++a) {
            f64x4 sum_2_across_0[4];
            #pragma unroll
            for (int u = 0; u < 4; ++u) {
              sum_2_across_0[u] = sum_2[a][u];
            }
            transpose<double, 4>(sum_2_across_0);
            #pragma unroll
            for (int w = 0; w < 4; ++w) {
              *(f64x4_in_memory*)(E + 64LL * a0 + 32LL * a + 8LL * w) = sum_2_across_0[w] + *(const f64x4_in_memory*)(E + 64LL * a0 + 32LL * a + 8LL * w);
            }
            f64x4 sum_2_across_4[4];
            #pragma unroll
            for (int u = 0; u < 4; ++u) {
              sum_2_across_4[u] = sum_2[a][u + 4LL];
            }
            transpose<double, 4>(sum_2_across_4);
            #pragma unroll
            for (int w = 0; w < 4; ++w) {
              *(f64x4_in_memory*)(E + 64LL * a0 + 32LL * a + 8LL * w + 4LL) = sum_2_across_4[w] + *(const f64x4_in_memory*)(E + 64LL * a0 + 32LL * a + 8LL * w + 4LL);
            }
          }
        } else {
          #pragma unroll
          for (int a = 0; a < 2; ++a) {
            f64x4 sum_2_across_0[4];
            #pragma unroll
            for (int u = 0; u < 4; ++u) {
              sum_2_across_0[u] = sum_2[a][u];
            }
            transpose<double, 4>(sum_2_across_0);
            #pragma unroll
            for (int w = 0; w < 4; ++w) {
              if (2LL * a0 + a < 21) {
                *(f64x4_in_memory*)(E + 64LL * a0 + 32LL * a + 8LL * w) = sum_2_across_0[w] + *(const f64x4_in_memory*)(E + 64LL * a0 + 32LL * a + 8LL * w);
              }
            }
            f64x4 sum_2_across_4[4];
            #pragma unroll
            for (int u = 0; u < 4; ++u) {
              sum_2_across_4[u] = sum_2[a][u + 4LL];
            }
            transpose<double, 4>(sum_2_across_4);
            #pragma unroll
            for (int w = 0; w < 4; ++w) {
              if (2LL * a0 + a < 21) {
                *(f64x4_in_memory*)(E + 64LL * a0 + 32LL * a + 8LL * w + 4LL) = sum_2_across_4[w] + *(const f64x4_in_memory*)(E + 64LL * a0 + 32LL * a + 8LL * w + 4LL);
              }
            }
          }
        }
      }
    }
  }
}
