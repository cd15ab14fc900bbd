// What the tensors of a program are to a caller: shapes, and the extents that these leave open.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "frontend/formula.hpp"

namespace ricci::formula {

/// What a caller must bring for each tensor; extents may be open.
std::vector<TensorInfo> tensor_infos(const ProgramGraph& program);

/// Finds open extents from the shapes of arrays; see ricci::Program::bind().
void bind(ProgramGraph& program, const std::map<std::string, std::vector<std::int64_t>>& shapes);

}  // namespace ricci::formula
