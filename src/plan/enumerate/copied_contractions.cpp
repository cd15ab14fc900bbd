#include "plan/enumerate/copied_contractions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kernel/result.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/contraction_sides.hpp"
#include "plan/enumerate/library_products.hpp"
#include "plan/enumerate/matrix_copies.hpp"
#include "plan/models/cost_cpu.hpp"
#include "plan/models/least_product_cpu.hpp"

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

/// What the product and copies of its tensors take, before there are any: at least by the model, and usually. Copies
/// from memory are worth a look by what a thread usually copies, however fast they are predicted, beside units that
/// multiply all the time.
class KnownTimes {
 public:
  KnownTimes(const ir::Program& program, const kernel::Contraction& contraction, const CpuModel& device)
      : program_(program), device_(device), contraction_(contraction) {
    double products = is_complex(contraction.type) ? 4 : 1;
    for (const auto& index : program.indices) products *= static_cast<double>(index.extent);
    const double real_bytes = static_cast<double>(size_of(contraction.type)) / (is_complex(contraction.type) ? 2 : 1);
    const double lanes = std::min(device.vector_bytes, device.datapath_bytes) / real_bytes;
    const auto terms = gett::dot_terms(program, contraction, device);
    products /= static_cast<double>(terms);
    busy_us_ = least_us_ = products / (2 * lanes * device.threads * device.cycles_per_us());
    if (!contraction.indices(Role::batch).empty()) return;
    const auto extent = [&](Role role) { return contraction.extent(program, role); };
    least_us_ = least_product_us(extent(Role::rows), extent(Role::columns), extent(Role::depth), contraction.type,
                                 device, terms);
  }
  double least_copies_us(int which) const {
    return sum_of(which, [&](int one) {
      const double written = bytes(one), size = static_cast<double>(size_of(contraction_.type));
      return least_copy_us(written + written / size * static_cast<double>(size_of(type_of(one))), device_);
    });
  }
  double usual_copies_us(int which) const {
    return sum_of(which, [&](int one) {
      const double moved = 2 * bytes(one);
      return waits_for_memory(moved, device_) ? moved / (device_.thread_GBs(true, 20) * device_.threads * 1e3) : 0;
    });
  }
  /// Whether the product with these copies, behind others that take so long, may take no longer than `most_us`.
  bool may_take(double others_us, int which, double most_us) const {
    return others_us + least_copies_us(which) + least_us_ <= most_us &&
           others_us + usual_copies_us(which) + busy_us_ <= most_us;
  }
  /// Of a tensor with elements of the product's type.
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
  template <class Of>
  static double sum_of(int which, Of of) {
    double sum = 0;
    for (const int one : {MatrixCopies::kFirst, MatrixCopies::kSecond, MatrixCopies::kResult})
      sum += (which & one) != 0 ? of(one) : 0;
    return sum;
  }
  DType type_of(int which) const {
    if (which == MatrixCopies::kResult)
      return program_.buffers[static_cast<std::size_t>(program_.statement().buffer)].type;
    const auto& factor = which == MatrixCopies::kFirst ? contraction_.first : contraction_.second;
    return program_.nodes[static_cast<std::size_t>(factor.load)].type;
  }

  const ir::Program& program_;
  const CpuModel& device_;
  const kernel::Contraction& contraction_;
  double busy_us_, least_us_;  ///< of the product: all units multiply, and at least
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
    if (waits_for_memory(bytes, device) || !waits_for_memory(2 * bytes, device)) continue;
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

/// Whether what copies leave of a product may take no longer than `most_us`: those of all tensors together leave one of
/// matrices. Where there are many rows, columns and terms, other orders are not predicted to leave one that takes less
/// than `kOthers` of its time.
bool leaves_time(const ir::Program& program, const kernel::Contraction& contraction, const CpuModel& device,
                 const MatrixCopies& matrices, double most_us) {
  constexpr std::int64_t kMany = 16;
  constexpr double kOthers = 0.965;
  const auto few = [&](Role role) { return contraction.extent(program, role) < kMany; };
  if (matrices.same_operand() || few(Role::rows) || few(Role::columns) || few(Role::depth)) return true;
  constexpr int kAll = MatrixCopies::kFirst | MatrixCopies::kSecond | MatrixCopies::kResult;
  const auto product = [&](bool transposed) {
    const auto composite = kernel::composite_of(program, {"", matrices.copies(kAll, transposed).directives});
    return CpuContraction(composite.canonical(composite.product).program, device);
  };
  // Of its two ways round, which are one where the result is square, either.
  const bool square = contraction.extent(program, Role::rows) == contraction.extent(program, Role::columns);
  return product(false).takes_less(most_us / kOthers) || (!square && product(true).takes_less(most_us / kOthers));
}

/// Several copies that leave a product of matrices, where these take no longer than `most_us` with all steps: only
/// together they make the rows, the columns and the depth one index each, of which register tiles leave nothing over.
std::vector<CopiedContraction> joined(const ir::Program& program, const CpuModel& device, const MatrixCopies& matrices,
                                      const KnownTimes& known, CopyTimes<CpuModel>& times, double most_us) {
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
    if (!known.may_take(0, which, most_us)) continue;
    const auto composite = kernel::composite_of(program, {"", made.directives});
    CpuContraction rest(composite.canonical(composite.product).program, device);
    const auto product_us = rest.best_us(most_us - known.least_copies_us(which));
    if (!product_us) continue;
    const auto us = times.us(composite) + short_rows_us(composite, device) + *product_us;
    if (us < most_us) found.push_back({std::move(made.directives), us});
  }
  return found;
}

}  // namespace

