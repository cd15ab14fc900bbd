// What lanes of a warp do together, and the asynchronous copies of each.
#include <algorithm>
#include <cstring>

#include "machine.hpp"
#include "matrix.hpp"

namespace ricci::simt {

// True when lanes were waiting for their warp and may go on.
bool Machine::synchronise(unsigned warp, unsigned first, unsigned end) {
  unsigned waiting = end;
  for (unsigned t = first; t < end; ++t)
    if (lanes_[t].status == Status::at_warp_sync || lanes_[t].status == Status::at_call) waiting = t;
  if (waiting == end) return false;
  const Lane& leader = lanes_[waiting];
  const bool calls = leader.status == Status::at_call;
  for (unsigned t = first; t < end; ++t) {
    const Lane& lane = lanes_[t];
    // Lanes that have returned are not waited for.
    if (lane.status == Status::finished ||
        (lane.status == leader.status && lane.line == leader.line && (!calls || lane.call.with(leader.call))))
      continue;
    Fault fault = here(calls ? FaultKind::absent_lane : FaultKind::divergent_barrier, waiting, leader.line);
    fault.other_thread = t % launch_.block;
    fault.other_line = lane.line;
    fault.detail = lane.status == Status::at_barrier               ? "is at __syncthreads"
                   : lane.status == Status::at_cluster             ? "is at a barrier of the cluster"
                   : lane.status == Status::at_warp_sync           ? "is at __syncwarp"
                   : lane.call.kind == WarpCall::Kind::shuffle     ? "is at a shuffle"
                   : lane.call.kind == WarpCall::Kind::load_matrix ? "is at a matrix load"
                                                                   : "is at a matrix product";
    stop(std::move(fault));
    return false;
  }
  if (!calls) {
    ++clock_.now;
    clock_.warp[warp] = clock_.now;
  } else if (leader.call.kind == WarpCall::Kind::shuffle) {
    shuffle(first, end);
  } else {
    call_whole_warp(first, end);
  }
  for (unsigned t = first; t < end; ++t)
    if (lanes_[t].status != Status::finished) lanes_[t].status = Status::ready;
  return true;
}

void Machine::shuffle(unsigned first, unsigned end) {
  std::byte values[kWarp][16];
  for (unsigned t = first; t < end; ++t)
    if (lanes_[t].status != Status::finished) std::memcpy(values[t - first], lanes_[t].call.out, lanes_[t].call.count);
  for (unsigned t = first; t < end; ++t) {
    const Lane& lane = lanes_[t];
    if (lane.status == Status::finished) continue;
    const unsigned source = first + lane.call.source % kWarp;
    const bool exists = source < end;
    if (exists && lanes_[source].status != Status::finished && lanes_[source].call.count == lane.call.count) {
      std::memcpy(lane.call.out, values[source - first], lane.call.count);
      continue;
    }
    Fault fault = here(FaultKind::absent_lane, t, lane.line);
    fault.other_thread = source - t / launch_.block * launch_.block;
    fault.detail = !exists                                     ? "does not exist"
                   : lanes_[source].status == Status::finished ? "has returned"
                                                               : "passes a value of another size";
    return stop(std::move(fault));
  }
}

// Matrix loads and products: of all 32 lanes, or not at all.
void Machine::call_whole_warp(unsigned first, unsigned end) {
  unsigned caller = first;
  while (lanes_[caller].status == Status::finished) ++caller;
  const Lane& leader = lanes_[caller];
  for (unsigned t = first; t < first + kWarp; ++t) {
    if (t < end && lanes_[t].status != Status::finished) continue;
    Fault fault = here(FaultKind::absent_lane, caller, leader.line);
    fault.other_thread = t - caller / launch_.block * launch_.block;
    fault.detail = t < end ? "has returned" : "does not exist";
    return stop(std::move(fault));
  }
  const WarpCall& call = leader.call;
  std::array<const void*, kWarp> a, b;
  std::array<void*, kWarp> out;
  std::array<std::uint32_t*, kWarp> registers;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const WarpCall& own = lanes_[first + lane].call;
    a[lane] = own.a;
    b[lane] = own.b;
    out[lane] = own.out;
    registers[lane] = static_cast<std::uint32_t*>(own.out);
  }
  if (call.kind == WarpCall::Kind::multiply) {
    multiply(*call.atom, out, a, b);
    flops_ += 2ull * static_cast<unsigned>(call.atom->m * call.atom->n * call.atom->k);
  } else {
    load_matrices(a, call.count, call.transposed, registers);
  }
}

void Machine::on_shuffle(void* value, unsigned bytes, unsigned source, unsigned line) {
  Machine& m = running();
  m.lane_->call = {};
  m.lane_->call.kind = WarpCall::Kind::shuffle;
  m.lane_->call.out = value;
  m.lane_->call.count = bytes;
  m.lane_->call.source = source;
  m.suspend(Status::at_call, line);
}

void Machine::on_multiply(const char* atom, void* c, const void* a, const void* b, unsigned line) {
  Machine& m = running();
  m.lane_->call = {};
  m.lane_->call.kind = WarpCall::Kind::multiply;
  m.lane_->call.out = c;
  m.lane_->call.a = a;
  m.lane_->call.b = b;
  m.lane_->call.atom = kernel::find_atom(atom);
  m.suspend(Status::at_call, line);
}

