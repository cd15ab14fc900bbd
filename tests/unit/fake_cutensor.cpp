// A library with cuTENSOR's names that permutes and contracts on the host, refuses what it is told to, and counts what
// is alive.
#include <complex>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "fake_contraction.hpp"
#include "peers/api.hpp"

namespace cutensor = ricci::tools::cutensor;

namespace ricci::tools::cutensor {
struct HandleTag {};
struct TensorDescriptorTag {
  std::vector<std::int64_t> extents;
  int type;
  std::vector<std::int64_t> strides;
};
struct OperationDescriptorTag {
  std::vector<std::int64_t> a_strides, b_extents;  // of a permutation: in the order of b's modes, fastest first
  fake::Tensor first, second, result;              // of a contraction
  int type;
};
struct PlanPreferenceTag {
  int algorithm;
};
struct PlanTag {
  OperationDescriptorTag operation;
  int algorithm;
  std::uint64_t workspace;
};
struct ComputeDescriptorTag {
  int bits;
};
}  // namespace ricci::tools::cutensor

namespace {

constexpr std::uint64_t kWorkspace = 4096;  // of a contraction
int alive = 0;
std::string calls;
const char* refusing = "";  // the function that answers "not supported"
cutensor::ComputeDescriptorTag compute_32{32}, compute_64{64};

/// What a call is answered with, after it was noted.
int answer(const char* function) {
  calls += std::string(function) + ' ';
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
const char* fake_log() { return calls.c_str(); }
void fake_refuse(const char* function) {
  refusing = function;
  calls.clear();
}

extern const cutensor::ComputeDescriptor CUTENSOR_COMPUTE_DESC_32F, CUTENSOR_COMPUTE_DESC_64F;
const cutensor::ComputeDescriptor CUTENSOR_COMPUTE_DESC_32F = &compute_32, CUTENSOR_COMPUTE_DESC_64F = &compute_64;

const char* cutensorGetErrorString(int status) { return status == cutensor::kNotSupported ? "not supported" : "fine"; }
int cutensorCreate(cutensor::Handle* handle) { return make("create", handle, cutensor::HandleTag{}); }
int cutensorDestroy(cutensor::Handle handle) { return destroy(handle); }

int cutensorCreateTensorDescriptor(cutensor::Handle, cutensor::TensorDescriptor* descriptor, std::uint32_t modes,
                                   const std::int64_t* extents, const std::int64_t* strides, int type,
                                   std::uint32_t alignment) {
  if (alignment < 4 || alignment > 256 || (alignment & (alignment - 1)) != 0) return 7;
  cutensor::TensorDescriptorTag made{{extents, extents + modes}, type, {}};
  for (std::uint32_t k = 0; k < modes; ++k) {
    if (strides != nullptr) {
      made.strides.push_back(strides[k]);
    } else {
      made.strides.push_back(k == 0 ? 1 : made.strides[k - 1] * extents[k - 1]);
    }
  }
  return make("tensor", descriptor, std::move(made));
}
int cutensorDestroyTensorDescriptor(cutensor::TensorDescriptor descriptor) { return destroy(descriptor); }

int cutensorCreatePermutation(cutensor::Handle, cutensor::OperationDescriptor* operation, cutensor::TensorDescriptor a,
                              const std::int32_t* a_modes, int a_op, cutensor::TensorDescriptor b,
                              const std::int32_t* b_modes, cutensor::ComputeDescriptor compute) {
  const bool wide = a->type == cutensor::kR64F || a->type == cutensor::kC64F;
  if (a_op != cutensor::kOpIdentity || a->type != b->type || compute->bits != (wide ? 64 : 32)) return 7;
  cutensor::OperationDescriptorTag made{{}, b->extents, {}, {}, {}, a->type};
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

int cutensorCreateContraction(cutensor::Handle, cutensor::OperationDescriptor* operation, cutensor::TensorDescriptor a,
                              const std::int32_t* a_modes, int a_op, cutensor::TensorDescriptor b,
                              const std::int32_t* b_modes, int b_op, cutensor::TensorDescriptor c,
                              const std::int32_t* c_modes, int c_op, cutensor::TensorDescriptor d,
                              const std::int32_t* d_modes, cutensor::ComputeDescriptor compute) {
  const bool wide = a->type == cutensor::kR64F || a->type == cutensor::kC64F;
  if (a_op != cutensor::kOpIdentity || b_op != a_op || c_op != a_op || c != d || c_modes != d_modes) return 7;
  if (a->type != b->type || a->type != c->type || compute->bits != (wide ? 64 : 32)) return 7;
  const auto tensor = [](cutensor::TensorDescriptor from, const std::int32_t* modes) {
    ricci::fake::Tensor made;
    for (std::size_t k = 0; k < from->extents.size(); ++k) {
      made.axes += static_cast<char>(modes[k]);
      made.extents.push_back(from->extents[k]);
      made.strides.push_back(from->strides[k]);
    }
    return made;
  };
  return make(
      "contraction", operation,
      cutensor::OperationDescriptorTag{{}, {}, tensor(a, a_modes), tensor(b, b_modes), tensor(c, c_modes), a->type});
}

int cutensorEstimateWorkspaceSize(cutensor::Handle, cutensor::OperationDescriptor, cutensor::PlanPreference,
                                  int preference, std::uint64_t* bytes) {
  if (preference != cutensor::kWorkspaceMax) return 7;
  *bytes = kWorkspace;
  return answer("workspace");
}

int cutensorCreatePlanPreference(cutensor::Handle, cutensor::PlanPreference* preference, int algorithm, int jit_mode) {
  if (jit_mode != cutensor::kJitModeNone) return 7;
  return make("preference", preference, cutensor::PlanPreferenceTag{algorithm});
}
int cutensorDestroyPlanPreference(cutensor::PlanPreference preference) { return destroy(preference); }

int cutensorCreatePlan(cutensor::Handle, cutensor::Plan* plan, cutensor::OperationDescriptor operation,
                       cutensor::PlanPreference preference, std::uint64_t workspace_limit) {
  const bool permutes = operation->first.axes.empty();
  if (preference == nullptr || (permutes && preference->algorithm != cutensor::kAlgoDefault)) return 7;
  if (workspace_limit != (permutes ? 0 : kWorkspace)) return 7;
  // As cuTENSOR has no transposes of everything for everything.
  if (preference->algorithm == cutensor::kAlgoTtgt) return cutensor::kNotSupported;
  return make("plan", plan, cutensor::PlanTag{*operation, preference->algorithm, workspace_limit});
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

int cutensorContract(cutensor::Handle handle, cutensor::Plan plan, const void* alpha, const void* a, const void* b,
                     const void* beta, const void* c, void* d, void* workspace, std::uint64_t workspace_bytes,
                     cutensor::Stream stream) {
  const auto& operation = plan->operation;
  if (handle == nullptr || stream != nullptr || c != d) return 7;
  if (workspace_bytes != kWorkspace) return 7;
  std::memset(workspace, 0x5a, workspace_bytes);
  const auto run = [&](auto one) {
    using T = decltype(one);
    const T kept = *static_cast<const T*>(beta);
    if (kept != T(0) && kept != T(1)) return 7;
    ricci::fake::contract(operation.first, static_cast<const T*>(a), operation.second, static_cast<const T*>(b),
                          operation.result, static_cast<T*>(d), *static_cast<const T*>(alpha), kept == T(1));
    return answer("contract");
  };
  switch (operation.type) {
    case cutensor::kR32F:
      return run(0.0F);
    case cutensor::kR64F:
      return run(0.0);
    case cutensor::kC32F:
      return run(std::complex<float>());
    default:
      return run(std::complex<double>());
  }
}
}
