// What kernels of a chain have in common, whichever instructions multiply: rows, masks, maxima, weights, results.
// Scores of a warp's rows by a round's columns are accumulators of the first product; two tiles of them side by side
// lie as one tile of the second product's first operand does, so that nothing moves between the products.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernel/arguments.hpp"
#include "kernel/build_chain.hpp"
#include "kernel/chain_values.hpp"
#include "kernel/program/body_writer.hpp"
#include "kernel/program/names.hpp"

namespace ricci::kernel {

class ChainBuilder : protected ChainValues {
 public:
  ChainBuilder(const ir::Program& program, const Chain& chain, const ChainTiles& tiles);
  virtual ~ChainBuilder() = default;
  Kernel build();

 protected:
  static constexpr std::int64_t kM = kChainRows, kN = kChainColumns, kK = kChainDepth;

  /// An operand whose rows of a round lie in shared memory.
  struct Staged {
    ir::NodeId load = -1;
    int along_index = -1;
    std::int64_t along = 0;  ///< neighbours
    std::int64_t row = 0;    ///< elements from one row to the next
    int array = -1;          ///< in shared memory
    int map = -1;            ///< of Kernel::maps, where one copies it
  };

  // ---- what products of an instruction have of their own

  /// The block's rows of x, where registers keep them.
  virtual void fragments() {}
  /// How an operand lies in shared memory, and what copies it.
  virtual void stage(Staged& staged) = 0;
  /// In front of all rounds.
  virtual void prepare() = 0;
  /// A round's columns of both operands to a place, where all conditions hold.
  virtual void copied(const Affine& round, const Affine& place, std::vector<Condition> when) = 0;
  /// Closes a group of copies.
  virtual void committed() = 0;
  /// Until a round's copies are there and all threads are done with the round before; then `next` copies ahead.
  virtual void awaited(const Affine& round, const Affine& place, const std::function<void()>& next) = 0;
  /// The scores of the round's columns are multiplied, from 0.
  virtual void scores(const Affine& place) = 0;
  /// The second product's sums: weights of each step are made, and multiplied.
  virtual void multiplied(const Affine& round, const Affine& place) = 0;

  // ---- for these

  std::int64_t extent(int q) const { return program_.indices[nth(q)].extent; }
  std::string name(int q, const char* ending) { return names_.fresh(program_.indices[nth(q)].name + ending); }
  const std::string& operand(ir::NodeId load) const { return program_.buffers[nth(chain_.node(load).source)].name; }
  /// A name of the thread's number / divisor % modulus (0: no remainder).
  Affine digit(const char* what, std::int64_t divisor, std::int64_t modulus);
  int registers(const std::string& stem, DType type, std::vector<std::int64_t> shape, int lanes = 1);
  /// A name within a loop that is spelt out: the same in each that is in none with that name.
  const std::string& inner(const std::string& stem);
  /// `write(variables...)` in loops that are spelt out.
  template <std::size_t N, class Write>
  void unrolled(const std::array<std::pair<const char*, std::int64_t>, N>& loops, const Write& write) {
    std::array<Affine, N> at_values;
    for (std::size_t k = 0; k < N; ++k) {
      const auto var = kernel_.add_var(inner(loops[k].first), loops[k].second);
      body_.open(Loop{.var = var, .bind = Bind::unroll, .body = {}});
      at_values[k] = Affine::of(var);
    }
    std::apply(write, at_values);
    body_.close(static_cast<int>(N));
  }
  template <class Write>
  void each_row(const Write& write) {
    unrolled(std::array{std::pair{"i", row_tiles_}, std::pair{"half", std::int64_t{2}}}, write);
  }
  /// The row, or the last one where it is past the end.
  Affine row_inside(const Affine& tile, const Affine& half) {
    return inside(row(tile, half), chain_.rows, ragged_rows_);
  }
  /// Weights of the round's columns 16 * step and on, to registers of that name, and the other sums of their terms.
  void weigh(const Affine& round, const Affine& step, int weights, int rests);
  /// The same, of two neighbours.
  void weigh(const Affine& round, const Affine& i, const Affine& half, const Affine& step, const Affine& right);

 private:
  Affine row(const Affine& tile, const Affine& half) const;
  Affine inside(Affine value, int q, bool ragged, int number = 0);
  Affine column(const Affine& round, const Affine& j, const Affine& e) const;

  void declare();
  /// The smallest or the largest value of a condition in a round of the block.
  Affine reached(const Condition& condition, const Affine& round, bool largest) const;
  bool loop_ends() const;
  /// That a round has columns of the block.
  std::vector<Condition> begun(const Affine& round) const;
  void copied_if(const Affine& round, const Affine& place, std::vector<Condition> when);
  void rounds();
  /// What the maximum is of, in place of the scores; -infinity where an element is left out.
  void transformed(const Affine& round);
  /// What is subtracted from exponents, of a maximum: as the program rounds it, and a number where it is -infinity.
  Value subtracted(const Value& maximum);
  /// Of scores of which a factor is left to exponents, the maximum of the program.
  Value maximum_of(Value scores) const;
  double exponent_factor() const;
  /// The maximum of the rows so far, and what it multiplies all sums by.
  void maxima();
  bool terms_use(int index) const;
  void results();
  /// Whether two results are one access.
  bool is_vector() const;

 protected:
  const ir::Program& program_;
  ChainTiles tiles_;
  Kernel kernel_;
  std::int64_t row_tiles_, score_tiles_, value_tiles_, rounds_;
  bool ragged_rows_, ragged_columns_;
  Names names_;
  BodyWriter body_;
  Var thread_ = -1;
  Affine row_tile_, member_;
  int product_ = -1, scores_ = -1;
  Staged y_, v_;

 private:
  std::map<std::string, std::string> inner_names_;
  Affine warp_, group_;
  int most_ = -1, shift_ = -1, weights_ = -1, rests_ = -1;
  std::vector<int> sums_;
};

/// By mma.sync: threads copy, and read fragments of both operands. By warp groups: tensor maps copy.
std::unique_ptr<ChainBuilder> warp_chain(const ir::Program& program, const Chain& chain, const ChainTiles& tiles);
std::unique_ptr<ChainBuilder> group_chain(const ir::Program& program, const Chain& chain, const ChainTiles& tiles);

}  // namespace ricci::kernel
