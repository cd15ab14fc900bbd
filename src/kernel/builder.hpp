// The loops of a contraction or of a part of a group, as directives make them one after the other.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernel/atom_types.hpp"
#include "kernel/build.hpp"
#include "kernel/result.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {

/// One loop of an index: `count` values, `step` elements of the index apart.
struct AxisLevel {
  Var var = 0;
  std::int64_t count = 1, step = 1;
};

/// An index of the program, or several that are joined to one.
struct Axis {
  std::vector<AxisLevel> levels;  ///< from outside in; none of an index that is joined with others
  Affine value;                   ///< of the index
  bool ragged = false;            ///< some values of the levels are past the index's extent
  std::string name;
  std::int64_t extent = 1;
  std::vector<int> members = {};  ///< of joined ones the indices, the slowest first
  bool tabled = false;            ///< copies of a GPU read from a table where joined ones lie
};

struct Ordered {
  Var var = 0;
  Bind bind = Bind::serial;
  bool sum = false;       ///< inside of the accumulator's life
  int stages = 1;         ///< places of the copies in its body
  bool prefetch = false;  ///< the first fragments of a round are read in the round before
  Body first;             ///< statements before the loops inside: copies
  int origin = -1;        ///< number of the directive
};

/// A product and how it is computed.
struct Product {
  struct Staged {
    int array = -1;
    Access access;
  };
  Contraction of;
  Staged first = {}, second = {};
  Mma mma = {};
};

/// The loops of one product, or of several of a group that add to one accumulator.
class Builder {
 public:
  /// Adds to a kernel that has the program's arguments, and what earlier sections of a group made.
  ///   group  that the products are of; null where the one product is all
  Builder(Kernel& kernel, const ir::Program& program, std::vector<Product> products, const Group* group)
      : kernel_(kernel),
        program_(program),
        products_(std::move(products)),
        group_(group),
        earlier_vars_(kernel.vars.size()),
        earlier_arrays_(kernel.arrays.size()) {
    for (const auto& index : program.indices) {
      auto& axis = axes_.emplace_back();
      axis.name = index.name;
      axis.extent = index.extent;
    }
  }

  /// Each directive stands on those before it; only the first `count` are applied, which know of the atom behind them.
  void run(std::span<const Directive> directives, std::size_t count);

  bool has_order() const { return !order_.empty(); }
  bool has_atoms() const { return atoms_ == products_.size(); }

