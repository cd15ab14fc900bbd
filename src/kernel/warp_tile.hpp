// The tile of a CUDA block, spread over warps and lanes: which lane holds which rows, columns and depths of it.
//
// Along each side a lane holds elements number 0, 1, ...; element I of the lane with coordinate c lies at
//   warp * (elements of a warp) + (I / run) * (lanes * run) + c * run + I % run
// so that `run` elements are neighbours. Which of an atom's rows, columns or depths an element then is does not matter
// to the sum, as long as both operands and the accumulator agree.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernel/atoms.hpp"
#include "kernel/kernel.hpp"

namespace ricci::kernel {

/// Products of a warp in a step of the depth between two that add to the same registers, where fragments are read ahead
/// of a round. NVRTC 13.0 for sm_90 lets the first product of a round follow the last one of the round before after a
/// fixed number of cycles, in place of waiting for it: by one m16n8k8_f64 a step sums were lost on an H200.
constexpr int kLeastPrefetched = 4;

struct Side {
  std::int64_t extent = 1;  ///< of the block's tile
  std::int64_t padded = 1;  ///< as many as all lanes hold
  int warps = 1;
  int lanes = 1;     ///< different coordinates of lanes
  int per_atom = 1;  ///< elements of a lane in one atom
  int run = 1;

  bool apart = false;  ///< of columns: as of WarpTile

  int block() const noexcept { return run > per_atom ? run : per_atom; }
  int elements() const noexcept { return static_cast<int>(padded / (std::int64_t{warps} * lanes)); }
  int blocks() const noexcept { return elements() / block(); }
  int atoms() const noexcept { return elements() / per_atom; }
  /// The position of a lane's coordinate c and its element I, in memory of the layout at c + lanes * I, warp after
  /// warp.
  Layout order() const;
  /// Position of element `within` of block `outer` of a warp's lane with coordinate 0.
  Affine position(const Affine& warp, const Affine& outer, int within) const;
};

/// The digits of a warp's number, the slowest first; others have extent 1.
std::array<WarpDigit, 6> warp_digits(const Spread& spread) noexcept;

struct WarpTile {
  const Atom* atom = nullptr;
  Side rows, columns, depth;
  std::array<WarpDigit, 6> order = {};  ///< of warps
  bool fma() const noexcept { return atom->k == 1; }
  /// Columns of the accumulator that a lane holds are 4 apart and those of neighbouring lanes are neighbours; else the
  /// other way round. Complex results are as wide as an access, and a warp writes whole sectors with one.
  bool apart() const noexcept { return columns.apart; }
  /// Products by warp groups, which go on while their threads do.
  bool of_groups() const noexcept { return atom->warps > 1; }
  /// Who holds which position of the tile: of the rows and the depth, of the depth and the columns, or of the rows and
  /// the columns. Registers count elements of an atom, then atoms, of the last coordinate fastest but for the depth.
  Layout a() const;
  Layout b() const;
  Layout c() const;
  /// Number of the element of a lane: `along` of the first dimension, `across` of the second one.
  static int register_of(const Fragment& fragment, int along, int across);
};

/// Fused multiply-adds of single elements as atoms, of any type: `fma` of 8 x 4 lanes, `fma_row` of 1 x 32,
/// `fma_batch8` of 1 x 4 in each of 8 products, `fma_batch32` a product to each lane. Null for other names.
const Atom* find_fma(std::string_view name) noexcept;

/// Products that lanes of a warp have side by side.
int batch_lanes(const Atom& atom) noexcept;

/// Throws PlanError: no atom of that name, a depth that it does not divide, runs that fit no whole atoms or, of
/// elements that share registers, are not those of a register along the depth.
///   sums  type of the accumulator
WarpTile warp_tile(const std::string& atom, const Spread& spread, const std::vector<Digit>& rows,
                   const std::vector<Digit>& columns, const std::vector<Digit>& depth, DType sums);

/// How a warp reads an operand's rows in shared memory.
enum class ReadBy : std::uint8_t {
  lane,               ///< each lane what it holds
  matrix,             ///< rows of 16 bytes along the depth, which an instruction deals out to the lanes
  transposed_matrix,  ///< rows of 16 bytes along the operand's own side
};

/// Neighbours that a lane reads at once.
struct Reads {
  int along = 1;  ///< the operand's own side
  int deep = 1;   ///< the depth
  ReadBy by = ReadBy::lane;
  int width() const noexcept { return along * deep; }
};
/// along, deep: elements from one position to the next; first: the operand of the rows.
Reads reads_of(const WarpTile& tile, bool first, std::int64_t along, std::int64_t deep, DType type);

/// Elements to part an operand's rows in shared memory by, so that fragments are read in the fewest wavefronts and rows
/// begin at multiples of 16 bytes.
///   by_depth  rows run along the depth, else along the operand's own side
///   apart     elements from one position of a row to the next: products that lie side by side
///   order     of the depth in rows along it (depth_order.hpp), where lanes read single elements; null: that of its
///             positions
int best_padding(const WarpTile& tile, bool first, bool by_depth, DType type, std::int64_t apart = 1,
                 const Layout* order = nullptr);

/// A digit of a tile's rows or columns, as results lie in memory.
struct ResultDigit {
  bool of_rows = false;
  std::int64_t extent = 1;
  std::int64_t step = 1;    ///< positions of its side from one value to the next
  std::int64_t stride = 0;  ///< elements of the result, absolute
};

/// A tile of results in shared memory, on their way to memory: along which side its rows run, elements from one row to
/// the next, and which bits of a place are mixed, such that warps that write what they hold, and those that read
/// neighbours in memory, meet in the fewest banks.
struct RelaidTile {
  bool by_rows = false;  ///< its rows are columns of the tile
  std::int64_t pitch = 1;
  std::int64_t elements = 1;
  int width = 1;  ///< neighbours that a lane writes at once
  Swizzle swizzle = {};

  /// Where an element lies, before the swizzle.
  Affine place(const Affine& row, const Affine& column) const {
    return by_rows ? pitch * column + row : pitch * row + column;
  }
};
/// digits: of both sides, in any order, those of extent 1 left out; type: of what is kept.
RelaidTile relaid_tile(const WarpTile& tile, std::vector<ResultDigit> digits, DType type);

}  // namespace ricci::kernel
