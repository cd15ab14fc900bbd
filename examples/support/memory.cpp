#include "memory.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace examples {
namespace {

constexpr std::size_t kHostAlignment = 64;

/// The part of the CUDA driver's interface that moves data, on the device's primary context.
class Driver {
 public:
  static Driver& get() {
    static Driver driver;
    return driver;
  }

  using Address = unsigned long long;
  int (*allocate)(Address*, std::size_t) = nullptr;
  int (*release)(Address) = nullptr;
  int (*to_device)(Address, const void*, std::size_t) = nullptr;
  int (*to_host)(void*, Address, std::size_t) = nullptr;
  int (*wait)() = nullptr;

  static void check(int status, const char* what) {
    if (status != 0)
      throw std::runtime_error(std::string(what) + " failed: CUDA driver error " + std::to_string(status));
  }

 private:
  Driver() {
    library_ = dlopen("libcuda.so.1", RTLD_NOW);
    if (library_ == nullptr) throw std::runtime_error("no CUDA driver on this machine; use --device cpu");
    int (*initialize)(unsigned) = nullptr;
    int (*device)(int*, int) = nullptr;
    int (*retain)(void**, int) = nullptr;
    int (*set_current)(void*) = nullptr;
    find(initialize, "cuInit");
    find(device, "cuDeviceGet");
    find(retain, "cuDevicePrimaryCtxRetain");
    find(set_current, "cuCtxSetCurrent");
    find(allocate, "cuMemAlloc_v2");
    find(release, "cuMemFree_v2");
    find(to_device, "cuMemcpyHtoD_v2");
    find(to_host, "cuMemcpyDtoH_v2");
    find(wait, "cuCtxSynchronize");
    int first = 0;
    void* context = nullptr;
    check(initialize(0), "starting the CUDA driver");
    check(device(&first, 0), "finding a GPU");
    check(retain(&context, first), "opening the GPU");
    check(set_current(context), "using the GPU");
  }

  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr) throw std::runtime_error(std::string("the CUDA driver has no ") + name);
  }

  void* library_ = nullptr;
};

Driver::Address address(const void* pointer) { return reinterpret_cast<Driver::Address>(pointer); }

}  // namespace

Memory::Memory(ricci::Device device, std::size_t bytes) : bytes_(bytes), device_(device) {
  const std::size_t some = bytes == 0 ? 1 : bytes;
  if (device == ricci::Device::gpu) {
    Driver::Address at = 0;
    Driver::check(Driver::get().allocate(&at, some), "allocating GPU memory");
    memory_ = std::shared_ptr<void>(reinterpret_cast<void*>(at), [](void* p) { Driver::get().release(address(p)); });
  } else {
    void* at = std::aligned_alloc(kHostAlignment, (some + kHostAlignment - 1) / kHostAlignment * kHostAlignment);
    if (at == nullptr) throw std::runtime_error("no memory for " + std::to_string(bytes) + " bytes");
    memory_ = std::shared_ptr<void>(at, std::free);
  }
}

void Memory::upload(const void* from) {
  if (bytes_ == 0) return;
  if (device_ == ricci::Device::gpu) {
    Driver::check(Driver::get().to_device(address(data()), from, bytes_), "copying to the GPU");
  } else {
    std::memcpy(data(), from, bytes_);
  }
}

void Memory::download(void* to) const {
  if (bytes_ == 0) return;
  if (device_ == ricci::Device::gpu) {
    Driver::check(Driver::get().to_host(to, address(data()), bytes_), "copying from the GPU");
  } else {
    std::memcpy(to, data(), bytes_);
  }
}

void synchronize(ricci::Device device) {
  if (device == ricci::Device::gpu) Driver::check(Driver::get().wait(), "a kernel");
}

}  // namespace examples
