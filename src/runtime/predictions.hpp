// What kernels on a GPU are predicted to take while a sequence is planned: each program is looked at once.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/passes/canonical.hpp"
#include "ir/sequence.hpp"
#include "plan/enumerate/cut_tiles.hpp"
#include "plan/plan.hpp"

namespace ricci::runtime {

/// Whether a kernel has any points; an empty sum has, since it writes zeros.
bool has_points(const ir::Program& program);

/// All that decides what programs compute, as numbers: of those that differ in names alone the same.
using Form = std::vector<std::uint64_t>;
void add_form(Form& form, const ir::Program& program);
struct HashOfForm {
  std::size_t operator()(const Form& form) const noexcept;
};

/// Not for several threads at a time.
class Predictions {
 public:
  /// precision: as it is asked for; that of each program follows from it.
  Predictions(const plan::GpuModel& device, Precision precision) : device_(device), precision_(precision) {}

  const plan::GpuModel& device() const { return device_; }
  /// The canonical form of a program, with the precision that it is computed in on this device. It stays where it is.
  const ir::Canonical& canonical(const ir::Program& program) { return known(program).canonical; }
  /// The step with its program in that form.
  ir::Step canonical_step(const ir::Step& step);
  /// The best candidate of a program that canonical() made.
  const plan::Candidate& best(const ir::Program& canonical) { return weighed(canonical).whole(); }
  /// The same without its schedule, where nothing has asked for that yet.
  plan::WeighedCandidate& weighed(const ir::Program& canonical);
  /// All of it where it is known; else null.
  const plan::Candidate* find_best(const ir::Program& canonical);
  /// What it is predicted to take with its launch, in microseconds.
  ///   below  times that are of use: where none is, any that is not below it
  double us(const ir::Program& program, double below = kAny);
  /// The same of a program that canonical() made.
  double us_of_canonical(const ir::Program& canonical, double below = kAny);
  /// Of all steps that have points, in a row.
  double us(std::span<const ir::Step> steps, double below = kAny);

 private:
  static constexpr double kAny = std::numeric_limits<double>::infinity();

  /// Of a program in canonical form: the best or, where that is not known, that it is not below `bound_us`, and what
  /// was found takes `us`.
  struct Prediction {
    std::optional<plan::WeighedCandidate> best;
    double bound_us = -kAny, us = 0;
  };
  struct Known {
    ir::Canonical canonical;
    Prediction* prediction = nullptr;
  };
  Known& known(const ir::Program& program);
  Prediction& prediction(const ir::Program& canonical) { return predictions_[form_of(canonical)]; }
  /// Until it is asked for another one's.
  const Form& form_of(const ir::Program& program);
  double us(const ir::Program& canonical, Prediction& prediction, double below);

  plan::GpuModel device_;
  plan::CutTiles tiles_;
  Precision precision_;
  Form form_;  ///< room for one
  std::unordered_map<Form, Prediction, HashOfForm> predictions_;
  std::unordered_map<Form, Known, HashOfForm> known_;  ///< as they were written
};

}  // namespace ricci::runtime
