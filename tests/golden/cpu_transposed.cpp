// u32_ab_to_ba_100x64        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    B[100 * b + a] = A[b + 64 * a]
// extents    b=64 a=100
// plan       cpu_transposed: reads of 32 B, writes of 32 B, 8 tiles
// traffic    51200 B (read 25600, write 25600)
// index      32 bits: largest offset 6399
// schedule   cpu_transposed
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_transposed.case
typedef u32 lanes __attribute__((ext_vector_type(8)));
typedef lanes lanes_in_memory __attribute__((aligned(4), may_alias));

// 8 x 8: row i of the result is column i of the argument
static inline __attribute__((always_inline)) void transpose(lanes (&row)[8])
{
  const lanes low1_0 = __builtin_shufflevector(row[0], row[1], 0, 8, 1, 9, 4, 12, 5, 13);
  const lanes high1_0 = __builtin_shufflevector(row[0], row[1], 2, 10, 3, 11, 6, 14, 7, 15);
  const lanes low1_2 = __builtin_shufflevector(row[2], row[3], 0, 8, 1, 9, 4, 12, 5, 13);
  const lanes high1_2 = __builtin_shufflevector(row[2], row[3], 2, 10, 3, 11, 6, 14, 7, 15);
  const lanes low1_4 = __builtin_shufflevector(row[4], row[5], 0, 8, 1, 9, 4, 12, 5, 13);
  const lanes high1_4 = __builtin_shufflevector(row[4], row[5], 2, 10, 3, 11, 6, 14, 7, 15);
  const lanes low1_6 = __builtin_shufflevector(row[6], row[7], 0, 8, 1, 9, 4, 12, 5, 13);
  const lanes high1_6 = __builtin_shufflevector(row[6], row[7], 2, 10, 3, 11, 6, 14, 7, 15);
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
  row[1] = low4_2;
  row[2] = low4_1;
  row[3] = low4_3;
  row[4] = high4_0;
  row[5] = high4_2;
  row[6] = high4_1;
  row[7] = high4_3;
}

extern "C" void u32_ab_to_ba_100x64(void* const* args, i64 first, i64 last)
{
  const u32* const A_base = (const u32*)args[0];
  u32* const B_base = (u32*)args[1];
  for (i64 tile = first; tile < last; ++tile) {
    const i64 a0 = 32 * (tile % 4);
    const i64 b0 = 32 * (tile / 4);
    const u32* __restrict__ const A = A_base + (b0 + 64 * a0);
    u32* __restrict__ const B = B_base + (100 * b0 + a0);
    const i64 a_end = 100 - a0 < 32 ? 100 - a0 : 32;
    for (i64 b_at = 0; b_at < 32; b_at += 8) {
      #pragma clang loop vectorize(assume_safety)
      for (i64 a_at = 0; a_at < a_end; a_at += 8) {
        const i64 b = b_at;
        const i64 a = a_at + 8 <= a_end ? a_at : a_end - 8;
        lanes row[8];
        row[0] = *(const lanes_in_memory*)(A + b + 64 * a);
        row[1] = *(const lanes_in_memory*)(A + b + 64 * a + 64);
        row[2] = *(const lanes_in_memory*)(A + b + 64 * a + 128);
        row[3] = *(const lanes_in_memory*)(A + b + 64 * a + 192);
        row[4] = *(const lanes_in_memory*)(A + b + 64 * a + 256);
        row[5] = *(const lanes_in_memory*)(A + b + 64 * a + 320);
        row[6] = *(const lanes_in_memory*)(A + b + 64 * a + 384);
        row[7] = *(const lanes_in_memory*)(A + b + 64 * a + 448);
        transpose(row);
        *(lanes_in_memory*)(B + 100 * b + a) = row[0];
        *(lanes_in_memory*)(B + 100 * b + a + 100) = row[1];
        *(lanes_in_memory*)(B + 100 * b + a + 200) = row[2];
        *(lanes_in_memory*)(B + 100 * b + a + 300) = row[3];
        *(lanes_in_memory*)(B + 100 * b + a + 400) = row[4];
        *(lanes_in_memory*)(B + 100 * b + a + 500) = row[5];
        *(lanes_in_memory*)(B + 100 * b + a + 600) = row[6];
        *(lanes_in_memory*)(B + 100 * b + a + 700) = row[7];
      }
    }
  }
}
