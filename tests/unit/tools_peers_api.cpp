// Ricci declares cuTENSOR's functions itself: every value and signature must be NVIDIA's.
#include <cutensor.h>

#include "agrees.hpp"
#include "catch.hpp"
#include "peers/api.hpp"

namespace cutensor = ricci::tools::cutensor;
using ricci::tests::Agrees;

namespace {

using F = cutensor::Functions;
#define RICCI_SAME(ours, theirs) static_assert(Agrees<decltype(ours), decltype(&theirs)>::value)
RICCI_SAME(F::get_error_string, cutensorGetErrorString);
RICCI_SAME(F::create, cutensorCreate);
RICCI_SAME(F::destroy, cutensorDestroy);
RICCI_SAME(F::create_tensor_descriptor, cutensorCreateTensorDescriptor);
RICCI_SAME(F::destroy_tensor_descriptor, cutensorDestroyTensorDescriptor);
RICCI_SAME(F::create_permutation, cutensorCreatePermutation);
RICCI_SAME(F::create_contraction, cutensorCreateContraction);
RICCI_SAME(F::get_operation_attribute, cutensorOperationDescriptorGetAttribute);
RICCI_SAME(F::destroy_operation_descriptor, cutensorDestroyOperationDescriptor);
RICCI_SAME(F::create_plan_preference, cutensorCreatePlanPreference);
RICCI_SAME(F::destroy_plan_preference, cutensorDestroyPlanPreference);
RICCI_SAME(F::estimate_workspace, cutensorEstimateWorkspaceSize);
RICCI_SAME(F::create_plan, cutensorCreatePlan);
RICCI_SAME(F::destroy_plan, cutensorDestroyPlan);
RICCI_SAME(F::permute, cutensorPermute);
RICCI_SAME(F::contract, cutensorContract);

}  // namespace

TEST_CASE("our values are cuTENSOR's") {
  CHECK(int{cutensor::kSuccess} == static_cast<int>(CUTENSOR_STATUS_SUCCESS));
  CHECK(int{cutensor::kNotSupported} == static_cast<int>(CUTENSOR_STATUS_NOT_SUPPORTED));
  CHECK(int{cutensor::kOpIdentity} == static_cast<int>(CUTENSOR_OP_IDENTITY));
  CHECK(int{cutensor::kAlgoDefault} == static_cast<int>(CUTENSOR_ALGO_DEFAULT));
  CHECK(int{cutensor::kAlgoDefaultPatient} == static_cast<int>(CUTENSOR_ALGO_DEFAULT_PATIENT));
  CHECK(int{cutensor::kAlgoGett} == static_cast<int>(CUTENSOR_ALGO_GETT));
  CHECK(int{cutensor::kAlgoTgett} == static_cast<int>(CUTENSOR_ALGO_TGETT));
  CHECK(int{cutensor::kAlgoTtgt} == static_cast<int>(CUTENSOR_ALGO_TTGT));
  CHECK(int{cutensor::kWorkspaceMax} == static_cast<int>(CUTENSOR_WORKSPACE_MAX));
  CHECK(int{cutensor::kJitModeNone} == static_cast<int>(CUTENSOR_JIT_MODE_NONE));
  CHECK(int{cutensor::kScalarType} == static_cast<int>(CUTENSOR_OPERATION_DESCRIPTOR_SCALAR_TYPE));
  CHECK(int{cutensor::kR16F} == static_cast<int>(CUTENSOR_R_16F));
  CHECK(int{cutensor::kR16BF} == static_cast<int>(CUTENSOR_R_16BF));
  CHECK(int{cutensor::kR32F} == static_cast<int>(CUTENSOR_R_32F));
  CHECK(int{cutensor::kR64F} == static_cast<int>(CUTENSOR_R_64F));
  CHECK(int{cutensor::kC32F} == static_cast<int>(CUTENSOR_C_32F));
  CHECK(int{cutensor::kC64F} == static_cast<int>(CUTENSOR_C_64F));
}
