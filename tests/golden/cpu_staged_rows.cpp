// u64_abc_to_bac_30x20x45        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    B[1350 * b + 45 * a + c] = A[45 * b + 900 * a + c]
// extents    b=20 a=30 c=45
// plan       cpu_staged_rows: reads of 8 B, writes of 64 B, 44720 B shared, 5 tiles
// traffic    432000 B (read 216000, write 216000)
// index      32 bits: largest offset 26999
// schedule   cpu_staged_rows
// again      RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_staged_rows.case
typedef u64 out_lanes __attribute__((ext_vector_type(8)));
typedef out_lanes out_lanes_in_memory __attribute__((aligned(8), may_alias));

// What the next tile reads: rows of 5400 elements, each asked for line by line.
static const i32 next_row[] = {0};
struct Ahead {
  const u64* next;
  i64 row;
  u64 at, end;
  inline __attribute__((always_inline)) Ahead(const u64* next) : next(next), row(-1), at(0), end(0) {
  }
  inline __attribute__((always_inline)) void ask() {
    if (at >= end) {
      if (row == 0) return;
      const u64 first = (u64)(next + next_row[++row]);
      at = first & -64, end = first + 43200;
    }
    __builtin_prefetch((const void*)at, 0, 3);
    at += 64;
  }
  // What a run asks for beside the lines that it has written whole.
  inline __attribute__((always_inline)) void finish(i64 lines) {
    for (; lines < 34; ++lines) ask();
  }
};

#ifdef __AVX512BW__
typedef long long word;
typedef u8 mask;
typedef word words __attribute__((vector_size(64)));
typedef words words_in_memory __attribute__((aligned(1), may_alias));
#endif
// Fewer elements than a line has.
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

// Past the caches, all but the ends.
static inline __attribute__((always_inline)) void write_run(u64* to, const u64* from, i64 count, Ahead& ahead) {
  // Complex numbers may be aligned to their parts alone: then no line begins with one.
  if ((u64)to % 8 != 0) {
    for (i64 i = 0; i < count; ++i) to[i] = from[i];
    return;
  }
  const i64 room = (-(u64)to & 63) / 8;
  const i64 before = room < count ? room : count;
  write_part(to, from, before);
  i64 i = before;
  #pragma clang loop unroll(disable)
  for (; i + 16 <= count; i += 16) {
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 0), (out_lanes*)(to + i + 0));
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 8), (out_lanes*)(to + i + 8));
    ahead.ask();
    ahead.ask();
  }
  if (i + 8 <= count) {
    __builtin_nontemporal_store(*(const out_lanes_in_memory*)(from + i + 0), (out_lanes*)(to + i + 0));
    ahead.ask();
    i += 8;
  }
  write_part(to + i, from + i, count - i);
  ahead.finish((i - before) / 8);
}

extern "C" void u64_abc_to_bac_30x20x45(void* const* args, i64 first, i64 last)
{
  const u64* const A_base = (const u64*)args[0];
  u64* const B_base = (u64*)args[1];
  for (i64 tile = first; tile < last; ++tile) {
    const u64* next;
    {
      const i64 after = tile + 1 < last ? tile + 1 : tile;
      const i64 tile = after;
      const i64 a0 = 6 * (tile);
      next = A_base + (900 * a0);
    }
    const i64 a0 = 6 * (tile);
    const u64* __restrict__ const A = A_base + (900 * a0);
    u64* __restrict__ const B = B_base + (45 * a0);
    u64 kept[5598] __attribute__((aligned(64)));
    Ahead ahead(next);
    // read A along c
    {
      const i64 c = 0;
      for (i64 a = 0; a < 6; ++a) {
        for (i64 b = 0; b < 20; ++b) {
          for (i64 i = 0; i < 320; i += 64) __builtin_memcpy_inline((char*)(kept + 280 * b + 45 * a + c) + i, (const char*)(A + 45 * b + 900 * a + c) + i, 64);
          __builtin_memcpy_inline((char*)(kept + 280 * b + 45 * a + c) + 320, (const char*)(A + 45 * b + 900 * a + c) + 320, 40);
        }
      }
    }
    // write B along c
    {
      const i64 c = 0;
      const i64 a = 0;
      for (i64 b = 0; b < 20; ++b) {
        write_run(B + 1350 * b + 45 * a + c, kept + 280 * b + 45 * a + c, 270, ahead);
      }
    }
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
