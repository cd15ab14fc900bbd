// f64_ab_to_ba_64x64        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index b = 64
//            index a = 64
//            input A : f64 [0..4095] align 16
//            output B : f64 [0..4095] align 16
//            param alpha : f64
//            param beta : f64
//            B[64*b + a] = add(scale(alpha, A[b + 64*a]), scale(beta, B[64*b + a]))
// extents    b=64 a=64
// plan       cpu_alpha_beta: reads of 32 B, writes of 32 B, 16 tiles
// traffic    98304 B (read 65536, write 32768)
// index      32 bits: largest offset 4095
// schedule   cpu_alpha_beta
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_alpha_beta.case
extern "C" void f64_ab_to_ba_64x64(void* const* args, i64 first, i64 last)
{
  const double* __restrict__ const A = (const double*)args[0];
  double* __restrict__ const B = (double*)args[1];
  const double alpha = *(const double*)args[2];
  const double beta = *(const double*)args[3];
  for (i64 task = first; task < last; ++task) {
    const i64 b_tile = task / 4;
    const i64 a_tile = task % 4;
    const i64 a0 = 16LL * a_tile;
    const i64 b0 = 16LL * b_tile;
    for (i64 b = b0; b + 4 <= b0 + 16LL; b += 4) {
      #pragma clang loop vectorize(assume_safety)
      for (i64 a = a0; a + 4 <= a0 + 16LL; a += 4) {
        f64x4 rows[4];
        rows[0] = *(const f64x4_in_memory*)(A + b + 64LL * a);
        rows[1] = *(const f64x4_in_memory*)(A + b + 64LL * a + 64LL);
        rows[2] = *(const f64x4_in_memory*)(A + b + 64LL * a + 128LL);
        rows[3] = *(const f64x4_in_memory*)(A + b + 64LL * a + 192LL);
        transpose<double, 4>(rows);
        #pragma unroll
        for (int r = 0; r < 4; ++r) {
          double in[4];
          *(f64x4_in_memory*)&in[0] = rows[r];
          #pragma clang loop vectorize(assume_safety)
          for (i64 v = 0; v < 4; ++v) {
            B[64LL * b + a + 64LL * r + v] = scale(alpha, in[v]) + scale(beta, B[64LL * b + a + 64LL * r + v]);
          }
        }
      }
    }
  }
}
