#include "plan/enumerate/rows_cpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "kernel/program/loops.hpp"
#include "kernel/program/rows.hpp"
#include "plan/enumerate/plain_directives.hpp"
#include "plan/models/operation_counts.hpp"

namespace ricci::plan {
namespace {

using ir::NodeKind;

std::size_t at(int k) { return static_cast<std::size_t>(k); }

/// Bytes of a row that its passes read, keep and write.
std::int64_t row_bytes(const kernel::RowProgram& rows, int row) {
  const auto& along = rows.program;
  std::int64_t bytes = 0;
  for (const auto& node : along.nodes) {
    if (node.kind == NodeKind::load && node.offset.coefficient[at(row)] != 0) bytes += size_of(node.type);
  }
  for (const auto& statement : along.statements) {
    if (statement.offset.coefficient[at(row)] != 0) bytes += size_of(along.buffers[at(statement.buffer)].type);
  }
  for (const auto& pass : kernel::row_passes(rows, row)) {
    for (const auto& [id, parts] : pass.kept) bytes += size_of(along.nodes[at(id)].type);
  }
  return bytes * along.indices[at(row)].extent;
}

/// Whether what all rows read alike stays in the first cache. Else several rows at a time are for tiles (8192 rows of
/// 64 KB times a vector on an AMD EPYC).
bool reads_again_in_cache(const ir::Program& program, const CpuModel& device, int row) {
  const auto row_extent = program.indices[at(row)].extent;
  std::int64_t again = 0, most = 0;
  for (const auto& node : program.nodes) {
    if (node.kind == NodeKind::load) most = std::max(most, ir::reached(node.offset, program.indices));
  }
  for (const auto& node : program.nodes) {
    if (node.kind != NodeKind::load || node.offset.coefficient[at(row)] == 0) continue;
    if (ir::reached(node.offset, program.indices) < most) again += row_extent * size_of(node.type);
  }
  return again <= device.l1_bytes / 2;
}

class PassEnumerator {
 public:
  PassEnumerator(const ir::Program& program, const CpuModel& device, int row)
      : program_(program),
        device_(device),
        row_(row),
        rows_of_program_(*kernel::cut_rows(program, row)),
        along_(rows_of_program_.program),
        passes_(kernel::row_passes(rows_of_program_, row)),
        order_(count_operations(program).order) {
    std::erase(order_, row);
    if (!program.free_indices()[at(row)]) order_as_read();
    for (const int q : order_) rows_ *= static_cast<double>(extent(q));
    for (const auto& node : along_.nodes) {
      if (node.kind == NodeKind::load) bytes_ += reached(node.offset, node.type);
    }
    for (const auto& statement : along_.statements)
      bytes_ += reached(statement.offset, along_.buffers[at(statement.buffer)].type);
  }

  std::vector<Candidate> run(double bound_us) {
    const auto widest = device_.vector_bytes / size_of(*kernel::lane_type(along_));
    // Results of half types fill lines by two registers of what they are computed in.
    for (auto lanes = has_half_results() ? 2 * widest : widest; lanes >= 2; lanes /= 2) {
      if (lanes <= extent(row_)) add(lanes, bound_us);
    }
    return std::move(list_);
  }

 private:
  std::int64_t extent(int q) const { return program_.indices[at(q)].extent; }

  /// Sums are few beside what they are of: rows in the order of the tensor that has most of them.
  void order_as_read() {
    const ir::Node* most = nullptr;
    for (const auto& node : program_.nodes) {
      const auto reached = [&](const ir::Node& load) { return ir::reached(load.offset, program_.indices); };
      if (node.kind == NodeKind::load && (most == nullptr || reached(node) > reached(*most))) most = &node;
    }
    std::ranges::stable_sort(order_, {}, [&](int q) { return std::abs(most->offset.coefficient[at(q)]); });
  }

