// Work that gets the stack it needs, on whatever thread it is called.
#include "ir/own_stack.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "ricci/error.hpp"
#include "small_stack.hpp"

namespace own_stack_test {

using namespace ricci;

namespace {

constexpr std::size_t kFrame = 4096;

/// Calls itself `levels` times, with 4 KB of stack each.
int deep(int levels) {
  volatile char room[kFrame];
  room[0] = static_cast<char>(levels);
  room[kFrame - 1] = room[0];
  return levels == 0 ? 0 : deep(levels - 1) + (room[kFrame - 1] == room[0] ? 1 : 0);
}

}  // namespace

TEST_CASE("work runs where there is stack for it, else on a thread of its own") {
  const auto here = std::this_thread::get_id();
  CHECK(on_stack_of(1000, [&] { return std::this_thread::get_id() == here; }));
  CHECK_FALSE(on_stack_of(std::size_t{1} << 28, [&] { return std::this_thread::get_id() == here; }));
  CHECK(on_stack_of(std::size_t{1} << 28, [&] { return deep(50000); }) == 50000);
}

TEST_CASE("a thread of 64 KB calls itself as deep as it asks for") {
  int reached = 0;
  bool stayed = false, small = false;
  tests::on_small_stack([&] {
    small = free_stack() > 0 && free_stack() < tests::kSmallStack;
    reached = on_stack_of(stack_for(2000), [] { return deep(2000); });
    // What is there already is used again.
    on_stack_of(stack_for(100), [&] {
      const auto here = std::this_thread::get_id();
      stayed = on_stack_of(stack_for(50), [&] { return std::this_thread::get_id() == here; });
    });
  });
  CHECK(small);
  CHECK(reached == 2000);
  CHECK(stayed);
}

TEST_CASE("the first thread has what the system says of its stack, or all that is asked for") {
  pthread_attr_t attributes;
  REQUIRE(pthread_getattr_np(pthread_self(), &attributes) == 0);
  void* low = nullptr;
  std::size_t bytes = 0;
  REQUIRE(pthread_attr_getstack(&attributes, &low, &bytes) == 0);
  pthread_attr_destroy(&attributes);
  const auto said =
      static_cast<std::size_t>(static_cast<const char*>(__builtin_frame_address(0)) - static_cast<const char*>(low));
  constexpr std::size_t kEnough = std::size_t{32} << 20, kPages = 16384;
  CHECK(free_stack() <= said);
  CHECK(free_stack() + kPages >= std::min(said, kEnough));
}

TEST_CASE("exceptions and results pass from one stack to the other") {
  CHECK_THROWS_AS(on_stack_of(std::size_t{1} << 28, []() -> int { throw ShapeError("there"); }), ShapeError);
  CHECK_THROWS_AS(run_on_stack(std::size_t{1} << 28, [] { throw std::out_of_range("there"); }), std::out_of_range);
  struct Pinned {  // no default, no copy
    explicit Pinned(int n) : value(n) {}
    Pinned(Pinned&&) = default;
    int value;
  };
  CHECK(on_stack_of(std::size_t{1} << 28, [] { return Pinned(7); }).value == 7);
}

TEST_CASE("a stack that the system does not give is an error with its size") {
  CHECK_THROWS_WITH(run_on_stack(std::size_t{1} << 60, [] {}),
                    Catch::Matchers::StartsWith("no thread with a stack of 1152921504606846976 bytes"));
}

}  // namespace own_stack_test
