// Permutations between any tiles: each piece of the result that lies in one tile of either tensor is moved at once.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "dist/schedule.hpp"
#include "ricci/error.hpp"
#include "ricci/runtime.hpp"
#include "ricci/spec.hpp"

namespace ricci::inline v1::dist {
namespace {

/// Part of an axis of the result that lies in one tile of both tensors.
struct Segment {
  std::int64_t length;
  std::int64_t to_tile, to_offset;
  std::int64_t from_tile, from_offset;
};

std::vector<Segment> segments_of(std::int64_t extent, std::int64_t to_tile, std::int64_t from_tile) {
  std::vector<Segment> segments;
  for (std::int64_t at = 0; at < extent; at += segments.back().length) {
    const auto to = at / to_tile, from = at / from_tile;
    const auto end = std::min({extent, (to + 1) * to_tile, (from + 1) * from_tile});
    segments.push_back({end - at, to, at - to * to_tile, from, at - from * from_tile});
  }
  return segments;
}

/// A permutation: which axis of the input each axis of the output is.
struct Permutation {
  std::shared_ptr<Tensor::Impl> input, output;
  std::vector<int> axes;
};

Permutation permutation_of(std::string_view text, const Tensor& input, const Tensor& output) {
  Permutation problem{input.share(), output.share(), {}};
  const auto& a = *problem.input;
  const auto& b = *problem.output;
  if (&a == &b) throw ShapeError(fmt::format("\"{}\": the result is the operand, too", text));
  if (a.engine != b.engine) throw PlanError("the tensors are of two engines");
  const Layout layout = Layout::row_major(a.type, a.extents);
  const auto parsed = Spec::parse(text);
  if (parsed.operands.size() != 1) throw SpecError(fmt::format("\"{}\" permutes one tensor, and has several", text));
  const auto result = einsum_output(text, std::span<const Layout>(&layout, 1));
  const auto spec = parsed.expand({layout.rank()});
  for (const auto& axis : spec.output) {
    const auto& from = spec.operands[0];
    const auto found = std::find_if(from.begin(), from.end(), [&](const auto& one) { return one.name == axis.name; });
    problem.axes.push_back(static_cast<int>(found - from.begin()));
  }
  auto sorted = problem.axes;
  std::sort(sorted.begin(), sorted.end());
  for (int axis = 0; axis < layout.rank(); ++axis) {
    if (static_cast<int>(sorted.size()) != layout.rank() || sorted[axis] != axis) {
      throw SpecError(
          fmt::format("\"{}\" is no permutation: each axis of the operand is to be once in the result", text));
    }
  }
  if (result.extents != b.extents) {
    throw ShapeError(fmt::format("\"{}\" gives extents [{}], and the result has [{}]", text,
                                 fmt::join(result.extents, ", "), fmt::join(b.extents, ", ")));
  }
  return problem;
}

/// "abc->abc" of a rank.
std::string identity(std::size_t rank) {
  std::string axes;
  for (std::size_t axis = 0; axis < rank; ++axis) axes += fmt::format("x{} ", axis);
  if (rank == 1) axes = "x";
  return axes + "->" + axes;
}

/// A box inside of a row-major array.
Layout inside(DType type, const Indices& extents, const Indices& array) {
  return Layout::strided(type, extents, row_major_strides(array));
}

}  // namespace

Plan Engine::plan_permute(std::string_view spec, const Tensor& input, const Tensor& output,
                          const PermuteOptions& options) {
  std::optional<Permutation> checked;
  impl_->together([&] { checked = permutation_of(spec, input, output); });
  const auto& axes = checked->axes;
  auto& a = *checked->input;
  auto& b = *checked->output;
  const auto rank = axes.size();

  std::vector<std::vector<Segment>> segments;
  Indices counts;
  for (std::size_t k = 0; k < rank; ++k) {
    segments.push_back(segments_of(b.extents[k], b.tiles[k], a.tiles[axes[k]]));
    counts.push_back(static_cast<std::int64_t>(segments[k].size()));
  }

  Builder builder(*impl_);
  const auto plan = [&](const std::string& what, const Layout& from, const Layout& to, Scalar alpha, Scalar beta,
                        bool conjugate, bool overwrites) {
    Indices key = {overwrites ? 1 : 0, what == spec ? 1 : 0, beta == Scalar(0) ? 0 : 1, conjugate ? 1 : 0,
                   alpha == Scalar(1) ? 0 : 1};
    for (const auto* layout : {&from, &to}) {
      key.push_back(static_cast<std::int64_t>(layout->type));
      key.insert(key.end(), layout->extents.begin(), layout->extents.end());
      key.insert(key.end(), layout->strides.begin(), layout->strides.end());
    }
    return builder.codelet(key, [=] {
      ricci::PermuteOptions how;
      how.threads = 1;
      how.alpha = alpha;
      how.beta = beta;
      how.conjugate = conjugate;
      return TilePlan{Runtime::global().plan_permute(what, from, to, how), overwrites};
    });
  };

  const auto first_tag = impl_->tags(product(counts));
  std::int64_t piece = 0;
  for_each_index(counts, [&](const Indices& which) {
    Indices to_index, to_extents, from_index(rank), from_extents(rank), to_offset, from_offset(rank);
    for (std::size_t k = 0; k < rank; ++k) {
      const auto& segment = segments[k][static_cast<std::size_t>(which[k])];
      const int axis = axes[k];
      to_index.push_back(segment.to_tile);
      to_extents.push_back(segment.length);
      to_offset.push_back(segment.to_offset);
      from_index[axis] = segment.from_tile;
      from_extents[axis] = segment.length;
      from_offset[axis] = segment.from_offset;
    }
    const auto to_tile = number_of(to_index, b.counts), from_tile = number_of(from_index, a.counts);
    const auto to_array = b.tile(to_tile).extents, from_array = a.tile(from_tile).extents;
    const int receiver = b.owners[static_cast<std::size_t>(to_tile)],
              sender = a.owners[static_cast<std::size_t>(from_tile)];
    const auto to_bytes = number_of(to_offset, to_array) * size_of(b.type);
    const auto from_bytes = number_of(from_offset, from_array) * size_of(a.type);
    const auto from = inside(a.type, from_extents, from_array), to = inside(b.type, to_extents, to_array);
    const bool whole = to_extents == to_array && options.beta == Scalar(0);
    const auto tag = first_tag + piece++;
    if (sender == receiver) {
      builder.run(sender, plan(std::string(spec), from, to, options.alpha, options.beta, options.conjugate, whole),
                  [&](Action& action) {
                    action.buffers = {b.handle(to_tile), a.handle(from_tile)};
                    action.arguments.offsets = {to_bytes, from_bytes};
                  });
      return;
    }
    const auto alone = Layout::row_major(b.type, to_extents);
    starpu_data_handle_t message = nullptr;
    const auto buffer = [&] {
      if (message == nullptr) message = builder.buffer(sender, tag, product(to_extents), b.type);
      return message;
    };
    builder.run(sender, plan(std::string(spec), from, alone, options.alpha, 0, options.conjugate, true),
                [&](Action& action) {
                  action.buffers = {buffer(), a.handle(from_tile)};
                  action.arguments.offsets = {0, from_bytes};
                });
    const auto bytes = product(to_extents) * size_of(b.type);
    builder.transfer(sender, receiver, bytes, tag,
                     [&] { return whole && builder.rank() == receiver ? b.handle(to_tile) : buffer(); });
    if (whole) return;
    builder.run(receiver, plan(identity(rank), alone, to, 1, options.beta, false, false), [&](Action& action) {
      action.buffers = {b.handle(to_tile), buffer()};
      action.arguments.offsets = {to_bytes, 0};
    });
  });
  return make_plan(impl_, builder, {output, input}, fmt::format("{} over {} ranks\n", spec, impl_->size));
}

}  // namespace ricci::inline v1::dist
