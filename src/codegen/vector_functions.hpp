// Functions of a CPU's vectors that kernels call, as text.
#pragma once

#include <string>

#include "ricci/tensor.hpp"

namespace ricci::codegen {

/// Lanes of a C vector that an element takes: two of a c128.
int words_of(DType type);
/// The name of a vector's type.
std::string vector_name(DType type, int lanes);

/// A function of vectors that KernelText calls.
std::string lane_function(const std::string& name, DType type, int lanes);

/// What a transpose moves: elements, or groups of them, all of which have the bytes of a word.
const char* moved_type(DType type, int together);
/// transpose<type, used>(rows) of an array of so many vectors.
///   together  neighbours that are like one element
std::string transpose_function(DType type, int lanes, int vectors, int used, int together);

}  // namespace ricci::codegen
