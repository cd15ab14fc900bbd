// The bytes of one stored kernel, and the file name of a key. Pure functions: no file is touched here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/store.hpp"

namespace ricci::cache {

/// Raised whenever the bytes change meaning. It seeds the file names, so that versions share a directory without
/// replacing each other's entries.
inline constexpr std::uint32_t kFormatVersion = 1;

inline constexpr std::size_t kHeaderBytes = 64;
inline constexpr std::size_t kMaxPartBytes = std::size_t{1} << 30;  ///< of key, metadata, source and binary, each

/// XXH3-128 of a key text in hexadecimal: two digits name the folder, thirty the file.
struct EntryName {
  char folder[3] = {};
  char file[33] = {};  ///< with the suffix ".k"

  static EntryName of(std::string_view key, std::uint32_t version = kFormatVersion) noexcept;
  /// Null unless the two look exactly like the names that `of` makes.
  static std::optional<EntryName> parse(std::string_view folder, std::string_view file) noexcept;
  std::string hex() const;   ///< 32 digits
  std::string path() const;  ///< "ab/cdef...k", relative to the root
  /// The lock file of this key: one of 256.
  const char* stripe() const noexcept { return folder; }
};
bool operator==(const EntryName& a, const EntryName& b) noexcept;

/// Why bytes are not an entry that this version can use.
enum class Damage { none, truncated, magic, checksum, version, sizes, codec };

/// A phrase for a message: "the checksum does not match", ...
const char* describe(Damage damage) noexcept;

/// An entry in place: texts and compressed parts point into the file's bytes.
struct EntryView {
  std::string_view key, metadata;
  std::span<const std::byte> source, binary;       ///< as stored
  std::size_t source_bytes = 0, binary_bytes = 0;  ///< as used
  std::uint8_t source_codec = 0, binary_codec = 0;
};

/// The file bytes of an entry. Throws CacheError when a part is larger than kMaxPartBytes.
std::vector<std::byte> encode(const Entry& entry, std::uint32_t version = kFormatVersion);

/// The size of the whole file that a header announces, of which at least kHeaderBytes are given; 0 if it is not a
/// header.
std::uint64_t announced_bytes(std::span<const std::byte> header) noexcept;

/// Checks all bytes of a file and finds its parts. `version`, if given, receives the file's format version when the
/// checksum holds.
Damage inspect(std::span<const std::byte> file, EntryView* view, std::uint32_t* version = nullptr) noexcept;

/// Decompresses an inspected entry. `entry` is left in an unspecified state on damage.
Damage expand(const EntryView& view, Entry* entry);

/// XXH3-128 of bytes in its canonical (big-endian) form; what headers hold.
void checksum(std::span<const std::byte> bytes, std::byte (&digest)[16]) noexcept;

/// Little-endian integers, whatever the host.
void put_u32(std::byte* at, std::uint32_t value) noexcept;
void put_u64(std::byte* at, std::uint64_t value) noexcept;
std::uint32_t get_u32(const std::byte* at) noexcept;
std::uint64_t get_u64(const std::byte* at) noexcept;

}  // namespace ricci::cache
