// Copies from global to shared memory that go on while the thread does. What a thread has copied is there for it once
// it has waited for the copy's group, and for other threads after the barrier that follows. Both addresses are
// multiples of Bytes. 16 bytes pass by the first-level cache.

// Where `wanted`, copies where `valid`, else zeros: `global` may then be any address. Where nothing is wanted, both may
// be any. No branch: other instructions pass between. What is a literal leaves nothing of itself in the instructions.
template <int Bytes>
inline void copy_async_or_zero_if(void* shared, const void* global, bool valid, bool wanted) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "an asynchronous copy moves 4, 8 or 16 bytes");
  const u32 to = (u32)__cvta_generic_to_shared(shared);
  const u32 read = valid ? (u32)Bytes : 0u;
  if (Bytes == 16)
    asm volatile("{.reg .pred p; setp.ne.u32 p, %3, 0; @p cp.async.cg.shared.global [%0], [%1], 16, %2;}"
                 :: "r"(to), "l"(global), "r"(read), "r"((u32)wanted) : "memory");
  else
    asm volatile("{.reg .pred p; setp.ne.u32 p, %3, 0; @p cp.async.ca.shared.global [%0], [%1], %4, %2;}"
                 :: "r"(to), "l"(global), "r"(read), "r"((u32)wanted), "n"(Bytes) : "memory");
}
template <int Bytes>
inline void copy_async_or_zero(void* shared, const void* global, bool valid) {
  copy_async_or_zero_if<Bytes>(shared, global, valid, true);
}
template <int Bytes>
inline void copy_async_if(void* shared, const void* global, bool wanted) {
  copy_async_or_zero_if<Bytes>(shared, global, true, wanted);
}
template <int Bytes>
inline void copy_async(void* shared, const void* global) { copy_async_or_zero_if<Bytes>(shared, global, true, true); }

// Neighbours that are read soon, to the second cache: their address and Bytes are multiples of 16.
template <int Bytes>
inline void prefetch_run(const void* run) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" :: "l"(run), "n"(Bytes) : "memory");
#else
  for (int at = 0; at < Bytes; at += 128) asm volatile("prefetch.global.L2 [%0];" :: "l"((const char*)run + at));
#endif
}

// The same number, of which compilers know nothing: what places are made of it is worked out here, and takes no
// registers from where the same was made before. That it is not negative its quotients say, which are unsigned: an
// assumption for each would be looked up from all that follows, in most of NVRTC's time where there are many.
inline int anew(int number) {
  asm volatile("" : "+r"(number));
  return number;
}

// Ends a group: the thread's copies since the last one, or none.
inline void commit_async() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most Groups of the thread's last groups are under way.
template <int Groups>
inline void wait_async() { asm volatile("cp.async.wait_group %0;" :: "n"(Groups) : "memory"); }
