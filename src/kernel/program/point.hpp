// One worker's computation as statements of a kernel: loads, reductions and stores of its register tile. Any program,
// both targets.
#pragma once

#include <bitset>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/program.hpp"
#include "kernel/kernel.hpp"
#include "kernel/program/body_writer.hpp"
#include "kernel/program/loops.hpp"
#include "kernel/program/names.hpp"
#include "kernel/program/rows.hpp"

namespace ricci::kernel {

inline constexpr std::size_t kMostIndices = 256;
using IndexSet = std::bitset<kMostIndices>;

/// Variables of an index of the program.
struct IndexVars {
  Var value = -1;   ///< the index, or the first of a worker's values of it
  Var place = -1;   ///< number of a value in the register tile
  Var inside = -1;  ///< CUDA: that value, or the last one that exists where it lies past the end
};

/// What one worker computes. Vectors have one entry per index of the program.
struct PointBlock {
  std::vector<IndexVars> vars;
  std::vector<std::int64_t> register_tile;  ///< values in the tile; 1: the index's variable is its value
  std::vector<std::int64_t> apart;          ///< distance between them: value k is the variable + apart * k
  std::vector<bool> ragged;     ///< some may lie past the extent: their loads are of others, their stores left out
  int lane = -1, lanes = 1;     ///< neighbours along `lane` are one vector value
  int cooperative_threads = 1;  ///< threads `member` = 0 .. n-1 that divide the outermost reductions
  std::vector<int> members;     ///< of them along each index; none: all along the last one of a reduction
  int items_per_thread = 1;     ///< scanned values that one thread takes at a time
  /// Indices along which they share sums and results of rows, places of which each has in its register tile; none: they
  /// share sums alone. CPU: the one of rows that are gone over pass by pass.
  std::vector<int> shared_row;
  bool row_results = false;          ///< whether results lie along the row
  const RowProgram* rows = nullptr;  ///< CPU: of which this is the program; null: it has no rows
  std::int64_t row_lanes = 1;        ///< CPU: neighbours along the row in a vector
  int next_row = -1;                 ///< CPU: the index along which the row follows that comes next; -1: none is known
  Var member = -1;
  bool nontemporal = false;  ///< stores of vectors
  Var point = -1;            ///< in a strip: the point's distance along `lane` from the strip's beginning
  /// Loads that are in the strip's buffer `in`, with their row in it, and whether results go to `out`; see
  /// Strips.
  std::map<ir::NodeId, int> buffered_loads;
  int in = -1, out = -1;
  std::int64_t row = 0;  ///< elements from one row of a buffer to the next
  /// Loads that a tile has in arrays of its own (StagedLoad), which begin where the tile does.
  struct Staged {
    int array = -1;
    ir::Affine place;
    Affine first;  ///< of the tile, by the same strides
  };
  std::map<ir::NodeId, Staged> staged;
};

/// Writes the statements of a point. Arrays of the kernel are the program's buffers, in their order, and what is
/// declared on the way.
class PointBuilder {
 public:
  PointBuilder(Kernel& kernel, BodyWriter& body, const ir::Program& program, PointBlock block);
  void build();

 private:
  static constexpr std::int64_t kUnrolled = 16;  // longest loop that is unrolled

  const ir::Node& node(ir::NodeId id) const { return program_.nodes[static_cast<std::size_t>(id)]; }
  const IndexSet& depends(ir::NodeId id) const { return depends_[static_cast<std::size_t>(id)]; }
  IndexSet unrolled(ir::NodeId id) const { return depends(id) & unrolled_; }
  bool on_lanes(ir::NodeId id) const { return block_.lanes > 1 && depends(id)[static_cast<std::size_t>(block_.lane)]; }
  const std::string& index_name(int q) const { return program_.indices[static_cast<std::size_t>(q)].name; }
  std::int64_t extent(int q) const { return program_.indices[static_cast<std::size_t>(q)].extent; }
  bool cpu() const { return kernel_.target == Target::cpu; }

