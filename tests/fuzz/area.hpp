// Memory that a test gives to the storages of a sequence.
#pragma once

#include <cstddef>

namespace ricci::fuzz {

/// Memory of a storage: a tensor's, or workspace of the sequence.
struct Area {
  unsigned char* begin = nullptr;
  std::size_t bytes = 0;
  void* element_0 = nullptr;
};

struct Line {
  alignas(256) unsigned char at[256];
};

}  // namespace ricci::fuzz
