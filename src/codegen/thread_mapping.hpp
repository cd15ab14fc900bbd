// C text of a thread mapping: the inner index values that thread t handles in round u.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/writer.hpp"
#include "ir/schedule.hpp"

namespace ricci::codegen {

/// Inner index values of one mapping: of a rectangle's first element, where a position is one. A digit that depends on
/// the thread alone is a constant before the loop over rounds; one that depends on the round alone is a literal once
/// the loop is unrolled; only what mixes both costs divisions per round.
class ThreadCoordinates {
 public:
  ThreadCoordinates(const ir::Program& program, const ir::Schedule& schedule, const ir::ThreadMapping& mapping);
  /// The same; in a skewed schedule `phase` is how far before the tile's origin this mapping begins: a literal, or the
  /// name of a variable declared by `declare_phase` (called once the other indices are known).
  ThreadCoordinates(const ir::Program& program, const ir::Schedule& schedule, const ir::ThreadMapping& mapping,
                    std::string phase, std::function<void(Writer&)> declare_phase);

  std::int64_t rounds() const { return mapping_.rounds(); }
  /// Declarations that hold for all rounds.
  void declare_outer(Writer& writer) const;
  /// Declarations that depend on the round `u`.
  void declare_inner(Writer& writer) const;
  /// The condition under which round u of thread t has a point; empty when always.
  std::string guard() const;
  /// Text of inner index q: its name, or empty when the tile has one value of it.
  std::string inner(int q) const;

 private:
  struct Part {
    std::string text;        ///< of a digit, with its step
    bool per_round = false;  ///< mentions u
  };
  struct Declaration {
    std::string text;
    bool per_round = false;
  };
  Part digit_part(std::size_t k) const;
  Declaration declaration(std::size_t q) const;
  bool skewed(std::size_t q) const { return schedule_.skew.index == static_cast<int>(q); }

  const ir::Program& program_;
  const ir::Schedule& schedule_;
  const ir::ThreadMapping& mapping_;
  std::string phase_;
  std::function<void(Writer&)> declare_phase_;
};

/// The name of a tile's first value of index q ("a0"), or empty when that is always 0. Where a tile holds one value,
/// the origin is the index itself ("a").
std::string origin_name(const ir::Program& program, const ir::Schedule& schedule, int q);

}  // namespace ricci::codegen
