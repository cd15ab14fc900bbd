#include "shadow.hpp"

#include <bit>

namespace ricci::simt {
namespace {

// Whether an access of the running block at `stamp` by `other` is not ordered before one of `thread` now.
bool unordered(std::uint32_t stamp, unsigned other, unsigned thread, const Clock& clock) {
  if (stamp < clock.met(thread, other) || other == thread) return false;
  return other / kWarp != thread / kWarp || stamp >= clock.warp[thread / kWarp];
}

}  // namespace

bool Shadow::after_write(const Cell& cell, unsigned thread, const Clock& clock) {
  if (!cell.arrived) return !unordered(cell.write_stamp, cell.write_thread, thread, clock);
  return clock.awaited[thread] >= cell.write_stamp || cell.write_stamp < clock.barrier_of(thread);
}

void Shadow::reset(std::size_t bytes, unsigned offset_bits, bool shared) {
  bytes_ = bytes;
  offset_bits_ = offset_bits;
  shared_ = shared;
  granule_ = 16;
  shift_ = 4;
  cells_.clear();
}

// One cell per 16 bytes until a smaller access comes: most kernels have one element size, and cells are not small.
void Shadow::refine(unsigned bytes) {
  const unsigned factor = bytes < granule_ ? granule_ / bytes : 1;
  granule_ /= factor;
  shift_ = static_cast<unsigned>(std::countr_zero(granule_));
  std::vector<Cell> finer((bytes_ + offset_bits_ + granule_ - 1) >> shift_);
  if (!cells_.empty())
    for (std::size_t i = 0; i < finer.size(); ++i) finer[i] = cells_[i / factor];
  cells_ = std::move(finer);
}

Conflict Shadow::note_read(Cell& cell, unsigned thread, std::uint32_t site, const Clock& clock,
                           bool check_uninitialised) const {
  if (in_flight(cell, clock)) return {Clash::in_flight, true, cell.copier - 1u, cell.write_site, cell.write_stamp};
  Conflict conflict;
  if (cell.write_stamp >= clock.block && cell.write_stamp != 0) {
    if (!after_write(cell, thread, clock))
      conflict = {Clash::race, true, cell.write_thread, cell.write_site, cell.write_stamp};
  } else if (shared_) {
    if (check_uninitialised) conflict.clash = Clash::uninitialised;
  } else if (cell.write_stamp != 0) {
    conflict = {Clash::block, true, cell.write_thread, cell.write_site, cell.write_stamp};
  }

  unsigned flags = cell.reader & kManyBlocks;
  const unsigned reader = cell.reader & kThreadMask;
  // What a block of the cluster has read, its own barriers do not make older for another one.
  if (cell.read_stamp >= clock.cluster && cell.read_stamp != 0)
    flags |= clock.block_of(reader) != clock.block_of(thread) ? kCluster : cell.reader & kCluster;
  if (cell.read_stamp >= clock.met(thread, reader) && cell.read_stamp != 0) {
    flags |= cell.reader & kManyWarps;
    if (reader / kWarp != thread / kWarp)
      flags |= kManyWarps;
    else if (cell.read_stamp >= clock.warp[thread / kWarp])
      flags |= (cell.reader & kManyLanes) | (reader != thread ? kManyLanes : 0u);
  } else if (cell.read_stamp != 0 && cell.read_stamp < clock.block) {
    flags |= kManyBlocks;
  }
  cell.reader = thread | flags;
  cell.read_stamp = clock.now;
  cell.read_site = site;
  return conflict;
}

Conflict Shadow::note_write(Cell& cell, unsigned thread, std::uint32_t site, const Clock& clock, bool adds) const {
  if (in_flight(cell, clock)) return {Clash::in_flight, true, cell.copier - 1u, cell.write_site, cell.write_stamp};
  Conflict conflict;
  const unsigned reader = cell.reader & kThreadMask;
  const bool was_written = cell.write_stamp != 0 && !(adds && cell.added);
  if (was_written && !after_write(cell, thread, clock)) {
    conflict = {Clash::race, true, cell.write_thread, cell.write_site, cell.write_stamp};
  } else if (cell.read_stamp != 0 && (cell.reader & kCluster) && cell.read_stamp >= clock.cluster) {
    conflict = {Clash::race, false, reader, cell.read_site, cell.read_stamp};
  } else if (cell.read_stamp != 0 && cell.read_stamp >= clock.met(thread, reader) &&
             ((cell.reader & kManyWarps) || unordered(cell.read_stamp, reader, thread, clock) ||
              ((cell.reader & kManyLanes) && cell.read_stamp >= clock.warp[thread / kWarp]))) {
    conflict = {Clash::race, false, reader, cell.read_site, cell.read_stamp};
  } else if (!shared_ && was_written && cell.write_stamp < clock.block) {
    conflict = {Clash::block, true, cell.write_thread, cell.write_site, cell.write_stamp};
  } else if (!shared_ && cell.read_stamp != 0 && (cell.read_stamp < clock.block || (cell.reader & kManyBlocks))) {
    conflict = {Clash::block, false, reader, cell.read_site, cell.read_stamp < clock.block ? cell.read_stamp : 0};
  }
  // A plain write that is not synchronised with the adding warp stays the last one, for the next warp that adds.
  if (adds && !cell.added && cell.write_stamp >= clock.barrier_of(thread) &&
      cell.write_stamp >= clock.warp[thread / kWarp])
    return conflict;
  cell.added = adds;
  cell.arrived = false;
  cell.write_stamp = clock.now;
  cell.write_thread = static_cast<std::uint16_t>(thread);
  cell.write_site = site;
  cell.copier = 0;
  return conflict;
}

Conflict Shadow::add(std::size_t offset, unsigned bytes, unsigned thread, std::uint32_t site, const Clock& clock) {
  Conflict first;
  for_cells(offset, bytes, [&](Cell& cell) {
    const Conflict found = note_write(cell, thread, site, clock, true);
    if (first.clash == Clash::none) first = found;
  });
  return first;
}

Conflict Shadow::issue(std::size_t offset, unsigned bytes, unsigned thread, std::uint32_t site, const Clock& clock) {
  Conflict first;
  for_cells(offset, bytes, [&](Cell& cell) {
    const Conflict found = note_write(cell, thread, site, clock);
    if (found.clash != Clash::in_flight) cell.copier = static_cast<std::uint16_t>(thread + 1);
    if (first.clash == Clash::none) first = found;
  });
  return first;
}

Conflict Shadow::leave(std::size_t offset, unsigned bytes, std::uint32_t issued) {
  Conflict first;
  for_cells(offset, bytes, [&](Cell& cell) {
    if (cell.write_stamp > issued && first.clash == Clash::none)
      first = {Clash::in_flight, true, cell.write_thread, cell.write_site, cell.write_stamp};
  });
  return first;
}

void Shadow::land(std::size_t offset, unsigned bytes, unsigned thread, const Clock& clock) {
  for_cells(offset, bytes, [&](Cell& cell) {
    if (cell.copier != thread + 1) return;
    cell.copier = 0;
    cell.write_stamp = clock.now;
  });
}

void Shadow::arrive(std::size_t offset, unsigned bytes, const Clock& clock) {
  for_cells(offset, bytes, [&](Cell& cell) {
    cell.copier = 0;
    cell.write_stamp = clock.now;
    cell.arrived = true;
  });
}

}  // namespace ricci::simt