  // ---- point.cpp: what is declared, in which order
  void find_dependencies();
  void find_reductions_around();
  /// Declares all that value(id) needs in a statement that is unrolled over `around`; `guarded`: what that statement
  /// computes itself it computes of points that exist.
  void prepare(ir::NodeId id, const IndexSet& around, bool guarded = false);
  /// Whether the load must leave out what lies past the end: another worker may write the last element that exists.
  bool reads_of_others(ir::NodeId id) const;
  bool wants_name(ir::NodeId id, const IndexSet& around) const;
  void declare(ir::NodeId id);
  /// Declares a value whose operands need no further statement.
  void declare_value(ir::NodeId id);
  /// GPU: a load whose neighbours are one vector.
  void declare_vector(ir::NodeId id);
  void declare_guard(ir::NodeId id);
  /// Whether a loop of the node runs over nothing.
  bool has_no_values(const ir::Node& n) const;
  /// Declares the loop invariants of a loop over `over` before it.
  void hoist(ir::NodeId id, const IndexSet& over);
  /// Per node up to `id`: whether it must still be computed for `id`.
  std::vector<bool> needed(ir::NodeId id) const;
  std::map<ir::NodeId, int> forget(const IndexSet& over);
  void name(ir::NodeId id, int array);
  void open_scope() { scope_.emplace_back(); }
  void close_scope();
  /// Opens one unrolled loop per index of the set; returns how many to close.
  int open_unrolled(const IndexSet& set);

  // ---- point_bounds.cpp
  /// sum + sign * the parameter < below, `sum` being of indices as variables of their numbers; a parameter held within
  /// least .. most gives the same.
  struct IndexGuard {
    Affine sum;
    int param = -1;  ///< -1: none
    std::int64_t sign = 0, below = 0, least = 0, most = 0;
  };
  /// What such a guard says of a loop's variable: where it begins, or which values are the last ones.
  struct LoopBound {
    IndexGuard guard;
    bool first = false;
    Affine parameter = {};
  };
  std::optional<IndexGuard> index_guard(ir::NodeId predicate) const;
  /// Names the parameter; 0 where there is none.
  Affine parameter_of(const IndexGuard& guard);
  /// Per loop of a reduction what guards around its value say, which hold inside of the loops from there on.
  std::vector<std::vector<LoopBound>> bounds_of_loops(const ir::Node& reduce, const std::vector<bool>& unroll,
                                                      bool shared);
  /// What is left to be tested of a predicate where bounds of open loops say some of it; `all`: each part alone.
  std::vector<ir::NodeId> open_conjuncts(ir::NodeId predicate, bool all = false) const;
  void bound_loop(const LoopBound& bound, Loop& loop);

  // ---- point_reduce.cpp
  static const char* stem_of(const ir::Node& reduce);
  void declare_reduce(ir::NodeId id);
  void declare_row_reduce(ir::NodeId id, const char* stem);
  bool loops_below(ir::NodeId id) const;
  double values_below(ir::NodeId id) const;
  int members_along(const ir::Node& reduce, std::size_t k) const;
  std::vector<bool> unrolled_loops(const ir::Node& reduce, bool shared) const;
  std::vector<Affine> member_digits(const ir::Node& reduce);
  bool in_few_rounds(const ir::Node& reduce, int q, int step) const;
  int open_rounds(int q, const Affine& first, std::int64_t step);
  Var enter_index(int q);
  void enter_index(int q, Var as);
  void leave_index(int q);
  void open_loop(int q, Loop loop, const std::vector<LoopBound>& bounds = {});
  void close_loop(int q, int opened = 1);
  /// An array with room for the values of `id`, set to the identity of the operation.
  int start_value(ir::NodeId id, const std::string& name, ir::OpCode op);
  void accumulate(ir::NodeId id, const Access& target, std::optional<ir::OpCode> op, const IndexSet& target_set);
  void combine_threads(ir::NodeId id, int array);

  // ---- point_rows.cpp
  /// The registers of a sum along a row, of what goes by so many lanes.
  struct RowSum {
    int array;
    std::int64_t vectors, lanes;
  };
  void build_row();
  Affine place_in_row();
  void add_pass(const RowPass& pass, bool fetches, Var cut);
  bool has_part(const RowPass& pass, int part) const;
  void add_round(const RowPass& pass, std::size_t part, const std::vector<int>& kept,
                 const std::vector<std::vector<RowSum>>& sums);
  void fetch_next(std::int64_t vectors, std::int64_t lanes);
  void define_sum(const RowSum& sum, Value value);
  void keep(ir::NodeId id, int array);
  int total(ir::NodeId id, const std::vector<RowSum>& sums);

  // ---- point_store.cpp
  void add_statement(const ir::Statement& statement);
  void add_store(const ir::Statement& statement);
  /// Indices of which a statement has several values in the register tile.
  IndexSet results() const;
  void store_lanes(const ir::Statement& statement, const Affine& first, Value value);
  void store_vectors(const ir::Statement& statement, int along, IndexSet set, If guard, Value value);
  std::vector<Condition> store_guard(const IndexSet& set) const;
  void thread_barrier() {
    body_.add(Barrier{block_.cooperative_threads <= kWarp ? Barrier::Of::warp : Barrier::Of::block});
  }
  void wait_for_readers(const ir::Statement& statement);
  /// An order of the statements in which each reads its operands before another one overwrites them.
  std::vector<std::size_t> statement_order();

