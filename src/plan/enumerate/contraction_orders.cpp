// Orders of operands and results that may be worth a step of their own before a contraction, or after it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "kernel/tensor_map.hpp"
#include "plan/enumerate/contraction.hpp"
#include "plan/enumerate/gpu_contraction.hpp"
#include "plan/models/contraction_cost.hpp"

namespace ricci::plan {

using tiles::Axes;

namespace {

/// Cycles that products take at least: more than those of their units. Large ones of bench/problems/gemm.csv are
/// predicted to take 1.22 times as long in f64, 1.25 in bf16, 1.32 in f32 and 1.37 in tf32; of those that the plans of
/// talsh300 look at none takes less than 1.10 on tensor cores and 1.17 by fused multiply-adds.
double least_cycles(const GpuContraction& contraction, double of_units) {
  return (contraction.fma ? 1.16 : 1.1) * of_units;
}

/// Whether an operand has no gaps and lies in an order of its indices.
bool lies_in(const ir::Program& program, ir::NodeId load, const std::vector<int>& order) {
  const auto& coefficient = program.nodes[static_cast<std::size_t>(load)].offset.coefficient;
  std::int64_t step = 1;
  for (auto k = order.size(); k-- > 0;) {
    const auto q = static_cast<std::size_t>(order[k]);
    if (coefficient[q] != step) return false;
    step *= program.indices[q].extent;
  }
  return true;
}

/// What a copy of an operand holds: its elements as they are staged, where that rounds them to a narrower type.
ir::NodeId copied_value(const ir::Program& program, const GpuContraction& contraction, bool of_rows) {
  const auto load = contraction.load(of_rows);
  if (!contraction.converts(of_rows) || size_of(contraction.operand_type) >= contraction.element_bytes(of_rows))
    return load;
  for (std::size_t id = 0; id < program.nodes.size(); ++id) {
    const auto& node = program.nodes[id];
    if (node.kind == ir::NodeKind::op && node.op == ir::OpCode::cast && node.type == contraction.operand_type &&
        node.operand[0] == load)
      return static_cast<ir::NodeId>(id);
  }
  return load;
}

/// How many of the last indices of an order, which has the depth or the operand's side last, make a row that begins at
/// a line: all of these, where rows would not begin at multiples of `unit` bytes, and are not much longer so.
///   size  bytes of an element of the copy
std::size_t whole_rows(const GpuContraction& contraction, bool of_rows, bool deep, std::int64_t size,
                       std::int64_t unit) {
  constexpr std::int64_t kLonger = 8;  // one part in as many at most
  const auto& axes = deep ? contraction.depth_axes : of_rows ? contraction.row_axes : contraction.column_axes;
  for (const auto& axis : axes) size *= axis.extent;
  const bool whole = size % unit == 0 || (tiles::up(size, kCacheLineBytes) - size) * kLonger > size;
  return whole ? 0 : axes.size();
}

/// An operand's indices as it lies in memory, slowest first.
std::vector<int> own_order(const ir::Program& program, ir::NodeId load) {
  const auto& coefficient = program.nodes[static_cast<std::size_t>(load)].offset.coefficient;
  const auto step = [&](int q) { return std::abs(coefficient[static_cast<std::size_t>(q)]); };
  std::vector<int> order;
  for (std::size_t q = 0; q < coefficient.size(); ++q) {
    if (coefficient[q] != 0) order.push_back(static_cast<int>(q));
  }
  std::stable_sort(order.begin(), order.end(), [&](int x, int y) { return step(x) > step(y); });
  return order;
}

}  // namespace

double least_contraction_us(const ir::Program& program, const GpuModel& device) {
  auto least = std::numeric_limits<double>::infinity();
  const auto way = GpuContraction::of(program, device);
  if (!way) return least;
  least = least_time_of_launch(way->product_cycles(), way->bytes, false, device);
  if (const auto groups = way->by_groups(program, device))
    least = std::min(least, least_time_of_launch(groups->product_cycles(), groups->bytes, true, device));
  return 1e6 * least;
}

std::vector<OperandOrder> operand_orders(const ir::Program& program, const GpuModel& device, const Candidate* best) {
  const auto found = GpuContraction::of(program, device);
  if (!found) return {};
  const auto& contraction = *found;
  const double bytes_a_second = device.copy_rate_GBs() * 1e9;
  const std::array<ir::NodeId, 2> copied = {copied_value(program, contraction, true),
                                            copied_value(program, contraction, false)};
  const auto value = [&](bool of_rows) { return copied[of_rows ? 0 : 1]; };
  const auto copied_bytes = [&](bool of_rows) {
    return size_of(program.nodes[static_cast<std::size_t>(value(of_rows))].type);
  };
  const auto copy_seconds = [&](bool of_rows) {
    return contraction.elements(of_rows) *
           static_cast<double>(contraction.element_bytes(of_rows) + copied_bytes(of_rows)) / bytes_a_second;
  };
  // Of the product that is left, by sums that leave no units idle.
  const double clock = device.multiprocessors * device.clock_MHz * 1e6;
  const auto groups = contraction.by_groups(program, device);
  // Warp groups take tf32 that is rounded, and it and integers with neighbours along the depth.
  const bool tf32 = groups && groups->atom().a.type == kernel::AtomType::tf32;
  const bool along = groups && !kernel::lies_either_way(groups->atom().a.type);
  const auto suits = [&](bool of_rows) { return contraction.deep(of_rows) && !groups->converts(of_rows); };
  double bytes = contraction.bytes;
  for (const bool of_rows : {true, false})
    bytes -=
        contraction.elements(of_rows) * static_cast<double>(contraction.element_bytes(of_rows) - copied_bytes(of_rows));
  const auto least_with = [&](double cycles) {
    const double by_warps = least_time_of_launch(least_cycles(contraction, cycles), bytes, false, device);
    if (!groups) return by_warps;
    const double of_groups = least_cycles(*groups, groups->product_cycles());
    return std::min(by_warps, least_time_of_launch(of_groups, bytes, true, device));
  };
  const auto in_three = contraction.in_three_products();
  const auto& fewest = in_three ? *in_three : contraction;
  const double least = least_with(fewest.product_cycles());
  const auto may_be_worth = [&](bool of_rows) {
    return best == nullptr || copy_seconds(of_rows) + least < 1e-6 * best->predicted_us;
  };
  if (!may_be_worth(true) && !may_be_worth(false)) return {};
  const auto saved = best != nullptr && best->gathers ? *best->gathers : gather_seconds(program, contraction, device);
  // Multiply-adds wait for registers of neighbours along the depth.
  const double waits = contraction.product_cycles() * (contraction.copied_rate / contraction.rate - 1) / clock;
  // Copies must be predicted to save more than predictions are off where products need none: those in tf32 that gathers
  // do not ask for, unless groups multiply already (with one operand in registers, as it lies), and others where groups
  // do (bf16 on an H100: ccsd00 of tccg48 took 1.18 times as long with a copy, ccsd17 1.15 times).
  constexpr double kGain = 0.05;
  const bool grouped = best != nullptr && best->counts && best->counts->overlapped && best->counts->waits == 0;
  const auto margin = [&](bool gathers) {
    return (along ? !gathers && !grouped : grouped) && best != nullptr ? kGain * best->predicted_us : 0;
  };
  // Where warp groups could multiply and do not, a copy that takes next to nothing may be all that they wait for: what
  // theirs would save is not known.
  constexpr double kCheap = 0.05;
  const auto is_cheap = [&](bool of_rows) {
    return groups && !along && !grouped && best != nullptr &&
           copy_seconds(of_rows) < kCheap * 1e-6 * best->predicted_us;
  };
  // Copies in the result's order have its neighbours in one block, whose stores are longer runs: where these are much
  // of the time. They must be predicted to save a few percent (of 24 cases in f64 on an H100, of which 18 of tccg48 and
  // talsh300 were 1.01 to 1.47 times as fast; two in c128 that were predicted to gain 1.7 % lost 3 %).
  constexpr double kMuch = 0.15, kStoreGain = 0.03;
  double stores = 0;
  if (best != nullptr && best->counts && !contraction.is_outer()) {
    const auto time = contraction_time(*best->counts, device);
    if (time.stores >= kMuch * time.total) stores = time.stores;
  }
  std::vector<OperandOrder> orders;
  for (const bool of_rows : {true, false}) {
    const auto load = contraction.load(of_rows);
    const bool rounds = along ? !suits(of_rows) : value(of_rows) != load;
    const double gathered = saved[of_rows ? 0 : 1] + (contraction.deep(of_rows) ? waits : 0);
    const bool gathers = gathered >= copy_seconds(of_rows) || is_cheap(of_rows);
    const bool stored = !gathers && gathered + stores >= copy_seconds(of_rows);
    if (!may_be_worth(of_rows) || (!rounds && !gathers && !stored)) continue;
    const auto add = [&](std::vector<int> order, bool deep) {
      if (!rounds && lies_in(program, load, order)) return;
      for (const auto& other : orders) {
        if (other.value == value(of_rows) && other.indices == order) return;
      }
      const auto unit = !groups || (along && !deep) ? 1 : along ? kSectorBytes : kernel::kMapUnit;
      const auto row = whole_rows(contraction, of_rows, deep, copied_bytes(of_rows), unit);
      const double product = least_with(fewest.product_cycles(deep + contraction.deep(!of_rows)));
      // One more kernel has to start; rounding to tf32 saves more than is predicted.
      constexpr double kStartUs = 1.5;
      orders.push_back(
          {value(of_rows), std::move(order), row, tf32, deep, along && deep, 1e6 * product,
           1e6 * (product + copy_seconds(of_rows)),
           (rounds && tf32 ? 0 : kStartUs) + (stored ? kStoreGain * best->predicted_us : margin(gathers))});
    };
    if (rounds && (!along || contraction.deep(of_rows))) add(own_order(program, load), contraction.deep(of_rows));
    for (const bool deep : {true, false}) {
      if (deep || !along || gathers) add(contraction.order(of_rows, deep), deep);
    }
  }
  // What may take the least time comes first, so that the rest need not be looked at closer.
  std::stable_sort(orders.begin(), orders.end(),
                   [](const OperandOrder& x, const OperandOrder& y) { return x.least_us < y.least_us; });
  return orders;
}

std::optional<PartsOrder> parts_order(const ir::Program& program, const GpuModel& device) {
  if (program.precision != Precision::tf32x3 || program.exact) return std::nullopt;
  const auto found = kernel::contraction_of(program);
  auto in_one = program;
  in_one.precision = Precision::tf32;
  const auto contraction = GpuContraction::of(in_one, device);
  const auto groups = contraction ? contraction->by_groups(in_one, device) : std::nullopt;
  if (!groups || contraction->element_bytes(true) != contraction->size ||
      contraction->element_bytes(false) != contraction->size)
    return std::nullopt;
  constexpr double kParts = 3;
  PartsOrder order;
  order.sum = found->reduce;
  order.summed = contraction->depth_axes.size();
  double bytes = 0;
  for (const bool of_rows : {true, false}) {
    auto& factor = order.factors[of_rows ? 0 : 1];
    factor.value = contraction->load(of_rows);
    factor.indices = contraction->order(of_rows, true);
    bytes += 2 * kParts * contraction->elements(of_rows) * static_cast<double>(contraction->size);
  }
  // The depth in one order for both.
  const auto depth = static_cast<std::ptrdiff_t>(order.summed);
  auto& [of_rows, of_columns] = order.factors;
  std::copy(of_rows.indices.end() - depth, of_rows.indices.end(), of_columns.indices.end() - depth);
  const double clock = device.multiprocessors * device.clock_MHz;  // in a microsecond
  order.least_us = kParts * groups->product_cycles() / clock + bytes / (device.copy_rate_GBs() * 1e3);
  return order;
}

std::optional<MatrixOrder> matrix_order(const ir::Program& program, const GpuModel& device) {
  const auto found = kernel::contraction_of(program);
  const auto contraction = GpuContraction::of(program, device);
  if (!contraction || contraction->is_outer()) return std::nullopt;
  const auto& rows = contraction->row_axes;
  const auto& columns = contraction->column_axes;
  if (rows.empty() || columns.empty() || rows.size() + columns.size() < 3) return std::nullopt;
  double results = static_cast<double>(contraction->batches);
  for (const auto* axes : {&rows, &columns}) {
    for (const auto& axis : *axes) results *= static_cast<double>(axis.extent);
  }
  const double clock = device.multiprocessors * device.clock_MHz;  // in a microsecond
  const double products = results * contraction->terms / contraction->copied_rate / clock;
  const double permuted = results * static_cast<double>(size_of(contraction->type) + contraction->result_size) /
                          (device.copy_rate_GBs() * 1e3);
  if (products < permuted) return std::nullopt;
  MatrixOrder order;
  order.sum = found->reduce;
  order.row = columns.size();
  const auto product_us = [&](const GpuContraction& way) {
    return 1e6 * least_time_of_launch(least_cycles(way, way.product_cycles()), way.bytes, way.groups, device);
  };
  order.product_us = product_us(*contraction);
  order.permuted_us = permuted;
  order.least_us = order.least_by_warps_us = products + permuted;
  if (const auto groups = contraction->by_groups(program, device)) {
    order.product_us = std::min(order.product_us, product_us(*groups));
    order.least_us = std::min(order.least_us, groups->product_cycles() / clock + permuted);
  }
  const auto add = [&](Axes axes) {
    std::stable_sort(axes.begin(), axes.end(), [](const tiles::Axis& x, const tiles::Axis& y) {
      return std::abs(x.in_operand) > std::abs(y.in_operand);
    });
    for (const auto& axis : axes) order.indices.push_back(axis.index);
  };
  add(contraction->batch_axes);
  add(rows);
  add(columns);
  return order;
}

std::optional<OperandOrder> matrix_operand(const ir::Program& program, const GpuModel& device, bool of_rows) {
  const auto contraction = GpuContraction::of(program, device);
  if (!contraction) return std::nullopt;
  const auto& side = of_rows ? contraction->row_axes : contraction->column_axes;
  const bool one = side.size() == 1 && std::abs(side.front().in_operand) == 1;
  if (one && contraction->depth_axes.size() == 1) return std::nullopt;
  OperandOrder order;
  order.value = copied_value(program, *contraction, of_rows);
  order.indices = contraction->order(of_rows, false);
  order.row = side.size();
  const auto copied = size_of(program.nodes[static_cast<std::size_t>(order.value)].type);
  order.least_us = contraction->elements(of_rows) * static_cast<double>(contraction->element_bytes(of_rows) + copied) /
                   (device.copy_rate_GBs() * 1e3);
  return order;
}

}  // namespace ricci::plan
