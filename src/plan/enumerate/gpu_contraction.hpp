// A contraction as a GPU's blocks see it: axes by role, what multiplies, and what one way to cut it takes.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "kernel/atoms.hpp"
#include "kernel/contraction.hpp"
#include "kernel/directives.hpp"
#include "kernel/warp_tile.hpp"
#include "plan/enumerate/contraction_tiles.hpp"
#include "plan/models/device_model.hpp"
#include "plan/models/pipe_rates.hpp"

namespace ricci::plan {

/// How the blocks of a cluster share a sum: by the chunks of one axis of the depth. Of one block there is nothing to
/// share.
struct DepthShare {
  int blocks = 1;
  std::size_t axis = 0;
  std::int64_t all = 1, chunks = 1;  ///< of the axis, and of a block
  std::int64_t last = 0;             ///< tiles whose sums are shared, the last ones: others are of one block; 0: all

  /// Whether the sums of all tiles are shared.
  bool of_all() const { return blocks > 1 && last == 0; }
};

/// How a contraction may be cut: what a candidate is made of.
struct Cut {
  const tiles::Tile* rows = nullptr;
  const tiles::Tile* columns = nullptr;
  const tiles::Tile* depth = nullptr;
  kernel::Spread spread = {};
  int stages = 1;
  bool prefetch = false;  ///< a round's first fragments are read while the products of the round before run
  bool relaid = false;    ///< results leave through shared memory
  DepthShare share = {};
  /// Tiles that a block makes, one after the other along one of the loops over blocks: the next one's operands are
  /// copied while one is multiplied and written.
  std::int64_t turns = 1;
  std::size_t turning = 0;  ///< which of block_loops() that is
  bool turns_rows = false;  ///< whether it goes along the rows
  bool in_waves = false;    ///< a multiprocessor has as many tiles as without turns, and the same copies of each
  int resident = 1;         ///< blocks of a multiprocessor at once
  int registers = 0;        ///< of a thread, as far as they can be told
  double shared_bytes = 0;  ///< of a block
  double seconds = 0;

  /// Chunks of the depth that a block goes through; of the last tiles' parts the shortest ones, whose pipelines are no
  /// longer.
  std::int64_t rounds() const {
    const auto chunks = share.last > 0 ? share.all - share.chunks * (share.blocks - 1) : share.chunks;
    return depth->blocks / share.all * chunks;
  }
  std::int64_t counted_turns() const { return in_waves ? 1 : turns; }
  bool takes(int count) const { return share.last == 0 || count <= rounds(); }  ///< of stages
};

/// A loop over the blocks of a side.
struct BlockLoop {
  std::string name;
  bool of_rows = true;
  std::int64_t count = 1;  ///< tiles
  bool whole = true;       ///< whether all of them are
};

/// Registers of a thread, by the instructions that copy its operands' parts of a round.
struct RegisterCount {
  double held = 0, of_copy = 0, beside = 0;
  int with(double copies) const { return static_cast<int>(held + of_copy * copies + beside); }
};

class GpuContraction {
 public:
  /// Nothing where no schedule of the kernel IR suits the program.
  ///   exchanged  rows, not columns, have the result's neighbours: where they fill tiles better
  static std::optional<GpuContraction> of(const ir::Program& program, const GpuModel& device, bool exchanged = false);
  /// All in which blocks may see the contraction: by warps, with either operand's side as rows, by warp groups, and
  /// several products side by side; none where no schedule suits it.
  static std::vector<GpuContraction> ways(const ir::Program& program, const GpuModel& device);
  /// The same by warp groups that read both operands from shared memory, or the one of the rows from registers; nothing
  /// where the device or the program has none.
  std::optional<GpuContraction> by_groups(const ir::Program& program, const GpuModel& device,
                                          bool holds_rows = false) const;
  /// The same with complex products of three real ones in place of four, which take more registers; nothing where no
  /// atom computes them, or memory takes longer.
  std::optional<GpuContraction> in_three_products() const;
  /// The same with several products side by side in a block: of warps where products are small, and of lanes where
  /// neighbours of a tensor are of different products.
  std::vector<GpuContraction> side_by_side(const ir::Program& program, const GpuModel& device) const;

