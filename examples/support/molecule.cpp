#include "molecule.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace examples {
namespace {

using Shape = std::vector<std::int64_t>;

std::string text_of(const Shape& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "(" + text + ")";
}

/// The doubles of a file that must have that shape.
std::vector<double> values_of(const std::string& path, const Shape& shape) {
  NpyFile file = read_npy(path);
  if (file.shape != shape) {
    throw std::runtime_error(path + ": has shape " + text_of(file.shape) + ", the molecule's other files say " +
                             text_of(shape));
  }
  return std::move(file.values);
}

/// Columns first to first + count - 1 of a matrix.
std::vector<double> columns(const NpyFile& matrix, std::int64_t first, std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t row = 0; row < matrix.shape[0]; ++row) {
    const auto begin = matrix.values.begin() + row * matrix.shape[1] + first;
    values.insert(values.end(), begin, begin + count);
  }
  return values;
}

}  // namespace

double reference_number(const std::string& folder, const std::string& key) {
  const std::string path = folder + "/reference.json";
  std::ifstream in(path);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const std::size_t at = text.find('"' + key + "\":");
  if (at == std::string::npos) throw std::runtime_error(path + (in ? ": no " + key : ": cannot be read"));
  return std::strtod(text.c_str() + at + key.size() + 3, nullptr);
}

Molecule read_molecule(const std::string& folder, bool with_amplitudes) {
  if (!std::filesystem::is_directory(folder)) {
    throw std::runtime_error(folder + ": no such folder; --data takes the folder of a molecule, which " +
                             RICCI_EXAMPLES_DIR "/data/make_molecule.py makes");
  }
  const std::string orbitals = folder + "/mo_coeff.npy";
  const NpyFile C = read_npy(orbitals);
  Molecule made;
  made.occupied = static_cast<std::int64_t>(reference_number(folder, "n_occ"));
  if (C.shape.size() != 2 || made.occupied < 1 || made.occupied >= C.shape[1]) {
    throw std::runtime_error(orbitals + ": has shape " + text_of(C.shape) +
                             "; it must be a matrix with more columns than the " + std::to_string(made.occupied) +
                             " occupied orbitals that reference.json tells (n_occ)");
  }
  made.atomic = C.shape[0];
  made.virtuals = C.shape[1] - made.occupied;
  made.Co = columns(C, 0, made.occupied);
  made.Cv = columns(C, made.occupied, made.virtuals);
  made.eri = values_of(folder + "/eri_ao.npy", Shape(4, made.atomic));
  const std::vector<double> energies = values_of(folder + "/mo_energy.npy", {C.shape[1]});
  made.eo.assign(energies.begin(), energies.begin() + made.occupied);
  made.ev.assign(energies.begin() + made.occupied, energies.end());
  if (with_amplitudes) {
    made.t1 = values_of(folder + "/t1.npy", {made.occupied, made.virtuals});
    made.t2 = values_of(folder + "/t2.npy", {made.occupied, made.occupied, made.virtuals, made.virtuals});
  }
  return made;
}

int compare_energy(double energy, const std::string& folder, const std::string& key) {
  constexpr double kTolerance = 1e-9;  // Hartree
  const double reference = reference_number(folder, key);
  std::printf("energy        %.14f Hartree\n", energy);
  std::printf("reference     %.14f Hartree\n", reference);
  std::printf("difference    %.1e Hartree, at most %.0e\n", energy - reference, kTolerance);
  return std::abs(energy - reference) <= kTolerance ? 0 : 1;
}

}  // namespace examples
