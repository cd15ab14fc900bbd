// The MWP-CWP model (Hong and Kim 2009, Sim et al. 2012) as the cuTT paper takes it for permutations (Hynninen and
// Lyakh, arXiv:1705.01598, section 2.3), to compare Ricci's own model with. It chooses nothing.
#pragma once

#include <optional>

#include "ir/program.hpp"
#include "plan/models/axes.hpp"
#include "plan/models/device_model.hpp"
#include "plan/plan.hpp"
#include "ricci/plan.hpp"

namespace ricci::tools {

/// What a kernel does, in the paper's terms. A block's iteration is a tile, loaded and stored; where each warp has a
/// tile of its own it is the tiles of all its warps.
struct MwpCwpKernel {
  double loads = 0, stores = 0;                          ///< LD_req, ST_req: a warp's instruction is a request
  double load_transactions = 0, store_transactions = 0;  ///< LD_tran, ST_tran: lines of 128 bytes
  double partial_share = 0;                              ///< CL_part / (CL_full + CL_part)
  double shared_transactions = 0;                        ///< TPR_shmem; 0 where nothing waits in shared memory
  double mlp = 1;           ///< MLP: independent requests of a warp in an iteration, the average of loads and stores
  double warps = 1;         ///< N_warp of a block
  double active_warps = 1;  ///< N_warpsPerSM
  double iterations = 1;    ///< N_iter of a multiprocessor
};

/// What a device does, in cycles of its multiprocessors.
struct MwpCwpDevice {
  double departure_delay = 0;   ///< delta, between two transactions
  double memory_latency = 0;    ///< mem_baselat
  double shared_latency = 0;    ///< shmem_lat
  double iteration_cycles = 0;  ///< cycles_ac
  double bytes_per_cycle = 0;   ///< mem_BW / (N_SM * Freq)

  /// Table I of the paper by compute capability: Kepler, Maxwell, and Pascal for all that came later, as cuTT has it.
  static MwpCwpDevice of(const plan::GpuModel& device);
};

/// Equations (10) to (13).
double mwp_cwp_cycles(const MwpCwpKernel& kernel, const MwpCwpDevice& device);

/// Predicts candidates of one program, which has to stay where it is.
class MwpCwp {
 public:
  MwpCwp(const ir::Program& program, const plan::GpuModel& device);

  /// None where nothing is loaded, and for schedules that compute.
  std::optional<MwpCwpKernel> kernel(const plan::Candidate& candidate) const;
  std::optional<double> us(const plan::Candidate& candidate) const;

 private:
  const ir::Program& program_;
  plan::Sides sides_;
  plan::GpuModel device_;
};

/// What the model predicts of the schedule that a GPU plan of a permutation runs; nothing for other plans.
std::optional<double> mwp_cwp_us(const Plan& plan);

}  // namespace ricci::tools
