// Which lanes of a warp hold what the others write: worked out for all of them while the text is made.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/schedule.hpp"

namespace ricci::codegen {

class WarpExchange {
 public:
  /// A schedule whose stage keeps its tile in the registers of a warp.
  explicit WarpExchange(const ir::Schedule& schedule);

  /// The rounds in which element v of what round u writes was read, and the elements of their vectors: those that some
  /// lane needs, in rising order.
  std::vector<std::pair<std::int64_t, std::int64_t>> sources(std::int64_t u, int v) const;

 private:
  std::size_t number(const ir::Walk& order, std::int64_t p) const;  ///< of the point that is the p-th of a walk

  const ir::Schedule& schedule_;
  std::vector<std::int64_t> weight_;         // of each index in a point's number
  std::vector<std::int64_t> read_position_;  // of each point in the order in which it is read
};

}  // namespace ricci::codegen
