// The structures of DLPack 1.3 that arrays are exchanged in (github.com/dmlc/dlpack, include/dlpack/dlpack.h). Their
// layout is a binary interface between packages, so it is stated here once instead of found on a machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ricci::python::dlpack {

enum DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

struct Device {
  std::int32_t type;  ///< a DeviceType, or one that Ricci does not know
  std::int32_t id;
};

enum TypeCode : std::uint8_t { integer = 0, unsigned_integer = 1, floating = 2, bfloat = 4, complex = 5, boolean = 6 };

struct DataType {
  std::uint8_t code;  ///< a TypeCode, or one that Ricci does not know
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null: row-major
  std::uint64_t byte_offset;
};

/// What capsules named "dltensor" hold.
struct ManagedTensor {
  Tensor tensor;
  void* manager;
  void (*deleter)(ManagedTensor*);
};

struct Version {
  std::uint32_t major, minor;
};

inline constexpr std::uint64_t kReadOnly = 1;

/// What capsules named "dltensor_versioned" hold.
struct ManagedTensorVersioned {
  Version version;
  void* manager;
  void (*deleter)(ManagedTensorVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};

/// What the attribute `__dlpack_c_exchange_api__` of an array's type holds, in a capsule named "dlpack_exchange_api".
/// Each function returns 0, or -1 with a Python error set. None of them waits for a stream.
struct ExchangeApi {
  Version version;
  ExchangeApi* previous;
  int (*allocate)(Tensor* prototype, ManagedTensorVersioned** out, void* context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*to_managed)(void* object, ManagedTensorVersioned** out);
  int (*from_managed)(ManagedTensorVersioned* tensor, void** object);
  int (*to_borrowed)(void* object, Tensor* out);  ///< valid as long as the object is; may be null
  int (*current_stream)(std::int32_t device_type, std::int32_t device_id, void** stream);
};

}  // namespace ricci::python::dlpack
