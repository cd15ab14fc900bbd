// u64_abc_to_bac_30x20x45        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index b = 20
//            index a = 30
//            index c = 45
//            input A : u64 [0..26999] align 16
//            output B : u64 [0..26999] align 16
//            B[1350*b + 45*a + c] = A[45*b + 900*a + c]
// extents    b=20 a=30 c=45
// plan       cpu_staged_rows: reads of 8 B, writes of 64 B, 44720 B shared, 5 tiles
// traffic    432000 B (read 216000, write 216000)
// index      32 bits: largest offset 26999
// schedule   cpu_staged_rows
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_staged_rows.case
static const i32 rows_ahead[] = {0};

// Of the next task: read A along c, piece by piece, while this one stores.
struct ReadAhead {
  const u64* A;
  u64* kept;
  bool more;  // whether there is a next task
  i64 piece = 0;
  inline __attribute__((always_inline)) void one() {
    for (i64 a = 0; a < 6; ++a) {
      for (i64 b = 0; b < 20; ++b) {
        copy_run<45>(kept + 280LL * b + 45LL * a, A + 45LL * b + 900LL * a);
      }
    }
    ++piece;
  }
  inline __attribute__((always_inline)) void two_lines() {
  }
  inline __attribute__((always_inline)) void finish() {
    while (more && piece < 1) one();
  }
};

extern "C" void u64_abc_to_bac_30x20x45(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const u64* __restrict__ const A = (const u64*)args[0];
  u64* __restrict__ const B = (u64*)args[1];
  u64* __restrict__ const kept_places = (u64*)(scratch + 0);
  if (first >= last) return;
  // Where a task begins in A.
  const auto begin_A = [&](i64 task) {
    const i64 a_tile = task;
    const i64 a0 = 6LL * a_tile;
    return A + 900LL * a0;
  };
  // Where a task begins in B.
  const auto begin_B = [&](i64 task) {
    const i64 a_tile = task;
    const i64 a0 = 6LL * a_tile;
    return B + 45LL * a0;
  };
  for (i64 task = first - 1; task < last; ++task) {
    const i64 after = task + 1 < last ? task + 1 : last - 1;
    ReadAhead reader = {begin_A(after), kept_places + ((task + 1) & 1) * 5600, task + 1 < last};
    if (task >= first) {
      RowsAhead<rows_ahead, 43200, u64> ahead(begin_A(after + 1 < last ? after + 1 : last - 1));
      const i64 next = begin_B(after) - begin_B(task);
      const i64 a_tile = task;
      u64* __restrict__ const kept = kept_places + (task & 1) * 5600;
      const i64 a0 = 6LL * a_tile;
      // write B along c
      {
        for (i64 b = 0; b < 20; ++b) {
          prefetch_ends(B + 1350LL * b + 45LL * a0 + next, 270);
          write_run<u64x8, 34>(B + 1350LL * b + 45LL * a0, kept + 280LL * b, 270, ahead, reader);
        }
      }
    }
    reader.finish();
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
