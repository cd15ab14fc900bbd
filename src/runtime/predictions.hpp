// What kernels on a GPU are predicted to take while a sequence is planned: each program is looked at once.
#pragma once

#include <limits>
#include <map>
#include <string>

#include "ir/passes/canonical.hpp"
#include "ir/sequence.hpp"
#include "plan/plan.hpp"

namespace ricci::runtime {

/// Whether a kernel has any points; an empty sum has, since it writes zeros.
bool has_points(const ir::Program& program);

/// Not for several threads at a time.
class Predictions {
 public:
  /// precision: as it is asked for; that of each program follows from it.
  Predictions(const plan::GpuModel& device, Precision precision) : device_(device), precision_(precision) {}

  const plan::GpuModel& device() const { return device_; }
  /// The canonical form of a program, with the precision that it is computed in on this device.
  ir::Canonical canonical(const ir::Program& program) const;
  /// That precision, of a program in canonical form.
  Precision precision(const ir::Program& canonical) const;
  /// The best candidate of a program that canonical() made.
  ///   text  as ir::print writes it
  const plan::Candidate& best(const ir::Program& canonical, const std::string& text);
  /// What it is predicted to take with its launch, in microseconds.
  ///   below  times that are of use: where none is, any that is not below it
  double us(const ir::Program& program, double below = kAny);
  /// The same of a program that canonical() made.
  double us_of_canonical(const ir::Program& canonical, double below = kAny);
  /// Of all steps that have points.
  double us(const ir::Sequence& sequence, double below = kAny);

 private:
  static constexpr double kAny = std::numeric_limits<double>::infinity();

  plan::GpuModel device_;
  Precision precision_;
  std::map<std::string, plan::Candidate> best_;
  /// Of programs whose best is not known: it is not below `bound_us`, and what was found takes `us`.
  struct NotBelow {
    double bound_us, us;
  };
  std::map<std::string, NotBelow> not_below_;
};

}  // namespace ricci::runtime
