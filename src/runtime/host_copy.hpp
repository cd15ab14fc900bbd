// Copies on the host, of one thread: what memory can do at best.
#pragma once

#include <cstdint>

namespace ricci::runtime {

/// With stores past the caches where the processor has them: no line of `to` is read. `to` aligned to 16.
void copy_streaming(void* to, const void* from, std::int64_t bytes);

/// Stores past the caches alone, line after line. `to` aligned to 16.
void write_streaming(void* to, std::int64_t bytes);

/// The same lines in another order: one of each page of 4096 bytes, 256 pages together, then the next one of each. What
/// is left of the last pages is not written.
void write_apart(void* to, std::int64_t bytes);

/// With ordinary stores, in a loop that no library replaces.
void copy_cached(void* to, const void* from, std::int64_t bytes);

/// Reads all bytes; the result depends on each of them.
std::uint64_t read_all(const void* from, std::int64_t bytes);

/// The same bytes in another order: 48 rows of 61,440 bytes together, 128 bytes of each in turn. What is left at the
/// end is read line after line.
std::uint64_t read_rows(const void* from, std::int64_t bytes);

}  // namespace ricci::runtime
