#include "plan/axes.hpp"

#include <algorithm>
#include <numeric>

namespace ricci::plan {

Sides::Sides(const ir::Program& p) : program(p) {
  for (std::size_t id = 0; id < p.nodes.size() && load < 0; ++id) {
    const auto& node = p.nodes[id];
    if (node.kind == ir::NodeKind::load && node.source != p.statement().buffer) load = static_cast<ir::NodeId>(id);
  }
  read_order.resize(p.indices.size());
  std::iota(read_order.begin(), read_order.end(), 0);
  write_order = read_order;
  const auto key = [](std::int64_t stride) { return stride == 0 ? INT64_MAX : std::abs(stride); };
  std::stable_sort(write_order.begin(), write_order.end(),
                   [&](int x, int y) { return key(write_stride(x)) < key(write_stride(y)); });
  // Ties and broadcasts in the write order, which costs nothing on the read side.
  read_order = write_order;
  std::stable_sort(read_order.begin(), read_order.end(),
                   [&](int x, int y) { return key(read_stride(x)) < key(read_stride(y)); });
}

std::int64_t Sides::read_stride(int q) const {
  return load < 0 ? 0 : program.nodes[static_cast<std::size_t>(load)].offset.coefficient[static_cast<std::size_t>(q)];
}

std::int64_t Sides::write_stride(int q) const {
  return program.statement().offset.coefficient[static_cast<std::size_t>(q)];
}

std::int64_t Sides::read_bytes() const {
  return load < 0 ? write_bytes() : size_of(program.nodes[static_cast<std::size_t>(load)].type);
}

std::int64_t Sides::write_bytes() const {
  return size_of(program.buffers[static_cast<std::size_t>(program.statement().buffer)].type);
}

std::vector<std::int64_t> Sides::prefix(bool read, std::int64_t elements, std::int64_t granule) const {
  std::vector<std::int64_t> tile(program.indices.size(), 1);
  std::int64_t run = 1;
  for (const auto q : read ? read_order : write_order) {
    const auto stride = std::abs(read ? read_stride(q) : write_stride(q));
    if (run >= elements || (stride != run && run > 1) || stride == 0) break;
    const auto n = extent(q);
    auto part = std::min(n, (elements + run - 1) / run);
    if (part < n) {
      // A part that divides the extent leaves no ragged tile; take one if it is near.
      const auto ragged = part;
      part = std::min(n, (part + granule - 1) / granule * granule);
      for (auto d = part; d >= std::max<std::int64_t>(ragged * 3 / 4, 1); --d) {
        if (n % d == 0 && d % granule == 0) {
          part = d;
          break;
        }
      }
      if (n < part + part / 4) part = n;
    }
    tile[static_cast<std::size_t>(q)] = part;
    run = stride == run || run == 1 ? run * part : run;
    if (part < n || stride != run / part) break;
  }
  return tile;
}

std::vector<ir::Digit> Sides::digits(bool read, const std::vector<std::int64_t>& tile) const {
  std::vector<ir::Digit> digits;
  for (const auto q : read ? read_order : write_order) {
    const auto count = tile[static_cast<std::size_t>(q)];
    if (count > 1) digits.push_back({q, count, 1});
  }
  return digits;
}

}  // namespace ricci::plan
