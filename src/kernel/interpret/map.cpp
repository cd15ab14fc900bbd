// Copies by tensor maps: boxes that come by the phases of counters.
#include <fmt/format.h>

#include <algorithm>

#include "kernel/interpret/machine.hpp"

namespace ricci::kernel {

Memory::Counter& Memory::counter_of(int array, std::int64_t counter, int thread) {
  check_bounds(array, counter);
  const auto found = counters_.find({array, cell(array, counter, thread)});
  if (found == counters_.end()) fail(array, counter, "counts before it is made ready");
  auto& known = found->second;
  if (known.thread != thread && known.since == interval(thread))
    fail(array, counter, "is used with no barrier after another thread made it ready");
  return known;
}

void Memory::make_ready(int array, int thread) {
  for (std::int64_t k = 0; k < this->array(array).elements(); ++k) {
    auto& counter = counters_[{array, cell(array, k, thread)}];
    if (counter.thread >= 0) fail(array, k, "is made ready twice");
    counter.thread = thread;
    counter.since = interval(thread);
  }
}

void Memory::expect(int array, std::int64_t counter, int thread, std::int64_t bytes) {
  auto& known = counter_of(array, counter, thread);
  if (known.expected != 0) fail(array, counter, "expects more before a phase is over");
  known.expected = bytes;
}

void Memory::bring(int array, std::int64_t element, const Item& item, int counters, std::int64_t counter, int thread) {
  check_bounds(array, element);
  auto& known = counter_of(counters, counter, thread);
  auto& both = *met(array, element, block_of(thread));
  meet(both, array, element, thread, true);
  both.under_way = true;
  known.flights.push_back({array, element, item, 0});
  known.come += size_of(this->array(array).type);
  if (known.come > known.expected)
    fail(counters, counter, fmt::format("counts more than the {} bytes that it expects", known.expected));
}

void Memory::await(int array, std::int64_t counter, int thread, std::int64_t parity) {
  auto& known = counter_of(array, counter, thread);
  if (known.phases % 2 != parity) return;
  if (known.expected == 0 || known.come < known.expected)
    fail(array, counter,
         fmt::format("is awaited for ever: {} bytes have come of {} in its phase {}", known.come, known.expected,
                     known.phases));
  for (const auto& flight : known.flights) {
    cells_[static_cast<std::size_t>(flight.array)].items[cell(flight.array, flight.element, thread)] = flight.item;
    // Who waits sees it, and so do products.
    auto& both = *met(flight.array, flight.element, block_of(thread));
    both.written_in = both.written_in_warp = both.written_in_cluster = -1;
    both.writer = -1;
    both.under_way = false;
    both.fenced = true;
    both.fenced_in = -1;
  }
  known.flights.clear();
  known.expected = known.come = 0;
  ++known.phases;
}

void Memory::end_task() const {
  for (const auto& [place, counter] : counters_) {
    if (counter.come > 0)
      broken(kernel_, origin_, fmt::format("{} bytes are copied by tensor maps, and nobody awaits them", counter.come));
  }
}

void Machine::one(const Counters& counters, const Threads& threads) {
  for (const auto t : threads) memory_.make_ready(counters.array, t);
}

void Machine::one(const Expect& expect, const Threads& threads) {
  for (const auto t : threads) memory_.expect(expect.counter.array, element(expect.counter, t), t, expect.bytes);
}

void Machine::one(const BoxCopy& copy, const Threads& threads) {
  const auto& map = kernel_.maps[static_cast<std::size_t>(copy.map)];
  const auto& to = kernel_.array(copy.to.array);
  const auto size = size_of(map.type), row = map.dimensions.front().box;
  for (const auto t : threads) {
    const auto start = at(copy.to.index.front(), t), counter = element(copy.counter, t);
    for (std::int64_t first = 0; first < map.box_elements(); first += row) {
      auto rest = first / row, place = map.first;
      bool inside = true;
      for (std::size_t k = 1; k < map.dimensions.size(); ++k) {
        const auto& dimension = map.dimensions[k];
        const auto value = at(copy.at[k], t) + rest % dimension.box;
        rest /= dimension.box;
        inside = inside && value >= 0 && value < dimension.extent;
        place += value * dimension.stride;
      }
      const auto begin = at(copy.at.front(), t);
      std::int64_t exist = 0;
      for (std::int64_t e = 0; e < row; ++e) {
        const bool exists = inside && begin + e >= 0 && begin + e < map.dimensions.front().extent;
        exist += exists ? 1 : 0;
        const auto item = exists ? memory_.read(map.array, place + begin + e, t) : Item{};
        memory_.bring(copy.to.array, to.swizzle(start + first + e), item, copy.counter.array, counter, t);
      }
      if (exist > 0) count(map.array, {{t, place + std::max<std::int64_t>(begin, 0)}}, exist * size, 1, false);
    }
    const auto wavefronts = map.box_bytes() / (kBanks * kWord);
    count(copy.to.array, {map.box_elements() / row, 0, map.box_bytes(), wavefronts, wavefronts}, true);
  }
}

void Machine::one(const Await& await, const Threads& threads) {
  all_take_part(threads, "a wait for boxes");
  for (const auto t : threads) memory_.await(await.counter.array, element(await.counter, t), t, at(await.parity, t));
}

}  // namespace ricci::kernel
