#include "peers/contraction.hpp"

namespace ricci::tools {

std::span<const ContractionKind> contraction_kinds() {
  static constexpr std::array kKinds = {
      ContractionKind{"--tblis", Device::cpu, "CPU: TBLIS 1's shared library, timed in turns with Ricci", open_tblis},
      ContractionKind{"--einsum-ir", Device::cpu,
                      "CPU: einsum_ir as tools/peers/adapters makes a library of it, likewise", open_einsum_ir},
      ContractionKind{"--cutensor", Device::gpu,
                      "GPU: cuTENSOR 2's shared library, by the fastest of its algorithms, likewise",
                      open_cutensor_contraction},
  };
  return kKinds;
}

}  // namespace ricci::tools
