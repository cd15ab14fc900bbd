// Reading NumPy's .npy files of doubles in C order, which is all that the examples' data are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace examples {

struct NpyFile {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

/// Throws std::runtime_error, with the path, when the file is not one of those.
NpyFile read_npy(const std::string& path);

}  // namespace examples
