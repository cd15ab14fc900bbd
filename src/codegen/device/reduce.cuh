// What several threads add up in memory, in no fixed order: other accesses to the place need a barrier between.
template <class T>
inline void atomic_add(T* p, T x) { atomicAdd(p, x); }
inline void atomic_add(i64* p, i64 x) { atomicAdd(reinterpret_cast<u64*>(p), (u64)x); }
