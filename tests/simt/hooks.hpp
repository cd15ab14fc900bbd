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
  /// Replaces `bytes` (1 to 16) at `value`, on the thread's own stack, by what lane `source` modulo 32 passed.
  void (*shuffle)(void* value, unsigned bytes, unsigned source, unsigned line);
};
}