  /// Whether the atom takes tiles of its units' multiples: a warp group needs rows in shared memory that it can read.
  bool takes(const tiles::Tile& rows, const tiles::Tile& columns, const tiles::Tile& depth) const;
  /// Elements of a row of an operand in shared memory, as warp groups read it: along the depth, or of the side's
  /// fastest axis. 0 where there are none of 32, 64 or 128 bytes.
  std::int64_t group_row(bool of_rows, const tiles::Tile& side, const tiles::Tile& depth) const;

  /// How lanes and warps share a tile of rows x columns.
  kernel::Spread spread(std::int64_t rows, std::int64_t columns, int warp_rows, int warp_columns) const;
  /// Positions of a tile with those that lanes hold besides.
  std::int64_t held_rows(const kernel::Spread& spread, std::int64_t rows) const;
  std::int64_t held_columns(const kernel::Spread& spread, std::int64_t columns) const;
  /// Of a thread, as far as they can be told: of a warp's tile.
  ///   prefetch  of the next round's first fragments
  RegisterCount registers(std::int64_t rows, std::int64_t columns, const kernel::Spread& spread, bool prefetch) const;
  /// Bytes of shared memory for a warp group's results that may leave in lines, along the columns or along the rows
  /// (expand_cuda_flush.cpp).
  std::int64_t line_bytes(const tiles::Tile& rows, const tiles::Tile& columns) const;
  /// Digits of a chunk of the depth: the axis, how many values, and whether they are the last level of a crossed one.
  struct DepthDigit {
    std::size_t axis;
    std::int64_t extent;
    bool pair;
  };
  /// As atoms take positions, the slowest first.
  std::vector<DepthDigit> depth_digits(const tiles::Tile& depth) const;
  /// Of a crossed chunk: those as they lie in an operand's rows.
  static std::vector<DepthDigit> lying(std::vector<DepthDigit> digits, const tiles::Tile& depth, bool of_rows);
  /// Elements between rows of shared memory by which an operand's fragments are read from different banks.
  int padding(const Cut& cut, bool of_rows) const;
  /// What one stage of an operand takes in shared memory, with that padding.
  std::int64_t stage_bytes(const Cut& cut, bool of_rows, int padding) const;
  /// Digits of a tile of results.
  using ResultDigits = ir::Few<kernel::ResultDigit, 12>;
  ResultDigits result_digits(const tiles::Tile& rows, const tiles::Tile& columns) const;
  /// Elements of results that leave through shared memory, in a layout without bank conflicts.
  std::int64_t relaid_elements(const Cut& cut, const ResultDigits& digits) const;
  /// What results take in it on their way to memory.
  ///   relaid_elements  of those that a cut relays
  std::int64_t result_bytes(const Cut& cut, std::int64_t relaid_elements) const;
  /// Elements that one instruction copies of an operand at most: neighbours along its fastest axis.
  std::int64_t copied_at_once(bool of_rows, const tiles::Axis& fastest) const;
  /// The same of neighbours that are of different products.
  std::int64_t products_at_once(bool of_rows) const;

  /// Bytes of an element of an operand in memory, and whether staging converts or rounds it.
  std::int64_t element_bytes(bool of_rows) const { return size_of(of_rows ? rows_type_ : columns_type_); }
  bool converts(bool of_rows) const { return of_rows ? converted_rows_ : converted_columns_; }
  ir::NodeId load(bool of_rows) const { return of_rows ? rows_load_ : columns_load_; }
  /// Of an operand, each that is read.
  double elements(bool of_rows) const;
  /// Of both operands, as products read them.
  double operand_bytes() const { return (elements(true) + elements(false)) * static_cast<double>(size); }
  /// Cycles of one multiprocessor's units for all products, of operands in the best order.
  double product_cycles() const;
  /// The same with so many operands along the depth: multiply-adds wait for registers of neighbours there.
  double product_cycles(int deep) const {
    return product_cycles() * (waits_along_depth_ ? multiply_add_rate(0) / multiply_add_rate(deep) : 1);
  }
  /// Indices of an operand, slowest first, in which blocks read it by whole vectors: along the depth, in the order in
  /// which it lies in the other one, or along its own side, as that lies in the result.
  std::vector<int> order(bool of_rows, bool along_depth) const;

  /// By so many blocks, or fewer where they have as many chunks each: along the axis that has the most chunks.
  DepthShare share_of(const tiles::Tile& depth, int blocks) const;

