// Copies by tensor maps: hardware moves a box of a tensor to shared memory by itself. One thread starts it, and a counter
// in shared memory tells when all bytes of a phase have come. Boxes begin at multiples of 128 bytes; what is outside of
// the tensor is 0, and counts.

struct alignas(128) TensorMap {
  u64 words[16];
};

inline u32 place_of(const void* shared) { return (u32)__cvta_generic_to_shared(shared); }
// By one thread, for the first phase of each; others use them behind a barrier.
inline void begin_counters(u64* counters, int count) {
  for (int k = 0; k < count; ++k)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(place_of(counters + k)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// What maps say is fetched.
inline void fetch_map(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" :: "l"((u64)map) : "memory");
}
// By one thread, once a phase.
inline void expect_bytes(u64* counter, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(place_of(counter)), "r"(bytes)
               : "memory");
}
// Until the counter is in no phase of that parity.
inline void await_bytes(u64* counter, int parity) {
  u32 over = 0;
  while (over == 0)
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(over) : "r"(place_of(counter)), "r"(parity) : "memory");
}
#define RICCI_COPY_BOX(dimensions, numbers, ...)                                                             \
  if constexpr (sizeof...(at) == dimensions)                                                                 \
    asm volatile("cp.async.bulk.tensor." #dimensions                                                         \
                 "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" numbers "}], [%2];" \
                 :: "r"(place_of(shared)), "l"((u64)map), "r"(place_of(counter)), __VA_ARGS__ : "memory")
template <class... Coordinates>
inline void copy_box(void* shared, const TensorMap* map, u64* counter, Coordinates... at) {
  const int x[] = {(int)at...};
  RICCI_COPY_BOX(1, "%3", "r"(x[0]));
  RICCI_COPY_BOX(2, "%3, %4", "r"(x[0]), "r"(x[1]));
  RICCI_COPY_BOX(3, "%3, %4, %5", "r"(x[0]), "r"(x[1]), "r"(x[2]));
  RICCI_COPY_BOX(4, "%3, %4, %5, %6", "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]));
  RICCI_COPY_BOX(5, "%3, %4, %5, %6, %7", "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]));
}
#undef RICCI_COPY_BOX
