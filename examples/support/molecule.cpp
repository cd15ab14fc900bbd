#include "molecule.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace examples {

double reference_energy(const std::string& folder, const std::string& key) {
  const std::string path = folder + "/reference.json";
  std::ifstream in(path);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const std::size_t at = text.find('"' + key + "\":");
  if (at == std::string::npos) throw std::runtime_error(path + ": no " + key);
  return std::strtod(text.c_str() + at + key.size() + 3, nullptr);
}

}  // namespace examples
