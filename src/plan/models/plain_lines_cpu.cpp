#include "plan/models/plain_lines_cpu.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <tuple>

#include "kernel/kernel.hpp"

namespace ricci::plan {
using kernel::kLineBytes;

PlainLineCounter::PlainLineCounter(const ir::Program& program, const OperationCounts& operations,
                                   const CpuModel& device)
    : program_(program), device_(device), reach_(program.indices.size()) {
  for (const auto& counted : operations.loads) {
    const auto& load = program.nodes[static_cast<std::size_t>(counted.node)];
    add(load.offset, load.type, false);
  }
  for (const auto& statement : program.statements)
    add(statement.offset, program.buffers[static_cast<std::size_t>(statement.buffer)].type, true);
  for (auto q = program.indices.size(); q-- > 0;) {
    if (!operations.free[q]) summed_.push_back(q);
  }
}

void PlainLineCounter::add(const ir::Affine& offset, DType type, bool result) {
  Stream stream{{}, static_cast<std::int64_t>(size_of(type)), 0, result};
  stream.begin = std::gcd(kLineBytes, offset.constant * stream.element);
  for (std::size_t q = 0; q < offset.coefficient.size(); ++q) {
    if (offset.coefficient[q] != 0) stream.strides.emplace_back(q, std::abs(offset.coefficient[q]));
  }
  std::stable_sort(stream.strides.begin(), stream.strides.end(),
                   [](const auto& x, const auto& y) { return x.second < y.second; });
  streams_.push_back(std::move(stream));
}

bool PlainLineCounter::Stream::moves_with(std::size_t q) const {
  return std::any_of(strides.begin(), strides.end(), [q](const auto& stride) { return stride.first == q; });
}

/// All of `reach_`: runs begin where the strides around them lead.
void PlainLineCounter::go_through(Stream& stream) const {
  std::int64_t runs = 1, run = 1, begin = stream.begin;
  for (const auto& [q, stride] : stream.strides) {
    const auto values = reach_[q];
    const bool in_run = stride <= std::max(run, kLineBytes / stream.element);
    if (in_run) {
      run += stride * (values - 1);
    } else {
      runs *= values;
    }
    if (values < program_.indices[q].extent || !in_run)
      begin = std::gcd(begin, stride * stream.element * (in_run ? values : 1));
  }
  const auto bytes = run * stream.element;
  stream.runs = static_cast<double>(runs);
  stream.lines = static_cast<double>(runs * (bytes + kLineBytes - std::gcd(begin, bytes))) / kLineBytes;
}

double PlainLineCounter::first_room() const {
  constexpr double kShare = 0.75;  // of the first cache, as sets fill unevenly
  return kShare * static_cast<double>(device_.l1_bytes) / kLineBytes;
}
double PlainLineCounter::second_room() const { return static_cast<double>(device_.l2_bytes) / kLineBytes; }

PlainCpuLines PlainLineCounter::least() const {
  PlainCpuLines::Far operands, results;
  for (const auto& stream : streams_) {
    std::int64_t elements = 1, reach = 1;
    for (const auto& [q, stride] : stream.strides) {
      const auto extent = program_.indices[q].extent;
      if (extent == 1) continue;
      if (stride < reach) return {};  // the same element at several points
      reach += stride * (extent - 1);
      elements *= extent;
    }
    (stream.result ? results : operands).lines += static_cast<double>(elements * stream.element) / kLineBytes;
  }
  PlainCpuLines least;
  const double all = operands.lines + results.lines;
  if (all > first_room()) least.first = all;
  if (all > second_room()) std::tie(least.operands, least.results) = std::pair(operands, results);
  return least;
}

PlainCpuLines PlainLineCounter::count(const std::vector<std::int64_t>& round, const std::vector<int>& order) {
  const double first_room = this->first_room(), second_room = this->second_room();
  const auto rounds_along = [&](std::size_t q) {
    const auto values = std::max<std::int64_t>(round[q], 1),
               rounds = (program_.indices[q].extent + values - 1) / values;
    return static_cast<double>(rounds);
  };
  reach_ = round;
  double outside = 1;
  for (const auto q : order) outside *= rounds_along(static_cast<std::size_t>(q));
  const double all_rounds = outside;
  for (const auto q : summed_) {
    reach_[q] = 1;
    outside *= static_cast<double>(program_.indices[q].extent);
  }
  for (auto& stream : streams_) go_through(stream);

  PlainCpuLines lacking;
  bool in_first = true, in_second = true;
  const auto in_loop = [&](std::size_t q, double times) {
    reach_[q] = std::max<std::int64_t>(program_.indices[q].extent, 1);
    outside /= std::max(times, 1.0);
    double all = 0;
    PlainCpuLines::Far operands, results;  // runs are as long as the loops inside of this one go
    for (auto& stream : streams_) {
      const double runs_of_line = stream.runs / stream.lines;
      if (stream.moves_with(q)) go_through(stream);
      auto& far = stream.result ? results : operands;
      far.lines += stream.lines * outside;
      far.runs += stream.lines * outside * runs_of_line;
      all += stream.lines;
    }
    if (in_first && all > first_room) {
      in_first = false;
      lacking.first = all * outside;
      for (const auto& stream : streams_)
        lacking.starts += stream.result ? 0 : std::min(stream.lines * outside, all_rounds);
    }
    if (in_second && all > second_room) {
      in_second = false;
      lacking.operands = operands;
      lacking.results = results;
    }
    return in_second;
  };
  for (const auto q : summed_) {
    if (!in_loop(q, static_cast<double>(program_.indices[q].extent))) return lacking;
  }
  for (const auto q : order) {
    if (!in_loop(static_cast<std::size_t>(q), rounds_along(static_cast<std::size_t>(q)))) return lacking;
  }
  return lacking;
}

}  // namespace ricci::plan
