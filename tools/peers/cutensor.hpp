// What cuTENSOR's permutations and contractions share: the library with its functions and a handle, types, scalars.
#pragma once

#include <optional>

#include "peers/api.hpp"
#include "peers/library.hpp"

namespace ricci::tools::cutensor {

/// Alignment of every tensor in bytes, as cudaMalloc has it.
constexpr std::uint32_t kAlignment = 256;

/// cudaDataType_t; nothing for what the library does not take.
std::optional<int> data_type(DType type);

/// A number in a type that the library names, in half types 0, 1 or -1; the imaginary part of a complex one is 0.
union Scalar {
  std::uint16_t half;
  float single[2];
  double twice[2];
};
Scalar scalar(int type, double value);

/// The library, its functions and a handle of the current device, kept by every plan.
struct Session {
  /// Throws IoError, naming the function that the file lacks.
  explicit Session(const std::string& file);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Makes the handle at the first call: opening the library needs no device, a handle does. Throws DeviceError.
  void start();
  /// Throws DeviceError, which names the function, where the status is none of success.
  void check(int status, const char* function) const;
  /// The library's variable of this name, set by start() at the latest.
  ComputeDescriptor compute(const char* variable) const;
  /// Dense, modes with the fastest first.
  ///   strides    in elements; none: dense, the first index fastest
  ///   alignment  of the tensor's memory, in bytes
  void describe(TensorDescriptor* place, const std::vector<std::int64_t>& extents, int type,
                const std::vector<std::int64_t>& strides = {}, std::uint32_t alignment = kAlignment) const;
  /// What the operation's factors are.
  int scalar_type(OperationDescriptor operation) const;

  SharedLibrary library;
  Functions call{};
  Handle handle = nullptr;
};

/// Destroyed by one of the library's functions.
template <class T>
class Owned {
 public:
  explicit Owned(int (*destroy)(T)) : destroy_(destroy) {}
  ~Owned() {
    if (value_ != nullptr) destroy_(value_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  T* place() { return &value_; }
  T get() const { return value_; }

 private:
  int (*destroy_)(T);
  T value_ = nullptr;
};

}  // namespace ricci::tools::cutensor
