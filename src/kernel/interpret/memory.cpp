#include "kernel/interpret/memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernel/print.hpp"

namespace ricci::kernel {

Memory::Memory(const Kernel& kernel, int threads, const std::vector<void*>* buffers)
    : kernel_(kernel),
      threads_(threads),
      buffers_(buffers),
      cells_(kernel.arrays.size()),
      flights_(static_cast<std::size_t>(threads)),
      multiplies_(has_group_products(kernel.body)),
      products_(static_cast<std::size_t>(threads)),
      warp_intervals_(static_cast<std::size_t>(warp_of(threads) + 1)) {}

void Memory::begin_task(std::int64_t task) {
  task_ = task;
  ++interval_;
  for (std::size_t k = 0; k < cells_.size(); ++k) {
    const auto& array = kernel_.arrays[k];
    if (array.space == Space::global) continue;
    const auto copies = array.space == Space::registers ? threads_ : 1;
    Item nothing;
    nothing.unwritten = static_cast<int>(k);
    cells_[k].items.assign(static_cast<std::size_t>(array.elements() * copies), nothing);
    if (array.space == Space::shared) cells_[k].met.assign(static_cast<std::size_t>(array.elements()), {});
  }
  for (auto& flights : flights_) flights = {};
  for (auto& products : products_) products = {};
}

void Memory::fail(int array, std::int64_t element, const std::string& rule) const {
  broken(kernel_, origin_, fmt::format("{}[{}] {}", this->array(array).name, element, rule));
}

void Memory::check_bounds(int number, std::int64_t element) const {
  const auto& array = this->array(number);
  const auto last = array.space == Space::global ? array.shape.front() - 1 : array.elements() - 1;
  const auto first = array.space == Space::global ? array.first : 0;
  if (element >= first && element <= last) return;
  fail(number, element, fmt::format("is accessed, outside of its elements {} to {}", first, last));
}

std::size_t Memory::cell(int array, std::int64_t element, int thread) const {
  const auto base = this->array(array).space == Space::registers ? thread * this->array(array).elements() : 0;
  return static_cast<std::size_t>(base + element);
}

char* Memory::address(int array, std::int64_t element) const {
  return static_cast<char*>((*buffers_)[static_cast<std::size_t>(array)]) + element * size_of(this->array(array).type);
}

Memory::Met* Memory::met(int number, std::int64_t element) {
  const auto& array = this->array(number);
  auto& cells = cells_[static_cast<std::size_t>(number)];
  if (array.space == Space::shared) return &cells.met[static_cast<std::size_t>(element)];
  if (array.space == Space::global && array.written) return &cells.met_global[element];
  return nullptr;
}

void Memory::meet(Met& met, int array, std::int64_t element, int thread, bool writes) {
  const auto now = warp_interval(thread);
  met.several = met.several || (met.task >= 0 && met.task != task_);
  if (met.several && (met.written || writes)) {
    fail(array, element, fmt::format("is accessed by task {} and others, and written by one of them", task_));
  }
  if (met.written_in == interval_ && met.writer != thread &&
      (warp_of(met.writer) != warp_of(thread) || met.written_in_warp == now)) {
    fail(array, element,
         fmt::format("is {} by thread {} and written by thread {} with no barrier between", writes ? "written" : "read",
                     thread, met.writer));
  }
  const bool read = met.read_in == interval_;
  const bool alike = met.reading_warp == warp_of(thread);
  if (writes && read && met.reader != thread && (!alike || met.read_in_warp == now)) {
    fail(array, element,
         fmt::format("is written by thread {} and read by {} with no barrier between", thread,
                     met.reader < 0 ? "others" : fmt::format("thread {}", met.reader)));
  }
  if (met.under_way)
    fail(array, element, "is accessed while an asynchronous copy to it is under way: a wait is missing");
  met.task = task_;
  if (writes && met.products > 0)
    fail(array, element, "is written while a product of a warp group reads it: a wait is missing");
  if (writes) {
    met.written = true;
    met.fenced = false;
    met.written_in = interval_;
    met.written_in_warp = now;
    met.writer = thread;
  } else {
    const bool first = !read || (alike && met.read_in_warp != now);
    met.reader = first || met.reader == thread ? thread : -2;
    met.reading_warp = !read || alike ? warp_of(thread) : -2;
    met.read_in = interval_;
    met.read_in_warp = now;
  }
}

Item Memory::read(int array, std::int64_t element, int thread) {
  check_bounds(array, element);
  if (auto* both = met(array, element)) meet(*both, array, element, thread, false);
  check_products(array, element, thread);
  if (this->array(array).space != Space::global)
    return cells_[static_cast<std::size_t>(array)].items[cell(array, element, thread)];
  Item item;
  if (buffers_) item.value = ir::oracle::load(address(array, element), this->array(array).type);
  return item;
}

void Memory::write(int array, std::int64_t element, int thread, const Item& item) {
  check_bounds(array, element);
  if (auto* both = met(array, element)) meet(*both, array, element, thread, true);
  check_products(array, element, thread);
  write_before_products(array, element, thread);
  if (this->array(array).space != Space::global) {
    cells_[static_cast<std::size_t>(array)].items[cell(array, element, thread)] = item;
    return;
  }
  if (!this->array(array).written) fail(array, element, "is written, and the array is read only");
  if (item.unwritten >= 0) {
    fail(array, element,
         fmt::format("takes a value that comes from an element of {} that nothing has written",
                     this->array(item.unwritten).name));
  }
  if (buffers_) ir::oracle::store(address(array, element), this->array(array).type, item.value);
}

void Memory::start(int array, std::int64_t element, int thread, const Item& item) {
  check_bounds(array, element);
  auto& both = *met(array, element);
  meet(both, array, element, thread, true);
  both.under_way = true;
  auto& own = flights_[static_cast<std::size_t>(thread)];
  own.flights.push_back({array, element, item, own.group});
}

void Memory::commit(int thread) { ++flights_[static_cast<std::size_t>(thread)].group; }

void Memory::wait(int thread, int groups) {
  auto& own = flights_[static_cast<std::size_t>(thread)];
  std::erase_if(own.flights, [&](const Flight& flight) {
    if (flight.group >= own.group - groups) return false;
    cells_[static_cast<std::size_t>(flight.array)].items[cell(flight.array, flight.element, thread)] = flight.item;
    // It lands now: other threads read it after a barrier that follows.
    auto& both = *met(flight.array, flight.element);
    both.written_in = interval_;
    both.written_in_warp = warp_interval(thread);
    both.writer = thread;
    both.under_way = false;
    write_before_products(flight.array, flight.element, thread);
    return true;
  });
}

void Memory::check_results() const {
  for (std::size_t k = 0; k < cells_.size(); ++k) {
    const auto& array = kernel_.arrays[k];
    if (array.space != Space::global || array.results == 0) continue;
    const auto written = std::count_if(cells_[k].met_global.begin(), cells_[k].met_global.end(),
                                       [](const auto& element) { return element.second.written; });
    if (written != array.results) {
      broken(kernel_, -1, fmt::format("{} of the {} results in {} are written", written, array.results, array.name));
    }
  }
}

}  // namespace ricci::kernel
