// Schedules of contractions, as lists of directives.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "plan/models/candidate.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::plan {

class CutTiles;

/// For a program that is one contraction (kernel::contraction_of), best first by prediction; none where no schedule of
/// the kernel IR suits it. Of those for a CPU `most`, at most. Pure and thread-safe.
std::vector<Candidate> contraction_candidates(const ir::Program& program, const CpuModel& device,
                                              std::size_t most = 24);
std::vector<Candidate> contraction_candidates(const ir::Program& program, const GpuModel& device);

/// The schedules of one contraction on a CPU; what is asked for is worked out once. Not for several threads at a time.
class CpuContraction {
 public:
  /// The device outlives it. No program but a contraction has any schedules.
  CpuContraction(ir::Program program, const CpuModel& device);
  ~CpuContraction();
  CpuContraction(CpuContraction&&) noexcept;
  CpuContraction& operator=(CpuContraction&&) noexcept;

  /// What any of them takes at least, in a part of the time; infinity where there are none.
  double least_us();
  /// The first, in a part of the time.
  std::optional<Candidate> best();
  /// What that is predicted to take, on all threads or on one.
  ///   bound_us  of predicted times that are of use: nothing where none takes less
  std::optional<double> best_us(double bound_us);
  std::optional<double> best_us_alone();
  /// Whether any takes less, on all threads.
  bool takes_less(double us);
  /// Best first, `most` at most.
  std::vector<Candidate> list(std::size_t most);

 private:
  class Ways;
  std::unique_ptr<Ways> ways_;
};

/// What units for products and memory take at least, whatever the tiles; infinity where no schedule suits the program.
double least_contraction_us(const ir::Program& program, const GpuModel& device);

/// The best of them, by tensor maps where these are predicted to take less time, in a part of the time.
///   bound_us  of predicted times that are of use: nothing where none takes less
///   known     tiles that contractions of the same plan share, or null
/// The device's model has to stay where it is.
std::optional<WeighedCandidate> best_contraction(const ir::Program& program, const GpuModel& device,
                                                 double bound_us = std::numeric_limits<double>::infinity(),
                                                 CutTiles* known = nullptr);

/// An order of an operand's indices, slowest first, in which a copy of it would be read.
struct OperandOrder {
  ir::NodeId value = -1;  ///< the operand's load, or what staging would round it to: a copy of fewer bytes
  std::vector<int> indices;
  std::size_t row = 0;      ///< how many of these from the last one on make a row
  bool tf32 = false;        ///< the copy holds it rounded to tf32
  bool deep = false;        ///< neighbours lie along the depth
  bool for_groups = false;  ///< so, as warp groups may need of both operands
  double product_us = 0;    ///< what the product takes at least that is left
  double least_us = 0;      ///< what both kernels take at least
  double gain_us = 0;       ///< what it must save
};
/// Orders that may be worth a copy: the best schedule of the operand as it lies would be that much faster if its
/// gathers were of whole vectors and sectors, or blocks would round it to a narrower type each time that they stage it.
/// Whether one is, predictions of both kernels say.
///   best  of the kernels of the operands as they lie, if it is known: copies are worth nothing that take longer with
///         both operands read once, or with the products
std::vector<OperandOrder> operand_orders(const ir::Program& program, const GpuModel& device,
                                         const Candidate* best = nullptr);

/// Factors of a product in tf32x3 in which copies of their parts are as warp groups take them.
struct PartsOrder {
  ir::NodeId sum = -1;
  std::array<OperandOrder, 2> factors;  ///< rows and columns: along the depth
  std::size_t summed = 0;               ///< indices of the depth
  double least_us = 0;                  ///< what all kernels take at least
};
/// Nothing where the device or the program has no warp groups for it.
std::optional<PartsOrder> parts_order(const ir::Program& program, const GpuModel& device);

/// An order of the result's indices in which its rows and its columns are one index each, for sums that are permuted
/// when they are complete.
struct MatrixOrder {
  ir::NodeId sum = -1;
  std::vector<int> indices;      ///< slowest first
  std::size_t row = 0;           ///< how many of these from the last one on are columns
  double product_us = 0;         ///< what the product takes at least
  double permuted_us = 0;        ///< what a copy of as many bytes as the permutation takes
  double least_us = 0;           ///< what both kernels take at least
  double least_by_warps_us = 0;  ///< the same where warp groups do not multiply
};
/// Nothing where products take less than a permutation of the result, or where there are not several indices to join.
std::optional<MatrixOrder> matrix_order(const ir::Program& program, const GpuModel& device);
/// The order of an operand in which its side is one index, whose neighbours in the result are neighbours in it, with
/// the time of its copy at least; nothing where it lies in that order.
std::optional<OperandOrder> matrix_operand(const ir::Program& program, const GpuModel& device, bool of_rows);

/// For a program that is a group of contractions (kernel::group_of): sections of directives, best first by prediction.
std::vector<Candidate> group_candidates(const ir::Program& program, const CpuModel& device);
/// On a GPU one tile of the result to a block, in registers: of f64, from sm_90 on.
std::vector<Candidate> group_candidates(const ir::Program& program, const GpuModel& device);

}  // namespace ricci::plan
