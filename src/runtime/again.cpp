// The command that makes a kernel again, said in its head.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "runtime/runtime_impl.hpp"

namespace ricci::runtime {

// From the canonical program: extents by name, strides where they are not dense.
std::string again(const ir::Program& program, const Target& target) {
  const auto& to = program.statement().offset;
  const auto load = program.find_load(0);
  const auto& from = program.nodes[static_cast<std::size_t>(load)].offset;
  std::vector<std::size_t> order(program.indices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto names = [&](const ir::Affine& affine) {
    auto sorted = order;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](auto p, auto q) { return std::abs(affine.coefficient[p]) > std::abs(affine.coefficient[q]); });
    return sorted;
  };
  const auto in = names(from), out = names(to);
  const auto spell = [&](const std::vector<std::size_t>& axes) {
    std::string text;
    const bool words = program.indices.size() > 26;
    for (const auto q : axes) text += (words && !text.empty() ? " " : "") + program.indices[q].name;
    return text;
  };
  std::string text = fmt::format("ricci show '{}->{}'", spell(in), spell(out));
  for (const auto q : in) text += fmt::format(" {}={}", program.indices[q].name, program.indices[q].extent);
  text += fmt::format(" --dtype {}", name(program.buffers[0].type));
  if (program.buffers[1].type != program.buffers[0].type)
    text += fmt::format(" --out-dtype {}", name(program.buffers[1].type));
  const auto strides = [&](const char* option, const std::vector<std::size_t>& axes, const ir::Affine& affine) {
    std::int64_t dense = 1;
    bool is_dense = true;
    for (std::size_t k = axes.size(); k-- > 0;) {
      is_dense = is_dense && affine.coefficient[axes[k]] == dense;
      dense *= program.indices[axes[k]].extent;
    }
    if (is_dense) return;
    text += fmt::format(" {}=", option);
    for (std::size_t k = 0; k < axes.size(); ++k)
      text += fmt::format("{}{}", k == 0 ? "" : ",", affine.coefficient[axes[k]]);
  };
  strides("--strides-in", in, from);
  strides("--strides-out", out, to);
  for (const auto& node : program.nodes) {
    if (node.kind == ir::NodeKind::op && node.op == ir::OpCode::conj) text += " --conj";
  }
  bool reads_output = false;
  for (const auto& node : program.nodes) reads_output |= node.kind == ir::NodeKind::load && node.source == 1;
  const auto has = [&](const char* factor) {
    return std::any_of(program.params.begin(), program.params.end(),
                       [&](const ir::Param& p) { return p.name == factor; });
  };
  if (has("alpha")) text += " --alpha any";
  if (has("beta")) text += " --beta any";
  if (reads_output && !has("beta")) text += " --beta 1";
  text += target.device == Device::cpu ? " --device cpu" : fmt::format(" --device gpu --target sm_{}", target.sm);
  return text;
}

}  // namespace ricci::runtime
