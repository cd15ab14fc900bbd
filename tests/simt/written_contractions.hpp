// Contractions for a GPU, scheduled by directives that a person wrote: run on the simulator and on a device.
#pragma once

#include <map>
#include <vector>

#include "simt/contraction_case.hpp"

namespace ricci::simt {

struct WrittenContraction {
  const char* spec;
  std::map<char, std::int64_t> extents;
  std::vector<DType> types;
  ir::Factor alpha, beta;
  const char* directives;
  Precision precision = Precision::operands;

  ContractionCase made() const;
};

const std::vector<WrittenContraction>& written_contractions();

}  // namespace ricci::simt
