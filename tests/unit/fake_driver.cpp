// A library in the place of libcuda.so.1: three devices, two of them of sm_90 and one of sm_80, that run nothing and
// write down what they are asked for. Memory of a device is the host's.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "jit/cuda_api.hpp"

namespace api = ricci::jit::api;

namespace {

constexpr int kDevices = 3;

struct Block {
  std::size_t bytes = 0;
  int device = 0;
};

struct Graph {
  int device = 0;
  std::vector<std::string> kernels;  // each with the numbers of those that it waits for
};

std::mutex mutex;
std::atomic<bool> capturing = false;
std::vector<std::string> asked;
std::map<api::DevicePointer, Block> memory;  // by its first byte
thread_local std::vector<int> contexts;      // devices, the current one last

void note(const std::string& what) {
  const std::lock_guard lock(mutex);
  asked.push_back(what);
}

int current() { return contexts.empty() ? -1 : contexts.back(); }
constexpr std::uintptr_t kPools = 0x900;  // the pool of device 0; the next one's is that of device 1

std::string on_current() { return " on device " + std::to_string(current()); }

// Handles are a device and one more, since null is none.
template <class Handle>
Handle handle_of(int device) {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(device) + 1);
}
template <class Handle>
int device_of(Handle handle) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(handle)) - 1;
}

int allocate(api::DevicePointer* pointer, std::size_t bytes) {
  *pointer = reinterpret_cast<std::uintptr_t>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  const std::lock_guard lock(mutex);
  memory[*pointer] = {bytes, current()};
  return api::kSuccess;
}

int release(api::DevicePointer pointer) {
  const std::lock_guard lock(mutex);
  if (memory.erase(pointer) == 0) return api::kInvalidValue;
  std::free(reinterpret_cast<void*>(pointer));
  return api::kSuccess;
}

}  // namespace

