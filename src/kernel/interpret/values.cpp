// Values and accesses of a kernel that is being executed, and what they count.
#include <algorithm>
#include <cmath>

#include "ir/operation_types.hpp"
#include "kernel/expand.hpp"
#include "kernel/interpret/machine.hpp"

namespace ricci::kernel {
namespace {

using ir::OpCode;

constexpr std::int64_t kSectorBytes = 32;

/// One access of a warp: where each lane's bytes begin, by rising lane.
struct WarpAccess {
  std::vector<std::pair<int, std::int64_t>> lanes;
  std::int64_t bytes = 0;
};

void count_sectors(const WarpAccess& access, Counts::Moved& moved) {
  std::vector<std::int64_t> sectors, bytes;
  for (const auto& [lane, address] : access.lanes) {
    // Offsets may be negative, multiples of a sector's bytes are not.
    const auto floor = [](std::int64_t x) { return (x - ((x % kSectorBytes) + kSectorBytes) % kSectorBytes); };
    for (auto s = floor(address); s < address + access.bytes; s += kSectorBytes) sectors.push_back(s);
    bytes.push_back(address);
  }
  std::sort(sectors.begin(), sectors.end());
  std::sort(bytes.begin(), bytes.end());
  moved.units += std::unique(sectors.begin(), sectors.end()) - sectors.begin();
  std::int64_t distinct = 0, covered = bytes.front();
  for (const auto address : bytes) {
    distinct += std::max<std::int64_t>(address + access.bytes - std::max(covered, address), 0);
    covered = std::max(covered, address + access.bytes);
  }
  moved.ideal += (distinct + kSectorBytes - 1) / kSectorBytes;
}

void count_wavefronts(const WarpAccess& access, Counts::Moved& moved) {
  std::array<std::int64_t, kWarp> places;
  places.fill(-1);
  for (const auto& [lane, address] : access.lanes) places[static_cast<std::size_t>(lane)] = address;
  const auto alike = [&](int apart) {
    return std::all_of(access.lanes.begin(), access.lanes.end(), [&](const auto& one) {
      const auto other = places[static_cast<std::size_t>(one.first ^ apart)];
      return other < 0 || other == one.second;
    });
  };
  const auto phase_lanes = static_cast<int>(lanes_of_part(access.bytes, alike(1) || alike(2)));
  const auto words_per_lane = std::max<std::int64_t>(access.bytes / kWord, 1);
  for (int phase = 0; phase < kWarp / phase_lanes; ++phase) {
    std::vector<std::int64_t> words;
    for (const auto& [lane, address] : access.lanes) {
      if (lane / phase_lanes != phase) continue;
      for (std::int64_t w = 0; w < words_per_lane; ++w) words.push_back(address / kWord + w);
    }
    if (words.empty()) continue;
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    std::array<std::int64_t, kBanks> load{};
    for (const auto word : words) ++load[static_cast<std::size_t>(word % kBanks)];
    moved.units += *std::max_element(load.begin(), load.end());
    moved.ideal += (static_cast<std::int64_t>(words.size()) + kBanks - 1) / kBanks;
  }
}

}  // namespace

Counts::Moved& Counts::Moved::operator+=(const Moved& more) {
  accesses += more.accesses;
  vectors += more.vectors;
  bytes += more.bytes;
  units += more.units;
  ideal += more.ideal;
  return *this;
}

std::int64_t Machine::at(const Affine& affine, int thread) const {
  auto sum = affine.constant;
  for (const auto& [var, coefficient] : affine.terms) {
    sum += coefficient *
           env_[static_cast<std::size_t>(var) * static_cast<std::size_t>(threads_) + static_cast<std::size_t>(thread)];
  }
  return sum;
}

bool Machine::holds(const std::vector<Condition>& when, int thread) const {
  return std::all_of(when.begin(), when.end(),
                     [&](const Condition& condition) { return at(condition.value, thread) < condition.below; });
}

bool Machine::decides(const Value& condition, int thread) {
  const auto item = value(condition, thread).front();
  if (item.unwritten >= 0)
    broken(kernel_, origin_,
           "an element of " + kernel_.array(item.unwritten).name + " decides that nothing has written");
  return !values_ || item.value.integer != 0;
}

std::int64_t Machine::element(const Access& access, int thread) const {
  const auto& array = kernel_.array(access.array);
  if (array.space != Space::registers) {
    const auto moved = advanced_[static_cast<std::size_t>(access.array) * static_cast<std::size_t>(threads_) +
                                 static_cast<std::size_t>(thread)];
    return array.swizzle(at(access.index.front(), thread) + moved);
  }
  std::int64_t element = 0;
  for (std::size_t k = 0; k < array.shape.size(); ++k) {
    // An instruction on fragments names the first of its registers by the dimensions around them.
    const auto index = k < access.index.size() ? at(access.index[k], thread) : 0;
    if (index < 0 || index >= array.shape[k]) {
      broken(kernel_, origin_,
             array.name + "[" + std::to_string(index) + "] is accessed, outside of its " +
                 std::to_string(array.shape[k]) + " registers");
    }
    element = element * array.shape[k] + index;
  }
  return element * array.lanes;
}

std::int64_t Machine::lane(const Access& access, int thread) const {
  const auto lane = at(*access.lane, thread);
  if (lane < 0 || lane >= access.lanes) {
    broken(kernel_, origin_,
           "lane " + std::to_string(lane) + " of a vector of " + std::to_string(access.lanes) + " is accessed");
  }
  return lane;
}

std::pair<int, int> Machine::existing(const Access& access, int thread) const {
  const auto lanes = access.count > 0 ? access.count : access.lanes;
  const auto number = [&](const std::optional<Affine>& lane, int otherwise) {
    return lane ? static_cast<int>(std::clamp<std::int64_t>(at(*lane, thread), 0, lanes)) : otherwise;
  };
  const auto since = number(access.since, 0);
  return {since, std::max(since, number(access.until, lanes))};
}

std::vector<Item> Machine::load(const Access& access, int thread) {
  std::vector<Item> items(static_cast<std::size_t>(access.lanes));
  const auto first = element(access, thread);
  const auto block = access.block ? static_cast<int>(at(*access.block, thread)) : -1;
  if (block >= blocks_) broken(kernel_, origin_, "block " + std::to_string(block) + " of a cluster is read");
  const auto [since, until] = existing(access, thread);
  for (int k = since; k < until; ++k)
    items[static_cast<std::size_t>(k)] = memory_.read(access.array, first + k, thread, block);
  if (access.lane) return {items[static_cast<std::size_t>(lane(access, thread))]};
  return items;
}

void Machine::store(const Access& access, const std::vector<Item>& items, int thread) {
  const auto first = element(access, thread);
  if (access.lane) return memory_.write(access.array, first + lane(access, thread), thread, items.front());
  const auto [since, until] = existing(access, thread);
  for (int k = since; k < until; ++k) {
    // A scalar is the value of every lane.
    const auto& item = items.size() == 1 ? items.front() : items[static_cast<std::size_t>(k)];
    memory_.write(access.array, first + k, thread, item);
  }
}

void Machine::add(const Access& access, const Item& item, int thread) {
  const auto type = kernel_.array(access.array).type;
  const auto sum = apply(OpCode::add, type, {zero_of(type), zero_of(type)});
  memory_.add(access.array, element(access, thread), thread, [&](const Item& before) {
    const Item both[] = {before, item};
    ++counts_.flops;
    return operation(sum, both);
  });
}

Item Machine::operation(const Value& value, const Item* operands) {
  Item result;
  const auto n = value.operands.size();
  // A factor 0 hides whatever it scales.
  const bool hides = value.op == OpCode::scale && operands[0].unwritten < 0 && values_ &&
                     ir::oracle::is_zero(operands[0].value, value.type);
  for (std::size_t k = 0; k < n && !hides; ++k) {
    if (operands[k].unwritten >= 0) result.unwritten = operands[k].unwritten;
  }
  if (values_ && result.unwritten < 0) {
    const auto& y = n > 1 ? operands[1].value : ir::oracle::Value{};
    const auto& z = n > 2 ? operands[2].value : ir::oracle::Value{};
    result.value = ir::oracle::apply(value.op, value.type, value.operands.front().type, operands[0].value, y, z);
  }
  return result;
}

Item Machine::converted(const Item& item, DType from, DType to) {
  if (from == to || !values_ || item.unwritten >= 0) return item;
  return {ir::oracle::apply(OpCode::cast, to, from, item.value, {}, {}), -1};
}

std::vector<Item> Machine::value(const Value& value, int thread) {
  switch (value.kind) {
    case Value::Kind::load:
      if (finished_ && value.access.array == finished_array_) return {*finished_};
      return load(value.access, thread);
    case Value::Kind::factor:
      return {factors_[value.param]};
    case Value::Kind::param:
      return {{values_ ? params_[static_cast<std::size_t>(value.param)] : ir::oracle::Value{}, -1}};
    case Value::Kind::constant:
      return {{is_integer(value.type) ? ir::oracle::Value{value.bits} : ir::oracle::value_of(value.number, value.type),
               -1}};
    case Value::Kind::index:
      return {{{static_cast<std::uint64_t>(at(value.affine, thread))}, -1}};
    case Value::Kind::pack: {
      std::vector<Item> items;
      for (const auto& operand : value.operands) {
        const auto more = this->value(operand, thread);
        items.insert(items.end(), more.begin(), more.end());
      }
      return items;
    }
    case Value::Kind::part: {
      const auto items = this->value(value.operands.front(), thread);
      const auto first = items.begin() + static_cast<std::ptrdiff_t>(value.affine.constant);
      return {first, first + value.lanes()};
    }
    case Value::Kind::shuffle: {
      const auto lane = at(value.affine, thread);
      if (lane < 0 || lane >= kWarp) broken(kernel_, origin_, "lane " + std::to_string(lane) + " of a warp is read");
      return this->value(value.operands.front(), thread / kWarp * kWarp + static_cast<int>(lane));
    }
    case Value::Kind::power_of_two: {
      auto items = this->value(value.operands.front(), thread);
      for (auto& item : items) item.value.re = std::exp2(static_cast<float>(item.value.re));
      return items;
    }
    case Value::Kind::shuffle_up:
    case Value::Kind::ballot:
      return exchanged(value, thread);
    case Value::Kind::prefixes:
    case Value::Kind::shifted:
      return rearranged(value, this->value(value.operands.front(), thread), thread);
    case Value::Kind::times_i:
    case Value::Kind::conj_pairs: {
      auto items = this->value(value.operands.front(), thread);
      for (std::size_t k = 0; k + 1 < items.size(); k += 2) {
        if (value.kind == Value::Kind::times_i) std::swap(items[k], items[k + 1]);
        auto& negated = items[value.kind == Value::Kind::times_i ? k : k + 1].value.re;
        negated = -negated;
      }
      return items;
    }
    case Value::Kind::real_pairs:
    case Value::Kind::imag_pairs: {
      auto items = this->value(value.operands.front(), thread);
      const bool first = value.kind == Value::Kind::real_pairs;
      for (std::size_t k = 0; k + 1 < items.size(); k += 2)
        (first ? items[k + 1] : items[k]) = items[first ? k : k + 1];
      return items;
    }
    case Value::Kind::interleave: {
      const auto x = this->value(value.operands[0], thread), y = this->value(value.operands[1], thread);
      std::vector<Item> items;
      for (std::size_t k = 0; k < x.size(); ++k) items.insert(items.end(), {x[k], y[k]});
      return items;
    }
    case Value::Kind::dot:
      return dot(value, thread);
    case Value::Kind::op:
      break;
  }
  std::vector<std::vector<Item>> operands;
  std::size_t lanes = 1;
  for (const auto& operand : value.operands) {
    operands.push_back(this->value(operand, thread));
    lanes = std::max(lanes, operands.back().size());
  }
  std::vector<Item> result(lanes);
  Item each[3];
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    for (std::size_t k = 0; k < operands.size(); ++k)
      each[k] = operands[k].size() == 1 ? operands[k].front() : operands[k][lane];
    result[lane] = operation(value, each);
  }
  if (ir::is_counted(value.op)) counts_.flops += static_cast<std::int64_t>(lanes);
  return result;
}

