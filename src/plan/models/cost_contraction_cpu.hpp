// The predicted time of a contraction on a CPU.
#pragma once

#include <string>
#include <vector>

#include "plan/models/candidate.hpp"
#include "plan/models/contraction_blocking.hpp"
#include "plan/models/contraction_counts_cpu.hpp"
#include "plan/models/device_model.hpp"

namespace ricci::plan::gett {

/// What its kernel does.
CpuContractionCounts counts_of(const Blocking& blocking, const Problem& problem);

/// Microseconds on all threads: cycles of the register tiles and of packing, beside what memory takes.
double predicted_us(const Blocking& blocking, const Problem& problem, const CpuModel& device);
/// What it is made of.
std::vector<TimePart> time_parts(const Blocking& blocking, const Problem& problem, const CpuModel& device);
/// Cycles of a register tile's round, and the share of them in which the units for multiply-adds are busy.
std::string round_text(const Blocking& blocking, const Problem& problem, const CpuModel& device);

/// Cycles on one thread, all tasks together.
struct CpuContractionCycles {
  double products = 0;  ///< rounds of the register tiles
  double stores = 0;    ///< beginning and end of these, with their results
  double cache = 0;     ///< columns on their way from the second or the last cache
  double packing = 0;   ///< of operands
  double reading = 0;   ///< of operands in place, beside what rounds take
  double all() const { return products + stores + cache + packing + reading; }
  CpuContractionCycles& operator+=(const CpuContractionCycles& more);
};
/// Microseconds where the thread that ends last has this share of the cycles, and memory takes so long on its own.
double time_of(double cycles, double longest_share, double memory_us, const CpuModel& device);
std::vector<TimePart> time_parts(const CpuContractionCycles& cycles, double longest_share, double memory_us,
                                 const CpuModel& device);

/// Elements side by side in the columns' operand, of what a block holds of it.
double run_of_columns(const Blocking& blocking);

/// Gives a register tile one block, in one task.
void make_whole(Blocking& blocking);
/// Elements side by side in operands of which all is held, as far as that is known: one for all register tiles that
/// pack the same and sum as many terms in one go.
struct WholeRuns {
  double rows = 0, columns = 0;
};
/// What a register tile takes at least, whatever its blocks and tasks; `blocking` is whole.
///   most_us  of times that are of use: where it takes longer, any such bound
///   any_sum  and however many terms are summed in one go; `blocking` sums all of them
double least_us(const Blocking& blocking, const Problem& problem, const CpuModel& device, WholeRuns& known,
                double most_us, bool any_sum = false);

/// What a product of a group takes: the result stays in the second cache from one product to the next.
CpuContractionCycles cycles_in_group(const Blocking& blocking, const Problem& problem, const CpuModel& device);

}  // namespace ricci::plan::gett
