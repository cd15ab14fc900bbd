// Ricci declares the CUDA driver and NVRTC itself: every value and signature must be NVIDIA's.
#include "jit/cuda_api.hpp"

#include <cuda.h>
#include <nvrtc.h>

#include <cstddef>
#include <type_traits>

#include "agrees.hpp"
#include "catch.hpp"

namespace api = ricci::jit::api;

namespace {

using ricci::tests::Agrees;
using D = api::DriverFunctions;
using N = api::NvrtcFunctions;
#define RICCI_SAME(ours, theirs) static_assert(Agrees<decltype(ours), decltype(&theirs)>::value)
RICCI_SAME(N::get_error_string, nvrtcGetErrorString);
RICCI_SAME(N::version, nvrtcVersion);
RICCI_SAME(N::get_num_supported_archs, nvrtcGetNumSupportedArchs);
RICCI_SAME(N::get_supported_archs, nvrtcGetSupportedArchs);
RICCI_SAME(N::create_program, nvrtcCreateProgram);
RICCI_SAME(N::destroy_program, nvrtcDestroyProgram);
RICCI_SAME(N::compile_program, nvrtcCompileProgram);
RICCI_SAME(N::get_cubin_size, nvrtcGetCUBINSize);
RICCI_SAME(N::get_cubin, nvrtcGetCUBIN);
RICCI_SAME(N::get_log_size, nvrtcGetProgramLogSize);
RICCI_SAME(N::get_log, nvrtcGetProgramLog);
RICCI_SAME(D::init, cuInit);
RICCI_SAME(D::driver_get_version, cuDriverGetVersion);
RICCI_SAME(D::get_error_name, cuGetErrorName);
RICCI_SAME(D::get_error_string, cuGetErrorString);
RICCI_SAME(D::device_get_count, cuDeviceGetCount);
RICCI_SAME(D::device_get, cuDeviceGet);
RICCI_SAME(D::device_get_name, cuDeviceGetName);
RICCI_SAME(D::device_get_uuid, cuDeviceGetUuid);
RICCI_SAME(D::device_get_pci_bus_id, cuDeviceGetPCIBusId);
RICCI_SAME(D::device_total_mem, cuDeviceTotalMem);
RICCI_SAME(D::device_get_attribute, cuDeviceGetAttribute);
RICCI_SAME(D::primary_context_retain, cuDevicePrimaryCtxRetain);
RICCI_SAME(D::context_get_current, cuCtxGetCurrent);
RICCI_SAME(D::context_set_current, cuCtxSetCurrent);
RICCI_SAME(D::context_push, cuCtxPushCurrent);
RICCI_SAME(D::context_pop, cuCtxPopCurrent);
RICCI_SAME(D::context_get_device, cuCtxGetDevice);
RICCI_SAME(D::context_synchronize, cuCtxSynchronize);
RICCI_SAME(D::module_load_data, cuModuleLoadData);
RICCI_SAME(D::module_unload, cuModuleUnload);
RICCI_SAME(D::module_get_function, cuModuleGetFunction);
RICCI_SAME(D::function_get_attribute, cuFuncGetAttribute);
RICCI_SAME(D::function_set_attribute, cuFuncSetAttribute);
RICCI_SAME(D::launch_kernel, cuLaunchKernel);
RICCI_SAME(D::pointer_get_attributes, cuPointerGetAttributes);
RICCI_SAME(D::memory_allocate, cuMemAlloc);
RICCI_SAME(D::memory_free, cuMemFree);
RICCI_SAME(D::pool_create, cuMemPoolCreate);
RICCI_SAME(D::pool_set_attribute, cuMemPoolSetAttribute);
RICCI_SAME(D::pool_allocate_async, cuMemAllocFromPoolAsync);
static_assert(sizeof(api::PoolProperties) == sizeof(CUmemPoolProps) &&
              offsetof(api::PoolProperties, device) ==
                  offsetof(CUmemPoolProps, location) + offsetof(CUmemLocation, id) &&
              offsetof(api::PoolProperties, most) == offsetof(CUmemPoolProps, maxSize) &&
              api::kPoolReleaseThreshold == int{CU_MEMPOOL_ATTR_RELEASE_THRESHOLD});
RICCI_SAME(D::memory_free_async, cuMemFreeAsync);
RICCI_SAME(D::copy_host_to_device, cuMemcpyHtoD);
RICCI_SAME(D::copy_device_to_host, cuMemcpyDtoH);
RICCI_SAME(D::copy_device_to_device_async, cuMemcpyDtoDAsync);
RICCI_SAME(D::memory_set_bytes, cuMemsetD8);
RICCI_SAME(D::stream_create, cuStreamCreate);
RICCI_SAME(D::stream_destroy, cuStreamDestroy);
RICCI_SAME(D::stream_synchronize, cuStreamSynchronize);
RICCI_SAME(D::event_create, cuEventCreate);
RICCI_SAME(D::event_destroy, cuEventDestroy);
RICCI_SAME(D::event_record, cuEventRecord);
RICCI_SAME(D::event_synchronize, cuEventSynchronize);
RICCI_SAME(D::event_elapsed_time, cuEventElapsedTime);
#if CUDA_VERSION >= 12000
RICCI_SAME(D::stream_is_capturing, cuStreamIsCapturing);
RICCI_SAME(D::graph_create, cuGraphCreate);
RICCI_SAME(D::graph_destroy, cuGraphDestroy);
RICCI_SAME(D::graph_add_kernel, cuGraphAddKernelNode);
RICCI_SAME(D::graph_instantiate, cuGraphInstantiateWithFlags);
RICCI_SAME(D::graph_set_kernel, cuGraphExecKernelNodeSetParams);
RICCI_SAME(D::graph_launch, cuGraphLaunch);
RICCI_SAME(D::tensor_map_encode, cuTensorMapEncodeTiled);
static_assert(sizeof(CUtensorMap) == 128 && alignof(CUtensorMap) <= 128);
static_assert(api::kMapU8 == int{CU_TENSOR_MAP_DATA_TYPE_UINT8} &&
              api::kMapU16 == int{CU_TENSOR_MAP_DATA_TYPE_UINT16} &&
              api::kMapU32 == int{CU_TENSOR_MAP_DATA_TYPE_UINT32} &&
              api::kMapU64 == int{CU_TENSOR_MAP_DATA_TYPE_UINT64});
static_assert(api::kMapSwizzle32 == int{CU_TENSOR_MAP_SWIZZLE_32B} &&
              api::kMapSwizzle64 == int{CU_TENSOR_MAP_SWIZZLE_64B} &&
              api::kMapSwizzle128 == int{CU_TENSOR_MAP_SWIZZLE_128B} &&
              api::kMapLines128 == int{CU_TENSOR_MAP_L2_PROMOTION_L2_128B});
#endif
static_assert(sizeof(api::Uuid) == sizeof(CUuuid) && std::is_same_v<api::DevicePointer, CUdeviceptr>);

}  // namespace

