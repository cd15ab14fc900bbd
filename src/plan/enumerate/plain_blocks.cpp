#include "plan/enumerate/plain_blocks.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "plan/enumerate/group_shapes.hpp"
#include "plan/enumerate/plain_directives.hpp"

namespace ricci::plan {

Candidate plain_blocks(const ir::Program& program, const std::vector<int>& order, const BlockShape& shape,
                       const RegisterTile& tile) {
  using Kind = kernel::Directive::Kind;
  Candidate candidate;
  auto& schedule = candidate.schedule;
  std::vector<PlainIndex> indices(program.indices.size());
  std::string shape_text;
  candidate.traffic.tiles = 1;
  for (const int free : order) {
    const auto q = static_cast<std::size_t>(free);
    indices[q] = {shape.positions[q] * tile.count(q), tile.count(q), tile.neighbours};
    candidate.traffic.tiles *= (program.indices[q].extent + indices[q].tile - 1) / indices[q].tile;
  }
  for (const auto q : shape.digits) {
    const auto k = static_cast<std::size_t>(q);
    shape_text += fmt::format(" {}{}", program.indices[k].name, shape.positions[k]);
  }
  const auto members = member_directives(program, shape);
  schedule.directives = members;
  for (auto& one :
       plain_loops(program, order, {shape.digits.begin(), shape.digits.end()}, indices, kernel::Target::cuda))
    schedule.directives.push_back(std::move(one));
  schedule.directives.push_back(directive(Kind::threads, {shape.threads}));
  if (shape.cooperative_threads > 1) {
    auto cooperative = directive(Kind::cooperative, {shape.cooperative_threads});
    if (shape.items_per_thread > 1) cooperative.sizes.push_back(shape.items_per_thread);
    schedule.directives.push_back(std::move(cooperative));
  }
  schedule.name = fmt::format(
      "plain{}{}{}{}{}", shape_text, tile.text(program),
      shape.cooperative_threads > 1 ? fmt::format(" cooperative {}", shape.cooperative_threads) : "",
      member_text(members), shape.items_per_thread > 1 ? fmt::format(" per thread {}", shape.items_per_thread) : "");
  return candidate;
}

}  // namespace ricci::plan