std::vector<Item> Machine::dot(const Value& value, int thread) {
  auto sums = this->value(value.operands[0], thread);
  const auto a = this->value(value.operands[1], thread), b = this->value(value.operands[2], thread);
  const auto type = value.type;
  const auto mul = apply(OpCode::mul, type, {zero_of(type), zero_of(type)});
  const auto add = apply(OpCode::add, type, {zero_of(type), zero_of(type)});
  for (std::size_t k = 0; k < b.size(); ++k) {
    const Item factors[] = {converted(a[k % a.size()], value.operands[1].type, type),
                            converted(b[k], value.operands[2].type, type)};
    auto& sum = sums[k / a.size()];
    const Item terms[] = {sum, operation(mul, factors)};
    sum = operation(add, terms);
  }
  counts_.flops += 2 * static_cast<std::int64_t>(b.size());
  return sums;
}

void Machine::count(const Access& access, const Threads& threads, bool writes) {
  std::vector<std::pair<int, std::int64_t>> elements;
  for (const auto t : threads) elements.emplace_back(t, element(access, t));
  const auto& array = kernel_.array(access.array);
  // Lanes that no literal tells are a CPU's, which has one thread.
  const auto [since, until] = threads.empty() ? std::pair{0, 0} : existing(access, threads.front());
  count(access.array, elements, (until - since) * size_of(array.type), access.lanes, writes);
}

