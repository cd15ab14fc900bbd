#include "ricci/error.hpp"

namespace ricci {
inline namespace v1 {

const char* name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::spec:
      return "spec";
    case ErrorCode::shape:
      return "shape";
    case ErrorCode::plan:
      return "plan";
    case ErrorCode::compile:
      return "compile";
    case ErrorCode::device:
      return "device";
    case ErrorCode::cache:
      return "cache";
    case ErrorCode::io:
      return "io";
    case ErrorCode::internal:
      return "internal";
  }
  return "unknown";
}

}  // namespace v1
}  // namespace ricci
