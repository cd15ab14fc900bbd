// A schedule is a list of directives. Each one is a line of text, a pass that builds on what those before it made, and
// a rule that is named when it does not hold.
//
//   tile c:3072:24                  levels of an index, from outside in: loops c0 (by 3072), c1 (by 24) and c (by 1)
//   join ef e f                  indices e and f become one, ef, of as many values as both have together, f fastest;
//                                   then it is ef that is tiled, ordered and staged
//   order task c0 a0 serial d0 a1   loops from outside in, and what they are bound to: tasks (blocks of a GPU), loops
//                                   in order, or `sum`: loops over a summed index inside of the accumulator's life. The
//                                   levels left out are the accumulator's tile and, of summed indices, its depth
//   stage B at d0 scratch c1 d c    a copy of what operand B is in the body of loop d0, in an array whose dimensions
//                                   are these loops, the last one contiguous
//   stage A at d0 maps a d          on a GPU from sm_90 on: the same by a tensor map, box by box
//   atom fma rows a columns c depth d lanes 8                                     on a CPU: vectors of 8 columns; `over
//                                   2`: of the last two of these as one
//   atom dot rows a columns c depth d1 d lanes 16                                 on a CPU: dot products of what d
//                                   numbers, which is the last dimension of both operands' copies
//   atom m16n8k8_f64 rows a columns c depth d warps 2x4 runs 2x1x1                on a GPU: a block has 2 x 4 warps; a
//                                   lane holds runs of 2 neighbours along rows, 1 along columns and depth; `blocks 2`
//                                   of a multiprocessor at once have room for their registers; `parts 2`: factors of
//                                   tf32 are sums of two, of which three products are summed; `products 3`: as many
//                                   real ones make one of complex numbers, not four. `fma` is 8 x 4 lanes that multiply
//                                   single elements, `fma_row` 1 x 32
//   atom m16n8k8_f64 rows a columns c depth d batch g warps 1x1 runs 1x1x1        on a GPU: a block has such warps for
//                                   each g, whose products stand side by side. Of `fma_batch8` and `fma_batch32` lanes
//                                   have products of their own, the last digit of the batch
//   order task a0 c0 cluster d0 sum d1   on sm_90: blocks of a cluster have a part of the sum each, and add them up.
//                                   With `last 12` behind d0, of the last 12 tiles alone; others are of one block each
//   atom wgmma_bf16 rows a columns c depth d warps 8x1 runs 1x1x2                 on sm_90: by groups of four warps, 64
//                                   rows and all columns each; a stage has swizzled rows in place of padding. Of
//                                   `wgmma_rs_bf16` registers hold the operand of the rows, which is padded as any
//   atom m16n8k16_bf16 rows q columns k depth d warps 4x1 runs 1x1x1
//   atom m16n8k16_bf16 rows q columns e depth k warps 4x1 runs 1x1x1              on a GPU: a chain of two products, of
//                                   which the second one's rows are made of the first one's results
//   store shared                    on a GPU: results go through shared memory: neighbouring threads write neighbours
//   store scratch d0                on a CPU: results of a round of d0 are gathered in scratch memory, from which they
//                                   leave run by run, by nontemporal stores of whole lines
//   store atomic                    on a GPU: tasks add to the result in any order, so that they may have parts of sums
//   pipeline d0 4                   the copies in d0's body have 4 places: they run 3 rounds ahead
//   pipeline d0 2 prefetch          and a round's first fragments are read while the round before it ends
//   products 3 7                    of a group: what follows, up to the next such line, is how its products 3 and 7 are
//                                   computed, an atom each, into one accumulator. All sections have the same tasks
//   exchange                        of such a section: its sums begin with those of the one before, in registers
//   prefetch                        lines of the result are fetched while the sums that go there are computed: on a
//                                   GPU of what they are added to, into the second cache
//   prefetch A                      on a CPU: lines that the next task copies of A are fetched while this one computes
//                                   or, of rows in place, those that the next register tile reads
//   nontemporal                     results are written by nontemporal stores: of whole vectors on a CPU
//
// Without an atom a program is computed point by point: by rounds over a tile on a CPU, by threads on a GPU. Levels
// that the order leaves out are what one of them computes in registers; sums and scans are loops of each.
//
//   order task a0 thread b a        on a GPU: a block has a thread for each b and a, neighbours along a
//   order task a0 serial b a1       on a CPU: rounds over a tile
//   lanes a 8                       on a CPU: 8 neighbours along a are one vector
//   stage B at b0 scratch a b       on a CPU: what a tile takes of an operand that is read across is copied first
//   strip 128                       on a CPU: 128 points along the lanes are read, computed and written at a time
//   part 1 3                        on a CPU: statements 1 and 3 are computed over a strip before the next part is
//   threads 256                     on a GPU: of a block
//   cooperative 32 items 4          on a GPU: 32 threads share the sums or the scan of a point, each 4 values at a time
//   row b 4                         on a GPU: they share the results along b, too, each 4 neighbours at a time, and
//                                   keep in registers what these and all sums as long as b read
//   row b 16                        on a CPU: sums along b and what reads rows behind them are computed pass by pass
//                                   over each row, by vectors of 16 neighbours
//
// What only moves elements says in which order the points of a tile are written. Digits number them, the first one
// changing fastest: `a:4/8` is 4 values of a, 8 apart.
//
//   write a:32 b:64 vector 2        neighbours of the first digit are one access; `workers 32`: threads for each tile
//   stage A shared b:64 a:32        operand A is read in an order of its own, and kept in `shared` memory (on a CPU an
//                                   array) or in `registers`. `vector 2`; `rows 4`: of rectangles, on a GPU; on a CPU
//                                   `along 2 across 3`: digits of transposed blocks, `packing 2`: rows to a vector
//   layout b:1 a:66 elements 2112   where a tile's point lies in shared memory; `swizzle 8 7 2`: shift, mask and unit
//   prefetch 2                      on a CPU: rows that the next 2 tiles read are fetched while this one is written
//   carry a                         on a CPU: the line that a run ends in is kept for the next tile along a; of
//                                   products behind `store scratch`, along a loop over tasks
//   skew a 4                        on a GPU: tiles are cut where the offset in the output is a multiple of 4
//   origin shuffle                  on a GPU: the first point of a tile is found by shuffles, not by divisions
//
// In front of all others, what makes several steps of a contraction (composite.hpp):
//
//   copy A c a b                    operand A is copied first, into an array with these dimensions, the last one
//                                   contiguous, of the product's type; of the result: sums go there, and from there to
//                                   where they belong. What follows is for what is left, in canonical form
//   library gemm                    that is a matrix product, and a library that the runtime was given computes it
//
// Words that programs add (extensions.hpp) stand behind all of these.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/program.hpp"

