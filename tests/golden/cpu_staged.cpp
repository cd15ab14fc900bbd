// u16_abc_to_cba_50x7x90        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index c = 90
//            index b = 7
//            index a = 50
//            input A : u16 [0..31499] align 16
//            output B : u16 [0..31499] align 16
//            B[350*c + 50*b + a] = A[c + 90*b + 630*a]
// extents    c=90 b=7 a=50
// plan       cpu_staged: reads of 32 B, writes of 32 B, 9216 B shared, 16 tiles
// traffic    126000 B (read 63000, write 63000)
// index      32 bits: largest offset 31499
// schedule   cpu_staged
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_staged.case
static const i32 rows_ahead[] = {0, 90, 630, 720, 1260, 1350, 1890, 1980, 2520, 2610, 3150, 3240, 3780, 3870, 4410, 4500, 5040, 5130, 5670, 5760, 6300, 6390, 6930, 7020, 7560, 7650, 8190, 8280, 8820, 8910, 9450, 9540, 10080, 10170, 10710, 10800, 11340, 11430, 11970, 12060, 12600, 12690, 13230, 13320, 13860, 13950, 14490, 14580, 15120, 15210, 15750, 15840, 16380, 16470, 17010, 17100, 17640, 17730, 18270, 18360, 18900, 18990, 19530, 19620};

// Of the next task: read A along c, piece by piece, while this one stores.
struct ReadAhead {
  const u16* A;
  u16* kept;
  bool more;  // whether there is a next task
  i64 piece = 0, beat = 0;
  inline __attribute__((always_inline)) void one() {
    const i64 b = piece / 6;
    const i64 row = 16 * (piece / 3 % 2);
    const i64 column = 16 * (piece % 3);
    u16x16 rows[16];
    rows[0] = *(const u16x16_in_memory*)(A + 90LL * b + column + 630LL * row);
    rows[1] = *(const u16x16_in_memory*)(A + 90LL * b + column + 630LL * row + 630LL);
    rows[2] = *(const u16x16_in_memory*)(A + 90LL * b + column + 630LL * row + 1260LL);
    rows[3] = *(const u16x16_in_memory*)(A + 90LL * b + column + 630LL * row + 1890LL);
    rows[4] = *(const u16x16_in_memory*)(A + 90LL * b + column + 630LL * row + 2520LL);
    rows[5] = *(const u16x16_in_memory*)(A + 90LL * b + column + 630LL * row + 3150LL);
    rows[6] = *(const u16x16_in_memory*)(A + 90LL * b + column + 630LL * row + 3780LL);
    rows[7] = *(const u16x16_in_memory*)(A + 90LL * b + column + 630LL * row + 4410LL);
    rows[8] = *(const u16x16_in_memory*)(A + 90LL * b + column + 630LL * row + 5040LL);
    rows[9] = *(const u16x16_in_memory*)(A + 90LL * b + column + 630LL * row + 5670LL);
    rows[10] = *(const u16x16_in_memory*)(A + 90LL * b + column + 630LL * row + 6300LL);
    rows[11] = *(const u16x16_in_memory*)(A + 90LL * b + column + 630LL * row + 6930LL);
    rows[12] = *(const u16x16_in_memory*)(A + 90LL * b + column + 630LL * row + 7560LL);
    rows[13] = *(const u16x16_in_memory*)(A + 90LL * b + column + 630LL * row + 8190LL);
    rows[14] = *(const u16x16_in_memory*)(A + 90LL * b + column + 630LL * row + 8820LL);
    rows[15] = *(const u16x16_in_memory*)(A + 90LL * b + column + 630LL * row + 9450LL);
    transpose<u16, 16>(rows);
    *(u16x16_in_memory*)(kept + 32LL * b + 96LL * column + row) = rows[0];
    *(u16x16_in_memory*)(kept + 32LL * b + 96LL * column + row + 96LL) = rows[1];
    *(u16x16_in_memory*)(kept + 32LL * b + 96LL * column + row + 192LL) = rows[2];
    *(u16x16_in_memory*)(kept + 32LL * b + 96LL * column + row + 288LL) = rows[3];
    *(u16x16_in_memory*)(kept + 32LL * b + 96LL * column + row + 384LL) = rows[4];
    *(u16x16_in_memory*)(kept + 32LL * b + 96LL * column + row + 480LL) = rows[5];
    *(u16x16_in_memory*)(kept + 32LL * b + 96LL * column + row + 576LL) = rows[6];
    *(u16x16_in_memory*)(kept + 32LL * b + 96LL * column + row + 672LL) = rows[7];
    *(u16x16_in_memory*)(kept + 32LL * b + 96LL * column + row + 768LL) = rows[8];
    *(u16x16_in_memory*)(kept + 32LL * b + 96LL * column + row + 864LL) = rows[9];
    *(u16x16_in_memory*)(kept + 32LL * b + 96LL * column + row + 960LL) = rows[10];
    *(u16x16_in_memory*)(kept + 32LL * b + 96LL * column + row + 1056LL) = rows[11];
    *(u16x16_in_memory*)(kept + 32LL * b + 96LL * column + row + 1152LL) = rows[12];
    *(u16x16_in_memory*)(kept + 32LL * b + 96LL * column + row + 1248LL) = rows[13];
    *(u16x16_in_memory*)(kept + 32LL * b + 96LL * column + row + 1344LL) = rows[14];
    *(u16x16_in_memory*)(kept + 32LL * b + 96LL * column + row + 1440LL) = rows[15];
    ++piece;
  }
  inline __attribute__((always_inline)) void two_lines() {
    if (more && ++beat % 4 == 0) one();
  }
  inline __attribute__((always_inline)) void finish() {
    while (more && piece < 12) one();
  }
};

