// Chains by mma.sync: threads copy asynchronously to padded rows, and read fragments of both operands from there.
#include <algorithm>

#include "kernel/chain_builder.hpp"

namespace ricci::kernel {
namespace {

class WarpChain final : public ChainBuilder {
 public:
  using ChainBuilder::ChainBuilder;

 private:
  void fragments() override {
    const auto& load = chain_.node(chain_.x);
    x_ = registers(operand(chain_.x) + "_rows", load.type, {row_tiles_, steps_, 4}, 2);
    body_.add(Declare{x_});
    each_row([&](const Affine& i, const Affine& half) {
      places_[nth(chain_.rows)] = row_inside(i, half);
      unrolled(std::array{std::pair{"step", steps_}, std::pair{"right", std::int64_t{2}}},
               [&](const Affine& step, const Affine& right) {
                 places_[nth(chain_.depth)] = kK * step + kK / 2 * right + 2 * member_;
                 body_.add(Store{{x_, {i, step, half + 2 * right}, 2},
                                 load_of(load.type, {load.source, {offset(load.offset)}, 2})});
               });
    });
  }

  void stage(Staged& staged) override {
    staged.row = staged.along + chain_padding(staged.along);
    Array array;
    array.name = names_.fresh(operand(staged.load) + "_tile");
    array.type = chain_.node(staged.load).type;
    array.space = Space::shared;
    array.shape = {tiles_.stages * tiles_.columns * staged.row};
    array.alignment = kWidest;
    staged.array = kernel_.add_array(std::move(array));
  }

  void prepare() override {
    matrix_row_ = digit("matrix_row", 1, 8);
    matrix_half_ = digit("matrix_half", 8, 2);
    matrix_tile_ = digit("matrix_tile", 16, 2);
  }

  void copied(const Affine& round, const Affine& place, std::vector<Condition> when) override {
    const bool some = !when.empty();
    if (some) body_.open(If{std::move(when), {}, {}});
    copied(y_, round, place);
    copied(v_, round, place);
    if (some) body_.close();
  }
  void committed() override { body_.add(Commit{}); }
  void awaited(const Affine&, const Affine&, const std::function<void()>& next) override {
    body_.add(Wait{tiles_.stages - 2});
    body_.add(Barrier{});
    next();
    body_.add(Commit{});
  }

  /// A round's columns of an operand to a place.
  void copied(const Staged& staged, const Affine& round, const Affine& place) {
    const auto chunks = staged.along / kChainChunk, all = tiles_.columns * chunks;
    const auto visits = (all + kernel_.threads - 1) / kernel_.threads;
    unrolled(std::array{std::pair{"visit", visits}}, [&](const Affine& visit) {
      const auto number = Affine::of(thread_) + kernel_.threads * visit;
      const bool some = all % kernel_.threads != 0;
      if (some) body_.open(If{{{number, all}}, {}, {}});
      const auto let = [&](const char* what, std::int64_t divisor, std::int64_t modulus, std::int64_t values) {
        const auto var = kernel_.add_var(inner(what), values);
        body_.add(Let{var, number, divisor, modulus});
        return Affine::of(var);
      };
      const auto reach = (visits * kernel_.threads + chunks - 1) / chunks;
      const auto line = let("line", chunks, 0, reach), chunk = let("chunk", 1, chunks, chunks);
      const auto column = tiles_.columns * round + line;
      places_[nth(chain_.columns)] = column;
      places_[nth(staged.along_index)] = kChainChunk * chunk;
      const auto& load = chain_.node(staged.load);
      AsyncCopy copy{{staged.array, {tiles_.columns * staged.row * place + staged.row * line + kChainChunk * chunk}},
                     {load.source, {offset(load.offset)}},
                     static_cast<int>(kWidest),
                     {}};
      if (ragged_columns_) copy.when.push_back({column, extent(chain_.columns)});
      body_.add(std::move(copy));
      if (some) body_.close();
    });
  }

