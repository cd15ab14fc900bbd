// Products of warp groups: each thread does its own part of one where it waits for it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "machine.hpp"
#include "matrix.hpp"

namespace ricci::simt {
namespace {

constexpr unsigned kGroup = kWarp * kernel::kGroupWarps, kRankShift = 60, kMembers = 4;
constexpr std::uint64_t kPrime = 0x100000001b3;
constexpr std::uint32_t kUnderWay = 0xffa5a5a5u;

std::uint64_t field(std::uint64_t descriptor, unsigned first) { return (descriptor >> first & 0x3fff) << 4; }

}  // namespace

GroupMatrix GroupMatrix::of(std::uint64_t descriptor, bool transposed, int bits, std::string& error) {
  GroupMatrix matrix;
  matrix.size = static_cast<unsigned>(bits / 8);
  matrix.start = field(descriptor, 0);
  matrix.leading = field(descriptor, 16);
  matrix.stride = field(descriptor, 32);
  const auto code = descriptor >> 62;
  if (code == 0 || (descriptor >> 49 & 7) != 0) error = "a descriptor of no swizzled rows from their block's start on";
  matrix.row = code == 1 ? 128 : code == 2 ? 64 : 32;
  matrix.transposed = transposed;
  if (matrix.stride % (8 * matrix.row) != 0) error = "a descriptor of blocks that are no eight rows apart";
  return matrix;
}

std::uint64_t GroupMatrix::at(unsigned p, unsigned k) const {
  const std::uint64_t along = std::uint64_t{size} * (transposed ? p : k), down = transposed ? k : p;
  const auto address =
      start + along % row + (transposed ? along / row * leading : 0) + down % 8 * row + down / 8 * stride;
  return address ^ ((address >> 7 & (row / 16 - 1)) << 4);
}

void Machine::refuse(FaultKind kind, unsigned line, std::string detail) {
  Fault fault = here(kind, thread_, line);
  fault.detail = std::move(detail);
  stop(std::move(fault));
  leave_for_good();
}

void Machine::on_multiply_group(const char* atom, unsigned times, void* sums, unsigned long long a, bool a_transposed,
                                unsigned long long b, bool b_transposed, unsigned site) {
  Machine& m = running();
  Lane& lane = *m.lane_;
  const auto line = m.image_.line(site);
  if (m.launch_.block % kGroup != 0)
    m.refuse(FaultKind::absent_lane, line, "a product of a warp group in a block of no whole groups");
  std::string error;
  const auto* multiplied = kernel::find_atom(atom);
  const int bits = kernel::bits_of(multiplied->a.type);
  GroupProduct product{multiplied,
                       times,
                       static_cast<std::uint32_t*>(sums),
                       GroupMatrix::of(a, a_transposed, bits, error),
                       GroupMatrix::of(b, b_transposed, bits, error),
                       lane.product_groups,
                       site,
                       m.clock_.now};
  if (!error.empty()) m.refuse(FaultKind::misaligned, line, error);
  m.issue(std::move(product), a * kPrime + b);
}

void Machine::on_multiply_group_held(const char* atom, unsigned times, void* sums, const void* a, unsigned bytes,
                                     const unsigned* rows, unsigned long long b, bool b_transposed, unsigned site) {
  Machine& m = running();
  Lane& lane = *m.lane_;
  const auto line = m.image_.line(site);
  if (m.launch_.block % kGroup != 0)
    m.refuse(FaultKind::absent_lane, line, "a product of a warp group in a block of no whole groups");
  std::string error;
  const auto* multiplied = kernel::find_atom(atom);
  GroupProduct product{multiplied,
                       times,
                       static_cast<std::uint32_t*>(sums),
                       {},
                       GroupMatrix::of(b, b_transposed, kernel::bits_of(multiplied->a.type), error),
                       lane.product_groups,
                       site,
                       m.clock_.now};
  if (!error.empty()) m.refuse(FaultKind::misaligned, line, error);
  const auto* own = static_cast<const std::byte*>(a);
  product.own = a;
  product.held.assign(own, own + bytes);
  product.rows.assign(rows, rows + std::size_t{kMembers} * bytes / sizeof(std::uint32_t));
  // Of several fragments, which one fence is of, it is a part.
  const auto holds = [&](const auto& fence) {
    const auto* first = static_cast<const std::byte*>(fence.first);
    return own >= first && own + bytes <= first + fence.second.size() &&
           std::equal(product.held.begin(), product.held.end(), fence.second.begin() + (own - first));
  };
  if (std::none_of(lane.fenced.begin(), lane.fenced.end(), holds))
    m.refuse(FaultKind::unfenced_product, line, "what its registers hold of a factor has no fence");
  m.issue(std::move(product), b);
}

// What is common to both: what it reads of memory, and its sums.
//   identity  the same for the threads of a group
void Machine::issue(GroupProduct product, std::uint64_t identity) {
  Machine& m = *this;
  Lane& lane = *lane_;
  const auto site = product.site, line = m.image_.line(site);
  const auto times = product.times;
  auto* sums = product.sums;
  const unsigned k = static_cast<unsigned>(product.atom->k), columns = times * static_cast<unsigned>(product.atom->n);
  // Each thread answers for its part of the 16 bytes that lie together.
  const auto anchor = m.image_.shared_begin() - kAnchorBytes;
  unsigned unit = 0;
  const auto reads = [&](const GroupMatrix& matrix, unsigned positions) {
    const unsigned each = kUnit / matrix.size;
    const unsigned by_side = matrix.transposed ? each : 1, by_depth = matrix.transposed ? 1 : each;
    for (unsigned p = 0; p < positions; p += by_side)
      for (unsigned q = 0; q < k; q += by_depth)
        if (unit++ % kGroup == m.thread_ % kGroup) product.read.push_back(anchor + matrix.at(p, q));
  };
  if (product.own == nullptr) reads(product.a, static_cast<unsigned>(product.atom->m * product.atom->warps));
  reads(product.b, columns);
  for (const auto address : product.read) {
    const int region = m.locate(address, kUnit);
    if (region < 0 || m.regions_[region].space != Space::shared)
      m.refuse_access(FaultKind::out_of_bounds, region, address, kUnit, false, site, "that is not shared memory");
    if (m.unfenced_.contains(m.unit_of(address)))
      m.refuse(FaultKind::unfenced_product, line, m.regions_[region].name + " is written with no fence since");
    lane.log.push_back({address, site, static_cast<std::uint16_t>(region), kUnit, Touch::multiply});
  }
  if (auto [held, first] = lane.held.try_emplace(sums); first) {
    if (!lane.sums_fenced) m.refuse(FaultKind::unfenced_product, line, "its sums have no fence");
    const auto registers = std::size_t{times} * static_cast<unsigned>(product.atom->c.elements());
    held->second.assign(sums, sums + registers);
    std::fill(sums, sums + registers, kUnderWay);
  }
  for (const std::uint64_t part : {std::uint64_t{times}, identity})
    lane.issued_products = (lane.issued_products ^ part) * kPrime + 1;
  lane.products.push_back(std::move(product));
}

// Of the block that runs.
std::uint64_t Machine::unit_of(std::uint64_t address) const {
  return address / kUnit | std::uint64_t{rank_} << kRankShift;
}

void Machine::on_fence_registers(const void* registers, unsigned bytes) {
  Lane& lane = *running().lane_;
  lane.sums_fenced = true;
  const auto* first = static_cast<const std::byte*>(registers);
  lane.fenced[registers].assign(first, first + bytes);
}

void Machine::written_to_shared(std::uint64_t address, unsigned bytes) {
  if (!multiplies_) return;
  for (auto unit = unit_of(address); unit <= unit_of(address + bytes - 1); ++unit) {
    lane_->unfenced.push_back(unit);
    ++unfenced_[unit];
  }
}

void Machine::on_fence_shared() {
  Machine& m = running();
  for (const auto unit : m.lane_->unfenced)
    if (const auto found = m.unfenced_.find(unit); --found->second == 0) m.unfenced_.erase(found);
  m.lane_->unfenced.clear();
}
void Machine::on_commit_products() { ++running().lane_->product_groups; }

// A thread's sums of a product, with the values that operands have now.
//   V  type of the sums; unsigned for integers, which wrap
template <class V>
void Machine::add_product(const GroupProduct& product, std::uint32_t* sums) const {
  const auto& atom = *product.atom;
  const auto anchor = image_.shared_begin() - kAnchorBytes;
  const auto value = [&](const GroupMatrix& matrix, unsigned p, unsigned k) {
    return factor<V>(atom.a.type, reinterpret_cast<const void*>(anchor + matrix.at(p, k)));
  };
  const auto warp = thread_ / kWarp % static_cast<unsigned>(atom.warps), deep = static_cast<unsigned>(atom.k);
  // Of A and B what the thread's sums are of, each read once: by the row of the warp's part, or the column, and the
  // depth.
  const auto places = [&] {
    std::vector<kernel::TilePlace> all;
    for (int e = 0; e < atom.c.elements(); ++e) all.push_back(atom.c.at(static_cast<int>(thread_ % kWarp), e));
    return all;
  }();
  std::vector<V> rows(std::size_t{static_cast<unsigned>(atom.m)} * deep);
  for (unsigned member = 0; !product.rows.empty() && member < kMembers; ++member) {
    const auto of_four = static_cast<int>(thread_ % kWarp / kMembers * kMembers + member);
    const auto* registers = product.rows.data() + std::size_t{member} * product.rows.size() / kMembers;
    for (int e = 0; e < atom.a.elements(); ++e) {
      const auto place = atom.a.at(of_four, e);
      const auto* element = reinterpret_cast<const std::byte*>(registers) + e * kernel::bits_of(atom.a.type) / 8;
      rows[std::size_t{place.row} * deep + place.column] = factor<V>(atom.a.type, element);
    }
  }
  const auto read = [&](const GroupMatrix& matrix, unsigned first, std::uint8_t kernel::TilePlace::* which,
                        std::vector<V>& values) {
    for (auto place = places.begin(); place != places.end(); ++place) {
      const auto p = (*place).*which;
      if (std::any_of(places.begin(), place, [&](const auto& before) { return before.*which == p; })) continue;
      for (unsigned k = 0; k < deep; ++k) values[std::size_t{p} * deep + k] = value(matrix, first + p, k);
    }
  };
  if (product.rows.empty()) read(product.a, warp * static_cast<unsigned>(atom.m), &kernel::TilePlace::row, rows);
  std::vector<V> columns(std::size_t{static_cast<unsigned>(atom.n)} * deep);
  for (unsigned n = 0; n < product.times; ++n) {
    read(product.b, n * static_cast<unsigned>(atom.n), &kernel::TilePlace::column, columns);
    for (const auto& place : places) {
      auto sum = std::bit_cast<V>(*sums);
      for (unsigned k = 0; k < deep; ++k)
        sum = multiply_add(rows[std::size_t{place.row} * deep + k], columns[std::size_t{place.column} * deep + k], sum);
      *sums++ = std::bit_cast<std::uint32_t>(sum);
    }
  }
}

void Machine::on_wait_products(unsigned groups, unsigned line) {
  Machine& m = running();
  Lane& lane = *m.lane_;
  for (; !lane.products.empty() && lane.products.front().group + groups < lane.product_groups;
       lane.products.pop_front()) {
    const auto& product = lane.products.front();
    auto& held = lane.held.at(product.sums);
    for (std::size_t k = 0; k < held.size(); ++k)
      if (product.sums[k] != kUnderWay)
        m.refuse(FaultKind::touched_sums, line, "a register is written while a product adds to it");
    if (product.own != nullptr && std::memcmp(product.own, product.held.data(), product.held.size()) != 0)
      m.refuse(FaultKind::touched_sums, line, "a register is written while a product reads it");
    if (product.atom->c.type == kernel::AtomType::i32)
      m.add_product<std::uint32_t>(product, held.data());
    else
      m.add_product<float>(product, held.data());
    m.flops_ +=
        2ull * product.times * static_cast<unsigned>(product.atom->m * product.atom->n * product.atom->k) / kWarp;
    for (const auto address : product.read)
      lane.log.push_back({address, product.site, static_cast<std::uint16_t>(m.locate(address, kUnit)), kUnit,
                          Touch::leave, product.issued});
    const bool last = std::none_of(lane.products.begin() + 1, lane.products.end(),
                                   [&](const GroupProduct& other) { return other.sums == product.sums; });
    if (!last) continue;
    std::copy(held.begin(), held.end(), product.sums);
    lane.held.erase(product.sums);
    lane.sums_fenced = false;
  }
}

void Machine::report_unfinished_products() {
  for (const auto& product : lane_->products) {
    Fault fault = here(FaultKind::unfinished_product, thread_, image_.line(product.site));
    fault.detail = "the thread ends without waiting for it";
    add(std::move(fault), place_of(product.site, false, FaultKind::unfinished_product));
  }
}

// After a cluster: the threads of a group have multiplied the same matrices in the same order.
void Machine::check_groups() {
  for (unsigned t = 0; t < lanes_.size(); ++t) {
    const unsigned first = t / kGroup * kGroup;
    if (lanes_[t].issued_products == lanes_[first].issued_products) continue;
    Fault fault = here(FaultKind::absent_lane, first, 0);
    fault.other_thread = t % launch_.block;
    fault.detail = "multiplies other matrices than its warp group";
    return stop(std::move(fault));
  }
}

}  // namespace ricci::simt
