// u16_abc_to_cba_50x7x90        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    B[350 * c + 50 * b + a] = A[c + 90 * b + 630 * a]
// extents    c=90 b=7 a=50
// plan       cpu_staged: reads of 32 B, writes of 32 B, 9216 B shared, 16 tiles
// traffic    126000 B (read 63000, write 63000)
// index      32 bits: largest offset 31499
// schedule   cpu_staged
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_staged.case
typedef u16 lanes __attribute__((ext_vector_type(16)));
typedef lanes lanes_in_memory __attribute__((aligned(2), may_alias));

// 16 x 16: row i of the result is column i of the argument
static inline __attribute__((always_inline)) void transpose(lanes (&row)[16])
{
  const lanes low1_0 = __builtin_shufflevector(row[0], row[1], 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27);
  const lanes high1_0 = __builtin_shufflevector(row[0], row[1], 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31);
  const lanes low1_2 = __builtin_shufflevector(row[2], row[3], 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27);
  const lanes high1_2 = __builtin_shufflevector(row[2], row[3], 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31);
  const lanes low1_4 = __builtin_shufflevector(row[4], row[5], 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27);
  const lanes high1_4 = __builtin_shufflevector(row[4], row[5], 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31);
  const lanes low1_6 = __builtin_shufflevector(row[6], row[7], 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27);
  const lanes high1_6 = __builtin_shufflevector(row[6], row[7], 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31);
  const lanes low1_8 = __builtin_shufflevector(row[8], row[9], 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27);
  const lanes high1_8 = __builtin_shufflevector(row[8], row[9], 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31);
  const lanes low1_10 = __builtin_shufflevector(row[10], row[11], 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27);
  const lanes high1_10 = __builtin_shufflevector(row[10], row[11], 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31);
  const lanes low1_12 = __builtin_shufflevector(row[12], row[13], 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27);
  const lanes high1_12 = __builtin_shufflevector(row[12], row[13], 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31);
  const lanes low1_14 = __builtin_shufflevector(row[14], row[15], 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27);
  const lanes high1_14 = __builtin_shufflevector(row[14], row[15], 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31);
  const lanes low2_0 = __builtin_shufflevector(low1_0, low1_2, 0, 1, 16, 17, 2, 3, 18, 19, 8, 9, 24, 25, 10, 11, 26, 27);
  const lanes high2_0 = __builtin_shufflevector(low1_0, low1_2, 4, 5, 20, 21, 6, 7, 22, 23, 12, 13, 28, 29, 14, 15, 30, 31);
  const lanes low2_1 = __builtin_shufflevector(high1_0, high1_2, 0, 1, 16, 17, 2, 3, 18, 19, 8, 9, 24, 25, 10, 11, 26, 27);
  const lanes high2_1 = __builtin_shufflevector(high1_0, high1_2, 4, 5, 20, 21, 6, 7, 22, 23, 12, 13, 28, 29, 14, 15, 30, 31);
  const lanes low2_4 = __builtin_shufflevector(low1_4, low1_6, 0, 1, 16, 17, 2, 3, 18, 19, 8, 9, 24, 25, 10, 11, 26, 27);
  const lanes high2_4 = __builtin_shufflevector(low1_4, low1_6, 4, 5, 20, 21, 6, 7, 22, 23, 12, 13, 28, 29, 14, 15, 30, 31);
  const lanes low2_5 = __builtin_shufflevector(high1_4, high1_6, 0, 1, 16, 17, 2, 3, 18, 19, 8, 9, 24, 25, 10, 11, 26, 27);
  const lanes high2_5 = __builtin_shufflevector(high1_4, high1_6, 4, 5, 20, 21, 6, 7, 22, 23, 12, 13, 28, 29, 14, 15, 30, 31);
  const lanes low2_8 = __builtin_shufflevector(low1_8, low1_10, 0, 1, 16, 17, 2, 3, 18, 19, 8, 9, 24, 25, 10, 11, 26, 27);
  const lanes high2_8 = __builtin_shufflevector(low1_8, low1_10, 4, 5, 20, 21, 6, 7, 22, 23, 12, 13, 28, 29, 14, 15, 30, 31);
  const lanes low2_9 = __builtin_shufflevector(high1_8, high1_10, 0, 1, 16, 17, 2, 3, 18, 19, 8, 9, 24, 25, 10, 11, 26, 27);
  const lanes high2_9 = __builtin_shufflevector(high1_8, high1_10, 4, 5, 20, 21, 6, 7, 22, 23, 12, 13, 28, 29, 14, 15, 30, 31);
  const lanes low2_12 = __builtin_shufflevector(low1_12, low1_14, 0, 1, 16, 17, 2, 3, 18, 19, 8, 9, 24, 25, 10, 11, 26, 27);
  const lanes high2_12 = __builtin_shufflevector(low1_12, low1_14, 4, 5, 20, 21, 6, 7, 22, 23, 12, 13, 28, 29, 14, 15, 30, 31);
  const lanes low2_13 = __builtin_shufflevector(high1_12, high1_14, 0, 1, 16, 17, 2, 3, 18, 19, 8, 9, 24, 25, 10, 11, 26, 27);
  const lanes high2_13 = __builtin_shufflevector(high1_12, high1_14, 4, 5, 20, 21, 6, 7, 22, 23, 12, 13, 28, 29, 14, 15, 30, 31);
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
  row[1] = low8_4;
  row[2] = low8_2;
  row[3] = low8_6;
  row[4] = low8_1;
  row[5] = low8_5;
  row[6] = low8_3;
  row[7] = low8_7;
  row[8] = high8_0;
  row[9] = high8_4;
  row[10] = high8_2;
  row[11] = high8_6;
  row[12] = high8_1;
  row[13] = high8_5;
  row[14] = high8_3;
  row[15] = high8_7;
}

