#include "plan/enumerate/copied_contractions.hpp"

#include <algorithm>
#include <limits>

#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/matrix_copies.hpp"

namespace ricci::plan {
namespace {

using kernel::Directives;
using kernel::Role;

/// " copied B dca", of each copy.
std::string suffix(const Directives& copies) {
  std::string text;
  for (const auto& copy : copies) {
    text += (text.empty() ? " copied " : " ") + copy.subject + " ";
    for (const auto& name : copy.loops.front().second) text += name;
  }
  return text;
}

/// What the copy and the product take at least: memory is gone through, and units multiply all the time.
class LeastTimes {
 public:
  LeastTimes(const ir::Program& program, const kernel::Contraction& contraction, const CpuModel& device)
      : program_(program), device_(device), contraction_(contraction) {
    double products = is_complex(contraction.type) ? 4 : 1;
    for (const auto& index : program.indices) products *= static_cast<double>(index.extent);
    const double real_bytes = static_cast<double>(size_of(contraction.type)) / (is_complex(contraction.type) ? 2 : 1);
    const double lanes = std::min(device.vector_bytes, device.datapath_bytes) / real_bytes;
    products_ = products / (2 * lanes * device.threads * device.clock_MHz);
  }
  double product() const { return products_; }
  double copy(int which) const {
    const double bytes = 2 * this->bytes(which);
    return device_.beyond_caches(bytes) ? bytes / (device_.thread_GBs(true, 20) * device_.threads * 1e3) : 0;
  }
  double bytes(int which) const {
    double elements = 1;
    for (std::size_t q = 0; q < program_.indices.size(); ++q) {
      const auto role = contraction_.role[q];
      const bool moves = role == Role::batch || (role == Role::rows && which != MatrixCopies::kSecond) ||
                         (role == Role::columns && which != MatrixCopies::kFirst) ||
                         (role == Role::depth && which != MatrixCopies::kResult);
      elements *= moves ? static_cast<double>(program_.indices[q].extent) : 1;
    }
    return elements * static_cast<double>(size_of(contraction_.type));
  }

 private:
  const ir::Program& program_;
  const CpuModel& device_;
  const kernel::Contraction& contraction_;
  double products_ = 0;
};

}  // namespace

std::vector<CopiedContraction> worthwhile_copies(const ir::Program& program, const CpuModel& device, double most_us) {
  const auto contraction = kernel::contraction_of(program);
  if (!contraction || contraction->reduce < 0 || program.exact) return {};
  const MatrixCopies matrices(program, *contraction);
  for (const auto role : {Role::summed, Role::other, Role::broadcast}) {
    if (matrices.has(role)) return {};
  }
  const LeastTimes least(program, *contraction, device);
  CopyTimes<CpuModel> times(device);
  std::vector<CopiedContraction> found;
  CopiedContraction best{{}, std::numeric_limits<double>::infinity()};
  double copied_us = 0;  // of the copies of that
  std::vector<int> left;
  if (!matrices.same_operand()) left = {MatrixCopies::kFirst, MatrixCopies::kSecond};
  left.push_back(MatrixCopies::kResult);
  // What the second cache holds is packed from there.
  std::erase_if(left, [&](int which) { return least.bytes(which) <= static_cast<double>(device.l2_bytes); });
  // Where copies take little beside the product, they may be worth it together although no one of them is alone. Each
  // has to save enough of what the others leave: timed on an AMD EPYC, third ones that were predicted to save 1 to 4 %
  // took 2 to 5 % longer.
  constexpr double kLittle = 0.1, kEnough = 0.95;
  while (!left.empty()) {
    auto next = best;
    const double less_us = best.copies.empty() ? best.predicted_us : kEnough * best.predicted_us;
    double next_copied_us = 0;
    auto taken = left.end();
    for (auto which = left.begin(); which != left.end(); ++which) {
      if (copied_us + least.copy(*which) + least.product() > most_us) continue;
      for (auto& order : matrices.orders(*which)) {
        auto copies = best.copies;
        copies.push_back(std::move(order));
        const auto composite = kernel::composite_of(program, {"", copies});
        const auto products = contraction_candidates(composite.canonical[composite.product].program, device, 1);
        if (products.empty()) continue;
        const auto copies_us = copied_us + least.copy(*which);
        if (copies_us > kLittle * most_us && copies_us + products.front().predicted_us > most_us) continue;
        const auto us = times.us(composite);
        if (us + products.front().predicted_us >= less_us) continue;
        found.push_back({std::move(copies), us + products.front().predicted_us});
        if (found.back().predicted_us >= next.predicted_us) continue;
        next = found.back();
        next_copied_us = us;
        taken = which;
      }
    }
    if (taken == left.end()) break;
    left.erase(taken);
    best = std::move(next);
    copied_us = next_copied_us;
  }
  std::erase_if(found, [&](const CopiedContraction& each) { return each.predicted_us > most_us; });
  std::stable_sort(found.begin(), found.end(), [](const CopiedContraction& x, const CopiedContraction& y) {
    return x.predicted_us < y.predicted_us;
  });
  return found;
}

std::vector<Candidate> copied_candidates(const ir::Program& program, const CpuModel& device, const Directives& copies,
                                         std::size_t most) {
  const auto composite = kernel::composite_of(program, {"", copies});
  const auto us = CopyTimes<CpuModel>(device).us(composite);
  auto list = contraction_candidates(composite.canonical[composite.product].program, device, most);
  for (auto& candidate : list) {
    auto& schedule = candidate.schedule;
    schedule.name += suffix(copies);
    schedule.directives.insert(schedule.directives.begin(), copies.begin(), copies.end());
    candidate.predicted_us += us;
    candidate.workspace_bytes = composite.sequence.workspace_bytes();
  }
  return list;
}

}  // namespace ricci::plan