extern "C" {

/// From now on work is written down into a graph of the caller's, or run.
void fake_driver_capture(bool on) { capturing = on; }

/// Hands out what was asked for since the last time, a line each.
void fake_driver_asked(void (*line)(const char* text, void* context), void* context) {
  std::vector<std::string> lines;
  {
    const std::lock_guard lock(mutex);
    lines.swap(asked);
  }
  for (const auto& text : lines) line(text.c_str(), context);
}

int cuInit(unsigned) { return api::kSuccess; }
int cuDriverGetVersion(int* version) { return *version = 13000, api::kSuccess; }
int cuGetErrorName(int, const char** name) { return *name = "CUDA_ERROR_FAKE", api::kSuccess; }
int cuGetErrorString(int, const char** text) { return *text = "of a fake driver", api::kSuccess; }
int cuDeviceGetCount(int* count) { return *count = kDevices, api::kSuccess; }
int cuDeviceGet(api::Device* device, int ordinal) { return *device = ordinal, api::kSuccess; }
int cuDeviceGetName(char* name, int, api::Device) { return std::strcpy(name, "fake"), api::kSuccess; }
int cuDeviceGetUuid_v2(api::Uuid* uuid, api::Device device) {
  *uuid = {};
  uuid->bytes[0] = static_cast<unsigned char>(device);
  return api::kSuccess;
}
int cuDeviceGetPCIBusId(char* id, int, api::Device) { return std::strcpy(id, "0000:00:00.0"), api::kSuccess; }
int cuDeviceTotalMem_v2(std::size_t* bytes, api::Device) { return *bytes = std::size_t{80} << 30, api::kSuccess; }
int cuDeviceGetAttribute(int* value, int attribute, api::Device device) {
  static const std::map<int, int> kValues = {
      {api::kMaxThreadsPerBlock, 1024},
      {api::kClockRate, 1980000},
      {api::kMultiprocessorCount, 132},
      {api::kMemoryClockRate, 2619000},
      {api::kMemoryBusWidth, 5120},
      {api::kL2CacheSize, 50 << 20},
      {api::kMaxThreadsPerMultiprocessor, 2048},
      {api::kComputeCapabilityMinor, 0},
      {api::kMaxSharedMemoryPerMultiprocessor, 228 << 10},
      {api::kMaxRegistersPerMultiprocessor, 65536},
      {api::kMaxSharedMemoryPerBlockOptin, 227 << 10},
      {api::kMaxBlocksPerMultiprocessor, 32},
      {api::kReservedSharedMemoryPerBlock, 1 << 10},
  };
  *value = attribute == api::kComputeCapabilityMajor ? (device == 2 ? 8 : 9) : kValues.at(attribute);
  return api::kSuccess;
}
int cuDevicePrimaryCtxRetain(api::Context* context, api::Device device) {
  return *context = handle_of<api::Context>(device), api::kSuccess;
}
int cuCtxGetCurrent(api::Context* context) {
  return *context = contexts.empty() ? nullptr : handle_of<api::Context>(current()), api::kSuccess;
}
int cuCtxSetCurrent(api::Context context) { return contexts = {device_of(context)}, api::kSuccess; }
int cuCtxPushCurrent_v2(api::Context context) { return contexts.push_back(device_of(context)), api::kSuccess; }
int cuCtxPopCurrent_v2(api::Context* context) {
  *context = handle_of<api::Context>(current());
  return contexts.pop_back(), api::kSuccess;
}
int cuCtxGetDevice(api::Device* device) { return *device = current(), api::kSuccess; }
int cuCtxSynchronize() { return note("wait" + on_current()), api::kSuccess; }
int cuModuleLoadData(api::ModuleHandle* module, const void*) {
  if (current() == 2) return api::kNoBinaryForGpu;  // kernels of sm_90 alone come here
  note("load" + on_current());
  return *module = handle_of<api::ModuleHandle>(current()), api::kSuccess;
}
int cuModuleUnload(api::ModuleHandle) { return api::kSuccess; }
int cuModuleGetFunction(api::Function* function, api::ModuleHandle module, const char*) {
  return *function = handle_of<api::Function>(device_of(module)), api::kSuccess;
}
int cuFuncGetAttribute(int* value, int, api::Function) { return *value = 0, api::kSuccess; }
int cuFuncSetAttribute(api::Function, int, int) { return api::kSuccess; }
int cuLaunchKernel(api::Function function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   api::StreamHandle stream, void**, void**) {
  if (device_of(function) != current()) return api::kInvalidHandle;
  note("launch" + on_current() + " stream " + std::to_string(reinterpret_cast<std::uintptr_t>(stream)));
  return api::kSuccess;
}
int cuPointerGetAttributes(unsigned count, int* attributes, void** data, api::DevicePointer pointer) {
  const std::lock_guard lock(mutex);
  auto place = memory.upper_bound(pointer);
  const bool known = place != memory.begin() && pointer < (--place)->first + place->second.bytes;
  for (unsigned k = 0; k < count; ++k) {
    const bool wide = attributes[k] == api::kPointerRangeStart || attributes[k] == api::kPointerRangeSize;
    std::memset(data[k], 0, wide ? 8 : 4);
    if (!known) continue;
    if (attributes[k] == api::kPointerMemoryType) *static_cast<unsigned*>(data[k]) = api::kMemoryDevice;
    if (attributes[k] == api::kPointerDeviceOrdinal) *static_cast<int*>(data[k]) = place->second.device;
    if (attributes[k] == api::kPointerRangeStart) *static_cast<api::DevicePointer*>(data[k]) = place->first;
    if (attributes[k] == api::kPointerRangeSize) *static_cast<std::size_t*>(data[k]) = place->second.bytes;
  }
  return api::kSuccess;
}
int cuMemAlloc_v2(api::DevicePointer* pointer, std::size_t bytes) {
  return note("allocate" + on_current()), allocate(pointer, bytes);
}
int cuMemFree_v2(api::DevicePointer pointer) { return release(pointer); }
int cuMemPoolCreate(api::MemoryPool* pool, const api::PoolProperties* properties) {
  *pool = reinterpret_cast<api::MemoryPool>(kPools + static_cast<std::uintptr_t>(properties->device));
  return api::kSuccess;
}
int cuMemPoolSetAttribute(api::MemoryPool, int, void*) { return api::kSuccess; }
int cuMemAllocFromPoolAsync(api::DevicePointer* pointer, std::size_t bytes, api::MemoryPool pool, api::StreamHandle) {
  const auto device = reinterpret_cast<std::uintptr_t>(pool) - kPools;
  return note("allocate in order on device " + std::to_string(device)), allocate(pointer, bytes);
}
int cuMemFreeAsync(api::DevicePointer pointer, api::StreamHandle) {
  return note("free in order" + on_current()), release(pointer);
}
int cuMemcpyHtoD_v2(api::DevicePointer, const void*, std::size_t) { return note("copy"), api::kSuccess; }
int cuMemcpyDtoH_v2(void*, api::DevicePointer, std::size_t) { return note("copy"), api::kSuccess; }
int cuMemcpyDtoDAsync_v2(api::DevicePointer, api::DevicePointer, std::size_t, api::StreamHandle) {
  return note("copy"), api::kSuccess;
}
int cuMemsetD8_v2(api::DevicePointer, unsigned char, std::size_t) { return note("fill"), api::kSuccess; }
int cuStreamCreate(api::StreamHandle* stream, unsigned) {
  return *stream = handle_of<api::StreamHandle>(current()), api::kSuccess;
}
int cuStreamDestroy_v2(api::StreamHandle) { return api::kSuccess; }
int cuStreamSynchronize(api::StreamHandle) { return note("wait for a stream"), api::kSuccess; }
int cuEventCreate(api::EventHandle* event, unsigned) { return *event = handle_of<api::EventHandle>(0), api::kSuccess; }
int cuEventDestroy_v2(api::EventHandle) { return api::kSuccess; }
int cuEventRecord(api::EventHandle, api::StreamHandle) { return note("event"), api::kSuccess; }
int cuEventSynchronize(api::EventHandle) { return note("wait for an event"), api::kSuccess; }
int cuStreamIsCapturing(api::StreamHandle, int* status) { return *status = capturing, api::kSuccess; }
int cuGraphCreate(api::GraphHandle* graph, unsigned) {
  return *graph = reinterpret_cast<api::GraphHandle>(new Graph{current(), {}}), api::kSuccess;
}
int cuGraphDestroy(api::GraphHandle graph) { return delete reinterpret_cast<Graph*>(graph), api::kSuccess; }
int cuGraphAddKernelNode_v2(api::GraphNode* node, api::GraphHandle to, const api::GraphNode* after, std::size_t count,
                            const api::KernelNode* kernel) {
  auto& graph = *reinterpret_cast<Graph*>(to);
  if (device_of(kernel->function) != graph.device) return api::kInvalidHandle;
  std::string text;
  for (std::size_t k = 0; k < count; ++k) text += ' ' + std::to_string(device_of(after[k]));
  graph.kernels.push_back(text);
  return *node = handle_of<api::GraphNode>(static_cast<int>(graph.kernels.size()) - 1), api::kSuccess;
}
int cuGraphInstantiateWithFlags(api::GraphExecutable* executable, api::GraphHandle of, unsigned long long) {
  const auto& graph = *reinterpret_cast<Graph*>(of);
  std::string text = "graph" + on_current();
  for (std::size_t k = 0; k < graph.kernels.size(); ++k) text += ", " + std::to_string(k) + " after" + graph.kernels[k];
  note(text);
  return *executable = handle_of<api::GraphExecutable>(graph.device), api::kSuccess;
}
int cuGraphExecKernelNodeSetParams_v2(api::GraphExecutable, api::GraphNode node, const api::KernelNode*) {
  return note("update " + std::to_string(device_of(node))), api::kSuccess;
}
int cuGraphLaunch(api::GraphExecutable executable, api::StreamHandle stream) {
  if (device_of(executable) != current()) return api::kInvalidHandle;
  note("launch a graph" + on_current() + " stream " + std::to_string(reinterpret_cast<std::uintptr_t>(stream)));
  return api::kSuccess;
}
int cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* address, const unsigned long* extents,
                           const unsigned long*, const unsigned*, const unsigned*, int, int swizzle, int, int) {
  if (reinterpret_cast<std::uintptr_t>(address) % 16 != 0 || rank < 1 || rank > 5) return api::kInvalidValue;
  std::memset(map, 0, 128);
  std::memcpy(map, &address, sizeof(address));
  note("map of " + std::to_string(rank) + " dimensions, type " + std::to_string(type) + ", swizzle " +
       std::to_string(swizzle) + ", " + std::to_string(extents[0]) + " neighbours");
  return api::kSuccess;
}
int cuGraphExecDestroy(api::GraphExecutable) { return note("drop a graph"), api::kSuccess; }
int cuEventElapsedTime(float* ms, api::EventHandle, api::EventHandle) { return *ms = 1, api::kSuccess; }

}  // extern "C"