void Machine::on_atomic_add(void* p, const void* x, unsigned number, unsigned site) {
  Machine& m = running();
  const auto add = [&]<class T>(T value) {
    const int region = m.admit(reinterpret_cast<std::uint64_t>(p), sizeof(T), true, site);
    T there;
    std::memcpy(&there, p, sizeof(T));
    std::memcpy(&value, x, sizeof(T));
    there += value;
    std::memcpy(p, &there, sizeof(T));
    if (region < 0) return;
    m.lane_->log.push_back(
        {reinterpret_cast<std::uint64_t>(p), site, static_cast<std::uint16_t>(region), sizeof(T), Touch::add});
  };
  switch (number) {
    case 0:
      return add(0.0f);
    case 1:
      return add(0.0);
    case 2:
      return add(0u);
    default:
      return add(std::uint64_t{0});
  }
}

void Machine::on_load_matrix(unsigned* registers, const void* row, unsigned count, bool transposed, unsigned site) {
  constexpr unsigned kRowBytes = 16;
  Machine& m = running();
  // The other lanes' addresses are not looked at.
  if (m.thread_ % kWarp < 8 * count) {
    const int region = m.admit(row, kRowBytes, false, site, Space::shared);
    m.lane_->log.push_back(
        {reinterpret_cast<std::uint64_t>(row), site, static_cast<std::uint16_t>(region), kRowBytes, Touch::read});
  }
  m.lane_->call = {};
  m.lane_->call.kind = WarpCall::Kind::load_matrix;
  m.lane_->call.out = registers;
  m.lane_->call.a = row;
  m.lane_->call.count = count;
  m.lane_->call.transposed = transposed;
  m.suspend(Status::at_call, m.image_.line(site));
}

// The region of an access that takes addresses of one space only.
int Machine::admit(const void* pointer, unsigned bytes, bool write, std::uint32_t site, Space space) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const int region = admit(address, bytes, write, site);
  if (region < 0 || regions_[region].space != space)
    refuse_access(FaultKind::out_of_bounds, region, address, bytes, write, site,
                  space == Space::shared ? "that is not shared memory" : "that is not global memory");
  return region;
}

void Machine::on_copy_async_from(const void* global, unsigned bytes, unsigned site) {
  Machine& m = running();
  const int region = m.admit(global, bytes, false, site, Space::global);
  m.lane_->log.push_back({reinterpret_cast<std::uint64_t>(global), site, static_cast<std::uint16_t>(region),
                          static_cast<std::uint8_t>(bytes), Touch::read});
}

void Machine::on_copy_async_to(void* shared, const void* global, unsigned bytes, unsigned site) {
  Machine& m = running();
  Lane& lane = *m.lane_;
  const auto to = reinterpret_cast<std::uint64_t>(shared);
  const auto region = static_cast<std::uint16_t>(m.admit(shared, bytes, true, site, Space::shared));
  lane.log.push_back({to, site, region, static_cast<std::uint8_t>(bytes), Touch::issue});
  lane.copies.push_back({to, reinterpret_cast<std::uint64_t>(global), site, lane.groups, m.clock_.now, region,
                         static_cast<std::uint8_t>(bytes)});
}

void Machine::on_commit_async() { ++running().lane_->groups; }

// Copies happen here and no earlier, so that who does not wait for them finds what was there before.
void Machine::on_wait_async(unsigned groups) {
  Machine& m = running();
  Lane& lane = *m.lane_;
  auto copy = lane.copies.begin();
  for (; copy != lane.copies.end() && copy->group + groups < lane.groups; ++copy) {
    if (copy->from != 0)
      std::memcpy(reinterpret_cast<void*>(copy->to), reinterpret_cast<const void*>(copy->from), copy->bytes);
    else
      std::memset(reinterpret_cast<void*>(copy->to), 0, copy->bytes);
    if (const int source = copy->from != 0 ? m.locate(copy->from, copy->bytes) : -1;
        source >= 0 && m.regions_[source].writable)
      lane.log.push_back(
          {copy->from, copy->site, static_cast<std::uint16_t>(source), copy->bytes, Touch::leave, copy->issued});
    lane.log.push_back({copy->to, copy->site, copy->region, copy->bytes, Touch::land});
    m.written_to_shared(copy->to, copy->bytes);
  }
  lane.copies.erase(lane.copies.begin(), copy);
}

// When a thread returns, and before its stack is dropped.
void Machine::report_unfinished_copies() {
  for (const AsyncCopy& copy : lane_->copies) {
    const Region& region = regions_[copy.region];
    Fault fault = here(FaultKind::unfinished_copy, thread_, image_.line(copy.site));
    fault.space = region.space;
    fault.write = true;
    fault.buffer = region.name;
    fault.address = copy.to;
    fault.offset = static_cast<std::int64_t>(copy.to - region.begin);
    fault.bytes = copy.bytes;
    fault.detail =
        copy.group < lane_->groups ? "the thread ends without waiting for it" : "the thread ends without committing it";
    add(std::move(fault), place_of(copy.site, true, FaultKind::unfinished_copy));
  }
}

}  // namespace ricci::simt
