// The errors of Ricci: one type per cause, each with a text that names what disagrees and what to do.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace ricci {
inline namespace v1 {

/// Why a call was refused. The C interface returns the same values as negative status codes, in this order.
enum class ErrorCode {
  spec,      ///< the index notation cannot be read, or says something impossible
  shape,     ///< extents, strides, types or buffers disagree with the notation or with each other
  plan,      ///< no plan exists for this problem on this device, or a plan is called in a way it was not made for
  compile,   ///< a compiler refused generated source: a defect of Ricci, the source and the log are kept
  device,    ///< a driver, a device or a device pointer failed
  cache,     ///< a cache command was refused (look-ups and stores never throw)
  io,        ///< a file cannot be read or written
  internal,  ///< a broken invariant: please report
};

/// The word for a code, as printed by the command line: "spec", "shape", ...
const char* name(ErrorCode code) noexcept;

/// A place in a text that a user gave: a spec or a program.
struct TextPosition {
  int line = 0;              ///< from 1; 0: no place
  int column = 0;            ///< in bytes, from 1
  std::int64_t offset = -1;  ///< in bytes from the beginning of the text; -1: no place
};

/// Base of everything Ricci throws. `what()` is the whole text, several lines, without a trailing newline.
/// Every error is thrown before outputs, caches or devices are touched, unless its type says otherwise.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& text, TextPosition position = {})
      : std::runtime_error(text), code_(code), position_(position) {}
  ErrorCode code() const noexcept { return code_; }
  /// Where the text shows its (first) caret; no place where the fault is in none, or in a C++ program.
  const TextPosition& position() const noexcept { return position_; }

 private:
  ErrorCode code_;
  TextPosition position_;
};

class SpecError : public Error {
 public:
  explicit SpecError(const std::string& text, TextPosition position = {}) : Error(ErrorCode::spec, text, position) {}
};

class ShapeError : public Error {
 public:
  explicit ShapeError(const std::string& text, TextPosition position = {}) : Error(ErrorCode::shape, text, position) {}
};

class PlanError : public Error {
 public:
  explicit PlanError(const std::string& text) : Error(ErrorCode::plan, text) {}
};

/// Holds the source that was refused and the compiler's whole log.
class CompileError : public Error {
 public:
  CompileError(const std::string& text, std::string source, std::string log)
      : Error(ErrorCode::compile, text), source_(std::move(source)), log_(std::move(log)) {}
  const std::string& source() const noexcept { return source_; }
  const std::string& log() const noexcept { return log_; }

 private:
  std::string source_, log_;
};

class DeviceError : public Error {
 public:
  explicit DeviceError(const std::string& text) : Error(ErrorCode::device, text) {}
};

class CacheError : public Error {
 public:
  explicit CacheError(const std::string& text) : Error(ErrorCode::cache, text) {}
};

class IoError : public Error {
 public:
  explicit IoError(const std::string& text) : Error(ErrorCode::io, text) {}
};

class InternalError : public Error {
 public:
  explicit InternalError(const std::string& text) : Error(ErrorCode::internal, text) {}
};

}  // namespace v1
}  // namespace ricci
