// Boxes of tensor maps: each comes where a phase of its counter ends, and that is where somebody waits for it.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "machine.hpp"
#include "tensor_map.hpp"

namespace ricci::simt {
namespace {

constexpr unsigned kBoxAlignment = 128, kWidestRead = 128;

/// f(offset in the box, address of its first element, first and last byte that exist) for all rows.
void for_rows(const TensorMap& map, const int* at,
              const std::function<void(std::uint64_t, std::uint64_t, std::int64_t, std::int64_t)>& f) {
  const std::int64_t row = std::int64_t{map.boxes[0]} * map.size;
  std::int64_t rows = 1;
  for (unsigned k = 1; k < map.rank; ++k) rows *= map.boxes[k];
  for (std::int64_t r = 0; r < rows; ++r) {
    auto rest = r;
    bool inside = true;
    auto from = map.base + static_cast<std::uint64_t>(std::int64_t{at[0]} * map.size);
    for (unsigned k = 1; k < map.rank; ++k) {
      const auto value = at[k] + rest % map.boxes[k];
      rest /= map.boxes[k];
      inside = inside && value >= 0 && value < std::int64_t{map.extents[k]};
      from += static_cast<std::uint64_t>(value) * map.strides[k];
    }
    const auto first = std::clamp<std::int64_t>(-std::int64_t{at[0]}, 0, map.boxes[0]) * map.size;
    const auto end = std::clamp<std::int64_t>(std::int64_t{map.extents[0]} - at[0], 0, map.boxes[0]) * map.size;
    f(static_cast<std::uint64_t>(r * row), from, first, inside ? std::max(end, first) : first);
  }
}

}  // namespace

Machine::Counter& Machine::counter_at(std::uint64_t address, unsigned line) {
  const auto found = counters_.find({rank_, address});
  if (found == counters_.end()) refuse(FaultKind::misused_counter, line, "a counter that nobody has begun");
  auto& counter = found->second;
  if (counter.thread != thread_ && counter.since >= clock_.barrier_of(thread_))
    refuse(FaultKind::misused_counter, line,
           fmt::format("uses a counter that thread {} began, with no barrier between", counter.thread % launch_.block));
  return counter;
}

void Machine::on_begin_counters(const void* counters, unsigned count, unsigned line) {
  Machine& m = running();
  for (unsigned k = 0; k < count; ++k) {
    const auto address = reinterpret_cast<std::uint64_t>(counters) + 8ull * k;
    const int region = m.locate(address, 8);
    if (region < 0 || m.regions_[region].space != Space::shared)
      m.refuse(FaultKind::out_of_bounds, line, "a counter that is not in shared memory");
    Counter counter;
    counter.thread = m.thread_;
    counter.since = m.clock_.now;
    if (!m.counters_.try_emplace({m.rank_, address}, std::move(counter)).second)
      m.refuse(FaultKind::misused_counter, line, "a counter is begun twice");
  }
}

void Machine::on_expect_bytes(const void* counter, unsigned bytes, unsigned line) {
  Machine& m = running();
  auto& known = m.counter_at(reinterpret_cast<std::uint64_t>(counter), line);
  if (known.expected != 0) m.refuse(FaultKind::misused_counter, line, "bytes are expected twice in one phase");
  known.expected = bytes;
}

void Machine::on_copy_box_from(const void* map, const int* at, unsigned rank, unsigned site) {
  Machine& m = running();
  TensorMap own;
  std::memcpy(&own, map, sizeof(own));
  const auto line = m.image_.line(site);
  if (own.rank != rank)
    m.refuse(FaultKind::out_of_bounds, line, fmt::format("{} coordinates of a map of {}", rank, own.rank));
  bool aligned = own.base % kUnit == 0;
  for (unsigned k = 1; k < rank; ++k) aligned = aligned && own.strides[k] % kUnit == 0;
  if (!aligned) m.refuse(FaultKind::misaligned, line, "a tensor map of what does not lie in units of 16 bytes");
  for_rows(own, at, [&](std::uint64_t, std::uint64_t from, std::int64_t first, std::int64_t end) {
    // The widest reads that addresses allow.
    for (auto byte = first; byte < end;) {
      const auto address = from + static_cast<std::uint64_t>(byte);
      auto bytes = std::bit_floor(std::min<std::uint64_t>(static_cast<std::uint64_t>(end - byte), kWidestRead));
      while (address % bytes != 0) bytes /= 2;
      const int region =
          m.admit(reinterpret_cast<const void*>(address), static_cast<unsigned>(bytes), false, site, Space::global);
      m.lane_->log.push_back(
          {address, site, static_cast<std::uint16_t>(region), static_cast<std::uint8_t>(bytes), Touch::read});
      byte += static_cast<std::int64_t>(bytes);
    }
  });
}

void Machine::on_copy_box_to(void* shared, const void* map, const void* counter, const int* at, unsigned,
                             unsigned site) {
  Machine& m = running();
  TensorMap own;
  std::memcpy(&own, map, sizeof(own));
  const auto line = m.image_.line(site);
  auto& known = m.counter_at(reinterpret_cast<std::uint64_t>(counter), line);
  const auto anchor = m.image_.shared_begin() - kAnchorBytes;
  const auto start = reinterpret_cast<std::uint64_t>(shared) - anchor;
  if (start % kBoxAlignment != 0) m.refuse(FaultKind::misaligned, line, "a box begins at no multiple of 128 bytes");
  for_rows(own, at, [&](std::uint64_t offset, std::uint64_t from, std::int64_t first, std::int64_t end) {
    const std::int64_t row = std::int64_t{own.boxes[0]} * own.size;
    for (std::int64_t byte = 0; byte < row; byte += kUnit) {
      auto place = start + offset + static_cast<std::uint64_t>(byte);
      if (own.row_bytes != 0) place ^= (place >> 7 & (own.row_bytes / kUnit - 1u)) << 4;
      const auto to = anchor + place;
      const auto region =
          static_cast<std::uint16_t>(m.admit(reinterpret_cast<const void*>(to), kUnit, true, site, Space::shared));
      m.lane_->log.push_back({to, site, region, kUnit, Touch::issue});
      const auto part = [&](std::int64_t limit) {
        return static_cast<std::uint8_t>(std::clamp<std::int64_t>(limit - byte, 0, kUnit));
      };
      known.units.push_back(
          {to, from + static_cast<std::uint64_t>(byte), site, m.clock_.now, region, part(first), part(end)});
      known.come += kUnit;
    }
  });
  if (known.come > known.expected)
    m.refuse(FaultKind::misused_counter, line,
             fmt::format("{} bytes come in a phase that expects {}", known.come, known.expected));
}

void Machine::on_await_bytes(const void* counter, unsigned parity, unsigned line) {
  Machine& m = running();
  m.lane_->counter = reinterpret_cast<std::uint64_t>(counter);
  m.lane_->parity = parity;
  m.counter_at(m.lane_->counter, line);
  m.suspend(Status::at_counter, line);
}

bool Machine::is_over(const Lane& lane) {
  auto& counter = counters_.at({rank_, lane.counter});
  if (counter.phases % 2 != lane.parity) return true;
  if (counter.expected == 0 || counter.come != counter.expected) return false;
  end_phase(counter, static_cast<unsigned>(&lane - lanes_.data()));
  return true;
}

// All that the phase has counted comes now and no earlier, so that who does not wait for it finds what was there
// before.
void Machine::end_phase(Counter& counter, unsigned thread) {
  ++clock_.now;
  for (const auto& unit : counter.units) {
    std::memset(reinterpret_cast<void*>(unit.to), 0, kUnit);
    if (unit.end > unit.first) {
      const auto from = unit.from + unit.first;
      const unsigned bytes = unit.end - unit.first;
      std::memcpy(reinterpret_cast<void*>(unit.to + unit.first), reinterpret_cast<const void*>(from), bytes);
      if (const int source = locate(from, bytes); source >= 0 && regions_[source].writable && options_.check_races)
        check_race({from, unit.site, static_cast<std::uint16_t>(source), static_cast<std::uint8_t>(bytes), Touch::leave,
                    unit.issued},
                   thread);
    }
    shadow_of(unit.region, thread).arrive(unit.to - regions_[unit.region].begin, kUnit, clock_);
  }
  counter.units.clear();
  counter.expected = counter.come = 0;
  ++counter.phases;
}

// Lets go whoever waits for a phase that is over: true where somebody does.
bool Machine::pass_counters(unsigned first, unsigned end) {
  bool passed = false;
  for (unsigned t = first; t < end; ++t) {
    Lane& lane = lanes_[t];
    if (lane.status != Status::at_counter || !is_over(lane)) continue;
    lane.status = Status::ready;
    clock_.awaited[t] = clock_.now;
    passed = true;
  }
  return passed;
}

bool Machine::at_counters(unsigned first, unsigned end) const {
  return std::any_of(lanes_.begin() + first, lanes_.begin() + end,
                     [](const Lane& lane) { return lane.status == Status::at_counter; });
}

void Machine::report_stuck(unsigned first, unsigned end) {
  const auto lane = std::find_if(lanes_.begin() + first, lanes_.begin() + end,
                                 [](const Lane& each) { return each.status == Status::at_counter; });
  const auto& counter = counters_.at({rank_, lane->counter});
  Fault fault = here(FaultKind::stuck_wait, static_cast<unsigned>(lane - lanes_.begin()), lane->line);
  fault.detail = fmt::format("phase {} of a counter never ends: {} of {} bytes come", counter.phases, counter.come,
                             counter.expected);
  stop(std::move(fault));
}

// After a cluster.
void Machine::report_unfinished_boxes() {
  for (const auto& [place, counter] : counters_) {
    if (counter.units.empty()) continue;
    Fault fault = here(FaultKind::unfinished_copy, counter.thread, image_.line(counter.units.front().site));
    fault.write = true;
    fault.detail = "the block ends without waiting for a box";
    add(std::move(fault), place_of(counter.units.front().site, true, FaultKind::unfinished_copy));
  }
}

}  // namespace ricci::simt
