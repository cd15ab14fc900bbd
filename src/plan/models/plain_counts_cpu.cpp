#include "plan/models/plain_counts_cpu.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/operation_types.hpp"
#include "kernel/program/loops.hpp"

namespace ricci::plan {
namespace {

using ir::NodeKind;

/// An index along which a round has several values, or one of what is left.
struct Cut {
  std::size_t index;
  std::int64_t count = 1;  ///< of the rounds at hand
  bool on_lanes = false;
};

/// Rounds of one kind: whole or not along each of the cuts.
class Rounds {
 public:
  Rounds(const ir::Program& program, const OperationCounts& operations, const std::vector<Cut>& cuts, int lane,
         std::int64_t lanes, double rounds, bool whole, PlainCpuCounts& counts)
      : program_(program), cuts_(cuts), lane_(lane), lanes_(lanes), rounds_(rounds), whole_(whole), counts_(counts) {
    counts_.rounds += rounds;
    for (const auto& load : operations.loads) count_load(load);
    for (const auto& operation : operations.operations) count_operation(operation);
    for (const auto& conversion : operations.conversions) count_conversion(conversion);
    for (const auto& test : operations.shared_tests) {
      if (values(test) > 1) add(counts_.arithmetic, test);
    }
  }

 private:
  const ir::Node& node(const CountedNode& counted) const {
    return program_.nodes[static_cast<std::size_t>(counted.node)];
  }

  /// Of a round, in registers of their own: vectors along the lanes.
  double values(const CountedNode& counted) const {
    double n = 1;
    for (const auto& cut : cuts_) n *= counted.depends[cut.index] ? static_cast<double>(cut.count) : 1;
    return n;
  }

  bool on_lanes(const CountedNode& counted) const {
    return lanes_ > 1 && counted.depends[static_cast<std::size_t>(lane_)];
  }

  /// Instructions of all these rounds.
  double times(const CountedNode& counted) const { return counted.times * rounds_ * values(counted); }

  void add(PlainCpuCounts::Work& to, const CountedNode& counted) {
    const auto instructions = times(counted);
    to += {instructions, instructions * (on_lanes(counted) ? static_cast<double>(lanes_) : 1)};
  }

  void count_load(const CountedNode& load) {
    if (!on_lanes(load) || node(load).offset.coefficient[static_cast<std::size_t>(lane_)] == 1) {
      add(counts_.loads, load);
    } else {
      const auto elements = times(load) * static_cast<double>(lanes_);
      counts_.gathered += elements;
      if (lanes_ > 4) counts_.gathered_wide += elements;
      if (is_half(node(load).type)) counts_.gathered_half += elements;
    }
  }

  void count_operation(const CountedNode& operation) {
    const auto& n = node(operation);
    if (n.kind == NodeKind::guard || (n.kind == NodeKind::op && !ir::is_counted(n.op))) {
      add(counts_.others, operation);
    } else if (is_complex(n.type)) {
      counts_.complex += times(operation);
    } else if (n.kind == NodeKind::scan) {
      add_scan(operation);
    } else {
      add(counts_.arithmetic, operation);
      if (operation.summed) counts_.summed += times(operation);
    }
    if (n.kind == NodeKind::reduce) counts_.waits += waits(operation);
  }

  void count_conversion(const CountedNode& cast) {
    const auto from = program_.nodes[static_cast<std::size_t>(node(cast).operand[0])].type;
    (is_half(from) ? counts_.widened : counts_.narrowed) += times(cast);
  }

  double waits(const CountedNode& sum) const {
    constexpr double kLatencyOfSum = 4, kAhead = 100;  // terms of other points that a processor adds meanwhile
    double terms = 1;
    for (const int q : node(sum).over)
      terms *= static_cast<double>(program_.indices[static_cast<std::size_t>(q)].extent);
    const double part = whole_ ? 1 : terms / (terms + kAhead);
    return part * sum.times * rounds_ * std::max(0.0, kLatencyOfSum - 0.5 * values(sum));
  }

  /// Rows take as many additions as their length has bits, and one of what came before. Of lanes each has a scan of its
  /// own, also where what is scanned is the same for all of them.
  void add_scan(const CountedNode& scan) {
    const auto& n = node(scan);
    const int row = lanes_ > 1 ? 1 : kernel::scan_row(program_, n);
    const auto extent = program_.indices[static_cast<std::size_t>(n.over[0])].extent;
    const auto left = row > 1 ? extent % row : extent, rows = (extent - left) / row;
    const double scans = extent > 0 ? scan.times * rounds_ / static_cast<double>(extent) : 0;
    const double vectors = static_cast<double>(rows) * (std::log2(row) + 1), single = static_cast<double>(left);
    const auto together = static_cast<double>(std::max<std::int64_t>(lanes_, 1));
    counts_.arithmetic += {scans * (vectors + single), scans * (vectors * row + single) * together};
  }

  const ir::Program& program_;
  const std::vector<Cut>& cuts_;
  int lane_;
  std::int64_t lanes_;
  double rounds_;
  bool whole_;
  PlainCpuCounts& counts_;
};

}  // namespace

PlainCpuCounts::Work& PlainCpuCounts::Work::operator+=(const Work& more) {
  instructions += more.instructions;
  values += more.values;
  return *this;
}

PlainCpuCounts& PlainCpuCounts::operator+=(const PlainCpuCounts& more) {
  rounds += more.rounds;
  loads += more.loads;
  gathered += more.gathered;
  gathered_wide += more.gathered_wide;
  gathered_half += more.gathered_half;
  arithmetic += more.arithmetic;
  summed += more.summed;
  complex += more.complex;
  others += more.others;
  widened += more.widened;
  narrowed += more.narrowed;
  waits += more.waits;
  return *this;
}

PlainCpuCounts counts_of(const ir::Program& program, const OperationCounts& operations,
                         const std::vector<std::int64_t>& registers, int lane, std::int64_t lanes, std::int64_t along) {
  struct Kinds {
    std::int64_t whole = 0, left = 0;  // rounds
  };
  constexpr std::size_t kUsual = 3;  // a register tile's two indices, and that of the lanes
  std::vector<Cut> cuts;
  std::vector<Kinds> kinds;
  cuts.reserve(kUsual);
  kinds.reserve(kUsual);
  double others = 1;  // rounds along all other indices
  for (std::size_t q = 0; q < program.indices.size(); ++q) {
    if (!operations.free[q]) continue;
    const bool on_lanes = static_cast<int>(q) == lane && lanes > 1;
    const auto values = on_lanes ? along : program.indices[q].extent, block = registers[q] * (on_lanes ? lanes : 1);
    if (block == 1) {
      others *= static_cast<double>(values);
      continue;
    }
    cuts.push_back({q, registers[q], on_lanes});
    kinds.push_back({values / block, values % block});
  }
  PlainCpuCounts counts;
  // Each kind of round once: bit k says whether it has what is left along cut k.
  for (std::size_t kind = 0; kind < std::size_t{1} << cuts.size(); ++kind) {
    double rounds = others;
    auto lanes_of_kind = lanes;
    for (std::size_t k = 0; k < cuts.size(); ++k) {
      const bool left = (kind >> k & 1) != 0;
      rounds *= static_cast<double>(left ? kinds[k].left : kinds[k].whole);
      cuts[k].count = left ? 1 : registers[cuts[k].index];
      if (left && cuts[k].on_lanes) lanes_of_kind = 1;
    }
    if (rounds > 0) Rounds(program, operations, cuts, lane, lanes_of_kind, rounds, kind == 0, counts);
  }
  return counts;
}

}  // namespace ricci::plan
