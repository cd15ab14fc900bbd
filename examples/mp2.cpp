// The MP2 correlation energy of water: four-index transformation and energy as one program,
// programs/chemistry/mp2.ricci.
#include <cmath>
#include <cstdio>
#include <exception>

#include "support/molecule.hpp"
#include "support/options.hpp"
#include "support/workbench.hpp"

namespace {

constexpr double kTolerance = 1e-9;  // Hartree

int run(const examples::Options& options) {
  const std::string& data = options.text("data");
  examples::Workbench bench(options.device());
  bench.load("eri", data + "/eri_ao.npy");
  bench.load("C", data + "/mo_coeff.npy");
  bench.load("e", data + "/mo_energy.npy");

  const examples::Job mp2 = bench.plan("chemistry/mp2");
  const double ms = mp2.run();
  const double energy = bench.get<double>("E").at(0);
  const double reference = examples::reference_energy(data, "e_mp2_corr");
  std::printf("mp2           %s, run in %.2f ms\n", mp2.origin().c_str(), ms);
  std::printf("energy        %.14f Hartree\n", energy);
  std::printf("reference     %.14f Hartree\n", reference);
  std::printf("difference    %.1e Hartree, at most %.0e\n", energy - reference, kTolerance);
  return std::abs(energy - reference) <= kTolerance ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(examples::Options(argc, argv, "mp2: the MP2 correlation energy of water in the basis cc-pVDZ",
                                 {{"device", "cpu"}, {"data", RICCI_EXAMPLES_DIR "/data/h2o_ccpvdz"}}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
