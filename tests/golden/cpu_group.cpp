// f64_abc_cd_to_abd_21x4x10x24x6        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index a = 21
//            index b = 4
//            index d = 24
//            index c = 10
//            index e = 6
//            input A : f64 [0..839] align 16
//            input B : f64 [0..239] align 16
//            input C : f64 [0..125] align 16
//            input D : f64 [0..575] align 16
//            output E : f64 [0..2015] align 16
//            rounding free
//            E[96*a + 24*b + d] = sub(add(sum(c : mul(A[40*a + 10*b + c], B[d + 24*c])), E[96*a + 24*b + d]), sum(e : mul(C[a + 21*e], D[6*b + 24*d + e])))
// extents    a=21 b=4 d=24 c=10 e=6
// plan       cpu_group
// traffic    46512 B (read 30384, write 16128)
// index      32 bits: largest offset 2015
// schedule   cpu_group
//            products 1
//            tile a:6
//            order task a0 serial b
//            stage A at a0 scratch b c a
//            atom fma rows a columns d depth c lanes 8
//            products 2
//            tile a:6
//            tile d:8
//            order task a0 serial d0
//            stage C at a0 scratch e a
//            stage D at d0 scratch e d b
//            atom fma rows a columns d b depth e lanes 4
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_group.case
extern "C" void f64_abc_cd_to_abd_21x4x10x24x6(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const double* __restrict__ const A = (const double*)args[0];
  const double* __restrict__ const B = (const double*)args[1];
  const double* __restrict__ const C = (const double*)args[2];
  const double* __restrict__ const D = (const double*)args[3];
  double* __restrict__ const E = (double*)args[4];
  double* __restrict__ const A_packed = (double*)(scratch + 0);
  double* __restrict__ const E_block = (double*)(scratch + 1920);
  double* __restrict__ const C_packed = (double*)(scratch + 6528);
  double* __restrict__ const D_packed = (double*)(scratch + 6848);
  for (i64 task = first; task < last; ++task) {
    const i64 a0 = task;
    // products 1
    {
      for (i64 b = 0; b < 4; ++b) {
        if (6LL * a0 + 5LL < 21) {
          for (i64 cb = 0; cb < 1; ++cb) {
            f64x8 A_packed_rows[8];
            #pragma unroll
            for (int u = 0; u < 6; ++u) {
              A_packed_rows[u] = *(const f64x8_in_memory*)(A + 240LL * a0 + 10LL * b + 8LL * cb + 40LL * u);
            }
            #pragma unroll
            for (int z = 0; z < 2; ++z) {
              A_packed_rows[z + 6LL] = 0.0;
            }
            transpose<double, 8>(A_packed_rows);
            #pragma unroll
            for (int w = 0; w < 8; ++w) {
              store_part<6>(A_packed + 60LL * b + 48LL * cb + 6LL * w, A_packed_rows[w]);
            }
          }
          #pragma unroll
          for (int cr = 0; cr < 2; ++cr) {
            #pragma unroll
            for (int ar = 0; ar < 6; ++ar) {
              A_packed[60LL * b + ar + 6LL * cr + 48LL] = A[240LL * a0 + 10LL * b + 40LL * ar + cr + 8LL];
            }
          }
        } else {
          for (i64 cb = 0; cb < 2; ++cb) {
            f64x4 A_packed_rows[4];
            #pragma unroll
            for (int u = 0; u < 3; ++u) {
              A_packed_rows[u] = *(const f64x4_in_memory*)(A + 240LL * a0 + 10LL * b + 4LL * cb + 40LL * u);
            }
            #pragma unroll
            for (int z = 0; z < 1; ++z) {
              A_packed_rows[z + 3LL] = 0.0;
            }
            transpose<double, 4>(A_packed_rows);
            #pragma unroll
            for (int w = 0; w < 4; ++w) {
              store_part<3>(A_packed + 60LL * b + 24LL * cb + 6LL * w, A_packed_rows[w]);
            }
          }
          #pragma unroll
          for (int cr = 0; cr < 2; ++cr) {
            #pragma unroll
            for (int ar = 0; ar < 3; ++ar) {
              A_packed[60LL * b + ar + 6LL * cr + 48LL] = A[240LL * a0 + 10LL * b + 40LL * ar + cr + 8LL];
            }
          }
        }
      }
      for (i64 b = 0; b < 4; ++b) {
        f64x8 sum[6][3];
        #pragma unroll
        for (int r = 0; r < 6; ++r) {
          #pragma unroll
          for (int v = 0; v < 3; ++v) {
            sum[r][v] = 0.0;
          }
        }
        for (i64 c = 0; c < 10; ++c) {
          double a_[6];
          f64x8 b_[3];
          #pragma unroll
          for (int a = 0; a < 6; ++a) {
            a_[a] = A_packed[a + 60LL * b + 6LL * c];
          }
          #pragma unroll
          for (int dv = 0; dv < 3; ++dv) {
            b_[dv] = *(const f64x8_in_memory*)(B + 24LL * c + 8LL * dv);
          }
          #pragma unroll
          for (int a = 0; a < 6; ++a) {
            #pragma unroll
            for (int dv = 0; dv < 3; ++dv) {
              sum[a][dv] += a_[a] * b_[dv];
            }
          }
        }
        #pragma unroll
        for (int a = 0; a < 6; ++a) {
          if (6LL * a0 + a < 21) {
            #pragma unroll
            for (int dv = 0; dv < 3; ++dv) {
              *(f64x8_in_memory*)(E_block + 96LL * a + 24LL * b + 8LL * dv) = sum[a][dv];
            }
          }
        }
      }
    }
    // products 2
    {
      for (i64 e = 0; e < 6; ++e) {
        if (6LL * a0 + 5LL < 21) {
          store_part<6>(C_packed + 6LL * e, load_part<f64x8, 6>(C + 6LL * a0 + 21LL * e));
        } else {
          store_part<3>(C_packed + 6LL * e, load_part<f64x8, 3>(C + 6LL * a0 + 21LL * e));
        }
      }
      for (i64 d0 = 0; d0 < 3; ++d0) {
        for (i64 d = 0; d < 8; ++d) {
          for (i64 bb = 0; bb < 1; ++bb) {
            for (i64 eb = 0; eb < 1; ++eb) {
              f64x4 D_packed_rows[4];
              #pragma unroll
              for (int u = 0; u < 4; ++u) {
                D_packed_rows[u] = *(const f64x4_in_memory*)(D + 192LL * d0 + 24LL * d + 24LL * bb + 4LL * eb + 6LL * u);
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
              D_packed_rows[u] = load_part<f64x4, 2>(D + 192LL * d0 + 24LL * d + 24LL * bb + 6LL * u + 4LL);
            }
            transpose<double, 4>(D_packed_rows);
            #pragma unroll
            for (int w = 0; w < 2; ++w) {
              *(f64x4_in_memory*)(D_packed + 4LL * d + 4LL * bb + 32LL * w + 128LL) = D_packed_rows[w];
            }
          }
        }
        f64x4 sum[6][8];
        #pragma unroll
        for (int r = 0; r < 6; ++r) {
          #pragma unroll
          for (int v = 0; v < 8; ++v) {
            sum[r][v] = 0.0;
          }
        }
        for (i64 e = 0; e < 6; ++e) {
          double a_[6];
          f64x4 b_[8];
          #pragma unroll
          for (int a = 0; a < 6; ++a) {
            a_[a] = C_packed[a + 6LL * e];
          }
          #pragma unroll
          for (int d = 0; d < 8; ++d) {
            b_[d] = *(const f64x4_in_memory*)(D_packed + 32LL * e + 4LL * d);
            #pragma unroll
            for (int a = 0; a < 6; ++a) {
              sum[a][d] = sum[a][d] - a_[a] * b_[d];
            }
          }
        }
        if (6LL * a0 + 5LL < 21) {
          #pragma unroll
          for (int a = 0; a < 6; ++a) {
            f64x4 sum_across_0[4];
            #pragma unroll
            for (int u = 0; u < 4; ++u) {
              sum_across_0[u] = sum[a][u];
            }
            transpose<double, 4>(sum_across_0);
            #pragma unroll
            for (int w = 0; w < 4; ++w) {
              *(f64x4_in_memory*)(E + 576LL * a0 + 96LL * a + 8LL * d0 + 24LL * w) = *(const f64x4_in_memory*)(E_block + 96LL * a + 8LL * d0 + 24LL * w) + sum_across_0[w] + *(const f64x4_in_memory*)(E + 576LL * a0 + 96LL * a + 8LL * d0 + 24LL * w);
            }
            f64x4 sum_across_4[4];
            #pragma unroll
            for (int u = 0; u < 4; ++u) {
              sum_across_4[u] = sum[a][u + 4LL];
            }
            transpose<double, 4>(sum_across_4);
            #pragma unroll
            for (int w = 0; w < 4; ++w) {
              *(f64x4_in_memory*)(E + 576LL * a0 + 96LL * a + 8LL * d0 + 24LL * w + 4LL) = *(const f64x4_in_memory*)(E_block + 96LL * a + 8LL * d0 + 24LL * w + 4LL) + sum_across_4[w] + *(const f64x4_in_memory*)(E + 576LL * a0 + 96LL * a + 8LL * d0 + 24LL * w + 4LL);
            }
          }
        } else {
          #pragma unroll
          for (int a = 0; a < 6; ++a) {
            f64x4 sum_across_0[4];
            #pragma unroll
            for (int u = 0; u < 4; ++u) {
              sum_across_0[u] = sum[a][u];
            }
            transpose<double, 4>(sum_across_0);
            #pragma unroll
            for (int w = 0; w < 4; ++w) {
              if (6LL * a0 + a < 21) {
                *(f64x4_in_memory*)(E + 576LL * a0 + 96LL * a + 8LL * d0 + 24LL * w) = *(const f64x4_in_memory*)(E_block + 96LL * a + 8LL * d0 + 24LL * w) + sum_across_0[w] + *(const f64x4_in_memory*)(E + 576LL * a0 + 96LL * a + 8LL * d0 + 24LL * w);
              }
            }
            f64x4 sum_across_4[4];
            #pragma unroll
            for (int u = 0; u < 4; ++u) {
              sum_across_4[u] = sum[a][u + 4LL];
            }
            transpose<double, 4>(sum_across_4);
            #pragma unroll
            for (int w = 0; w < 4; ++w) {
              if (6LL * a0 + a < 21) {
                *(f64x4_in_memory*)(E + 576LL * a0 + 96LL * a + 8LL * d0 + 24LL * w + 4LL) = *(const f64x4_in_memory*)(E_block + 96LL * a + 8LL * d0 + 24LL * w + 4LL) + sum_across_4[w] + *(const f64x4_in_memory*)(E + 576LL * a0 + 96LL * a + 8LL * d0 + 24LL * w + 4LL);
              }
            }
          }
        }
      }
    }
  }
}
