// What blocks of a cluster do together: shared memory that the others read, and their barrier.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "machine.hpp"

namespace ricci::simt {

// Of a region that is a block's shared variable for the others, that variable.
int Machine::base_of(int region) const {
  return region < first_saved_ ? region : first_shared_ + (region - first_saved_) % (first_saved_ - first_shared_);
}

Shadow& Machine::shadow_of(int region, unsigned thread) {
  const bool own = cluster_ > 1 && region >= first_shared_ && region < first_saved_;
  const int variables = first_saved_ - first_shared_, rank = static_cast<int>(thread / launch_.block);
  return regions_[own ? first_saved_ + rank * variables + region - first_shared_ : region].shadow;
}

// Shared memory of the image becomes that of a block.
void Machine::show_shared(unsigned rank) {
  if (rank == rank_) return;
  auto* shown = reinterpret_cast<void*>(image_.shared_begin());
  std::memcpy(saved_[rank_].get(), shown, image_.shared_bytes());
  std::memcpy(shown, saved_[rank].get(), image_.shared_bytes());
  rank_ = rank;
}

// After every block has stopped: true when the cluster goes on behind its barrier.
bool Machine::pass_cluster_barrier() {
  const auto at = [](const Lane& lane) { return lane.status == Status::at_cluster; };
  const auto waiting = std::find_if(lanes_.begin(), lanes_.end(), at);
  if (waiting == lanes_.end()) return false;
  const auto missing = std::find_if_not(lanes_.begin(), lanes_.end(),
                                        [&](const Lane& lane) { return at(lane) && lane.line == waiting->line; });
  if (missing != lanes_.end()) {
    Fault fault = here(FaultKind::divergent_barrier, static_cast<unsigned>(waiting - lanes_.begin()), waiting->line);
    const auto other = static_cast<unsigned>(missing - lanes_.begin());
    fault.other_thread = other % launch_.block;
    fault.other_block = block_index(first_block_ + other / launch_.block);
    if (missing->status != Status::finished) fault.other_line = missing->line;
    fault.detail = missing->status == Status::finished ? "has returned" : "is at another barrier of the cluster";
    stop(std::move(fault));
    return false;
  }
  ++clock_.now;
  clock_.cluster = clock_.now;
  std::fill(clock_.barrier.begin(), clock_.barrier.end(), clock_.now);
  for (Lane& lane : lanes_) lane.status = Status::ready;
  return true;
}

void Machine::on_sync_cluster(unsigned line) { running().suspend(Status::at_cluster, line); }

const void* Machine::on_of_block(const void* shared, unsigned block, unsigned line) {
  Machine& m = running();
  const auto offset = reinterpret_cast<std::uint64_t>(shared) - m.image_.shared_begin();
  const bool inside = offset < m.image_.shared_bytes(), exists = block < m.cluster_;
  if (inside && exists) {
    if (block == m.rank_) return shared;
    const auto begin = m.lanes_.begin() + block * m.launch_.block;
    const bool left =
        std::any_of(begin, begin + m.launch_.block, [](const Lane& lane) { return lane.status == Status::finished; });
    if (!left) return m.saved_[block].get() + offset;
  }
  Fault fault = m.here(FaultKind::absent_block, m.thread_, line);
  fault.detail = !inside  ? "that is not shared memory"
                 : exists ? fmt::format("block {} of the cluster has returned", block)
                          : fmt::format("block {} of a cluster of {}", block, m.cluster_);
  m.stop(std::move(fault));
  m.leave_for_good();
  return nullptr;
}

}  // namespace ricci::simt
