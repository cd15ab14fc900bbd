#include "jit/cuda_driver.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "jit/cuda_driver_library.hpp"
#include "ricci/error.hpp"
#include "ricci/log.hpp"

namespace ricci::jit::cuda {
namespace {

api::DevicePointer address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
api::StreamHandle handle(Stream stream) { return static_cast<api::StreamHandle>(stream); }

constexpr std::size_t kDefaultDynamicShared = std::size_t{48} * 1024;  // what every kernel may use without asking

// Which device a kernel lives on: needed only for threads without a context, and in messages.
struct FunctionOwners {
  std::mutex mutex;
  struct Owner {
    int ordinal;
    const Module* module;
  };
  std::unordered_map<const void*, Owner> of;

  static FunctionOwners& get() {
    static FunctionOwners* const owners = new FunctionOwners;  // outlives modules in other statics
    return *owners;
  }
  int ordinal(const void* function) {
    const std::lock_guard lock(mutex);
    const auto found = of.find(function);
    return found == of.end() ? -1 : found->second.ordinal;
  }
};

// A thread whose context is none: give it the one of the kernel's device.
bool adopt_context(const Driver& driver, const void* function) {
  api::Context current = nullptr;
  if (driver.call.context_get_current(&current) != api::kSuccess || current) return false;
  const int ordinal = FunctionOwners::get().ordinal(function);
  driver.check(driver.call.context_set_current(driver.primary(std::max(ordinal, 0))), "cuCtxSetCurrent",
               "setting this thread's context");
  return true;
}

[[noreturn]] void launch_failed(const Driver& driver, int code, const void* function, unsigned grid_x, unsigned grid_y,
                                unsigned grid_z, unsigned block_x, std::size_t dynamic_shared) {
  api::Device current = -1;
  driver.call.context_get_device(&current);
  const int owner = FunctionOwners::get().ordinal(function);
  std::string where;
  if (owner >= 0 && current >= 0 && owner != current)
    where = fmt::format(" of a kernel that was loaded on device {} while device {} is current", owner, current);
  driver.fail(code, "cuLaunchKernel",
              fmt::format("launching {}x{}x{} blocks of {} threads with {} bytes of dynamic shared memory{}", grid_x,
                          grid_y, grid_z, block_x, dynamic_shared, where));
}

// The driver takes no size: it would read a truncated image past its end, and anything but ELF as PTX text.
bool is_whole_elf(std::span<const std::byte> image) {
  Elf64_Ehdr header;
  if (image.size() < sizeof header) return false;
  std::memcpy(&header, image.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return false;
  const auto within = [&](std::size_t offset, std::size_t bytes) {
    return offset <= image.size() && bytes <= image.size() - offset;
  };
  if (!within(header.e_phoff, std::size_t{header.e_phnum} * sizeof(Elf64_Phdr))) return false;
  if (!within(header.e_shoff, std::size_t{header.e_shnum} * sizeof(Elf64_Shdr))) return false;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image.data() + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS && !within(section.sh_offset, section.sh_size)) return false;
  }
  return true;
}

DeviceInfo read_device_info(const Driver& driver, int ordinal) {
  const std::string doing = fmt::format("asking for the properties of device {}", ordinal);
  api::Device device = 0;
  driver.check(driver.call.device_get(&device, ordinal), "cuDeviceGet", doing);
  const auto attribute = [&](int which) {
    int value = 0;
    driver.check(driver.call.device_get_attribute(&value, which, device), "cuDeviceGetAttribute", doing);
    return value;
  };
  DeviceInfo info;
  info.ordinal = ordinal;
  char text[256] = {};
  driver.check(driver.call.device_get_name(text, sizeof text - 1, device), "cuDeviceGetName", doing);
  info.name = text;
  driver.check(driver.call.device_get_pci_bus_id(text, sizeof text - 1, device), "cuDeviceGetPCIBusId", doing);
  info.pci_bus_id = text;
  std::transform(info.pci_bus_id.begin(), info.pci_bus_id.end(), info.pci_bus_id.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
  api::Uuid uuid{};
  driver.check(driver.call.device_get_uuid(&uuid, device), "cuDeviceGetUuid", doing);
  info.uuid = "GPU-";
  for (int i = 0; i < 16; ++i)
    info.uuid += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid.bytes[i]);
  std::size_t bytes = 0;
  driver.check(driver.call.device_total_mem(&bytes, device), "cuDeviceTotalMem", doing);
  info.memory_bytes = static_cast<std::int64_t>(bytes);
  info.sm = 10 * attribute(api::kComputeCapabilityMajor) + attribute(api::kComputeCapabilityMinor);
  info.multiprocessors = attribute(api::kMultiprocessorCount);
  info.max_threads_per_multiprocessor = attribute(api::kMaxThreadsPerMultiprocessor);
  info.max_threads_per_block = attribute(api::kMaxThreadsPerBlock);
  info.max_blocks_per_multiprocessor = attribute(api::kMaxBlocksPerMultiprocessor);
  info.clock_khz = attribute(api::kClockRate);
  info.memory_clock_khz = attribute(api::kMemoryClockRate);
  info.memory_bus_bits = attribute(api::kMemoryBusWidth);
  info.l2_bytes = attribute(api::kL2CacheSize);
  info.shared_bytes_per_block = attribute(api::kMaxSharedMemoryPerBlockOptin);
  info.shared_bytes_per_multiprocessor = attribute(api::kMaxSharedMemoryPerMultiprocessor);
  info.reserved_shared_bytes_per_block = attribute(api::kReservedSharedMemoryPerBlock);
  info.registers_per_multiprocessor = attribute(api::kMaxRegistersPerMultiprocessor);
  return info;
}

const Driver& with_context() {
  const Driver& driver = Driver::need();
  driver.ensure_context();
  return driver;
}

}  // namespace

