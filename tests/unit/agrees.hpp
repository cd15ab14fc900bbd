// Whether a function that Ricci declares itself is the one of its owner's header.
#pragma once

#include <type_traits>

namespace ricci::tests {

// Two function types agree when each argument and result has the same size and kind; handles are pointers to unknown
// structures on both sides, enumerations are the integers that we declare.
template <typename T>
struct Plain {
  using type = std::conditional_t<std::is_pointer_v<T>, void*, T>;
};
template <typename T>
  requires std::is_enum_v<T>
struct Plain<T> {
  using type = int;
};
template <typename Ours, typename Theirs>
struct Agrees : std::false_type {};
template <typename R, typename... A, typename S, typename... B>
struct Agrees<R (*)(A...), S (*)(B...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(A) != sizeof...(B)) {
      return false;
    } else {
      return std::is_same_v<typename Plain<R>::type, typename Plain<S>::type> &&
             (std::is_same_v<typename Plain<A>::type, typename Plain<B>::type> && ...);
    }
  }();
};

}  // namespace ricci::tests
