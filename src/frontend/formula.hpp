// The user's program as a graph: tensors, indices and statements. The C++ front end and the text form both build it,
// through the checked constructors below.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/program.hpp"
#include "ricci/error.hpp"
#include "ricci/program.hpp"

namespace ricci::formula {

using ir::OpCode;
using ExprId = int;

/// Where the user wrote something: a byte of a text, or a line of a source file.
struct SourcePosition {
  std::string_view text = {};
  std::size_t offset = 0;
  const char* file = nullptr;
  unsigned line = 0;  ///< of the file; of the text, 0 where it has to be counted

  std::string describe() const;   ///< begins with a newline; empty for no place
  TextPosition position() const;  ///< in `text`
};

[[noreturn]] void fail(const SourcePosition& place, const std::string& what);        ///< SpecError
[[noreturn]] void fail_shape(const SourcePosition& place, const std::string& what);  ///< ShapeError

struct IndexDecl {
  std::string name;
  std::int64_t extent = kOpenExtent;
};

/// coefficient * index
struct SlotTerm {
  int index = -1;
  std::int64_t coefficient = 1;
  bool operator==(const SlotTerm&) const = default;
};

/// A sum of indices with whole factors, and a constant: what slots hold, and what their extents are said by.
struct SlotSum {
  std::vector<SlotTerm> terms = {};  ///< by the numbers of the indices, each once, with a factor other than 0
  std::int64_t offset = 0;

  bool fixed() const noexcept { return terms.empty(); }
  /// The index where there is one alone, with the factor 1; else -1.
  int index() const noexcept { return terms.size() == 1 && terms[0].coefficient == 1 ? terms[0].index : -1; }
  bool holds(int index) const noexcept;
  /// False, and nothing is added, where the sum would be beyond 64 bits.
  bool add(int index, std::int64_t coefficient);
  bool operator==(const SlotSum&) const = default;
};

/// The offset alone where there is no index, else one more than the greatest value of the sum, less 0: what an access
/// with the same slot reaches. Of an index alone its extent, and the offset.
struct SlotExtent : SlotSum {};

struct TensorDecl {
  std::string name;
  TensorRole role = TensorRole::input;
  DType type = DType::f64;
  std::vector<SlotExtent> slots;
  TensorForm form;

  /// Whether kernels have a variable for each component: tensors on a grid, and symmetric storage.
  bool expanded() const noexcept { return form.on_grid || !form.symmetry.list.empty(); }
  int rank() const noexcept { return static_cast<int>(slots.size()); }
};

struct ParamDecl {
  std::string name;
  DType type = DType::f64;
};

struct SlotValue : SlotSum {
  bool shifted = false;  ///< more than an index or a number is written: the slot may have more values
  ExprId position = -1;  ///< left side of a compaction: the first position
  bool operator==(const SlotValue&) const = default;
};

/// Least and greatest value of a sum.
struct SlotRange {
  std::int64_t least = 0, greatest = 0;
};

enum class Kind : std::uint8_t {
  number,
  param,
  index,
  access,
  op,           ///< operations of level L
  reduce,       ///< `op` over `over`
  guard,        ///< operands: predicate, value
  scan,         ///< only as a right side
  compact,      ///< only as a right side; operands: predicate, payload
  determinant,  ///< of operand 0, an access whose row and column are `over`
  inverse,      ///< the same, at these indices
  delta,        ///< 1 where the two indices of `over` are equal
  diagonal,     ///< operand 0, whose repeated indices are intended
};

struct Expr {
  Kind kind = Kind::number;
  OpCode op = OpCode::add;
  DType type = DType::f64;
  bool literal = false;    ///< an untyped number: takes the type of the other operand
  bool integral = false;   ///< literal: written without a fraction
  bool truth = false;      ///< u8: 0 or 1
  bool exclusive = false;  ///< scan
  int source = -1;         ///< param, index; access: tensor
  Scalar value = 0;        ///< number
  std::vector<ExprId> operands;
  std::vector<SlotValue> slots;  ///< access
  std::vector<int> over;         ///< reduce, scan, compact; determinant, inverse: row, column; delta

