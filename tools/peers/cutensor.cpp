// cuTENSOR's permutation: one plan for each problem, by its own model, called with alpha = 1.
#include <fmt/format.h>

#include <array>
#include <numeric>

#include "peers/api.hpp"
#include "peers/library.hpp"
#include "ricci/error.hpp"

namespace ricci::tools {
namespace {

struct Type {
  DType type;
  int data;             ///< cudaDataType_t
  const char* compute;  ///< the variable that holds the compute descriptor
};

constexpr std::array kTypes = {
    Type{DType::f16, cutensor::kR16F, "CUTENSOR_COMPUTE_DESC_32F"},
    Type{DType::f32, cutensor::kR32F, "CUTENSOR_COMPUTE_DESC_32F"},
    Type{DType::f64, cutensor::kR64F, "CUTENSOR_COMPUTE_DESC_64F"},
    Type{DType::c64, cutensor::kC32F, "CUTENSOR_COMPUTE_DESC_32F"},
    Type{DType::c128, cutensor::kC64F, "CUTENSOR_COMPUTE_DESC_64F"},
};

constexpr std::uint32_t kAlignment = 256;

/// One in a type that the library names; the imaginary part of a complex one is 0.
union One {
  std::uint16_t half;
  float single[2];
  double twice[2];
};

One one_of(int type) {
  One one{};
  if (type == cutensor::kR16F) {
    one.half = 0x3c00;
  } else if (type == cutensor::kR32F || type == cutensor::kC32F) {
    one.single[0] = 1;
  } else {
    one.twice[0] = 1;
  }
  return one;
}

/// The library, its functions and a handle of the current device, kept by every plan.
struct Session {
  explicit Session(const std::string& file) : library(file, "cuTENSOR") {
    const auto load = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library.find({name}));
    };
    load(call.get_error_string, "cutensorGetErrorString");
    load(call.create, "cutensorCreate");
    load(call.destroy, "cutensorDestroy");
    load(call.create_tensor_descriptor, "cutensorCreateTensorDescriptor");
    load(call.destroy_tensor_descriptor, "cutensorDestroyTensorDescriptor");
    load(call.create_permutation, "cutensorCreatePermutation");
    load(call.get_operation_attribute, "cutensorOperationDescriptorGetAttribute");
    load(call.destroy_operation_descriptor, "cutensorDestroyOperationDescriptor");
    load(call.create_plan_preference, "cutensorCreatePlanPreference");
    load(call.destroy_plan_preference, "cutensorDestroyPlanPreference");
    load(call.create_plan, "cutensorCreatePlan");
    load(call.destroy_plan, "cutensorDestroyPlan");
    load(call.permute, "cutensorPermute");
    for (std::size_t k = 0; k < kTypes.size(); ++k) compute[k] = library.find({kTypes[k].compute});
  }
  ~Session() {
    if (handle != nullptr) call.destroy(handle);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void check(int status, const char* function) const {
    if (status == cutensor::kSuccess) return;
    throw DeviceError(fmt::format("{}: {} ({})", function, call.get_error_string(status), status));
  }

  SharedLibrary library;
  cutensor::Functions call{};
  std::array<void*, kTypes.size()> compute{};
  cutensor::Handle handle = nullptr;
};

/// Destroyed by one of the library's functions.
template <class T>
class Owned {
 public:
  explicit Owned(int (*destroy)(T)) : destroy_(destroy) {}
  ~Owned() {
    if (value_ != nullptr) destroy_(value_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  T* place() { return &value_; }
  T get() const { return value_; }

 private:
  int (*destroy_)(T);
  T value_ = nullptr;
};

/// A plan and all that it may look at as long as it lives.
struct Permutation {
  Permutation(std::shared_ptr<const Session> made_by, std::size_t type, const PeerProblem& problem)
      : session(std::move(made_by)),
        a(session->call.destroy_tensor_descriptor),
        b(session->call.destroy_tensor_descriptor),
        operation(session->call.destroy_operation_descriptor),
        preference(session->call.destroy_plan_preference),
        plan(session->call.destroy_plan) {
    const auto& call = session->call;
    const auto check = [&](int status, const char* function) { session->check(status, function); };
    const auto handle = session->handle;
    // Modes with the fastest first; without strides a tensor is dense in that order.
    const auto rank = problem.extents.size();
    std::vector<std::int64_t> a_extents(problem.extents.rbegin(), problem.extents.rend()), b_extents;
    std::vector<std::int32_t> a_modes(rank), b_modes;
    std::iota(a_modes.rbegin(), a_modes.rend(), 0);
    for (std::size_t k = rank; k-- > 0;) {
      b_modes.push_back(problem.order[k]);
      b_extents.push_back(problem.extents[static_cast<std::size_t>(problem.order[k])]);
    }
    const auto modes = static_cast<std::uint32_t>(rank);
    const int data = kTypes[type].data;
    check(call.create_tensor_descriptor(handle, a.place(), modes, a_extents.data(), nullptr, data, kAlignment),
          "cutensorCreateTensorDescriptor");
    check(call.create_tensor_descriptor(handle, b.place(), modes, b_extents.data(), nullptr, data, kAlignment),
          "cutensorCreateTensorDescriptor");
    // Set by cutensorCreate at the latest.
    const auto compute = *static_cast<const cutensor::ComputeDescriptor*>(session->compute[type]);
    check(call.create_permutation(handle, operation.place(), a.get(), a_modes.data(), cutensor::kOpIdentity, b.get(),
                                  b_modes.data(), compute),
          "cutensorCreatePermutation");
    int scalar = -1;
    check(call.get_operation_attribute(handle, operation.get(), cutensor::kScalarType, &scalar, sizeof scalar),
          "cutensorOperationDescriptorGetAttribute");
    one = one_of(scalar);
    check(call.create_plan_preference(handle, preference.place(), cutensor::kAlgoDefault, cutensor::kJitModeNone),
          "cutensorCreatePlanPreference");
    check(call.create_plan(handle, plan.place(), operation.get(), preference.get(), 0), "cutensorCreatePlan");
  }

  void run(void* to, const void* from) const {
    session->check(session->call.permute(session->handle, plan.get(), &one, from, to, nullptr), "cutensorPermute");
  }

  std::shared_ptr<const Session> session;
  Owned<cutensor::TensorDescriptor> a, b;
  Owned<cutensor::OperationDescriptor> operation;
  Owned<cutensor::PlanPreference> preference;
  Owned<cutensor::Plan> plan;
  One one{};
};

class Cutensor : public PeerLibrary {
 public:
  explicit Cutensor(const std::string& file) : session_(std::make_shared<Session>(file)) {}

  std::vector<PeerRun> prepare(const PeerProblem& problem, void* to, const void* from) override {
    for (std::size_t k = 0; k < kTypes.size(); ++k) {
      if (kTypes[k].type != problem.type) continue;
      // Not before now: opening the library needs no device, a handle does.
      if (session_->handle == nullptr) session_->check(session_->call.create(&session_->handle), "cutensorCreate");
      PeerRun peer{"cutensor", {}, {}};
      try {
        const auto permutation = std::make_shared<const Permutation>(session_, k, problem);
        peer.run = [permutation, to, from] { permutation->run(to, from); };
      } catch (const DeviceError& error) {
        peer.refused = error.what();
      }
      return {peer};
    }
    return {};
  }

 private:
  std::shared_ptr<Session> session_;
};

}  // namespace

std::unique_ptr<PeerLibrary> open_cutensor(const std::string& file) { return std::make_unique<Cutensor>(file); }

}  // namespace ricci::tools
