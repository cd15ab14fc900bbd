// Contractions of two tensors in tiles: which rank multiplies which tiles, and what has to travel for it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>

#include "dist/schedule.hpp"
#include "ricci/error.hpp"
#include "ricci/runtime.hpp"
#include "ricci/spec.hpp"

namespace ricci::inline v1::dist {
namespace {

constexpr int kOutput = 0, kFirst = 1, kSecond = 2;
constexpr const char* kNames[] = {"C", "A", "B"};

/// An index of the contraction, cut into tiles.
struct Index {
  std::string name;
  std::int64_t extent, tile, count;
};

/// A contraction as tasks: one for each choice of a tile along every index.
struct Problem {
  std::vector<Index> indices;            ///< the output's first
  std::array<std::vector<int>, 3> axes;  ///< of output and operands: which index each axis is
  std::array<std::shared_ptr<Tensor::Impl>, 3> tensors;

  std::int64_t tile(int tensor, const Indices& at) const {
    const auto& counts = tensors[tensor]->counts;
    std::int64_t number = 0;
    for (std::size_t k = 0; k < counts.size(); ++k) number = number * counts[k] + at[axes[tensor][k]];
    return number;
  }
  std::int64_t bytes(int tensor, std::int64_t tile) const { return tensors[tensor]->tile_bytes(tile); }
  int owner(int tensor, std::int64_t tile) const { return tensors[tensor]->owners[static_cast<std::size_t>(tile)]; }
};

/// Where tasks run: at the stationary tensor's tiles; those of a stationary output at one of its replicas, in turns of
/// the sum.
struct Way {
  int stationary = kOutput;
  int replicas = 1;
  std::string name() const {
    return replicas == 1 ? kNames[stationary] : fmt::format("{}, {} replicas", kNames[stationary], replicas);
  }
};

struct Task {
  int rank;
  std::array<std::int64_t, 3> tiles;
};

/// visit(task, at) in the order of submission: round by round through the indices that the stationary tensor lacks,
/// each rank from another one on, so that in a round ranks ask different ones for tiles.
template <class Visit>
void for_each_task(const Problem& problem, const Way& way, Visit&& visit) {
  const auto& stays = *problem.tensors[way.stationary];
  std::vector<int> fixed, moving;
  Indices fixed_counts, moving_counts;
  for (std::size_t k = 0; k < problem.indices.size(); ++k) {
    const auto& axes = problem.axes[way.stationary];
    const bool stationary = std::find(axes.begin(), axes.end(), static_cast<int>(k)) != axes.end();
    (stationary ? fixed : moving).push_back(static_cast<int>(k));
    (stationary ? fixed_counts : moving_counts).push_back(problem.indices[k].count);
  }
  // Of each stationary tile: by how much its rounds are shifted, and who works there.
  struct Spot {
    std::int64_t shift;
    std::vector<int> ranks;  ///< by the replica
  };
  std::vector<Spot> spots;
  Indices at(problem.indices.size(), 0);
  for_each_index(fixed_counts, [&](const Indices& which) {
    for (std::size_t k = 0; k < fixed.size(); ++k) at[fixed[k]] = which[k];
    const auto tile = problem.tile(way.stationary, at);
    const auto place = stays.place(index_of(tile, stays.counts));
    Spot spot{std::accumulate(place.begin(), place.end(), std::int64_t{0}), {problem.owner(way.stationary, tile)}};
    if (way.replicas > 1) spot.ranks.clear();
    for (int replica = 0; way.replicas > 1 && replica < way.replicas; ++replica) {
      spot.ranks.push_back(stays.rank_at(place, replica));
    }
    spots.push_back(std::move(spot));
  });

  const auto rounds = product(moving_counts);
  for (std::int64_t round = 0; round < rounds; ++round) {
    auto spot = spots.begin();
    for_each_index(fixed_counts, [&](const Indices& which) {
      for (std::size_t k = 0; k < fixed.size(); ++k) at[fixed[k]] = which[k];
      const auto turn = (round + spot->shift) % rounds;
      auto rest = turn;
      for (std::size_t k = moving.size(); k-- > 0; rest /= moving_counts[k]) at[moving[k]] = rest % moving_counts[k];
      const int rank = spot->ranks[static_cast<std::size_t>(turn) % spot->ranks.size()];
      visit(Task{rank, {problem.tile(0, at), problem.tile(1, at), problem.tile(2, at)}},
            static_cast<const Indices&>(at));
      ++spot;
    });
  }
}

/// The bytes that each rank receives: operands' tiles that are another's, and other ranks' sums of its results.
std::vector<std::int64_t> received(const Problem& problem, const Way& way, int ranks) {
  std::vector<std::int64_t> bytes(ranks, 0);
  Met met(problem.tensors, ranks);
  for_each_task(problem, way, [&](const Task& task, const Indices&) {
    for (int tensor = 0; tensor < 3; ++tensor) {
      const auto tile = task.tiles[tensor];
      const int owner = problem.owner(tensor, tile);
      if (!met.first(tensor, tile, task.rank) || owner == task.rank) continue;
      bytes[tensor == kOutput ? owner : task.rank] += problem.bytes(tensor, tile);
    }
  });
  return bytes;
}

/// Reads the notation against the tensors. Throws as the core does, and where tiles differ.
Problem problem_of(std::string_view text, const std::vector<Tensor>& inputs, const Tensor& output) {
  if (inputs.size() != 2) {
    throw PlanError(
        fmt::format("\"{}\" over ranks has {} operands, and needs two: contract pair by pair", text, inputs.size()));
  }
  Problem problem;
  problem.tensors = {output.share(), inputs[0].share(), inputs[1].share()};
  const auto& [c, a, b] = problem.tensors;
  if (c == a || c == b) throw ShapeError(fmt::format("\"{}\": the result is an operand, too", text));
  if (c->engine != a->engine || c->engine != b->engine) throw PlanError("the tensors are of two engines");
  const std::vector<Layout> layouts = {Layout::row_major(a->type, a->extents), Layout::row_major(b->type, b->extents)};
  const auto result = einsum_output(text, layouts);
  if (result.extents != c->extents) {
    throw ShapeError(fmt::format("\"{}\" gives extents [{}], and the result has [{}]", text,
                                 fmt::join(result.extents, ", "), fmt::join(c->extents, ", ")));
  }
  const auto spec = Spec::parse(text).expand({layouts[0].rank(), layouts[1].rank()});
  const Spec::Term* const terms[] = {&spec.output, &spec.operands[0], &spec.operands[1]};
  for (int tensor = 0; tensor < 3; ++tensor) {
    const auto& impl = *problem.tensors[tensor];
    for (std::size_t axis = 0; axis < impl.extents.size(); ++axis) {
      const auto& name = (*terms[tensor])[axis];
      const auto known = std::find_if(problem.indices.begin(), problem.indices.end(),
                                      [&](const Index& index) { return index.name == name.name; });
      problem.axes[tensor].push_back(static_cast<int>(known - problem.indices.begin()));
      if (known == problem.indices.end()) {
        problem.indices.push_back({name.name, impl.extents[axis], impl.tiles[axis], impl.counts[axis]});
      } else if (known->extent != impl.extents[axis] || known->tile != impl.tiles[axis]) {
        throw ShapeError(
            fmt::format("index {} is {} in tiles of {} in one tensor, {} in tiles of {} in {}; plan_permute() copies a "
                        "tensor into other tiles\n{}",
                        name.name, known->extent, known->tile, impl.extents[axis], impl.tiles[axis], kNames[tensor],
                        spec.caret({&name})),
            Spec::position(name));
      }
    }
  }
  return problem;
}

/// The ways to compute it, the one that is asked for or all: the first where several receive as little.
std::vector<Way> ways_of(const Problem& problem, Stationary stationary) {
  const int replicas = problem.tensors[kOutput]->distribution.replicas;
  std::vector<Way> ways;
  const auto wanted = [&](Stationary one) { return stationary == one || stationary == Stationary::fewest_bytes; };
  if (wanted(Stationary::output)) {
    ways.push_back({kOutput, 1});
    if (replicas > 1) ways.push_back({kOutput, replicas});
  }
  if (wanted(Stationary::first)) ways.push_back({kFirst, 1});
  if (wanted(Stationary::second)) ways.push_back({kSecond, 1});
  return ways;
}

/// Additions and multiplications: of real numbers two for each product, of complex ones eight.
double flops_of(const Problem& problem) {
  double flops = is_complex(problem.tensors[kOutput]->type) ? 8 : 2;
  for (const auto& index : problem.indices) flops *= static_cast<double>(index.extent);
  return flops;
}

/// The products and sums of a contraction, by tiles.
struct Contraction {
  std::string spec;
  const Problem& problem;
  const EinsumOptions& options;
  Builder& builder;
  Indices key = {};  ///< of the last task's class

