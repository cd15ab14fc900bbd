// Lines that the caches lack as the loops of a plain schedule go through its operands and results.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/program.hpp"
#include "plan/models/device_model.hpp"
#include "plan/models/operation_counts.hpp"

namespace ricci::plan {

/// Of all tasks together.
struct PlainCpuLines {
  /// That the second cache lacks, in so many runs of neighbours that are gone through before it is full.
  struct Far {
    double lines = 0, runs = 0;
  };
  double first = 0;   ///< that the first cache lacks
  double starts = 0;  ///< of operands, the first one that a round takes from beyond the first cache
  Far operands, results;
};

/// Counts them from strides: a cache keeps what the loops inside of one go through where there is room for all of that,
/// and so lacks each line once for each round of the loops around these.
class PlainLineCounter {
 public:
  PlainLineCounter(const ir::Program& program, const OperationCounts& operations, const CpuModel& device);

  /// Of rounds that have so many values along each index, sums inside of them.
  ///   order  loops over rounds, innermost first
  PlainCpuLines count(const std::vector<std::int64_t>& round, const std::vector<int>& order);
  /// What any rounds lack at least: each line once where the caches have no room for all of them.
  PlainCpuLines least() const;

 private:
  struct Stream {
    std::vector<std::pair<std::size_t, std::int64_t>> strides;  ///< of the indices that move it, the shortest first
    std::int64_t element, begin;                                ///< bytes
    bool result;
    double lines = 0, runs = 0;  ///< of neighbours, of what is gone through so far
    bool moves_with(std::size_t q) const;
  };
  double first_room() const;  ///< of the caches, in lines
  double second_room() const;
  void add(const ir::Affine& offset, DType type, bool result);
  void go_through(Stream& stream) const;

  const ir::Program& program_;
  const CpuModel& device_;
  std::vector<Stream> streams_;
  std::vector<std::size_t> summed_;  ///< indices, innermost first
  std::vector<std::int64_t> reach_;  ///< values along each index that are gone through so far
};

}  // namespace ricci::plan
