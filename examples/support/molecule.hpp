// What comes with a molecule's data.
#pragma once

#include <string>

namespace examples {

/// Prints an energy in Hartree beside the one that `folder`'s reference.json has under `key`. Returns an exit status:
/// 0 where they are at most 1e-9 apart. Throws std::runtime_error where there is none.
int compare_energy(double energy, const std::string& folder, const std::string& key);

}  // namespace examples
