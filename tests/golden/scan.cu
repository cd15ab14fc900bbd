// i32_ab_to_ab_6x5000        made by ricci 0.1.0 for sm_90; do not edit
// problem    index a = 6
//            index b = 5000
//            input A : i32 [0..29999] align 16
//            output B : i32 [0..29999] align 16
//            rounding free
//            B[5000*a] by 1 = scan(sum, b : A[5000*a + b])
// extents    a=6 b=5000
// plan       scan
// traffic    240000 B (read 120000, write 120000)
// index      32 bits: largest offset 29999
// schedule   scan
//            order task a
//            threads 256
//            cooperative 256 items 4
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/scan.case
extern "C" __global__ void __launch_bounds__(256)
i32_ab_to_ab_6x5000(const i32* __restrict__ A, i32* __restrict__ B)
{
  __shared__ __align__(128) i32 parts[16];
  const int a = blockIdx.x;
  const int member = threadIdx.x;
  i32 running = 0;
  const int lane = member % 32;
  const int warp = member / 32;
  #pragma unroll 1
  for (int b0 = 0; b0 < 5000; b0 += 1024) {
    const int parity = opaque(b0) / 1024 % 2;
    const int b_at = 4 * member + b0;
    i32 item[1][4];
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      item[0][v] = 0;
    }
    if (b_at < 5000) {
      const vec<i32, 4> A_items = load<vec<i32, 4>>(A + 5000 * a + b_at);
      #pragma unroll
      for (int v = 0; v < 4; ++v) {
        item[0][v] = A_items.at[v];
      }
    }
    // of the warp's rows so far
    i32 sum = 0;
    #pragma unroll
    for (int v = 1; v < 4; ++v) {
      item[0][v] = add(item[0][v - 1], item[0][v]);
    }
    i32 upto = item[0][3];
    #pragma unroll
    for (int span = 1; span < 32; span *= 2) {
      const i32 below = shuffle_up(upto, span);
      if ((int)(threadIdx.x % 32) >= span) upto = add(below, upto);
    }
    i32 below = shuffle_up(upto, 1);
    if (lane == 0) {
      below = sum;
    } else {
      below = add(sum, below);
    }
    sum = add(sum, shuffle(upto, 31));
    #pragma unroll
    for (int v = 0; v < 4; ++v) {
      item[0][v] = add(below, item[0][v]);
    }
    i32 before = running;
    if (lane == 0) {
      parts[warp + 8 * parity] = sum;
    }
    __syncthreads();
    #pragma unroll
    for (int other = 0; other < 8; ++other) {
      const i32 part = parts[8 * parity + other];
      if (other < warp + 1) {
        before = running;
      }
      running = add(running, part);
    }
    if (b_at < 5000) {
      store(B + 5000 * a + b_at, vec<i32, 4>{add(before, item[0][0]), add(before, item[0][1]), add(before, item[0][2]), add(before, item[0][3])});
    }
  }
}