  /// Whether blocks may make several tiles in turns: one operand is small, and stays in shared memory or, of warp
  /// groups, in the second cache.
  bool may_take_turns() const {
    if (fma || products > 1) return false;
    return groups ? cached_rows_ != cached_columns_ : small_rows_ || small_columns_;
  }
  /// The same of a cut: sums are of a round each or, of warp groups, of several.
  bool takes_turns(const Cut& cut) const {
    if (!may_take_turns() || cut.share.blocks > 1) return false;
    return groups ? cut.rounds() > 1 : cut.rounds() == 1 && (stays(cut, true) || stays(cut, false));
  }
  /// Whether blocks of any operands may make a few tiles in turns: of real numbers, of sums of a round each, where the
  /// result is most of the bytes (four cases in bf16 where it is not took 1.07 to 1.18 times as long on an H200). Of
  /// ccsd_t of tccg48_f32 there, 18 cases each, such kernels took 0.93 of the time before in f32 and 0.94 in bf16, but
  /// 1.005 in tf32, where results fill memory without them, and 1.06 in tf32x3.
  bool takes_few_turns(const Cut& cut) const {
    const bool rounded = !fma && size == 4;  // to tf32
    return follows_result && !groups && !rounded && products == 1 && !is_complex(type) && cut.share.blocks == 1 &&
           cut.turns == 1 && cut.rounds() == 1;
  }
  /// Whether they may where none waits longer for it, of sums of several rounds: of two warp groups, or of
  /// multiply-adds in f32 that wait for memory.
  ///   by_memory  whether memory takes the longest
  bool takes_equal_waves(const Cut& cut, bool by_memory) const {
    const bool gains =
        groups ? cut.spread.warps() == 8 : by_memory && fma && operations == 1 && products == 1 && type == DType::f32;
    return gains && cut.share.blocks == 1 && cut.turns == 1 && cut.rounds() > 1;
  }
  /// The loop over blocks along which warp groups make tiles in turns: the one of most tiles along the operand that the
  /// second cache does not keep. Nothing where there is none.
  const BlockLoop* turning_loop(const std::vector<BlockLoop>& loops) const;
  /// Whether an operand is small, and a block has all of it, so that it may stay while the block makes several tiles.
  bool stays(const Cut& cut, bool of_rows) const {
    return is_small(of_rows) && (of_rows ? cut.rows : cut.columns)->blocks == 1;
  }
  /// Whether an operand is so small that a few lines of the second cache are all that blocks read of it, and of a type
  /// whose products take so little time that this counts.
  bool is_small(bool of_rows) const { return of_rows ? small_rows_ : small_columns_; }
  /// Loops over the blocks of both sides, from outside in.
  std::vector<BlockLoop> block_loops(const Cut& cut) const;
  /// What products of a warp group still read when the next ones begin is not copied ahead.
  int counted_stages(int stages) const { return groups ? stages - 1 : stages; }
  std::string name(const Cut& cut) const;
  ///   padding  of both operands' rows in shared memory
  kernel::Directives directives(const Cut& cut, const std::array<int, 2>& padding) const;

  const ir::Buffer& out(const ir::Program& program) const { return buffer(program, program.statement().buffer); }

  tiles::Axes row_axes, column_axes, depth_axes, batch_axes;  ///< columns have the result's neighbours, or rows
  DType type = DType::f64;                                    ///< of the sum
  DType operand_type = DType::f64;                            ///< of what is staged
  std::int64_t size = 8, result_size = 8;                     ///< bytes, of a staged element and of the result's
  DType result_type = DType::f64;
  bool reads_result = false;
  std::int64_t result_alignment = 1;  ///< bytes, of its first element
  bool relays = false;  ///< the result is made of the sum alone, so that it may leave through shared memory
  bool deep_rows = false, deep_columns = false;  ///< whether an operand's neighbours lie along the depth
  std::string atom_name;
  bool fma = false;
  bool groups = false;                                          ///< an atom of warp groups
  int factor_parts = 1;                                         ///< tf32 numbers whose sum a factor is
  int real_products = 1;                                        ///< that make one
  int operations = 1;                                           ///< of a term, of which a multiply-add is one
  bool adds = true, keeps_zeros = true;                         ///< terms are summed, and nothing is added by zeros
  int per_register = 1;                                         ///< elements of an operand
  std::int64_t row_unit = 16, column_unit = 8, depth_unit = 8;  ///< positions that warps take at once
  double rate = 1;                                              ///< products of a multiprocessor in a cycle
  double copied_rate = 1;                                       ///< the same of operands in the best order
  double terms = 1;                                             ///< of a sum
  std::int64_t batches = 1;
  std::int64_t products = 1;  ///< of a block, side by side along batch axis number `products_axis`
  std::size_t products_axis = 0;
  double bytes = 0;  ///< of all tensors
  /// Whether blocks go through the result in the order of memory: it is most of the bytes, and operands stay in the
  /// second cache whatever the order. Pieces that are pages apart took up to 1.5 times as long to write (39 of 300
  /// cases of talsh300 and 18 of 48 of tccg48 in f64 on an H100: 1.046 in the geometric mean; no gain where most is
  /// read).
  bool follows_result = false;

