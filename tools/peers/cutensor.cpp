#include "peers/cutensor.hpp"

#include <fmt/format.h>

#include "ricci/error.hpp"

namespace ricci::tools::cutensor {

std::optional<int> data_type(DType type) {
  switch (type) {
    case DType::f16:
      return kR16F;
    case DType::bf16:
      return kR16BF;
    case DType::f32:
      return kR32F;
    case DType::f64:
      return kR64F;
    case DType::c64:
      return kC32F;
    case DType::c128:
      return kC64F;
    default:
      return {};
  }
}

Scalar scalar(int type, double value) {
  Scalar made{};
  if (type == kR16F) {
    made.half = value == 0 ? 0 : value > 0 ? 0x3c00 : 0xbc00;
  } else if (type == kR32F || type == kC32F) {
    made.single[0] = static_cast<float>(value);
  } else {
    made.twice[0] = value;
  }
  return made;
}

Session::Session(const std::string& file) : library(file, "cuTENSOR") {
  const auto load = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library.find({name}));
  };
  load(call.get_error_string, "cutensorGetErrorString");
  load(call.create, "cutensorCreate");
  load(call.destroy, "cutensorDestroy");
  load(call.create_tensor_descriptor, "cutensorCreateTensorDescriptor");
  load(call.destroy_tensor_descriptor, "cutensorDestroyTensorDescriptor");
  load(call.create_permutation, "cutensorCreatePermutation");
  load(call.create_contraction, "cutensorCreateContraction");
  load(call.get_operation_attribute, "cutensorOperationDescriptorGetAttribute");
  load(call.destroy_operation_descriptor, "cutensorDestroyOperationDescriptor");
  load(call.create_plan_preference, "cutensorCreatePlanPreference");
  load(call.destroy_plan_preference, "cutensorDestroyPlanPreference");
  load(call.estimate_workspace, "cutensorEstimateWorkspaceSize");
  load(call.create_plan, "cutensorCreatePlan");
  load(call.destroy_plan, "cutensorDestroyPlan");
  load(call.permute, "cutensorPermute");
  load(call.contract, "cutensorContract");
}

Session::~Session() {
  if (handle != nullptr) call.destroy(handle);
}

void Session::start() {
  if (handle == nullptr) check(call.create(&handle), "cutensorCreate");
}

void Session::check(int status, const char* function) const {
  if (status == kSuccess) return;
  throw DeviceError(fmt::format("{}: {} ({})", function, call.get_error_string(status), status));
}

ComputeDescriptor Session::compute(const char* variable) const {
  return *static_cast<const ComputeDescriptor*>(library.find({variable}));
}

void Session::describe(TensorDescriptor* place, const std::vector<std::int64_t>& extents, int type,
                       const std::vector<std::int64_t>& strides, std::uint32_t alignment) const {
  check(call.create_tensor_descriptor(handle, place, static_cast<std::uint32_t>(extents.size()), extents.data(),
                                      strides.empty() ? nullptr : strides.data(), type, alignment),
        "cutensorCreateTensorDescriptor");
}

int Session::scalar_type(OperationDescriptor operation) const {
  int type = -1;
  check(call.get_operation_attribute(handle, operation, kScalarType, &type, sizeof type),
        "cutensorOperationDescriptorGetAttribute");
  return type;
}

}  // namespace ricci::tools::cutensor
