// The few types, values and functions of cuTENSOR and cuTT that are called, so that building needs neither.
//
// cuTENSOR as of 2.8.1 (cutensor.h, cutensor/types.h); what is used is the same in every 2.x.
// tests/unit/tools_peers.cpp compares the values with NVIDIA's header where that exists. cuTT
// (github.com/ap-hynninen/cutt) as of 4c251c6, src/cutt.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ricci::tools::cutensor {

using Handle = struct HandleTag*;
using TensorDescriptor = struct TensorDescriptorTag*;
using OperationDescriptor = struct OperationDescriptorTag*;
using PlanPreference = struct PlanPreferenceTag*;
using Plan = struct PlanTag*;
using ComputeDescriptor = struct ComputeDescriptorTag*;  ///< the library's variables CUTENSOR_COMPUTE_DESC_...
using Stream = void*;                                    ///< cudaStream_t

enum : int {
  kSuccess = 0,              // cutensorStatus_t
  kNotSupported = 15,        // cutensorStatus_t
  kOpIdentity = 1,           // cutensorOperator_t
  kAlgoDefault = -1,         // cutensorAlgo_t
  kAlgoDefaultPatient = -6,  // cutensorAlgo_t
  kAlgoGett = -4,            // cutensorAlgo_t
  kAlgoTgett = -3,           // cutensorAlgo_t
  kAlgoTtgt = -2,            // cutensorAlgo_t
  kJitModeNone = 0,          // cutensorJitMode_t
  kWorkspaceMax = 3,         // cutensorWorksizePreference_t
  kScalarType = 1,           // cutensorOperationDescriptorAttribute_t
  kR32F = 0,                 // cudaDataType_t, from here on
  kR64F = 1,
  kR16F = 2,
  kC32F = 4,
  kC64F = 5,
  kR16BF = 14,
};

struct Functions {
  const char* (*get_error_string)(int status);
  int (*create)(Handle*);
  int (*destroy)(Handle);
  int (*create_tensor_descriptor)(Handle, TensorDescriptor*, std::uint32_t modes, const std::int64_t* extents,
                                  const std::int64_t* strides, int type, std::uint32_t alignment);
  int (*destroy_tensor_descriptor)(TensorDescriptor);
  int (*create_permutation)(Handle, OperationDescriptor*, TensorDescriptor a, const std::int32_t* a_modes, int a_op,
                            TensorDescriptor b, const std::int32_t* b_modes, ComputeDescriptor);
  int (*create_contraction)(Handle, OperationDescriptor*, TensorDescriptor a, const std::int32_t* a_modes, int a_op,
                            TensorDescriptor b, const std::int32_t* b_modes, int b_op, TensorDescriptor c,
                            const std::int32_t* c_modes, int c_op, TensorDescriptor d, const std::int32_t* d_modes,
                            ComputeDescriptor);
  int (*get_operation_attribute)(Handle, OperationDescriptor, int attribute, void* value, std::size_t bytes);
  int (*destroy_operation_descriptor)(OperationDescriptor);
  int (*create_plan_preference)(Handle, PlanPreference*, int algorithm, int jit_mode);
  int (*destroy_plan_preference)(PlanPreference);
  int (*estimate_workspace)(Handle, OperationDescriptor, PlanPreference, int preference, std::uint64_t* bytes);
  int (*create_plan)(Handle, Plan*, OperationDescriptor, PlanPreference, std::uint64_t workspace_limit);
  int (*destroy_plan)(Plan);
  int (*permute)(Handle, Plan, const void* alpha, const void* a, void* b, Stream);
  int (*contract)(Handle, Plan, const void* alpha, const void* a, const void* b, const void* beta, const void* c,
                  void* d, void* workspace, std::uint64_t workspace_bytes, Stream);
};

}  // namespace ricci::tools::cutensor

namespace ricci::tools::cutt {

using Handle = unsigned int;
using Stream = void*;  ///< cudaStream_t

enum : int { kSuccess = 0, kInvalidPlan, kInvalidParameter, kInvalidDevice, kInternalError, kUndefinedError };

/// cuTT declares its functions as C++, so their names are mangled; `extern "C"` ones are taken too. Extents and order
/// with the fastest axis first: axis k of the output is axis order[k] of the input.
struct Functions {
  int (*plan)(Handle*, int rank, int* extents, int* order, std::size_t element_bytes, Stream);
  int (*plan_measure)(Handle*, int rank, int* extents, int* order, std::size_t element_bytes, Stream, void* from,
                      void* to);
  int (*execute)(Handle, void* from, void* to);
  int (*destroy)(Handle);
};

}  // namespace ricci::tools::cutt
