// u32_abc_to_cba_50x7x90        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index c = 90
//            index b = 7
//            index a = 50
//            input A : u32 [0..31499] align 16
//            output B : u32 [0..31499] align 16
//            B[350*c + 50*b + a] = A[c + 90*b + 630*a]
// extents    c=90 b=7 a=50
// plan       cpu_staged_prefetch: reads of 32 B, writes of 32 B, 5120 B shared, 48 tiles
// traffic    252000 B (read 126000, write 126000)
// index      32 bits: largest offset 31499
// schedule   cpu_staged_prefetch
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_staged_prefetch.case
static const i32 rows_ahead[] = {0, 90, 630, 720, 1260, 1350, 1890, 1980, 2520, 2610, 3150, 3240, 3780, 3870, 4410, 4500, 5040, 5130, 5670, 5760, 6300, 6390, 6930, 7020, 7560, 7650, 8190, 8280, 8820, 8910, 9450, 9540, 10080, 10170, 10710, 10800, 11340, 11430, 11970, 12060, 12600, 12690, 13230, 13320, 13860, 13950, 14490, 14580, 15120, 15210, 15750, 15840, 16380, 16470, 17010, 17100, 17640, 17730, 18270, 18360, 18900, 18990, 19530, 19620};

// Of the next task: read A along c, piece by piece, while this one stores.
struct ReadAhead {
  const u32* A;
  u32* kept;
  bool more;  // whether there is a next task
  i64 piece = 0, beat = 0;
  inline __attribute__((always_inline)) void one() {
    const i64 b = piece / 4;
    const i64 row = 8 * (piece % 4);
    #pragma clang loop unroll(disable) vectorize(disable)
    for (i64 column = 0; column < 16; column += 8) {
      u32x8 rows[8];
      rows[0] = *(const u32x8_in_memory*)(A + 90LL * b + column + 630LL * row);
      rows[1] = *(const u32x8_in_memory*)(A + 90LL * b + column + 630LL * row + 630LL);
      rows[2] = *(const u32x8_in_memory*)(A + 90LL * b + column + 630LL * row + 1260LL);
      rows[3] = *(const u32x8_in_memory*)(A + 90LL * b + column + 630LL * row + 1890LL);
      rows[4] = *(const u32x8_in_memory*)(A + 90LL * b + column + 630LL * row + 2520LL);
      rows[5] = *(const u32x8_in_memory*)(A + 90LL * b + column + 630LL * row + 3150LL);
      rows[6] = *(const u32x8_in_memory*)(A + 90LL * b + column + 630LL * row + 3780LL);
      rows[7] = *(const u32x8_in_memory*)(A + 90LL * b + column + 630LL * row + 4410LL);
      transpose<u32, 8>(rows);
      *(u32x8_in_memory*)(kept + 32LL * b + 80LL * column + row) = rows[0];
      *(u32x8_in_memory*)(kept + 32LL * b + 80LL * column + row + 80LL) = rows[1];
      *(u32x8_in_memory*)(kept + 32LL * b + 80LL * column + row + 160LL) = rows[2];
      *(u32x8_in_memory*)(kept + 32LL * b + 80LL * column + row + 240LL) = rows[3];
      *(u32x8_in_memory*)(kept + 32LL * b + 80LL * column + row + 320LL) = rows[4];
      *(u32x8_in_memory*)(kept + 32LL * b + 80LL * column + row + 400LL) = rows[5];
      *(u32x8_in_memory*)(kept + 32LL * b + 80LL * column + row + 480LL) = rows[6];
      *(u32x8_in_memory*)(kept + 32LL * b + 80LL * column + row + 560LL) = rows[7];
    }
    ++piece;
  }
  inline __attribute__((always_inline)) void two_lines() {
    if (more && ++beat % 4 == 0) one();
  }
  inline __attribute__((always_inline)) void finish() {
    while (more && piece < 8) one();
  }
};

extern "C" void u32_abc_to_cba_50x7x90(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const u32* __restrict__ const A = (const u32*)args[0];
  u32* __restrict__ const B = (u32*)args[1];
  u32* __restrict__ const kept_places = (u32*)(scratch + 0);
  if (first >= last) return;
  // Where a task begins in A.
  const auto begin_A = [&](i64 task) {
    const i64 a_tile = task / 24;
    const i64 b_tile = task / 6 % 4;
    const i64 c_tile = task % 6;
    const i64 c0 = 16LL * c_tile < 74 ? 16LL * c_tile : 74;
    const i64 b0 = 2LL * b_tile < 5 ? 2LL * b_tile : 5;
    const i64 a0 = 32LL * a_tile < 18 ? 32LL * a_tile : 18;
    return A + c0 + 90LL * b0 + 630LL * a0;
  };
  RowsAhead<rows_ahead, 256, u32> ahead(begin_A(first));
  // Where a task begins in B.
  const auto begin_B = [&](i64 task) {
    const i64 a_tile = task / 24;
    const i64 b_tile = task / 6 % 4;
    const i64 c_tile = task % 6;
    const i64 c0 = 16LL * c_tile < 74 ? 16LL * c_tile : 74;
    const i64 b0 = 2LL * b_tile < 5 ? 2LL * b_tile : 5;
    const i64 a0 = 32LL * a_tile < 18 ? 32LL * a_tile : 18;
    return B + 350LL * c0 + 50LL * b0 + a0;
  };
  for (i64 task = first - 1; task < last; ++task) {
    const i64 after = task + 1 < last ? task + 1 : last - 1;
    ReadAhead reader = {begin_A(after), kept_places + ((task + 1) & 1) * 1296, task + 1 < last};
    if (task >= first) {
      if (const i64 at = (after + 1) % 6; at % 4 == 0) {
        const i64 next = (after + 1) + (at + 4 < 6 ? 4 : 6 - at);
        ahead = begin_A(next < last ? next : last - 1);
      }
      const i64 next = begin_B(after) - begin_B(task);
      const i64 a_tile = task / 24;
      const i64 b_tile = task / 6 % 4;
      const i64 c_tile = task % 6;
      u32* __restrict__ const kept = kept_places + (task & 1) * 1296;
      const i64 c0 = 16LL * c_tile < 74 ? 16LL * c_tile : 74;
      const i64 b0 = 2LL * b_tile < 5 ? 2LL * b_tile : 5;
      const i64 a0 = 32LL * a_tile < 18 ? 32LL * a_tile : 18;
      // write B along a
      {
        for (i64 c = 0; c < 16; ++c) {
          for (i64 b = 0; b < 2; ++b) {
            prefetch_ends(B + 350LL * c + 50LL * b + 350LL * c0 + 50LL * b0 + a0 + next, 32);
            write_run<u32x8, 3>(B + 350LL * c + 50LL * b + 350LL * c0 + 50LL * b0 + a0, kept + 80LL * c + 32LL * b, 32, ahead, reader);
          }
        }
      }
    }
    reader.finish();
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
