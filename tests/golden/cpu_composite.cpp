// u32_abcde_to_edcba_3x5x7x18x22        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index e = 22
//            index d = 18
//            index c = 7
//            index b = 5
//            index a = 3
//            input A : u32 [0..41579] align 16
//            output B : u32 [0..41579] align 16
//            B[1890*e + 105*d + 15*c + 3*b + a] = A[e + 22*d + 396*c + 2772*b + 13860*a]
// extents    e=22 d=18 c=7 b=5 a=3
// plan       cpu_composite: reads of 64 B, writes of 64 B, 38016 B shared, 8 tiles
// traffic    332640 B (read 166320, write 166320)
// index      32 bits: largest offset 41579
// schedule   cpu_composite
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_composite.case
static const i32 rows_ahead[] = {0, 396, 2772, 3168, 5544, 5940, 8316, 8712, 11088, 11484, 13860, 14256, 16632, 17028, 19404, 19800, 22176, 22572, 24948, 25344, 27720, 28116, 30492, 30888, 33264, 33660, 36036, 36432, 38808, 39204};
static const i32 column_in_kept[] = {0, 432, 864, 1296, 1728, 2160, 2592, 3024, 3456, 3888, 4320, 4752, 5184, 5616, 6048, 6480, 6912, 7344, 7776, 8208, 8640, 9072, 48, 480, 912, 1344, 1776, 2208, 2640, 3072, 3504, 3936, 4368, 4800, 5232, 5664, 6096, 6528, 6960, 7392, 7824, 8256, 8688, 9120, 96, 528, 960, 1392, 1824, 2256, 2688, 3120, 3552, 3984, 4416, 4848, 5280, 5712, 6144, 6576, 7008, 7440, 7872, 8304, 8736, 9168, 144, 576, 1008, 1440, 1872, 2304, 2736, 3168, 3600, 4032, 4464, 4896, 5328, 5760, 6192, 6624, 7056, 7488, 7920, 8352, 8784, 9216, 192, 624, 1056, 1488, 1920, 2352, 2784, 3216, 3648, 4080, 4512, 4944, 5376, 5808, 6240, 6672, 7104, 7536, 7968, 8400, 8832, 9264, 240, 672, 1104, 1536, 1968, 2400, 2832, 3264, 3696, 4128, 4560, 4992, 5424, 5856, 6288, 6720, 7152, 7584, 8016, 8448, 8880, 9312, 288, 720, 1152, 1584, 2016, 2448, 2880, 3312, 3744, 4176, 4608, 5040, 5472, 5904, 6336, 6768, 7200, 7632, 8064, 8496, 8928, 9360, 336, 768, 1200, 1632, 2064, 2496, 2928, 3360, 3792, 4224, 4656, 5088, 5520, 5952, 6384, 6816, 7248, 7680, 8112, 8544, 8976, 9408, 384, 816, 1248, 1680, 2112, 2544, 2976, 3408, 3840, 4272, 4704, 5136, 5568, 6000, 6432, 6864, 7296, 7728, 8160, 8592, 9024, 9456};

