// f64_abc_to_bac_30x20x45        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index b = 20
//            index a = 30
//            index c = 45
//            input A : f64 [0..26999] align 16
//            output B : f64 [0..26999] align 16
//            param alpha : f64
//            B[1350*b + 45*a + c] = scale(alpha, A[45*b + 900*a + c])
// extents    b=20 a=30 c=45
// plan       cpu_streaming_rows: accesses of 32 B, 30 tiles
// traffic    432000 B (read 216000, write 216000)
// index      32 bits: largest offset 26999
// schedule   cpu_streaming_rows
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_streaming_rows.case
extern "C" void f64_abc_to_bac_30x20x45(void* const* args, i64 first, i64 last)
{
  const double* __restrict__ const A = (const double*)args[0];
  double* __restrict__ const B = (double*)args[1];
  const double alpha = *(const double*)args[2];
  for (i64 task = first; task < last; ++task) {
    const i64 a = task;
    for (i64 b = 0; b < 20; ++b) {
      i64 c = 0;
      #pragma clang loop unroll(disable) vectorize(disable)
      for (i64 aligned = c + elements_before<f64x4>(B + 1350LL * b + 45LL * a + c); c < aligned && c < 45; ++c) {
        B[1350LL * b + 45LL * a + c] = scale(alpha, A[45LL * b + 900LL * a + c]);
      }
      #pragma clang loop unroll_count(4) vectorize(disable)
      for (; c + 4 <= 45; c += 4) {
        double out[4];
        #pragma clang loop vectorize(assume_safety)
        for (i64 v = 0; v < 4; ++v) {
          out[v] = scale(alpha, A[45LL * b + 900LL * a + c + v]);
        }
        store_nontemporal<f64x4>(B, 1350LL * b + 45LL * a + c, *(const f64x4_in_memory*)&out[0]);
      }
      #pragma clang loop unroll(disable) vectorize(disable)
      for (; c < 45; ++c) {
        B[1350LL * b + 45LL * a + c] = scale(alpha, A[45LL * b + 900LL * a + c]);
      }
    }
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
