// u32_abc_to_cba_150x3x70        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    B[450 * c + 150 * b + a] = A[c + 70 * b + 210 * a]
// extents    c=70 b=3 a=150
// plan       cpu_line_carry: reads of 32 B, writes of 32 B, 3008 B shared, 75 tiles
// traffic    252000 B (read 126000, write 126000)
// index      32 bits: largest offset 31499
// schedule   cpu_line_carry
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_line_carry.case
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

typedef u32 out_lanes __attribute__((ext_vector_type(8)));
typedef out_lanes out_lanes_in_memory __attribute__((aligned(4), may_alias));

typedef u32 piece __attribute__((ext_vector_type(8)));
typedef piece piece_in_memory __attribute__((aligned(4), may_alias));
// Stores one column of a block: part N of a transposed vector.
template <int N>
static inline __attribute__((always_inline)) void keep(u32* to, lanes row) {
  const piece kept = __builtin_shufflevector(row, row, 8 * N + 0, 8 * N + 1, 8 * N + 2, 8 * N + 3, 8 * N + 4, 8 * N + 5, 8 * N + 6, 8 * N + 7);
  *(piece_in_memory*)to = kept;
}

// The input of 2 tiles: rows of 32 elements, prefetched line by line.
static const i32 next_row[] = {0, 210, 420, 630, 840, 1050, 1260, 1470, 1680, 1890, 2100, 2310, 2520, 2730, 2940, 3150, 3360, 3570, 3780, 3990, 4200, 4410, 4620, 4830, 5040, 5250, 5460, 5670, 5880, 6090, 6300, 6510};
struct Prefetch {
  const u32* next;
  i64 row;
  u64 at, end;
  inline __attribute__((always_inline)) Prefetch(const u32* next) : next(next), row(-1), at(0), end(0) {
  }
  inline __attribute__((always_inline)) void request() {
    if (at >= end) {
      if (row == 31) return;
      const u64 first = (u64)(next + next_row[++row]);
      at = first & -64, end = first + 128;
    }
    __builtin_prefetch((const void*)at, 0, 2);
    at += 64;
  }
};

// Reads the next tile into its array, a few blocks for each two lines written of the current tile.
struct TileReader {
  const u32* from;
  u32* to;
  bool more;  // whether there is a next tile
  const u32* in = from;
  u32* out = to;
  i64 outer = 0, row_at = 0, column_at = 0, beat = 0;
  inline __attribute__((always_inline)) void one() {
    lanes rows[8];
    rows[0] = *(const lanes_in_memory*)(in + 0);
    rows[1] = *(const lanes_in_memory*)(in + 210);
    rows[2] = *(const lanes_in_memory*)(in + 420);
    rows[3] = *(const lanes_in_memory*)(in + 630);
    rows[4] = *(const lanes_in_memory*)(in + 840);
    rows[5] = *(const lanes_in_memory*)(in + 1050);
    rows[6] = *(const lanes_in_memory*)(in + 1260);
    rows[7] = *(const lanes_in_memory*)(in + 1470);
    transpose(rows);
    keep<0>(out + 0, rows[0]);
    keep<0>(out + 48, rows[1]);
    keep<0>(out + 96, rows[2]);
    keep<0>(out + 144, rows[3]);
    keep<0>(out + 192, rows[4]);
    keep<0>(out + 240, rows[5]);
    keep<0>(out + 288, rows[6]);
    keep<0>(out + 336, rows[7]);
    in += 8, out += 384;
    if ((column_at += 8) < 16) return;
    column_at = 0;
    in += 1664, out += -760;
    if ((row_at += 8) < 32) return;
    row_at = 0;
    ++outer;
  }
  inline __attribute__((always_inline)) void beside_two_lines() {
    if (more && ++beat % 2 == 0) one();
  }
  inline __attribute__((always_inline)) void finish() {
    while (more && outer < 1) one();
  }
};

// Part of a line.
static inline __attribute__((always_inline)) void write_part(u32* to, const u32* from, i64 count) {
  if (count & 8) __builtin_memcpy(to, from, 32), to += 8, from += 8;
  if (count & 4) __builtin_memcpy(to, from, 16), to += 4, from += 4;
  if (count & 2) __builtin_memcpy(to, from, 8), to += 2, from += 2;
  if (count & 1) __builtin_memcpy(to, from, 4), to += 1, from += 1;
}

