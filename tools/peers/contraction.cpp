#include "peers/contraction.hpp"

#include <fmt/format.h>

#include "ricci/error.hpp"

namespace ricci::tools {

std::span<const ContractionKind> contraction_kinds() {
  static constexpr std::array kKinds = {
      ContractionKind{"--tblis", Device::cpu, "CPU: TBLIS 1's shared library, timed in turns with Ricci", open_tblis},
      ContractionKind{"--einsum-ir", Device::cpu,
                      "CPU: einsum_ir as tools/peers/adapters makes a library of it, likewise", open_einsum_ir},
      ContractionKind{"--openblas", Device::cpu,
                      "CPU: OpenBLAS's shared library, of contractions that are one matrix product, likewise",
                      open_openblas},
      ContractionKind{"--cutensor", Device::gpu,
                      "GPU: cuTENSOR 2's shared library, by the fastest of its algorithms, likewise",
                      open_cutensor_contraction},
  };
  return kKinds;
}

std::vector<std::unique_ptr<ContractionLibrary>> open_contraction_libraries(const std::vector<std::string>& files,
                                                                            bool gpu) {
  std::vector<std::unique_ptr<ContractionLibrary>> libraries;
  for (std::size_t k = 0; k < files.size(); ++k) {
    const auto& kind = contraction_kinds()[k];
    if (files[k].empty()) continue;
    if (gpu != (kind.device == Device::gpu))
      throw ShapeError(fmt::format("{} is for --device {}", kind.option, gpu ? "cpu" : "gpu"));
    libraries.push_back(kind.open(files[k]));
  }
  return libraries;
}

}  // namespace ricci::tools
