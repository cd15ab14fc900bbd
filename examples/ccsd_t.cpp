// The perturbative triples energy E(T) of water, from integrals over atomic orbitals and CCSD amplitudes, in four
// programs: four-index transformation, spin orbitals, the 18 contractions of the triples, and their energy.
#include <cstdio>

#include "support/molecule.hpp"
#include "support/npy.hpp"
#include "support/options.hpp"
#include "support/progress.hpp"
#include "support/workbench.hpp"

namespace {

constexpr int kSteps = 4;

int run(const examples::Options& options) {
  const std::string& data = options.text("data");
  examples::Workbench bench(options.device());
  bench.load("eri", data + "/eri_ao.npy");
  bench.load("C", data + "/mo_coeff.npy");
  bench.load("t1", data + "/t1.npy");
  bench.load("t2", data + "/t2.npy");
  const std::int64_t occupied = bench.shape("t1")[0];
  const std::int64_t virtuals = bench.shape("t1")[1];
  const std::int64_t orbitals = occupied + virtuals;

  int step = 0;
  examples::Progress progress("E(T)");
  const auto perform = [&](const char* program, const std::map<std::string, std::int64_t>& extents = {}) {
    const examples::Job job = bench.plan(program, extents);
    const double ms = job.run();
    progress.done(static_cast<double>(++step) / kSteps);
    const double gflops = job.plan().info().flops / ms / 1e6;
    std::printf("%-26s %s, run in %.2f ms, %.1f GF/s\n", program, job.origin().c_str(), ms, gflops);
  };

  perform("chemistry/four_index", {{"u", orbitals}, {"v", orbitals}, {"w", orbitals}});
  perform("chemistry/spin_orbitals");
  // From here on a spin and an orbital are one slot of 10 or 38 places.
  for (const char* name : {"t1s", "vs", "t2o", "v2o", "t2v", "v2v"}) {
    const std::vector<std::int64_t> apart = bench.shape(name);
    std::vector<std::int64_t> merged;
    for (std::size_t k = 0; k < apart.size(); k += 2) merged.push_back(apart[k] * apart[k + 1]);
    bench.reshape(name, merged);
  }

  // i j a b have spin alpha, k and c either: all other cases have the same energies as one of these.
  const std::vector<std::int64_t> brick = {virtuals, virtuals, 2 * virtuals, occupied, occupied, 2 * occupied};
  std::int64_t elements = 1;
  for (const std::int64_t extent : brick) elements *= extent;
  bench.put("t3", brick, std::vector<double>(static_cast<std::size_t>(elements), 0.0));
  perform("chemistry/ccsd_t_18");

  const std::vector<double> energies = examples::read_npy(data + "/mo_energy.npy").values;
  std::vector<double> eo;
  std::vector<double> ev;
  std::vector<double> weight;  // 2 and 18 of the 36 by which the sum over all spins is divided
  for (int spin = 0; spin < 2; ++spin) {
    eo.insert(eo.end(), energies.begin(), energies.begin() + occupied);
    ev.insert(ev.end(), energies.begin() + occupied, energies.end());
    weight.insert(weight.end(), static_cast<std::size_t>(occupied), spin == 0 ? 2.0 / 36 : 18.0 / 36);
  }
  bench.put("eo", {2 * occupied}, eo);
  bench.put("ev", {2 * virtuals}, ev);
  bench.put("weight", {2 * occupied}, weight);
  perform("chemistry/ccsd_t_energy");

  return examples::compare_energy(bench.get<double>("E").at(0), data, "e_t");
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_example(argc, argv, "ccsd_t: the triples energy E(T) of water in the basis cc-pVDZ",
                               {{"device", "cpu"}, {"data", RICCI_EXAMPLES_DIR "/data/h2o_ccpvdz"}}, run);
}