extern "C" void u16_abc_to_cba_50x7x90(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const u16* __restrict__ const A = (const u16*)args[0];
  u16* __restrict__ const B = (u16*)args[1];
  u16* __restrict__ const kept_places = (u16*)(scratch + 0);
  if (first >= last) return;
  // Where a task begins in A.
  const auto begin_A = [&](i64 task) {
    const i64 a_tile = task / 8;
    const i64 b_tile = task / 2 % 4;
    const i64 c_tile = task % 2;
    const i64 c0 = 48LL * c_tile < 42 ? 48LL * c_tile : 42;
    const i64 b0 = 2LL * b_tile < 5 ? 2LL * b_tile : 5;
    const i64 a0 = 32LL * a_tile < 18 ? 32LL * a_tile : 18;
    return A + c0 + 90LL * b0 + 630LL * a0;
  };
  // Where a task begins in B.
  const auto begin_B = [&](i64 task) {
    const i64 a_tile = task / 8;
    const i64 b_tile = task / 2 % 4;
    const i64 c_tile = task % 2;
    const i64 c0 = 48LL * c_tile < 42 ? 48LL * c_tile : 42;
    const i64 b0 = 2LL * b_tile < 5 ? 2LL * b_tile : 5;
    const i64 a0 = 32LL * a_tile < 18 ? 32LL * a_tile : 18;
    return B + 350LL * c0 + 50LL * b0 + a0;
  };
  for (i64 task = first - 1; task < last; ++task) {
    const i64 after = task + 1 < last ? task + 1 : last - 1;
    ReadAhead reader = {begin_A(after), kept_places + ((task + 1) & 1) * 4640, task + 1 < last};
    if (task >= first) {
      RowsAhead<rows_ahead, 96, u16> ahead(begin_A(after + 3 < last ? after + 3 : last - 1));
      const i64 next = begin_B(after) - begin_B(task);
      const i64 a_tile = task / 8;
      const i64 b_tile = task / 2 % 4;
      const i64 c_tile = task % 2;
      u16* __restrict__ const kept = kept_places + (task & 1) * 4640;
      const i64 c0 = 48LL * c_tile < 42 ? 48LL * c_tile : 42;
      const i64 b0 = 2LL * b_tile < 5 ? 2LL * b_tile : 5;
      const i64 a0 = 32LL * a_tile < 18 ? 32LL * a_tile : 18;
      // write B along a
      {
        for (i64 c = 0; c < 48; ++c) {
          for (i64 b = 0; b < 2; ++b) {
            prefetch_ends(B + 350LL * c + 50LL * b + 350LL * c0 + 50LL * b0 + a0 + next, 32);
            write_run<u16x16, 2>(B + 350LL * c + 50LL * b + 350LL * c0 + 50LL * b0 + a0, kept + 96LL * c + 32LL * b, 32, ahead, reader);
          }
        }
      }
    }
    reader.finish();
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
