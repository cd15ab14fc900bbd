// Text of what one worker computes: the points of its block, from loads over sums to stores. Any program, both targets.
#pragma once

#include <bitset>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/writer.hpp"
#include "ir/schedule.hpp"

namespace ricci::codegen {

enum class Language { cuda, cpp };

/// How the free indices of a worker's block are spelled. Per index of the program; values of indices that are run over
/// are named like the index itself.
struct Block {
  std::vector<std::int64_t> each;   ///< values in the block; 1: the index's name is its value
  std::vector<std::int64_t> apart;  ///< distance between them: value k is name + apart * k
  std::vector<bool> ragged;         ///< some may lie past the extent: loads are clamped to it, stores left out
  int lane = -1, lanes = 1;         ///< neighbours along `lane` are one vector value
  int team = 1;                     ///< threads `member` = 0 .. team-1 that share the outermost reductions
  int items = 1;                    ///< values of a scanned index that one thread of the team takes at a time
  bool wide = false;                ///< offsets need 64 bits
  bool streaming = false;           ///< whole vectors are stored past the caches
  bool strip = false;               ///< the points of a strip: their place in it is `point`
  /// Loads that wait in a buffer and statements whose results do, by their place in it; see Schedule::strip.
  std::map<ir::NodeId, int> buffered_loads;
  bool buffered_stores = false;
  std::int64_t row = 0;  ///< elements from one place to the next
};

/// Writes the body. Names it relies on: indices, buffers, params; with a team, `member`.
class PointEmitter {
 public:
  PointEmitter(Writer& writer, const ir::Program& program, Language language, Block block);
  void emit();

 private:
  static constexpr std::size_t kMostIndices = 256;
  static constexpr std::int64_t kUnrolled = 16;  // longest loop that is spelt out
  using Set = std::bitset<kMostIndices>;         // of indices

  struct Text {
    std::string text;
    int rank = 3;  // 3: an atom, 2: a product, 1: a sum, 0: anything looser
  };
  const ir::Node& node(ir::NodeId id) const { return program_.nodes[static_cast<std::size_t>(id)]; }
  const Set& depends(ir::NodeId id) const { return depends_[static_cast<std::size_t>(id)]; }
  Set unrolled(ir::NodeId id) const { return depends(id) & unrolled_; }
  bool on_lanes(ir::NodeId id) const { return block_.lanes > 1 && depends(id)[static_cast<std::size_t>(block_.lane)]; }
  const std::string& index_name(int q) const { return program_.indices[static_cast<std::size_t>(q)].name; }
  std::int64_t extent(int q) const { return program_.indices[static_cast<std::size_t>(q)].extent; }

  void find_dependencies();
  void count_uses();
  void declare_clamped();

  /// Makes sure that value() of `id`, in a line that is unrolled over `around`, needs no further line.
  void prepare(ir::NodeId id, const Set& around);
  void prepare_operands(ir::NodeId id, const Set& around);
  bool wants_name(ir::NodeId id, const Set& around) const;
  void declare(ir::NodeId id);
  void declare_reduce(ir::NodeId id);
  /// Per node up to `id`: whether its value has yet to be computed for that of `id`.
  std::vector<bool> needed(ir::NodeId id) const;
  bool loops_below(ir::NodeId id) const;
  double values_below(ir::NodeId id) const;
  std::vector<bool> unrolled_loops(const ir::Node& reduce, bool shared) const;
  std::map<ir::NodeId, std::string> forget(const Set& over);
  /// Declares, before a loop over `over`, what the loop's body uses and does not change.
  void hoist(ir::NodeId id, const Set& over);
  void start_value(ir::NodeId id, const std::string& name, ir::OpCode op);
  void accumulate(ir::NodeId id, const std::string& target, std::optional<ir::OpCode> op, const Set& target_set);
  void combine_team(ir::NodeId id, const std::string& name);

  void emit_statement(const ir::Statement& statement);
  void emit_store(const ir::Statement& statement);
  void team_barrier();
  void wait_for_readers(const ir::Statement& statement);
  /// Statements in an order in which each reads before others write what it reads.
  std::vector<std::size_t> statement_order();

  // prefix.cpp
  void emit_scan(const ir::Statement& statement);
  void emit_compact(const ir::Statement& statement);
  void emit_scan_rows(const ir::Statement& statement, const std::string& running, const std::string& at);
  void emit_team_scan(const ir::Statement& statement);
  void emit_team_compact(const ir::Statement& statement);
  struct Pieces;
  Pieces pieces(const ir::Node& root, const ir::Statement& statement);
  void open_pieces(const Pieces& pieces);
  void open_rows(const Pieces& pieces);
  void open_scope();
  void close_scope();

  /// Opens one unrolled loop per index of the set; returns how many to close.
  int open_unrolled(const Set& set);
  void open_loop(int q, bool split, bool unroll);
  void close(int count);

  std::string subscript(const Set& set) const;
  std::string dimensions(const Set& set) const;
  std::string type_text(ir::NodeId id) const;
  std::string type_text(DType type, bool lanes) const;
  std::string offset(const ir::Affine& affine, bool with_lane = false) const;
  std::string store_guard(const Set& set) const;
  Text load_text(ir::NodeId id) const;
  Text value(ir::NodeId id) const;
  Text op_text(ir::NodeId id) const;
  Text lanes_text(ir::NodeId id, const Text& x, const Text& y) const;
  std::string infix(const Text& x, const char* symbol, const Text& y, int rank) const;
  std::string combined(ir::OpCode op, DType type, const std::string& x, const Text& y) const;
  Text on_bits(ir::OpCode op, DType type, const Text& x, const Text& y) const;
  /// Whether the node is a comparison, or made of some by "and" and "or".
  bool is_truth(ir::NodeId id) const;
  /// The value where only whether it is 0 counts; of rank 1 when it can stand beside an "&&".
  Text condition(ir::NodeId id) const;
  static std::string conjunction(const std::vector<Text>& conditions);
  static std::string in_brackets(const Text& x, int rank);  ///< where it is looser than that
  std::string fresh(const std::string& stem);

  Writer& w_;
  const ir::Program& program_;
  Language language_;
  Block block_;
  std::vector<Set> depends_;  // per node: free indices and those of open reductions
  std::vector<int> uses_;
  std::vector<ir::OpCode> around_;  // per node: of the reduction or scan around it, a sum outside of any
  bool crossing_ = false;           // a statement reads, value by value, what another one writes
  std::vector<bool> free_;
  Set unrolled_;                                // indices with more than one value in the block
  std::map<ir::NodeId, std::string> names_;     // declared in a scope that is open
  std::vector<std::vector<ir::NodeId>> scope_;  // what each open scope declared
  std::map<std::string, int> taken_;            // names and how often they were given
  int loops_ = 0;                               // open reduction loops
};

/// A literal of that type: "2.5", "1.5f", "c128{0.0, 1.0}"; of an integer type, by the bits of a constant: "-3",
/// "(u8)7".
std::string literal(Scalar value, DType type);
std::string literal(std::uint64_t bits, DType type);
/// Types and functions that the C++ text of scans uses; empty where there are none.
std::string prefix_functions(const ir::Program& program);
/// The identity of a reduction as a literal.
std::string identity_literal(ir::OpCode op, DType type);

}  // namespace ricci::codegen
