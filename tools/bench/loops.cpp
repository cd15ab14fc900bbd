#include "bench/loops.hpp"

#include <algorithm>
#include <functional>
#include <thread>

#include "runtime/host_copy.hpp"

namespace ricci::tools {
namespace {

/// body(first, last) on equal parts of [0, n).
void in_parts(std::int64_t n, int threads, const std::function<void(std::int64_t, std::int64_t)>& body) {
  std::vector<std::thread> others;
  for (int k = 1; k < threads; ++k) others.emplace_back([&, k] { body(n * k / threads, n * (k + 1) / threads); });
  body(0, n / threads);
  for (auto& thread : others) thread.join();
}

template <class T>
void blocked(T* to, const T* from, const std::vector<std::int64_t>& extents,
             const std::vector<std::int64_t>& to_strides, const std::vector<std::int64_t>& from_strides, int threads) {
  const auto rank = extents.size();
  const std::size_t written = rank - 1;
  std::size_t read = written;
  for (std::size_t k = 0; k < rank; ++k) {
    if (from_strides[k] == 1) read = k;
  }
  constexpr std::int64_t kBlock = 32;
  std::vector<std::int64_t> counts = extents;
  for (const auto k : {read, written}) counts[k] = (extents[k] + kBlock - 1) / kBlock;
  std::int64_t blocks = 1;
  for (const auto n : counts) blocks *= n;
  in_parts(blocks, threads, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t block = first; block < last; ++block) {
      auto rest = block;
      const T* a = from;
      T* b = to;
      std::int64_t origin[2] = {0, 0};
      for (std::size_t k = rank; k-- > 0;) {
        auto value = rest % counts[k];
        rest /= counts[k];
        if (k == read || k == written) value *= kBlock;
        if (k == read) origin[0] = value;
        if (k == written) origin[1] = value;
        a += value * from_strides[k];
        b += value * to_strides[k];
      }
      const auto rows = read == written ? 1 : std::min(kBlock, extents[read] - origin[0]);
      const auto columns = std::min(kBlock, extents[written] - origin[1]);
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
          b[i * to_strides[read] + j * to_strides[written]] = a[i * from_strides[read] + j * from_strides[written]];
        }
      }
    }
  });
}

struct Wide {
  std::uint64_t low, high;
};

}  // namespace

void streaming_copy(void* to, const void* from, std::int64_t bytes, int threads) {
  constexpr std::int64_t kLine = 64;
  in_parts((bytes + kLine - 1) / kLine, threads, [&](std::int64_t first, std::int64_t last) {
    runtime::copy_streaming(static_cast<char*>(to) + first * kLine, static_cast<const char*>(from) + first * kLine,
                            std::min(last * kLine, bytes) - first * kLine);
  });
}

void blocked_loops(void* to, const void* from, std::int64_t element_bytes, const std::vector<std::int64_t>& extents,
                   const std::vector<std::int64_t>& to_strides, const std::vector<std::int64_t>& from_strides,
                   int threads) {
  const auto run = [&](auto type) {
    using T = decltype(type);
    blocked(static_cast<T*>(to), static_cast<const T*>(from), extents, to_strides, from_strides, threads);
  };
  switch (element_bytes) {
    case 1:
      return run(std::uint8_t{});
    case 2:
      return run(std::uint16_t{});
    case 4:
      return run(std::uint32_t{});
    case 8:
      return run(std::uint64_t{});
    default:
      return run(Wide{});
  }
}

}  // namespace ricci::tools
