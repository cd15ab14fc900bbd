// Groups of threads of a GPU that share sums and scans: of products whose results are few, threads along the sum's
// indices, and results that each of them has in registers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/directives.hpp"
#include "plan/enumerate/plain_shapes.hpp"
#include "plan/enumerate/register_tile.hpp"
#include "plan/models/operation_counts.hpp"

namespace ricci::plan {

/// One point per group of cooperative threads: the block, or each warp of it.
///   along  the index that warps of a block have neighbours of; -1: the first one of the result's order
BlockShape group_shape(const ir::Program& program, const OperationCounts& counts, int cooperative_threads,
                       int along = -1);

/// What the steps of a scan take, which are sequential: each waits for a piece's loads, shuffles and barrier, or for
/// one value.
///   cycles  of a thread, besides
///   tiles   thread blocks
double scan_us(const ir::Program& program, const BlockShape& shape, double cycles, double tiles,
               const GpuModel& device);

/// Shapes of groups that share scans and compactions. Each thread takes several values at a time where these are cheap,
/// for more loads in flight.
///   sums  whether the program has reductions, too
std::vector<BlockShape> scan_shapes(const ir::Program& program, const OperationCounts& counts, bool sums);

/// Shapes of groups that may read both factors of a sum of products by whole sectors: along the indices that these lie
/// along in memory, which may be two.
std::vector<BlockShape> group_shapes(const ir::Program& program, const OperationCounts& counts);

/// Results of a thread of a group whose block has all rows and columns of the product, or half of them, so that factors
/// are read once or twice: all of an index or even parts of it, as many as fit in registers. Of a product of a matrix
/// and a vector some rows where sums are short.
///   words  of 4 bytes, of an element
std::vector<RegisterTile> group_tiles(const ir::Program& program, const OperationCounts& counts,
                                      const BlockShape& shape, std::int64_t words);

/// Results of a thread of a warp whose lanes share sums that are none of products: several of short rows, so that more
/// loads are in flight at once, and of any that share what their rounds load or compute, such as the components of the
/// forces between pairs of points.
std::vector<RegisterTile> sum_tiles(const ir::Program& program, const OperationCounts& counts, const BlockShape& shape);

/// What all threads of a group touch with each load.
TouchedByLoads touched_by_group(const ir::Program& program, const OperationCounts& counts, const BlockShape& shape);

/// The threads along each index of the sum as directives, and in a candidate's name.
kernel::Directives member_directives(const ir::Program& program, const BlockShape& shape);
std::string member_text(const kernel::Directives& members);

/// Warps of a multiprocessor that its registers leave room for.
double resident_warps(const BlockShape& shape, const RegisterTile& tile, std::int64_t words);

}  // namespace ricci::plan
