// Rows: sums over indices of one extent, and results along such an index, which a group of threads of a GPU computes of
// what it has read once, or a CPU while a row is in its first caches.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.hpp"
#include "kernel/affine.hpp"

namespace ricci::kernel {

/// The rule that keeps a program from being computed row by row along an index, of results or of a sum; empty: none.
///   lanes  neighbours along it that a thread has side by side
std::string row_fault(const ir::Program& program, int index, std::int64_t lanes = 1);

/// Whether passes over a row one after the other read what they should where its results go to what is read: the last
/// pass alone writes, at the place that it reads.
bool rows_are_read_first(const ir::Program& program, int index);

/// An index of such rows: of results where these lie along one, that with neighbours first; -1: there is none, rows
/// have sums in common, or one sum alone runs along it, which reads each row once as it is.
int row_of(const ir::Program& program);

/// That of the only sum, where it takes each value of a tensor once; -1: there is none.
int row_of_one_sum(const ir::Program& program);

/// Rows as a CPU goes over them: along_row() of single places where no comparison of indices has a say in what they
/// hold. Where one does, as of `k <= q` in rows of k, it cuts each row in two parts: what guards and selections make of
/// it is decided in each.
struct RowProgram {
  ir::Program program;
  std::optional<ir::Affine> cut;  ///< where the second part begins; none: the first one is all
  /// Per part what is summed, by each reduction's node, and what each statement stores; -1: nothing.
  std::array<std::vector<ir::NodeId>, 2> summed, stored;
};
/// Nothing where a comparison cuts rows elsewhere than in two parts.
std::optional<RowProgram> cut_rows(const ir::Program& program, int index);

/// One way over a row.
struct RowPass {
  struct Sum {
    ir::NodeId reduction;
    std::array<ir::NodeId, 2> value;  ///< of each part; -1: nothing
  };
  struct Result {
    int statement;
    std::array<ir::NodeId, 2> value;
  };
  std::vector<Sum> sums;             ///< all that those of the passes before it allow
  std::vector<Result> results;       ///< of the last pass
  std::vector<ir::NodeId> computed;  ///< nodes that depend on the row's index
  struct Kept {
    ir::NodeId value;
    std::array<bool, 2> in;  ///< of which parts
  };
  std::vector<Kept> kept;  ///< of these, what takes long and a later pass reads again
};
/// Passes in their order, the last one of results where they lie along the row.
std::vector<RowPass> row_passes(const RowProgram& rows, int row);

/// The node's value as a sum of indices, as variables of their numbers, and a constant that stays far from the ends of
/// i64; none of other values.
std::optional<Affine> index_sum(const ir::Program& program, ir::NodeId id);

/// Rounds of a pass, of so many vectors of so many neighbours each: the widest first. What these leave of the row is
/// computed by narrow vectors, then one by one.
struct RowRounds {
  std::int64_t vectors, lanes, count;
};
///   cut  whether parts of any length are left
std::vector<RowRounds> row_rounds(std::int64_t extent, std::int64_t lanes, bool cut = false);

/// The program with that index in place of all that sums run over: it counts vectors of `lanes` neighbours, whose lanes
/// are one more index, the last, where there are several. What reads the same of a row is one node then. No program by
/// the rules of the IR, as results and sums have an index in common.
ir::Program along_row(const ir::Program& program, int index, std::int64_t lanes);

}  // namespace ricci::kernel
