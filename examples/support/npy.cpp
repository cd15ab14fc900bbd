#include "npy.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace examples {
namespace {

constexpr std::size_t kPreamble = 10;  // version 1: magic, version, length of the header

std::vector<std::int64_t> shape_of(const std::string& header) {
  const std::size_t open = header.find("'shape': (");
  const std::size_t close = header.find(')', open);
  std::vector<std::int64_t> shape;
  if (open == std::string::npos || close == std::string::npos) return shape;
  const std::string list = header.substr(open + 10, close - open - 10);
  for (const char* at = list.c_str(); *at != '\0';) {
    char* end = nullptr;
    const long long extent = std::strtoll(at, &end, 10);
    if (end == at) break;
    shape.push_back(extent);
    at = end;
    while (*at == ',' || *at == ' ') ++at;
  }
  return shape;
}

}  // namespace

NpyFile read_npy(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  std::array<char, kPreamble> preamble{};
  in.read(preamble.data(), kPreamble);
  if (!in || std::string(preamble.data(), 6) != "\x93NUMPY" || preamble[6] != 1) {
    throw std::runtime_error(path + ": not a .npy file of version 1");
  }
  std::string header(static_cast<unsigned char>(preamble[8]) + 256U * static_cast<unsigned char>(preamble[9]), ' ');
  in.read(header.data(), static_cast<std::streamsize>(header.size()));
  if (header.find("'<f8'") == std::string::npos || header.find("'fortran_order': False") == std::string::npos) {
    throw std::runtime_error(path + ": holds no doubles in C order");
  }
  NpyFile file;
  file.shape = shape_of(header);
  std::size_t elements = 1;
  for (const std::int64_t extent : file.shape) elements *= static_cast<std::size_t>(extent);
  file.values.resize(elements);
  in.read(reinterpret_cast<char*>(file.values.data()), static_cast<std::streamsize>(elements * sizeof(double)));
  if (!in) throw std::runtime_error(path + ": ends early");
  return file;
}

}  // namespace examples
