// The CUDA driver, opened on the first call. A process without a GPU sees available() == false and nothing else.
//
// Every function but available(), unavailable_reason(), device_count() and release() throws DeviceError when there is
// no device or the driver refuses, naming the driver's function, its error code and what to do. All are thread-safe.
// Contexts: Ricci uses each device's primary context, the one that the CUDA runtime uses, so pointers, streams and
// events of the runtime (and of PyTorch, CuPy, ...) are good here. A thread that has a current context keeps it; one
// that has none gets a primary context on its first call that needs one. Contexts are never reset.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace ricci::jit::cuda {

class ContextScope;

using Stream = void*;  ///< CUstream / cudaStream_t; null is the default stream of the current context

struct DeviceInfo {
  std::string name;
  int ordinal = 0, sm = 0, multiprocessors = 0, max_threads_per_multiprocessor = 0, clock_khz = 0, memory_clock_khz = 0,
      memory_bus_bits = 0;
  /// shared_bytes_per_block is the largest that a kernel may ask for (static and dynamic together): 227 KB on sm_90.
  std::int64_t memory_bytes = 0, l2_bytes = 0, shared_bytes_per_block = 0, shared_bytes_per_multiprocessor = 0,
               registers_per_multiprocessor = 0;
  int max_threads_per_block = 0, max_blocks_per_multiprocessor = 0;
  std::int64_t reserved_shared_bytes_per_block =
      0;                   ///< taken by the driver from each block's share of a multiprocessor
  std::string uuid;        ///< "GPU-0a1b2c3d-...", the one thing that tells two devices of a kind apart
  std::string pci_bus_id;  ///< "0000:3b:00.0"
};

bool available() noexcept;         ///< a driver and at least one device; the first call initialises the driver
std::string unavailable_reason();  ///< for `ricci doctor`; empty when available() is true
int device_count();                ///< 0 when available() is false
DeviceInfo device_info(int ordinal);
std::string driver_version();  ///< the newest CUDA that the driver serves: "13.0"
int current_device();          ///< of the calling thread's context; retains device 0's primary context if there is none

/// While it lives, the calling thread's current context is the primary one of this device.
class OnDevice {
 public:
  explicit OnDevice(int ordinal);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  std::unique_ptr<ContextScope> scope_;
};

/// A loaded CUBIN in the primary context of one device. Unloading waits for nothing: destroy it when its kernels are
/// done.
class Module {
 public:
  Module(std::span<const std::byte> cubin, int ordinal);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  /// Finds the kernel and, when dynamic_shared exceeds 48 KB, raises its limit (it never lowers it). The handle is a
  /// CUfunction and lives as long as the module.
  void* function(const std::string& name, std::size_t dynamic_shared) const;
  int ordinal() const noexcept { return ordinal_; }

 private:
  void* module_ = nullptr;
  int ordinal_ = 0;
};

/// Launches on the caller's stream, in its current context; args as cuLaunchKernel takes them. Allocates nothing.
/// Errors of the kernel itself come from a later call, as always in CUDA.
void launch(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
            std::size_t dynamic_shared, Stream stream, void** args);

/// Memory of a device in the order of one of its streams, from a pool of Ricci's that keeps kKeptWorkspace bytes: to be
/// used by work of that stream alone, after the first call and before the second. Aligned to 256 bytes.
void* allocate_in_order(std::size_t bytes, int ordinal, Stream stream);
void release_in_order(void* pointer, int ordinal, Stream stream) noexcept;

/// What the driver knows of a pointer: which device owns it, or none. Host memory, pinned or not, is `device == false`.
struct PointerInfo {
  bool device = false;  ///< allocated by the CUDA runtime or driver and addressable by kernels, managed memory included
  int ordinal = -1;     ///< of the owning device; -1 for host memory
  std::uintptr_t base = 0;  ///< start of the allocation; 0 when unknown
  std::size_t bytes = 0;    ///< size of the allocation; 0 when unknown
  bool managed = false;     ///< migrates between host and device
  bool pinned = false;      ///< host memory that the driver has registered
};
PointerInfo pointer_info(const void* pointer);

// Plain memory, streams and events, for the command line, tests and benches: on the current device, as
// current_device().
void* allocate(std::size_t bytes);  ///< aligned to 256 bytes; null for 0 bytes
void release(void* pointer) noexcept;
void copy_to_device(void* dst, const void* src, std::size_t bytes);  ///< there for every stream when it returns
void copy_to_host(void* dst, const void* src, std::size_t bytes);    ///< after all earlier work of the default stream
void copy_on_device(void* dst, const void* src, std::size_t bytes, Stream stream);
void fill_bytes(void* dst, unsigned char value, std::size_t bytes);
void synchronize();               ///< waits for all work of the current context
void synchronize(Stream stream);  ///< waits for one stream

/// A stream of our own, which does not wait for the default stream.
class OwnedStream {
 public:
  OwnedStream();
  ~OwnedStream();
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;
  Stream get() const noexcept { return stream_; }

 private:
  void* stream_ = nullptr;
};

class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(Stream stream);
  void wait() const;
  /// Both must have been recorded and have passed: wait() for `stop` first.
  static double ms_between(const Event& start, const Event& stop);

 private:
  void* event_ = nullptr;
};

}  // namespace ricci::jit::cuda
