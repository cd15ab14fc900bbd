// The entries used last, kept in this process under their whole key texts. Not thread-safe: the store locks around it.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "cache/store.hpp"

namespace ricci::cache {

class MemoryCache {
 public:
  explicit MemoryCache(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  /// The entry, now the most recently used one, or null.
  std::shared_ptr<const Entry> find(std::string_view key);
  /// Adds or replaces, then drops the least recently used entries down to the bound. The newest always stays.
  void insert(std::shared_ptr<const Entry> entry);
  void erase(std::string_view key);

 private:
  struct Hash {
    std::size_t operator()(std::string_view key) const noexcept;
  };
  using Order = std::list<std::shared_ptr<const Entry>>;

  Order order_;                                                         // most recently used first
  std::unordered_map<std::string_view, Order::iterator, Hash> places_;  // views into the entries' own keys
  std::uint64_t max_bytes_, bytes_ = 0;
};

}  // namespace ricci::cache
