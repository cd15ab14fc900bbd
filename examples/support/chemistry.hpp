// MP2 and E(T) of a closed-shell molecule as programs, in order, on any bench: arrays by name on some device.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "molecule.hpp"

namespace examples {

/// Arrays that stand for tensors of other names: tensor to array.
using Names = std::map<std::string, std::string>;

/// Runs programs/chemistry/mp2.ricci: the MP2 correlation energy in Hartree.
///
///   bench    has put(), get() and reshape() of Workbench
///   perform  perform(program, names) runs programs/<program>.ricci on the bench's arrays
template <class Bench, class Perform>
double mp2_energy(Bench& bench, const Molecule& molecule, Perform perform) {
  const std::int64_t n = molecule.atomic, o = molecule.occupied, v = molecule.virtuals;
  bench.put("eri", {n, n, n, n}, molecule.eri);
  bench.put("Co", {n, o}, molecule.Co);
  bench.put("Cv", {n, v}, molecule.Cv);
  bench.put("eo", {o}, molecule.eo);
  bench.put("ev", {v}, molecule.ev);
  perform("chemistry/mp2", Names{});
  return bench.template get<double>("E").at(0);
}

/// Programs that triples_energy() runs.
inline constexpr int kTriplesPrograms = 6;

/// The triples energy E(T) in Hartree: three blocks of integrals, spin orbitals, the 18 contractions, the energy.
template <class Bench, class Perform>
double triples_energy(Bench& bench, const Molecule& molecule, Perform perform) {
  const std::int64_t n = molecule.atomic, o = molecule.occupied, v = molecule.virtuals;
  bench.put("eri", {n, n, n, n}, molecule.eri);
  bench.put("Co", {n, o}, molecule.Co);
  bench.put("Cv", {n, v}, molecule.Cv);
  bench.put("t1", {o, v}, molecule.t1);
  bench.put("t2", {o, o, v, v}, molecule.t2);
  for (const char* block : {"ovov", "oovo", "vvov"}) {
    Names names = {{"mo", block}};
    for (int place = 0; place < 4; ++place) {
      names["C" + std::to_string(place + 1)] = block[place] == 'o' ? "Co" : "Cv";
    }
    perform("chemistry/four_index", names);
  }
  perform("chemistry/spin_orbitals", Names{});
  // From here on a spin and an orbital are one slot of twice as many places.
  for (const char* name : {"t1s", "vs", "t2o", "v2o", "t2v", "v2v"}) {
    const std::vector<std::int64_t> apart = bench.shape(name);
    std::vector<std::int64_t> merged;
    for (std::size_t k = 0; k < apart.size(); k += 2) merged.push_back(apart[k] * apart[k + 1]);
    bench.reshape(name, merged);
  }

  // i j a b have spin alpha, k and c either: all other cases have the same energies as one of these.
  const std::vector<std::int64_t> brick = {v, v, 2 * v, o, o, 2 * o};
  std::int64_t elements = 1;
  for (const std::int64_t extent : brick) elements *= extent;
  bench.put("t3", brick, std::vector<double>(static_cast<std::size_t>(elements), 0.0));
  perform("chemistry/ccsd_t_18", Names{});

  std::vector<double> eo;
  std::vector<double> ev;
  std::vector<double> weight;  // 2 and 18 of the 36 by which the sum over all spins is divided
  for (int spin = 0; spin < 2; ++spin) {
    eo.insert(eo.end(), molecule.eo.begin(), molecule.eo.end());
    ev.insert(ev.end(), molecule.ev.begin(), molecule.ev.end());
    weight.insert(weight.end(), static_cast<std::size_t>(o), spin == 0 ? 2.0 / 36 : 18.0 / 36);
  }
  bench.put("eo", {2 * o}, eo);
  bench.put("ev", {2 * v}, ev);
  bench.put("weight", {2 * o}, weight);
  perform("chemistry/ccsd_t_energy", Names{});
  return bench.template get<double>("E").at(0);
}

}  // namespace examples
