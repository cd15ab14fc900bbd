// The perturbative triples energy E(T) of a closed-shell molecule, from integrals over atomic orbitals and CCSD
// amplitudes: blocks of integrals over molecular orbitals, spin orbitals, the 18 contractions of the triples, and their
// energy.
#include <cstdio>

#include "support/chemistry.hpp"
#include "support/molecule.hpp"
#include "support/options.hpp"
#include "support/progress.hpp"
#include "support/workbench.hpp"

namespace {

int run(const examples::Options& options) {
  const std::string& data = options.text("data");
  const examples::Molecule molecule = examples::read_molecule(data, true);
  examples::Workbench bench(options.device());
  int done = 0;
  examples::Progress progress("E(T)");
  const double energy =
      examples::triples_energy(bench, molecule, [&](const std::string& program, const examples::Names& names) {
        const examples::Job job = bench.plan(program, names);
        const double ms = job.run();
        progress.done(static_cast<double>(++done) / examples::kTriplesPrograms);
        const double gflops = job.plan().info().flops / ms / 1e6;
        const auto made = names.find("mo");
        const std::string text = program + (made == names.end() ? "" : " " + made->second);
        std::printf("%-27s %s, run in %.2f ms, %.1f GF/s\n", text.c_str(), job.origin().c_str(), ms, gflops);
      });
  return examples::compare_energy(energy, data, "e_t");
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_example(
      argc, argv,
      "ccsd_t: the triples energy E(T) of a closed-shell molecule; of water in the basis cc-pVDZ "
      "unless --data names\nanother molecule's folder, which data/make_molecule.py makes",
      {{"device", "cpu"}, {"data", RICCI_EXAMPLES_DIR "/data/h2o_ccpvdz"}}, run);
}
