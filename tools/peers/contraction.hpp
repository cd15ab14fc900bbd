// Libraries that contractions are timed beside in the same run, each opened from a file that the user names.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "peers/library.hpp"

namespace ricci::tools {

/// result[...] = sum of first[...] * second[...] over what the result lacks, between dense row-major tensors; or a
/// multiple of that added to the result.
struct PeerContraction {
  struct Tensor {
    std::string axes;                        ///< a letter each
    std::vector<std::int64_t> extents;       ///< slowest first
    std::vector<std::int64_t> strides = {};  ///< in elements, for libraries that add; none: dense
  };
  DType type = DType::f64;
  Tensor first, second, result;
  Precision precision = Precision::operands;    ///< of products of f32
  int threads = 1;                              ///< on a CPU
  std::optional<double> adds = {};              ///< so many times the sum are added to the result; none: it is set
  std::function<void*(std::int64_t)> allocate;  ///< bytes of the device for a workspace, kept as long as the runs
};

class ContractionLibrary {
 public:
  virtual ~ContractionLibrary() = default;
  /// Plans it, between memory of the library's device aligned to 64 bytes (256 on a GPU); planning may write the
  /// result. None for what the library is not made for: a type, sums that are added. Runs of one name
  /// are several ways, of which the fastest counts.
  virtual std::vector<PeerRun> prepare(const PeerContraction& problem, void* result, const void* first,
                                       const void* second) = 0;
};

struct ContractionKind {
  const char* option;  ///< "--tblis"
  Device device;       ///< where its tensors are
  const char* help;
  /// Throws IoError, naming the file, where it cannot be opened, and the function that it lacks.
  std::unique_ptr<ContractionLibrary> (*open)(const std::string& file);
};

/// All that are known.
std::span<const ContractionKind> contraction_kinds();

/// Those of them that `files` names, one for each kind or none. Throws ShapeError for one of the other device, and as
/// `open` does.
std::vector<std::unique_ptr<ContractionLibrary>> open_contraction_libraries(const std::vector<std::string>& files,
                                                                            bool gpu);

/// TBLIS 1 through its C interface, which plans in each call.
std::unique_ptr<ContractionLibrary> open_tblis(const std::string& file);
/// What adapters/einsum_ir.cpp makes of a user's einsum_ir.
std::unique_ptr<ContractionLibrary> open_einsum_ir(const std::string& file);

/// OpenBLAS, for what is one matrix product where the tensors lie.
std::unique_ptr<ContractionLibrary> open_openblas(const std::string& file);

/// cuTENSOR 2, by the fastest of its algorithms.
std::unique_ptr<ContractionLibrary> open_cutensor_contraction(const std::string& file);

}  // namespace ricci::tools
