// Lists of numbers and flags that are short in most programs.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

namespace ricci::ir {

/// A list that allocates nothing for up to kHere values: programs are made, copied and passed over by the dozen while a
/// plan is looked for.
template <class T, std::size_t kHere = 32>
class Few {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  using value_type = T;

  Few() = default;
  explicit Few(std::size_t count, T value = {}) { assign(count, value); }
  Few(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  Few(const Few& other) { assign(other.begin(), other.end()); }
  Few(Few&& other) noexcept { *this = std::move(other); }
  ~Few() = default;
  Few& operator=(const Few& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  Few& operator=(Few&& other) noexcept {
    far_ = std::move(other.far_);
    here_ = other.here_;
    size_ = std::exchange(other.size_, 0);
    room_ = std::exchange(other.room_, kHere);
    return *this;
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* data() noexcept { return far_ ? far_.get() : here_.data(); }
  const T* data() const noexcept { return far_ ? far_.get() : here_.data(); }
  T* begin() noexcept { return data(); }
  const T* begin() const noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  const T* end() const noexcept { return data() + size_; }
  T& operator[](std::size_t k) noexcept { return data()[k]; }
  const T& operator[](std::size_t k) const noexcept { return data()[k]; }
  const T& front() const noexcept { return data()[0]; }
  T& back() noexcept { return data()[size_ - 1]; }
  const T& back() const noexcept { return data()[size_ - 1]; }

  void reserve(std::size_t room) {
    if (room <= room_) return;
    auto far = std::make_unique<T[]>(room);
    std::copy(begin(), end(), far.get());
    far_ = std::move(far);
    room_ = room;
  }
  void push_back(T value) {
    if (size_ == room_) reserve(2 * room_);
    data()[size_++] = value;
  }
  void pop_back() noexcept { --size_; }
  void clear() noexcept { size_ = 0; }
  /// More values are `value`.
  void resize(std::size_t count, T value = {}) {
    reserve(count);
    if (count > size_) std::fill(end(), data() + count, value);
    size_ = count;
  }
  void assign(std::size_t count, T value) {
    size_ = 0;
    resize(count, value);
  }
  void assign(const T* first, const T* last) {
    const auto count = static_cast<std::size_t>(last - first);
    size_ = 0;
    reserve(count);
    std::copy(first, last, data());
    size_ = count;
  }

  friend bool operator==(const Few& x, const Few& y) noexcept {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  }
  friend auto operator<=>(const Few& x, const Few& y) noexcept {
    return std::lexicographical_compare_three_way(x.begin(), x.end(), y.begin(), y.end());
  }

 private:
  std::unique_ptr<T[]> far_;  ///< where there are more
  std::array<T, kHere> here_;
  std::size_t size_ = 0, room_ = kHere;
};

}  // namespace ricci::ir