TEST_CASE("our NVRTC codes are NVIDIA's") {
  CHECK(int{api::kNvrtcSuccess} == static_cast<int>(NVRTC_SUCCESS));
  CHECK(int{api::kNvrtcOutOfMemory} == static_cast<int>(NVRTC_ERROR_OUT_OF_MEMORY));
  CHECK(int{api::kNvrtcInvalidOption} == static_cast<int>(NVRTC_ERROR_INVALID_OPTION));
  CHECK(int{api::kNvrtcCompilation} == static_cast<int>(NVRTC_ERROR_COMPILATION));
}

TEST_CASE("our driver codes are NVIDIA's") {
  CHECK(int{api::kSuccess} == static_cast<int>(CUDA_SUCCESS));
  CHECK(int{api::kInvalidValue} == static_cast<int>(CUDA_ERROR_INVALID_VALUE));
  CHECK(int{api::kOutOfMemory} == static_cast<int>(CUDA_ERROR_OUT_OF_MEMORY));
  CHECK(int{api::kNotInitialized} == static_cast<int>(CUDA_ERROR_NOT_INITIALIZED));
  CHECK(int{api::kDeinitialized} == static_cast<int>(CUDA_ERROR_DEINITIALIZED));
  CHECK(int{api::kStubLibrary} == static_cast<int>(CUDA_ERROR_STUB_LIBRARY));
  CHECK(int{api::kNoDevice} == static_cast<int>(CUDA_ERROR_NO_DEVICE));
  CHECK(int{api::kInvalidImage} == static_cast<int>(CUDA_ERROR_INVALID_IMAGE));
  CHECK(int{api::kInvalidContext} == static_cast<int>(CUDA_ERROR_INVALID_CONTEXT));
  CHECK(int{api::kNoBinaryForGpu} == static_cast<int>(CUDA_ERROR_NO_BINARY_FOR_GPU));
  CHECK(int{api::kInvalidHandle} == static_cast<int>(CUDA_ERROR_INVALID_HANDLE));
  CHECK(int{api::kNotFound} == static_cast<int>(CUDA_ERROR_NOT_FOUND));
  CHECK(int{api::kNotReady} == static_cast<int>(CUDA_ERROR_NOT_READY));
  CHECK(int{api::kIllegalAddress} == static_cast<int>(CUDA_ERROR_ILLEGAL_ADDRESS));
  CHECK(int{api::kLaunchOutOfResources} == static_cast<int>(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES));
  CHECK(int{api::kContextIsDestroyed} == static_cast<int>(CUDA_ERROR_CONTEXT_IS_DESTROYED));
  CHECK(int{api::kHardwareStackError} == static_cast<int>(CUDA_ERROR_HARDWARE_STACK_ERROR));
  CHECK(int{api::kIllegalInstruction} == static_cast<int>(CUDA_ERROR_ILLEGAL_INSTRUCTION));
  CHECK(int{api::kMisalignedAddress} == static_cast<int>(CUDA_ERROR_MISALIGNED_ADDRESS));
  CHECK(int{api::kInvalidAddressSpace} == static_cast<int>(CUDA_ERROR_INVALID_ADDRESS_SPACE));
  CHECK(int{api::kInvalidPc} == static_cast<int>(CUDA_ERROR_INVALID_PC));
  CHECK(int{api::kLaunchFailed} == static_cast<int>(CUDA_ERROR_LAUNCH_FAILED));
  CHECK(int{api::kSystemNotReady} == static_cast<int>(CUDA_ERROR_SYSTEM_NOT_READY));
  CHECK(int{api::kSystemDriverMismatch} == static_cast<int>(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH));
  CHECK(int{api::kCompatNotSupported} == static_cast<int>(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE));
}

