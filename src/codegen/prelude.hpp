// The files of device/ as text, compiled into the library (see CMakeLists.txt).
#pragma once

namespace ricci::codegen::prelude {

extern const char* const kTypes;
extern const char* const kHalf;
extern const char* const kArithmetic;
extern const char* const kScalar;
extern const char* const kCast;
extern const char* const kCuda;

}  // namespace ricci::codegen::prelude
