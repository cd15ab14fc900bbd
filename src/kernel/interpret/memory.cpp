#include "kernel/interpret/memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernel/print.hpp"

namespace ricci::kernel {

Memory::Memory(const Kernel& kernel, int threads, int blocks, const std::vector<void*>* buffers)
    : kernel_(kernel),
      threads_(threads),
      blocks_(blocks),
      buffers_(buffers),
      cells_(kernel.arrays.size()),
      flights_(static_cast<std::size_t>(threads)),
      multiplies_(has_group_products(kernel.body)),
      products_(static_cast<std::size_t>(threads)),
      intervals_(static_cast<std::size_t>(blocks)),
      warp_intervals_(static_cast<std::size_t>(warp_of(threads) + 1)) {
  for (const auto& array : kernel.arrays) elements_.push_back(array.elements());
}

void Memory::begin_task(std::int64_t task) {
  task_ = task;
  for (auto& interval : intervals_) interval = ++intervals_begun_;
  ++cluster_interval_;
  for (std::size_t k = 0; k < cells_.size(); ++k) {
    const auto& array = kernel_.arrays[k];
    if (array.space == Space::global) continue;
    const auto copies = array.space == Space::registers ? threads_ : blocks_;
    Item nothing;
    nothing.unwritten = static_cast<int>(k);
    cells_[k].items.assign(static_cast<std::size_t>(array.elements() * copies), nothing);
    if (array.space == Space::shared) cells_[k].met.assign(cells_[k].items.size(), {});
  }
  for (auto& flights : flights_) flights = {};
  counters_.clear();
  for (auto& products : products_) products = {};
}

void Memory::fail(int array, std::int64_t element, const std::string& rule) const {
  broken(kernel_, origin_, fmt::format("{}[{}] {}", this->array(array).name, element, rule));
}

void Memory::check_bounds(int number, std::int64_t element) const {
  const auto& array = this->array(number);
  const auto last =
      array.space == Space::global ? array.shape.front() - 1 : elements_[static_cast<std::size_t>(number)] - 1;
  const auto first = array.space == Space::global ? array.first : 0;
  if (element >= first && element <= last) return;
  fail(number, element, fmt::format("is accessed, outside of its elements {} to {}", first, last));
}

std::size_t Memory::cell(int array, std::int64_t element, int thread, int block) const {
  const auto copy = this->array(array).space == Space::registers ? thread : block;
  return static_cast<std::size_t>(copy * elements_[static_cast<std::size_t>(array)] + element);
}

char* Memory::address(int array, std::int64_t element) const {
  return static_cast<char*>((*buffers_)[static_cast<std::size_t>(array)]) + element * size_of(this->array(array).type);
}

Memory::Met* Memory::met(int number, std::int64_t element, int block) {
  const auto& array = this->array(number);
  auto& cells = cells_[static_cast<std::size_t>(number)];
  if (array.space == Space::shared) return &cells.met[cell(number, element, 0, block)];
  if (array.space == Space::global && array.written) return &cells.met_global[element];
  return nullptr;
}

void Memory::meet(Met& met, int array, std::int64_t element, int thread, bool writes) {
  const auto now = warp_interval(thread), interval = this->interval(thread);
  met.several = met.several || (met.task >= 0 && met.task != task_);
  if (met.several && (met.written || writes) && !this->array(array).overlapped) {
    fail(array, element, fmt::format("is accessed by task {} and others, and written by one of them", task_));
  }
  if (met.written_in == interval && met.writer != thread &&
      (warp_of(met.writer) != warp_of(thread) || met.written_in_warp == now)) {
    fail(array, element,
         fmt::format("is {} by thread {} and written by thread {} with no barrier between", writes ? "written" : "read",
                     thread, met.writer));
  }
  // Barriers of their own order nothing between blocks.
  const auto block = block_of(thread);
  if (met.writer >= 0 && block_of(met.writer) != block && met.written_in_cluster == cluster_interval_) {
    fail(array, element,
         fmt::format("is {} by block {} of a cluster and written by block {} with no barrier of the cluster between",
                     writes ? "written" : "read", block, block_of(met.writer)));
  }
  const bool read_in_cluster = met.read_in_cluster == cluster_interval_;
  if (writes && read_in_cluster && met.reading_block != block) {
    fail(array, element,
         fmt::format("is written by block {} of a cluster and read by others with no barrier of the cluster between",
                     block));
  }
  const bool read = met.read_in == interval;
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
  met.added = false;
  if (writes) {
    met.written = true;
    met.fenced = false;
    met.written_in = interval;
    met.written_in_warp = now;
    met.written_in_cluster = cluster_interval_;
    met.writer = thread;
  } else {
    met.reading_block = !read_in_cluster || met.reading_block == block ? block : -2;
    met.read_in_cluster = cluster_interval_;
    const bool first = !read || (alike && met.read_in_warp != now);
    met.reader = first || met.reader == thread ? thread : -2;
    met.reading_warp = !read || alike ? warp_of(thread) : -2;
    met.read_in = interval;
    met.read_in_warp = now;
  }
}

Item Memory::read(int array, std::int64_t element, int thread, int block) {
  check_bounds(array, element);
  if (block < 0) block = block_of(thread);
  if (auto* both = met(array, element, block)) meet(*both, array, element, thread, false);
  check_products(array, element, thread);
  if (this->array(array).space != Space::global)
    return cells_[static_cast<std::size_t>(array)].items[cell(array, element, thread, block)];
  Item item;
  if (buffers_) item.value = ir::oracle::load(address(array, element), this->array(array).type);
  return item;
}

void Memory::write(int array, std::int64_t element, int thread, const Item& item) {
  check_bounds(array, element);
  if (auto* both = met(array, element, block_of(thread))) meet(*both, array, element, thread, true);
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

void Memory::add(int array, std::int64_t element, int thread, const std::function<Item(const Item& before)>& sum) {
  check_bounds(array, element);
  auto& met = *this->met(array, element, block_of(thread));
  const bool fresh = met.task < 0;
  if (fresh || !met.added) meet(met, array, element, thread, true);
  met.added = met.added || fresh;
  // Whoever else touches it is told of the last one that added.
  met.several = met.several || met.task != task_;
  met.task = task_;
  met.writer = thread;
  Item before;
  if (buffers_) before.value = ir::oracle::load(address(array, element), this->array(array).type);
  const auto after = sum(before);
  if (after.unwritten >= 0)
    fail(array, element,
         fmt::format("is added to by a value of {} that nothing has written", this->array(after.unwritten).name));
  if (buffers_) ir::oracle::store(address(array, element), this->array(array).type, after.value);
}

void Memory::start(int array, std::int64_t element, int thread, const Item& item) {
  check_bounds(array, element);
  auto& both = *met(array, element, block_of(thread));
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
    auto& both = *met(flight.array, flight.element, block_of(thread));
    both.written_in = interval(thread);
    both.written_in_cluster = cluster_interval_;
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