  bool has_half_results() const {
    return std::any_of(along_.statements.begin(), along_.statements.end(), [&](const ir::Statement& statement) {
      return statement.offset.coefficient[at(row_)] != 0 && is_half(along_.buffers[at(statement.buffer)].type);
    });
  }

  double reached(const ir::Affine& offset, DType type) const {
    return static_cast<double>(ir::reached(offset, along_.indices) * size_of(type));
  }

  /// Cycles of one vector of a pass, as plain schedules have them.
  double cycles_of(const kernel::RowPass& pass) const {
    constexpr double kLoad = 0.5, kStore = 1, kOperation = 0.5, kWidened = 1.5, kNarrowed = 4.5;
    double cycles = kStore * static_cast<double>(pass.results.size()) +
                    (kStore + kLoad) * static_cast<double>(pass.kept.size()) +
                    kOperation * static_cast<double>(pass.sums.size());
    for (const auto id : pass.computed) {
      const auto& node = along_.nodes[at(id)];
      if (node.kind == NodeKind::load) cycles += kLoad;
      if (node.kind != NodeKind::op) continue;
      const auto from = along_.nodes[at(node.operand[0])].type;
      const bool one = node.op != ir::OpCode::cast || is_integer(from);  // instruction
      cycles += one ? kOperation : is_half(from) ? kWidened : kNarrowed;
    }
    return cycles;
  }

  /// Of a row: rounds of all passes, what half vectors of sums take to be added, and lines that come again from the
  /// second cache.
  double cycles_of_row(std::int64_t lanes) const {
    constexpr double kRound = 2, kAgain = 0.5, kLine = 64;
    // Of one pass the next row begins before the sums of this one are complete (18 kernels in caches of an AMD EPYC).
    const bool one = passes_.size() == 1;
    const double half = one ? 0.5 : 4;
    double cycles = one ? 3 : 20, sums = 0, vectors = 0, rounds = 0;
    for (const auto& round : kernel::row_rounds(extent(row_), lanes, rows_of_program_.cut.has_value())) {
      const auto bytes = round.lanes * size_of(*kernel::lane_type(along_));
      const auto registers = std::max<std::int64_t>(bytes / device_.vector_bytes, 1);
      vectors += static_cast<double>(registers * round.vectors * round.count);
      rounds += static_cast<double>(round.count);
    }
    for (const auto& pass : passes_) {
      cycles += vectors * cycles_of(pass) + kRound * rounds;
      sums += static_cast<double>(pass.sums.size());
    }
    cycles += sums * half * std::log2(static_cast<double>(lanes));
    const auto bytes = static_cast<double>(row_bytes(rows_of_program_, row_));
    if (bytes > static_cast<double>(device_.l1_bytes) / 2)
      cycles += kAgain * static_cast<double>(passes_.size()) * bytes / kLine;
    return cycles;
  }

  void add(std::int64_t lanes, double bound_us) {
    const double cycles = cycles_of_row(lanes);
    const double cycles_us = rows_ * cycles / device_.cycles_per_us() / device_.threads;
    const bool beyond = device_.beyond_caches(bytes_), results = program_.free_indices()[at(row_)];
    const bool nontemporal = results && beyond && stores_whole_lines(lanes);
    double rate_GBs = 20;  // of one thread
    if (nontemporal) rate_GBs *= 1.2;
    if (beyond) rate_GBs = results ? device_.thread_GBs(nontemporal, rate_GBs) : device_.thread_read_GBs(rate_GBs);
    const double memory_us = bytes_ / rate_GBs * 1e-3 / device_.threads;
    Candidate candidate;
    candidate.predicted_us = std::max(cycles_us, memory_us);
    if (candidate.predicted_us > bound_us) return;
    candidate.parts = {{"memory", memory_us}, {"rows", cycles_us}};
    std::vector<PlainIndex> indices(program_.indices.size());
    // Tiles large enough to amortise finding them, small enough to balance threads.
    auto wanted = std::clamp<std::int64_t>(static_cast<std::int64_t>(60e3 / cycles), 1, 8192);
    candidate.traffic.tiles = 1;
    std::vector<int> looped;
    for (const auto q : order_) {
      auto& tile = indices[at(q)].tile;
      tile = std::min(wanted, extent(q));
      wanted /= tile;
      if (tile > 1) looped.push_back(q);
      if (wanted < 1) wanted = 1;
      candidate.traffic.tiles *= (extent(q) + tile - 1) / tile;
    }
    auto order = order_;
    if (results) order.insert(order.begin(), row_);
    auto& schedule = candidate.schedule;
    schedule.directives = plain_loops(program_, order, looped, indices, kernel::Target::cpu);
    auto& directive_of_row = schedule.directives.emplace_back(directive(kernel::Directive::Kind::row, {lanes}));
    directive_of_row.subject = program_.indices[at(row_)].name;
    schedule.name = fmt::format("plain row {}{}", directive_of_row.subject, lanes);
    if (nontemporal) schedule.directives.push_back(directive(kernel::Directive::Kind::nontemporal));
    list_.push_back(std::move(candidate));
  }