  /// A loop over tasks, and how far apart they are.
  struct Task {
    Var var = 0;
    std::int64_t step = 1;
    bool operator==(const Task&) const = default;
  };
  /// From outside in.
  std::vector<Task> tasks() const;
  /// Memory of the worker for a task's block of the result, laid out as the result is.
  int add_block();
  /// How the sums of a group's section go on.
  struct Passing {
    bool adds = false;  ///< to what earlier sections left in the block
    bool is_last = true;
    int block = -1;                 ///< where sections before the last one leave their sums
    const Builder* from = nullptr;  ///< the section before, whose sums come in registers
    bool on = false;                ///< to the next section, in registers
  };
  /// What a task does.
  Body of_task(const Passing& passing);
  Body of_task() { return of_task(Passing()); }
  /// Whether its sums are to be added to those in the block.
  bool adds() const { return passing_.adds; }
  /// The loops over tasks around what each of them does.
  Body around(Body body) {
    if (last_) return around_last(std::move(body));
    for (auto k = tasks().size(); k-- > 0;) body = loop_of(k, std::move(body));
    return body;
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const {
    throw PlanError(fmt::format("schedule: {}: {}", current_, rule));
  }
  const ir::Node& node(ir::NodeId id) const { return program_.nodes[static_cast<std::size_t>(id)]; }
  Axis& axis(int q) { return axes_[static_cast<std::size_t>(q)]; }
  const Axis& axis(int q) const { return axes_[static_cast<std::size_t>(q)]; }
  const std::string& var_name(Var var) const { return kernel_.vars[static_cast<std::size_t>(var)].name; }
  /// Number of the directive that is being applied.
  int origin() const { return static_cast<int>(kernel_.directives.size()) - 1; }
  std::int64_t extent(int q) const { return axis(q).extent; }
  bool is_joined(int q) const { return !axis(q).members.empty(); }
  /// Of joined axes the indices that they are of, else the axis itself.
  template <class F>
  bool any_index(int q, const F& f) const {
    return is_joined(q) ? std::any_of(axis(q).members.begin(), axis(q).members.end(), f) : f(q);
  }
  /// Whether an axis moves a tensor.
  bool moves(int q, const ir::Affine& offset) const {
    return any_index(q, [&](int k) { return offset.coefficient[static_cast<std::size_t>(k)] != 0; });
  }

  void apply(const Directive& directive);
  void tile(const Directive& directive);
  void join(const Directive& directive);
  void order(const Directive& directive);
  /// The rules of a loop over the blocks of a cluster, behind what the order has so far.
  void cluster(Var var, bool summed) const;
  /// How many tiles, the last ones, are of all blocks of a cluster; those in front are of one block each.
  ///   words  behind the loop over the cluster's blocks
  void last(const std::vector<std::string>& words);
  /// Under a name that nothing has.
  Var new_var(std::string name, std::int64_t extent);
  /// Of the sum's outermost loop, where `part` numbers the parts of the last tiles' sums.
  std::vector<Condition> rounds_of_block(Var part) const;
  /// A block's place, as its tile and, of the last ones, its part of the sum, around what it does.
  Body around_last(Body body) const;
  void stage(const Directive& directive);
  /// A staged operand by a tensor map, each index of which it is made is a dimension of.
  void by_map(Copy& copy, const ir::Affine& offset);
  void atom(const Directive& directive);
  void pipeline(const Directive& directive);
  /// The rows of an operand that the next task copies, as they lie in memory.
  void prefetch(const std::string& operand);
  /// Of rows that are read in place: what the next register tile reads of them, in the rounds of this one's sums.
  void prefetch_rows();
  /// Fetches of a register tile's share of their lines.
  Statement lines_ahead();
  void store(const Directive& directive);
  /// Results of the rounds of a loop in scratch memory, and how they leave it.
  void gather(const Directive& directive);
  void carry(const Directive& directive);
  Body gathered_runs();
  void check_unread() const;
  /// An array of a worker, of the result's type.
  int add_scratch(const std::string& name, std::int64_t elements);
  /// The rules of results that several tasks add to.
  void add_atomically() const;

  void split(int q, const Directive& tile);
  /// The axis of a name; -1: there is none.
  int find(const std::string& name) const;
  /// Of joined axes: what each of their indices is.
  void name_members(const Axis& joined);

  /// A new variable, or that of an earlier section.
  Var var_of(std::string name, std::int64_t count) {
    for (std::size_t v = 0; v < earlier_vars_; ++v) {
      if (kernel_.vars[v].name == name && kernel_.vars[v].extent == count) return static_cast<Var>(v);
    }
    return kernel_.add_var(std::move(name), count);
  }

  Var loop(const std::string& name) const;
  /// The axis that a loop is of.
  int index_of(Var var) const;
  Product& product() { return products_[atoms_]; }  ///< that the next atom computes
  /// All indices of joined axes have the same.
  Role role(const Product& product, int q) const {
    return product.of.role[static_cast<std::size_t>(is_joined(q) ? axis(q).members.front() : q)];
  }

  bool is_summed(int q) const {
    return std::any_of(products_.begin(), products_.end(), [&](const Product& product) {
      return role(product, q) == Role::depth || role(product, q) == Role::summed;
    });
  }
  std::optional<std::size_t> place(Var var) const {
    for (std::size_t k = 0; k < order_.size(); ++k) {
      if (order_[k].var == var) return k;
    }
    return std::nullopt;
  }

  /// An operand's offset in its own buffer, over all loops.
  Affine offset(const ir::Affine& affine) const;
  Access global(ir::NodeId load) const { return {node(load).source, {offset(node(load).offset)}}; }

  /// What holds for the elements of a tensor among the values of all levels; `tile`: of levels whose loops end where
  /// the index does.
  std::vector<Condition> inside(const ir::Affine& affine, bool tile) const;

  /// The rules of sums that pass in registers.
  void check_exchange(const Builder& before) const;

  /// Indices that are joined, as quotients, of the axes that move a tensor.
  std::vector<Let> quotients(const ir::Affine& affine) const;

  /// Whether an index ends inside of what the loops of the order leave to the atom: they end with whole blocks.
  bool ends_inside(std::size_t q) const;

  /// Whether the atom's rows move an operand with these offsets.
  bool has_rows(const ir::Affine& offset) const;
  /// The layout of an operand that a warp group reads: rows of neighbours, swizzled.
  void spread_rows(Array& array, const Copy& copy, int padding) const;

  /// A new array, or one of an earlier section, whose elements nothing reads any more.
  int array_of(Array array);
  /// Room for an operand in the one array that all rounds of a group's sections on a GPU stage theirs in, so that those
  /// of later sections are copied while earlier ones multiply: where in it.
  std::int64_t add_to_round(Array array);

  /// The digits of a warp's number, the slowest first.
  void order_warps(Spread& spread, const std::vector<std::string>& names, const Mma& mma) const;
  /// The threads of a block: warps for each of the products side by side.
  void set_threads(Mma& mma);

  /// What an atom of a warp group takes.
  void check_group(const Mma& mma) const;

  /// Whether vectors of columns can be read of an operand, and room for the last one where columns end inside of it.
  void check_lanes(const Mma& mma, const Access& operand, int lanes);

  /// What an atom of dot products takes, which it is told of.
  void check_dots(Mma& mma, const Factor& rows, const Factor& columns);
  /// How operands are staged for such an atom.
  Dot dot(const Contraction& of) const;
  /// Whether its columns move an operand with these offsets.
  bool has_columns(const ir::Affine& offset) const {
    return std::any_of(column_names_.begin(), column_names_.end(),
                       [&](const std::string& name) { return moves(index_of(loop(name)), offset); });
  }

  /// The last columns as one, along which lanes run, as they lie in the second operand.
  void join_lanes(Mma& mma, int columns);

  Access operand(const Factor& factor) const;

  /// Of the atom: what it combines in place of products, where the operands may have changed places.
  std::optional<Value> term(bool swapped) const;

  /// That of the section: all of its products have the same rows and columns.
  void make_accumulator(Mma& mma, int lanes);

  /// Sums run over whole tiles, so what is past the end of a summed index is read; a result past the end of its own
  /// index is dropped, whatever it was made of.
  void pad(Copy& copy) const;

  // ---- the tree

  /// The last tiles, whose sums are shared; the names of a block's place.
  struct Last {
    std::int64_t tiles = 0;
    Var rounds = -1;           ///< the sum's loop that is cut into parts
    std::int64_t of_part = 1;  ///< rounds of it
    Var cluster = -1, rank = -1;
    Var left = -1;                  ///< blocks of the last tiles behind this one
    Var alone = -1, together = -1;  ///< tiles in front of this one: of one block each, and of the last ones
    Var in_parts = -1;              ///< whether the tile is one of the last ones
  };

  /// Loops from the k-th on; without atoms nothing is in them but copies.
  Body assemble(std::size_t k);
  /// The same without what a block of results leaves by behind them.
  Body tiles(std::size_t k);
  Prefetch lines_of_result() const;
  /// On a GPU: of what results are added to.
  Prefetch runs_before() const;
  Body sums(std::size_t k);
  Body loop_of(std::size_t k, Body inner);

  /// The indices of the result, fastest first.
  std::vector<std::size_t> result_order() const;
  /// Of a round of the first so many loops of the order.
  std::int64_t block_extent(std::size_t q, std::size_t loops) const;
  /// The element of such a round's block of the result, laid out as the result is.
  Affine in_block(std::size_t loops) const;
  /// Neighbours in the result that are neighbours in such a block, and the indices along which there are more of them.
  struct BlockRuns {
    std::int64_t length = 1;
    std::vector<std::size_t> apart = {};
  };
  BlockRuns runs_of_block(std::size_t loops) const;
  Result result() const {
    std::vector<Affine> values;
    for (const auto& axis : axes_) values.push_back(axis.value);
    return {kernel_, program_, std::move(values), group_ == nullptr ? products_.front().of.reduce : -1};
  }

  /// What is done with the finished sum, or with each of the parts that it comes in.
  Body flush();
  /// Where the loops over parts of the sum are at their last part.
  std::vector<Condition> no_parts_left(const std::vector<Var>& loops) const;

  Kernel& kernel_;
  const ir::Program& program_;
  std::vector<Product> products_;
  const Group* group_;
  Passing passing_;
  bool exchanged_ = false;  // sums come from the section before in registers
  std::vector<Axis> axes_;  // per index of the program, and behind them those that are joined
  std::size_t earlier_vars_, earlier_arrays_;
  std::vector<std::size_t> reused_;  // arrays of earlier sections
  std::optional<int> round_array_;   // of a group's section on a GPU, and what its operands take of it
  std::int64_t round_elements_ = 0;
  std::vector<Let> quotients_;  // indices that are joined, by the values of their axes
  std::vector<Let> lanes_;      // columns that are joined for lanes, by the value of these
  std::vector<Digit> columns_;  // of the register tile, each for itself
  std::vector<Ordered> order_;
  std::size_t atoms_ = 0;  // of the products so far
  bool nontemporal_ = false, prefetched_ = false;
  std::optional<FetchRows> ahead_;       // of the operand whose next copy is prefetched
  int ahead_origin_ = -1;                // number of the directive
  std::optional<Statement> rows_ahead_;  // of what the next register tile reads in place
  bool relaid_ = false;                  // results leave through shared memory
  /// Results that leave through scratch memory.
  struct Gathered {
    std::size_t loops = 0;    // of the order, of whose rounds each has a block
    int block = -1;           // array
    std::int64_t margin = 0;  // elements before and behind the block: a line
    int carried = -1;         // the index along which the next task goes on with lines; -1: lines wait for none
    int origin = -1;          // number of the directive
  };
  std::optional<Gathered> gathered_;
  std::optional<Last> last_;
  bool atomic_ = false;                           // results are added to, in any order: tasks may have parts of sums
  const Atom* instruction_ = nullptr;             // of a tensor core; null for fused multiply-adds
  bool dots_ = false;                             // the atom is a CPU's dot products
  std::vector<std::string> rows_, column_names_;  // of the atom
  int atom_number_ = -1;
  std::string current_ = "the program";
};

}  // namespace ricci::kernel