  /// C's tile = alpha * A's tile * B's tile + beta * what it was.
  int multiply(const Indices& at, const std::array<std::int64_t, 3>& tiles, Scalar beta) {
    key.assign({0, beta == options.beta ? 2 : static_cast<std::int64_t>(beta.real())});
    for (std::size_t k = 0; k < at.size(); ++k) {
      const auto& index = problem.indices[k];
      key.push_back(std::min(index.tile, index.extent - at[k] * index.tile));
    }
    return builder.codelet(key, [this, tiles, beta] {
      ricci::EinsumOptions how;
      how.threads = 1;
      how.alpha = options.alpha;
      how.beta = beta;
      how.conjugate = options.conjugate;
      how.precision = options.precision;
      std::array<Layout, 3> layouts;
      for (int tensor = 0; tensor < 3; ++tensor) {
        const auto& impl = *problem.tensors[tensor];
        layouts[tensor] = Layout::row_major(impl.type, impl.tile(tiles[tensor]).extents);
      }
      return TilePlan{Runtime::global().plan_einsum(spec, std::span<const Layout>(layouts).subspan(1), layouts[0], how),
                      beta == Scalar(0)};
    });
  }

  /// C's tile = another rank's sum + beta * what it was.
  int add(std::int64_t tile, Scalar beta) const {
    const auto& output = *problem.tensors[kOutput];
    const auto elements = output.tile_elements(tile);
    return builder.codelet({1, beta == options.beta ? 2 : 1, elements}, [type = output.type, elements, beta] {
      ricci::PermuteOptions how;
      how.threads = 1;
      how.beta = beta;
      const auto layout = Layout::row_major(type, {elements});
      return TilePlan{Runtime::global().plan_permute("a->a", layout, layout, how), beta == Scalar(0)};
    });
  }
};

}  // namespace

Plan Engine::plan_einsum(std::string_view spec, const std::vector<Tensor>& inputs, const Tensor& output,
                         const EinsumOptions& options) {
  std::optional<Problem> checked;
  impl_->together([&] { checked = problem_of(spec, inputs, output); });
  const Problem& problem = *checked;
  const int ranks = impl_->size, me = impl_->rank;

  std::string head = fmt::format("{} over {} ranks\n", spec, ranks);
  std::optional<Way> best;
  std::int64_t least = 0;
  for (const auto& way : ways_of(problem, options.stationary)) {
    const auto bytes = received(problem, way, ranks);
    const auto most = *std::max_element(bytes.begin(), bytes.end());
    head += fmt::format("considered   {} stays: {} B by the rank that receives most\n", way.name(), most);
    if (!best || most < least) {
      best = way;
      least = most;
    }
  }
  const Way& way = *best;
  head += fmt::format("stationary   {}\n", way.name());

  auto& c = *problem.tensors[kOutput];
  Builder builder(*impl_);
  builder.info().stationary = way.name();
  builder.info().flops = flops_of(problem);
  Contraction contraction{std::string(spec), problem, options, builder};
  const auto tiles = static_cast<std::int64_t>(c.owners.size());
  // Sums of a rank that does not own the result's tile are in a buffer of its own, numbered by tile and rank.
  const auto first_tag = impl_->tags(tiles * ranks);
  std::map<std::int64_t, starpu_data_handle_t> sums;
  const auto sum = [&](std::int64_t tile, int rank) {
    auto& handle = sums[tile * ranks + rank];
    if (handle == nullptr) {
      handle = builder.buffer(rank, first_tag + tile * ranks + rank, c.tile_elements(tile), c.type);
    }
    return handle;
  };

  Met met(problem.tensors, ranks);
  for_each_task(problem, way, [&](const Task& task, const Indices& at) {
    for (const int tensor : {kFirst, kSecond}) {
      const auto tile = task.tiles[tensor];
      const int owner = problem.owner(tensor, tile);
      if (!met.first(tensor, tile, task.rank) || owner == task.rank) continue;
      auto& moved = *problem.tensors[tensor];
      builder.transfer(owner, task.rank, moved.tile_bytes(tile), moved.first_tag + tile,
                       [&] { return moved.handle(tile); });
    }
    const auto tile = task.tiles[kOutput];
    const bool here = problem.owner(kOutput, tile) == task.rank;
    const bool first = met.first(kOutput, tile, task.rank);
    const Scalar beta = !first ? 1 : here ? options.beta : 0;
    builder.run(task.rank, contraction.multiply(at, task.tiles, beta), [&](Action& action) {
      action.buffers = {here ? c.handle(tile) : sum(tile, me), problem.tensors[kFirst]->handle(task.tiles[kFirst]),
                        problem.tensors[kSecond]->handle(task.tiles[kSecond])};
    });
  });
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const int owner = problem.owner(kOutput, tile);
    bool first = !met.has(kOutput, tile, owner);
    for (int rank = 0; rank < ranks; ++rank) {
      if (rank == owner || !met.has(kOutput, tile, rank)) continue;
      builder.transfer(rank, owner, c.tile_bytes(tile), first_tag + tile * ranks + rank,
                       [&] { return sum(tile, rank); });
      builder.run(owner, contraction.add(tile, first ? options.beta : Scalar(1)),
                  [&](Action& action) { action.buffers = {c.handle(tile), sum(tile, rank)}; });
      first = false;
    }
  }
  return make_plan(impl_, builder, {output, inputs[0], inputs[1]}, std::move(head));
}

}  // namespace ricci::inline v1::dist