TEST_CASE("our attribute numbers are NVIDIA's") {
  CHECK(int{api::kMaxThreadsPerBlock} == static_cast<int>(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  CHECK(int{api::kClockRate} == static_cast<int>(CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
  CHECK(int{api::kMultiprocessorCount} == static_cast<int>(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  CHECK(int{api::kMemoryClockRate} == static_cast<int>(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE));
  CHECK(int{api::kMemoryBusWidth} == static_cast<int>(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
  CHECK(int{api::kL2CacheSize} == static_cast<int>(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  CHECK(int{api::kMaxThreadsPerMultiprocessor} == static_cast<int>(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR));
  CHECK(int{api::kComputeCapabilityMajor} == static_cast<int>(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  CHECK(int{api::kComputeCapabilityMinor} == static_cast<int>(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  CHECK(int{api::kMaxSharedMemoryPerMultiprocessor} ==
        static_cast<int>(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
  CHECK(int{api::kMaxRegistersPerMultiprocessor} ==
        static_cast<int>(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR));
  CHECK(int{api::kMaxSharedMemoryPerBlockOptin} ==
        static_cast<int>(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  CHECK(int{api::kMaxBlocksPerMultiprocessor} == static_cast<int>(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR));
  CHECK(int{api::kReservedSharedMemoryPerBlock} ==
        static_cast<int>(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK));
  CHECK(int{api::kFunctionSharedBytes} == static_cast<int>(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  CHECK(int{api::kFunctionMaxDynamicShared} == static_cast<int>(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
  CHECK(int{api::kPointerMemoryType} == static_cast<int>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE));
  CHECK(int{api::kPointerIsManaged} == static_cast<int>(CU_POINTER_ATTRIBUTE_IS_MANAGED));
  CHECK(int{api::kPointerDeviceOrdinal} == static_cast<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL));
  CHECK(int{api::kPointerRangeStart} == static_cast<int>(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR));
  CHECK(int{api::kPointerRangeSize} == static_cast<int>(CU_POINTER_ATTRIBUTE_RANGE_SIZE));
  CHECK(int{api::kMemoryHost} == static_cast<int>(CU_MEMORYTYPE_HOST));
  CHECK(int{api::kMemoryDevice} == static_cast<int>(CU_MEMORYTYPE_DEVICE));
  CHECK(int{api::kEventDefault} == static_cast<int>(CU_EVENT_DEFAULT));
  CHECK(int{api::kStreamNonBlocking} == static_cast<int>(CU_STREAM_NON_BLOCKING));
}