void Machine::count(int number, const std::vector<std::pair<int, std::int64_t>>& elements, std::int64_t bytes,
                    int lanes, bool writes) {
  const auto& array = kernel_.array(number);
  Counts::Moved moved;
  moved.accesses = static_cast<std::int64_t>(elements.size());
  moved.vectors = lanes > 1 ? moved.accesses : 0;
  moved.bytes = moved.accesses * bytes;
  const bool in_warps =
      kernel_.target == Target::cuda && (array.space == Space::global || array.space == Space::shared);
  for (std::size_t k = 0; in_warps && k < elements.size();) {
    const int warp = elements[k].first / kWarp;
    WarpAccess own;
    own.bytes = bytes;
    for (; k < elements.size() && elements[k].first / kWarp == warp; ++k)
      own.lanes.emplace_back(elements[k].first % kWarp, elements[k].second * size_of(array.type));
    array.space == Space::global ? count_sectors(own, moved) : count_wavefronts(own, moved);
  }
  count(number, moved, writes);
}

void Machine::count(int array, const Counts::Moved& moved, bool writes) {
  const auto space = static_cast<std::size_t>(kernel_.array(array).space);
  auto& of_array = counts_.arrays[static_cast<std::size_t>(array)];
  (writes ? counts_.written : counts_.read)[space] += moved;
  (writes ? of_array.written : of_array.read) += moved;
}

void Machine::check_shuffles(const Value& value, const Threads& threads) const {
  if (value.kind == Value::Kind::shuffle) whole_warps(threads, "a shuffle");
  for (const auto& operand : value.operands) check_shuffles(operand, threads);
}

void Machine::count_loads(const Value& value, const Threads& threads) {
  if (value.kind == Value::Kind::load && !(finished_ && value.access.array == finished_array_))
    count(value.access, threads, false);
  for (const auto& operand : value.operands) count_loads(operand, threads);
}

}  // namespace ricci::kernel
