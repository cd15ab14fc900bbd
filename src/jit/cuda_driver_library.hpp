// The driver library itself: opened and initialised once; its functions, its devices' contexts, and its errors as text.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "jit/cuda_api.hpp"

namespace ricci::jit::cuda {

/// Bytes of freed workspaces that a device's pool keeps for the next ones.
inline constexpr std::uint64_t kKeptWorkspace = std::uint64_t{1} << 30;

class Driver {
 public:
  /// The one driver; opens and initialises it on the first call. Never throws; look at reason() first. Thread-safe.
  static const Driver& get() noexcept;
  /// The same, for those who need a device: throws DeviceError with reason() when there is none.
  static const Driver& need();

  api::DriverFunctions call;
  int devices = 0;
  int version = 0;     ///< 13000 for CUDA 13.0; 0 when unknown
  std::string reason;  ///< why there is no device; empty when there is one

  /// The primary context of a device, retained on the first call for it. Throws DeviceError.
  api::Context primary(int ordinal) const;
  /// A device's pool for workspaces, made on the first call for it, which keeps kKeptWorkspace bytes when all is freed:
  /// the driver's own pool gives everything back whenever somebody waits for the device. Throws DeviceError.
  api::MemoryPool workspace_pool(int ordinal) const;
  /// The calling thread's context; device 0's primary one is made current when there is none. Throws DeviceError.
  void ensure_context() const;

  /// Throws DeviceError unless `code` is success: "<doing> failed: cuX: NAME (code): text", and what to do about it.
  void check(int code, const char* function, const std::string& doing) const {
    if (code != api::kSuccess) fail(code, function, doing);
  }
  [[noreturn]] void fail(int code, const char* function, const std::string& doing) const;
  std::string describe(int code) const;  ///< "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"

 private:
  Driver() = default;
  void open() noexcept;
};

/// Makes a device's primary context current for a scope.
class ContextScope {
 public:
  ContextScope(const Driver& driver, int ordinal);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const Driver& driver_;
};

}  // namespace ricci::jit::cuda
