#include "plan/enumerate/matrix_copies.hpp"

#include <algorithm>
#include <limits>

namespace ricci::plan {

using kernel::Directive;
using kernel::Role;

MatrixCopies::Indices MatrixCopies::sorted(Role role, const ir::Affine& access) const {
  auto list = contraction_.indices(role);
  std::stable_sort(list.begin(), list.end(), [&](int x, int y) { return step(access, x) > step(access, y); });
  return list;
}

bool MatrixCopies::is_one(const Indices& order, const ir::Affine& access) const {
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (step(access, order[k]) <= 0) return false;
    if (k > 0 && step(access, order[k - 1]) != step(access, order[k]) * extent(order[k])) return false;
  }
  return true;
}

bool MatrixCopies::holds_fastest(const Indices& indices, const Indices& others, const ir::Affine& access) const {
  const auto least = [&](const Indices& of) {
    std::int64_t fastest = std::numeric_limits<std::int64_t>::max();
    for (const int q : of) fastest = std::min(fastest, std::abs(step(access, q)));
    return fastest;
  };
  return least(indices) < least(others);
}

Directive MatrixCopies::copy(int buffer, const std::vector<const Indices*>& groups) const {
  Directive directive;
  directive.kind = Directive::Kind::copy;
  directive.subject = program_.buffers[static_cast<std::size_t>(buffer)].name;
  directive.loops.push_back({"", {}});
  for (const auto* group : groups) {
    for (const int q : *group)
      directive.loops.front().second.push_back(program_.indices[static_cast<std::size_t>(q)].name);
  }
  return directive;
}

MatrixCopies::Copies MatrixCopies::copies(int which, bool transposed) const {
  const auto& of_result = result_.offset;
  const auto rows = sorted(Role::rows, (which & (kFirst | kResult)) == kResult ? first_.offset : of_result);
  const auto columns = sorted(Role::columns, (which & (kSecond | kResult)) == kResult ? second_.offset : of_result);
  const auto depth = sorted(Role::depth, (which & (kFirst | kSecond)) == kFirst ? second_.offset : first_.offset);
  const auto batch = sorted(Role::batch, of_result);
  Copies made;
  const auto add = [&](int one, int buffer, const ir::Affine& access, const Indices& x, const Indices& y) {
    if ((which & one) == 0) {
      const bool of_batch = holds_fastest(batch, x, access) && holds_fastest(batch, y, access);
      made.matrices = made.matrices && is_one(x, access) && is_one(y, access) && !of_batch;
      return;
    }
    const bool x_last = holds_fastest(x, y, access) != (transposed && one == kResult);
    made.directives.push_back(copy(buffer, {&batch, x_last ? &y : &x, x_last ? &x : &y}));
    made.name += (made.name.empty() ? " copied " : " ") + made.directives.back().subject;
  };
  add(kFirst, first_.source, first_.offset, rows, depth);
  add(kSecond, second_.source, second_.offset, depth, columns);
  add(kResult, result_.buffer, of_result, rows, columns);
  return made;
}

std::vector<Directive> MatrixCopies::orders(int which) const {
  const auto& of_result = result_.offset;
  const auto batch = sorted(Role::batch, of_result);
  const auto& access = which == kFirst ? first_.offset : which == kSecond ? second_.offset : of_result;
  const int buffer = which == kFirst ? first_.source : which == kSecond ? second_.source : result_.buffer;
  const auto x = which == kSecond ? sorted(Role::columns, of_result)
                                  : sorted(Role::rows, which == kResult ? first_.offset : of_result);
  const auto y = which == kResult ? sorted(Role::columns, second_.offset)
                                  : sorted(Role::depth, which == kFirst ? second_.offset : first_.offset);
  std::vector<Directive> list;
  const auto add = [&](const std::vector<const Indices*>& groups) {
    Indices all;
    for (const auto* group : groups) all.insert(all.end(), group->begin(), group->end());
    if (!is_one(all, access)) list.push_back(copy(buffer, groups));
  };
  add({&batch, &y, &x});
  if (!x.empty() && !y.empty()) add({&batch, &x, &y});
  if (which == kResult || y.empty()) return list;
  // Panels: what a tile reads lies together, as runs of the indices of the result.
  constexpr std::int64_t kRun = 64;
  std::int64_t run = 1;
  auto first = x.end();
  while (first != x.begin() && run < kRun) run *= extent(*--first);
  if (first == x.begin()) return list;
  const Indices slow(x.begin(), first), fast(first, x.end());
  add({&batch, &slow, &y, &fast});
  return list;
}

}  // namespace ricci::plan
