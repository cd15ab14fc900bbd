// u32_ab_to_ba_150x90        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    B[150 * b + a] = A[b + 90 * a]
// extents    b=90 a=150
// plan       cpu_cached_stores: reads of 32 B, writes of 4 B, 8192 B shared, 9 tiles
// traffic    108000 B (read 54000, write 54000)
// index      32 bits: largest offset 13499
// schedule   cpu_cached_stores
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_cached_stores.case
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

typedef u32 piece __attribute__((ext_vector_type(8)));
typedef piece piece_in_memory __attribute__((aligned(4), may_alias));
// Stores one column of a block: part N of a transposed vector.
template <int N>
static inline __attribute__((always_inline)) void keep(u32* to, lanes row) {
  const piece kept = __builtin_shufflevector(row, row, 8 * N + 0, 8 * N + 1, 8 * N + 2, 8 * N + 3, 8 * N + 4, 8 * N + 5, 8 * N + 6, 8 * N + 7);
  *(piece_in_memory*)to = kept;
}

// Ordinary stores. A loop over elements would be unrolled before it is vectorised, and stay scalar.
static inline __attribute__((always_inline)) void write_run(u32* to, const u32* from) {
  __builtin_memcpy_inline((u8*)to + 0, (const u8*)from + 0, 64);
  #pragma clang loop unroll_count(4)
  for (i64 at = 64 - (i64)((u64)to % 64); at + 64 <= 200; at += 64) {
    __builtin_memcpy_inline((u8*)to + at, (const u8*)from + at, 64);
  }
  __builtin_memcpy_inline((u8*)to + 136, (const u8*)from + 136, 64);
}

extern "C" void u32_ab_to_ba_150x90(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const u32* const A_base = (const u32*)args[0];
  u32* const B_base = (u32*)args[1];
  u32* __restrict__ const kept = (u32*)scratch;
  for (i64 tile = first; tile < last; ++tile) {
    const i64 b0_at = 32 * (tile % 3);
    const i64 b0 = b0_at < 58 ? b0_at : 58;
    const i64 a0 = 50 * (tile / 3);
    const u32* __restrict__ const A = A_base + (b0 + 90 * a0);
    u32* __restrict__ const B = B_base + (150 * b0 + a0);
    // read A along b
    {
      #pragma clang loop unroll(disable) vectorize(disable)
      for (i64 column_at = 0; column_at < 32; column_at += 8) {
        const i64 column = column_at;
        #pragma clang loop unroll(disable) vectorize(disable)
        for (i64 row_at = 0; row_at < 50; row_at += 8) {
          const i64 row = row_at < 42 ? row_at : 42;
          const u32* const in = A + 0 + column;
          u32* const out = kept + 0 + row;
          lanes rows[8];
          rows[0] = *(const lanes_in_memory*)(in + (90 * row + 0));
          rows[1] = *(const lanes_in_memory*)(in + (90 * row + 90));
          rows[2] = *(const lanes_in_memory*)(in + (90 * row + 180));
          rows[3] = *(const lanes_in_memory*)(in + (90 * row + 270));
          rows[4] = *(const lanes_in_memory*)(in + (90 * row + 360));
          rows[5] = *(const lanes_in_memory*)(in + (90 * row + 450));
          rows[6] = *(const lanes_in_memory*)(in + (90 * row + 540));
          rows[7] = *(const lanes_in_memory*)(in + (90 * row + 630));
          transpose(rows);
          keep<0>(out + (64 * column + 0), rows[0]);
          keep<0>(out + (64 * column + 64), rows[1]);
          keep<0>(out + (64 * column + 128), rows[2]);
          keep<0>(out + (64 * column + 192), rows[3]);
          keep<0>(out + (64 * column + 256), rows[4]);
          keep<0>(out + (64 * column + 320), rows[5]);
          keep<0>(out + (64 * column + 384), rows[6]);
          keep<0>(out + (64 * column + 448), rows[7]);
        }
      }
    }
    // write B along a
    {
      const i64 a = 0;
      for (i64 b = 0; b < 32; ++b) {
        write_run(B + 150 * b + a, kept + 64 * b + a);
      }
    }
  }
}
