// What products of warp groups ask of memory: fences before them, and a wait before anyone touches what they use.
#include "kernel/interpret/memory.hpp"

namespace ricci::kernel {

void Memory::check_products(int array, std::int64_t element, int thread) const {
  if (!multiplies_ || this->array(array).space != Space::registers) return;
  const auto& own = products_[static_cast<std::size_t>(thread)];
  if (own.sums.contains({array, element}))
    fail(array, element, "is accessed while a product of a warp group adds to it: a wait is missing");
  if (own.held.contains({array, element}))
    fail(array, element, "is accessed while a product of a warp group reads it: a wait is missing");
}

void Memory::write_before_products(int array, std::int64_t element, int thread) {
  if (!multiplies_) return;
  auto& own = products_[static_cast<std::size_t>(thread)];
  const auto space = this->array(array).space;
  if (space == Space::registers) own.written.insert({array, element});
  if (space != Space::shared) return;
  met(array, element, block_of(thread))->fenced = false;
  own.unfenced.emplace_back(array, element);
}

Item Memory::read_for_product(int array, std::int64_t element, int thread) {
  check_bounds(array, element);
  auto& both = *met(array, element, block_of(thread));
  meet(both, array, element, thread, false);
  if (both.written && (!both.fenced || both.fenced_in == interval(thread)))
    fail(array, element, "is read by a product of a warp group with no fence and barrier after it was written");
  auto& own = products_[static_cast<std::size_t>(thread)];
  own.reads.push_back({array, element, own.group});
  ++both.products;
  return cells_[static_cast<std::size_t>(array)].items[cell(array, element, thread)];
}

Item Memory::sum(int array, std::int64_t element, int thread) const {
  check_bounds(array, element);
  const auto& own = products_[static_cast<std::size_t>(thread)];
  if (const auto found = own.sums.find({array, element}); found != own.sums.end()) return found->second.item;
  if (own.written.contains({array, element}))
    fail(array, element, "is written, and a product of a warp group adds to it with no fence between");
  return cells_[static_cast<std::size_t>(array)].items[cell(array, element, thread)];
}

Item Memory::held(int array, std::int64_t element, int thread) {
  check_bounds(array, element);
  auto& own = products_[static_cast<std::size_t>(thread)];
  if (own.written.contains({array, element}))
    fail(array, element, "is written, and a product of a warp group reads it with no fence between");
  own.held[{array, element}] = own.group;
  return cells_[static_cast<std::size_t>(array)].items[cell(array, element, thread)];
}

void Memory::multiply(int array, std::int64_t first, int thread, const std::vector<Item>& sums) {
  auto& own = products_[static_cast<std::size_t>(thread)];
  for (std::size_t k = 0; k < sums.size(); ++k)
    own.sums[{array, first + static_cast<std::int64_t>(k)}] = {sums[k], own.group};
}

void Memory::commit_products(int thread) { ++products_[static_cast<std::size_t>(thread)].group; }

void Memory::wait_for_products(int thread, int groups) {
  auto& own = products_[static_cast<std::size_t>(thread)];
  const auto lands = [&](int group) { return group < own.group - groups; };
  std::erase_if(own.sums, [&](const auto& sum) {
    const auto& [array, element] = sum.first;
    if (!lands(sum.second.group)) return false;
    cells_[static_cast<std::size_t>(array)].items[cell(array, element, thread)] = sum.second.item;
    return true;
  });
  std::erase_if(own.held, [&](const auto& element) { return lands(element.second); });
  std::erase_if(own.reads, [&](const Products::Read& read) {
    if (!lands(read.group)) return false;
    --met(read.array, read.element, block_of(thread))->products;
    return true;
  });
}

void Memory::fence(int thread, int registers) {
  auto& own = products_[static_cast<std::size_t>(thread)];
  if (registers >= 0) {
    std::erase_if(own.written, [&](const auto& element) { return element.first == registers; });
    return;
  }
  for (const auto& [array, element] : own.unfenced) {
    auto& both = *met(array, element, block_of(thread));
    if (both.writer != thread) continue;
    both.fenced = true;
    both.fenced_in = interval(thread);
  }
  own.unfenced.clear();
}

}  // namespace ricci::kernel
