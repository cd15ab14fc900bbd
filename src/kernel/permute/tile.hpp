// The tile that a block or a warp moves: where it begins, and which of its points a thread handles in which round.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernel/kernel.hpp"
#include "kernel/permute/moves.hpp"

namespace ricci::kernel {

/// What the parts of a kernel share. Points of a tile count from its origin; along a skewed index from `lead` before
/// it, since what is read reaches that far back.
struct Tile {
  const ir::Program& program;
  const Moves& moves;
  Kernel& kernel;
  Var thread = -1;             ///< of those that share the tile
  std::vector<Affine> origin;  ///< per index: its first value, 0 where the tile holds all

  const ir::LoopIndex& index(int q) const { return program.indices[static_cast<std::size_t>(q)]; }
  std::int64_t extent(int q) const { return moves.tile[static_cast<std::size_t>(q)]; }
  std::int64_t lead(int q) const { return moves.skew.index == q ? moves.skew.elements - 1 : 0; }
  const Affine& origin_of(int q) const { return origin[static_cast<std::size_t>(q)]; }
  int indices() const { return static_cast<int>(program.indices.size()); }

  /// The name, made one that no index, buffer or parameter of the program has.
  std::string fresh(std::string name) const;
};

/// of / divisor % modulus: `of` itself or a number where it is that, else a variable that `names` says in place.
Affine quotient(Kernel& kernel, Body& names, const std::string& name, const Affine& of, std::int64_t divisor,
                std::int64_t modulus);

/// The value by the name of `var`, whose extent becomes what it takes; a quotient that `names` say in place takes the
/// name itself unless its own is to be kept.
Affine named(Kernel& kernel, Body& names, Var var, const Affine& value, bool keep = false);

/// The points of a tile in the order of a thread mapping: of a rectangle the first one, where a position is one. Digits
/// that depend on the thread alone are named before the rounds, others in each.
class MappedTile {
 public:
  /// output: the access by which rows of a skewed tile are aligned, so that the phase of each is taken off; null: none.
  MappedTile(const Tile& tile, const ThreadMapping& mapping, const ir::Affine* output);

  std::int64_t rounds() const { return mapping_.rounds(); }
  const ThreadMapping& mapping() const { return mapping_; }
  /// The variable of a loop over the rounds.
  Var round() const { return round_; }
  /// Names for all rounds; they come first.
  const Body& outer_names() const { return outer_; }
  /// Names for round `u`, a variable or a number. What follows is about that round.
  Body names(const Affine& u);

  /// The value of an index.
  const Affine& inner(int q) const { return inner_[static_cast<std::size_t>(q)]; }
  /// The first index of the mapping, for people.
  std::string first_name() const;
  /// sum of coefficient * index.
  Affine offset(std::span<const std::int64_t> coefficient) const;
  /// When the position lies in the tile and in the tensor, any element of its vector being enough.
  std::vector<Condition> guard() const;

 private:
  /// A digit times its step: what depends on the thread alone, and `scale` times a quotient of the round or of both.
  struct Part {
    Affine fixed;
    bool by_round = false, mixed = false;
    std::int64_t divisor = 1, modulus = 0, scale = 0;
  };
  Part part(std::size_t k);
  std::string digit_name(const MixedRadixDigit& digit) const;
  Affine sum(Body& names, int q);
  bool by_round(int q) const;
  bool is_skewed(int q) const { return tile_.moves.skew.index == q; }

  const Tile& tile_;
  const ThreadMapping& mapping_;
  const ir::Affine* output_;
  std::vector<Var> var_;  // per index: its name; -1 where the tile has one value
  std::vector<std::pair<int, Part>> parts_;
  std::vector<Affine> inner_;
  Body outer_;
  Var round_ = -1, phase_ = -1;
  Affine u_;
};

}  // namespace ricci::kernel