std::vector<CopiedContraction> worthwhile_copies(const ir::Program& program, const CpuModel& device, double most_us,
                                                 bool all) {
  const auto contraction = kernel::contraction_of(program);
  if (!contraction || !contraction->is_product() || contraction->reduce < 0 || program.exact) return {};
  const MatrixCopies matrices(program, *contraction);
  for (const auto role : {Role::summed, Role::other, Role::broadcast}) {
    if (matrices.has(role)) return {};
  }
  const KnownTimes known(program, *contraction, device);
  auto least_copy_us = std::numeric_limits<double>::infinity();
  for (const int one : {MatrixCopies::kFirst, MatrixCopies::kSecond, MatrixCopies::kResult}) {
    if (known.may_take(0, one, most_us)) least_copy_us = std::min(least_copy_us, known.least_copies_us(one));
  }
  if (least_copy_us > most_us) return {};
  std::vector<int> left;
  if (!matrices.same_operand()) left = {MatrixCopies::kFirst, MatrixCopies::kSecond};
  left.push_back(MatrixCopies::kResult);
  // What the second cache holds is packed from there. A result of a few columns may have them as rows, so that the
  // large operand is read in place; sums of dot products that the result's type does not hold may come in parts.
  constexpr std::int64_t kFew = 4;
  const bool few =
      contraction->extent(program, Role::rows) <= kFew || contraction->extent(program, Role::columns) <= kFew;
  const bool in_parts =
      gett::dot_terms(program, *contraction, device) > 1 && !kernel::has_parts(program, contraction->reduce);
  std::erase_if(left, [&](int which) {
    return known.bytes(which) <= static_cast<double>(device.l2_bytes) &&
           !((few || in_parts) && which == MatrixCopies::kResult);
  });
  const bool one = std::any_of(left.begin(), left.end(), [&](int which) { return known.may_take(0, which, most_us); });
  // Copied operands are of the sum's type, of which dot products are none: what is left of all tells nothing.
  if (one && !in_parts && !leaves_time(program, *contraction, device, matrices, most_us - least_copy_us)) return {};
  CopyTimes<CpuModel> times(device);
  std::vector<CopiedContraction> found;
  CopiedContraction best{{}, std::numeric_limits<double>::infinity()};
  kernel::Composite copied{ir::sequence_of(program)};  // that, and what its copies take
  double copied_us = 0;
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
      if (!known.may_take(copied_us, which, most_us)) continue;
      for (auto& order : matrices.orders(which)) {
        auto composite = copied;
        kernel::add_copy(composite, order);
        auto copies = best.copies;
        copies.push_back(std::move(order));
        CpuContraction product(composite.canonical(composite.product).program, device);
        const auto product_us = product.least_us();
        ways.push_back({copied_us + known.least_copies_us(which) + product_us, product_us, which, std::move(copies),
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
      const auto least_copies_us = copied_us + known.least_copies_us(way.which);
      const auto usual_copies_us = copied_us + known.usual_copies_us(way.which);
      // What takes more than a little, or leaves no time for others, is worth nothing together with them.
      const bool little = usual_copies_us <= kLittle * most_us;
      const auto copies_us = little ? least_copies_us : std::max(least_copies_us, usual_copies_us);
      const bool alone = !little || std::none_of(left.begin(), left.end(), [&](int other) {
        return other != way.which && known.may_take(least_copies_us, other, most_us);
      });
      auto room_us = bound_us - least_copies_us;
      if (alone) room_us = std::min(room_us, std::nextafter(most_us, 2 * most_us) - copies_us);
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
  for (auto& each : joined(program, device, matrices, known, times, std::min(most_us, kEnough * best.predicted_us)))
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
  // around short kernels already those that were predicted to save less than a quarter. On an Intel Xeon tiles of
  // copied tensors took longer than plain schedules by that much, beside what was predicted of both.
  constexpr double kShort = 2000;  // us
  const bool tiles = kernel::has_atom(list.front().schedule.directives);
  const double worth = !tiles || best_alone_us < kShort ? 0.75 : 0.91;
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
