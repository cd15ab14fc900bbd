// The few types, values and signatures of NVRTC and the CUDA driver that Ricci calls, so that neither building nor
// installing it needs a CUDA toolkit. tests/unit/jit_cuda_api.cpp compares them with NVIDIA's headers where those
// exist.
#pragma once
#include <cstddef>

namespace ricci::jit::api {

// NVRTC ---------------------------------------------------------------------------------------------------------------
using NvrtcProgram = struct NvrtcProgramTag*;

enum : int {
  kNvrtcSuccess = 0,
  kNvrtcOutOfMemory = 1,
  kNvrtcInvalidOption = 5,
  kNvrtcCompilation = 6,
};

struct NvrtcFunctions {
  const char* (*get_error_string)(int) = nullptr;
  int (*version)(int* major, int* minor) = nullptr;
  int (*get_num_supported_archs)(int*) = nullptr;
  int (*get_supported_archs)(int*) = nullptr;
  int (*create_program)(NvrtcProgram*, const char* source, const char* name, int headers,
                        const char* const* header_texts, const char* const* header_names) = nullptr;
  int (*destroy_program)(NvrtcProgram*) = nullptr;
  int (*compile_program)(NvrtcProgram, int options, const char* const* texts) = nullptr;
  int (*get_cubin_size)(NvrtcProgram, std::size_t*) = nullptr;
  int (*get_cubin)(NvrtcProgram, char*) = nullptr;
  int (*get_log_size)(NvrtcProgram, std::size_t*) = nullptr;
  int (*get_log)(NvrtcProgram, char*) = nullptr;
};

// The driver ----------------------------------------------------------------------------------------------------------
using Device = int;                            // CUdevice
using DevicePointer = unsigned long long;      // CUdeviceptr
using Context = struct ContextTag*;            // CUcontext
using ModuleHandle = struct ModuleTag*;        // CUmodule
using Function = struct FunctionTag*;          // CUfunction
using StreamHandle = struct StreamTag*;        // CUstream
using EventHandle = struct EventTag*;          // CUevent
using GraphHandle = struct GraphTag*;          // CUgraph
using GraphNode = struct GraphNodeTag*;        // CUgraphNode
using GraphExecutable = struct GraphExecTag*;  // CUgraphExec
using MemoryPool = struct MemoryPoolTag*;      // CUmemoryPool
struct Uuid {
  unsigned char bytes[16];
};
struct PoolProperties {                           // CUmemPoolProps
  int allocation = 1, handles = 0, location = 1;  // pinned memory, for this process, on a device
  int device = 0;
  void* security = nullptr;
  std::size_t most = 0;
  unsigned short usage = 0;
  unsigned char reserved[54] = {};
};
inline constexpr int kPoolReleaseThreshold = 4;  // CUmemPool_attribute

// CUresult
enum : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kStubLibrary = 34,
  kNoDevice = 100,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kContextIsDestroyed = 709,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailed = 719,
  kSystemNotReady = 802,
  kSystemDriverMismatch = 803,
  kCompatNotSupported = 804,
};

// CUdevice_attribute
enum : int {
  kMaxThreadsPerBlock = 1,
  kClockRate = 13,
  kMultiprocessorCount = 16,
  kMemoryClockRate = 36,
  kMemoryBusWidth = 37,
  kL2CacheSize = 38,
  kMaxThreadsPerMultiprocessor = 39,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedMemoryPerMultiprocessor = 81,
  kMaxRegistersPerMultiprocessor = 82,
  kMaxSharedMemoryPerBlockOptin = 97,
  kMaxBlocksPerMultiprocessor = 106,
  kReservedSharedMemoryPerBlock = 111,
};

// CUfunction_attribute
enum : int {
  kFunctionSharedBytes = 1,
  kFunctionMaxDynamicShared = 8,
};

// CUpointer_attribute, CUmemorytype and flags
enum : int {
  kPointerMemoryType = 2,
  kPointerIsManaged = 8,
  kPointerDeviceOrdinal = 9,
  kPointerRangeStart = 11,
  kPointerRangeSize = 12,
  kMemoryHost = 1,
  kMemoryDevice = 2,
  kEventDefault = 0,
  kStreamNonBlocking = 1,
};

// CUDA_KERNEL_NODE_PARAMS of CUDA 12 and newer
struct KernelNode {
  Function function = nullptr;
  unsigned grid_x = 1, grid_y = 1, grid_z = 1, block_x = 1, block_y = 1, block_z = 1, shared_bytes = 0;
  void** args = nullptr;
  void** extra = nullptr;
  void* kernel = nullptr;     // where `function` is null
  Context context = nullptr;  // likewise
};

