// f64_abc_to_cba_60x5x50        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index c = 50
//            index b = 5
//            index a = 60
//            input A : f64 [0..14999] align 16
//            output B : f64 [0..14999] align 16
//            B[300*c + 60*b + a] = add(A[c + 50*b + 250*a], B[300*c + 60*b + a])
// extents    c=50 b=5 a=60
// plan       cpu_ragged: reads of 64 B, writes of 64 B, 20 tiles
// traffic    360000 B (read 240000, write 120000)
// index      32 bits: largest offset 14999
// schedule   cpu_ragged
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_ragged.case
extern "C" void f64_abc_to_cba_60x5x50(void* const* args, i64 first, i64 last)
{
  const double* __restrict__ const A = (const double*)args[0];
  double* __restrict__ const B = (double*)args[1];
  for (i64 task = first; task < last; ++task) {
    const i64 b = task / 4;
    const i64 c_tile = task / 2 % 2;
    const i64 a_tile = task % 2;
    const i64 a0 = 32LL * a_tile;
    const i64 c0 = 32LL * c_tile;
    const i64 a_end = a0 + 32LL < 60 ? a0 + 32LL : 60;
    const i64 c_end = c0 + 32LL < 50 ? c0 + 32LL : 50;
    #pragma clang loop unroll(disable) vectorize(disable)
    for (i64 c_at = c0; c_at < c_end; c_at += 8) {
      #pragma clang loop unroll(disable) vectorize(disable)
      for (i64 a_at = a0; a_at < a_end; a_at += 8) {
        if (c_at + 8LL <= c_end && a_at + 8LL <= a_end) {
          f64x8 rows[8];
          rows[0] = *(const f64x8_in_memory*)(A + 50LL * b + c_at + 250LL * a_at);
          rows[1] = *(const f64x8_in_memory*)(A + 50LL * b + c_at + 250LL * a_at + 250LL);
          rows[2] = *(const f64x8_in_memory*)(A + 50LL * b + c_at + 250LL * a_at + 500LL);
          rows[3] = *(const f64x8_in_memory*)(A + 50LL * b + c_at + 250LL * a_at + 750LL);
          rows[4] = *(const f64x8_in_memory*)(A + 50LL * b + c_at + 250LL * a_at + 1000LL);
          rows[5] = *(const f64x8_in_memory*)(A + 50LL * b + c_at + 250LL * a_at + 1250LL);
          rows[6] = *(const f64x8_in_memory*)(A + 50LL * b + c_at + 250LL * a_at + 1500LL);
          rows[7] = *(const f64x8_in_memory*)(A + 50LL * b + c_at + 250LL * a_at + 1750LL);
          transpose<double, 8>(rows);
          #pragma unroll
          for (int r = 0; r < 8; ++r) {
            double in[8];
            *(f64x8_in_memory*)&in[0] = rows[r];
            #pragma clang loop vectorize(assume_safety)
            for (i64 v = 0; v < 8; ++v) {
              B[60LL * b + 300LL * c_at + a_at + 300LL * r + v] = in[v] + B[60LL * b + 300LL * c_at + a_at + 300LL * r + v];
            }
          }
        } else {
          #pragma clang loop unroll(disable) vectorize(disable)
          for (i64 c = c_at; c < c_end && c < c_at + 8LL; ++c) {
            #pragma clang loop unroll(disable) vectorize(disable)
            for (i64 a = a_at; a < a_end && a < a_at + 8LL; ++a) {
              B[300LL * c + 60LL * b + a] = A[c + 50LL * b + 250LL * a] + B[300LL * c + 60LL * b + a];
            }
          }
        }
      }
    }
  }
}
