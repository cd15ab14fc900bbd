// u64_abc_to_bac_30x20x45        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    B[1350 * b + 45 * a + c] = A[45 * b + 900 * a + c]
// extents    b=20 a=30 c=45
// plan       cpu_staged_rows: reads of 8 B, writes of 64 B, 44720 B shared, 5 tiles
// traffic    432000 B (read 216000, write 216000)
// index      32 bits: largest offset 26999
// schedule   cpu_staged_rows
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_staged_rows.case
typedef u64 out_lanes __attribute__((ext_vector_type(8)));
typedef out_lanes out_lanes_in_memory __attribute__((aligned(8), may_alias));

// The input of a tile: rows of 5400 elements, prefetched line by line.
static const i32 next_row[] = {0};
struct Prefetch {
  const u64* next;
  i64 row;
  u64 at, end;
  inline __attribute__((always_inline)) Prefetch(const u64* next) : next(next), row(-1), at(0), end(0) {
  }
  inline __attribute__((always_inline)) void request() {
    if (at >= end) {
      if (row == 0) return;
      const u64 first = (u64)(next + next_row[++row]);
      at = first & -64, end = first + 43200;
    }
    __builtin_prefetch((const void*)at, 0, 2);
    at += 64;
  }
};

// Storing part of a line reads the line first: prefetch the lines that a run shares with others.
static inline __attribute__((always_inline)) void prefetch_ends(const u64* run, i64 count) {
  if ((u64)run % 64 != 0) __builtin_prefetch(run, 1, 3);
  if ((u64)(run + count) % 64 != 0) __builtin_prefetch(run + count - 1, 1, 3);
}

// Reads the next tile into its array, a few rows for each two lines written of the current tile.
struct TileReader {
  const u64* from;
  u64* to;
  bool more;  // whether there is a next tile
  const u64* in = from;
  u64* out = to;
  i64 outer = 0, row_at = 0, column_at = 0, beat = 0;
  inline __attribute__((always_inline)) void one() {
    const i64 c = 0;
    for (i64 a = 0; a < 6; ++a) {
      for (i64 b = 0; b < 20; ++b) {
        for (i64 i = 0; i < 320; i += 64) __builtin_memcpy_inline((char*)(to + 280 * b + 45 * a + c) + i, (const char*)(from + 45 * b + 900 * a + c) + i, 64);
        __builtin_memcpy_inline((char*)(to + 280 * b + 45 * a + c) + 320, (const char*)(from + 45 * b + 900 * a + c) + 320, 40);
      }
    }
    ++outer;
  }
  inline __attribute__((always_inline)) void beside_two_lines() {
    if (more && ++beat % 338 == 0) one();
  }
  inline __attribute__((always_inline)) void finish() {
    while (more && outer < 1) one();
  }
};

#ifdef __AVX512BW__
typedef long long word;
typedef u8 mask;
typedef word words __attribute__((vector_size(64)));
typedef words words_in_memory __attribute__((aligned(1), may_alias));
#endif
// Part of a line.
static inline __attribute__((always_inline)) void write_part(u64* to, const u64* from, i64 count) {
  #ifdef __AVX512BW__
  const words_in_memory* const line = (const words_in_memory*)from;
  if (count > 0) __builtin_ia32_storedqudi512_mask((word*)to, *line, (mask)~0ull >> (8 - 1 * count));
  #else
  if (count & 4) __builtin_memcpy(to, from, 32), to += 4, from += 4;
  if (count & 2) __builtin_memcpy(to, from, 16), to += 2, from += 2;
  if (count & 1) __builtin_memcpy(to, from, 8), to += 1, from += 1;
  #endif
}

// Nontemporal stores, except for the ends.
static inline __attribute__((always_inline)) void write_run(u64* to, const u64* from, i64 count, Prefetch& prefetch, TileReader& reader) {
  // Complex numbers may be aligned to half their size: then no line begins with one.
  if ((u64)to % 8 != 0) {
    for (i64 i = 0; i < count; ++i) to[i] = from[i];
    return;
  }
  i64 i = 0;
  if ((u64)to % 64 != 0) {
    const i64 room = 8 - (u64)to % 64 / 8;
    i = room < count ? room : count;
    write_part(to, from, i);
  }
  const i64 before = i;
  #pragma clang loop unroll(disable)
  for (; i + 16 <= count; i += 16) {
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 0), (out_lanes*)(to + i + 0));
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 8), (out_lanes*)(to + i + 8));
    prefetch.request();
    prefetch.request();
    reader.beside_two_lines();
  }
  if (i + 8 <= count) {
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 0), (out_lanes*)(to + i + 0));
    prefetch.request();
    i += 8;
  }
  if (i < count) write_part(to + i, from + i, count - i);
  for (i64 lines = (i - before) / 8; lines < 34; ++lines) prefetch.request();
}

extern "C" void u64_abc_to_bac_30x20x45(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const u64* const A_base = (const u64*)args[0];
  u64* const B_base = (u64*)args[1];
  u64 (* __restrict__ const kept)[5600] = (u64 (*)[5600])((u64*)scratch);
  if (first >= last) return;
  // Where a tile begins in A.
  const auto begin = [&](i64 tile) {
    const i64 a0 = 6 * (tile);
    return A_base + (900 * a0);
  };
  // Where a tile begins in B.
  const auto begin_in_output = [&](i64 tile) {
    const i64 a0 = 6 * (tile);
    return B_base + (45 * a0);
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
    const i64 a0 = 6 * (tile);
    u64* __restrict__ const B = B_base + (45 * a0);
    // write B along c
    {
      const i64 c = 0;
      const i64 a = 0;
      for (i64 b = 0; b < 20; ++b) {
        prefetch_ends(B + 1350 * b + 45 * a + c + next, 270);
        write_run(B + 1350 * b + 45 * a + c, kept[tile & 1] + 280 * b + 45 * a + c, 270, prefetch, reader);
      }
    }
    reader.finish();
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