// CUtensorMapDataType, CUtensorMapSwizzle, CUtensorMapL2promotion
enum : int {
  kMapU8 = 0,
  kMapU16 = 1,
  kMapU32 = 2,
  kMapU64 = 4,
  kMapSwizzle32 = 1,
  kMapSwizzle64 = 2,
  kMapSwizzle128 = 3,
  kMapLines128 = 2,
};

struct DriverFunctions {
  int (*init)(unsigned flags) = nullptr;
  int (*driver_get_version)(int*) = nullptr;
  int (*get_error_name)(int, const char**) = nullptr;
  int (*get_error_string)(int, const char**) = nullptr;
  int (*device_get_count)(int*) = nullptr;
  int (*device_get)(Device*, int ordinal) = nullptr;
  int (*device_get_name)(char*, int bytes, Device) = nullptr;
  int (*device_get_uuid)(Uuid*, Device) = nullptr;
  int (*device_get_pci_bus_id)(char*, int bytes, Device) = nullptr;
  int (*device_total_mem)(std::size_t*, Device) = nullptr;
  int (*device_get_attribute)(int*, int attribute, Device) = nullptr;
  int (*primary_context_retain)(Context*, Device) = nullptr;
  int (*context_get_current)(Context*) = nullptr;
  int (*context_set_current)(Context) = nullptr;
  int (*context_push)(Context) = nullptr;
  int (*context_pop)(Context*) = nullptr;
  int (*context_get_device)(Device*) = nullptr;
  int (*context_synchronize)() = nullptr;
  int (*module_load_data)(ModuleHandle*, const void*) = nullptr;
  int (*module_unload)(ModuleHandle) = nullptr;
  int (*module_get_function)(Function*, ModuleHandle, const char*) = nullptr;
  int (*function_get_attribute)(int*, int attribute, Function) = nullptr;
  int (*function_set_attribute)(Function, int attribute, int value) = nullptr;
  int (*launch_kernel)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                       unsigned block_z, unsigned shared_bytes, StreamHandle, void** args, void** extra) = nullptr;
  int (*pointer_get_attributes)(unsigned count, int* attributes, void** data, DevicePointer) = nullptr;
  int (*memory_allocate)(DevicePointer*, std::size_t) = nullptr;
  int (*memory_free)(DevicePointer) = nullptr;
  int (*pool_create)(MemoryPool*, const PoolProperties*) = nullptr;
  int (*pool_set_attribute)(MemoryPool, int attribute, void* value) = nullptr;
  int (*pool_allocate_async)(DevicePointer*, std::size_t, MemoryPool, StreamHandle) = nullptr;
  int (*memory_free_async)(DevicePointer, StreamHandle) = nullptr;
  int (*copy_host_to_device)(DevicePointer, const void*, std::size_t) = nullptr;
  int (*copy_device_to_host)(void*, DevicePointer, std::size_t) = nullptr;
  int (*copy_device_to_device_async)(DevicePointer, DevicePointer, std::size_t, StreamHandle) = nullptr;
  int (*memory_set_bytes)(DevicePointer, unsigned char, std::size_t) = nullptr;
  int (*stream_create)(StreamHandle*, unsigned flags) = nullptr;
  int (*stream_destroy)(StreamHandle) = nullptr;
  int (*stream_synchronize)(StreamHandle) = nullptr;
  int (*event_create)(EventHandle*, unsigned flags) = nullptr;
  int (*event_destroy)(EventHandle) = nullptr;
  int (*event_record)(EventHandle, StreamHandle) = nullptr;
  int (*event_synchronize)(EventHandle) = nullptr;
  int (*event_elapsed_time)(float* ms, EventHandle, EventHandle) = nullptr;
  // Of CUDA 12: null where the driver is older.
  int (*stream_is_capturing)(StreamHandle, int* status) = nullptr;
  int (*graph_create)(GraphHandle*, unsigned flags) = nullptr;
  int (*graph_destroy)(GraphHandle) = nullptr;
  int (*graph_add_kernel)(GraphNode*, GraphHandle, const GraphNode* after, std::size_t count,
                          const KernelNode*) = nullptr;
  int (*graph_instantiate)(GraphExecutable*, GraphHandle, unsigned long long flags) = nullptr;
  int (*graph_set_kernel)(GraphExecutable, GraphNode, const KernelNode*) = nullptr;
  int (*graph_launch)(GraphExecutable, StreamHandle) = nullptr;
  int (*graph_executable_destroy)(GraphExecutable) = nullptr;
  int (*tensor_map_encode)(void* map, int type, unsigned rank, void* address, const unsigned long* extents,
                           const unsigned long* strides, const unsigned* box, const unsigned* element_strides,
                           int interleave, int swizzle, int l2_promotion, int fill) = nullptr;
};

}  // namespace ricci::jit::api
