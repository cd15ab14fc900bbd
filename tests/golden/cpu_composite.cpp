// u32_abcde_to_edcba_3x5x7x18x22        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    B[1890 * e + 105 * d + 15 * c + 3 * b + a] = A[e + 22 * d + 396 * c + 2772 * b + 13860 * a]
// extents    e=22 d=18 c=7 b=5 a=3
// plan       cpu_composite: reads of 64 B, writes of 64 B, 38016 B shared, 8 tiles
// traffic    332640 B (read 166320, write 166320)
// index      32 bits: largest offset 41579
// schedule   cpu_composite
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_composite.case
typedef u32 lanes __attribute__((ext_vector_type(16)));
typedef lanes lanes_in_memory __attribute__((aligned(4), may_alias));

// 15 x 16: row i of the result is column i of the argument
static inline __attribute__((always_inline)) void transpose(lanes (&row)[16])
{
  const lanes low1_0 = __builtin_shufflevector(row[0], row[1], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
  const lanes high1_0 = __builtin_shufflevector(row[0], row[1], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  const lanes low1_2 = __builtin_shufflevector(row[2], row[3], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
  const lanes high1_2 = __builtin_shufflevector(row[2], row[3], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  const lanes low1_4 = __builtin_shufflevector(row[4], row[5], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
  const lanes high1_4 = __builtin_shufflevector(row[4], row[5], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  const lanes low1_6 = __builtin_shufflevector(row[6], row[7], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
  const lanes high1_6 = __builtin_shufflevector(row[6], row[7], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  const lanes low1_8 = __builtin_shufflevector(row[8], row[9], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
  const lanes high1_8 = __builtin_shufflevector(row[8], row[9], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  const lanes low1_10 = __builtin_shufflevector(row[10], row[11], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
  const lanes high1_10 = __builtin_shufflevector(row[10], row[11], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  const lanes low1_12 = __builtin_shufflevector(row[12], row[13], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
  const lanes high1_12 = __builtin_shufflevector(row[12], row[13], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  const lanes low1_14 = __builtin_shufflevector(row[14], row[14], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
  const lanes high1_14 = __builtin_shufflevector(row[14], row[14], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  const lanes low2_0 = __builtin_shufflevector(low1_0, low1_2, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
  const lanes high2_0 = __builtin_shufflevector(low1_0, low1_2, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  const lanes low2_1 = __builtin_shufflevector(high1_0, high1_2, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
  const lanes high2_1 = __builtin_shufflevector(high1_0, high1_2, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  const lanes low2_4 = __builtin_shufflevector(low1_4, low1_6, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
  const lanes high2_4 = __builtin_shufflevector(low1_4, low1_6, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  const lanes low2_5 = __builtin_shufflevector(high1_4, high1_6, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
  const lanes high2_5 = __builtin_shufflevector(high1_4, high1_6, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  const lanes low2_8 = __builtin_shufflevector(low1_8, low1_10, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
  const lanes high2_8 = __builtin_shufflevector(low1_8, low1_10, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  const lanes low2_9 = __builtin_shufflevector(high1_8, high1_10, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
  const lanes high2_9 = __builtin_shufflevector(high1_8, high1_10, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  const lanes low2_12 = __builtin_shufflevector(low1_12, low1_14, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
  const lanes high2_12 = __builtin_shufflevector(low1_12, low1_14, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  const lanes low2_13 = __builtin_shufflevector(high1_12, high1_14, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
  const lanes high2_13 = __builtin_shufflevector(high1_12, high1_14, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  const lanes low4_0 = __builtin_shufflevector(low2_0, low2_4, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
  const lanes high4_0 = __builtin_shufflevector(low2_0, low2_4, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
  const lanes low4_1 = __builtin_shufflevector(low2_1, low2_5, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
  const lanes high4_1 = __builtin_shufflevector(low2_1, low2_5, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
  const lanes low4_2 = __builtin_shufflevector(high2_0, high2_4, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
  const lanes high4_2 = __builtin_shufflevector(high2_0, high2_4, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
  const lanes low4_3 = __builtin_shufflevector(high2_1, high2_5, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
  const lanes high4_3 = __builtin_shufflevector(high2_1, high2_5, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
  const lanes low4_8 = __builtin_shufflevector(low2_8, low2_12, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
  const lanes high4_8 = __builtin_shufflevector(low2_8, low2_12, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
  const lanes low4_9 = __builtin_shufflevector(low2_9, low2_13, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
  const lanes high4_9 = __builtin_shufflevector(low2_9, low2_13, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
  const lanes low4_10 = __builtin_shufflevector(high2_8, high2_12, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
  const lanes high4_10 = __builtin_shufflevector(high2_8, high2_12, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
  const lanes low4_11 = __builtin_shufflevector(high2_9, high2_13, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
  const lanes high4_11 = __builtin_shufflevector(high2_9, high2_13, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
  const lanes low8_0 = __builtin_shufflevector(low4_0, low4_8, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
  const lanes high8_0 = __builtin_shufflevector(low4_0, low4_8, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  const lanes low8_1 = __builtin_shufflevector(low4_1, low4_9, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
  const lanes high8_1 = __builtin_shufflevector(low4_1, low4_9, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  const lanes low8_2 = __builtin_shufflevector(low4_2, low4_10, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
  const lanes high8_2 = __builtin_shufflevector(low4_2, low4_10, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  const lanes low8_3 = __builtin_shufflevector(low4_3, low4_11, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
  const lanes high8_3 = __builtin_shufflevector(low4_3, low4_11, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  const lanes low8_4 = __builtin_shufflevector(high4_0, high4_8, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
  const lanes high8_4 = __builtin_shufflevector(high4_0, high4_8, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  const lanes low8_5 = __builtin_shufflevector(high4_1, high4_9, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
  const lanes high8_5 = __builtin_shufflevector(high4_1, high4_9, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  const lanes low8_6 = __builtin_shufflevector(high4_2, high4_10, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
  const lanes high8_6 = __builtin_shufflevector(high4_2, high4_10, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  const lanes low8_7 = __builtin_shufflevector(high4_3, high4_11, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
  const lanes high8_7 = __builtin_shufflevector(high4_3, high4_11, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  row[0] = low8_0;
  row[1] = low8_2;
  row[2] = low8_1;
  row[3] = low8_3;
  row[4] = low8_4;
  row[5] = low8_6;
  row[6] = low8_5;
  row[7] = low8_7;
  row[8] = high8_0;
  row[9] = high8_2;
  row[10] = high8_1;
  row[11] = high8_3;
  row[12] = high8_4;
  row[13] = high8_6;
  row[14] = high8_5;
  row[15] = high8_7;
}

typedef u32 out_lanes __attribute__((ext_vector_type(16)));
typedef out_lanes out_lanes_in_memory __attribute__((aligned(4), may_alias));

typedef u32 piece __attribute__((ext_vector_type(16)));
typedef piece piece_in_memory __attribute__((aligned(4), may_alias));
// Stores one column of a block: part N of a transposed vector.
template <int N>
static inline __attribute__((always_inline)) void keep(u32* to, lanes row) {
  const piece kept = __builtin_shufflevector(row, row, 16 * N + 0, 16 * N + 1, 16 * N + 2, 16 * N + 3, 16 * N + 4, 16 * N + 5, 16 * N + 6, 16 * N + 7, 16 * N + 8, 16 * N + 9, 16 * N + 10, 16 * N + 11, 16 * N + 12, 16 * N + 13, 16 * N + 14, 16 * N + 15);
  __builtin_memcpy(to, &kept, 60);
}

// The input of a tile: rows of 198 elements, prefetched line by line.
static const i32 next_row[] = {0, 396, 2772, 3168, 5544, 5940, 8316, 8712, 11088, 11484, 13860, 14256, 16632, 17028, 19404, 19800, 22176, 22572, 24948, 25344, 27720, 28116, 30492, 30888, 33264, 33660, 36036, 36432, 38808, 39204};
struct Prefetch {
  const u32* next;
  i64 row;
  u64 at, end;
  inline __attribute__((always_inline)) Prefetch(const u32* next) : next(next), row(-1), at(0), end(0) {
  }
  inline __attribute__((always_inline)) void request() {
    if (at >= end) {
      if (row == 29) return;
      const u64 first = (u64)(next + next_row[++row]);
      at = first & -64, end = first + 792;
    }
    __builtin_prefetch((const void*)at, 0, 2);
    at += 64;
  }
};

// Storing part of a line reads the line first: prefetch the lines that a run shares with others.
static inline __attribute__((always_inline)) void prefetch_ends(const u32* run, i64 count) {
  if ((u64)run % 64 != 0) __builtin_prefetch(run, 1, 3);
  if ((u64)(run + count) % 64 != 0) __builtin_prefetch(run + count - 1, 1, 3);
}

static const i32 column_in_kept[] = {0, 432, 864, 1296, 1728, 2160, 2592, 3024, 3456, 3888, 4320, 4752, 5184, 5616, 6048, 6480, 6912, 7344, 7776, 8208, 8640, 9072, 48, 480, 912, 1344, 1776, 2208, 2640, 3072, 3504, 3936, 4368, 4800, 5232, 5664, 6096, 6528, 6960, 7392, 7824, 8256, 8688, 9120, 96, 528, 960, 1392, 1824, 2256, 2688, 3120, 3552, 3984, 4416, 4848, 5280, 5712, 6144, 6576, 7008, 7440, 7872, 8304, 8736, 9168, 144, 576, 1008, 1440, 1872, 2304, 2736, 3168, 3600, 4032, 4464, 4896, 5328, 5760, 6192, 6624, 7056, 7488, 7920, 8352, 8784, 9216, 192, 624, 1056, 1488, 1920, 2352, 2784, 3216, 3648, 4080, 4512, 4944, 5376, 5808, 6240, 6672, 7104, 7536, 7968, 8400, 8832, 9264, 240, 672, 1104, 1536, 1968, 2400, 2832, 3264, 3696, 4128, 4560, 4992, 5424, 5856, 6288, 6720, 7152, 7584, 8016, 8448, 8880, 9312, 288, 720, 1152, 1584, 2016, 2448, 2880, 3312, 3744, 4176, 4608, 5040, 5472, 5904, 6336, 6768, 7200, 7632, 8064, 8496, 8928, 9360, 336, 768, 1200, 1632, 2064, 2496, 2928, 3360, 3792, 4224, 4656, 5088, 5520, 5952, 6384, 6816, 7248, 7680, 8112, 8544, 8976, 9408, 384, 816, 1248, 1680, 2112, 2544, 2976, 3408, 3840, 4272, 4704, 5136, 5568, 6000, 6432, 6864, 7296, 7728, 8160, 8592, 9024, 9456};
static const i32 outer_in_input[] = {0, 396};
static const i32 outer_in_kept[] = {0, 15};
// Reads the next tile into its array, a few blocks for each two lines written of the current tile.
struct TileReader {
  const u32* from;
  u32* to;
  bool more;  // whether there is a next tile
  const u32* in = from;
  u32* out = to;
  i64 outer = 0, row_at = 0, column_at = 0, beat = 0;
  inline __attribute__((always_inline)) void one() {
    const i64 column = column_at < 182 ? column_at : 182;
    const u32* const in = from + outer_in_input[outer] + column;
    u32* const out = to + outer_in_kept[outer];
    lanes rows[16];
    rows[0] = *(const lanes_in_memory*)(in + 0);
    rows[1] = *(const lanes_in_memory*)(in + 13860);
    rows[2] = *(const lanes_in_memory*)(in + 27720);
    rows[3] = *(const lanes_in_memory*)(in + 2772);
    rows[4] = *(const lanes_in_memory*)(in + 16632);
    rows[5] = *(const lanes_in_memory*)(in + 30492);
    rows[6] = *(const lanes_in_memory*)(in + 5544);
    rows[7] = *(const lanes_in_memory*)(in + 19404);
    rows[8] = *(const lanes_in_memory*)(in + 33264);
    rows[9] = *(const lanes_in_memory*)(in + 8316);
    rows[10] = *(const lanes_in_memory*)(in + 22176);
    rows[11] = *(const lanes_in_memory*)(in + 36036);
    rows[12] = *(const lanes_in_memory*)(in + 11088);
    rows[13] = *(const lanes_in_memory*)(in + 24948);
    rows[14] = *(const lanes_in_memory*)(in + 38808);
    transpose(rows);
    keep<0>(out + column_in_kept[column + 0], rows[0]);
    keep<0>(out + column_in_kept[column + 1], rows[1]);
    keep<0>(out + column_in_kept[column + 2], rows[2]);
    keep<0>(out + column_in_kept[column + 3], rows[3]);
    keep<0>(out + column_in_kept[column + 4], rows[4]);
    keep<0>(out + column_in_kept[column + 5], rows[5]);
    keep<0>(out + column_in_kept[column + 6], rows[6]);
    keep<0>(out + column_in_kept[column + 7], rows[7]);
    keep<0>(out + column_in_kept[column + 8], rows[8]);
    keep<0>(out + column_in_kept[column + 9], rows[9]);
    keep<0>(out + column_in_kept[column + 10], rows[10]);
    keep<0>(out + column_in_kept[column + 11], rows[11]);
    keep<0>(out + column_in_kept[column + 12], rows[12]);
    keep<0>(out + column_in_kept[column + 13], rows[13]);
    keep<0>(out + column_in_kept[column + 14], rows[14]);
    keep<0>(out + column_in_kept[column + 15], rows[15]);
    if ((column_at += 16) < 198) return;
    column_at = 0;
    ++outer;
  }
  inline __attribute__((always_inline)) void beside_two_lines() {
    if (more && ++beat % 8 == 0) one();
  }
  inline __attribute__((always_inline)) void finish() {
    while (more && outer < 2) one();
  }
};

#ifdef __AVX512BW__
typedef int word;
typedef u16 mask;
typedef word words __attribute__((vector_size(64)));
typedef words words_in_memory __attribute__((aligned(1), may_alias));
#endif
// Part of a line.
static inline __attribute__((always_inline)) void write_part(u32* to, const u32* from, i64 count) {
  #ifdef __AVX512BW__
  const words_in_memory* const line = (const words_in_memory*)from;
  if (count > 0) __builtin_ia32_storedqusi512_mask((word*)to, *line, (mask)~0ull >> (16 - 1 * count));
  #else
  if (count & 8) __builtin_memcpy(to, from, 32), to += 8, from += 8;
  if (count & 4) __builtin_memcpy(to, from, 16), to += 4, from += 4;
  if (count & 2) __builtin_memcpy(to, from, 8), to += 2, from += 2;
  if (count & 1) __builtin_memcpy(to, from, 4), to += 1, from += 1;
  #endif
}

// Nontemporal stores, except for the ends.
static inline __attribute__((always_inline)) void write_run(u32* to, const u32* from, i64 count, Prefetch& prefetch, TileReader& reader) {
  i64 i = 0;
  if ((u64)to % 64 != 0) {
    const i64 room = 16 - (u64)to % 64 / 4;
    i = room < count ? room : count;
    write_part(to, from, i);
  }
  const i64 before = i;
  #pragma clang loop unroll(disable)
  for (; i + 32 <= count; i += 32) {
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 0), (out_lanes*)(to + i + 0));
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 16), (out_lanes*)(to + i + 16));
    prefetch.request();
    prefetch.request();
    reader.beside_two_lines();
  }
  if (i + 16 <= count) {
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 0), (out_lanes*)(to + i + 0));
    prefetch.request();
    i += 16;
  }
  if (i < count) write_part(to + i, from + i, count - i);
  for (i64 lines = (i - before) / 16; lines < 3; ++lines) prefetch.request();
}

extern "C" void u32_abcde_to_edcba_3x5x7x18x22(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const u32* const A_base = (const u32*)args[0];
  u32* const B_base = (u32*)args[1];
  u32 (* __restrict__ const kept)[9520] = (u32 (*)[9520])((u32*)scratch);
  if (first >= last) return;
  // Where a tile begins in A.
  const auto begin = [&](i64 tile) {
    const i64 d0 = 9 * (tile % 2);
    const i64 c0_at = 2 * (tile / 2);
    const i64 c0 = c0_at < 5 ? c0_at : 5;
    return A_base + (22 * d0 + 396 * c0);
  };
  // Where a tile begins in B.
  const auto begin_in_output = [&](i64 tile) {
    const i64 d0 = 9 * (tile % 2);
    const i64 c0_at = 2 * (tile / 2);
    const i64 c0 = c0_at < 5 ? c0_at : 5;
    return B_base + (105 * d0 + 15 * c0);
  };
  for (i64 tile = first - 1; tile < last; ++tile) {
    const i64 after = tile + 1 < last ? tile + 1 : last - 1;
    TileReader reader = {begin(after), kept[(tile + 1) & 1], tile + 1 < last};
    if (tile < first) {
      reader.finish();
      continue;
    }
    Prefetch prefetch(begin(after + 1 < last ? after + 1 : last - 1));
    const i64 next = begin_in_output(after) - begin_in_output(tile);
    const i64 d0 = 9 * (tile % 2);
    const i64 c0_at = 2 * (tile / 2);
    const i64 c0 = c0_at < 5 ? c0_at : 5;
    u32* __restrict__ const B = B_base + (105 * d0 + 15 * c0);
    // write B along a
    {
      const i64 a = 0;
      const i64 b = 0;
      const i64 c = 0;
      for (i64 e = 0; e < 22; ++e) {
        for (i64 d = 0; d < 9; ++d) {
          prefetch_ends(B + 1890 * e + 105 * d + 15 * c + 3 * b + a + next, 30);
          write_run(B + 1890 * e + 105 * d + 15 * c + 3 * b + a, kept[tile & 1] + 432 * e + 48 * d + 15 * c + 3 * b + a, 30, prefetch, reader);
        }
      }
    }
    reader.finish();
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
