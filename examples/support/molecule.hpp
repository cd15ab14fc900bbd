// A closed-shell molecule's data, as data/make_molecule.py writes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npy.hpp"

namespace examples {

/// Extents are those of the files.
struct Molecule {
  std::int64_t atomic = 0, occupied = 0, virtuals = 0;  ///< orbitals
  std::vector<double> eri;                              ///< [atomic]^4, (pq|rs)
  std::vector<double> Co, Cv;  ///< [atomic, occupied] and [atomic, virtuals]: orbitals as columns
  std::vector<double> eo, ev;  ///< their energies
  std::vector<double> t1, t2;  ///< CCSD amplitudes [o, v] and [o, o, v, v]; empty unless asked for
};

/// Throws std::runtime_error, naming the file, where there is no such folder, a file is missing, or shapes disagree.
Molecule read_molecule(const std::string& folder, bool with_amplitudes);

/// Prints an energy in Hartree beside the one that `folder`'s reference.json has under `key`. Returns an exit status:
/// 0 where they are at most 1e-9 apart. Throws std::runtime_error where there is none.
int compare_energy(double energy, const std::string& folder, const std::string& key);

/// The number that reference.json has under `key`. Throws std::runtime_error where there is none.
double reference_number(const std::string& folder, const std::string& key);

}  // namespace examples
