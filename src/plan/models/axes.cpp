#include "plan/models/axes.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "plan/models/short_lists.hpp"
#include "plan/models/traffic.hpp"

namespace ricci::plan {
namespace {

/// A part of n values of about the wanted size, a multiple of the granule: within a quarter of it, the one that wastes
/// little in the last part and keeps parts aligned to sectors, lines and blocks where n is.
///   bytes  distance of neighbouring values
std::int64_t near_part(std::int64_t n, std::int64_t wanted, std::int64_t granule, std::int64_t bytes) {
  const auto highest = std::max(wanted * 5 / 4, granule);
  if (n <= highest) return n;
  const auto lowest = (wanted * 3 + 3) / 4;
  std::int64_t best = granule;
  double least = std::numeric_limits<double>::infinity();
  for (auto part = (lowest + granule - 1) / granule * granule; part <= highest; part += granule) {
    const auto covered = (n + part - 1) / part * part;
    const auto room = static_cast<double>(covered) / static_cast<double>(n) - 1;
    const auto off = std::abs(static_cast<double>(part - wanted)) / static_cast<double>(wanted);
    const auto leaves = [&](std::int64_t unit) { return n * bytes % unit == 0 && part * bytes % unit != 0; };
    const double cost = 0.5 * room + 0.1 * off +
                        (leaves(kSectorBytes)                                  ? 0.1
                         : leaves(2 * kSectorBytes) || leaves(kCacheLineBytes) ? 0.03
                         : leaves(kBlockBytes)                                 ? 0.02
                                                                               : 0);
    if (cost < least) best = part, least = cost;
  }
  return best;
}

}  // namespace

Sides::Sides(const ir::Program& p) : program(p) {
  for (std::size_t id = 0; id < p.nodes.size() && load < 0; ++id) {
    const auto& node = p.nodes[id];
    if (node.kind == ir::NodeKind::load && node.source != p.statement().buffer) load = static_cast<ir::NodeId>(id);
  }
  write_bytes_ = size_of(p.buffers[static_cast<std::size_t>(p.statement().buffer)].type);
  read_bytes_ = load < 0 ? write_bytes_ : size_of(p.nodes[static_cast<std::size_t>(load)].type);
  read_order.resize(p.indices.size());
  std::iota(read_order.begin(), read_order.end(), 0);
  write_order = read_order;
  const auto key = [](std::int64_t stride) { return stride == 0 ? INT64_MAX : std::abs(stride); };
  sort_few(write_order, [&](int x, int y) { return key(write_stride(x)) < key(write_stride(y)); });
  // Ties and broadcasts keep the write order.
  read_order = write_order;
  sort_few(read_order, [&](int x, int y) { return key(read_stride(x)) < key(read_stride(y)); });
}

std::int64_t Sides::read_stride(int q) const {
  return load < 0 ? 0 : program.nodes[static_cast<std::size_t>(load)].offset.coefficient[static_cast<std::size_t>(q)];
}

std::int64_t Sides::write_stride(int q) const {
  return program.statement().offset.coefficient[static_cast<std::size_t>(q)];
}

std::vector<std::int64_t> Sides::run_extents(bool read, std::int64_t elements, std::int64_t granule) const {
  std::vector<std::int64_t> tile(program.indices.size(), 1);
  const auto bytes = read ? read_bytes() : write_bytes();
  std::int64_t run = 1;
  for (const auto q : read ? read_order : write_order) {
    const auto stride = std::abs(read ? read_stride(q) : write_stride(q));
    if (run >= elements || (stride != run && run > 1) || stride == 0) break;
    const auto n = extent(q);
    const bool first = run == 1;
    const auto wanted = (elements + run - 1) / run;
    const auto part = wanted >= n ? n : near_part(n, wanted, first ? granule : 1, run * bytes);
    tile[static_cast<std::size_t>(q)] = part;
    run = stride == run || run == 1 ? run * part : run;
    if (part < n || stride != run / part) break;
  }
  return tile;
}

std::vector<kernel::MixedRadixDigit> Sides::digits(bool read, const std::vector<std::int64_t>& tile) const {
  std::vector<kernel::MixedRadixDigit> digits;
  digits.reserve(tile.size());
  for (const auto q : read ? read_order : write_order) {
    const auto count = tile[static_cast<std::size_t>(q)];
    if (count > 1) digits.push_back({q, count, 1});
  }
  return digits;
}

}  // namespace ricci::plan
