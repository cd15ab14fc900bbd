// f64_ab_to_ba_64x64        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    B[64 * b + a] = scale(alpha, A[b + 64 * a]) + scale(beta, B[64 * b + a])
// extents    b=64 a=64
// plan       cpu_alpha_beta: reads of 32 B, writes of 32 B, 16 tiles
// traffic    98304 B (read 65536, write 32768)
// index      32 bits: largest offset 4095
// schedule   cpu_alpha_beta
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_alpha_beta.case
typedef u64 lanes __attribute__((ext_vector_type(4)));
typedef lanes lanes_in_memory __attribute__((aligned(8), may_alias));

// 4 x 4: row i of the result is column i of the argument
static inline __attribute__((always_inline)) void transpose(lanes (&row)[4])
{
  const lanes low1_0 = __builtin_shufflevector(row[0], row[1], 0, 4, 2, 6);
  const lanes high1_0 = __builtin_shufflevector(row[0], row[1], 1, 5, 3, 7);
  const lanes low1_2 = __builtin_shufflevector(row[2], row[3], 0, 4, 2, 6);
  const lanes high1_2 = __builtin_shufflevector(row[2], row[3], 1, 5, 3, 7);
  const lanes low2_0 = __builtin_shufflevector(low1_0, low1_2, 0, 1, 4, 5);
  const lanes high2_0 = __builtin_shufflevector(low1_0, low1_2, 2, 3, 6, 7);
  const lanes low2_1 = __builtin_shufflevector(high1_0, high1_2, 0, 1, 4, 5);
  const lanes high2_1 = __builtin_shufflevector(high1_0, high1_2, 2, 3, 6, 7);
  row[0] = low2_0;
  row[1] = low2_1;
  row[2] = high2_0;
  row[3] = high2_1;
}

extern "C" void f64_ab_to_ba_64x64(void* const* args, i64 first, i64 last)
{
  const double* const A_base = (const double*)args[0];
  double* const B_base = (double*)args[1];
  const double alpha = *(const double*)args[2];
  const double beta = *(const double*)args[3];
  for (i64 tile = first; tile < last; ++tile) {
    const i64 a0 = 16 * (tile % 4);
    const i64 b0 = 16 * (tile / 4);
    const double* __restrict__ const A = A_base + (b0 + 64 * a0);
    double* __restrict__ const B = B_base + (64 * b0 + a0);
    for (i64 b_at = 0; b_at < 16; b_at += 4) {
      #pragma clang loop vectorize(assume_safety)
      for (i64 a_at = 0; a_at < 16; a_at += 4) {
        const i64 b = b_at;
        const i64 a = a_at;
        lanes row[4];
        row[0] = *(const lanes_in_memory*)(A + b + 64 * a);
        row[1] = *(const lanes_in_memory*)(A + b + 64 * a + 64);
        row[2] = *(const lanes_in_memory*)(A + b + 64 * a + 128);
        row[3] = *(const lanes_in_memory*)(A + b + 64 * a + 192);
        transpose(row);
        #pragma clang loop unroll(full)
        for (int r = 0; r < 4; ++r) {
          double in[4];
          *(lanes_in_memory*)in = row[r];
          double* const out = B + (64 * b + a + 64 * r);
          #pragma clang loop vectorize(assume_safety)
          for (int v = 0; v < 4; ++v) out[v] = scale(alpha, in[v]) + scale(beta, out[v]);
        }
      }
    }
  }
}
