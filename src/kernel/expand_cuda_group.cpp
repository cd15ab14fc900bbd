// Products of a block's tile by warp groups: their instructions read the second operand out of shared memory, and the
// first one too or, where registers hold it, what its threads have read.
#include <algorithm>

#include "kernel/expand_cuda.hpp"
#include "kernel/warp_group.hpp"

namespace ricci::kernel::cuda {
namespace {

/// Products that wait their turn while the next fragment is read: few registers, and what hides reading it.
constexpr std::int64_t kMostFragments = 4;

void move(SharedMatrix& matrix, const Affine& by) {
  auto& start = matrix.start.index.front();
  start = start + by;
}

}  // namespace

GroupProducts::GroupProducts(Threads& threads, const Mma& mma, const WarpTile& tile) : threads_(threads), tile_(tile) {
  const auto steps = tile.depth.padded / tile.atom->k;
  if (tile.atom->holds_a)
    registers_ = fragment_registers(threads, mma, tile, static_cast<int>(std::min(steps, kMostFragments)));
}

Body GroupProducts::declared() const {
  Body body;
  for (const auto registers : registers_) body.push_back({Declare{registers}});
  return body;
}

Body GroupProducts::round(const Mma& mma, bool overlap) {
  if (tile_.atom->holds_a) return from_registers(mma, overlap);
  const auto& atom = *tile_.atom;
  const std::int64_t rows = std::int64_t{atom.warps} * atom.m;
  const auto a = matrices_of(threads_.kernel, mma.a, mma.rows, mma.depth, rows, atom.k);
  const auto b = matrices_of(threads_.kernel, mma.b, mma.columns, mma.depth, tile_.columns.padded, atom.k);
  const auto group = threads_.digit("warp_group", rows / atom.m * kWarp, tile_.rows.padded / rows);
  Body body{{Fence{mma.accumulator}}};
  for (std::size_t k = 0; k < a.steps.size(); ++k) {
    auto of_a = a.first, of_b = b.first;
    move(of_a, a.of_rows * group + Affine(a.steps[k]));
    move(of_b, Affine(b.steps[k]));
    body.push_back({GroupMma{mma.atom, {mma.accumulator, {Affine(0)}}, std::move(of_a), std::move(of_b)}});
  }
  body.push_back({Commit{true}});
  return body;
}

Body GroupProducts::from_registers(const Mma& mma, bool overlap) {
  const auto b = matrices_of(threads_.kernel, mma.b, mma.columns, mma.depth, tile_.columns.padded, tile_.atom->k);
  const auto steps = b.steps.size(), places = registers_.size();
  Body body{{Fence{mma.accumulator}}};
  for (std::size_t k = 0; k < steps; ++k) {
    const auto registers = registers_[k % places];
    // Groups since the one that read these registers last, of this round or of the one before.
    const auto since = k < places ? steps - 1 - (steps - 1 - k) / places * places : places - 1;
    if (k >= places || overlap) body.push_back({Wait{static_cast<int>(since), mma.accumulator}});
    for (auto& statement : first_fragment(threads_, mma, tile_, static_cast<int>(k), registers))
      body.push_back(std::move(statement));
    body.push_back({Fence{registers}});
    auto of_b = b.first;
    move(of_b, Affine(b.steps[k]));
    body.push_back({GroupMma{mma.atom,
                             {mma.accumulator, {Affine(0)}},
                             Access{registers, {Affine(0), Affine(0)}, tile_.atom->a.per_register()},
                             std::move(of_b)}});
    body.push_back({Commit{true}});
  }
  return body;
}

}  // namespace ricci::kernel::cuda
