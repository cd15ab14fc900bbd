// The objects behind TAPP's handles, and the errors that its functions return.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ricci/ricci.h"
#include "ricci/tapp.h"

namespace ricci::tapp {

/// What ends a function: the code that it returns.
struct Failure {
  TAPP_error code;
};

/// Throws the failure that a status of Ricci's is.
void check(ricci_status status);

/// Runs a function that may throw Failure or run out of memory, and returns the code.
template <class F>
TAPP_error guarded(F function) noexcept {
  try {
    function();
    return 0;
  } catch (const Failure& failure) {
    return failure.code;
  } catch (const std::exception&) {
    return RICCI_TAPP_MEMORY;
  }
}

/// Anything with attributes.
struct Object {
  virtual ~Object() = default;
  /// Attributes that mean something; others are kept and given back.
  virtual bool set(TAPP_key, void*) { return false; }
  virtual bool get(TAPP_key, void**) { return false; }

  std::mutex mutex;  ///< of the attributes
  std::map<TAPP_key, void*> attributes;
};

struct Handle : Object {
  bool set(TAPP_key key, void* value) override;
  std::vector<std::pair<std::string, std::string>> options;  ///< of the plans made with it, in the order of setting
};

struct ExecutorObject : Object {
  bool set(TAPP_key key, void* value) override;
  void* stream = nullptr;
};

struct TensorInfo : Object {
  TAPP_datatype type = TAPP_F32;
  std::vector<std::int64_t> extents, strides;
};

/// Makes the object live; its handle is its address.
intptr_t enter(std::shared_ptr<Object> object);
/// The live object of a handle, or null.
std::shared_ptr<Object> find(intptr_t handle);
/// Ends the life of an object of this kind. Throws Failure where there is none.
template <class Kind>
void leave(intptr_t handle);

/// The live object of this kind, or null.
template <class Kind>
std::shared_ptr<Kind> find_as(intptr_t handle) {
  return std::dynamic_pointer_cast<Kind>(find(handle));
}

/// The same; throws Failure where there is none.
template <class Kind>
std::shared_ptr<Kind> object_of(intptr_t handle) {
  auto object = find_as<Kind>(handle);
  if (!object) throw Failure{RICCI_TAPP_HANDLE};
  return object;
}

void forget(intptr_t handle);

template <class Kind>
void leave(intptr_t handle) {
  object_of<Kind>(handle);
  forget(handle);
}

template <class Pointer>
Pointer needed(Pointer pointer) {
  if (pointer == nullptr) throw Failure{RICCI_TAPP_NULL};
  return pointer;
}

}  // namespace ricci::tapp
