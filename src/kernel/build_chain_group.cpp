// Chains by warp groups: tensor maps copy the block's rows and a round's columns, and products read them out of shared
// memory, but for weights, which are in registers. So are no rows of the block: NVRTC 13.0 takes registers of a first
// operand that all rounds read for weights, as if they were read no more.
#include <fmt/format.h>

#include <utility>

#include "kernel/atoms.hpp"
#include "kernel/chain_builder.hpp"
#include "kernel/warp_group.hpp"

namespace ricci::kernel {
namespace {

class GroupChain final : public ChainBuilder {
 public:
  using ChainBuilder::ChainBuilder;

 private:
  void stage(Staged& staged) override {
    staged.row = chain_row(staged.along);
    const auto lines = lines_of(staged);
    auto map = chain_map(chain_, staged.load, lines);
    Array array;
    array.name = names_.fresh(operand(staged.load) + "_tile");
    array.type = map.type;
    array.space = Space::shared;
    array.shape = {(staged.load == chain_.x ? 1 : tiles_.stages) * lines * staged.along};
    array.alignment = kMatrixBlock;
    array.swizzle = swizzle_of_rows(map.row_bytes, map.type);
    map.name = names_.fresh(operand(staged.load) + "_map");
    staged.array = kernel_.add_array(std::move(array));
    staged.map = static_cast<int>(kernel_.maps.size());
    kernel_.maps.push_back(std::move(map));
  }

  void prepare() override {
    Array array;
    array.name = names_.fresh("arrived");
    array.type = DType::u64;
    array.space = Space::shared;
    array.shape = {tiles_.stages};
    arrived_ = kernel_.add_array(std::move(array));
    by_one({}, [&] { body_.add(Counters{arrived_}); });
    x_rows_ = {.load = chain_.x, .along_index = chain_.depth, .along = extent(chain_.depth)};
    stage(x_rows_);
    if (tiles_.warps > kGroupWarps) warp_group_ = digit("warp_group", std::int64_t{kGroupWarps} * kWarp, 0);
  }
  /// Rows of shared memory that a box has: of the block, or of a round.
  std::int64_t lines_of(const Staged& staged) const { return staged.load == chain_.x ? tiles_.rows : tiles_.columns; }
  template <class Write>
  void by_one(std::vector<Condition> when, const Write& write) {
    when.insert(when.begin(), {Affine::of(thread_), 1});
    body_.open(If{std::move(when), {}, {}});
    write();
    body_.close();
  }

  /// The first round's, before all others, with the block's rows.
  void copied(const Affine& round, const Affine& place, std::vector<Condition> when) override {
    std::vector<const Staged*> all = {&y_, &v_};
    if (!std::exchange(begun_, true)) all.insert(all.begin(), &x_rows_);
    by_one(std::move(when), [&] {
      const Access counter{arrived_, {place}};
      std::int64_t bytes = 0;
      for (const auto* staged : all) bytes += lines_of(*staged) * staged->along * size_of(kernel_.array(y_.array).type);
      body_.add(Expect{counter, bytes});
      for (const auto* staged : all) {
        const auto lines = lines_of(*staged);
        const bool of_x = staged == &x_rows_;
        const auto line = of_x ? tiles_.rows * row_tile_ : tiles_.columns * round;
        for (std::int64_t first = 0; first < staged->along; first += staged->row) {
          const auto to = (of_x ? Affine(0) : lines * staged->along * place) + Affine(lines * first);
          body_.add(BoxCopy{{staged->array, {to}}, staged->map, coordinates(*staged, line, first), counter});
        }
      }
    });
  }
  /// Of the first element of a box, in the order of chain_map().
  std::vector<Affine> coordinates(const Staged& staged, const Affine& line, std::int64_t first) const {
    std::vector<Affine> at = {Affine(first), line};
    for (const int q : chain_.batch) {
      if (chain_.node(staged.load).offset.coefficient[nth(q)] != 0) at.push_back(places_[nth(q)]);
    }
    return at;
  }
  void committed() override {}
  void awaited(const Affine& round, const Affine& place, const std::function<void()>& next) override {
    body_.add(Barrier{});  // all threads have done the round before
    next();
    const auto parity = kernel_.add_var(names_.fresh("parity"), 2);
    body_.add(Let{parity, round, tiles_.stages, 2});
    body_.add(Await{{arrived_, {place}}, Affine::of(parity)});
  }

