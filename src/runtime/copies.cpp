#include "runtime/copies.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "ir/passes/canonical.hpp"
#include "ir/passes/copy_operand.hpp"
#include "ir/passes/copy_result.hpp"
#include "ir/passes/factor_parts.hpp"
#include "kernel/contraction.hpp"
#include "plan/enumerate/contraction.hpp"

namespace ricci::runtime {
namespace {

/// Steps in place of one, and what they are predicted to take.
struct Priced {
  ir::Sequence sequence;
  std::size_t steps = 1;
  double us = -1;  ///< -1: nothing was predicted, as there is no other way
};

/// Copies and other orders of results where they are predicted to save time; on a GPU.
class Copies {
 public:
  /// limit  bytes of workspace; -1: any
  /// below  us of a whole sequence that are of use
  Copies(Predictions& predictions, std::int64_t limit, std::vector<ir::Sequence>* considered, double below)
      : predictions_(predictions),
        device_(predictions.device()),
        limit_(limit),
        considered_(considered),
        below_(below) {}

  ir::Sequence run(ir::Sequence sequence) const {
    for (std::size_t k = 0; k < sequence.steps.size();) {
      if (!has_points(sequence.steps[k].program)) {
        ++k;
        continue;
      }
      auto whole = canonical(sequence, k);
      const double below = below_ - us_beside(sequence, k);
      const auto order = plan::matrix_order(whole.steps[k].program, device_);
      auto best = with_operands(whole, k, below);
      if (order) {
        if (best.us < 0) best.us = predictions_.us_of_canonical(whole.steps[k].program);
        constexpr double kWorth = 1.1;  // times the least that matrices take
        const bool near = best.us <= kWorth * order->least_us;
        // What only warp groups may gain has to be more: of 18 plans of tcl200 and tccg48_f32 in bf16 on an H200 those
        // that were predicted to take 0.81 to 0.92 of the time took 0.54 to 0.90, those of 0.95 to 0.99 0.85 to 1.23.
        constexpr double kOfGroups = 0.93;
        const double most = (best.us <= kWorth * order->least_by_warps_us ? kOfGroups : 1) * best.us;
        auto made =
            near && considered_ == nullptr ? std::nullopt : as_matrices(whole, k, *order, std::min(most, below));
        if (made && !near) best = std::move(*made);
      }
      if (const auto parts = plan::parts_order(whole.steps[k].program, device_)) {
        if (best.us < 0) best.us = predictions_.us_of_canonical(whole.steps[k].program);
        const bool may = parts->least_us < best.us;
        auto made = may || considered_ != nullptr ? in_parts(whole, k, *parts, std::min(best.us, below)) : std::nullopt;
        if (made && may) best = std::move(*made);
      }
      if (best.steps > 1) sequence = std::move(best.sequence);
      k += best.steps;
    }
    return sequence;
  }

 private:
  static constexpr double kCopied = 0.9;       ///< of what as many bytes take: no copy takes less
  static constexpr double kLeastCopyUs = 0.4;  ///< nor does it take less than this
  static constexpr double kFurther = 1.1;      ///< of what is of use, which a copy of the other operand may make up for
  static constexpr double kGain = 0.004;       ///< of the time, that a copy must save to be worth a look

  /// The sequence with a step's program in canonical form, in the precision that it is computed in.
  ir::Sequence canonical(ir::Sequence sequence, std::size_t k) const {
    auto& step = sequence.steps[k];
    step = predictions_.canonical_step(step);
    return sequence;
  }
  double predicted(const ir::Step& step, double below = std::numeric_limits<double>::infinity()) const {
    return predictions_.us(step.program, below);
  }
  bool fits(const ir::Sequence& sequence) const {
    const bool room = sequence.fits(limit_);
    if (room && considered_ != nullptr) considered_->push_back(sequence);
    return room;
  }

  /// Whether a copy of such an order would be of one that was made before, among the storages from `made` on. Priced
  /// with a copy of the other operand, too (with_other), it could be predicted to save time any number of times.
  static bool was_made(const ir::Step& step, const plan::OperandOrder& order, std::size_t made) {
    const auto& load = step.program.nodes[static_cast<std::size_t>(order.value)];
    return order.for_groups && load.kind == ir::NodeKind::load &&
           static_cast<std::size_t>(step.storage[static_cast<std::size_t>(load.source)]) >= made;
  }

