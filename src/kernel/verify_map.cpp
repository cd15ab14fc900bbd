// Rules of copies by tensor maps: boxes, and the counters that tell when they have come.
#include <fmt/format.h>

#include <algorithm>

#include "kernel/print.hpp"
#include "kernel/verifier.hpp"

namespace ricci::kernel {

void Verifier::map(const TensorMap& map) {
  origin_ = map.origin;
  if (map.array < 0 || static_cast<std::size_t>(map.array) >= kernel_.arrays.size())
    fail(fmt::format("{} is a map of no array", map.name));
  const auto& array = kernel_.array(map.array);
  if (!cuda() || array.space != Space::global || array.written || array.type != map.type ||
      array.alignment % kMapUnit != 0)
    fail(fmt::format("{} is no map of an operand in {}-byte units", map.name, kMapUnit));
  if (auto rule = fault(map); !rule.empty()) fail(fmt::format("{}: {}", map.name, rule));
  auto last = map.first;
  for (const auto& dimension : map.dimensions) last += (dimension.extent - 1) * dimension.stride;
  if (map.first < array.first || last >= array.shape.front())
    fail(fmt::format("{} reaches elements {} to {} of {}", map.name, map.first, last, array.name));
}

void Verifier::one_thread(const char* what) const {
  expect(cuda(), "copies by tensor maps on a CPU");
  if (thread_below_ == 0) fail(fmt::format("{} outside of the loop over threads", what));
  if (!std::all_of(threads_.begin(), threads_.end(), [&](Var var) { return ranges_.never_above(Affine::of(var), 0); }))
    fail(fmt::format("{} by several threads", what));
}

void Verifier::counter(const Access& access) {
  const auto& array = array_of_checked(access);
  if (array.space != Space::shared || array.type != DType::u64 || access.lanes != 1)
    fail(fmt::format("{} counts nothing", print(kernel_, access)));
  this->access(access);
  if (life_of(access.array) == Life::empty) fail(fmt::format("{} is not made ready", array.name));
}

void Verifier::all_expected() const {
  if (expected_ != 0)
    fail(fmt::format("{} bytes are {}", std::abs(expected_),
                     expected_ > 0 ? "expected that no copy brings" : "copied that nobody expects"));
}

void Verifier::one(const Counters& counters) {
  one_thread("counters are made ready");
  auto& life = life_of(counters.array);
  const auto& array = kernel_.array(counters.array);
  if (array.space != Space::shared || array.type != DType::u64) fail(fmt::format("{} counts nothing", array.name));
  if (life != Life::empty) fail(fmt::format("{} is made ready twice", array.name));
  written_to_shared(counters.array);
  life = Life::written;
}

void Verifier::one(const Expect& expect) {
  one_thread("bytes are expected");
  counter(expect.counter);
  if (expect.bytes < 1) fail("no bytes are expected");
  all_expected();
  expected_ += expect.bytes;
}

void Verifier::one(const BoxCopy& copy) {
  one_thread("a box is copied");
  counter(copy.counter);
  if (copy.map < 0 || static_cast<std::size_t>(copy.map) >= kernel_.maps.size()) fail("a box of no map");
  const auto& map = kernel_.maps[static_cast<std::size_t>(copy.map)];
  const auto& to = array_of_checked(copy.to);
  const auto size = size_of(to.type);
  if (to.space != Space::shared || to.type != map.type || copy.to.lanes != 1)
    fail(fmt::format("a box of {} goes to {}", map.name, to.name));
  if ((to.swizzle.mask == 0 ? 0 : to.swizzle.group() * size) != map.row_bytes)
    fail(fmt::format("{} has other rows than boxes of {}", to.name, map.name));
  if (copy.at.size() != map.dimensions.size())
    fail(fmt::format("a box at {} coordinates of {}", copy.at.size(), map.name));
  for (const auto& coordinate : copy.at) known(coordinate);
  auto last = copy.to;
  last.index.front() = last.index.front() + Affine(map.box_elements() - 1);
  access(copy.to);
  access(last);
  if (!ranges_.is_multiple(offset(copy.to), kBoxUnit / size) || to.alignment % kBoxUnit != 0)
    fail(fmt::format("{} is no multiple of {} bytes, where boxes begin", print(kernel_, copy.to), kBoxUnit));
  if (to.tf32 && !kernel_.array(map.array).tf32) unrounded(copy.to);
  expected_ -= map.box_bytes();
  if (expected_ < 0) all_expected();
  written_to_shared(copy.to.array);
  auto& life = life_of(copy.to.array);
  if (life == Life::empty) life = Life::copying;
  arriving_[static_cast<std::size_t>(copy.to.array)] = true;
}

void Verifier::one(const Await& await) {
  all_threads("a wait for boxes");
  all_expected();
  counter(await.counter);
  if (const auto life = life_of(await.counter.array); life != Life::ready && life != Life::shown)
    fail(fmt::format("{} is awaited with no barrier after it was made ready", kernel_.array(await.counter.array).name));
  known(await.parity);
  if (!ranges_.never_below(await.parity, 0) || !ranges_.never_above(await.parity, 1))
    fail(fmt::format("{} is no parity", print(kernel_, await.parity)));
  for (std::size_t k = 0; k < life_.size(); ++k) {
    if (arriving_[k] && life_[k] == Life::copying) life_[k] = Life::shown;
  }
}

}  // namespace ricci::kernel
