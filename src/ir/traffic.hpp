// Compulsory traffic: what a program reads and writes at least, whatever the schedule.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.hpp"

namespace ricci::ir {

/// Elements of each buffer that a kernel reads and writes, each counted once: of a buffer the lesser of the sum over
/// its accesses and its span.
struct Traffic {
  std::vector<std::int64_t> read, written;
};
Traffic traffic_of(const Program& program);

/// Of so many elements of each buffer.
std::int64_t bytes_of(const Program& program, const std::vector<std::int64_t>& elements) noexcept;

}  // namespace ricci::ir