// Of the next task: read A along e, piece by piece, while this one stores.
struct ReadAhead {
  const u32* A;
  u32* kept;
  bool more;  // whether there is a next task
  i64 piece = 0, beat = 0;
  inline __attribute__((always_inline)) void one() {
    const i64 c = piece / 13;
    const i64 column_at = 16 * (piece % 13);
    const i64 column = column_at < 182 ? column_at : 182;
    u32x16 rows[16];
    rows[0] = *(const u32x16_in_memory*)(A + 396LL * c + column);
    rows[1] = *(const u32x16_in_memory*)(A + 396LL * c + column + 13860LL);
    rows[2] = *(const u32x16_in_memory*)(A + 396LL * c + column + 27720LL);
    rows[3] = *(const u32x16_in_memory*)(A + 396LL * c + column + 2772LL);
    rows[4] = *(const u32x16_in_memory*)(A + 396LL * c + column + 16632LL);
    rows[5] = *(const u32x16_in_memory*)(A + 396LL * c + column + 30492LL);
    rows[6] = *(const u32x16_in_memory*)(A + 396LL * c + column + 5544LL);
    rows[7] = *(const u32x16_in_memory*)(A + 396LL * c + column + 19404LL);
    rows[8] = *(const u32x16_in_memory*)(A + 396LL * c + column + 33264LL);
    rows[9] = *(const u32x16_in_memory*)(A + 396LL * c + column + 8316LL);
    rows[10] = *(const u32x16_in_memory*)(A + 396LL * c + column + 22176LL);
    rows[11] = *(const u32x16_in_memory*)(A + 396LL * c + column + 36036LL);
    rows[12] = *(const u32x16_in_memory*)(A + 396LL * c + column + 11088LL);
    rows[13] = *(const u32x16_in_memory*)(A + 396LL * c + column + 24948LL);
    rows[14] = *(const u32x16_in_memory*)(A + 396LL * c + column + 38808LL);
    transpose<u32, 15>(rows);
    store_part<15>(kept + 15LL * c + column_in_kept[column], rows[0]);
    store_part<15>(kept + 15LL * c + column_in_kept[column + 1], rows[1]);
    store_part<15>(kept + 15LL * c + column_in_kept[column + 2], rows[2]);
    store_part<15>(kept + 15LL * c + column_in_kept[column + 3], rows[3]);
    store_part<15>(kept + 15LL * c + column_in_kept[column + 4], rows[4]);
    store_part<15>(kept + 15LL * c + column_in_kept[column + 5], rows[5]);
    store_part<15>(kept + 15LL * c + column_in_kept[column + 6], rows[6]);
    store_part<15>(kept + 15LL * c + column_in_kept[column + 7], rows[7]);
    store_part<15>(kept + 15LL * c + column_in_kept[column + 8], rows[8]);
    store_part<15>(kept + 15LL * c + column_in_kept[column + 9], rows[9]);
    store_part<15>(kept + 15LL * c + column_in_kept[column + 10], rows[10]);
    store_part<15>(kept + 15LL * c + column_in_kept[column + 11], rows[11]);
    store_part<15>(kept + 15LL * c + column_in_kept[column + 12], rows[12]);
    store_part<15>(kept + 15LL * c + column_in_kept[column + 13], rows[13]);
    store_part<15>(kept + 15LL * c + column_in_kept[column + 14], rows[14]);
    store_part<15>(kept + 15LL * c + column_in_kept[column + 15], rows[15]);
    ++piece;
  }
  inline __attribute__((always_inline)) void two_lines() {
    if (more && ++beat % 8 == 0) one();
  }
  inline __attribute__((always_inline)) void finish() {
    while (more && piece < 26) one();
  }
};

extern "C" void u32_abcde_to_edcba_3x5x7x18x22(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const u32* __restrict__ const A = (const u32*)args[0];
  u32* __restrict__ const B = (u32*)args[1];
  u32* __restrict__ const kept_places = (u32*)(scratch + 0);
  if (first >= last) return;
  // Where a task begins in A.
  const auto begin_A = [&](i64 task) {
    const i64 c_tile = task / 2;
    const i64 d_tile = task % 2;
    const i64 d0 = 9LL * d_tile;
    const i64 c0 = 2LL * c_tile < 5 ? 2LL * c_tile : 5;
    return A + 22LL * d0 + 396LL * c0;
  };
  // Where a task begins in B.
  const auto begin_B = [&](i64 task) {
    const i64 c_tile = task / 2;
    const i64 d_tile = task % 2;
    const i64 d0 = 9LL * d_tile;
    const i64 c0 = 2LL * c_tile < 5 ? 2LL * c_tile : 5;
    return B + 105LL * d0 + 15LL * c0;
  };
  for (i64 task = first - 1; task < last; ++task) {
    const i64 after = task + 1 < last ? task + 1 : last - 1;
    ReadAhead reader = {begin_A(after), kept_places + ((task + 1) & 1) * 9520, task + 1 < last};
    if (task >= first) {
      RowsAhead<rows_ahead, 792, u32> ahead(begin_A(after + 1 < last ? after + 1 : last - 1));
      const i64 next = begin_B(after) - begin_B(task);
      const i64 c_tile = task / 2;
      const i64 d_tile = task % 2;
      u32* __restrict__ const kept = kept_places + (task & 1) * 9520;
      const i64 d0 = 9LL * d_tile;
      const i64 c0 = 2LL * c_tile < 5 ? 2LL * c_tile : 5;
      // write B along a
      {
        for (i64 e = 0; e < 22; ++e) {
          for (i64 d = 0; d < 9; ++d) {
            prefetch_ends(B + 1890LL * e + 105LL * d + 105LL * d0 + 15LL * c0 + next, 30);
            write_run<u32x16, 3>(B + 1890LL * e + 105LL * d + 105LL * d0 + 15LL * c0, kept + 432LL * e + 48LL * d, 30, ahead, reader);
          }
        }
      }
    }
    reader.finish();
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
