// Blocks of a cluster, which run at the same time on neighbouring multiprocessors and read each other's shared memory.

// An array in shared memory as the block of that number in the cluster has it.
template <class T>
inline const T* of_block(const T* shared, int block) {
  u64 there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(shared), "r"(block));
  return (const T*)there;
}
// Of all threads of all blocks: what they have written to shared memory is there for each of them.
inline void barrier_of_cluster() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
