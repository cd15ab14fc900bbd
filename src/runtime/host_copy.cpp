#include "runtime/host_copy.hpp"

#include <array>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ricci::runtime {
namespace {

constexpr std::int64_t kLine = 64;

struct Line {
  std::uint64_t words[kLine / 8];
};

/// Fills memory with one word by nontemporal stores where the processor has them; `fence` after the last line.
void write_line(char* to) {
#if defined(__SSE2__)
  for (int part = 0; part < kLine; part += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + part), _mm_set1_epi32(1));
#else
  const Line line{};
  std::memcpy(to, &line, sizeof line);
  asm volatile("" : : : "memory");
#endif
}

void add_line(Line& sum, const char* from) {
  Line line;
  std::memcpy(&line, from, sizeof line);
  for (int w = 0; w < kLine / 8; ++w) sum.words[w] += line.words[w];
}

std::uint64_t all_words(const Line& sum) {
  std::uint64_t all = 0;
  for (const auto word : sum.words) all += word;
  return all;
}

void fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace

void write_streaming(void* to, std::int64_t bytes) {
  auto* b = static_cast<char*>(to);
  for (std::int64_t k = 0; k + kLine <= bytes; k += kLine) write_line(b + k);
  fence();
}

void write_apart(void* to, std::int64_t bytes) {
  constexpr std::int64_t kPage = 4096, kGrouped = 256 * kPage;
  auto* b = static_cast<char*>(to);
  for (std::int64_t first = 0; first + kGrouped <= bytes; first += kGrouped) {
    for (std::int64_t line = 0; line < kPage; line += kLine) {
      for (std::int64_t page = 0; page < kGrouped; page += kPage) write_line(b + first + page + line);
    }
  }
  fence();
}

void copy_streaming(void* to, const void* from, std::int64_t bytes) {
#if defined(__SSE2__)
  auto* b = static_cast<char*>(to);
  const auto* a = static_cast<const char*>(from);
  const auto whole = bytes / kLine * kLine;
  for (std::int64_t k = 0; k < whole; k += kLine) {
    for (int part = 0; part < kLine; part += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(b + k + part),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(a + k + part)));
    }
  }
  fence();
  std::memcpy(b + whole, a + whole, static_cast<std::size_t>(bytes - whole));
#else
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
#endif
}

void copy_cached(void* to, const void* from, std::int64_t bytes) {
  auto* b = static_cast<char*>(to);
  const auto* a = static_cast<const char*>(from);
  const auto whole = bytes / kLine * kLine;
  for (std::int64_t k = 0; k < whole; k += kLine) {
    // Line by line: for large sizes the C library's memcpy would use nontemporal stores.
    Line line;
    std::memcpy(&line, a + k, sizeof line);
    asm volatile("" : : "r"(&line) : "memory");
    std::memcpy(b + k, &line, sizeof line);
  }
  std::memcpy(b + whole, a + whole, static_cast<std::size_t>(bytes - whole));
}

std::uint64_t read_all(const void* from, std::int64_t bytes) {
  const auto* a = static_cast<const char*>(from);
  Line sum{};
  for (std::int64_t k = 0; k + kLine <= bytes; k += kLine) add_line(sum, a + k);
  return all_words(sum);
}

std::uint64_t read_ahead(const void* from, std::int64_t bytes) {
  constexpr std::int64_t kTogether = 4, kAhead = 4096;
  const auto* a = static_cast<const char*>(from);
  std::array<Line, kTogether> sums{};
  std::int64_t k = 0;
  for (; k + kTogether * kLine <= bytes; k += kTogether * kLine) {
    for (std::int64_t line = 0; line < kTogether; ++line) __builtin_prefetch(a + k + kAhead + line * kLine);
    for (std::int64_t line = 0; line < kTogether; ++line)
      add_line(sums[static_cast<std::size_t>(line)], a + k + line * kLine);
  }
  std::uint64_t all = read_all(a + k, bytes - k);
  for (const auto& sum : sums) all += all_words(sum);
  return all;
}

std::uint64_t read_rows(const void* from, std::int64_t bytes) {
  constexpr std::int64_t kRow = 61440, kRows = 48, kPiece = 2 * kLine;
  const auto* a = static_cast<const char*>(from);
  Line sum{};
  std::int64_t first = 0;
  for (; first + kRows * kRow <= bytes; first += kRows * kRow) {
    for (std::int64_t piece = 0; piece < kRow; piece += kPiece) {
      for (std::int64_t row = 0; row < kRows; ++row) {
        const auto* at = a + first + row * kRow + piece;
        add_line(sum, at);
        add_line(sum, at + kLine);
      }
    }
  }
  for (; first + kLine <= bytes; first += kLine) add_line(sum, a + first);
  return all_words(sum);
}

std::uint64_t read_pages(const void* from, std::int64_t pages) {
  constexpr std::int64_t kPage = 4096;
  const auto* a = static_cast<const char*>(from);
  std::uint64_t sum = 0;
  for (std::int64_t page = 0; page < pages; ++page) {
    std::uint64_t word = 0;
    std::memcpy(&word, a + page * kPage + page * kLine % kPage, sizeof word);
    sum += word;
  }
  return sum;
}

std::uint64_t read_dense(const void* from, std::int64_t lines) {
  constexpr std::int64_t kRow = 64;  // lines of a page: read across rows
  const auto* a = static_cast<const char*>(from);
  std::uint64_t sum = 0;
  for (std::int64_t column = 0; column < kRow; ++column) {
    for (std::int64_t line = column * 29 % kRow; line < lines; line += kRow) {
      std::uint64_t word = 0;
      std::memcpy(&word, a + line * kLine, sizeof word);
      sum += word;
    }
  }
  return sum;
}

}  // namespace ricci::runtime
