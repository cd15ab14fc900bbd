// The CUDA driver, opened on the first call. A process without a GPU sees available() == false and nothing else.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace ricci::jit::cuda {

using Stream = void*;  ///< CUstream / cudaStream_t; null is the default stream of the current context

struct DeviceInfo {
  std::string name;
  int ordinal = 0, sm = 0, multiprocessors = 0, max_threads_per_multiprocessor = 0, clock_khz = 0, memory_clock_khz = 0,
      memory_bus_bits = 0;
  std::int64_t memory_bytes = 0, l2_bytes = 0, shared_bytes_per_block = 0, shared_bytes_per_multiprocessor = 0,
               registers_per_multiprocessor = 0;
};

bool available() noexcept;        ///< a driver and at least one device
std::string unavailable_reason(); ///< for `ricci doctor`
int device_count();
DeviceInfo device_info(int ordinal);
int current_device();             ///< of the calling thread's context; retains device 0's primary context if there is none

/// A loaded CUBIN in the primary context of one device.
class Module {
 public:
  Module(std::span<const std::byte> cubin, int ordinal);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  /// Finds the kernel and, when dynamic_shared exceeds 48 KB, raises its limit.
  void* function(const std::string& name, std::size_t dynamic_shared) const;
 private:
  void* module_ = nullptr;
  int ordinal_ = 0;
};

/// Launches on the caller's stream; args as cuLaunchKernel takes them. Throws DeviceError. Allocates nothing.
void launch(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
            std::size_t dynamic_shared, Stream stream, void** args);

/// What the driver knows of a pointer: which device owns it, or none.
struct PointerInfo { bool device = false; int ordinal = -1; std::uintptr_t base = 0; std::size_t bytes = 0; };
PointerInfo pointer_info(const void* pointer);

// Plain memory, streams and events, for the command line, tests and benches.
void* allocate(std::size_t bytes);
void release(void* pointer) noexcept;
void copy_to_device(void* dst, const void* src, std::size_t bytes);
void copy_to_host(void* dst, const void* src, std::size_t bytes);
void copy_on_device(void* dst, const void* src, std::size_t bytes, Stream stream);
void fill_bytes(void* dst, unsigned char value, std::size_t bytes);
void synchronize();
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(Stream stream);
  void wait() const;
  static double ms_between(const Event& start, const Event& stop);
 private:
  void* event_ = nullptr;
};

}  // namespace ricci::jit::cuda
