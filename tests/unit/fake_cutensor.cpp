// A library with cuTENSOR's names that permutes on the host, refuses what it is told to, and counts what is alive.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "peers/api.hpp"

namespace cutensor = ricci::tools::cutensor;

namespace ricci::tools::cutensor {
struct HandleTag {};
struct TensorDescriptorTag {
  std::vector<std::int64_t> extents;
  int type;
};
struct OperationDescriptorTag {
  std::vector<std::int64_t> a_strides, b_extents;  // in the order of b's modes, fastest first
  int type;
};
struct PlanPreferenceTag {};
struct PlanTag {
  OperationDescriptorTag operation;
};
struct ComputeDescriptorTag {
  int bits;
};
}  // namespace ricci::tools::cutensor

namespace {

int alive = 0;
std::string log;
const char* refusing = "";  // the function that answers "not supported"
cutensor::ComputeDescriptorTag compute_32{32}, compute_64{64};

/// What a call is answered with, after it was noted.
int answer(const char* function) {
  log += std::string(function) + ' ';
  return std::strcmp(function, refusing) == 0 ? int{cutensor::kNotSupported} : int{cutensor::kSuccess};
}

template <class T>
int make(const char* function, T** place, T value) {
  const int status = answer(function);
  if (status == cutensor::kSuccess) {
    *place = new T(std::move(value));
    ++alive;
  }
  return status;
}

template <class T>
int destroy(T* value) {
  delete value;
  --alive;
  return cutensor::kSuccess;
}

[[maybe_unused]] std::size_t bytes_of(int type) {
  switch (type) {
    case cutensor::kR16F:
      return 2;
    case cutensor::kR32F:
      return 4;
    case cutensor::kC64F:
      return 16;
    default:
      return 8;
  }
}

}  // namespace

extern "C" {

// For the test.
int fake_alive() { return alive; }
const char* fake_log() { return log.c_str(); }
void fake_refuse(const char* function) {
  refusing = function;
  log.clear();
}

extern const cutensor::ComputeDescriptor CUTENSOR_COMPUTE_DESC_32F, CUTENSOR_COMPUTE_DESC_64F;
const cutensor::ComputeDescriptor CUTENSOR_COMPUTE_DESC_32F = &compute_32, CUTENSOR_COMPUTE_DESC_64F = &compute_64;

const char* cutensorGetErrorString(int status) { return status == cutensor::kNotSupported ? "not supported" : "fine"; }
int cutensorCreate(cutensor::Handle* handle) { return make("create", handle, cutensor::HandleTag{}); }
int cutensorDestroy(cutensor::Handle handle) { return destroy(handle); }

int cutensorCreateTensorDescriptor(cutensor::Handle, cutensor::TensorDescriptor* descriptor, std::uint32_t modes,
                                   const std::int64_t* extents, const std::int64_t* strides, int type,
                                   std::uint32_t alignment) {
  if (strides != nullptr || alignment != 256) return 7;
  return make("tensor", descriptor, cutensor::TensorDescriptorTag{{extents, extents + modes}, type});
}
int cutensorDestroyTensorDescriptor(cutensor::TensorDescriptor descriptor) { return destroy(descriptor); }

int cutensorCreatePermutation(cutensor::Handle, cutensor::OperationDescriptor* operation, cutensor::TensorDescriptor a,
                              const std::int32_t* a_modes, int a_op, cutensor::TensorDescriptor b,
                              const std::int32_t* b_modes, cutensor::ComputeDescriptor compute) {
  const bool wide = a->type == cutensor::kR64F || a->type == cutensor::kC64F;
  if (a_op != cutensor::kOpIdentity || a->type != b->type || compute->bits != (wide ? 64 : 32)) return 7;
  cutensor::OperationDescriptorTag made{{}, b->extents, a->type};
  for (std::size_t k = 0; k < b->extents.size(); ++k) {
    std::int64_t stride = 1;
    std::size_t place = 0;
    for (; a_modes[place] != b_modes[k]; ++place) stride *= a->extents[place];
    if (a->extents[place] != b->extents[k]) return 7;
    made.a_strides.push_back(stride);
  }
  return make("permutation", operation, std::move(made));
}
int cutensorDestroyOperationDescriptor(cutensor::OperationDescriptor operation) { return destroy(operation); }

int cutensorOperationDescriptorGetAttribute(cutensor::Handle, cutensor::OperationDescriptor operation, int attribute,
                                            void* value, std::size_t bytes) {
  if (attribute != cutensor::kScalarType || bytes != sizeof(int)) return 7;
  // Half precision is scaled by a float, as everything that computes in 32 bits.
  const int type = operation->type == cutensor::kR16F ? int{cutensor::kR32F} : operation->type;
  std::memcpy(value, &type, sizeof type);
  return answer("scalar");
}

int cutensorCreatePlanPreference(cutensor::Handle, cutensor::PlanPreference* preference, int algorithm, int jit_mode) {
  if (algorithm != cutensor::kAlgoDefault || jit_mode != cutensor::kJitModeNone) return 7;
  return make("preference", preference, cutensor::PlanPreferenceTag{});
}
int cutensorDestroyPlanPreference(cutensor::PlanPreference preference) { return destroy(preference); }

int cutensorCreatePlan(cutensor::Handle, cutensor::Plan* plan, cutensor::OperationDescriptor operation,
                       cutensor::PlanPreference preference, std::uint64_t workspace_limit) {
  if (preference == nullptr || workspace_limit != 0) return 7;
  return make("plan", plan, cutensor::PlanTag{*operation});
}
int cutensorDestroyPlan(cutensor::Plan plan) { return destroy(plan); }

#ifndef FAKE_WITHOUT_PERMUTE
int cutensorPermute(cutensor::Handle handle, cutensor::Plan plan, const void* alpha, const void* a, void* b,
                    cutensor::Stream stream) {
  const auto& operation = plan->operation;
  double scale = 0;
  if (operation.type == cutensor::kR64F || operation.type == cutensor::kC64F) {
    std::memcpy(&scale, alpha, sizeof scale);
  } else {
    float single;
    std::memcpy(&single, alpha, sizeof single);
    scale = static_cast<double>(single);
  }
  if (scale != 1 || handle == nullptr || stream != nullptr) return 7;
  const auto size = bytes_of(operation.type);
  std::int64_t count = 1;
  for (const auto n : operation.b_extents) count *= n;
  for (std::int64_t to = 0; to < count; ++to) {
    std::int64_t rest = to, from = 0;
    for (std::size_t k = 0; k < operation.b_extents.size(); ++k) {
      from += rest % operation.b_extents[k] * operation.a_strides[k];
      rest /= operation.b_extents[k];
    }
    std::memcpy(static_cast<char*>(b) + static_cast<std::size_t>(to) * size,
                static_cast<const char*>(a) + static_cast<std::size_t>(from) * size, size);
  }
  return answer("permute");
}
#endif
}