typedef u16 out_lanes __attribute__((ext_vector_type(16)));
typedef out_lanes out_lanes_in_memory __attribute__((aligned(2), may_alias));

typedef u16 piece __attribute__((ext_vector_type(16)));
typedef piece piece_in_memory __attribute__((aligned(2), may_alias));
// Stores one column of a block: part N of a transposed vector.
template <int N>
static inline __attribute__((always_inline)) void keep(u16* to, lanes row) {
  const piece kept = __builtin_shufflevector(row, row, 16 * N + 0, 16 * N + 1, 16 * N + 2, 16 * N + 3, 16 * N + 4, 16 * N + 5, 16 * N + 6, 16 * N + 7, 16 * N + 8, 16 * N + 9, 16 * N + 10, 16 * N + 11, 16 * N + 12, 16 * N + 13, 16 * N + 14, 16 * N + 15);
  *(piece_in_memory*)to = kept;
}

// The input of a tile: rows of 48 elements, prefetched line by line.
static const i32 next_row[] = {0, 90, 630, 720, 1260, 1350, 1890, 1980, 2520, 2610, 3150, 3240, 3780, 3870, 4410, 4500, 5040, 5130, 5670, 5760, 6300, 6390, 6930, 7020, 7560, 7650, 8190, 8280, 8820, 8910, 9450, 9540, 10080, 10170, 10710, 10800, 11340, 11430, 11970, 12060, 12600, 12690, 13230, 13320, 13860, 13950, 14490, 14580, 15120, 15210, 15750, 15840, 16380, 16470, 17010, 17100, 17640, 17730, 18270, 18360, 18900, 18990, 19530, 19620};
struct Prefetch {
  const u16* next;
  i64 row;
  u64 at, end;
  inline __attribute__((always_inline)) Prefetch(const u16* next) : next(next), row(-1), at(0), end(0) {
  }
  inline __attribute__((always_inline)) void request() {
    if (at >= end) {
      if (row == 63) return;
      const u64 first = (u64)(next + next_row[++row]);
      at = first & -64, end = first + 96;
    }
    __builtin_prefetch((const void*)at, 0, 2);
    at += 64;
  }
};

// Storing part of a line reads the line first: prefetch the lines that a run shares with others.
static inline __attribute__((always_inline)) void prefetch_ends(const u16* run, i64 count) {
  if ((u64)run % 64 != 0) __builtin_prefetch(run, 1, 3);
  if ((u64)(run + count) % 64 != 0) __builtin_prefetch(run + count - 1, 1, 3);
}

static const i32 outer_in_input[] = {0, 90};
static const i32 outer_in_kept[] = {0, 32};
// Reads the next tile into its array, a few blocks for each two lines written of the current tile.
struct TileReader {
  const u16* from;
  u16* to;
  bool more;  // whether there is a next tile
  const u16* in = from;
  u16* out = to;
  i64 outer = 0, row_at = 0, column_at = 0, beat = 0;
  inline __attribute__((always_inline)) void one() {
    lanes rows[16];
    rows[0] = *(const lanes_in_memory*)(in + 0);
    rows[1] = *(const lanes_in_memory*)(in + 630);
    rows[2] = *(const lanes_in_memory*)(in + 1260);
    rows[3] = *(const lanes_in_memory*)(in + 1890);
    rows[4] = *(const lanes_in_memory*)(in + 2520);
    rows[5] = *(const lanes_in_memory*)(in + 3150);
    rows[6] = *(const lanes_in_memory*)(in + 3780);
    rows[7] = *(const lanes_in_memory*)(in + 4410);
    rows[8] = *(const lanes_in_memory*)(in + 5040);
    rows[9] = *(const lanes_in_memory*)(in + 5670);
    rows[10] = *(const lanes_in_memory*)(in + 6300);
    rows[11] = *(const lanes_in_memory*)(in + 6930);
    rows[12] = *(const lanes_in_memory*)(in + 7560);
    rows[13] = *(const lanes_in_memory*)(in + 8190);
    rows[14] = *(const lanes_in_memory*)(in + 8820);
    rows[15] = *(const lanes_in_memory*)(in + 9450);
    transpose(rows);
    keep<0>(out + 0, rows[0]);
    keep<0>(out + 96, rows[1]);
    keep<0>(out + 192, rows[2]);
    keep<0>(out + 288, rows[3]);
    keep<0>(out + 384, rows[4]);
    keep<0>(out + 480, rows[5]);
    keep<0>(out + 576, rows[6]);
    keep<0>(out + 672, rows[7]);
    keep<0>(out + 768, rows[8]);
    keep<0>(out + 864, rows[9]);
    keep<0>(out + 960, rows[10]);
    keep<0>(out + 1056, rows[11]);
    keep<0>(out + 1152, rows[12]);
    keep<0>(out + 1248, rows[13]);
    keep<0>(out + 1344, rows[14]);
    keep<0>(out + 1440, rows[15]);
    in += 16, out += 1536;
    if ((column_at += 16) < 48) return;
    column_at = 0;
    in += 10032, out += -4592;
    if ((row_at += 16) < 32) return;
    row_at = 0;
    ++outer;
    if (outer < 2) in = from + outer_in_input[outer], out = to + outer_in_kept[outer];
  }
  inline __attribute__((always_inline)) void beside_two_lines() {
    if (more && ++beat % 4 == 0) one();
  }
  inline __attribute__((always_inline)) void finish() {
    while (more && outer < 2) one();
  }
};