  // ---- point_scan.cpp
  void add_scan(const ir::Statement& statement);
  void add_scanned_value(const ir::Statement& statement, int running);
  void add_scanned_row(const ir::Statement& statement, int running, int length);
  void add_compact(const ir::Statement& statement);
  /// The statement's access with the scanned index included.
  ir::Affine places(const ir::Statement& statement) const;
  int start_running(const ir::Node& n);
  int start_place(const ir::Statement& statement);
  void advance(int place, std::int64_t step, std::optional<Value> times = {});
  void add_total(const ir::Statement& statement, int running, std::int64_t at);
  /// What a scan is so far, of all lanes.
  void store_scanned(const ir::Statement& statement, const ir::Affine& at, int running);
  void at_neighbour(int q, Var distance, const std::function<void()>& write);

  // ---- point_pieces.cpp
  struct Pieces;
  void add_cooperative_scan(const ir::Statement& statement);
  void add_cooperative_compact(const ir::Statement& statement);
  Pieces pieces(const ir::Node& root, const ir::Statement& statement);
  void open_pieces(const Pieces& p);
  void close_pieces(const Pieces& p);
  void add_first_in_row(const Pieces& p);
  void over_rows(const Pieces& p, const std::function<void()>& write);
  void over_neighbours(const Pieces& p, std::int64_t first, const std::function<void()>& write);
  void inside_piece(const Pieces& p, const std::function<void()>& write);
  Access item(const Pieces& p, int array, const Affine& neighbour) const;
  int add_rows_of(const Pieces& p, const std::string& stem, DType type, int vector);
  void across_warps(const Pieces& p, int own, const std::function<void(const Value&, Var)>& each);
  void add_items(const Pieces& p, const ir::Node& n, int items);
  void scan_warp(const Pieces& p, const ir::Node& n, int items, int sum, bool exclusive, bool carried);
  void store_items(const Pieces& p, const ir::Statement& statement, int items, int before);
  void add_last_total(const ir::Statement& statement, int running, std::int64_t at);

  // ---- point_values.cpp
  /// Registers of the values of a set of unrolled indices.
  int add_registers(const std::string& stem, DType type, const IndexSet& set, int lanes);
  int lanes_of(ir::NodeId id) const { return on_lanes(id) ? block_.lanes : 1; }
  /// Registers of a set begin with a value, of each of its places.
  void define(int array, const IndexSet& set, Value value);
  void store(int array, const IndexSet& set, Value value);
  Access cell(int array, const IndexSet& set) const;
  Value value_of(int array, const IndexSet& set) const;
  /// Of what lies past the end, the last element that exists.
  Affine offset(const ir::Affine& affine);
  /// A value that is declared, or the lane of the vector that it is in.
  Value declared(ir::NodeId id);
  /// GPU: the index along which a thread's values are neighbours in memory that one access moves; -1: none.
  int vector_index(int buffer, const ir::Affine& affine) const;
  int vector_index(ir::NodeId load) const {
    return reads_of_others(load) ? -1 : vector_index(node(load).source, node(load).offset);
  }
  Value value(ir::NodeId id);
  Value load(ir::NodeId id);
  /// Whether the value is not 0, as a u8.
  Value condition(ir::NodeId id);

  Kernel& kernel_;
  BodyWriter& body_;
  const ir::Program& program_;
  PointBlock block_;
  Names names_;
  std::vector<IndexSet> depends_;               // per node: free indices and those of open reductions
  std::vector<bool> named_;                     // per node: the text names its value, whatever is unrolled
  std::vector<ir::OpCode> around_;              // per node: operation of the enclosing reduction; add where none is
  bool crossing_ = false;                       // a statement reads inside a loop what another one writes
  std::vector<bool> free_;                      // per index
  IndexSet row_;                                // indices of a row that threads share
  IndexSet unrolled_;                           // indices with more than one value in the block
  IndexSet clamped_;                            // those of them that value() has used and no loop has opened yet
  std::map<ir::NodeId, int> arrays_;            // of values declared in an open scope
  std::vector<std::vector<ir::NodeId>> scope_;  // what each open scope declared
  /// Loads that were read as a vector of neighbours: its array, and the variable of the lane.
  std::map<ir::NodeId, std::pair<int, Var>> vectors_;
  /// What an index was outside of its open loops: its variable, and the point along it.
  struct Outside {
    Var value, point;
  };
  std::vector<std::vector<Outside>> looped_;  // per index
  int loops_ = 0;                             // open reduction loops
  std::set<ir::NodeId> held_;                 // predicates that bounds of open loops say
};

/// Values as nodes of a kernel.
Value constant_of(DType type, Scalar number);

}  // namespace ricci::kernel