  /// Whether the second cache cannot keep the result, which nothing reads: its lines may go first. Of 18 ccsd_t cases
  /// of tccg48 on an H100, in f64 and in f32, 1.042 and 1.020 times as fast, at best 1.13; 8 intensli cases 0.998.
  bool leaves_cache() const {
    constexpr double kBeyondCache = 64e6;  // bytes
    return !reads_result && bytes - operand_bytes() > kBeyondCache;
  }
  /// Whether a cut's results leave it by nontemporal stores, which are to write whole lines: lanes of products write
  /// halves of lines, which that cache puts together if it keeps them (of ccsd_t of tccg48 on an H200 one case in f32
  /// took 1.07 times as long by nontemporal stores, two in f64 1.02 and 1.05). Warp groups in turns write by ordinary
  /// stores (ccsd03 in bf16 there 81 us, 84 by nontemporal ones).
  bool streams(const Cut& cut) const {
    const bool in_turns = groups && cut.turns > 1;
    return leaves_cache() && cut.share.last == 0 && !in_turns && (cut.relaid || groups || is_outer());
  }

  /// Whether blocks fetch what a cut's results are added to before they multiply.
  bool prefetches(const Cut& cut) const;

  const kernel::Atom& atom() const { return *atom_; }
  /// Of a chunk of the depth that is no multiple of what the atom takes: one that takes half as much at once.
  const kernel::Atom& atom_of(const tiles::Tile& depth) const { return halves(depth) ? *halved_ : *atom_; }
  bool halves(const tiles::Tile& depth) const { return halved_ != nullptr && depth.size % atom_->k != 0; }
  /// Whether lanes read single elements along the depth, whatever neighbours operands have there: they are in an order
  /// of their own, or fewer than an atom of whole neighbours takes.
  bool reads_singly(const tiles::Tile& depth) const { return depth.crossed || halves(depth); }
  bool has_singles() const { return (deep_rows && deep_columns) || halved_ != nullptr; }
  /// What chunks of the depth may be multiples of where that leaves less of them unused.
  std::int64_t halved_unit() const { return halved_ != nullptr ? halved_->k : depth_unit; }
  /// Whether sums of complex numbers are those of three real products each.
  bool by_three() const { return real_products == 3; }
  /// Words that a sum takes up in registers.
  std::int64_t sum_words() const { return size_of(type) / 4 * (by_three() ? 3 : 2) / 2; }
  bool is_outer() const { return depth_axes.empty(); }
  /// Whether blocks of multiply-adds are in step, as their sums have few terms.
  bool has_short_sums() const {
    constexpr double kShortSum = 32;
    return terms <= kShortSum;
  }
  /// Whether several axes may be one in tiles of the sides, and of the depth: warp groups read whole rows of an axis.
  /// Of what memory bounds, quotients of each round took longer than what they saved: those of the depth in 9 of 12
  /// cases of talsh300 on an H100, those of the sides in five of six whose products take less than half of what memory
  /// does (1.2 to 1.35 times as long).
  bool joins_sides() const {
    return !groups && products == 1 && !row_axes.empty() && !column_axes.empty() && !is_outer() &&
           products_over_memory_ > 0.5;
  }
  bool joins_depth() const { return joins_sides() && products_over_memory_ > 1; }
  /// Whether operands whose neighbours lie along different axes of the depth may each lie so in shared memory, too.
  bool crosses() const;
  /// Whether memory takes so much longer than products that what waits for copies counts: fragments that were read
  /// ahead of a round made 26 of 36 kernels take 1.1 to 1.4 times as long on an H100, and others 0.94 at best.
  bool bound_by_memory() const { return products_over_memory_ < 0.7; }
  /// Whether fragments may be read ahead of a round: those that are numbers as they are read, by few steps of the
  /// depth.
  bool prefetches() const;
  bool deep(bool of_rows) const { return of_rows ? deep_rows : deep_columns; }
  /// Whether instructions of warp groups read an operand in shared memory; else threads do.
  bool read_by_groups(bool of_rows) const { return groups && !(of_rows && atom().holds_a); }
  /// Whether products side by side are of lanes; else they are of warps.
  bool by_lanes() const { return products > 1 && batch_lanes_ > 1; }
  /// Whether lanes read vectors of both operands that are alike in pairs (warp_tile.cpp).
  bool in_pairs() const { return fma && !is_outer() && !by_lanes(); }
  /// Elements of the result, and of an operand, from one product to the next.
  std::int64_t in_result() const { return batch_in_result_[products_axis]; }
  std::int64_t in_result(std::size_t batch_axis) const { return batch_in_result_[batch_axis]; }
  std::int64_t in_operand(bool of_rows) const {
    const auto& axis = batch_axes[products_axis];
    return of_rows ? axis.in_operand : axis.in_other;
  }

