#include "plan/enumerate/copied_contractions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/library_products.hpp"
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
    products_ = products / (2 * lanes * device.threads * device.cycles_per_us());
  }
  double product() const { return products_; }
  double copy(int which) const {
    const double bytes = 2 * this->bytes(which);
    return device_.beyond_caches(bytes) ? bytes / (device_.thread_GBs(true, 20) * device_.threads * 1e3) : 0;
  }
  /// The same at the rate of all that memory can move.
  double fastest_copy(int which) const {
    constexpr double kMostGBs = 70;  // of two threads
    const double bytes = 2 * this->bytes(which);
    const double rate = std::max(kMostGBs, device_.thread_GBs(true, 20) * device_.threads);
    return device_.beyond_caches(bytes) ? bytes / (rate * 1e3) : 0;
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

/// What copies take beside their prediction that move short rows where both tensors fill half of what counts as the
/// caches, or more: timed on an AMD EPYC, 2 to 4 ns an element in place of 0.2.
double short_rows_us(const kernel::Composite& composite, const CpuModel& device) {
  constexpr double kElement = 2e-3, kShort = 128;  // bytes
  double us = 0;
  for (std::size_t k = 0; k < composite.sequence.steps.size(); ++k) {
    if (k == composite.product) continue;
    const auto program = composite.canonical(k).program;
    const auto& buffer = program.buffers[static_cast<std::size_t>(program.statement().buffer)];
    const auto points = static_cast<double>(program.points()), size = static_cast<double>(size_of(buffer.type));
    const double bytes = 2 * points * size;
    if (device.beyond_caches(bytes) || !device.beyond_caches(2 * bytes)) continue;
    double row = size;
    for (std::size_t q = 0; q < program.indices.size(); ++q) {
      const bool in_rows = program.statement().offset.coefficient[q] == 1 &&
                           std::all_of(program.nodes.begin(), program.nodes.end(), [&](const ir::Node& node) {
                             return node.kind != ir::NodeKind::load || node.offset.coefficient[q] == 1;
                           });
      if (in_rows) row = std::max(row, size * static_cast<double>(program.indices[q].extent));
    }
    if (row < kShort) us += kElement * points;
  }
  return us;
}

/// Several copies that leave a product of matrices, where these take no longer than `most_us` with all steps: only
/// together they make the rows, the columns and the depth one index each, of which register tiles leave nothing over.
std::vector<CopiedContraction> joined(const ir::Program& program, const CpuModel& device, const MatrixCopies& matrices,
                                      const LeastTimes& least, CopyTimes<CpuModel>& times, double most_us) {
  constexpr int kFirst = MatrixCopies::kFirst, kSecond = MatrixCopies::kSecond, kResult = MatrixCopies::kResult;
  std::vector<CopiedContraction> found;
  std::vector<int> enough;
  for (const int which : {0, kFirst, kSecond, kResult, kFirst | kSecond, kFirst | kResult, kSecond | kResult,
                          kFirst | kSecond | kResult}) {
    if ((which & (kFirst | kSecond)) != 0 && matrices.same_operand()) continue;  // a name says which
    if (std::any_of(enough.begin(), enough.end(), [&](int fewer) { return (fewer & which) == fewer; })) continue;
    auto made = matrices.copies(which);
    if (!made.matrices) continue;
    enough.push_back(which);
    if (made.directives.size() < 2) continue;
    double least_us = least.product();
    for (const int one : {kFirst, kSecond, kResult}) least_us += (which & one) != 0 ? least.copy(one) : 0;
    if (least_us > most_us) continue;
    const auto composite = kernel::composite_of(program, {"", made.directives});
    CpuContraction rest(composite.canonical(composite.product).program, device);
    const auto least_product_us = rest.least_us();
    if (least_product_us > most_us) continue;
    const auto us = times.us(composite) + short_rows_us(composite, device);
    const auto product_us = least_product_us < most_us - us ? rest.best_us(most_us - us) : std::nullopt;
    if (product_us) found.push_back({std::move(made.directives), us + *product_us});
  }
  return found;
}

}  // namespace

