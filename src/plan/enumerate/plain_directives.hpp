// The loops of a plain schedule as directives.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/directives.hpp"
#include "kernel/kernel.hpp"

namespace ricci::plan {

/// What a plain schedule makes of a free index.
struct PlainIndex {
  std::int64_t tile = 1;       ///< values of a task
  std::int64_t registers = 1;  ///< of these, values of one worker: a thread, or a round over the tile
  bool neighbours = false;     ///< on a GPU: those of a thread are, not as far apart as its block is wide
};

/// Tiles and their order.
///   order    free indices by which tasks are numbered, fastest first
///   workers  indices along which a tile has workers, likewise; on a CPU all with tiles of several values
///   indices  per index of the program
kernel::Directives plain_loops(const ir::Program& program, const std::vector<int>& order,
                               const std::vector<int>& workers, const std::vector<PlainIndex>& indices,
                               kernel::Target target);

/// A directive that is a word and numbers.
kernel::Directive directive(kernel::Directive::Kind kind, std::vector<std::int64_t> sizes = {});

}  // namespace ricci::plan
