// Handles, executors, tensor infos, attributes and errors of TAPP.
#include "objects.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace ricci::tapp {
namespace {

constexpr int kOfRicci = RICCI_TAPP_RICCI;

struct Live {
  std::mutex mutex;
  std::unordered_map<intptr_t, std::shared_ptr<Object>> objects;
};

Live& live() {
  static auto* all = new Live;  // objects may be destroyed after static ones
  return *all;
}

const char* text_of(TAPP_error error) {
  static constexpr std::pair<TAPP_error, const char*> kTexts[] = {
      {0, "success"},
      {RICCI_TAPP_EXTENTS_A_B, "an index has different extents in A and B"},
      {RICCI_TAPP_EXTENTS_A_D, "an index has different extents in A and D"},
      {RICCI_TAPP_EXTENTS_B_D, "an index has different extents in B and D"},
      {RICCI_TAPP_INDEX_OF_D, "D has an index that neither A nor B has"},
      {RICCI_TAPP_MODES_C_D, "C and D have different numbers of modes"},
      {RICCI_TAPP_INDICES_C_D, "the indices of C are not those of D, in their order"},
      {RICCI_TAPP_EXTENTS_C_D, "an index has different extents in C and D"},
      {RICCI_TAPP_ALIASING_D, "elements of D overlap"},
      {RICCI_TAPP_EXTENTS_A, "an index has two extents in A"},
      {RICCI_TAPP_EXTENTS_B, "an index has two extents in B"},
      {RICCI_TAPP_EXTENTS_D, "an index has two extents in D"},
      {RICCI_TAPP_NO_C, "C is null, and beta is not 0"},
      {RICCI_TAPP_MODES, "the number of modes is not from 0 to 32"},
      {RICCI_TAPP_EXTENT, "an extent is negative"},
      {RICCI_TAPP_HANDLE, "the handle is no live object of the kind that is needed"},
      {RICCI_TAPP_NULL, "a null pointer where a value is needed"},
      {RICCI_TAPP_TYPE, "no such element type; there are TAPP_F32 (0) to TAPP_BF16 (5)"},
      {RICCI_TAPP_PRECISION, "no such precision"},
      {RICCI_TAPP_OPERATION, "no such operation; there are TAPP_IDENTITY (0) and TAPP_CONJUGATE (1)"},
      {RICCI_TAPP_KEY, "the object has no attribute of this key"},
      {RICCI_TAPP_OVERLAP_C_D, "C and D overlap and are not the same tensor"},
      {RICCI_TAPP_BATCHES, "a negative number of batches"},
      {RICCI_TAPP_MEMORY, "out of memory"},
  };
  for (const auto& [code, text] : kTexts) {
    if (code == error) return text;
  }
  const bool of_ricci = error > kOfRicci && error <= kOfRicci - static_cast<int>(RICCI_ERROR_INTERNAL);
  return of_ricci ? ricci_last_error() : "unknown error";
}

void check_extents(int modes, const std::int64_t* extents) {
  if (modes > 0 && std::any_of(needed(extents), extents + modes, [](std::int64_t extent) { return extent < 0; })) {
    throw Failure{RICCI_TAPP_EXTENT};
  }
}

void check_modes(int modes) {
  if (modes < 0 || modes > 32) throw Failure{RICCI_TAPP_MODES};
}

}  // namespace

void check(ricci_status status) {
  if (status != RICCI_OK) throw Failure{kOfRicci - static_cast<int>(status)};
}

intptr_t enter(std::shared_ptr<Object> object) {
  const auto handle = reinterpret_cast<intptr_t>(object.get());
  const std::lock_guard lock(live().mutex);
  live().objects.emplace(handle, std::move(object));
  return handle;
}

std::shared_ptr<Object> find(intptr_t handle) {
  const std::lock_guard lock(live().mutex);
  const auto place = live().objects.find(handle);
  return place != live().objects.end() ? place->second : nullptr;
}

void forget(intptr_t handle) {
  std::shared_ptr<Object> last;  // destroyed after the lock is given back
  const std::lock_guard lock(live().mutex);
  if (const auto place = live().objects.find(handle); place != live().objects.end()) {
    last = std::move(place->second);
    live().objects.erase(place);
  }
}

bool Handle::set(TAPP_key key, void* value) {
  if (key != RICCI_TAPP_OPTION) return false;
  const std::string text = static_cast<const char*>(needed(value));
  const auto equals = std::min(text.find('='), text.size());
  const auto name = text.substr(0, equals), setting = text.substr(std::min(equals + 1, text.size()));
  ricci_options* trial = nullptr;  // of a program: what plans of every kind have
  check(ricci_options_create(RICCI_OPTIONS_PROGRAM, &trial));
  const auto status = ricci_options_set(trial, name.c_str(), setting.c_str());
  ricci_options_destroy(trial);
  check(status);
  options.emplace_back(name, setting);
  return true;
}

