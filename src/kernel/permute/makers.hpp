// Which directive made what of a kernel that moves elements: a fault is said with it.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "kernel/directives.hpp"
#include "kernel/kernel.hpp"
#include "kernel/permute/moves.hpp"

namespace ricci::kernel {

/// The kernel's lines of directives.
inline void say_directives(Kernel& kernel, const Moves& moves, const ir::Program& program) {
  for (const auto& directive : directives_of(moves, program)) kernel.directives.push_back(print(directive));
}

/// The number of the line that begins with the first of these words that a line begins with; -1: none does.
inline int line_of(const Kernel& kernel, std::initializer_list<std::string_view> words) {
  const auto& lines = kernel.directives;
  for (const auto word : words) {
    const auto begins = [&](std::string_view line) { return line.substr(0, line.find(' ')) == word; };
    const auto line = std::find_if(lines.begin(), lines.end(), begins);
    if (line != lines.end()) return static_cast<int>(line - lines.begin());
  }
  return -1;
}

}  // namespace ricci::kernel
