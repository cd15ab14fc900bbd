// Copies by tensor maps: one thread starts them, and counters tell all threads what has come.
#include <algorithm>
#include <utility>

#include "kernel/expand_cuda.hpp"

namespace ricci::kernel::cuda {

BoxCopies::BoxCopies(Threads& threads, std::vector<Copy> copies, std::int64_t places, std::int64_t rounds)
    : threads_(threads), copies_(std::move(copies)), places_(places), rounds_(rounds) {
  if (copies_.empty()) return;
  counters_ = threads.shared("arrived", DType::u64, places);
  for (const auto& copy : copies_) {
    auto bytes = threads.kernel.maps[static_cast<std::size_t>(copy.boxes->map)].box_bytes();
    for (const auto var : copy.boxes->apart) bytes *= threads.kernel.extent(var);
    bytes_ += bytes;
  }
}

Body BoxCopies::begun() const {
  if (copies_.empty()) return {};
  return by_one({{Counters{counters_}}}, {});
}

Body BoxCopies::by_one(Body body, std::vector<Condition> only) const {
  only.insert(only.begin(), {Affine::of(threads_.thread), 1});
  return {{If{std::move(only), std::move(body), {}}}};
}

Access BoxCopies::counter(const Affine& place) const { return {counters_, {place}}; }

Body BoxCopies::started(const std::vector<Copy>& copies, const Affine& place, std::vector<Condition> only) const {
  if (copies.empty()) return {};
  Body body{{Expect{counter(place), bytes_}}};
  for (const auto& copy : copies) {
    BoxCopy first{copy.to, copy.boxes->map, copy.boxes->at, counter(place)};
    // Digits of a box begin at 0, those apart take each of their values.
    std::vector<BoxCopy> boxes = {std::move(first)};
    for (const auto& digit : copy.digits) {
      const auto& apart = copy.boxes->apart;
      const auto count = std::find(apart.begin(), apart.end(), digit.var) != apart.end() ? digit.extent : 1;
      std::vector<BoxCopy> finer;
      for (const auto& box : boxes) {
        for (std::int64_t v = 0; v < count; ++v) {
          auto one = box;
          one.to = with(std::move(one.to), digit.var, v);
          for (auto& coordinate : one.at) coordinate = coordinate.with(digit.var, v);
          finer.push_back(std::move(one));
        }
      }
      boxes = std::move(finer);
    }
    for (auto& box : boxes) body.push_back({std::move(box)});
  }
  return by_one(std::move(body), std::move(only));
}

Body BoxCopies::awaited(const Affine& round, const Affine& place) {
  if (copies_.empty()) return {};
  Body body;
  const auto parity = rounds_ <= places_ ? Affine(0) : threads_.let(body, "parity", round, places_, 2);
  body.push_back({Await{counter(place), parity}});
  return body;
}

}  // namespace ricci::kernel::cuda