bool ExecutorObject::set(TAPP_key key, void* value) {
  if (key != RICCI_TAPP_STREAM) return false;
  stream = value;
  return true;
}

}  // namespace ricci::tapp

using namespace ricci::tapp;

bool TAPP_check_success(TAPP_error error) { return error == 0; }

size_t TAPP_explain_error(TAPP_error error, size_t maxlen, char* message) {
  const char* text = text_of(error);
  const auto length = std::strlen(text);
  if (maxlen == 0 || message == nullptr) return length;
  const auto written = std::min(length, maxlen - 1);
  std::memcpy(message, text, written);
  message[written] = '\0';
  return written;
}

TAPP_error TAPP_attr_set(TAPP_attr attr, TAPP_key key, void* value) {
  return guarded([&] {
    const auto object = object_of<Object>(attr);
    const std::lock_guard lock(object->mutex);
    if (!object->set(key, value)) object->attributes[key] = value;
  });
}

TAPP_error TAPP_attr_get(TAPP_attr attr, TAPP_key key, void** value) {
  return guarded([&] {
    const auto object = object_of<Object>(attr);
    const std::lock_guard lock(object->mutex);
    if (object->get(key, needed(value))) return;
    const auto place = object->attributes.find(key);
    if (place == object->attributes.end()) throw Failure{RICCI_TAPP_KEY};
    *value = place->second;
  });
}

TAPP_error TAPP_attr_clear(TAPP_attr attr, TAPP_key key) {
  return guarded([&] {
    const auto object = object_of<Object>(attr);
    const std::lock_guard lock(object->mutex);
    if (object->attributes.erase(key) == 0) throw Failure{RICCI_TAPP_KEY};
  });
}

TAPP_error TAPP_create_handle(TAPP_handle* handle) {
  return guarded([&] { *needed(handle) = enter(std::make_shared<Handle>()); });
}
TAPP_error TAPP_destroy_handle(TAPP_handle handle) {
  return guarded([&] { leave<Handle>(handle); });
}

TAPP_error TAPP_create_executor(TAPP_executor* exec) {
  return guarded([&] { *needed(exec) = enter(std::make_shared<ExecutorObject>()); });
}
TAPP_error TAPP_destroy_executor(TAPP_executor exec) {
  return guarded([&] { leave<ExecutorObject>(exec); });
}

// Executions have nothing to tell: their status is 0.
TAPP_error TAPP_destroy_status(TAPP_status status) { return status == 0 ? 0 : RICCI_TAPP_HANDLE; }

TAPP_error TAPP_create_tensor_info(TAPP_tensor_info* info, TAPP_datatype type, int nmode, const int64_t* extents,
                                   const int64_t* strides) {
  return guarded([&] {
    needed(info);
    if (type < TAPP_F32 || type > TAPP_BF16) throw Failure{RICCI_TAPP_TYPE};
    check_modes(nmode);
    check_extents(nmode, extents);
    auto made = std::make_shared<TensorInfo>();
    made->type = type;
    if (nmode > 0) {
      made->extents.assign(extents, extents + nmode);
      made->strides.assign(needed(strides), strides + nmode);
    }
    *info = enter(std::move(made));
  });
}

TAPP_error TAPP_destroy_tensor_info(TAPP_tensor_info info) {
  return guarded([&] { leave<TensorInfo>(info); });
}

int TAPP_get_nmodes(TAPP_tensor_info info) {
  const auto found = find_as<TensorInfo>(info);
  return found ? static_cast<int>(found->extents.size()) : -1;
}

TAPP_error TAPP_set_nmodes(TAPP_tensor_info info, int nmodes) {
  return guarded([&] {
    const auto found = object_of<TensorInfo>(info);
    check_modes(nmodes);
    found->extents.resize(static_cast<std::size_t>(nmodes), 1);
    found->strides.resize(static_cast<std::size_t>(nmodes), 0);
  });
}

void TAPP_get_extents(TAPP_tensor_info info, int64_t* extents) {
  if (const auto found = find_as<TensorInfo>(info); found && extents != nullptr) {
    std::copy(found->extents.begin(), found->extents.end(), extents);
  }
}

TAPP_error TAPP_set_extents(TAPP_tensor_info info, const int64_t* extents) {
  return guarded([&] {
    const auto found = object_of<TensorInfo>(info);
    const auto modes = found->extents.size();
    check_extents(static_cast<int>(modes), extents);
    if (modes > 0) found->extents.assign(extents, extents + modes);
  });
}

void TAPP_get_strides(TAPP_tensor_info info, int64_t* strides) {
  if (const auto found = find_as<TensorInfo>(info); found && strides != nullptr) {
    std::copy(found->strides.begin(), found->strides.end(), strides);
  }
}

TAPP_error TAPP_set_strides(TAPP_tensor_info info, const int64_t* strides) {
  return guarded([&] {
    const auto found = object_of<TensorInfo>(info);
    if (!found->strides.empty()) found->strides.assign(needed(strides), strides + found->strides.size());
  });
}