  /// What the other steps of a sequence are predicted to take; nothing where any time is of use.
  double us_beside(const ir::Sequence& sequence, std::size_t step) const {
    double us = 0;
    for (std::size_t k = 0; k < sequence.steps.size() && !std::isinf(below_); ++k) {
      if (k != step && has_points(sequence.steps[k].program)) us += predicted(sequence.steps[k]);
    }
    return us;
  }

  /// Operands copied into another order first, one after the other, each where both kernels are predicted to take less
  /// time than the gathers of one.
  ///   below  us of all kernels that are of use
  Priced with_operands(ir::Sequence whole, std::size_t first, double below) const {
    const auto given = whole.storages.size();
    Priced made{std::move(whole), 1, -1};
    for (auto k = first;; ++k) {
      const auto& step = made.sequence.steps[k];
      const auto& program = step.program;
      std::optional<ir::Sequence> best;
      double least = 0, of_copy = 0, product = 0;
      std::vector<plan::OperandOrder> orders;
      if (kernel::contraction_of(program)) {
        const auto& candidate = predictions_.weighed(program);
        least = product = candidate.predicted_us;
        orders = plan::operand_orders(program, device_, &candidate);
      }
      for (const auto& order : orders) {
        const bool may = order.least_us < std::min(least, below - std::max(made.us, 0.0));
        if ((!may && considered_ == nullptr) || was_made(step, order, given)) continue;
        auto copied = ir::copy_operand(made.sequence, k, order.value, order.indices, order.row, "copy", order.tf32);
        if (!fits(copied) || !may) continue;
        // The product first, which is seldom fast enough even if the copy takes the least that copies can.
        const double gain = best ? order.gain_us : std::max(order.gain_us, kGain * least);
        const double most = std::min(least - gain, kFurther * below - std::max(made.us, 0.0));
        const double room = most - std::max(kCopied * (order.least_us - order.product_us), kLeastCopyUs);
        auto rest = predicted(copied.steps[k + 1], room);
        if (order.for_groups) rest = with_other(copied, k + 1, std::min(rest, room));
        if (rest >= room) continue;
        const auto copy = predicted(copied.steps[k], least - rest - gain);
        if (copy + rest + gain >= least) continue;
        least = copy + rest + order.gain_us;  // compared with other orders as with none
        of_copy = copy;
        product = rest;
        best = std::move(copied);
      }
      if (!best) {
        if (product > 0) made.us = std::max(made.us, 0.0) + product;
        if (product == 0 && made.us >= 0) made.us += predictions_.us_of_canonical(program);
        return made;
      }
      made.sequence = canonical(std::move(*best), k + 1);
      made.us = std::max(made.us, 0.0) + of_copy;
      ++made.steps;
    }
  }

  /// What a product takes, in us, of which one operand has been copied as warp groups take it, with the other one
  /// copied so, too: both are needed before any time is saved. `below` where it is not less.
  double with_other(const ir::Sequence& copied, std::size_t k, double below) const {
    const auto whole = canonical(copied, k);
    plan::Candidate known;
    known.predicted_us = below;
    known.gathers = std::array<double, 2>{};
    for (const auto& order : plan::operand_orders(whole.steps[k].program, device_, &known)) {
      if (!order.for_groups || order.least_us >= below) continue;
      const auto both = ir::copy_operand(whole, k, order.value, order.indices, order.row, "copy", order.tf32);
      if (!fits(both)) continue;
      const double room = below - kCopied * (order.least_us - order.product_us);
      const auto rest = predicted(both.steps[k + 1], room);
      if (rest < room) below = std::min(below, rest + predicted(both.steps[k], below - rest));
    }
    return below;
  }

