#include "cache/format.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <tuple>

#include "ricci/error.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ricci::cache {
namespace {

// Header, little-endian:
//    0  8  magic                        32  4  key bytes
//    8 16  XXH3-128 of bytes 24..end    36  4  metadata bytes
//   24  4  format version               40  4  source bytes, stored     44  4  source bytes, used
//   28  1  codec of the source          48  4  binary bytes, stored     52  4  binary bytes, used
//   29  1  codec of the binary          56  8  bytes of the whole file
//   30  2  zero
// Then key, metadata, source and binary without gaps. Bytes 0..28 mean the same in every version.
constexpr char kMagic[8] = {'R', 'I', 'C', 'C', 'I', '-', 'K', '\n'};
constexpr std::size_t kChecksumAt = 8, kChecksummedFrom = 24, kFileBytesAt = 56;

constexpr std::uint8_t kRaw = 0, kZstd = 1;
constexpr int kZstdLevel = 3;

constexpr char kDigits[] = "0123456789abcdef";

bool is_hex(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

struct Packed {
  std::vector<std::byte> bytes;
  std::uint8_t codec = kRaw;
};

// Compresses when that saves an eighth: below that, decompression costs a hit more than the bytes are worth.
Packed pack(std::span<const std::byte> part) {
  Packed packed;
  packed.bytes.resize(ZSTD_compressBound(part.size()));
  const std::size_t size =
      ZSTD_compress(packed.bytes.data(), packed.bytes.size(), part.data(), part.size(), kZstdLevel);
  if (!ZSTD_isError(size) && size < part.size() - part.size() / 8) {
    packed.bytes.resize(size);
    packed.codec = kZstd;
  } else {
    packed.bytes.assign(part.begin(), part.end());
  }
  return packed;
}

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
};

// One decompression context per thread: making one costs more than decompressing a kernel.
ZSTD_DCtx* context() {
  thread_local std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  return context.get();
}

Damage unpack(std::span<const std::byte> part, std::uint8_t codec, void* out, std::size_t bytes) {
  if (bytes == 0) return Damage::none;
  if (codec == kRaw) {
    std::memcpy(out, part.data(), bytes);
    return Damage::none;
  }
  return ZSTD_decompressDCtx(context(), out, bytes, part.data(), part.size()) == bytes ? Damage::none : Damage::codec;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

EntryName EntryName::of(std::string_view key, std::uint32_t version) noexcept {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_withSeed(key.data(), key.size(), version));
  char hex[32];
  for (std::size_t i = 0; i < 16; ++i) {
    hex[2 * i] = kDigits[canonical.digest[i] >> 4];
    hex[2 * i + 1] = kDigits[canonical.digest[i] & 15];
  }
  EntryName name;
  std::memcpy(name.folder, hex, 2);
  std::memcpy(name.file, hex + 2, 30);
  std::memcpy(name.file + 30, ".k", 2);
  return name;
}

std::optional<EntryName> EntryName::parse(std::string_view folder, std::string_view file) noexcept {
  if (folder.size() != 2 || file.size() != 32 || file.substr(30) != ".k") return std::nullopt;
  if (!is_hex(folder) || !is_hex(file.substr(0, 30))) return std::nullopt;
  EntryName name;
  std::memcpy(name.folder, folder.data(), 2);
  std::memcpy(name.file, file.data(), 32);
  return name;
}

std::string EntryName::hex() const { return std::string(folder, 2) + std::string(file, 30); }

std::string EntryName::path() const { return std::string(folder, 2) + "/" + std::string(file, 32); }

bool operator==(const EntryName& a, const EntryName& b) noexcept {
  return std::memcmp(a.folder, b.folder, sizeof a.folder) == 0 && std::memcmp(a.file, b.file, sizeof a.file) == 0;
}

const char* describe(Damage damage) noexcept {
  switch (damage) {
    case Damage::none:
      return "no damage";
    case Damage::truncated:
      return "the file is too short for a header";
    case Damage::magic:
      return "the file does not begin as a kernel of Ricci";
    case Damage::checksum:
      return "the checksum does not match";
    case Damage::version:
      return "another version of the format wrote it";
    case Damage::sizes:
      return "the sizes in the header disagree with the file";
    case Damage::codec:
      return "a part does not decompress";
  }
  return "unknown damage";
}

std::vector<std::byte> encode(const Entry& entry, std::uint32_t version) {
  const std::size_t largest =
      std::max({entry.key.size(), entry.metadata.size(), entry.source.size(), entry.binary.size()});
  if (largest > kMaxPartBytes)
    throw CacheError(fmt::format("a kernel with a part of {} bytes is too large to store: the limit is {} bytes",
                                 largest, kMaxPartBytes));
  const Packed source = pack(bytes_of(entry.source));
  const Packed binary = pack(entry.binary);
  const std::size_t total =
      kHeaderBytes + entry.key.size() + entry.metadata.size() + source.bytes.size() + binary.bytes.size();
  std::vector<std::byte> file(total);
  std::byte* const head = file.data();
  std::memcpy(head, kMagic, sizeof kMagic);
  put_u32(head + 24, version);
  head[28] = std::byte{source.codec};
  head[29] = std::byte{binary.codec};
  put_u32(head + 32, static_cast<std::uint32_t>(entry.key.size()));
  put_u32(head + 36, static_cast<std::uint32_t>(entry.metadata.size()));
  put_u32(head + 40, static_cast<std::uint32_t>(source.bytes.size()));
  put_u32(head + 44, static_cast<std::uint32_t>(entry.source.size()));
  put_u32(head + 48, static_cast<std::uint32_t>(binary.bytes.size()));
  put_u32(head + 52, static_cast<std::uint32_t>(entry.binary.size()));
  put_u64(head + kFileBytesAt, total);
  std::byte* at = head + kHeaderBytes;
  for (const std::span<const std::byte> part :
       {bytes_of(entry.key), bytes_of(entry.metadata), std::span(source.bytes), std::span(binary.bytes)})
    at = std::copy(part.begin(), part.end(), at);
  std::byte digest[16];
  checksum(std::span(file).subspan(kChecksummedFrom), digest);
  std::memcpy(head + kChecksumAt, digest, sizeof digest);
  return file;
}

std::uint64_t announced_bytes(std::span<const std::byte> header) noexcept {
  if (header.size() < kHeaderBytes || std::memcmp(header.data(), kMagic, sizeof kMagic) != 0) return 0;
  return get_u64(header.data() + kFileBytesAt);
}

Damage inspect(std::span<const std::byte> file, EntryView* view, std::uint32_t* version) noexcept {
  if (file.size() < kHeaderBytes) return Damage::truncated;
  const std::byte* const head = file.data();
  if (std::memcmp(head, kMagic, sizeof kMagic) != 0) return Damage::magic;
  std::byte digest[16];
  checksum(file.subspan(kChecksummedFrom), digest);
  if (std::memcmp(head + kChecksumAt, digest, sizeof digest) != 0) return Damage::checksum;
  if (version) *version = get_u32(head + 24);
  if (get_u32(head + 24) != kFormatVersion) return Damage::version;

  // Only a file made on purpose gets past the checksum with wrong sizes; it must not reach outside its own bytes.
  const std::size_t key = get_u32(head + 32), metadata = get_u32(head + 36);
  const std::size_t source = get_u32(head + 40), binary = get_u32(head + 48);
  view->source_bytes = get_u32(head + 44);
  view->binary_bytes = get_u32(head + 52);
  view->source_codec = std::to_integer<std::uint8_t>(head[28]);
  view->binary_codec = std::to_integer<std::uint8_t>(head[29]);
  if (get_u64(head + kFileBytesAt) != file.size() || kHeaderBytes + key + metadata + source + binary != file.size())
    return Damage::sizes;
  if (view->source_bytes > kMaxPartBytes || view->binary_bytes > kMaxPartBytes) return Damage::sizes;
  if (view->source_codec > kZstd || view->binary_codec > kZstd) return Damage::codec;
  if ((view->source_codec == kRaw && view->source_bytes != source) ||
      (view->binary_codec == kRaw && view->binary_bytes != binary))
    return Damage::sizes;
  const char* const text = reinterpret_cast<const char*>(head) + kHeaderBytes;
  view->key = {text, key};
  view->metadata = {text + key, metadata};
  view->source = file.subspan(kHeaderBytes + key + metadata, source);
  view->binary = file.subspan(kHeaderBytes + key + metadata + source, binary);
  return Damage::none;
}

Damage expand(const EntryView& view, Entry* entry) {
  // A header that disagrees with the frame is refused before anything is allocated for it.
  for (const auto& [part, codec, bytes] : {std::tuple(view.source, view.source_codec, view.source_bytes),
                                           std::tuple(view.binary, view.binary_codec, view.binary_bytes)})
    if (codec == kZstd && ZSTD_getFrameContentSize(part.data(), part.size()) != bytes) return Damage::codec;
  entry->key = view.key;
  entry->metadata = view.metadata;
  entry->source.resize(view.source_bytes);
  entry->binary.resize(view.binary_bytes);
  const Damage damage = unpack(view.source, view.source_codec, entry->source.data(), view.source_bytes);
  if (damage != Damage::none) return damage;
  return unpack(view.binary, view.binary_codec, entry->binary.data(), view.binary_bytes);
}

void checksum(std::span<const std::byte> bytes, std::byte (&digest)[16]) noexcept {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  std::memcpy(digest, canonical.digest, sizeof digest);
}

void put_u32(std::byte* at, std::uint32_t value) noexcept {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<std::byte>(value >> (8 * i));
}

void put_u64(std::byte* at, std::uint64_t value) noexcept {
  for (int i = 0; i < 8; ++i) at[i] = static_cast<std::byte>(value >> (8 * i));
}

std::uint32_t get_u32(const std::byte* at) noexcept {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= std::to_integer<std::uint32_t>(at[i]) << (8 * i);
  return value;
}

std::uint64_t get_u64(const std::byte* at) noexcept {
  return get_u32(at) | static_cast<std::uint64_t>(get_u32(at + 4)) << 32;
}

}  // namespace ricci::cache
