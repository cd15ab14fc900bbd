// What a simulated kernel calls. Read twice: by the simulator, and as the first lines of every kernel's text, so it
// includes nothing and uses built-in types alone.
#pragma once

extern "C" {

/// Set by the simulator before the kernel runs. None of these functions returns when the run ends in a fault: the
/// simulator drops the thread's stack.
struct RicciSimtHooks {
  /// 0-2 threadIdx, 3-5 blockIdx, 6-8 blockDim, 9-11 gridDim; x, y, z each.
  unsigned (*coordinate)(unsigned which);
  void (*sync_threads)(unsigned line);
  void (*sync_warp)(unsigned line);
  void (*sync_cluster)(unsigned line);
  /// Where block `block` of the cluster has what the thread's own has at `shared`.
  const void* (*of_block)(const void* shared, unsigned block, unsigned line);
  /// Replaces `bytes` (1 to 16) at `value`, on the thread's own stack, by what lane `source` modulo 32 passed.
  void (*shuffle)(void* value, unsigned bytes, unsigned source, unsigned line);
  /// The two ends of an asynchronous copy of `bytes` (4, 8 or 16), as two accesses. `global` is null where zeros are
  /// copied, which nobody reads.
  void (*copy_async_from)(const void* global, unsigned bytes, unsigned site);
  void (*copy_async_to)(void* shared, const void* global, unsigned bytes, unsigned site);
  void (*commit_async)();
  void (*wait_async)(unsigned groups);
  /// Adds `x`, of the thread's own, to what is at `p`. `number`: 0 f32, 1 f64, 2 an integer of 32 bits, 3 one of 64.
  void (*atomic_add)(void* p, const void* x, unsigned number, unsigned site);
  /// ldmatrix: `count` matrices (1, 2 or 4), one register of the thread's own for each.
  void (*load_matrix)(unsigned* registers, const void* row, unsigned count, bool transposed, unsigned site);
  /// The atom of that name in kernel/atoms.hpp, on the thread's own registers.
  void (*multiply)(const char* atom, void* c, const void* a, const void* b, unsigned line);
  /// Of a warp group: `times` the columns of the atom of that name; a, b: descriptors as shared_matrix makes them.
  void (*multiply_group)(const char* atom, unsigned times, void* sums, unsigned long long a, bool a_transposed,
                         unsigned long long b, bool b_transposed, unsigned site);
  /// The same of `bytes` of A in the thread's own registers at `a`; `rows`: the rows of A that the thread's sums are
  /// of, as registers of its four lanes one after the other, lane by lane.
  void (*multiply_group_held)(const char* atom, unsigned times, void* sums, const void* a, unsigned bytes,
                              const unsigned* rows, unsigned long long b, bool b_transposed, unsigned site);
  /// wgmma.fence after a thread's writes to registers, commit_group and wait_group, and fence.proxy.async.
  void (*fence_registers)(const void* registers, unsigned bytes);
  void (*commit_products)();
  void (*wait_products)(unsigned groups, unsigned line);
  void (*fence_shared)();
  /// tensor_map.cuh: counters, each of one arrival a phase; the two ends of a box of a map (tensor_map.hpp) as two
  /// accesses, at `rank` coordinates.
  void (*begin_counters)(const void* counters, unsigned count, unsigned line);
  void (*expect_bytes)(const void* counter, unsigned bytes, unsigned line);
  void (*await_bytes)(const void* counter, unsigned parity, unsigned line);
  void (*copy_box_from)(const void* map, const int* at, unsigned rank, unsigned site);
  void (*copy_box_to)(void* shared, const void* map, const void* counter, const int* at, unsigned rank, unsigned site);
};
}
