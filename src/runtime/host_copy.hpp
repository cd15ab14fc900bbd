// Single-threaded copies on the host that measure memory bandwidth, and reads that measure what pages cost.
#pragma once

#include <cstdint>

namespace ricci::runtime {

/// Copy by nontemporal stores where the processor has them. `to` must be aligned to 16.
void copy_streaming(void* to, const void* from, std::int64_t bytes);

/// Nontemporal stores only, line after line. `to` must be aligned to 16.
void write_streaming(void* to, std::int64_t bytes);

/// The same lines in another order: the first line of each of 256 pages of 4096 bytes, then the second of each, ... An
/// incomplete group of pages is not written.
void write_apart(void* to, std::int64_t bytes);

/// Copy by ordinary stores, in a loop that compilers do not replace by memcpy.
void copy_cached(void* to, const void* from, std::int64_t bytes);

/// Reads all bytes; the result depends on each of them.
std::uint64_t read_all(const void* from, std::int64_t bytes);

/// The same with the lines of the page behind asked for, by four at a time: hardware prefetchers begin anew at each
/// page (1.2 to 1.8 times as fast by two threads of an AMD EPYC).
std::uint64_t read_ahead(const void* from, std::int64_t bytes);

/// The same bytes in another order: 128 bytes of each of 48 rows of 61,440 bytes in turns. The remainder is read line
/// after line.
std::uint64_t read_rows(const void* from, std::int64_t bytes);

/// Reads one line of each page of 4096 bytes, each at another place in its page.
std::uint64_t read_pages(const void* from, std::int64_t pages);

/// Reads as many lines that are side by side, in an order that hardware prefetchers do not follow.
std::uint64_t read_dense(const void* from, std::int64_t lines);

}  // namespace ricci::runtime