// Part of a line.
static inline __attribute__((always_inline)) void write_part(u16* to, const u16* from, i64 count) {
  if (count & 16) __builtin_memcpy(to, from, 32), to += 16, from += 16;
  if (count & 8) __builtin_memcpy(to, from, 16), to += 8, from += 8;
  if (count & 4) __builtin_memcpy(to, from, 8), to += 4, from += 4;
  if (count & 2) __builtin_memcpy(to, from, 4), to += 2, from += 2;
  if (count & 1) __builtin_memcpy(to, from, 2), to += 1, from += 1;
}

// Nontemporal stores, except for the ends.
static inline __attribute__((always_inline)) void write_run(u16* to, const u16* from, i64 count, Prefetch& prefetch, TileReader& reader) {
  i64 i = 0;
  if ((u64)to % 64 != 0) {
    const i64 room = 32 - (u64)to % 64 / 2;
    i = room < count ? room : count;
    write_part(to, from, i);
  }
  const i64 before = i;
  #pragma clang loop unroll(disable)
  for (; i + 64 <= count; i += 64) {
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 0), (out_lanes*)(to + i + 0));
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 16), (out_lanes*)(to + i + 16));
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 32), (out_lanes*)(to + i + 32));
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 48), (out_lanes*)(to + i + 48));
    prefetch.request();
    prefetch.request();
    reader.beside_two_lines();
  }
  if (i + 32 <= count) {
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 0), (out_lanes*)(to + i + 0));
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 16), (out_lanes*)(to + i + 16));
    prefetch.request();
    i += 32;
  }
  if (i < count) write_part(to + i, from + i, count - i);
  for (i64 lines = (i - before) / 32; lines < 2; ++lines) prefetch.request();
}

extern "C" void u16_abc_to_cba_50x7x90(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const u16* const A_base = (const u16*)args[0];
  u16* const B_base = (u16*)args[1];
  u16 (* __restrict__ const kept)[4640] = (u16 (*)[4640])((u16*)scratch);
  if (first >= last) return;
  // Where a tile begins in A.
  const auto begin = [&](i64 tile) {
    const i64 c0_at = 48 * (tile % 2);
    const i64 c0 = c0_at < 42 ? c0_at : 42;
    const i64 b0_at = 2 * (tile / 2 % 4);
    const i64 b0 = b0_at < 5 ? b0_at : 5;
    const i64 a0_at = 32 * (tile / 8);
    const i64 a0 = a0_at < 18 ? a0_at : 18;
    return A_base + (c0 + 90 * b0 + 630 * a0);
  };
  // Where a tile begins in B.
  const auto begin_in_output = [&](i64 tile) {
    const i64 c0_at = 48 * (tile % 2);
    const i64 c0 = c0_at < 42 ? c0_at : 42;
    const i64 b0_at = 2 * (tile / 2 % 4);
    const i64 b0 = b0_at < 5 ? b0_at : 5;
    const i64 a0_at = 32 * (tile / 8);
    const i64 a0 = a0_at < 18 ? a0_at : 18;
    return B_base + (350 * c0 + 50 * b0 + a0);
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
    const i64 c0_at = 48 * (tile % 2);
    const i64 c0 = c0_at < 42 ? c0_at : 42;
    const i64 b0_at = 2 * (tile / 2 % 4);
    const i64 b0 = b0_at < 5 ? b0_at : 5;
    const i64 a0_at = 32 * (tile / 8);
    const i64 a0 = a0_at < 18 ? a0_at : 18;
    u16* __restrict__ const B = B_base + (350 * c0 + 50 * b0 + a0);
    // write B along a
    {
      const i64 a = 0;
      for (i64 c = 0; c < 48; ++c) {
        for (i64 b = 0; b < 2; ++b) {
          prefetch_ends(B + 350 * c + 50 * b + a + next, 32);
          write_run(B + 350 * c + 50 * b + a, kept[tile & 1] + 96 * c + 32 * b + a, 32, prefetch, reader);
        }
      }
    }
    reader.finish();
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