  /// The result as a matrix, which is permuted when it is complete, and operands copied to be matrices; nothing where
  /// that is not predicted to take less than `below` us.
  std::optional<Priced> as_matrices(const ir::Sequence& whole, std::size_t first, const plan::MatrixOrder& order,
                                    double below) const {
    const double permuted_least = kCopied * order.permuted_us;
    const bool may = permuted_least + order.product_us < below;
    if (!may && considered_ == nullptr) return std::nullopt;
    Priced as_it_lies{ir::copy_result(whole, first, order.sum, order.indices, order.row), 2, 0};
    if (!fits(as_it_lies.sequence) || !may) return std::nullopt;
    as_it_lies.sequence = canonical(std::move(as_it_lies.sequence), first);
    // The product first, which is seldom fast enough even if copies take the least that they can.
    double room = below - permuted_least;
    double of_matrices = 0;  // what no product takes less than
    std::optional<Priced> best;
    const auto see = [&](const Priced& made, double copies_least) {
      if (considered_ == nullptr && of_matrices + copies_least >= room) return;
      const auto last = first + made.steps - 2;
      double us = predictions_.us_of_canonical(made.sequence.steps[last].program, room - copies_least);
      if (us + copies_least >= room) return;
      for (auto k = first; k < last && us < room; ++k) us += predicted(made.sequence.steps[k], room - us);
      if (us >= room) return;
      best = {made.sequence, made.steps, us};
      room = us;
    };
    // With an operand copied, too.
    const auto with_copied = [&](const Priced& made, bool of_rows, double copies_least) -> std::optional<Priced> {
      const auto k = first + made.steps - 2;
      const auto operand = plan::matrix_operand(made.sequence.steps[k].program, device_, of_rows);
      if (!operand || copies_least + kCopied * operand->least_us + order.product_us >= room) return std::nullopt;
      auto sequence = ir::copy_operand(made.sequence, k, operand->value, operand->indices, operand->row);
      if (!fits(sequence)) return std::nullopt;
      return Priced{canonical(std::move(sequence), k + 1), made.steps + 1, copies_least + kCopied * operand->least_us};
    };
    const auto rows = with_copied(as_it_lies, true, 0);
    const auto both = rows ? with_copied(*rows, false, rows->us) : std::nullopt;
    // No product takes less than that of two matrices, which tells of all ways in most cases.
    const auto columns = both ? std::nullopt : with_copied(as_it_lies, false, 0);
    const auto& most = both ? *both : rows ? *rows : columns ? *columns : as_it_lies;
    if (considered_ == nullptr) {
      const auto& product = most.sequence.steps[first + most.steps - 2].program;
      const double us = predictions_.us_of_canonical(product, room);
      if (us >= room) return std::nullopt;
      if (both || (!plan::matrix_operand(product, device_, true) && !plan::matrix_operand(product, device_, false)))
        of_matrices = us;
    }
    if (both) see(*both, both->us);
    see(as_it_lies, 0);
    if (rows) see(*rows, rows->us);
    if (const auto alone = both ? with_copied(as_it_lies, false, 0) : columns) see(*alone, alone->us);
    if (!best) return std::nullopt;
    best->us += predicted(best->sequence.steps[first + best->steps - 1], below - best->us);
    return best->us < below ? std::move(best) : std::nullopt;
  }

  /// Factors copied as the tf32 numbers that they are the sums of; nothing where that is not predicted to take less
  /// than `below` us.
  std::optional<Priced> in_parts(const ir::Sequence& whole, std::size_t first, const plan::PartsOrder& order,
                                 double below) const {
    constexpr double kWorth = 1.05;  // how far predictions are to be trusted
    std::array<ir::FactorOrder, 2> factors;
    for (std::size_t f = 0; f < factors.size(); ++f) factors[f] = {order.factors[f].value, order.factors[f].indices};
    Priced made{ir::products_of_parts(whole, first, order.sum, factors, order.summed), 0, 0};
    made.steps = made.sequence.steps.size() - whole.steps.size() + 1;
    if (!fits(made.sequence)) return std::nullopt;
    const auto last = first + made.steps - 1;
    for (auto k = first; k < last; ++k) made.us += predicted(made.sequence.steps[k]);
    made.us += predicted(made.sequence.steps[last], below / kWorth - made.us);
    if (kWorth * made.us >= below) return std::nullopt;
    made.sequence = canonical(std::move(made.sequence), last);
    return made;
  }

  Predictions& predictions_;
  const plan::GpuModel& device_;
  std::int64_t limit_;
  std::vector<ir::Sequence>* considered_;  ///< is given all that fits() is asked about and do; or null
  double below_;
};

}  // namespace

ir::Sequence with_copies(ir::Sequence sequence, Predictions& predictions, std::int64_t limit,
                         std::vector<ir::Sequence>* considered, double below) {
  return Copies(predictions, limit, considered, below).run(std::move(sequence));
}

}  // namespace ricci::runtime
