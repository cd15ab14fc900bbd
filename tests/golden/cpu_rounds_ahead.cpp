// f64_ab_cbd_to_acd_24x24x6x96        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index a = 24
//            index c = 6
//            index d = 96
//            index b = 24
//            input A : f64 [0..575] align 16
//            input B : f64 [0..13823] align 16
//            output C : f64 [0..13823] align 16
//            rounding free
//            C[576*a + 96*c + d] = sum(b : mul(A[24*a + b], B[2304*c + d + 96*b]))
// extents    a=24 c=6 d=96 b=24
// plan       cpu_rounds_ahead
// traffic    225792 B (read 115200, write 110592)
// index      32 bits: largest offset 13823
// schedule   cpu_rounds_ahead
//            tile c:2:1
//            tile d:48:16
//            tile a:24:24:4
//            tile b:8
//            order task c0 d0 a0 serial b0 a1 c1 d1 a2
//            stage A at a1 scratch a2 b a
//            atom fma rows a columns c d depth b lanes 8
//            prefetch B
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_rounds_ahead.case
static const i32 rows_ahead[] = {0, 96, 192, 288, 384, 480, 576, 672, 2304, 2400, 2496, 2592, 2688, 2784, 2880, 2976};
static const i32 rounds_ahead[] = {0, 768, 1536};

extern "C" void f64_ab_cbd_to_acd_24x24x6x96(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const double* __restrict__ const A = (const double*)args[0];
  const double* __restrict__ const B = (const double*)args[1];
  double* __restrict__ const C = (double*)args[2];
  double* __restrict__ const A_packed = (double*)(scratch + 0);
  // Where a task begins in B.
  const auto begin_B = [&](i64 task) {
    const i64 c0 = task / 2;
    const i64 d0 = task % 2;
    return B + 4608LL * c0 + 48LL * d0;
  };
  for (i64 task = first; task < last; ++task) {
    RowsAhead<rows_ahead, 384, double, rounds_ahead> ahead(begin_B(task), begin_B(task + 1 < last ? task + 1 : last - 1));
    const i64 c0 = task / 2;
    const i64 d0 = task % 2;
    for (i64 b0 = 0; b0 < 3; ++b0) {
      for (i64 a2 = 0; a2 < 6; ++a2) {
        for (i64 ab = 0; ab < 1; ++ab) {
          for (i64 bb = 0; bb < 2; ++bb) {
            f64x4 A_packed_rows[4];
            #pragma unroll
            for (int u = 0; u < 4; ++u) {
              A_packed_rows[u] = *(const f64x4_in_memory*)(A + 96LL * a2 + 8LL * b0 + 96LL * ab + 4LL * bb + 24LL * u);
            }
            transpose<double, 4>(A_packed_rows);
            #pragma unroll
            for (int w = 0; w < 4; ++w) {
              *(f64x4_in_memory*)(A_packed + 32LL * a2 + 4LL * ab + 16LL * bb + 4LL * w) = A_packed_rows[w];
            }
          }
        }
      }
      for (i64 c1 = 0; c1 < 2; ++c1) {
        for (i64 d1 = 0; d1 < 3; ++d1) {
          for (i64 a2 = 0; a2 < 6; ++a2) {
            f64x8 sum[4][2];
            #pragma unroll
            for (int r = 0; r < 4; ++r) {
              #pragma unroll
              for (int v = 0; v < 2; ++v) {
                sum[r][v] = 0.0;
              }
            }
            #pragma unroll
            for (int b = 0; b < 8; ++b) {
              if (b < 4) {
                ahead.prefetch<1>();
              }
              double a_[4];
              f64x8 b_[2];
              #pragma unroll
              for (int a = 0; a < 4; ++a) {
                a_[a] = A_packed[32LL * a2 + a + 4LL * b];
              }
              #pragma unroll
              for (int dv = 0; dv < 2; ++dv) {
                b_[dv] = *(const f64x8_in_memory*)(B + 4608LL * c0 + 2304LL * c1 + 48LL * d0 + 16LL * d1 + 768LL * b0 + 96LL * b + 8LL * dv);
              }
              #pragma unroll
              for (int a = 0; a < 4; ++a) {
                #pragma unroll
                for (int dv = 0; dv < 2; ++dv) {
                  sum[a][dv] += a_[a] * b_[dv];
                }
              }
            }
            if (b0 == 0) {
              #pragma unroll
              for (int a = 0; a < 4; ++a) {
                #pragma unroll
                for (int dv = 0; dv < 2; ++dv) {
                  *(f64x8_in_memory*)(C + 192LL * c0 + 96LL * c1 + 48LL * d0 + 16LL * d1 + 2304LL * a2 + 576LL * a + 8LL * dv) = sum[a][dv];
                }
              }
            } else {
              #pragma unroll
              for (int a = 0; a < 4; ++a) {
                #pragma unroll
                for (int dv = 0; dv < 2; ++dv) {
                  *(f64x8_in_memory*)(C + 192LL * c0 + 96LL * c1 + 48LL * d0 + 16LL * d1 + 2304LL * a2 + 576LL * a + 8LL * dv) = *(const f64x8_in_memory*)(C + 192LL * c0 + 96LL * c1 + 48LL * d0 + 16LL * d1 + 2304LL * a2 + 576LL * a + 8LL * dv) + sum[a][dv];
                }
              }
            }
          }
        }
      }
    }
  }
}
