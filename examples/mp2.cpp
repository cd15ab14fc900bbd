// The MP2 correlation energy of a closed-shell molecule: four-index transformation and energy as one program,
// programs/chemistry/mp2.ricci.
#include <cstdio>

#include "support/chemistry.hpp"
#include "support/molecule.hpp"
#include "support/options.hpp"
#include "support/workbench.hpp"

namespace {

int run(const examples::Options& options) {
  const std::string& data = options.text("data");
  const examples::Molecule molecule = examples::read_molecule(data, false);
  examples::Workbench bench(options.device());
  const double energy =
      examples::mp2_energy(bench, molecule, [&](const std::string& program, const examples::Names& names) {
        const examples::Job mp2 = bench.plan(program, names);
        const double ms = mp2.run();
        std::printf("mp2           %s, run in %.2f ms\n", mp2.origin().c_str(), ms);
      });
  return examples::compare_energy(energy, data, "e_mp2_corr");
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_example(
      argc, argv,
      "mp2: the MP2 correlation energy of a closed-shell molecule; of water in the basis cc-pVDZ "
      "unless --data names\nanother molecule's folder, which data/make_molecule.py makes",
      {{"device", "cpu"}, {"data", RICCI_EXAMPLES_DIR "/data/h2o_ccpvdz"}}, run);
}
