#include "molecule.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace examples {
namespace {

double reference_energy(const std::string& folder, const std::string& key) {
  const std::string path = folder + "/reference.json";
  std::ifstream in(path);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const std::size_t at = text.find('"' + key + "\":");
  if (at == std::string::npos) throw std::runtime_error(path + ": no " + key);
  return std::strtod(text.c_str() + at + key.size() + 3, nullptr);
}

}  // namespace

int compare_energy(double energy, const std::string& folder, const std::string& key) {
  constexpr double kTolerance = 1e-9;  // Hartree
  const double reference = reference_energy(folder, key);
  std::printf("energy        %.14f Hartree\n", energy);
  std::printf("reference     %.14f Hartree\n", reference);
  std::printf("difference    %.1e Hartree, at most %.0e\n", energy - reference, kTolerance);
  return std::abs(energy - reference) <= kTolerance ? 0 : 1;
}

}  // namespace examples
