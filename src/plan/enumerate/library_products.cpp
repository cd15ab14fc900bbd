#include "plan/enumerate/library_products.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "kernel/composite.hpp"
#include "kernel/contraction.hpp"
#include "plan/models/library_product.hpp"
#include "plan/plan.hpp"

namespace ricci::plan {
namespace {

using kernel::Directive;
using kernel::Role;
using Indices = std::vector<int>;
using Strides = std::vector<std::int64_t>;

/// Copies of a contraction's tensors into matrices: which indices are rows, columns, depth and batch, and in which
/// order.
class Matrices {
 public:
  static constexpr int kFirst = 1, kSecond = 2, kResult = 4;

  Matrices(const ir::Program& program, const kernel::Contraction& contraction)
      : program_(program),
        contraction_(contraction),
        first_(load(contraction.first)),
        second_(load(contraction.second)),
        result_(program.statement()) {}

  bool same_operand() const { return first_.source == second_.source; }
  bool has(Role role) const { return !contraction_.indices(role).empty(); }

  /// Directives of those copies, a suffix of the schedule's name with the names of what is copied, and whether what is
  /// not copied is a matrix each.
  struct Copies {
    kernel::Directives directives;
    std::string name;
    bool matrices = true;
  };
  Copies copies(int which) const {
    const auto& of_result = result_.offset;
    const auto rows = sorted(Role::rows, (which & (kFirst | kResult)) == kResult ? first_.offset : of_result);
    const auto columns = sorted(Role::columns, (which & (kSecond | kResult)) == kResult ? second_.offset : of_result);
    const auto depth = sorted(Role::depth, (which & (kFirst | kSecond)) == kFirst ? second_.offset : first_.offset);
    const auto batch = sorted(Role::batch, of_result);
    Copies made;
    const auto add = [&](int one, int buffer, const ir::Affine& access, const Indices& x, const Indices& y) {
      if ((which & one) == 0) {
        made.matrices = made.matrices && is_one(x, access) && is_one(y, access);
        return;
      }
      made.directives.push_back(copy(buffer, access, batch, x, y));
      made.name += (made.name.empty() ? " copied " : " ") + made.directives.back().subject;
    };
    add(kFirst, first_.source, first_.offset, rows, depth);
    add(kSecond, second_.source, second_.offset, depth, columns);
    add(kResult, result_.buffer, of_result, rows, columns);
    return made;
  }

 private:
  const ir::Node& load(const kernel::Factor& factor) const {
    return program_.nodes[static_cast<std::size_t>(factor.load)];
  }
  std::int64_t extent(int q) const { return program_.indices[static_cast<std::size_t>(q)].extent; }
  static std::int64_t step(const ir::Affine& access, int q) { return access.coefficient[static_cast<std::size_t>(q)]; }

  /// Indices of a role, slowest first as an access has them.
  Indices sorted(Role role, const ir::Affine& access) const {
    auto list = contraction_.indices(role);
    std::stable_sort(list.begin(), list.end(), [&](int x, int y) { return step(access, x) > step(access, y); });
    return list;
  }

  /// Whether they are one index of an access in that order.
  bool is_one(const Indices& order, const ir::Affine& access) const {
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (step(access, order[k]) <= 0) return false;
      if (k > 0 && step(access, order[k - 1]) != step(access, order[k]) * extent(order[k])) return false;
    }
    return true;
  }

  /// The fastest index of an access is one of them.
  bool holds_fastest(const Indices& indices, const Indices& others, const ir::Affine& access) const {
    const auto least = [&](const Indices& of) {
      std::int64_t fastest = std::numeric_limits<std::int64_t>::max();
      for (const int q : of) fastest = std::min(fastest, std::abs(step(access, q)));
      return fastest;
    };
    return least(indices) < least(others);
  }

  Directive copy(int buffer, const ir::Affine& access, const Indices& batch, const Indices& x, const Indices& y) const {
    Directive directive;
    directive.kind = Directive::Kind::copy;
    directive.subject = program_.buffers[static_cast<std::size_t>(buffer)].name;
    directive.loops.push_back({"", {}});
    const bool x_last = holds_fastest(x, y, access);
    for (const auto* group : {&batch, x_last ? &y : &x, x_last ? &x : &y}) {
      for (const int q : *group)
        directive.loops.front().second.push_back(program_.indices[static_cast<std::size_t>(q)].name);
    }
    return directive;
  }