 private:
  bool sort_axes(const ir::Program& program, const kernel::Contraction& contraction, bool exchanged);
  bool choose_atom(const ir::Program& program, const kernel::Contraction& contraction, const GpuModel& device);
  /// What is staged of operands, whose type is that of the atom's.
  void set_operands(const kernel::Atom* instruction, const kernel::Contraction& contraction);
  /// Of half an atom's depth, where an axis of the depth is no multiple of what the atom takes; else null.
  const kernel::Atom* halved(const kernel::Atom* instruction) const;
  void set_atom(const kernel::Atom* instruction, const kernel::Contraction& contraction, const GpuModel& device);
  /// A multiply-add with lanes for several products in place of the atom.
  void set_batch_atom(const kernel::Atom& atom, const kernel::Contraction& contraction, const GpuModel& device);
  /// Elements of the result that an access writes: neighbours along its fastest axis.
  std::int64_t written_at_once() const;
  kernel::WarpTile warp_tile(const Cut& cut) const;
  /// The axis of the rows of which eight rows of blocks go together, where there are many either way; past the last
  /// one: of none.
  std::size_t grouped_rows(const Cut& cut) const;
  /// Elements from one block to the next in the result, along a loop over blocks of a side.
  std::int64_t result_step(const Cut& cut, const BlockLoop& loop) const;
  static const ir::Buffer& buffer(const ir::Program& program, int number) {
    return program.buffers[static_cast<std::size_t>(number)];
  }

  bool small_rows_ = false, small_columns_ = false;  ///< is_small()
  bool cached_rows_ = false,
       cached_columns_ = false;                ///< operands that the second cache keeps beside the other tensors
  std::vector<std::int64_t> batch_in_result_;  ///< strides of the batch's axes
  const kernel::Atom* atom_ = nullptr;         ///< found by its name once
  const kernel::Atom* halved_ = nullptr;       ///< of half its depth, where an axis of the depth is no multiple of it
  int batch_lanes_ = 1;                        ///< of it
  bool waits_along_depth_ = false;             ///< whether the rate depends on how many operands lie along it
  double products_over_memory_ = 0;            ///< time that products take alone, over memory's
  ir::NodeId rows_load_ = -1, columns_load_ = -1;
  std::string rows_name_, columns_name_;
  DType rows_type_ = DType::f64, columns_type_ = DType::f64;
  std::optional<DType> rounded_rows_, rounded_columns_;  ///< what factors are rounded to
  bool tf32_rows_ = false, tf32_columns_ = false;        ///< whether operands are rounded to tf32 as they lie
  bool converted_rows_ = false, converted_columns_ = false;
};

/// What the best way to cut a contraction would save if the operand of its rows, or of its columns, were copied by
/// whole vectors and sectors; in seconds.
std::array<double, 2> gather_seconds(const ir::Program& program, const GpuContraction& contraction,
                                     const GpuModel& device);

}  // namespace ricci::plan
