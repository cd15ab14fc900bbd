#include "cache/memory.hpp"

#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ricci::cache {
namespace {

std::uint64_t cost_bytes(const Entry& entry) noexcept {
  constexpr std::uint64_t kNodes = 256;  // list and map nodes, control block
  return kNodes + entry.key.capacity() + entry.metadata.capacity() + entry.source.capacity() + entry.binary.capacity();
}

}  // namespace

std::size_t MemoryCache::Hash::operator()(std::string_view key) const noexcept {
  return static_cast<std::size_t>(XXH3_64bits(key.data(), key.size()));
}

std::shared_ptr<const Entry> MemoryCache::find(std::string_view key) {
  const auto place = places_.find(key);
  if (place == places_.end()) return nullptr;
  order_.splice(order_.begin(), order_, place->second);
  return order_.front();
}

void MemoryCache::insert(std::shared_ptr<const Entry> entry) {
  erase(entry->key);
  order_.push_front(std::move(entry));
  try {
    places_.emplace(order_.front()->key, order_.begin());
  } catch (...) {
    order_.pop_front();
    throw;
  }
  bytes_ += cost_bytes(*order_.front());
  while (bytes_ > max_bytes_ && order_.size() > 1) {
    const std::shared_ptr<const Entry> oldest = order_.back();
    erase(oldest->key);
  }
}

void MemoryCache::erase(std::string_view key) {
  const auto place = places_.find(key);
  if (place == places_.end()) return;
  const Order::iterator at = place->second;
  bytes_ -= cost_bytes(**at);
  places_.erase(place);  // before the entry that holds the key
  order_.erase(at);
}

}  // namespace ricci::cache
