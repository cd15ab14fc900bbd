// f64_abcde_df_to_eafcb_4x43x6x5x3x7        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index e = 3
//            index a = 4
//            index f = 7
//            index c = 6
//            index b = 43
//            index d = 5
//            input A : f64 [0..15479] align 16
//            input B : f64 [0..34] align 16
//            output C : f64 [0..21671] align 16
//            rounding free
//            C[7224*e + 1806*a + 258*f + 43*c + b] = sum(d : mul(A[e + 3870*a + 15*c + 90*b + 3*d], B[f + 7*d]))
// extents    e=3 a=4 f=7 c=6 b=43 d=5
// plan       cpu_gathered
// traffic    297496 B (read 124120, write 173376)
// index      32 bits: largest offset 21671
// schedule   cpu_gathered
//            tile a:1:1
//            tile c:1:1
//            tile e:3:1
//            tile b:48:48
//            tile f:9:9:3
//            order task a0 e0 b0 c0 f0 serial f1 a1 c1 e1 b1 f2
//            stage A at f0 scratch a1 c1 e1 b1 d a c e b
//            stage B at f1 scratch f2 d f
//            atom fma rows f columns a c e b depth d lanes 8
//            store scratch f2
//            carry c
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_gathered.case
extern "C" void f64_abcde_df_to_eafcb_4x43x6x5x3x7(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const double* __restrict__ const A = (const double*)args[0];
  const double* __restrict__ const B = (const double*)args[1];
  double* __restrict__ const C = (double*)args[2];
  double* __restrict__ const A_packed = (double*)(scratch + 0);
  double* __restrict__ const B_packed = (double*)(scratch + 5760);
  double* __restrict__ const C_block = (double*)(scratch + 6144);
  double* __restrict__ const C_waiting = (double*)(scratch + 7360);
  for (i64 task = first; task < last; ++task) {
    const i64 a0 = task / 6;
    const i64 c0 = task % 6;
    for (i64 bs = 0; bs < 6 && 8LL * bs < 43; ++bs) {
      for (i64 d = 0; d < 5; ++d) {
        if (8LL * bs + 7LL < 43) {
          for (i64 bb = 0; bb < 1; ++bb) {
            f64x8 A_packed_rows[8];
            #pragma unroll
            for (int u = 0; u < 8; ++u) {
              A_packed_rows[u] = load_part<f64x8, 3>(A + 3870LL * a0 + 15LL * c0 + 3LL * d + 720LL * bs + 720LL * bb + 90LL * u);
            }
            transpose<double, 8>(A_packed_rows);
            #pragma unroll
            for (int w = 0; w < 3; ++w) {
              *(f64x8_in_memory*)(A_packed + 48LL * d + 8LL * bs + 8LL * bb + 240LL * w) = A_packed_rows[w];
            }
          }
        } else {
          #pragma unroll
          for (int e1 = 0; e1 < 3; ++e1) {
            #pragma unroll
            for (int b = 0; b < 3; ++b) {
              A_packed[240LL * e1 + 48LL * d + 8LL * bs + b] = A[3870LL * a0 + 15LL * c0 + e1 + 3LL * d + 720LL * bs + 90LL * b];
            }
          }
        }
      }
    }
    for (i64 d = 0; d < 5; ++d) {
      #pragma unroll
      for (int f2 = 0; f2 < 3 && 3LL * f2 < 7; ++f2) {
        if (3LL * f2 + 2LL < 7) {
          store_part<3>(B_packed + 15LL * f2 + 3LL * d, load_part<f64x8, 3>(B + 3LL * f2 + 7LL * d));
        } else {
          B_packed[15LL * f2 + 3LL * d] = B[3LL * f2 + 7LL * d];
        }
      }
    }
    for (i64 e1 = 0; e1 < 3; ++e1) {
      for (i64 f2 = 0; f2 < 3; ++f2) {
        f64x8 sum[3][6];
        #pragma unroll
        for (int r = 0; r < 3; ++r) {
          #pragma unroll
          for (int v = 0; v < 6; ++v) {
            sum[r][v] = 0.0;
          }
        }
        #pragma unroll
        for (int d = 0; d < 5; ++d) {
          double a_[3];
          f64x8 b_[6];
          #pragma unroll
          for (int f = 0; f < 3; ++f) {
            a_[f] = B_packed[15LL * f2 + f + 3LL * d];
          }
          #pragma unroll
          for (int bv = 0; bv < 6; ++bv) {
            b_[bv] = *(const f64x8_in_memory*)(A_packed + 240LL * e1 + 48LL * d + 8LL * bv);
            #pragma unroll
            for (int f = 0; f < 3; ++f) {
              sum[f][bv] += a_[f] * b_[bv];
            }
          }
        }
        #pragma unroll
        for (int f = 0; f < 3; ++f) {
          if (3LL * f2 + f < 7) {
            #pragma unroll
            for (int bv = 0; bv < 5; ++bv) {
              *(f64x8_in_memory*)(C_block + 43LL * f + 8LL * bv + 8LL) = sum[f][bv];
            }
            store_part<3>(C_block + 43LL * f + 48LL, sum[f][5]);
          }
        }
        #pragma clang loop unroll(disable) vectorize(disable)
        for (i64 f_run = 0; f_run < 3; ++f_run) {
          if (3LL * f2 + f_run < 7) {
            write_run<f64x8, 0>(C + 1806LL * a0 + 43LL * c0 + 7224LL * e1 + 774LL * f2 + 258LL * f_run, C_block + 43LL * f_run + 8LL, 43, NoneAhead(), NoneBeside(), C_waiting + 24LL * e1 + 72LL * f2 + 8LL * f_run, c0 > 0 && c0 < 6 && task - 1 >= first, c0 + 1 < 6 && task + 1 < last);
          }
        }
      }
    }
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
