// What lanes do together: those of a warp, and those of a vector.
#include <fmt/format.h>

#include <algorithm>

#include "kernel/expand.hpp"
#include "kernel/interpret/machine.hpp"

namespace ricci::kernel {
namespace {

/// An operation on two values of a type, as a node.
Value pair_of(ir::OpCode op, DType type) { return apply(op, type, {zero_of(type), zero_of(type)}); }

}  // namespace

void Machine::over_lanes(const Access& registers, const Threads& threads,
                         const std::function<void(std::vector<Item>& lanes)>& combine) {
  whole_warps(threads, "a combination of lanes");
  for (std::size_t k = 0; k < threads.size(); k += kWarp) {
    std::vector<Item> lanes;
    for (int lane = 0; lane < kWarp; ++lane) lanes.push_back(load(registers, threads[k] + lane).front());
    combine(lanes);
    for (int lane = 0; lane < kWarp; ++lane)
      store(registers, {lanes[static_cast<std::size_t>(lane)]}, threads[k] + lane);
  }
}

void Machine::one(const LaneReduce& reduce, const Threads& threads) {
  const auto node = pair_of(reduce.op, kernel_.array(reduce.registers.array).type);
  over_lanes(reduce.registers, threads, [&](std::vector<Item>& lanes) {
    for (auto mask = static_cast<std::size_t>(reduce.lanes) / 2; mask > 0; mask /= 2) {
      const auto before = lanes;
      for (std::size_t lane = 0; lane < kWarp; ++lane) {
        const Item both[] = {before[lane], before[lane ^ mask]};
        lanes[lane] = operation(node, both);
        ++counts_.flops;
      }
    }
  });
}

void Machine::one(const LaneScan& scan, const Threads& threads) {
  const auto node = pair_of(scan.op, kernel_.array(scan.registers.array).type);
  over_lanes(scan.registers, threads, [&](std::vector<Item>& lanes) {
    for (std::size_t span = 1; span < kWarp; span *= 2) {
      const auto before = lanes;
      for (std::size_t lane = span; lane < kWarp; ++lane) {
        const Item both[] = {before[lane - span], before[lane]};
        lanes[lane] = operation(node, both);
        ++counts_.flops;
      }
    }
  });
}

std::vector<Item> Machine::exchanged(const Value& value, int thread) {
  whole_warps(*passing_, "an exchange between lanes");
  const auto& operand = value.operands.front();
  const int lane = thread % kWarp, first = thread - lane;
  if (value.kind == Value::Kind::ballot) {
    Item bits;
    for (int other = 0; other < kWarp; ++other) {
      const auto item = this->value(operand, first + other).front();
      if (item.unwritten >= 0) bits.unwritten = item.unwritten;
      if (values_ && item.value.integer != 0) bits.value.integer |= std::uint64_t{1} << other;
    }
    return {bits};
  }
  const auto by = static_cast<int>(value.affine.constant);
  return this->value(operand, first + (lane >= by ? lane - by : lane));
}

std::vector<Item> Machine::rearranged(const Value& value, std::vector<Item> lanes, int thread) {
  if (value.kind == Value::Kind::shifted) {
    std::rotate(lanes.begin(), lanes.end() - 1, lanes.end());
    lanes.front() = this->value(value.operands.back(), thread).front();
    return lanes;
  }
  const auto node = pair_of(ir::OpCode::add, value.type);
  const Item nothing{is_integer(value.type) ? ir::oracle::Value{} : ir::oracle::value_of(0, value.type), -1};
  for (std::size_t span = 1; span < lanes.size(); span *= 2) {
    const auto before = lanes;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      const Item both[] = {before[lane], lane >= span ? before[lane - span] : nothing};
      lanes[lane] = operation(node, both);
      ++counts_.flops;
    }
  }
  return lanes;
}

}  // namespace ricci::kernel