bool available() noexcept { return Driver::get().reason.empty(); }
std::string unavailable_reason() { return Driver::get().reason; }
int device_count() { return available() ? Driver::get().devices : 0; }

std::string driver_version() {
  const int version = Driver::need().version;
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

DeviceInfo device_info(int ordinal) {
  const Driver& driver = Driver::need();
  if (ordinal < 0 || ordinal >= driver.devices) {
    throw DeviceError(
        fmt::format("there is no CUDA device {}: this process sees {}, numbered from 0", ordinal, driver.devices));
  }
  // Asking takes 0.7 ms, and none of it changes.
  static std::mutex mutex;
  static std::unordered_map<int, DeviceInfo>* const known = new std::unordered_map<int, DeviceInfo>;
  const std::lock_guard lock(mutex);
  const auto found = known->find(ordinal);
  return found != known->end() ? found->second : (*known)[ordinal] = read_device_info(driver, ordinal);
}

int current_device() {
  const Driver& driver = with_context();
  api::Device device = 0;
  driver.check(driver.call.context_get_device(&device), "cuCtxGetDevice", "asking for the current device");
  return device;
}

OnDevice::OnDevice(int ordinal) : scope_(std::make_unique<ContextScope>(Driver::need(), ordinal)) {}
OnDevice::~OnDevice() = default;

Module::Module(std::span<const std::byte> cubin, int ordinal) : ordinal_(ordinal) {
  const Driver& driver = Driver::need();
  if (!is_whole_elf(cubin)) {
    throw DeviceError(
        fmt::format("loading a kernel on device {} failed: its {} bytes are not a whole CUBIN", ordinal, cubin.size()));
  }
  std::vector<std::byte> aligned;  // the image of a cache entry may start anywhere
  if (reinterpret_cast<std::uintptr_t>(cubin.data()) % alignof(Elf64_Ehdr) != 0) {
    aligned.assign(cubin.begin(), cubin.end());
    cubin = aligned;
  }
  const ContextScope scope(driver, ordinal);
  api::ModuleHandle module = nullptr;
  const int code = driver.call.module_load_data(&module, cubin.data());
  if (code != api::kSuccess) {
    const DeviceInfo info = device_info(ordinal);
    driver.fail(
        code, "cuModuleLoadData",
        fmt::format("loading a CUBIN of {} bytes on device {} ({}, sm_{})", cubin.size(), ordinal, info.name, info.sm));
  }
  module_ = module;
}

Module::~Module() {
  FunctionOwners& owners = FunctionOwners::get();
  {
    const std::lock_guard lock(owners.mutex);
    std::erase_if(owners.of, [&](const auto& entry) { return entry.second.module == this; });
  }
  try {
    const Driver& driver = Driver::need();
    const ContextScope scope(driver, ordinal_);
    driver.check(driver.call.module_unload(static_cast<api::ModuleHandle>(module_)), "cuModuleUnload",
                 "unloading a kernel");
  } catch (const Error& error) {
    // At the end of a process the driver may be gone first, and the module with it: nothing is lost.
    if (log_enabled(LogTopic::compile)) log_line(LogTopic::compile, error.what());
  }
}

void* Module::function(const std::string& name, std::size_t dynamic_shared) const {
  const Driver& driver = Driver::need();
  const ContextScope scope(driver, ordinal_);
  api::Function found = nullptr;
  driver.check(driver.call.module_get_function(&found, static_cast<api::ModuleHandle>(module_), name.c_str()),
               "cuModuleGetFunction", fmt::format("looking for the kernel '{}'", name));
  if (dynamic_shared > kDefaultDynamicShared) {
    const std::string doing =
        fmt::format("giving the kernel '{}' {} bytes of dynamic shared memory", name, dynamic_shared);
    const auto attribute = [&](int which) {
      int value = 0;
      driver.check(driver.call.function_get_attribute(&value, which, found), "cuFuncGetAttribute", doing);
      return value;
    };
    const std::size_t fixed = static_cast<std::size_t>(attribute(api::kFunctionSharedBytes));
    const std::size_t most = static_cast<std::size_t>(device_info(ordinal_).shared_bytes_per_block);
    if (fixed + dynamic_shared > most) {
      throw DeviceError(
          fmt::format("{} failed: with {} static bytes that makes {}, and device {} allows {} in a block.\n"
                      "  Use a plan with a smaller tile.",
                      doing, fixed, fixed + dynamic_shared, ordinal_, most));
    }
    // Two plans may use one kernel with different sizes: the limit must hold for the larger.
    if (static_cast<std::size_t>(attribute(api::kFunctionMaxDynamicShared)) < dynamic_shared)
      driver.check(
          driver.call.function_set_attribute(found, api::kFunctionMaxDynamicShared, static_cast<int>(dynamic_shared)),
          "cuFuncSetAttribute", doing);
  }
  FunctionOwners& owners = FunctionOwners::get();
  const std::lock_guard lock(owners.mutex);
  owners.of[found] = {ordinal_, this};
  return found;
}

void launch(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
            std::size_t dynamic_shared, Stream stream, void** args) {
  const Driver& driver = Driver::need();
  if (!function) throw DeviceError("launching a kernel failed: its handle is null; take it from Module::function");
  if (dynamic_shared > std::numeric_limits<unsigned>::max())
    launch_failed(driver, api::kInvalidValue, function, grid_x, grid_y, grid_z, block_x, dynamic_shared);
  const auto attempt = [&] {
    return driver.call.launch_kernel(static_cast<api::Function>(function), grid_x, grid_y, grid_z, block_x, 1, 1,
                                     static_cast<unsigned>(dynamic_shared), handle(stream), args, nullptr);
  };
  int code = attempt();
  // Asking for the context only after a refusal keeps it off the path of every launch.
  if (code != api::kSuccess && adopt_context(driver, function)) code = attempt();
  if (code != api::kSuccess) launch_failed(driver, code, function, grid_x, grid_y, grid_z, block_x, dynamic_shared);
}

PointerInfo pointer_info(const void* pointer) {
  const Driver& driver = with_context();
  unsigned memory_type = 0, managed = 0;
  int ordinal = -1;
  api::DevicePointer start = 0;
  std::size_t bytes = 0;
  int attributes[] = {api::kPointerMemoryType, api::kPointerIsManaged, api::kPointerDeviceOrdinal,
                      api::kPointerRangeStart, api::kPointerRangeSize};
  void* values[] = {&memory_type, &managed, &ordinal, &start, &bytes};
  // For a pointer it does not know, the driver succeeds and leaves every value zero.
  driver.check(driver.call.pointer_get_attributes(5, attributes, values, address(pointer)), "cuPointerGetAttributes",
               fmt::format("asking about the pointer {}", fmt::ptr(pointer)));
  PointerInfo info;
  info.managed = managed != 0;
  info.device = memory_type == api::kMemoryDevice || info.managed;
  info.pinned = memory_type == api::kMemoryHost && !info.managed;
  if (memory_type != 0) {
    info.base = static_cast<std::uintptr_t>(start);
    info.bytes = bytes;
  }
  if (info.device) info.ordinal = ordinal;
  return info;
}

void* allocate(std::size_t bytes) {
  const Driver& driver = with_context();
  if (bytes == 0) return nullptr;
  api::DevicePointer pointer = 0;
  driver.check(driver.call.memory_allocate(&pointer, bytes), "cuMemAlloc",
               fmt::format("allocating {} bytes of device memory", bytes));
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer));
}

