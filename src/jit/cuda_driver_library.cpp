#include "jit/cuda_driver_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <mutex>
#include <type_traits>
#include <utility>

#include "ricci/error.hpp"
#include "ricci/log.hpp"

#ifndef RICCI_CUDA
#define RICCI_CUDA 1
#endif

namespace ricci::jit::cuda {
namespace {

// What to do about the codes that users meet. Those from kIllegalAddress on leave the context unusable.
const char* advice(int code) {
  switch (code) {
    case api::kInvalidValue:
      return "An argument is outside what the device takes: a size, a grid or block extent, or a host pointer given as "
             "a device one.";
    case api::kOutOfMemory:
      return "Free device memory, or use smaller tensors or another device.";
    case api::kNotInitialized:
      return "CUDA does not survive fork(): call Ricci for the first time in the child, or start the child with exec.";
    case api::kDeinitialized:
      return "The process is ending: finish GPU work before main returns.";
    case api::kStubLibrary:
      return "The libcuda.so.1 found is the toolkit's stub: take the folder `stubs` out of LD_LIBRARY_PATH.";
    case api::kNoDevice:
      return "Check `nvidia-smi` and CUDA_VISIBLE_DEVICES.";
    case api::kInvalidImage:
    case api::kNoBinaryForGpu:
      return "The CUBIN was made for another architecture, or is damaged.";
    case api::kInvalidContext:
      return "Set a device for this thread first (cudaSetDevice or cuCtxSetCurrent).";
    case api::kInvalidHandle:
      return "The stream, event or kernel belongs to another device's context, or was destroyed.";
    case api::kNotFound:
      return "The module has no kernel of this name.";
    case api::kNotReady:
      return "Wait for the event first.";
    case api::kLaunchOutOfResources:
      return "The block needs more registers, threads or shared memory than the device has.";
    case api::kSystemNotReady:
      return "The fabric manager or the driver is still starting.";
    case api::kSystemDriverMismatch:
    case api::kCompatNotSupported:
      return "The kernel module and libcuda.so.1 are of different releases: restart the machine, or take the "
             "compatibility package away.";
    case api::kIllegalAddress:
    case api::kContextIsDestroyed:
    case api::kHardwareStackError:
    case api::kIllegalInstruction:
    case api::kMisalignedAddress:
    case api::kInvalidAddressSpace:
    case api::kInvalidPc:
    case api::kLaunchFailed:
      return "An earlier kernel of this process failed, its own or Ricci's; the context is lost until the process "
             "restarts. Run it under compute-sanitizer to find the kernel.";
    default:
      return "";
  }
}

// Beyond the linker's own search: where WSL, the NVIDIA container runtime and NixOS put the driver.
constexpr const char* kDriverFiles[] = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1",
                                        "/usr/local/nvidia/lib64/libcuda.so.1", "/run/opengl-driver/lib/libcuda.so.1"};

constexpr int kMaxDevices = 64;
std::mutex contexts_mutex;
api::Context contexts[kMaxDevices] = {};  // retained for the life of the process, as the CUDA runtime does

}  // namespace

const Driver& Driver::get() noexcept {
  // Never destroyed: modules in other statics are unloaded through it while the process ends.
  static const Driver* const driver = [] {
    Driver* made = new Driver;
    made->open();
    return made;
  }();
  return *driver;
}

const Driver& Driver::need() {
  const Driver& driver = get();
  if (!driver.reason.empty()) throw DeviceError(fmt::format("there is no CUDA device: {}", driver.reason));
  return driver;
}

