// Reads an x86-64 ELF relocatable object and says how to lay it out in memory, or why the small loader should not.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ricci::jit {

/// What the small loader makes of an object.
enum class ObjectKind {
  simple,   ///< it can load this
  other,    ///< a valid object as far as can be seen, with something in it that only ORC knows
  damaged,  ///< contradicts itself: sizes, offsets or indices that point nowhere
};

/// The only functions that an object may expect to find in the process.
inline constexpr std::array<const char*, 39> kKnownFunctions = {
    "memcpy", "memmove", "memset", "sqrt",  "cbrt",   "exp",   "log",    "sin",   "cos",   "tan",
    "asin",   "acos",    "atan",   "sinh",  "cosh",   "tanh",  "pow",    "sqrtf", "cbrtf", "expf",
    "logf",   "sinf",    "cosf",   "tanf",  "asinf",  "acosf", "atanf",  "sinhf", "coshf", "tanhf",
    "powf",   "fmod",    "fmodf",  "atan2", "atan2f", "hypot", "hypotf", "log1p", "log1pf"};

/// An object as one run of bytes: pieces copied from the file, jumps to known functions behind them, patches over both.
/// All offsets and sizes are bytes; every range lies inside the file or the image.
struct ObjectLayout {
  struct Piece {
    std::size_t file, image, bytes;
  };
  enum class PatchKind : std::uint8_t { relative32, absolute64 };
  struct Patch {
    PatchKind kind;
    std::size_t image;    ///< where it is written
    std::uint64_t value;  ///< relative32: what to write; absolute64: its offset in the image
  };
  struct Jump {
    std::size_t image;     ///< offset of kJumpBytes bytes
    std::size_t function;  ///< index into kKnownFunctions
  };
  struct Name {
    std::string name;
    std::size_t image, bytes;
  };
  static constexpr std::size_t kJumpBytes = 16;

  ObjectKind kind = ObjectKind::damaged;
  std::string reason;  ///< why it is not simple
  std::size_t image_bytes = 0;
  std::vector<Piece> pieces;
  std::vector<Patch> patches;
  std::vector<Jump> jumps;
  std::vector<Name> names;  ///< global functions and constants
};

/// Pure function; reads nothing outside `object`, whatever is in it. Only a simple object's layout is complete.
ObjectLayout lay_out_object(std::span<const std::byte> object);

}  // namespace ricci::jit
