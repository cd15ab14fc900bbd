// i32_ab_to_ab_6x5000        made by ricci 0.1.0 for sm_90; do not edit
// problem    index a = 6
//            index b = 5000
//            input A : i32 [0..29999] align 16
//            output B : i32 [0..29999] align 16
//            rounding free
//            B[5000*a] by 1 = scan(sum, b : A[5000*a + b])
// extents    a=6 b=5000
// plan       scan: accesses of 4 B, 6 tiles
// traffic    240000 B (read 120000, write 120000)
// index      32 bits: largest offset 29999
// schedule   scan
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/scan.case
extern "C" __global__ void __launch_bounds__(256)
i32_ab_to_ab_6x5000(const i32* __restrict__ A, i32* __restrict__ B)
{
  const int member = threadIdx.x;
  const int block = blockIdx.x;
  const int a = block;

  i32 running = 0;
  static __shared__ i32 parts[2][8];
  int parity = 0;
  const int lane = member % 32, warp = member / 32;
  #pragma unroll 1
  for (int b0 = 0; b0 < 5000; b0 += 1024) {
    i32 item[1][4];
    {
      const int b_at = b0 + 128 * warp + 4 * lane;
      vec<i32, 4> A_items = {};
      if (b_at < 5000) A_items = load<vec<i32, 4>>(A + 5000 * a + b_at);
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        const int b = b_at + v;
        item[0][v] = 0;
        if (b_at < 5000) {
          item[0][v] = A_items.at[v];
        }
      }
    }
    i32 sum = 0;  // of the warp's rows so far
    {
      #pragma unroll
      for (int v = 1; v < 4; ++v) item[0][v] = add(item[0][v - 1], item[0][v]);
      i32 upto = item[0][3];  // the lane
      #pragma unroll
      for (int span = 1; span < 32; span *= 2) {
        const i32 below = shuffle_up(upto, span);
        if (lane >= span) upto = add(below, upto);
      }
      i32 below = shuffle_up(upto, 1);
      below = lane == 0 ? sum : (i32)(add(sum, below));
      sum = add(sum, shuffle(upto, 31));
      #pragma unroll
      for (int v = 0; v < 4; ++v) item[0][v] = add(below, item[0][v]);
    }
    i32 before = running;
    if (lane == 0) parts[parity][warp] = sum;
    __syncthreads();
    #pragma unroll
    for (int other = 0; other < 8; ++other) {
      const i32 part = parts[parity][other];
      if (other < warp) before = add(before, part);
      running = add(running, part);
    }
    parity ^= 1;
    {
      const int b_at = b0 + 128 * warp + 4 * lane;
      if (b_at < 5000) {
        vec<i32, 4> out;
        #pragma unroll
        for (int v = 0; v < 4; ++v) out.at[v] = add(before, item[0][v]);
        store(B + 5000 * a + b_at, out);
      }
    }
  }
}
