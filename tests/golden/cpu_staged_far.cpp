// u64_abc_to_cba_48x6x96        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index c = 96
//            index b = 6
//            index a = 48
//            input A : u64 [0..27647] align 16
//            output B : u64 [0..27647] align 16
//            B[288*c + 48*b + a] = A[c + 96*b + 576*a]
// extents    c=96 b=6 a=48
// plan       cpu_staged_far: reads of 16 B, writes of 64 B, 3520 B shared, 72 tiles
// traffic    442368 B (read 221184, write 221184)
// index      32 bits: largest offset 27647
// schedule   cpu_staged_far
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_staged_far.case
static const i32 rows_ahead[] = {0, 576, 1152, 1728, 2304, 2880, 3456, 4032, 4608, 5184, 5760, 6336, 6912, 7488, 8064, 8640, 9216, 9792, 10368, 10944, 11520, 12096, 12672, 13248, 13824, 14400, 14976, 15552, 16128, 16704, 17280, 17856, 18432, 19008, 19584, 20160, 20736, 21312, 21888, 22464, 23040, 23616, 24192, 24768, 25344, 25920, 26496, 27072};

// Of the next task: read A along c, piece by piece, while this one stores.
struct ReadAhead {
  const u64* A;
  u64* kept;
  bool more;  // whether there is a next task
  i64 piece = 0, beat = 0;
  inline __attribute__((always_inline)) void one() {
    #pragma unroll
    for (int column = 0; column < 8; column += 2) {
      u64x8 rows[2];
      rows[0] = join(join(*(const u64x2_in_memory*)(A + column), *(const u64x2_in_memory*)(A + column + 1152LL)), join(*(const u64x2_in_memory*)(A + column + 2304LL), *(const u64x2_in_memory*)(A + column + 3456LL)));
      rows[1] = join(join(*(const u64x2_in_memory*)(A + column + 576LL), *(const u64x2_in_memory*)(A + column + 1728LL)), join(*(const u64x2_in_memory*)(A + column + 2880LL), *(const u64x2_in_memory*)(A + column + 4032LL)));
      transpose<u64, 2>(rows);
      *(u64x8_in_memory*)(kept + 56LL * column) = rows[0];
      *(u64x8_in_memory*)(kept + 56LL * column + 56LL) = rows[1];
    }
    A += piece % 2 == 0 ? 13824 : -9216, kept += piece % 2 == 0 ? 24 : -16;
    ++piece;
  }
  inline __attribute__((always_inline)) void two_lines() {
    if (more && ++beat % 4 == 0) one();
  }
  inline __attribute__((always_inline)) void finish() {
    while (more && piece < 6) one();
  }
};

extern "C" void u64_abc_to_cba_48x6x96(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const u64* __restrict__ const A = (const u64*)args[0];
  u64* __restrict__ const B = (u64*)args[1];
  u64* __restrict__ const kept_places = (u64*)(scratch + 0);
  if (first >= last) return;
  // Where a task begins in A.
  const auto begin_A = [&](i64 task) {
    const i64 b = task / 12;
    const i64 c_tile = task % 12;
    const i64 c0 = 8LL * c_tile;
    return A + 96LL * b + c0;
  };
  RowsAhead<rows_ahead, 384, u64> ahead(begin_A(first));
  for (i64 task = first - 1; task < last; ++task) {
    const i64 after = task + 1 < last ? task + 1 : last - 1;
    ReadAhead reader = {begin_A(after), kept_places + ((task + 1) & 1) * 448, task + 1 < last};
    if (task >= first) {
      if (const i64 at = (after + 2); at % 6 == 0) {
        const i64 next = (after + 2) + 6;
        ahead = begin_A(next < last ? next : last - 1);
      }
      const i64 b = task / 12;
      const i64 c_tile = task % 12;
      u64* __restrict__ const kept = kept_places + (task & 1) * 448;
      const i64 c0 = 8LL * c_tile;
      // write B along a
      {
        for (i64 c = 0; c < 8; ++c) {
          write_run<u64x8, 6>(B + 48LL * b + 288LL * c + 288LL * c0, kept + 56LL * c, 48, ahead, reader);
        }
      }
    }
    reader.finish();
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
