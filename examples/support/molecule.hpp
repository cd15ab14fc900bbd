// What comes with a molecule's data.
#pragma once

#include <string>

namespace examples {

/// A number of reference.json, by its key. Throws std::runtime_error when it is not there.
double reference_energy(const std::string& folder, const std::string& key);

}  // namespace examples
