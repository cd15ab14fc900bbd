// The exchange of a tile within a warp: which lane holds the element that another lane writes, found at generation
// time.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "codegen/writer.hpp"
#include "ir/schedule.hpp"

namespace ricci::codegen {

class WarpExchange {
 public:
  /// For a schedule whose stage is in the registers of a warp.
  explicit WarpExchange(const ir::Schedule& schedule);

  /// For element v of the vector written in round u: all pairs (round of reading, element of the vector read) that hold
  /// it for some lane, in rising order.
  std::vector<std::pair<std::int64_t, std::int64_t>> sources(std::int64_t u, int v) const;

  /// Writes what gives element v of the vector written in round u its value, in[v], from what the lanes keep of the
  /// tile: kept[round], or kept[round].at[element] where it is kept in vectors. The shuffles are those that some lane
  /// needs.
  void emit(Writer& w, const ir::Program& program, std::int64_t u, int v, bool vectors) const;

 private:
  std::size_t number(const ir::ThreadMapping& order,
                     std::int64_t p) const;  ///< of the point that is the p-th of a mapping

  const ir::Schedule& schedule_;
  std::vector<std::int64_t> weight_;         // weight of each index in a point's number
  std::vector<std::int64_t> read_position_;  // per point: its position in the reading order
};

}  // namespace ricci::codegen