void* allocate_in_order(std::size_t bytes, int ordinal, Stream stream) {
  if (bytes == 0) return nullptr;
  const Driver& driver = Driver::need();
  const ContextScope scope(driver, ordinal);
  api::DevicePointer pointer = 0;
  driver.check(driver.call.pool_allocate_async(&pointer, bytes, driver.workspace_pool(ordinal), handle(stream)),
               "cuMemAllocFromPoolAsync",
               fmt::format("allocating {} bytes of device {} in the order of a stream", bytes, ordinal));
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer));
}

void release_in_order(void* pointer, int ordinal, Stream stream) noexcept try {
  if (!pointer) return;
  const Driver& driver = Driver::need();
  const ContextScope scope(driver, ordinal);
  driver.check(driver.call.memory_free_async(address(pointer), handle(stream)), "cuMemFreeAsync",
               fmt::format("freeing {} in the order of a stream", fmt::ptr(pointer)));
} catch (const std::exception& error) {
  log_line(LogTopic::warning, error.what());
}

void release(void* pointer) noexcept {
  if (!pointer || !available()) return;
  const Driver& driver = Driver::get();
  const int code = driver.call.memory_free(address(pointer));
  if (code == api::kSuccess || code == api::kDeinitialized) return;
  try {
    driver.ensure_context();  // a thread that has not used CUDA yet may free what another allocated
    driver.check(driver.call.memory_free(address(pointer)), "cuMemFree", fmt::format("freeing {}", fmt::ptr(pointer)));
  } catch (const std::exception& error) {
    log_line(LogTopic::warning, error.what());
  }
}

