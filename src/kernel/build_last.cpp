// The last tiles of a result: the blocks of a cluster share their sums, while each has tiles in front of them alone.
// Waves of blocks then end with one of shorter sums, not with one that is seldom full (Osama et al., "Stream-K",
// PPoPP 2023, the form with whole waves in front).
#include <fmt/format.h>

#include "ir/read_number.hpp"
#include "kernel/builder.hpp"

namespace ricci::kernel {

void Builder::last(const std::vector<std::string>& words) {
  const auto count = words.size() == 1 ? ir::read_number<std::int64_t>(words.front()) : std::nullopt;
  if (!count || *count < 1) fail("behind \"last\" stands a number of tiles");
  if (order_.empty() || order_.back().bind != Bind::cluster) fail("the last tiles are those of a cluster's blocks");
  if (atomic_) fail("results that tasks add to are none of one block, nor of one cluster");
  const auto part = order_.back().var;
  const auto blocks = kernel_.extent(part);
  std::int64_t tiles = 1;
  for (const auto& task : tasks()) tiles *= kernel_.extent(task.var);
  if (*count >= tiles) fail(fmt::format("the last {} of {} tiles: some are of one block each", *count, tiles));
  const auto alone = tiles - *count;
  if (alone % blocks != 0) fail(fmt::format("{} tiles of one block each are no clusters of {}", alone, blocks));
  for (const auto& task : tasks()) {
    const auto& of = this->axis(index_of(task.var));
    if (of.ragged && of.levels.front().var != task.var)
      fail(fmt::format("groups of tiles along {} have some that are none", of.name));
  }
  auto& axis = this->axis(index_of(part));
  if (is_joined(index_of(part))) fail(fmt::format("{} is several indices", axis.name));
  if (axis.levels.size() < 3 || axis.levels.front().var != part)
    fail(fmt::format("{} is not the first of three levels of {}: parts, rounds of them, and what is inside",
                     var_name(part), axis.name));
  auto& rounds = axis.levels[1];
  Last last{*count, rounds.var, rounds.count};
  // A whole sum has the rounds of all parts.
  if (rounds.count == 1) axis.value = axis.value + Affine::of(rounds.var, rounds.step);
  rounds.count = (axis.extent + rounds.step - 1) / rounds.step;
  kernel_.vars[static_cast<std::size_t>(rounds.var)].extent = rounds.count;
  axis.ragged = axis.extent % rounds.step != 0;
  const auto clusters = alone / blocks + *count;
  last.cluster = new_var("cluster", clusters);
  last.rank = new_var("rank", blocks);
  last.left = new_var("left", blocks * *count);
  last.alone = new_var("alone", alone + 1);
  last.together = new_var("together", *count);
  last.in_parts = new_var("in_parts", 2);
  last_ = last;
}

Var Builder::new_var(std::string name, std::int64_t extent) {
  const auto named = [&](const auto& other) { return other.name == name; };
  while (std::any_of(kernel_.vars.begin(), kernel_.vars.end(), named) ||
         std::any_of(kernel_.arrays.begin(), kernel_.arrays.end(), named) ||
         std::any_of(kernel_.params.begin(), kernel_.params.end(), named))
    name += '_';
  return kernel_.add_var(std::move(name), extent);
}

std::vector<Condition> Builder::rounds_of_block(Var part) const {
  const auto rounds = kernel_.extent(last_->rounds);
  const auto round = Affine::of(last_->rounds);
  return {{round + Affine::of(last_->in_parts, rounds - last_->of_part), rounds},
          {round + Affine::of(part, last_->of_part), rounds}};
}

Body Builder::around_last(Body body) const {
  // Blocks are numbered with those of one tile each in front. Neither of the two sums that a tile's number has goes on
  // while the other one does.
  const auto& last = *last_;
  const auto blocks = kernel_.extent(last.rank), alone = kernel_.extent(last.alone) - 1;
  const auto parts = kernel_.extent(last.left), all = alone + parts;
  const auto number = Affine::of(last.cluster, blocks) + Affine::of(last.rank);
  const auto in_last = Affine(parts - 1) - Affine::of(last.left);
  const auto origin = order_.front().origin;
  Body names;
  const auto name = [&](Let let) { names.push_back({std::move(let), origin}); };
  name({last.left, Affine(all - 1) - number, 1, 0, false, parts - 1});
  name({last.alone, number, 1, 0, false, alone});
  name({last.together, in_last, blocks, 0});
  name({last.in_parts, Affine::of(last.cluster), alone / blocks, 0, false, 1});
  const auto tasks = this->tasks();
  name({order_[tasks.size()].var, in_last, 1, blocks});
  std::int64_t below = 1;
  for (auto k = tasks.size(); k-- > 0;) {
    const auto extent = kernel_.extent(tasks[k].var);
    if (extent == 1) continue;
    const bool slowest = below * extent == alone + parts / blocks;
    name({tasks[k].var, Affine::of(last.alone) + Affine::of(last.together), below, slowest ? 0 : extent});
    below *= extent;
  }
  names.insert(names.end(), std::make_move_iterator(body.begin()), std::make_move_iterator(body.end()));
  for (const auto& [var, bind] : {std::pair{last.rank, Bind::cluster}, std::pair{last.cluster, Bind::task}}) {
    Loop loop;
    loop.var = var;
    loop.bind = bind;
    loop.body = std::move(names);
    names = {};
    names.push_back({std::move(loop), origin});
  }
  return names;
}

}  // namespace ricci::kernel
