// The structures of XLA's foreign function interface that a handler reads (openxla/xla, xla/ffi/api/c_api.h, version
// 0). Their layout is a binary interface between packages, so it is stated here once instead of found on a machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ricci::python::xla {

enum DataType : int {
  i8 = 2,
  i16 = 3,
  i32 = 4,
  i64 = 5,
  u8 = 6,
  u16 = 7,
  u32 = 8,
  u64 = 9,
  f16 = 10,
  f32 = 11,
  f64 = 12,
  c64 = 15,
  bf16 = 16,
  c128 = 18,
};

struct Extension {
  std::size_t struct_size;
  int type;  ///< 1: Metadata
  Extension* next;
};

struct Version {
  std::size_t struct_size;
  Extension* extension;
  int major, minor;
};

struct Metadata {
  std::size_t struct_size;
  Version api_version;
  std::uint32_t traits;
};

struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct Error;
struct Context;
struct Api;

/// A row-major array.
struct Buffer {
  std::size_t struct_size;
  Extension* extension;
  int type;  ///< a DataType, or one that Ricci does not have
  void* data;
  std::int64_t rank;
  std::int64_t* extents;
};

/// Arguments, results or attributes, `size` of them.
struct Arguments {
  std::size_t struct_size;
  Extension* extension;
  std::int64_t size;
  int* types;
  Buffer** buffers;
};

struct Text {
  const char* data;
  std::size_t size;
};

struct Attributes {
  std::size_t struct_size;
  Extension* extension;
  std::int64_t size;
  int* types;  ///< 4: Text
  Text** names;
  void** values;
};

struct CallFrame {
  std::size_t struct_size;
  Extension* extension;
  const Api* api;
  Context* context;
  int stage;
  Arguments arguments;
  Arguments results;
  Attributes attributes;
};

struct CreateError {
  std::size_t struct_size;
  Extension* extension;
  const char* message;
  int code;  ///< 3: an invalid argument
};

struct GetStream {
  std::size_t struct_size;
  Extension* extension;
  Context* context;
  void* stream;
};

/// What the runtime offers, up to what is called here.
struct Api {
  std::size_t struct_size;
  Extension* extension;
  Version version;
  const void* internal;
  Error* (*create_error)(CreateError*);
  void (*get_message)(void*);
  void (*destroy_error)(void*);
  void* register_handler;
  Error* (*get_stream)(GetStream*);
};

}  // namespace ricci::python::xla
