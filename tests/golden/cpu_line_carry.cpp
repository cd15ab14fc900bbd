// u32_abc_to_cba_150x3x70        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index c = 70
//            index b = 3
//            index a = 150
//            input A : u32 [0..31499] align 16
//            output B : u32 [0..31499] align 16
//            B[450*c + 150*b + a] = A[c + 70*b + 210*a]
// extents    c=70 b=3 a=150
// plan       cpu_line_carry: reads of 32 B, writes of 32 B, 3008 B shared, 75 tiles
// traffic    252000 B (read 126000, write 126000)
// index      32 bits: largest offset 31499
// schedule   cpu_line_carry
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_line_carry.case
static const i32 rows_ahead[] = {0, 210, 420, 630, 840, 1050, 1260, 1470, 1680, 1890, 2100, 2310, 2520, 2730, 2940, 3150, 3360, 3570, 3780, 3990, 4200, 4410, 4620, 4830, 5040, 5250, 5460, 5670, 5880, 6090, 6300, 6510};

// Of the next task: read A along c, piece by piece, while this one stores.
struct ReadAhead {
  const u32* A;
  u32* kept;
  bool more;  // whether there is a next task
  i64 piece = 0, beat = 0;
  inline __attribute__((always_inline)) void one() {
    const i64 row = 8 * piece;
    #pragma clang loop unroll(disable) vectorize(disable)
    for (i64 column = 0; column < 16; column += 8) {
      u32x8 rows[8];
      rows[0] = *(const u32x8_in_memory*)(A + column + 210LL * row);
      rows[1] = *(const u32x8_in_memory*)(A + column + 210LL * row + 210LL);
      rows[2] = *(const u32x8_in_memory*)(A + column + 210LL * row + 420LL);
      rows[3] = *(const u32x8_in_memory*)(A + column + 210LL * row + 630LL);
      rows[4] = *(const u32x8_in_memory*)(A + column + 210LL * row + 840LL);
      rows[5] = *(const u32x8_in_memory*)(A + column + 210LL * row + 1050LL);
      rows[6] = *(const u32x8_in_memory*)(A + column + 210LL * row + 1260LL);
      rows[7] = *(const u32x8_in_memory*)(A + column + 210LL * row + 1470LL);
      transpose<u32, 8>(rows);
      *(u32x8_in_memory*)(kept + 48LL * column + row + 16LL) = rows[0];
      *(u32x8_in_memory*)(kept + 48LL * column + row + 64LL) = rows[1];
      *(u32x8_in_memory*)(kept + 48LL * column + row + 112LL) = rows[2];
      *(u32x8_in_memory*)(kept + 48LL * column + row + 160LL) = rows[3];
      *(u32x8_in_memory*)(kept + 48LL * column + row + 208LL) = rows[4];
      *(u32x8_in_memory*)(kept + 48LL * column + row + 256LL) = rows[5];
      *(u32x8_in_memory*)(kept + 48LL * column + row + 304LL) = rows[6];
      *(u32x8_in_memory*)(kept + 48LL * column + row + 352LL) = rows[7];
    }
    ++piece;
  }
  inline __attribute__((always_inline)) void two_lines() {
    if (more && ++beat % 4 == 0) one();
  }
  inline __attribute__((always_inline)) void finish() {
    while (more && piece < 4) one();
  }
};

extern "C" void u32_abc_to_cba_150x3x70(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const u32* __restrict__ const A = (const u32*)args[0];
  u32* __restrict__ const B = (u32*)args[1];
  u32* __restrict__ const kept_places = (u32*)(scratch + 0);
  u32* __restrict__ const waiting = (u32*)(scratch + 6272);
  if (first >= last) return;
  // Where a task begins in A.
  const auto begin_A = [&](i64 task) {
    const i64 b = task / 25;
    const i64 a_tile = task / 5 % 5;
    const i64 c_tile = task % 5;
    const i64 c0 = 16LL * c_tile < 54 ? 16LL * c_tile : 54;
    const i64 a0 = 32LL * a_tile < 118 ? 32LL * a_tile : 118;
    return A + 70LL * b + c0 + 210LL * a0;
  };
  RowsAhead<rows_ahead, 128, u32> ahead(begin_A(first));
  for (i64 task = first - 1; task < last; ++task) {
    const i64 after = task + 1 < last ? task + 1 : last - 1;
    ReadAhead reader = {begin_A(after), kept_places + ((task + 1) & 1) * 784, task + 1 < last};
    if (task >= first) {
      if (const i64 at = (after + 4) % 5; at % 2 == 0) {
        const i64 next = (after + 4) + (at + 2 < 5 ? 2 : 5 - at);
        ahead = begin_A(next < last ? next : last - 1);
      }
      const i64 b = task / 25;
      const i64 a_tile = task / 5 % 5;
      const i64 c_tile = task % 5;
      u32* __restrict__ const kept = kept_places + (task & 1) * 784;
      const i64 c0 = 16LL * c_tile < 54 ? 16LL * c_tile : 54;
      const i64 a0 = 32LL * a_tile < 118 ? 32LL * a_tile : 118;
      // write B along a
      {
        for (i64 c = 0; c < 16; ++c) {
          write_run<u32x8, 3>(B + 150LL * b + 450LL * c + 450LL * c0 + a0, kept + 48LL * c + 16LL, 32, ahead, reader, waiting + 16LL * c + 256LL * c_tile, a_tile > 0 && a_tile < 4 && task - 5 >= first, a_tile + 1 < 4 && task + 5 < last);
        }
      }
    }
    reader.finish();
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
