// f64_abc_to_bac_30x20x45        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    B[1350 * b + 45 * a + c] = scale(alpha, A[45 * b + 900 * a + c])
// extents    b=20 a=30 c=45
// plan       cpu_streaming_rows: accesses of 32 B, 30 tiles
// traffic    432000 B (read 216000, write 216000)
// index      32 bits: largest offset 26999
// schedule   cpu_streaming_rows
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_streaming_rows.case
typedef u64 out_lanes __attribute__((ext_vector_type(4)));
typedef out_lanes out_lanes_in_memory __attribute__((aligned(8), may_alias));

// A nontemporal store where the address is aligned, else an ordinary one.
static inline void stream(double* to, out_lanes value) {
  if ((u64)to & 31) *(out_lanes_in_memory*)to = value;
  else __builtin_nontemporal_store(value, (out_lanes*)to);
}

extern "C" void f64_abc_to_bac_30x20x45(void* const* args, i64 first, i64 last)
{
  const double* const A_base = (const double*)args[0];
  double* const B_base = (double*)args[1];
  const double alpha = *(const double*)args[2];
  for (i64 tile = first; tile < last; ++tile) {
    const i64 a = tile;
    const double* __restrict__ const A = A_base + (900 * a);
    double* __restrict__ const B = B_base + (45 * a);
    for (i64 b = 0; b < 20; ++b) {
      i64 c = 0;
      const i64 before = (-(u64)(B + 1350 * b + c) & 31) / 8;
      const i64 first = before < 45 ? before : 45;
      #pragma clang loop unroll(disable) vectorize(disable)
      for (; c < first; ++c) {
        B[1350 * b + c] = scale(alpha, A[45 * b + c]);
      }
      #pragma clang loop unroll_count(4) vectorize(disable)
      for (; c + 4 <= 45; c += 4) {
        double out[4];
        const i64 c_at = c;
        #pragma clang loop vectorize(assume_safety)
        for (i64 c = c_at; c < c_at + 4; ++c) out[c - c_at] = scale(alpha, A[45 * b + c]);
        stream(B + 1350 * b + c, *(const out_lanes_in_memory*)out);
      }
      #pragma clang loop unroll(disable) vectorize(disable)
      for (; c < 45; ++c) {
        B[1350 * b + c] = scale(alpha, A[45 * b + c]);
      }
    }
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
