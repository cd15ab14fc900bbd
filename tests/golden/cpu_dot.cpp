// bf16_f32_ab_bc_to_ac_32x31x32        made by ricci 0.1.0 for x86-64-v4; do not edit
// problem    index a = 32
//            index c = 32
//            index b = 31
//            input A : bf16 [0..991] align 16
//            input B : bf16 [0..991] align 16
//            output C : f32 [0..1023] align 16
//            rounding free
//            C[32*a + c] = sum(b : mul(f32(A[31*a + b]), f32(B[c + 32*b])))
// extents    a=32 c=32 b=31
// plan       cpu_dot
// traffic    8064 B (read 3968, write 4096)
// index      32 bits: largest offset 1023
// schedule   cpu_dot
//            tile c:16
//            tile a:4
//            tile b:16:2
//            order task c0 a0 serial b0
//            stage B at b0 scratch b1 c b
//            stage A at b0 scratch b1 a b
//            atom dot rows a columns c depth b1 b lanes 16
// reproduce  RICCI_ACCEPT=1 ctest -R golden, from tests/golden/cpu_dot.case
extern "C" void bf16_f32_ab_bc_to_ac_32x31x32(void* const* args, i64 first, i64 last, char* __restrict__ scratch)
{
  const bf16* __restrict__ const A = (const bf16*)args[0];
  const bf16* __restrict__ const B = (const bf16*)args[1];
  float* __restrict__ const C = (float*)args[2];
  bf16* __restrict__ const B_packed = (bf16*)(scratch + 0);
  bf16* __restrict__ const A_packed = (bf16*)(scratch + 512);
  for (i64 task = first; task < last; ++task) {
    const i64 c0 = task / 8;
    const i64 a0 = task % 8;
    for (i64 b0 = 0; b0 < 2; ++b0) {
      bf16x16 B_packed_none[1] = {};
      for (i64 b1 = 0; b1 < 8; ++b1) {
        if (16LL * b0 + 2LL * b1 + 1LL < 31) {
          *(bf16x32_in_memory*)(B_packed + 32LL * b1) = interleave((*(const bf16x16_in_memory*)(B + 16LL * c0 + 512LL * b0 + 64LL * b1)), (*(const bf16x16_in_memory*)(B + 16LL * c0 + 512LL * b0 + 64LL * b1 + 32LL)));
        } else {
          if (16LL * b0 + 2LL * b1 < 31) {
            *(bf16x32_in_memory*)(B_packed + 32LL * b1) = interleave((*(const bf16x16_in_memory*)(B + 16LL * c0 + 512LL * b0 + 64LL * b1)), B_packed_none[0]);
          } else {
            for (i64 c = 0; c < 16; ++c) {
              *(bf16x2_in_memory*)(B_packed + 32LL * b1 + 2LL * c) = bf16{}.bits;
            }
          }
        }
      }
      if (16LL * b0 + 15LL < 31) {
        {
          bf16x32 A_packed_rows[4];
          #pragma unroll
          for (int u = 0; u < 4; ++u) {
            A_packed_rows[u] = load_part<bf16x32, 16>(A + 124LL * a0 + 16LL * b0 + 31LL * u);
          }
          transpose<u32, 4>(A_packed_rows);
          *(bf16x8_in_memory*)(A_packed) = part_of<bf16, 0, 8>(A_packed_rows[0]);
          *(bf16x8_in_memory*)(A_packed + 8) = part_of<bf16, 0, 8>(A_packed_rows[1]);
          *(bf16x8_in_memory*)(A_packed + 16) = part_of<bf16, 0, 8>(A_packed_rows[2]);
          *(bf16x8_in_memory*)(A_packed + 24) = part_of<bf16, 0, 8>(A_packed_rows[3]);
          *(bf16x8_in_memory*)(A_packed + 32) = part_of<bf16, 8, 8>(A_packed_rows[0]);
          *(bf16x8_in_memory*)(A_packed + 40) = part_of<bf16, 8, 8>(A_packed_rows[1]);
          *(bf16x8_in_memory*)(A_packed + 48) = part_of<bf16, 8, 8>(A_packed_rows[2]);
          *(bf16x8_in_memory*)(A_packed + 56) = part_of<bf16, 8, 8>(A_packed_rows[3]);
        }
      } else {
        if (16LL * b0 < 31) {
          {
            bf16x32 A_packed_rows[4];
            #pragma unroll
            for (int u = 0; u < 4; ++u) {
              A_packed_rows[u] = load_part<bf16x32, 15>(A + 124LL * a0 + 16LL * b0 + 31LL * u);
            }
            transpose<u32, 4>(A_packed_rows);
            *(bf16x8_in_memory*)(A_packed) = part_of<bf16, 0, 8>(A_packed_rows[0]);
            *(bf16x8_in_memory*)(A_packed + 8) = part_of<bf16, 0, 8>(A_packed_rows[1]);
            *(bf16x8_in_memory*)(A_packed + 16) = part_of<bf16, 0, 8>(A_packed_rows[2]);
            *(bf16x8_in_memory*)(A_packed + 24) = part_of<bf16, 0, 8>(A_packed_rows[3]);
            *(bf16x8_in_memory*)(A_packed + 32) = part_of<bf16, 8, 8>(A_packed_rows[0]);
            *(bf16x8_in_memory*)(A_packed + 40) = part_of<bf16, 8, 8>(A_packed_rows[1]);
            *(bf16x8_in_memory*)(A_packed + 48) = part_of<bf16, 8, 8>(A_packed_rows[2]);
            *(bf16x8_in_memory*)(A_packed + 56) = part_of<bf16, 8, 8>(A_packed_rows[3]);
          }
        } else {
          for (i64 b1 = 0; b1 < 8; ++b1) {
            for (i64 a = 0; a < 4; ++a) {
              *(bf16x2_in_memory*)(A_packed + 8LL * b1 + 2LL * a) = bf16{}.bits;
            }
          }
        }
      }
      f32x16 sum[4][1];
      #pragma unroll
      for (int r = 0; r < 4; ++r) {
        sum[r][0] = 0.0f;
      }
      #pragma unroll
      for (int b1 = 0; b1 < 8; ++b1) {
        bf16x2 a_[4];
        bf16x32 b_[1];
        #pragma unroll
        for (int a = 0; a < 4; ++a) {
          a_[a] = *(const bf16x2_in_memory*)(A_packed + 2LL * a + 8LL * b1);
        }
        b_[0] = *(const bf16x32_in_memory*)(B_packed + 32LL * b1);
        #pragma unroll
        for (int a = 0; a < 4; ++a) {
          sum[a][0] = dot(sum[a][0], a_[a], b_[0]);
        }
      }
      if (b0 == 0) {
        #pragma unroll
        for (int a = 0; a < 4; ++a) {
          *(f32x16_in_memory*)(C + 16LL * c0 + 128LL * a0 + 32LL * a) = sum[a][0];
        }
      } else {
        #pragma unroll
        for (int a = 0; a < 4; ++a) {
          *(f32x16_in_memory*)(C + 16LL * c0 + 128LL * a0 + 32LL * a) = *(const f32x16_in_memory*)(C + 16LL * c0 + 128LL * a0 + 32LL * a) + sum[a][0];
        }
      }
    }
  }
}