void copy_to_device(void* dst, const void* src, std::size_t bytes) {
  const Driver& driver = with_context();
  if (bytes == 0) return;
  driver.check(driver.call.copy_host_to_device(address(dst), src, bytes), "cuMemcpyHtoD",
               fmt::format("copying {} bytes to the device", bytes));
  // From pageable memory the copy may still be on its way, and streams that do not block would not wait for it.
  synchronize();
}

void copy_to_host(void* dst, const void* src, std::size_t bytes) {
  const Driver& driver = with_context();
  if (bytes == 0) return;
  driver.check(driver.call.copy_device_to_host(dst, address(src), bytes), "cuMemcpyDtoH",
               fmt::format("copying {} bytes to the host", bytes));
}

void copy_on_device(void* dst, const void* src, std::size_t bytes, Stream stream) {
  const Driver& driver = with_context();
  if (bytes == 0) return;
  driver.check(driver.call.copy_device_to_device_async(address(dst), address(src), bytes, handle(stream)),
               "cuMemcpyDtoDAsync", fmt::format("copying {} bytes on the device", bytes));
}

void fill_bytes(void* dst, unsigned char value, std::size_t bytes) {
  const Driver& driver = with_context();
  if (bytes == 0) return;
  driver.check(driver.call.memory_set_bytes(address(dst), value, bytes), "cuMemsetD8",
               fmt::format("filling {} bytes of device memory", bytes));
}

void synchronize() {
  const Driver& driver = with_context();
  driver.check(driver.call.context_synchronize(), "cuCtxSynchronize", "waiting for the device");
}

void synchronize(Stream stream) {
  const Driver& driver = with_context();
  driver.check(driver.call.stream_synchronize(handle(stream)), "cuStreamSynchronize", "waiting for a stream");
}

OwnedStream::OwnedStream() {
  const Driver& driver = with_context();
  api::StreamHandle stream = nullptr;
  driver.check(driver.call.stream_create(&stream, api::kStreamNonBlocking), "cuStreamCreate", "making a stream");
  stream_ = stream;
}

OwnedStream::~OwnedStream() { Driver::get().call.stream_destroy(handle(stream_)); }

Event::Event() {
  const Driver& driver = with_context();
  api::EventHandle event = nullptr;
  driver.check(driver.call.event_create(&event, api::kEventDefault), "cuEventCreate", "making an event");
  event_ = event;
}

Event::~Event() { Driver::get().call.event_destroy(static_cast<api::EventHandle>(event_)); }

void Event::record(Stream stream) {
  const Driver& driver = with_context();
  driver.check(driver.call.event_record(static_cast<api::EventHandle>(event_), handle(stream)), "cuEventRecord",
               "recording an event");
}

void Event::wait() const {
  const Driver& driver = Driver::need();
  driver.check(driver.call.event_synchronize(static_cast<api::EventHandle>(event_)), "cuEventSynchronize",
               "waiting for an event");
}

double Event::ms_between(const Event& start, const Event& stop) {
  const Driver& driver = Driver::need();
  float ms = 0;
  driver.check(driver.call.event_elapsed_time(&ms, static_cast<api::EventHandle>(start.event_),
                                              static_cast<api::EventHandle>(stop.event_)),
               "cuEventElapsedTime", "timing between two events");
  return static_cast<double>(ms);
}

}  // namespace ricci::jit::cuda
