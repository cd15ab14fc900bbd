// Text of one worker's computation: loads, reductions and stores of its register tile. Any program, both languages.
#pragma once

#include <bitset>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/called_functions.hpp"
#include "codegen/writer.hpp"
#include "ir/schedule.hpp"

namespace ricci::codegen {

enum class Language { cuda, cpp };

/// How the emitter spells the free indices of a register tile. Vectors have one entry per index of the program; a
/// reduced index is a loop variable of its own name.
struct PointBlock {
  std::vector<std::int64_t> register_tile;  ///< values in the tile; 1: the index's name is its value
  std::vector<std::int64_t> apart;          ///< distance between them: value k is name + apart * k
  std::vector<bool> ragged;     ///< some may lie past the extent: their loads are clamped, their stores left out
  int lane = -1, lanes = 1;     ///< neighbours along `lane` are one vector value
  int cooperative_threads = 1;  ///< threads `member` = 0 .. n-1 that divide the outermost reductions
  int items_per_thread = 1;     ///< scanned values that one thread takes at a time
  bool wide = false;            ///< offsets need 64 bits
  bool streaming = false;       ///< vectors are written by nontemporal stores
  bool strip = false;           ///< computes the points of a strip, at position `point` of it
  /// Loads that are in the strip's buffer, with their row in it, and whether results go to one; see Schedule::strip.
  std::map<ir::NodeId, int> buffered_loads;
  bool buffered_stores = false;
  std::int64_t row = 0;  ///< elements from one row of the buffer to the next
};

/// Writes the body. Names it relies on: indices, buffers, params; with cooperative threads, `member`.
class PointEmitter {
 public:
  PointEmitter(Writer& writer, const ir::Program& program, Language language, PointBlock block);
  void emit();

 private:
  static constexpr std::size_t kMostIndices = 256;
  static constexpr std::int64_t kUnrolled = 16;  // longest loop that is unrolled
  using Set = std::bitset<kMostIndices>;         // of indices

  struct Text {
    std::string text;
    int rank = 3;  // precedence: 3 an atom, 2 a product, 1 a sum, 0 anything lower
  };
  const ir::Node& node(ir::NodeId id) const { return program_.nodes[static_cast<std::size_t>(id)]; }
  const Set& depends(ir::NodeId id) const { return depends_[static_cast<std::size_t>(id)]; }
  Set unrolled(ir::NodeId id) const { return depends(id) & unrolled_; }
  bool on_lanes(ir::NodeId id) const { return block_.lanes > 1 && depends(id)[static_cast<std::size_t>(block_.lane)]; }
  const std::string& index_name(int q) const { return program_.indices[static_cast<std::size_t>(q)].name; }
  std::int64_t extent(int q) const { return program_.indices[static_cast<std::size_t>(q)].extent; }

  void find_dependencies();
  void find_names();
  void find_reductions_around();
  void declare_clamped();

  /// Declares all that value(id) needs in a statement that is unrolled over `around`.
  void prepare(ir::NodeId id, const Set& around);
  bool wants_name(ir::NodeId id, const Set& around) const;
  void declare(ir::NodeId id);
  /// A line, or a loop of lines, for a value whose operands need no further line.
  void declare_value(ir::NodeId id);
  void declare_guard(ir::NodeId id);
  void declare_reduce(ir::NodeId id);
  /// Per node up to `id`: whether it must still be computed for `id`.
  std::vector<bool> needed(ir::NodeId id) const;
  bool loops_below(ir::NodeId id) const;
  double values_below(ir::NodeId id) const;
  std::vector<bool> unrolled_loops(const ir::Node& reduce, bool shared) const;
  std::map<ir::NodeId, std::string> forget(const Set& over);
  /// Declares the loop invariants of a loop over `over` before it.
  void hoist(ir::NodeId id, const Set& over);
  void start_value(ir::NodeId id, const std::string& name, ir::OpCode op);
  void accumulate(ir::NodeId id, const std::string& target, std::optional<ir::OpCode> op, const Set& target_set);
  void combine_threads(ir::NodeId id, const std::string& name);

  void emit_statement(const ir::Statement& statement);
  void emit_store(const ir::Statement& statement);
  void thread_barrier();
  void wait_for_readers(const ir::Statement& statement);
  /// An order of the statements in which each reads its operands before another one overwrites them.
  std::vector<std::size_t> statement_order();

  // scan.cpp
  void emit_scan(const ir::Statement& statement);
  void emit_compact(const ir::Statement& statement);
  void emit_scan_rows(const ir::Statement& statement, const std::string& running, const std::string& at);
  void emit_cooperative_scan(const ir::Statement& statement);
  void emit_cooperative_compact(const ir::Statement& statement);
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
  bool is_truth(ir::NodeId id) const { return truth_[static_cast<std::size_t>(id)]; }
  /// The value as a condition (zero or not); of rank 1 when it needs no brackets beside "&&".
  Text condition(ir::NodeId id) const;
  static std::string conjunction(const std::vector<Text>& conditions);
  static std::string in_brackets(const Text& x, int rank);  ///< where its precedence is lower than that
  std::string fresh(const std::string& stem);

  Writer& w_;
  const ir::Program& program_;
  Language language_;
  PointBlock block_;
  std::vector<Set> depends_;  // per node: free indices and those of open reductions
  std::vector<bool> named_;   // per node: the text names its value, whatever is unrolled
  CalledFunctions called_;
  std::vector<bool> truth_;         // per node: a comparison, or made of some by "and" and "or"
  std::vector<ir::OpCode> around_;  // per node: operation of the enclosing reduction or scan; add where there is none
  bool crossing_ = false;           // a statement reads inside a loop what another one writes
  std::vector<bool> free_;
  Set unrolled_;                                // indices with more than one value in the block
  std::map<ir::NodeId, std::string> names_;     // of values declared in an open scope
  std::vector<std::vector<ir::NodeId>> scope_;  // what each open scope declared
  std::map<std::string, int> taken_;            // names and how often they were given
  int loops_ = 0;                               // open reduction loops
};

/// A literal of that type: "2.5", "1.5f", "c128{0.0, 1.0}"; of an integer type, by the bits of a constant: "-3",
/// "(u8)7".
std::string literal(Scalar value, DType type);
std::string literal(std::uint64_t bits, DType type);
/// Types and functions that the C++ text of scans uses; empty where there are none.
std::string scan_functions(const ir::Program& program);
/// The identity of a reduction as a literal.
std::string identity_literal(ir::OpCode op, DType type);

}  // namespace ricci::codegen