  /// A digit of matrices.
  Digit digit_of(std::int64_t extent) { return {kernel_.add_var(inner("matrix"), extent), extent}; }
  /// An operand of a product: along its depth (x, y), or along its own side (v), of which an instruction has `side`.
  StagedMatrices matrices(const Staged& staged, const Affine& place, bool along_depth, std::int64_t side) {
    const auto lines = lines_of(staged);
    const auto line = digit_of(lines), panel = digit_of(staged.along / staged.row), within = digit_of(staged.row);
    const auto at = lines * staged.along * place + lines * staged.row * Affine::of(panel.var) +
                    staged.row * Affine::of(line.var) + Affine::of(within.var);
    const std::vector<Digit> across = {line}, along = {panel, within};
    return matrices_of(kernel_, {staged.array, {at}}, along_depth ? across : along, along_depth ? along : across, side,
                       kK);
  }
  static SharedMatrix moved(SharedMatrix matrix, const Affine& by) {
    auto& start = matrix.start.index.front();
    start = start + by;
    return matrix;
  }
  void scores(const Affine& place) override {
    scores_ = registers("score", DType::f32, {row_tiles_, score_tiles_, 4});
    body_.add(Declare{scores_, true});
    const auto first = matrices(x_rows_, Affine(0), true, kChainGroupRows),
               second = matrices(y_, place, true, tiles_.columns);
    body_.add(Fence{scores_});
    for (std::size_t step = 0; step < first.steps.size(); ++step) {
      body_.add(GroupMma{chain_atom(chain_, chain_.y, true),
                         {scores_, {Affine(0)}},
                         moved(first.first, first.of_rows * warp_group_ + Affine(first.steps[step])),
                         moved(second.first, Affine(second.steps[step]))});
    }
    body_.add(Commit{true});
    body_.add(Wait{0, scores_});
  }

  /// Products of a step are under way while the next one's weights are made.
  void multiplied(const Affine& round, const Affine& place) override {
    const auto type = chain_.node(chain_.v).type;
    const auto all = matrices(v_, place, false, v_.along);
    body_.add(Fence{product_});
    for (std::size_t step = 0; step < all.steps.size(); ++step) {
      const auto weights = registers("weight", type, {row_tiles_, 4}, 2);
      const auto rests = chain_.parts > 1 ? registers("rest", type, {row_tiles_, 4}, 2) : -1;
      weigh(round, Affine(static_cast<std::int64_t>(step)), weights, rests);
      for (const int part : {rests, weights}) {
        if (part < 0) continue;
        body_.add(Fence{part});
        body_.add(GroupMma{chain_atom(chain_, chain_.v, true),
                           {product_, {Affine(0)}},
                           Access{part, {Affine(0)}, 2},
                           moved(all.first, Affine(all.steps[step]))});
      }
      body_.add(Commit{true});
    }
    body_.add(Wait{0, product_});
  }

  Staged x_rows_;
  Affine warp_group_;
  bool begun_ = false;
  int arrived_ = -1;
};

}  // namespace

std::int64_t chain_row(std::int64_t along) {
  for (const std::int64_t row : {64, 32, 16}) {
    if (along % row == 0) return row;
  }
  return 0;
}

TensorMap chain_map(const Chain& chain, ir::NodeId factor, std::int64_t lines) {
  const auto& load = chain.node(factor);
  const auto extent = [&](int q) { return chain.program.indices[nth(q)].extent; };
  const auto step = [&](int q) { return load.offset.coefficient[nth(q)]; };
  const int along = factor == chain.v ? chain.values : chain.depth;
  const int across = factor == chain.x ? chain.rows : chain.columns;
  TensorMap map;
  map.array = load.source;
  map.type = load.type;
  map.first = load.offset.constant;
  map.row_bytes = chain_row(extent(along)) * size_of(load.type);
  map.dimensions = {{extent(along), 1, chain_row(extent(along))}, {extent(across), step(across), lines}};
  for (const int q : chain.batch) {
    if (step(q) != 0) map.dimensions.push_back({extent(q), step(q), 1});
  }
  return map;
}

std::string chain_group_fault(const Chain& chain, const ChainTiles& tiles) {
  if (tiles.warps % kGroupWarps != 0) return "a warp group has four warps";
  if (tiles.rows != kChainRows * tiles.warps) return fmt::format("a warp group has {} rows", kChainGroupRows);
  for (const auto factor : {chain.x, chain.y, chain.v}) {
    const auto along = chain.program.indices[nth(factor == chain.v ? chain.values : chain.depth)].extent;
    if (chain_row(along) == 0)
      return fmt::format("a warp group reads rows of 32, 64 or 128 bytes, and none of {}", 2 * along);
    if (factor == chain.v && along > kMostGroupColumns)
      return fmt::format("an instruction of a warp group has {} columns at most", kMostGroupColumns);
    const auto& buffer = chain.program.buffers[nth(chain.node(factor).source)];
    if (buffer.alignment % kMapUnit != 0)
      return fmt::format("{} begins at a multiple of {} bytes, and tensor maps need {}", buffer.name, buffer.alignment,
                         kMapUnit);
    if (auto rule = fault(chain_map(chain, factor, factor == chain.x ? tiles.rows : tiles.columns)); !rule.empty())
      return rule;
  }
  return {};
}

std::unique_ptr<ChainBuilder> group_chain(const ir::Program& program, const Chain& chain, const ChainTiles& tiles) {
  return std::make_unique<GroupChain>(program, chain, tiles);
}

}  // namespace ricci::kernel