namespace ricci::kernel {

struct Directive {
  enum class Kind : std::uint8_t {
    tile,
    order,
    stage,
    atom,
    pipeline,
    products,
    prefetch,
    nontemporal,
    lanes,
    strip,
    part,
    threads,
    cooperative,
    row,
    write,
    layout,
    carry,
    skew,
    origin,
    store,
    join,
    exchange,
    copy,
    library,
    added
  };
  Kind kind = Kind::tile;
  std::string subject;  ///< tile, lanes, row, carry, skew: index; join: the new one; stage, copy: operand; origin: how;
                        ///< atom: its name; pipeline: loop; library: what it computes; added: its word
  /// tile: by levels; pipeline: stages; products, part: numbers of products or statements, from 1; lanes, strip,
  /// threads, row, prefetch, skew: how many; cooperative: threads, and items where they are given
  std::vector<std::int64_t> sizes;
  std::string at = {}, space = {};  ///< stage; store: its space, and of scratch memory the loop
  /// order: per binding the loops; stage: dimensions, or digits, under ""; atom: under "rows", "columns", "depth",
  /// "batch"; pipeline: "prefetch" where it does; write, layout: digits, or strides, under ""; of these and of a stage
  /// by digits what else they say, under its word; copy: dimensions, join: indices, added: the words behind its own,
  /// under ""
  std::vector<std::pair<std::string, std::vector<std::string>>> loops = {};
  int lanes = 1;                        ///< atom, on a CPU
  int over = 1;                         ///< atom, on a CPU: columns, the last ones, that lanes run along as one
  std::array<int, 2> warps = {0, 0};    ///< atom, on a GPU: along rows and columns
  std::array<int, 3> runs = {1, 1, 1};  ///< atom, on a GPU: neighbours that a lane holds along rows, columns, depth
  int parts = 1;                        ///< atom, on a GPU: that each factor is the sum of
  int products = 4;                     ///< atom, on a GPU: real ones that make a complex one, 4 or 3
  int blocks = 1;   ///< atom, on a GPU: of a multiprocessor at once, for whose registers there is room
  int padding = 0;  ///< stage: elements between rows, of the last dimensions as far as all or none are summed over
  bool operator==(const Directive&) const = default;
};

using Directives = std::vector<Directive>;
/// Of a list, as a number of its first directives.
inline constexpr auto kAll = static_cast<std::size_t>(-1);

/// Whether lines begin with that word, added ones aside.
bool is_directive(std::string_view word) noexcept;

/// Throws PlanError naming a directive and the rule that it breaks.
[[noreturn]] void refuse(const Directive& directive, std::string_view rule);
/// The same for one that says nothing where it stands. The rule is whom it is for: products by an atom, what is
/// computed point by point, what only moves elements.
[[noreturn]] void refuse_misplaced(const Directive& directive);

/// A loop that a tile makes of an index: `count` values, `step` elements of the index apart.
struct Level {
  std::string name;
  std::int64_t count = 1, step = 1;
};

/// The loops of a `tile` directive over an index of this extent, from outside in: of tile c:3072:24 c0, c1 and c.
/// Throws PlanError where a size is no multiple of the next one.
std::vector<Level> levels_of(const Directive& tile, std::int64_t extent);
/// The one of an index that no directive tiles.
Directive whole(const ir::LoopIndex& index);

/// Whether one of them is of that kind, and has that space where one is named.
bool has(const Directives& directives, Directive::Kind kind, std::string_view space = {}) noexcept;
/// Whether they are for products, by an atom, or for what only moves elements, which they write. Others are for any
/// program that computes.
inline bool has_atom(const Directives& directives) noexcept { return has(directives, Directive::Kind::atom); }
inline bool has_write(const Directives& directives) noexcept { return has(directives, Directive::Kind::write); }
/// Whether they stage an operand by a tensor map.
inline bool has_maps(const Directives& directives) noexcept { return has(directives, Directive::Kind::stage, "maps"); }

/// A line without its end.
std::string print(const Directive& directive);

/// One line a directive; parse(print(x)) == x.
std::string print(const Directives& directives);

/// Throws PlanError with the line and the word that is not understood.
Directives parse_directives(std::string_view text);

}  // namespace ricci::kernel