  // What the constructors found, each list sorted.
  std::vector<int> free;      ///< indices that a value of this has, the grid's left out
  std::vector<int> bound;     ///< indices that something inside runs over
  std::vector<int> repeated;  ///< free indices that occur in two factors or twice in an access
  bool on_grid = false;       ///< has a value per grid point
  bool strict = false;        ///< holds an expanded tensor: ranks must agree as in tensor algebra
  int depth = 1;
  double terms = 1;  ///< of the tree that its text is: what several users share counts for each
};

enum class Assign : std::uint8_t { set, add, subtract, multiply, divide };

struct Statement {
  ExprId target = -1;  ///< an access
  Assign op = Assign::set;
  ExprId value = -1;
  bool asserted = false;  ///< the left side names its symmetry
  std::string where;      ///< SourcePosition::describe() of the statement
};

/// What components hold at one grid point with random inputs, after the first `statements` of a program (probe.hpp).
struct ProbedValues {
  std::size_t statements = 0;
  std::map<std::pair<int, int>, Scalar> components;  ///< by tensor and number; others are those of random inputs
  bool followed = true;                              ///< every one of the statements could be evaluated
  bool guessed = false;                              ///< a tensor that statements have written was taken for random
};

/// The graph of expressions (operands before users) and the statements.
struct ProgramGraph {
  std::string name = "program";
  std::vector<IndexDecl> indices;
  std::vector<TensorDecl> tensors;
  std::vector<ParamDecl> params;
  std::vector<Expr> exprs;
  std::vector<Statement> statements;
  int grid = -1;
  bool exact = false;
  bool einstein = false;
  ProbedValues probed;

  const Expr& expr(ExprId id) const { return exprs[static_cast<std::size_t>(id)]; }
  const TensorDecl& tensor(int id) const { return tensors[static_cast<std::size_t>(id)]; }
  std::int64_t extent(int index) const { return indices[static_cast<std::size_t>(index)].extent; }
  std::int64_t extent(const SlotExtent& slot) const;
  /// Nothing where the extent of an index is open. Values beyond 2^62 are those: no tensor has so many.
  std::optional<SlotRange> range(const SlotSum& sum) const;

  // Declarations (formula_declare.cpp). Names are checked.
  int declare_index(const std::string& name, std::int64_t extent, const SourcePosition& place);
  void declare_grid(const std::string& name, std::int64_t extent, const SourcePosition& place);
  int declare_tensor(TensorDecl tensor, const SourcePosition& place);
  int declare_param(const std::string& name, DType type, const SourcePosition& place);
  int find_index(std::string_view name) const noexcept;   ///< -1: none
  int find_tensor(std::string_view name) const noexcept;  ///< -1: none
  int find_param(std::string_view name) const noexcept;   ///< -1: none
  void set_extent(int index, std::int64_t extent, const SourcePosition& place);

  // Expressions (formula.cpp).
  ExprId number(Scalar value, bool integral);
  ExprId param(int id);
  ExprId index(int id, const SourcePosition& place);
  ExprId access(int tensor, std::vector<SlotValue> slots, const SourcePosition& place);
  ExprId unary(OpCode op, ExprId x, const SourcePosition& place);
  ExprId binary(OpCode op, ExprId x, ExprId y, const SourcePosition& place);
  ExprId negate(ExprId x, const SourcePosition& place);
  ExprId logical_not(ExprId x, const SourcePosition& place);
  ExprId cast(DType type, ExprId x, const SourcePosition& place);
  ExprId select(ExprId condition, ExprId x, ExprId y, const SourcePosition& place);
  ExprId guard(ExprId condition, ExprId x, const SourcePosition& place);
  ExprId reduce(OpCode op, std::vector<int> over, ExprId body, const SourcePosition& place);
  ExprId scan(OpCode op, int over, ExprId body, bool exclusive, const SourcePosition& place);
  ExprId compact(int over, ExprId predicate, ExprId payload, const SourcePosition& place);
  ExprId determinant(ExprId matrix, const SourcePosition& place);
  ExprId inverse(ExprId matrix, const SourcePosition& place);
  ExprId delta(int i, int j, const SourcePosition& place);
  ExprId diagonal(ExprId x, const SourcePosition& place);
  /// diag(A(i, i)).
  ExprId diagonal_access(int tensor, std::vector<SlotValue> slots, const SourcePosition& place);
  /// Node `id` of another program, whose indices, if any, are taken over by name.
  ExprId import(const ProgramGraph& from, ExprId id, const SourcePosition& place);

