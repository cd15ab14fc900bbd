// u8_abc_to_cba_50x7x90        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index c = 90
//            index b = 7
//            index a = 50
//            input A : u8 [0..31499] align 16
//            output B : u8 [0..31499] align 16
//            B[350*c + 50*b + a] = A[c + 90*b + 630*a]
// extents    c=90 b=7 a=50
// plan       cpu_row_packing: reads of 16 B, writes of 32 B, 5120 B shared, 12 tiles
// traffic    63000 B (read 31500, write 31500)
// index      32 bits: largest offset 31499
// schedule   cpu_row_packing
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_row_packing.case
static const i32 rows_ahead[] = {0, 90, 630, 720, 1260, 1350, 1890, 1980, 2520, 2610, 3150, 3240, 3780, 3870, 4410, 4500, 5040, 5130, 5670, 5760, 6300, 6390, 6930, 7020, 7560, 7650, 8190, 8280, 8820, 8910, 9450, 9540, 10080, 10170, 10710, 10800, 11340, 11430, 11970, 12060, 12600, 12690, 13230, 13320, 13860, 13950, 14490, 14580, 15120, 15210, 15750, 15840, 16380, 16470, 17010, 17100, 17640, 17730, 18270, 18360, 18900, 18990, 19530, 19620, 20160, 20250, 20790, 20880, 21420, 21510, 22050, 22140, 22680, 22770, 23310, 23400, 23940, 24030, 24570, 24660, 25200, 25290, 25830, 25920, 26460, 26550, 27090, 27180, 27720, 27810, 28350, 28440, 28980, 29070, 29610, 29700, 30240, 30330, 30870, 30960};

// Of the next task: read A along c, piece by piece, while this one stores.
struct ReadAhead {
  const u8* A;
  u8* kept;
  bool more;  // whether there is a next task
  i64 piece = 0, beat = 0;
  inline __attribute__((always_inline)) void one() {
    const i64 b = piece / 2;
    const i64 row_at = 32 * (piece % 2);
    #pragma clang loop unroll(disable) vectorize(disable)
    for (i64 column_at = 0; column_at < 40; column_at += 16) {
      const i64 column = column_at < 24 ? column_at : 24;
      const i64 row = row_at < 18 ? row_at : 18;
      u8x32 rows[16];
      rows[0] = join(*(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row), *(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 10080LL));
      rows[1] = join(*(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 630LL), *(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 10710LL));
      rows[2] = join(*(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 1260LL), *(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 11340LL));
      rows[3] = join(*(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 1890LL), *(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 11970LL));
      rows[4] = join(*(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 2520LL), *(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 12600LL));
      rows[5] = join(*(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 3150LL), *(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 13230LL));
      rows[6] = join(*(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 3780LL), *(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 13860LL));
      rows[7] = join(*(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 4410LL), *(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 14490LL));
      rows[8] = join(*(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 5040LL), *(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 15120LL));
      rows[9] = join(*(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 5670LL), *(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 15750LL));
      rows[10] = join(*(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 6300LL), *(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 16380LL));
      rows[11] = join(*(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 6930LL), *(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 17010LL));
      rows[12] = join(*(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 7560LL), *(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 17640LL));
      rows[13] = join(*(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 8190LL), *(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 18270LL));
      rows[14] = join(*(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 8820LL), *(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 18900LL));
      rows[15] = join(*(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 9450LL), *(const u8x16_in_memory*)(A + 90LL * b + column + 630LL * row + 19530LL));
      transpose<u8, 16>(rows);
      *(u8x32_in_memory*)(kept + 50LL * b + 128LL * column + row) = rows[0];
      *(u8x32_in_memory*)(kept + 50LL * b + 128LL * column + row + 128LL) = rows[1];
      *(u8x32_in_memory*)(kept + 50LL * b + 128LL * column + row + 256LL) = rows[2];
      *(u8x32_in_memory*)(kept + 50LL * b + 128LL * column + row + 384LL) = rows[3];
      *(u8x32_in_memory*)(kept + 50LL * b + 128LL * column + row + 512LL) = rows[4];
      *(u8x32_in_memory*)(kept + 50LL * b + 128LL * column + row + 640LL) = rows[5];
      *(u8x32_in_memory*)(kept + 50LL * b + 128LL * column + row + 768LL) = rows[6];
      *(u8x32_in_memory*)(kept + 50LL * b + 128LL * column + row + 896LL) = rows[7];
      *(u8x32_in_memory*)(kept + 50LL * b + 128LL * column + row + 1024LL) = rows[8];
      *(u8x32_in_memory*)(kept + 50LL * b + 128LL * column + row + 1152LL) = rows[9];
      *(u8x32_in_memory*)(kept + 50LL * b + 128LL * column + row + 1280LL) = rows[10];
      *(u8x32_in_memory*)(kept + 50LL * b + 128LL * column + row + 1408LL) = rows[11];
      *(u8x32_in_memory*)(kept + 50LL * b + 128LL * column + row + 1536LL) = rows[12];
      *(u8x32_in_memory*)(kept + 50LL * b + 128LL * column + row + 1664LL) = rows[13];
      *(u8x32_in_memory*)(kept + 50LL * b + 128LL * column + row + 1792LL) = rows[14];
      *(u8x32_in_memory*)(kept + 50LL * b + 128LL * column + row + 1920LL) = rows[15];
    }
    ++piece;
  }
  inline __attribute__((always_inline)) void two_lines() {
    if (more && ++beat % 8 == 0) one();
  }
  inline __attribute__((always_inline)) void finish() {
    while (more && piece < 4) one();
  }
};

