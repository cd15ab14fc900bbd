// What several threads add up in memory, in no fixed order: other accesses to the place need a barrier between.
inline void atomic_add(f32* p, f32 x) { atomicAdd(p, x); }
inline void atomic_add(f64* p, f64 x) { atomicAdd(p, x); }
inline void atomic_add(i32* p, i32 x) { atomicAdd(p, x); }
inline void atomic_add(u32* p, u32 x) { atomicAdd(p, x); }
inline void atomic_add(i64* p, i64 x) { atomicAdd(reinterpret_cast<u64*>(p), (u64)x); }
inline void atomic_add(u64* p, u64 x) { atomicAdd(p, x); }

// One value of all lanes of a warp, by one instruction; every lane takes part. Sums wrap.
inline i32 warp_sum(i32 x) { return __reduce_add_sync(0xffffffffu, x); }
inline u32 warp_sum(u32 x) { return __reduce_add_sync(0xffffffffu, x); }
inline i32 warp_minimum(i32 x) { return __reduce_min_sync(0xffffffffu, x); }
inline u32 warp_minimum(u32 x) { return __reduce_min_sync(0xffffffffu, x); }
inline i32 warp_maximum(i32 x) { return __reduce_max_sync(0xffffffffu, x); }
inline u32 warp_maximum(u32 x) { return __reduce_max_sync(0xffffffffu, x); }
