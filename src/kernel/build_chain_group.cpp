// Chains by warp groups: tensor maps copy a round's columns, and products read them out of shared memory. Rows of the
// block are in registers, as weights are.
#include <fmt/format.h>

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
    auto map = chain_map(chain_, staged.load, tiles_.columns);
    Array array;
    array.name = names_.fresh(operand(staged.load) + "_tile");
    array.type = map.type;
    array.space = Space::shared;
    array.shape = {tiles_.stages * tiles_.columns * staged.along};
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
    body_.add(Fence{x_});
  }
  template <class Write>
  void by_one(std::vector<Condition> when, const Write& write) {
    when.insert(when.begin(), {Affine::of(thread_), 1});
    body_.open(If{std::move(when), {}, {}});
    write();
    body_.close();
  }

  void copied(const Affine& round, const Affine& place, std::vector<Condition> when) override {
    by_one(std::move(when), [&] {
      const Access counter{arrived_, {place}};
      body_.add(Expect{counter, tiles_.columns * (y_.along + v_.along) * size_of(kernel_.array(y_.array).type)});
      for (const auto* staged : {&y_, &v_}) {
        for (std::int64_t first = 0; first < staged->along; first += staged->row) {
          const auto to = tiles_.columns * staged->along * place + Affine(tiles_.columns * first);
          body_.add(BoxCopy{{staged->array, {to}}, staged->map, coordinates(*staged, round, first), counter});
        }
      }
    });
  }
  /// Of the first element of a round's box, in the order of chain_map().
  std::vector<Affine> coordinates(const Staged& staged, const Affine& round, std::int64_t first) const {
    std::vector<Affine> at = {Affine(first), tiles_.columns * round};
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
  /// The second operand of a product: along its depth (y), or along its own side (v).
  StagedMatrices matrices(const Staged& staged, const Affine& place, bool along_depth) {
    const auto columns = digit_of(tiles_.columns), panel = digit_of(staged.along / staged.row),
               within = digit_of(staged.row);
    const auto at = tiles_.columns * staged.along * place + tiles_.columns * staged.row * Affine::of(panel.var) +
                    staged.row * Affine::of(columns.var) + Affine::of(within.var);
    const std::vector<Digit> across = {columns}, along = {panel, within};
    return matrices_of(kernel_, {staged.array, {at}}, along_depth ? across : along, along_depth ? along : across,
                       along_depth ? tiles_.columns : staged.along, kK);
  }
  /// For each of the group's tiles of rows an instruction.
  template <class First>
  void products(ir::NodeId factor, int sums, const StagedMatrices& matrices, std::size_t step, const First& first) {
    auto second = matrices.first;
    second.start.index.front() = second.start.index.front() + Affine(matrices.steps[step]);
    for (std::int64_t i = 0; i < row_tiles_; ++i)
      body_.add(GroupMma{chain_atom(chain_, factor, true), {sums, {Affine(i)}}, first(i), second});
  }

  void scores(const Affine& place) override {
    scores_ = registers("score", DType::f32, {row_tiles_, score_tiles_, 4});
    body_.add(Declare{scores_, true});
    const auto all = matrices(y_, place, true);
    body_.add(Fence{scores_});
    for (std::size_t step = 0; step < all.steps.size(); ++step) {
      products(chain_.y, scores_, all, step,
               [&](std::int64_t i) { return Access{x_, {Affine(i), Affine(static_cast<std::int64_t>(step))}, 2}; });
    }
    body_.add(Commit{true});
    body_.add(Wait{0, scores_});
  }

  /// Products of a step are under way while the next one's weights are made.
  void multiplied(const Affine& round, const Affine& place) override {
    const auto type = chain_.node(chain_.v).type;
    const auto all = matrices(v_, place, false);
    body_.add(Fence{product_});
    for (std::size_t step = 0; step < all.steps.size(); ++step) {
      const auto weights = registers("weight", type, {row_tiles_, 4}, 2);
      const auto rests = chain_.parts > 1 ? registers("rest", type, {row_tiles_, 4}, 2) : -1;
      weigh(round, Affine(static_cast<std::int64_t>(step)), weights, rests);
      for (const int part : {rests, weights}) {
        if (part < 0) continue;
        body_.add(Fence{part});
        products(chain_.v, product_, all, step, [&](std::int64_t i) { return Access{part, {Affine(i)}, 2}; });
      }
      body_.add(Commit{true});
    }
    body_.add(Wait{0, product_});
  }

  int arrived_ = -1;
};

}  // namespace

std::int64_t chain_row(std::int64_t along) {
  for (const std::int64_t row : {64, 32, 16}) {
    if (along % row == 0) return row;
  }
  return 0;
}

TensorMap chain_map(const Chain& chain, ir::NodeId factor, std::int64_t columns) {
  const auto& load = chain.node(factor);
  const auto extent = [&](int q) { return chain.program.indices[nth(q)].extent; };
  const auto step = [&](int q) { return load.offset.coefficient[nth(q)]; };
  const int along = factor == chain.y ? chain.depth : chain.values;
  TensorMap map;
  map.array = load.source;
  map.type = load.type;
  map.first = load.offset.constant;
  map.row_bytes = chain_row(extent(along)) * size_of(load.type);
  map.dimensions = {{extent(along), 1, chain_row(extent(along))},
                    {extent(chain.columns), step(chain.columns), columns}};
  for (const int q : chain.batch) {
    if (step(q) != 0) map.dimensions.push_back({extent(q), step(q), 1});
  }
  return map;
}

std::string chain_group_fault(const Chain& chain, std::int64_t columns) {
  for (const auto factor : {chain.y, chain.v}) {
    const auto along = chain.program.indices[nth(factor == chain.y ? chain.depth : chain.values)].extent;
    if (chain_row(along) == 0)
      return fmt::format("a warp group reads rows of 32, 64 or 128 bytes, and none of {}", 2 * along);
    if (factor == chain.v && along > kMostGroupColumns)
      return fmt::format("an instruction of a warp group has {} columns at most", kMostGroupColumns);
    if (auto rule = fault(chain_map(chain, factor, columns)); !rule.empty()) return rule;
  }
  return {};
}

std::unique_ptr<ChainBuilder> group_chain(const ir::Program& program, const Chain& chain, const ChainTiles& tiles) {
  return std::make_unique<GroupChain>(program, chain, tiles);
}

}  // namespace ricci::kernel