std::vector<CopiedContraction> worthwhile_copies(const ir::Program& program, const CpuModel& device, double most_us,
                                                 bool all) {
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
  kernel::Composite copied{ir::sequence_of(program)};  // that, and what its copies take
  double copied_us = 0;
  std::vector<int> left;
  if (!matrices.same_operand()) left = {MatrixCopies::kFirst, MatrixCopies::kSecond};
  left.push_back(MatrixCopies::kResult);
  // What the second cache holds is packed from there. A result of a few columns may have them as rows, so that the
  // large operand is read in place.
  constexpr std::int64_t kFew = 4;
  const bool few =
      contraction->extent(program, Role::rows) <= kFew || contraction->extent(program, Role::columns) <= kFew;
  std::erase_if(left, [&](int which) {
    return least.bytes(which) <= static_cast<double>(device.l2_bytes) && !(few && which == MatrixCopies::kResult);
  });
  // Where copies take little beside the product, they may be worth it together although no one of them is alone. Each
  // has to save enough of what the others leave: timed on an AMD EPYC, third ones that were predicted to save 1 to 4 %
  // took 2 to 5 % longer.
  constexpr double kLittle = 0.1, kEnough = 0.95;
  while (!left.empty()) {
    // Orders by what all steps take at least.
    struct Way {
      double least_us, product_us;  ///< at least: of all, and of the product
      int which;
      Directives copies;
      kernel::Composite composite;
      CpuContraction product;  ///< of the composite
    };
    std::vector<Way> ways;
    for (const int which : left) {
      if (copied_us + least.copy(which) + least.product() > most_us) continue;
      for (auto& order : matrices.orders(which)) {
        auto composite = copied;
        kernel::add_copy(composite, order);
        auto copies = best.copies;
        copies.push_back(std::move(order));
        CpuContraction product(composite.canonical(composite.product).program, device);
        const auto product_us = product.least_us();
        ways.push_back({copied_us + least.fastest_copy(which) + product_us, product_us, which, std::move(copies),
                        std::move(composite), std::move(product)});
      }
    }
    std::stable_sort(ways.begin(), ways.end(), [](const Way& x, const Way& y) { return x.least_us < y.least_us; });
    auto next = best;
    const double less_us = best.copies.empty() ? best.predicted_us : kEnough * best.predicted_us;
    kernel::Composite next_copied;
    double next_copied_us = 0;
    int taken = 0;
    for (auto& way : ways) {
      const auto bound_us = all ? less_us : std::min(less_us, next.predicted_us);
      if (way.least_us >= bound_us) break;
      const auto copies_us = copied_us + least.copy(way.which);
      const auto shortest_us = copied_us + least.fastest_copy(way.which);
      const bool alone = copies_us > kLittle * most_us;  // whether it is worth nothing together with others
      const auto room_us =
          std::min(bound_us - shortest_us, alone ? std::nextafter(most_us, 2 * most_us) - copies_us : bound_us);
      if (way.product_us >= room_us) continue;
      const auto product_us = way.product.best_us(room_us);
      if (!product_us || (alone && copies_us + *product_us > most_us)) continue;
      const auto us = times.us(way.composite);
      if (us + *product_us >= bound_us) continue;
      found.push_back({std::move(way.copies), us + *product_us});
      if (found.back().predicted_us >= next.predicted_us) continue;
      next = found.back();
      next_copied = std::move(way.composite);
      next_copied_us = us;
      taken = way.which;
    }
    if (taken == 0) break;
    std::erase(left, taken);
    best = std::move(next);
    copied = std::move(next_copied);
    copied_us = next_copied_us;
  }
  for (auto& each : joined(program, device, matrices, least, times, std::min(most_us, kEnough * best.predicted_us)))
    found.push_back(std::move(each));
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
  auto list = contraction_candidates(composite.canonical(composite.product).program, device, most);
  for (auto& candidate : list) {
    auto& schedule = candidate.schedule;
    schedule.name += suffix(copies);
    schedule.directives.insert(schedule.directives.begin(), copies.begin(), copies.end());
    candidate.predicted_us += us;
    candidate.parts.push_back({"copies", us});
    candidate.workspace_bytes = composite.sequence.workspace_bytes();
  }
  return list;
}

std::vector<Candidate> with_copies(std::vector<Candidate> list, const ir::Program& program, const CpuModel& device,
                                   double best_alone_us, std::size_t most_tiles) {
  // Timed on an AMD EPYC, copies that were predicted to save less than that took as long as packing does, or longer;
  // around short kernels already those that were predicted to save less than a quarter.
  constexpr double kShort = 2000;  // us
  const double worth = best_alone_us < kShort ? 0.75 : 0.91;
  const auto alone = device.alone();
  const auto chosen = worthwhile_copies(program, alone, worth * best_alone_us, false);
  if (!chosen.empty()) {
    auto copied = copied_candidates(program, device, chosen.front().copies, most_tiles);
    const auto first = copied.size();
    list = merged(std::move(copied), std::move(list), first);
  }
  if (most_tiles == 1) return list;
  constexpr std::size_t kOthers = 3;
  std::size_t others = 0;
  for (const auto& each : worthwhile_copies(program, alone, best_alone_us, true)) {
    if (!chosen.empty() && each.copies == chosen.front().copies) continue;
    if (++others > kOthers) break;
    list = merged(std::move(list), copied_candidates(program, device, each.copies, most_tiles / 8), 1);
  }
  return list;
}

}  // namespace ricci::plan
