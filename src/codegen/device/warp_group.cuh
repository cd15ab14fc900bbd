// Products by the four warps of a group, which go on while their threads do: operands lie in shared memory, the first
// one perhaps in registers, where the sums are. Which lane holds which of them is in src/kernel/atoms.hpp, how operands
// lie in src/kernel/warp_group.hpp.

// An operand whose rows are of RowBytes bytes, eight to a block: from `start` on, a multiple of 16 bytes in an array at
// a multiple of 1024. `leading` bytes from a row to the next one of the same depth, where rows run along the operand's
// side; `stride` bytes from a block to the next.
template <int RowBytes>
inline u64 shared_matrix(const void* start, int leading, int stride) {
  const u64 swizzle = RowBytes == 128 ? 1 : RowBytes == 64 ? 2 : 3;
  const u32 address = (u32)__cvta_generic_to_shared(start);
  return (u64)((address & 0x3ffff) >> 4) | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 | swizzle << 62;
}
// What the thread has written to shared memory is seen by products behind the barrier that follows.
inline void fence_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Compilers let registers be as they are here: what is before stays before, what is behind stays behind.
inline void hold(f32& x) { asm volatile("" : "+f"(x) :: "memory"); }
inline void hold(u32& x) { asm volatile("" : "+r"(x) :: "memory"); }
inline void hold(i32& x) { asm volatile("" : "+r"(x) :: "memory"); }
template <class T, int N>
inline void hold(T (&registers)[N]) {
#pragma unroll
  for (int k = 0; k < N; ++k) hold(registers[k]);
}
// What the thread has written to its sums, or to what it holds of a factor, is seen by its products that follow. That of
// a factor must stay until they are waited for.
template <class Registers>
inline void fence_registers(Registers& registers) {
  hold(registers);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
// Ends a group: the products since the last one.
inline void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits until at most Groups of the last groups are under way; none adds to these sums behind a wait for all.
template <int Groups, class Sums>
inline void wait_products(Sums& sums) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(Groups) : "memory");
  hold(sums);
}
