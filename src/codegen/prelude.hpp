// The files of device/ as text, compiled into the library (see CMakeLists.txt).
#pragma once

#include <set>
#include <string>
#include <utility>

namespace ricci::codegen::prelude {

extern const char* const kTypes;
extern const char* const kHalf;
extern const char* const kArithmetic;
extern const char* const kScalar;
extern const char* const kCast;
extern const char* const kCuda;
extern const char* const kAsync;
extern const char* const kTensorCore;
extern const char* const kWarpGroup;
extern const char* const kReduce;
extern const char* const kCluster;
extern const char* const kTensorMap;
extern const char* const kRuns;
extern const char* const kPieces;
extern const char* const kSomeLanes;
extern const char* const kLaneFunctions;

}  // namespace ricci::codegen::prelude

namespace ricci::codegen {

/// Instructions that few kernels use; all need sm_80, some atoms sm_90 (atoms.hpp). The simulator has a twin of each
/// (tests/simt/cuda_host.hpp).
struct DeviceParts {
  bool async = false;        ///< async.cuh: copies from global to shared memory that are waited for in groups
  bool tensor_core = false;  ///< tensor_core.cuh: matrix loads, fragments of narrow elements
  std::set<std::string> products = {};  ///< functions of these atoms of a warp, by name
  bool warp_group = false;  ///< warp_group.cuh: fences, groups and operands of products by warp groups; sm_90 alone
  /// Functions of these: the atom's name, and how many times its columns an instruction has.
  std::set<std::pair<std::string, int>> group_products = {};
  bool reduce = false;      ///< reduce.cuh: additions to memory that others add to
  bool tensor_map = false;  ///< tensor_map.cuh: boxes of tensors, and counters of their bytes; from sm_90 on
  bool cluster = false;     ///< cluster.cuh: blocks that read each other's shared memory; from sm_90 on
};

/// The device's own half of a CUDA kernel's prelude, `Source::device`: accesses and shuffles, then the parts asked for.
/// They take types.cuh, which every portable prelude begins with, in front.
std::string device_prelude(const DeviceParts& parts);

}  // namespace ricci::codegen