  void scores(const Affine& place) override {
    scores_ = registers("score", DType::f32, {row_tiles_, score_tiles_, 4});
    body_.add(Declare{scores_, true});
    const auto matrix = registers(operand(chain_.y) + "_part", chain_.node(chain_.y).type, {score_tiles_, 2}, 2);
    unrolled(std::array{std::pair{"step", steps_}}, [&](const Affine& step) {
      matrices(matrix, score_tiles_, false, [&](const Affine& tile, const Affine& of_lane) {
        return Access{y_.array,
                      {(tiles_.columns * y_.row) * place + (kN * y_.row) * (tile + of_lane) + y_.row * matrix_row_ +
                       kK * step + kK / 2 * matrix_half_},
                      static_cast<int>(kChainChunk)};
      });
      products(chain_atom(chain_, chain_.y, false), scores_, score_tiles_, x_, {step}, matrix);
    });
  }
  /// Fragments of so many tiles of an operand's own side, two tiles by an instruction: the second one's rows are those
  /// that the upper half of a warp points to.
  template <class From>
  void matrices(int to, std::int64_t tiles, bool transposed, const From& from) {
    body_.add(Declare{to});
    if (tiles > 1) {
      unrolled(std::array{std::pair{"pair", tiles / 2}}, [&](const Affine& pair) {
        body_.add(MatrixLoad{{to, {2 * pair}, 2}, from(2 * pair, matrix_tile_), transposed, 2});
      });
    }
    if (tiles % 2 != 0)
      body_.add(MatrixLoad{{to, {Affine(tiles - 1)}, 2}, from(Affine(tiles - 1), Affine(0)), transposed});
  }
  void products(const std::string& atom, int sums, std::int64_t tiles, int first, const std::vector<Affine>& step,
                int second) {
    unrolled(std::array{std::pair{"i", row_tiles_}, std::pair{"j", tiles}}, [&](const Affine& i, const Affine& j) {
      std::vector<Affine> of_first = {i};
      of_first.insert(of_first.end(), step.begin(), step.end());
      body_.add(MmaCall{atom, {sums, {i, j}}, {first, std::move(of_first), 2}, {second, {j}, 2}});
    });
  }

  void multiplied(const Affine& round, const Affine& place) override {
    const auto type = chain_.node(chain_.v).type;
    const auto weights = registers("weight", type, {row_tiles_, 4}, 2);
    const auto rests = chain_.parts > 1 ? registers("rest", type, {row_tiles_, 4}, 2) : -1;
    const auto matrix = registers(operand(chain_.v) + "_part", type, {value_tiles_, 2}, 2);
    unrolled(std::array{std::pair{"step", score_tiles_ / 2}}, [&](const Affine& step) {
      weigh(round, step, weights, rests);
      matrices(matrix, value_tiles_, true, [&](const Affine& tile, const Affine& of_lane) {
        return Access{v_.array,
                      {(tiles_.columns * v_.row) * place + (kK * v_.row) * step + (kK / 2 * v_.row) * matrix_half_ +
                       v_.row * matrix_row_ + kN * (tile + of_lane)},
                      static_cast<int>(kChainChunk)};
      });
      const auto atom = chain_atom(chain_, chain_.v, false);
      if (chain_.parts > 1) products(atom, product_, value_tiles_, rests, {}, matrix);
      products(atom, product_, value_tiles_, weights, {}, matrix);
    });
  }

  std::int64_t steps_ = extent(chain_.depth) / kK;
  int x_ = -1;
  Affine matrix_row_, matrix_half_, matrix_tile_;
};

}  // namespace

std::unique_ptr<ChainBuilder> warp_chain(const ir::Program& program, const Chain& chain, const ChainTiles& tiles) {
  return std::make_unique<WarpChain>(program, chain, tiles);
}

}  // namespace ricci::kernel