  // Statements (formula_check.cpp).
  void check_symmetry_words(int tensor, const std::vector<SlotValue>& slots, const std::vector<Symmetry>& stated,
                            const SourcePosition& place) const;
  void record(int tensor, std::vector<SlotValue> slots, Assign op, ExprId value, bool asserted,
              const SourcePosition& place);
  /// Every access of every statement against the extents that are known by now.
  void check_extents() const;
  void check_extents(const Statement& statement) const;
  void add_statement(Statement statement);  ///< without a check
  void clear_statements();
  const Statement* first_statement(int tensor) const noexcept;  ///< that writes it; null: none

  int deepest() const noexcept;  ///< depth of the deepest expression of a statement

  ExprId intern(Expr made, const SourcePosition& place);  ///< finds or adds
  /// The type in which an operation computes on two operands.
  DType common_type(ExprId x, ExprId y, const SourcePosition& place) const;

 private:
  void check_name(const std::string& name, const char* what, const SourcePosition& place) const;
  void check_slots(int tensor, const std::vector<SlotValue>& slots, int longer, bool read,
                   const SourcePosition& place) const;
  Expr plain_access(int tensor, const std::vector<SlotValue>& slots) const;
  ExprId make_access(int tensor, std::vector<SlotValue> slots, bool diagonal, const SourcePosition& place);
  void check_target(const Expr& target, const Expr& value, Assign op, const SourcePosition& place) const;
  void check_written(const Expr& target, Assign op, ExprId value, const SourcePosition& place) const;
  ExprId counted(ExprId body, const SourcePosition& place);
  ExprId make_reduce(OpCode op, std::vector<int> over, ExprId body, const SourcePosition& place);
  ExprId make_binary(OpCode op, DType type, ExprId x, ExprId y, const SourcePosition& place);
  void check_ranks(OpCode op, ExprId x, ExprId y, const SourcePosition& place) const;
  void merge(Expr& made, const SourcePosition& place) const;
  int import_index(const ProgramGraph& from, int index, const SourcePosition& place);

  using NameTable = std::map<std::string, int, std::less<>>;
  NameTable index_names_, tensor_names_, param_names_;
  std::vector<int> first_statement_;  // per tensor that has one: the statement that writes it first, else -1
  int deepest_ = 0;
  std::unordered_map<std::string, ExprId> known_;
};

// Words and texts (formula_print.cpp).
std::string print(const ProgramGraph& program);             ///< SpecError where a statement's text would be too long
std::string print(const ProgramGraph& program, ExprId id);  ///< "(... terms)" where its text would be too long
std::string print_slot(const ProgramGraph& program, const SlotValue& slot);
std::string print_sum(const ProgramGraph& program, const SlotSum& sum);  ///< an offset of 0 beside indices left out
std::string print_symmetries(const std::vector<Symmetry>& list);         ///< "{}", "(0 1)", "-(0 1)(2 3)"
std::string braces(const ProgramGraph& program, const std::vector<int>& indices);  ///< {i,j}
const char* symbol(OpCode op) noexcept;                                            ///< "+", "sqrt", "shl", ...
const char* symbol(Assign op) noexcept;                                            ///< "=", "+=", ...
const char* reduction_word(OpCode op) noexcept;                                    ///< "sum", "product", ...
bool is_word(std::string_view name) noexcept;                                      ///< a word of the language, no name

/// The type in which two operands meet; throws TypeError through `place` when there is none.
DType promote(DType x, DType y, const SourcePosition& place);

/// Reads the text form (formula_parse.cpp).
void parse(ProgramGraph& program, std::string_view text);

/// Statements that define the values of a local without a grid: one, with plain indices on its left side.
const Statement* definition(const ProgramGraph& program, int tensor) noexcept;

}  // namespace ricci::formula
