#include "fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

#if !defined(__x86_64__)
#error \
    "tests/simt/fiber.cpp: the fiber switch is written for x86-64; add ricci_simt_switch and start() for this processor"
#endif

#if defined(RICCI_SANITIZED)
// No frames on the heap, by which uses of a stack after a return are found: their owner is a thread, and fibers that
// are dropped leave theirs in use, so that each next one is searched for longer (nine tenths of fuzz.contraction_simt).
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_stack_use_after_return=0"; }
#endif

namespace ricci::simt {

// The six registers that a called function must preserve, then the return address.
asm(R"(
.text
.globl ricci_simt_switch
.hidden ricci_simt_switch
.type ricci_simt_switch, @function
ricci_simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size ricci_simt_switch, .-ricci_simt_switch
)");

FiberStacks::FiberStacks() {
  void* memory =
      mmap(nullptr, kBytes * kMost, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  begin_ = reinterpret_cast<std::size_t>(memory);
  free_.reserve(kMost);
}

FiberStacks::~FiberStacks() {
  release_all();
  munmap(reinterpret_cast<void*>(begin_), kBytes * kMost);
}

int FiberStacks::start(void (*entry)(), void** sp) {
  int stack = made_;
  if (free_.empty()) {
    ++made_;
    // Without guard pages an overflow would run into the next stack; the run is still right where this fails.
    (void)mprotect(reinterpret_cast<void*>(begin_ + stack * kBytes), static_cast<std::size_t>(getpagesize()),
                   PROT_NONE);
  } else {
    stack = free_.back();
    free_.pop_back();
  }
  auto* top = reinterpret_cast<std::uint64_t*>(begin_ + (stack + 1) * kBytes);
  *--top = 0;  // where entry's return address would be: aligns its frame as a call does
  *--top = reinterpret_cast<std::uint64_t>(entry);
  for (int i = 0; i < 6; ++i) *--top = 0;
  *sp = top;
  return stack;
}

void FiberStacks::release(int stack) { free_.push_back(stack); }

void FiberStacks::release_all() {
  free_.clear();
  for (int stack = made_; stack-- > 0;) release(stack);
}

}  // namespace ricci::simt
