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
#define RICCI_COPY_BOX(dimensions, coordinates)                                                                  \
  asm volatile("cp.async.bulk.tensor." #dimensions                                                               \
               "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" coordinates "}], [%2];" \
               :: "r"(place_of(shared)), "l"((u64)map), "r"(place_of(counter))
inline void copy_box(void* shared, const TensorMap* map, u64* counter, int a) {
  RICCI_COPY_BOX(1, "%3"), "r"(a) : "memory");
}
inline void copy_box(void* shared, const TensorMap* map, u64* counter, int a, int b) {
  RICCI_COPY_BOX(2, "%3, %4"), "r"(a), "r"(b) : "memory");
}
inline void copy_box(void* shared, const TensorMap* map, u64* counter, int a, int b, int c) {
  RICCI_COPY_BOX(3, "%3, %4, %5"), "r"(a), "r"(b), "r"(c) : "memory");
}
inline void copy_box(void* shared, const TensorMap* map, u64* counter, int a, int b, int c, int d) {
  RICCI_COPY_BOX(4, "%3, %4, %5, %6"), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}
inline void copy_box(void* shared, const TensorMap* map, u64* counter, int a, int b, int c, int d, int e) {
  RICCI_COPY_BOX(5, "%3, %4, %5, %6, %7"), "r"(a), "r"(b), "r"(c), "r"(d), "r"(e) : "memory");
}
#undef RICCI_COPY_BOX