  /// Whether each vector of results begins a multiple of its length from the first element, and is a line or more:
  /// parts of lines by nontemporal stores, beside lines that are fetched, take an AMD EPYC up to 30 times as long.
  bool stores_whole_lines(std::int64_t lanes) const {
    return std::all_of(along_.statements.begin(), along_.statements.end(), [&](const ir::Statement& statement) {
      const auto& to = statement.offset;
      bool whole = to.constant % lanes == 0;
      for (std::size_t q = 0; q < to.coefficient.size(); ++q)
        whole = whole && (static_cast<int>(q) == row_ || to.coefficient[q] % lanes == 0);
      const bool line = lanes * size_of(along_.buffers[at(statement.buffer)].type) >= kernel::kLineBytes;
      return (whole && line) || to.coefficient[at(row_)] == 0;
    });
  }

  const ir::Program& program_;
  const CpuModel& device_;
  int row_;
  kernel::RowProgram rows_of_program_;
  const ir::Program& along_;
  std::vector<kernel::RowPass> passes_;
  std::vector<int> order_;  ///< of the indices of rows, fastest first
  double rows_ = 1, bytes_ = 0;
  std::vector<Candidate> list_;
};

}  // namespace

int row_in_cache(const ir::Program& program, const CpuModel& device) {
  int row = kernel::row_of(program);
  if (row < 0) {
    row = kernel::row_of_one_sum(program);
    if (row >= 0 && !reads_again_in_cache(program, device, row)) return -1;
  }
  if (row < 0 || !kernel::rows_are_read_first(program, row)) return -1;
  const auto rows = kernel::cut_rows(program, row);
  if (!rows || !kernel::lane_type(rows->program)) return -1;
  const auto& along = rows->program;
  const auto lies_along = [&](const ir::Affine& offset) {
    const auto step = offset.coefficient[at(row)];
    return step == 0 || step == 1;
  };
  const bool neighbours =
      std::all_of(along.nodes.begin(), along.nodes.end(),
                  [&](const ir::Node& node) { return node.kind != NodeKind::load || lies_along(node.offset); }) &&
      std::all_of(along.statements.begin(), along.statements.end(),
                  [&](const ir::Statement& statement) { return lies_along(statement.offset); });
  return neighbours && row_bytes(*rows, row) <= device.l2_bytes / 2 ? row : -1;
}

std::vector<Candidate> with_rows(std::vector<Candidate> others, const ir::Program& program, const CpuModel& device,
                                 std::size_t most, double bound_us) {
  const int row = row_in_cache(program, device);
  if (row < 0) return others;
  auto list = PassEnumerator(program, device, row).run(bound_us);
  std::move(others.begin(), others.end(), std::back_inserter(list));
  sort_by_time(list, most);
  return list;
}

}  // namespace ricci::plan
