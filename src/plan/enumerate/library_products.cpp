#include "plan/enumerate/library_products.hpp"

#include <algorithm>

#include "kernel/composite.hpp"
#include "plan/enumerate/matrix_copies.hpp"
#include "plan/models/library_product.hpp"

namespace ricci::plan {
namespace {

using kernel::Directive;
using kernel::Role;

template <class Device>
std::vector<Candidate> enumerated(const ir::Program& program, const Device& device) {
  if (!device.library || program.exact) return {};
  const auto contraction = kernel::contraction_of(program);
  if (!contraction || !contraction->is_product()) return {};
  const MatrixCopies matrices(program, *contraction);
  if (matrices.has(Role::summed) || matrices.has(Role::other)) return {};
  constexpr int kFirst = MatrixCopies::kFirst, kSecond = MatrixCopies::kSecond, kResult = MatrixCopies::kResult;
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
    const auto rest = composite.canonical(composite.product).program;
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
  sort_by_time(list);
  return list;
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
