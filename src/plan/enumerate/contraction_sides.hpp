// The sides of a contraction on a CPU: its axes by role, and register tiles, blocks and tasks over them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel/atom_types.hpp"
#include "kernel/contraction.hpp"
#include "kernel/directives.hpp"
#include "plan/models/contraction_blocking.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::plan::gett {

/// Along which index vectors have neighbours.
enum class Lanes : std::uint8_t {
  result,  ///< the result's fastest
  first,
  second,  ///< that of a factor, where it is another: results are written lane by lane
};

/// The dot products that a device has for a contraction whose rows are of the first factor, or, `swapped`, of the
/// second one; nothing where it has none.
std::optional<kernel::Dot> dots_of(const ir::Program& program, const kernel::Contraction& contraction, bool swapped,
                                   const CpuModel& device);
/// Terms that an instruction of them sums, whichever factor has the rows: 1 where there are none.
std::int64_t dot_terms(const ir::Program& program, const kernel::Contraction& contraction, const CpuModel& device);

class ContractionSides {
 public:
  /// Of a program that is this contraction; all three outlive it.
  ContractionSides(const ir::Program& program, const kernel::Contraction& contraction, const CpuModel& device)
      : program_(program), contraction_(contraction), device_(&device) {}

  /// The same device with another number of threads, for what is worked out from now on; it outlives it, too.
  void set_threads_of(const CpuModel& device) { device_ = &device; }

  /// Sorts the axes by role, the columns so that the lanes' index is the last of them, be it one of both operands. Not
  /// for what has no such index, for sums of bytes, and for negative strides.
  bool suits(Lanes lanes = Lanes::result);

  /// The depth in groups of terms that dot products sum, where the device has them and the program is of such types.
  ///   swapped  rows are of the second factor
  void make_groups(bool swapped);

  /// Joins columns, and rows, to one axis each where register tiles leave much of theirs over and less of that: false
  /// where they do not. For what suits vectors along the result's fastest index.
  bool join();

 protected:
  /// Whether vectors of half the width, of which a unit computes one in the time that half of a wide one takes, end
  /// with the index where wide ones do not. Elsewhere they are no emptier.
  bool is_worth_narrow(std::int64_t lanes) const;

  const ir::Node& load(const kernel::Factor& factor) const {
    return program_.nodes[static_cast<std::size_t>(factor.load)];
  }

  std::int64_t lane_extent() const { return columns_.back().extent; }

  bool lanes_of_both() const { return columns_.back().in_rows != 0; }

  /// The index along which a factor's elements are neighbours, where vectors may run along it although the result's
  /// fastest index is `fastest`: real numbers, a sum that is worth their scattered writing. -1: there is none.
  int lane_across(const kernel::Factor& factor, int fastest) const;

  std::int64_t depth_extent() const { return contraction_.extent(program_, kernel::Role::depth); }

  /// Whether register tiles along an index of both operands are worth packing these: whole vectors, and each element
  /// used several times. Plain schedules read them as they lie.
  bool suits_lanes_of_both(int lane) const;

  /// Whether vectors hold the result's complex numbers, neighbours along `lane`: kernel::unpaired() of what is built.
  bool has_pairs(ir::NodeId id, int lane) const;

  const std::string& name(const Axis& axis) const { return names_[static_cast<std::size_t>(axis.index)]; }

  static std::int64_t depth_chunks(const Blocking& b) { return parts_of(b.depth, tile_of); }

  std::string name(const Blocking& b) const;

  /// The register tile; false where an operand that is read in place would be read past its end.
  bool make_tiles(Blocking& b, std::int64_t vectors, std::int64_t most_rows) const;

  /// Packed columns whose vectors run on from the last one into the one before it, where that leaves fewer lanes
  /// unused.
  bool run_over(Blocking& b, std::int64_t vectors) const;

  /// Whether rows are read in place, each along a long sum for few columns: a tile of them is a task then, which reads
  /// as many streams from end to end.
  bool streams_rows(const Blocking& b) const;
  static constexpr std::int64_t kLongStream = 1024;
  static void make_streams(Blocking& b);

  /// cover() of all rows, worked out once for each number of them.
  void cover_rows(Axes& rows, std::int64_t most) const;

  /// As many vectors, of which the last is read in part, where that divides the extent and the whole ones do not.
  /// Nontemporal stores begin with vectors.
  void shorten(Axis& lane, std::int64_t lanes) const;

  /// False where an operand that is read in place would be read past its end.
  bool make_depth(Blocking& b, std::int64_t most) const;

  static constexpr std::int64_t kManyTasks = 6, kFewTasks = 2;  // for each thread, so that none waits long at the end

  static constexpr double kLongRun = 1e8;  // products, for which more tasks are worth a look
  double points() const;

  /// Fewer tasks, unless they are predicted to take a tenth longer: what is packed anew by each task costs more than is
  /// predicted, on an AMD EPYC. What the blocks are predicted to take then.
  double make_fewer_tasks(Blocking& b, std::int64_t room) const;

  /// Blocks for the caches, reaching along what is contiguous in memory first: the rows' for the second cache, the
  /// columns', which a task packs once, for `room` bytes. Smaller ones where there would be fewer tasks for a thread.
  void make_blocks(Blocking& b, std::int64_t room, std::int64_t tasks_of_thread) const;

  /// The same where vectors have neighbours along an index of both operands: a task has some of these and all other
  /// columns, as far as the second cache holds them; of its rows the first cache holds one vector's.
  void make_blocks_of_both(Blocking& b) const;

  kernel::Directives directives(const Blocking& b) const;

  bool join_columns();
  bool join_rows();
  /// How an axis of a side goes on in that side's operand.
  std::int64_t Axis::* step_of(const Axes& axes) const { return &axes == &rows_ ? &Axis::in_rows : &Axis::in_columns; }
  /// The last axes of a side as one.
  void make_joined(Axes& axes, std::size_t count);
  /// Puts one more axis in front of the last ones of a side: one that goes on with them in the operand, or is near in
  /// the result. As many as before where none is.
  std::size_t add_axis(Axes& axes, std::size_t count) const;

  /// Several indices that are one.
  struct Joined {
    std::string name;
    std::vector<std::string> members;  ///< the slowest first
  };

  const ir::Program& program_;
  const kernel::Contraction& contraction_;
  const CpuModel* device_;
  std::vector<std::string> names_;  ///< by Axis::index: of the program's indices, and behind them of joined ones
  std::vector<Joined> joined_;
  Problem problem_;
  bool sum_in_parts_ = true;                             ///< its parts may pass through the result
  bool convert_rows_ = false, convert_columns_ = false;  ///< an operand has another type than the sum, or is rounded
  mutable std::map<std::int64_t, std::vector<std::int64_t>> covers_;
  std::string rows_name_, columns_name_;
  Axes rows_, columns_, depth_;
  bool across_ = false;  ///< vectors run along another index than the result's fastest
};

}  // namespace ricci::plan::gett