  const ir::Program& program_;
  const kernel::Contraction& contraction_;
  const ir::Node &first_, &second_;
  const ir::Statement& result_;
};

/// What copies of tensors are predicted to take; equal ones are worked out once.
template <class Device>
class CopyTimes {
 public:
  explicit CopyTimes(const Device& device) : device_(device) {}
  double us(const kernel::Composite& composite) {
    double sum = 0;
    for (std::size_t k = 0; k < composite.canonical.size(); ++k) {
      if (k == composite.product) continue;
      const auto& program = composite.canonical[k].program;
      const auto [place, fresh] = known_.try_emplace(ir::print(program));
      if (fresh) place->second = best_candidate(program, device_).predicted_us;
      sum += place->second;
    }
    return sum;
  }

 private:
  const Device& device_;
  std::map<std::string, double> known_;
};

std::vector<Candidate> sorted_by_time(std::vector<Candidate> list) {
  std::stable_sort(list.begin(), list.end(),
                   [](const Candidate& x, const Candidate& y) { return x.predicted_us < y.predicted_us; });
  return list;
}

template <class Device>
std::vector<Candidate> enumerated(const ir::Program& program, const Device& device) {
  if (!device.library || program.exact) return {};
  const auto contraction = kernel::contraction_of(program);
  if (!contraction) return {};
  const Matrices matrices(program, *contraction);
  if (matrices.has(Role::summed) || matrices.has(Role::other)) return {};
  constexpr int kFirst = Matrices::kFirst, kSecond = Matrices::kSecond, kResult = Matrices::kResult;
  std::vector<Candidate> list;
  std::vector<int> taken;
  CopyTimes<Device> times(device);
  for (const int copies : {0, kFirst, kSecond, kResult, kFirst | kSecond, kFirst | kResult, kSecond | kResult,
                           kFirst | kSecond | kResult}) {
    if ((copies & (kFirst | kSecond)) != 0 && matrices.same_operand()) continue;  // a name says which
    if (matrices.has(Role::broadcast) && (copies & kResult) == 0) continue;
    if (std::any_of(taken.begin(), taken.end(), [&](int fewer) { return (fewer & copies) == fewer; })) continue;
    auto made = matrices.copies(copies);
    if (!made.matrices) continue;
    Candidate candidate;
    candidate.schedule = {"gemm" + made.name, std::move(made.directives)};
    Directive call;
    call.kind = Directive::Kind::library;
    call.subject = "gemm";
    candidate.schedule.directives.push_back(call);
    const auto composite = kernel::composite_of(program, candidate.schedule);
    const auto& rest = composite.canonical[composite.product].program;
    const auto product = kernel::matrix_product_of(rest);
    if (!product || !library_has(*product, device)) continue;
    const auto us = times.us(composite);
    if (copies != 0) candidate.parts.push_back({"copies", us});
    candidate.predicted_us = us + library_us(*product, device, candidate.parts);
    candidate.note = kernel::print(*product, rest);
    candidate.workspace_bytes = composite.sequence.workspace_bytes();
    candidate.traffic.occupancy = 1;
    list.push_back(std::move(candidate));
    taken.push_back(copies);
  }
  return sorted_by_time(std::move(list));
}

}  // namespace

std::vector<Candidate> library_candidates(const ir::Program& program, const CpuModel& device) {
  return enumerated(program, device);
}

std::vector<Candidate> library_candidates(const ir::Program& program, const GpuModel& device) {
  return enumerated(program, device);
}

std::vector<Candidate> merged(std::vector<Candidate> list, std::vector<Candidate> others, std::size_t from) {
  for (auto& other : others) {
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(std::min(from, list.size()));
    const auto place =
        std::find_if(begin, list.end(), [&](const Candidate& c) { return c.predicted_us > other.predicted_us; });
    list.insert(place, std::move(other));
  }
  return list;
}

}  // namespace ricci::plan
