// f64_abc_to_cba_60x5x50        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    B[300 * c + 60 * b + a] = A[c + 50 * b + 250 * a] + B[300 * c + 60 * b + a]
// extents    c=50 b=5 a=60
// plan       cpu_ragged: reads of 64 B, writes of 64 B, 20 tiles
// traffic    360000 B (read 240000, write 120000)
// index      32 bits: largest offset 14999
// schedule   cpu_ragged
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_ragged.case
typedef u64 lanes __attribute__((ext_vector_type(8)));
typedef lanes lanes_in_memory __attribute__((aligned(8), may_alias));

// 8 x 8: row i of the result is column i of the argument
static inline __attribute__((always_inline)) void transpose(lanes (&row)[8])
{
  const lanes low1_0 = __builtin_shufflevector(row[0], row[1], 0, 8, 2, 10, 4, 12, 6, 14);
  const lanes high1_0 = __builtin_shufflevector(row[0], row[1], 1, 9, 3, 11, 5, 13, 7, 15);
  const lanes low1_2 = __builtin_shufflevector(row[2], row[3], 0, 8, 2, 10, 4, 12, 6, 14);
  const lanes high1_2 = __builtin_shufflevector(row[2], row[3], 1, 9, 3, 11, 5, 13, 7, 15);
  const lanes low1_4 = __builtin_shufflevector(row[4], row[5], 0, 8, 2, 10, 4, 12, 6, 14);
  const lanes high1_4 = __builtin_shufflevector(row[4], row[5], 1, 9, 3, 11, 5, 13, 7, 15);
  const lanes low1_6 = __builtin_shufflevector(row[6], row[7], 0, 8, 2, 10, 4, 12, 6, 14);
  const lanes high1_6 = __builtin_shufflevector(row[6], row[7], 1, 9, 3, 11, 5, 13, 7, 15);
  const lanes low2_0 = __builtin_shufflevector(low1_0, low1_2, 0, 1, 8, 9, 4, 5, 12, 13);
  const lanes high2_0 = __builtin_shufflevector(low1_0, low1_2, 2, 3, 10, 11, 6, 7, 14, 15);
  const lanes low2_1 = __builtin_shufflevector(high1_0, high1_2, 0, 1, 8, 9, 4, 5, 12, 13);
  const lanes high2_1 = __builtin_shufflevector(high1_0, high1_2, 2, 3, 10, 11, 6, 7, 14, 15);
  const lanes low2_4 = __builtin_shufflevector(low1_4, low1_6, 0, 1, 8, 9, 4, 5, 12, 13);
  const lanes high2_4 = __builtin_shufflevector(low1_4, low1_6, 2, 3, 10, 11, 6, 7, 14, 15);
  const lanes low2_5 = __builtin_shufflevector(high1_4, high1_6, 0, 1, 8, 9, 4, 5, 12, 13);
  const lanes high2_5 = __builtin_shufflevector(high1_4, high1_6, 2, 3, 10, 11, 6, 7, 14, 15);
  const lanes low4_0 = __builtin_shufflevector(low2_0, low2_4, 0, 1, 2, 3, 8, 9, 10, 11);
  const lanes high4_0 = __builtin_shufflevector(low2_0, low2_4, 4, 5, 6, 7, 12, 13, 14, 15);
  const lanes low4_1 = __builtin_shufflevector(low2_1, low2_5, 0, 1, 2, 3, 8, 9, 10, 11);
  const lanes high4_1 = __builtin_shufflevector(low2_1, low2_5, 4, 5, 6, 7, 12, 13, 14, 15);
  const lanes low4_2 = __builtin_shufflevector(high2_0, high2_4, 0, 1, 2, 3, 8, 9, 10, 11);
  const lanes high4_2 = __builtin_shufflevector(high2_0, high2_4, 4, 5, 6, 7, 12, 13, 14, 15);
  const lanes low4_3 = __builtin_shufflevector(high2_1, high2_5, 0, 1, 2, 3, 8, 9, 10, 11);
  const lanes high4_3 = __builtin_shufflevector(high2_1, high2_5, 4, 5, 6, 7, 12, 13, 14, 15);
  row[0] = low4_0;
  row[1] = low4_1;
  row[2] = low4_2;
  row[3] = low4_3;
  row[4] = high4_0;
  row[5] = high4_1;
  row[6] = high4_2;
  row[7] = high4_3;
}

extern "C" void f64_abc_to_cba_60x5x50(void* const* args, i64 first, i64 last)
{
  const double* const A_base = (const double*)args[0];
  double* const B_base = (double*)args[1];
  for (i64 tile = first; tile < last; ++tile) {
    const i64 a0 = 32 * (tile % 2);
    const i64 c0 = 32 * (tile / 2 % 2);
    const i64 b = tile / 4;
    const double* __restrict__ const A = A_base + (c0 + 50 * b + 250 * a0);
    double* __restrict__ const B = B_base + (300 * c0 + 60 * b + a0);
    const i64 c_end = 50 - c0 < 32 ? 50 - c0 : 32;
    const i64 a_end = 60 - a0 < 32 ? 60 - a0 : 32;
    #pragma clang loop unroll(disable) vectorize(disable)
    for (i64 c_at = 0; c_at < c_end; c_at += 8) {
      #pragma clang loop unroll(disable) vectorize(disable)
      for (i64 a_at = 0; a_at < a_end; a_at += 8) {
        if (c_at + 8 > c_end || a_at + 8 > a_end) {
          #pragma clang loop unroll(disable) vectorize(disable)
          for (i64 c = c_at; c < c_end && c < c_at + 8; ++c) {
            #pragma clang loop unroll(disable) vectorize(disable)
            for (i64 a = a_at; a < a_end && a < a_at + 8; ++a) {
              B[300 * c + a] = A[c + 250 * a] + B[300 * c + a];
            }
          }
          continue;
        }
        const i64 c = c_at;
        const i64 a = a_at;
        lanes row[8];
        row[0] = *(const lanes_in_memory*)(A + c + 250 * a);
        row[1] = *(const lanes_in_memory*)(A + c + 250 * a + 250);
        row[2] = *(const lanes_in_memory*)(A + c + 250 * a + 500);
        row[3] = *(const lanes_in_memory*)(A + c + 250 * a + 750);
        row[4] = *(const lanes_in_memory*)(A + c + 250 * a + 1000);
        row[5] = *(const lanes_in_memory*)(A + c + 250 * a + 1250);
        row[6] = *(const lanes_in_memory*)(A + c + 250 * a + 1500);
        row[7] = *(const lanes_in_memory*)(A + c + 250 * a + 1750);
        transpose(row);
        #pragma clang loop unroll(full)
        for (int r = 0; r < 8; ++r) {
          double in[8];
          *(lanes_in_memory*)in = row[r];
          double* const out = B + (300 * c + a + 300 * r);
          #pragma clang loop vectorize(assume_safety)
          for (int v = 0; v < 8; ++v) out[v] = in[v] + out[v];
        }
      }
    }
  }
}