// A line whose first n elements were carried over from the tile before.
typedef i32 numbers __attribute__((ext_vector_type(8)));
static inline __attribute__((always_inline)) void complete(u32* to, const u32* from, const u32* waiting, i64 n) {
  const numbers number = {0, 1, 2, 3, 4, 5, 6, 7};
  const out_lanes held0 = *(const out_lanes*)(waiting + 0), more0 = *(const out_lanes_in_memory*)(from + 0);
  __builtin_nontemporal_store(number < (i32)(n - 0) ? held0 : more0, (out_lanes*)(to + 0));
  const out_lanes held8 = *(const out_lanes*)(waiting + 8), more8 = *(const out_lanes_in_memory*)(from + 8);
  __builtin_nontemporal_store(number < (i32)(n - 8) ? held8 : more8, (out_lanes*)(to + 8));
}

// Nontemporal stores, except for the ends that later tiles complete.
static inline __attribute__((always_inline)) void write_run(u32* to, const u32* from, i64 count, Prefetch& prefetch, TileReader& reader, u32* waiting, bool begun, bool goes_on) {
  i64 i = 0;
  if ((u64)to % 64 != 0) {
    const i64 room = 16 - (u64)to % 64 / 4;
    i = room < count ? room : count;
    if (begun) complete(to - (16 - room), from - (16 - room), waiting, 16 - room);
    else write_part(to, from, i);
  }
  const i64 before = i;
  #pragma clang loop unroll(disable)
  for (; i + 32 <= count; i += 32) {
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 0), (out_lanes*)(to + i + 0));
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 8), (out_lanes*)(to + i + 8));
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 16), (out_lanes*)(to + i + 16));
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 24), (out_lanes*)(to + i + 24));
    prefetch.request();
    prefetch.request();
    reader.beside_two_lines();
  }
  if (i + 16 <= count) {
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 0), (out_lanes*)(to + i + 0));
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 8), (out_lanes*)(to + i + 8));
    prefetch.request();
    i += 16;
  }
  if (i < count && goes_on) __builtin_memcpy_inline(waiting, from + i, 64);
  else if (i < count) write_part(to + i, from + i, count - i);
  for (i64 lines = (i - before) / 16; lines < 3; ++lines) prefetch.request();
}

extern "C" void u32_abc_to_cba_150x3x70(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const u32* const A_base = (const u32*)args[0];
  u32* const B_base = (u32*)args[1];
  u32 (* __restrict__ const kept)[784] = (u32 (*)[784])((u32*)scratch + 16);
  u32* __restrict__ const waiting = (u32*)scratch + 1568;  // carried lines
  if (first >= last) return;
  // Where a tile begins in A.
  const auto begin = [&](i64 tile) {
    const i64 c0_at = 16 * (tile % 5);
    const i64 c0 = c0_at < 54 ? c0_at : 54;
    const i64 a0_at = 32 * (tile / 5 % 5);
    const i64 a0 = a0_at < 118 ? a0_at : 118;
    const i64 b = tile / 25;
    return A_base + (c0 + 70 * b + 210 * a0);
  };
  Prefetch prefetch(begin(first));
  for (i64 tile = first - 1; tile < last; ++tile) {
    const i64 after = tile + 1 < last ? tile + 1 : last - 1;
    TileReader reader = {begin(after), kept[(tile + 1) & 1], tile + 1 < last};
    if (tile < first) {
      reader.finish();
      continue;
    }
    if (const i64 at = after % 5; at % 2 == 0) {
      const i64 next = after + (at + 2 < 5 ? 2 : 5 - at);
      prefetch = Prefetch(begin(next < last ? next : last - 1));
    }
    const i64 c0_at = 16 * (tile % 5);
    const i64 c0 = c0_at < 54 ? c0_at : 54;
    const i64 a0_at = 32 * (tile / 5 % 5);
    const i64 a0 = a0_at < 118 ? a0_at : 118;
    const i64 b = tile / 25;
    u32* __restrict__ const B = B_base + (450 * c0 + 150 * b + a0);
    // write B along a
    {
      const i64 along = tile / 5 % 5;
      const bool begun = along > 0 && along < 4 && tile - 5 >= first;
      const bool goes_on = along + 1 < 4 && tile + 5 < last;
      const i64 a = 0;
      for (i64 c = 0; c < 16; ++c) {
        write_run(B + 450 * c + a, kept[tile & 1] + 48 * c + a, 32, prefetch, reader, waiting + 16 * (tile % 5 * 16 + c), begun, goes_on);
      }
    }
    reader.finish();
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
