// f64_abcd_be_to_deca_24x3x9x16x7        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index d = 16
//            index e = 7
//            index c = 9
//            index a = 24
//            index b = 3
//            input A : f64 [0..10367] align 16
//            input B : f64 [0..20] align 16
//            output C : f64 [0..24191] align 16
//            rounding free
//            C[1512*d + 216*e + 24*c + a] = sum(b : mul(A[d + 16*c + 432*a + 144*b], B[e + 7*b]))
// extents    d=16 e=7 c=9 a=24 b=3
// plan       cpu_rows_ahead
// traffic    276648 B (read 83112, write 193536)
// index      32 bits: largest offset 24191
// schedule   cpu_rows_ahead
//            tile d:8:1
//            tile c:3:1
//            tile a:8
//            tile e:4
//            order task d0 a0 c0 serial e0 d1 c1
//            stage A at c0 scratch d1 c1 b a
//            stage B at e0 scratch b e
//            atom fma rows e columns a depth b lanes 8
//            nontemporal
//            prefetch A
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_rows_ahead.case
static const i32 rows_ahead[] = {0, 16, 32, 144, 160, 176, 288, 304, 320, 432, 448, 464, 576, 592, 608, 720, 736, 752, 864, 880, 896, 1008, 1024, 1040, 1152, 1168, 1184, 1296, 1312, 1328, 1440, 1456, 1472, 1584, 1600, 1616, 1728, 1744, 1760, 1872, 1888, 1904, 2016, 2032, 2048, 2160, 2176, 2192, 2304, 2320, 2336, 2448, 2464, 2480, 2592, 2608, 2624, 2736, 2752, 2768, 2880, 2896, 2912, 3024, 3040, 3056, 3168, 3184, 3200, 3312, 3328, 3344};

extern "C" void f64_abcd_be_to_deca_24x3x9x16x7(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const double* __restrict__ const A = (const double*)args[0];
  const double* __restrict__ const B = (const double*)args[1];
  double* __restrict__ const C = (double*)args[2];
  double* __restrict__ const A_packed = (double*)(scratch + 0);
  double* __restrict__ const B_packed = (double*)(scratch + 4608);
  // Where a task begins in A.
  const auto begin_A = [&](i64 task) {
    const i64 d0 = task / 9;
    const i64 a0 = task / 3 % 3;
    const i64 c0 = task % 3;
    return A + 8LL * d0 + 48LL * c0 + 3456LL * a0;
  };
  for (i64 task = first; task < last; ++task) {
    RowsAhead<rows_ahead, 64, double> ahead(begin_A(task + 1 < last ? task + 1 : last - 1));
    const i64 d0 = task / 9;
    const i64 a0 = task / 3 % 3;
    const i64 c0 = task % 3;
    for (i64 b = 0; b < 3; ++b) {
      for (i64 c1 = 0; c1 < 3; ++c1) {
        for (i64 ab = 0; ab < 1; ++ab) {
          for (i64 d1b = 0; d1b < 1; ++d1b) {
            f64x8 A_packed_rows[8];
            #pragma unroll
            for (int u = 0; u < 8; ++u) {
              A_packed_rows[u] = *(const f64x8_in_memory*)(A + 8LL * d0 + 48LL * c0 + 16LL * c1 + 3456LL * a0 + 144LL * b + 3456LL * ab + 8LL * d1b + 432LL * u);
            }
            transpose<double, 8>(A_packed_rows);
            #pragma unroll
            for (int w = 0; w < 8; ++w) {
              *(f64x8_in_memory*)(A_packed + 24LL * c1 + 8LL * b + 8LL * ab + 576LL * d1b + 72LL * w) = A_packed_rows[w];
            }
          }
        }
      }
    }
    for (i64 e0 = 0; e0 < 2; ++e0) {
      #pragma unroll
      for (int b = 0; b < 3; ++b) {
        if (4LL * e0 + 3LL < 7) {
          *(f64x4_in_memory*)(B_packed + 4LL * b) = *(const f64x4_in_memory*)(B + 4LL * e0 + 7LL * b);
        } else {
          store_part<3>(B_packed + 4LL * b, load_part<f64x8, 3>(B + 4LL * e0 + 7LL * b));
        }
      }
      for (i64 d1 = 0; d1 < 8; ++d1) {
        for (i64 c1 = 0; c1 < 3; ++c1) {
          f64x8 sum[4][1];
          #pragma unroll
          for (int r = 0; r < 4; ++r) {
            sum[r][0] = 0.0;
          }
          #pragma unroll
          for (int b = 0; b < 3; ++b) {
            ahead.prefetch<1>();
            double a_[4];
            f64x8 b_[1];
            #pragma unroll
            for (int e = 0; e < 4; ++e) {
              a_[e] = B_packed[e + 4LL * b];
            }
            b_[0] = *(const f64x8_in_memory*)(A_packed + 72LL * d1 + 24LL * c1 + 8LL * b);
            #pragma unroll
            for (int e = 0; e < 4; ++e) {
              sum[e][0] += a_[e] * b_[0];
            }
          }
          #pragma unroll
          for (int e = 0; e < 4; ++e) {
            if (4LL * e0 + e < 7) {
              store_nontemporal<f64x8>(C, 12096LL * d0 + 1512LL * d1 + 72LL * c0 + 24LL * c1 + 8LL * a0 + 864LL * e0 + 216LL * e, sum[e][0]);
            }
          }
        }
      }
    }
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
