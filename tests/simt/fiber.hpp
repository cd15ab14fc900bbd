// Threads of a simulated block: stacks, and the switch between them.
#pragma once

#include <cstddef>
#include <vector>

namespace ricci::simt {

/// Saves the caller's registers and stack pointer in `*from` and goes on where `to` was saved.
extern "C" void ricci_simt_switch(void** from, void* to);

/// Stacks with a guard page each, made when first asked for and kept for the next block.
class FiberStacks {
 public:
  static constexpr std::size_t kBytes = 128 * 1024;
  static constexpr std::size_t kMost = 8 * 1024;  // the threads of a cluster

  FiberStacks();  ///< throws std::bad_alloc when there is no address space
  ~FiberStacks();
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;

  /// A stack on which `entry` starts at the first switch to `*sp`. `entry` must not return.
  int start(void (*entry)(), void** sp);
  void release(int stack);  ///< its contents are dropped
  void release_all();
  bool contains(std::size_t address) const { return address - begin_ < kBytes * kMost; }

 private:
  std::size_t begin_ = 0;
  int made_ = 0;
  std::vector<int> free_;
};

}  // namespace ricci::simt