extern "C" void u8_abc_to_cba_50x7x90(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const u8* __restrict__ const A = (const u8*)args[0];
  u8* __restrict__ const B = (u8*)args[1];
  u8* __restrict__ const kept_places = (u8*)(scratch + 0);
  if (first >= last) return;
  // Where a task begins in A.
  const auto begin_A = [&](i64 task) {
    const i64 b_tile = task / 3;
    const i64 c_tile = task % 3;
    const i64 c0 = 40LL * c_tile < 50 ? 40LL * c_tile : 50;
    const i64 b0 = 2LL * b_tile < 5 ? 2LL * b_tile : 5;
    return A + c0 + 90LL * b0;
  };
  // Where a task begins in B.
  const auto begin_B = [&](i64 task) {
    const i64 b_tile = task / 3;
    const i64 c_tile = task % 3;
    const i64 c0 = 40LL * c_tile < 50 ? 40LL * c_tile : 50;
    const i64 b0 = 2LL * b_tile < 5 ? 2LL * b_tile : 5;
    return B + 350LL * c0 + 50LL * b0;
  };
  for (i64 task = first - 1; task < last; ++task) {
    const i64 after = task + 1 < last ? task + 1 : last - 1;
    ReadAhead reader = {begin_A(after), kept_places + ((task + 1) & 1) * 5184, task + 1 < last};
    if (task >= first) {
      RowsAhead<rows_ahead, 40, u8> ahead(begin_A(after + 3 < last ? after + 3 : last - 1));
      const i64 next = begin_B(after) - begin_B(task);
      const i64 b_tile = task / 3;
      const i64 c_tile = task % 3;
      u8* __restrict__ const kept = kept_places + (task & 1) * 5184;
      const i64 c0 = 40LL * c_tile < 50 ? 40LL * c_tile : 50;
      const i64 b0 = 2LL * b_tile < 5 ? 2LL * b_tile : 5;
      // write B along a
      {
        for (i64 c = 0; c < 40; ++c) {
          prefetch_ends(B + 350LL * c + 350LL * c0 + 50LL * b0 + next, 100);
          write_run<u8x32, 5>(B + 350LL * c + 350LL * c0 + 50LL * b0, kept + 128LL * c, 100, ahead, reader);
        }
      }
    }
    reader.finish();
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
