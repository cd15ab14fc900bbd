// The MP2 correlation energy of water: four-index transformation and energy as one program,
// programs/chemistry/mp2.ricci.
#include <cstdio>

#include "support/molecule.hpp"
#include "support/options.hpp"
#include "support/workbench.hpp"

namespace {

int run(const examples::Options& options) {
  const std::string& data = options.text("data");
  examples::Workbench bench(options.device());
  bench.load("eri", data + "/eri_ao.npy");
  bench.load("C", data + "/mo_coeff.npy");
  bench.load("e", data + "/mo_energy.npy");

  const examples::Job mp2 = bench.plan("chemistry/mp2");
  const double ms = mp2.run();
  std::printf("mp2           %s, run in %.2f ms\n", mp2.origin().c_str(), ms);
  return examples::compare_energy(bench.get<double>("E").at(0), data, "e_mp2_corr");
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_example(argc, argv, "mp2: the MP2 correlation energy of water in the basis cc-pVDZ",
                               {{"device", "cpu"}, {"data", RICCI_EXAMPLES_DIR "/data/h2o_ccpvdz"}}, run);
}
