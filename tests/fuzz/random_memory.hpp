// Storage of random programs: what their buffers hold.
#pragma once

#include "fuzz/random_program.hpp"
#include "fuzz/random_tensor.hpp"

namespace ricci::fuzz {

enum class Fill : std::uint8_t {
  any,   ///< floats up to 2 in magnitude, integers small or not
  room,  ///< integers from 0 to 6
};

/// Memory for offsets buffer.first .. buffer.last, and some more around them.
Memory random_memory(Generator& random, const ir::Buffer& buffer, Fill fill);

}  // namespace ricci::fuzz