void Driver::open() noexcept try {
  if (RICCI_CUDA == 0) {
    reason = "this Ricci was built with RICCI_CUDA=OFF";
    return;
  }
  void* library = nullptr;
  std::string why;
  for (const char* file : kDriverFiles) {
    library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library) break;
    const char* text = ::dlerror();
    if (why.empty()) why = text ? text : file;
  }
  if (!library) {
    reason = fmt::format("the NVIDIA driver library cannot be opened ({})", why);
    return;
  }
  std::string missing;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    return function != nullptr;
  };
  const auto load = [&](auto& function, const char* name) {
    if (!find(function, name) && missing.empty()) missing = name;
  };
  load(call.init, "cuInit");
  load(call.driver_get_version, "cuDriverGetVersion");
  load(call.get_error_name, "cuGetErrorName");
  load(call.get_error_string, "cuGetErrorString");
  load(call.device_get_count, "cuDeviceGetCount");
  load(call.device_get, "cuDeviceGet");
  load(call.device_get_name, "cuDeviceGetName");
  load(call.device_get_uuid, "cuDeviceGetUuid_v2");
  load(call.device_get_pci_bus_id, "cuDeviceGetPCIBusId");
  load(call.device_total_mem, "cuDeviceTotalMem_v2");
  load(call.device_get_attribute, "cuDeviceGetAttribute");
  load(call.primary_context_retain, "cuDevicePrimaryCtxRetain");
  load(call.context_get_current, "cuCtxGetCurrent");
  load(call.context_set_current, "cuCtxSetCurrent");
  load(call.context_push, "cuCtxPushCurrent_v2");
  load(call.context_pop, "cuCtxPopCurrent_v2");
  load(call.context_get_device, "cuCtxGetDevice");
  load(call.context_synchronize, "cuCtxSynchronize");
  load(call.module_load_data, "cuModuleLoadData");
  load(call.module_unload, "cuModuleUnload");
  load(call.module_get_function, "cuModuleGetFunction");
  load(call.function_get_attribute, "cuFuncGetAttribute");
  load(call.function_set_attribute, "cuFuncSetAttribute");
  load(call.launch_kernel, "cuLaunchKernel");
  load(call.pointer_get_attributes, "cuPointerGetAttributes");
  load(call.memory_allocate, "cuMemAlloc_v2");
  load(call.memory_free, "cuMemFree_v2");
  load(call.pool_create, "cuMemPoolCreate");
  load(call.pool_set_attribute, "cuMemPoolSetAttribute");
  load(call.pool_allocate_async, "cuMemAllocFromPoolAsync");
  load(call.memory_free_async, "cuMemFreeAsync");
  load(call.copy_host_to_device, "cuMemcpyHtoD_v2");
  load(call.copy_device_to_host, "cuMemcpyDtoH_v2");
  load(call.copy_device_to_device_async, "cuMemcpyDtoDAsync_v2");
  load(call.memory_set_bytes, "cuMemsetD8_v2");
  load(call.stream_create, "cuStreamCreate");
  load(call.stream_destroy, "cuStreamDestroy_v2");
  load(call.stream_synchronize, "cuStreamSynchronize");
  load(call.event_create, "cuEventCreate");
  load(call.event_destroy, "cuEventDestroy_v2");
  load(call.event_record, "cuEventRecord");
  load(call.event_synchronize, "cuEventSynchronize");
  load(call.event_elapsed_time, "cuEventElapsedTime");
  find(call.stream_is_capturing, "cuStreamIsCapturing");
  find(call.graph_create, "cuGraphCreate");
  find(call.graph_destroy, "cuGraphDestroy");
  find(call.graph_add_kernel, "cuGraphAddKernelNode_v2");
  find(call.graph_instantiate, "cuGraphInstantiateWithFlags");
  find(call.graph_set_kernel, "cuGraphExecKernelNodeSetParams_v2");
  find(call.graph_launch, "cuGraphLaunch");
  find(call.graph_executable_destroy, "cuGraphExecDestroy");
  find(call.tensor_map_encode, "cuTensorMapEncodeTiled");
  if (!missing.empty()) {
    reason = fmt::format("libcuda.so.1 has no {}: the driver is older than CUDA 11.4, update it", missing);
    return;
  }
  call.driver_get_version(&version);
  if (const int code = call.init(0); code != api::kSuccess) {
    reason = fmt::format("cuInit: {}. {}", describe(code), advice(code));
    return;
  }
  if (const int code = call.device_get_count(&devices); code != api::kSuccess) {
    reason = fmt::format("cuDeviceGetCount: {}. {}", describe(code), advice(code));
  } else if (devices == 0) {
    reason = "the driver sees no device: check `nvidia-smi` and CUDA_VISIBLE_DEVICES";
  }
  if (log_enabled(LogTopic::compile))
    log_line(LogTopic::compile,
             fmt::format("CUDA driver {}.{} opened: {} devices", version / 1000, version % 1000 / 10, devices));
} catch (...) {  // only memory can run out in here
  devices = 0;
  reason = "out of memory";
}

std::string Driver::describe(int code) const {
  const char *name = nullptr, *text = nullptr;
  if (call.get_error_name) call.get_error_name(code, &name);
  if (call.get_error_string) call.get_error_string(code, &text);
  return fmt::format("{} ({}){}{}", name ? name : "unknown error", code, text ? ": " : "", text ? text : "");
}

void Driver::fail(int code, const char* function, const std::string& doing) const {
  const char* hint = advice(code);
  throw DeviceError(fmt::format("{} failed: {}: {}{}{}", doing, function, describe(code), *hint ? "\n  " : "", hint));
}

api::Context Driver::primary(int ordinal) const {
  if (ordinal < 0 || ordinal >= devices || ordinal >= kMaxDevices)
    throw DeviceError(
        fmt::format("there is no CUDA device {}: this process sees {}, numbered from 0", ordinal, devices));
  const std::lock_guard lock(contexts_mutex);
  if (!contexts[ordinal]) {
    api::Device device = 0;
    check(call.device_get(&device, ordinal), "cuDeviceGet", fmt::format("opening device {}", ordinal));
    check(call.primary_context_retain(&contexts[ordinal], device), "cuDevicePrimaryCtxRetain",
          fmt::format("opening device {}", ordinal));
  }
  return contexts[ordinal];
}

api::MemoryPool Driver::workspace_pool(int ordinal) const {
  primary(ordinal);  // the device exists
  static api::MemoryPool pools[kMaxDevices];
  const std::lock_guard lock(contexts_mutex);
  if (!pools[ordinal]) {
    api::PoolProperties properties;
    check(call.device_get(&properties.device, ordinal), "cuDeviceGet", fmt::format("opening device {}", ordinal));
    const auto doing = fmt::format("making a memory pool on device {}", ordinal);
    check(call.pool_create(&pools[ordinal], &properties), "cuMemPoolCreate", doing);
    std::uint64_t kept = kKeptWorkspace;
    check(call.pool_set_attribute(pools[ordinal], api::kPoolReleaseThreshold, &kept), "cuMemPoolSetAttribute", doing);
  }
  return pools[ordinal];
}

void Driver::ensure_context() const {
  api::Context current = nullptr;
  check(call.context_get_current(&current), "cuCtxGetCurrent", "reading this thread's context");
  if (!current) check(call.context_set_current(primary(0)), "cuCtxSetCurrent", "setting this thread's context");
}

ContextScope::ContextScope(const Driver& driver, int ordinal) : driver_(driver) {
  driver.check(driver.call.context_push(driver.primary(ordinal)), "cuCtxPushCurrent",
               fmt::format("switching to device {}", ordinal));
}

ContextScope::~ContextScope() {
  api::Context popped = nullptr;
  driver_.call.context_pop(&popped);
}

}  // namespace ricci::jit::cuda
