// The axes of a copy, ordered by stride on either side.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.hpp"
#include "kernel/permute/moves.hpp"

namespace ricci::plan {

/// A statement and its main load, with the indices in the order of each side's strides.
struct Sides {
  explicit Sides(const ir::Program& program);

  const ir::Program& program;
  ir::NodeId load = -1;          ///< the load to stage
  std::vector<int> read_order;   ///< fastest first; broadcast indices last
  std::vector<int> write_order;  ///< fastest first

  std::int64_t extent(int q) const { return program.indices[static_cast<std::size_t>(q)].extent; }
  std::int64_t read_stride(int q) const;
  std::int64_t write_stride(int q) const;
  std::int64_t read_bytes() const { return read_bytes_; }  ///< of one element
  std::int64_t write_bytes() const { return write_bytes_; }
  int read_first() const { return read_order.empty() ? -1 : read_order.front(); }
  int write_first() const { return write_order.empty() ? -1 : write_order.front(); }
  bool same_first() const { return read_first() == write_first(); }  ///< the fastest index of both sides is one

  /// The tile extents that give one side contiguous runs of about `elements` elements: whole indices first, the last
  /// one in part. `granule` divides that part where possible.
  std::vector<std::int64_t> run_extents(bool read, std::int64_t elements, std::int64_t granule) const;
  /// The digits of a tile in one side's order, fastest first; indices with one value are left out.
  std::vector<kernel::MixedRadixDigit> digits(bool read, const std::vector<std::int64_t>& tile) const;

 private:
  std::int64_t read_bytes_ = 1, write_bytes_ = 1;
};

}  // namespace ricci::plan
