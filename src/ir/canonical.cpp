#include "ir/canonical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ricci/log.hpp"

namespace ricci::ir {
namespace {

/// Calls f(affine) on every access of the program.
template <class F>
void for_each_access(Program& program, F f) {
  for (auto& node : program.nodes) {
    if (node.kind == NodeKind::load) f(node.offset);
  }
  for (auto& statement : program.statements) f(statement.offset);
}

/// Keeps the indices `order[k]`, in that order, and their coefficients.
void select_indices(Program& program, const std::vector<std::size_t>& order) {
  std::vector<Index> indices;
  for (const auto q : order) indices.push_back(program.indices[q]);
  for_each_access(program, [&](Affine& affine) {
    std::vector<std::int64_t> coefficient;
    for (const auto q : order) coefficient.push_back(affine.coefficient[q]);
    affine.coefficient = std::move(coefficient);
  });
  for (auto& node : program.nodes) {
    std::vector<int> over;
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (std::find(node.over.begin(), node.over.end(), static_cast<int>(order[k])) != node.over.end()) {
        over.push_back(static_cast<int>(k));
      }
    }
    node.over = std::move(over);
  }
  program.indices = std::move(indices);
}

/// An index of extent 1 is always 0.
Program drop_unit_indices(Program program) {
  std::vector<std::size_t> kept;
  for (std::size_t q = 0; q < program.indices.size(); ++q) {
    if (program.indices[q].extent != 1) kept.push_back(q);
  }
  select_indices(program, kept);
  return program;
}

/// Runs an index backwards where the output's stride is negative, so that every output stride is positive.
Program orient_output(Program program) {
  for (std::size_t q = 0; q < program.indices.size(); ++q) {
    if (program.statement().offset.coefficient[q] >= 0) continue;
    const auto last = program.indices[q].extent - 1;
    for_each_access(program, [&](Affine& affine) {
      affine.constant += affine.coefficient[q] * last;
      affine.coefficient[q] = -affine.coefficient[q];
    });
  }
  return program;
}

/// Slowest output stride first. Needs orient_output: strides are compared as positive numbers.
Program order_by_output(Program program) {
  std::vector<std::size_t> order(program.indices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto& stride = program.statement().offset.coefficient;
  std::stable_sort(order.begin(), order.end(), [&](auto p, auto q) { return stride[p] > stride[q]; });
  select_indices(program, order);
  return program;
}

/// Two neighbours in output order become one index where every access steps through them as through one.
/// Needs order_by_output: only neighbours are looked at.
Program merge_adjacent(Program program) {
  std::vector<std::size_t> kept;
  for (std::size_t q = 0; q < program.indices.size(); ++q) {
    bool merges = !kept.empty();
    if (merges) {
      for_each_access(program, [&](const Affine& affine) {
        merges = merges && affine.coefficient[kept.back()] == affine.coefficient[q] * program.indices[q].extent;
      });
    }
    if (!merges) {
      kept.push_back(q);
      continue;
    }
    const auto slow = kept.back();
    program.indices[q].extent *= program.indices[slow].extent;
    program.indices[q].name = program.indices[slow].name + "." + program.indices[q].name;
    kept.back() = q;
  }
  select_indices(program, kept);
  return program;
}

/// A program that only moves elements does not care what they mean: its types become the unsigned integers of their
/// size (c128 for 16 bytes), so that f32, i32 and u32 share a kernel.
Program move_bits(Program program) {
  if (program.nodes.size() != 1) return program;
  const auto bits = [](DType type) {
    switch (size_of(type)) {
      case 1:
        return DType::u8;
      case 2:
        return DType::u16;
      case 4:
        return DType::u32;
      case 8:
        return DType::u64;
      default:
        return DType::c128;
    }
  };
  for (auto& buffer : program.buffers) buffer.type = bits(buffer.type);
  program.nodes.front().type = bits(program.nodes.front().type);
  return program;
}

/// a, b, c, ... in the order of the first load's strides, so that the input reads "abc". Names say nothing of the
/// problem that a kernel was first made for, since other problems will share it.
Program rename(Program program) {
  std::vector<std::size_t> order(program.indices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto first_load = std::find_if(program.nodes.begin(), program.nodes.end(),
                                       [](const Node& node) { return node.kind == NodeKind::load; });
  if (first_load != program.nodes.end()) {
    const auto& stride = first_load->offset.coefficient;
    std::stable_sort(order.begin(), order.end(),
                     [&](auto p, auto q) { return std::abs(stride[p]) > std::abs(stride[q]); });
  }
  for (std::size_t k = 0; k < order.size(); ++k) {
    // 32 indices: a .. z, then aa, ab, ...
    const auto letter = static_cast<char>('a' + k % 26);
    program.indices[order[k]].name = k < 26 ? std::string(1, letter) : std::string{'a', letter};
  }
  return program;
}

constexpr Pass kPasses[] = {
    {"drop unit indices", drop_unit_indices}, {"orient output", orient_output}, {"order by output", order_by_output},
    {"merge adjacent", merge_adjacent},       {"move bits", move_bits},         {"rename", rename},
};

}  // namespace

std::span<const Pass> canonical_passes() { return kPasses; }

Program canonicalise(Program program, std::string* trace) {
  verify(program);
  const bool logged = log_enabled(LogTopic::ir);
  std::string before = trace || logged ? print(program) : std::string();
  const auto tell = [&](const std::string& text) {
    if (trace) *trace += text;
    if (logged) log_line(LogTopic::ir, text);
  };
  if (trace || logged) tell(fmt::format("-- as written\n{}", before));
  for (const auto& pass : kPasses) {
    program = pass.run(std::move(program));
    verify(program);
    if (!trace && !logged) continue;
    auto after = print(program);
    tell(fmt::format("-- after \"{}\"{}", pass.name, after == before ? " (unchanged)\n" : "\n" + after));
    before = std::move(after);
  }
  return program;
}

}  // namespace ricci::ir
