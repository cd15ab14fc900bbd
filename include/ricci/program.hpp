// Programs: statements over named indices and tensors, written in C++ or read from text.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ricci/tensor.hpp"

namespace ricci {

namespace formula {
struct ProgramGraph;
}

inline namespace v1 {

class Access;

/// The extent of an index or of a grid that is not known yet: it comes from Program::set_extent() or Program::bind().
inline constexpr std::int64_t kOpenExtent = -1;

/// A name that runs over 0 .. extent-1. A value: the same name means the same index throughout a program.
class Index {
 public:
  explicit Index(std::string name, std::int64_t extent = kOpenExtent) : name_(std::move(name)), extent_(extent) {}
  const std::string& name() const noexcept { return name_; }
  std::int64_t extent() const noexcept { return extent_; }

 private:
  std::string name_;
  std::int64_t extent_;
};

/// One or several indices: `sum(l, ...)`, `sum({l, m}, ...)`.
struct Indices {
  Indices(const Index& index) : list{index} {}
  Indices(std::initializer_list<Index> indices) : list(indices) {}
  std::vector<Index> list;
};

struct Slot;

/// A value built from accesses, numbers, parameters and indices: a handle into its program's graph, in which equal
/// expressions are one. Numbers, indices and accesses convert to it. Every operation checks its operands and throws
/// SpecError or ShapeError, naming the file and line of an access in it.
class Expr {
 public:
  Expr(double number);
  Expr(int number);
  Expr(std::int64_t number);
  Expr(Scalar number);
  Expr(const Index& index);  ///< the index's value, as i64
  Expr(const Slot& slot);    ///< the same of a sum of indices
  Expr(const Access& access);

  /// For the functions below: node `id` of `graph`.
  Expr(std::shared_ptr<formula::ProgramGraph> graph, int id, std::source_location where)
      : graph_(std::move(graph)), id_(id), where_(where) {}
  const std::shared_ptr<formula::ProgramGraph>& graph() const noexcept { return graph_; }
  int id() const noexcept { return id_; }
  const std::source_location& where() const noexcept { return where_; }

 private:
  std::shared_ptr<formula::ProgramGraph> graph_;
  int id_ = -1;
  std::source_location where_;
};

/// The content of one slot of an access: an index, a number, or a sum of indices with whole factors and a number
/// (`i + 1`, `2 * i + r - 1`, `i - k + 63`); on the left side of a statement an index, with an offset or without, or a
/// number, and of a compaction also an expression that gives the first position (`arr(off(i))`).
struct Slot {
  enum class Kind : std::uint8_t { none, sum, position };
  struct Term {
    Index index;
    std::int64_t factor = 1;
  };

  Slot() = default;
  Slot(const Index& i) : kind(Kind::sum), terms{{i, 1}} {}
  Slot(int value) : kind(Kind::sum), offset(value) {}
  Slot(std::int64_t value) : kind(Kind::sum), offset(value) {}
  Slot(const Access& first);

  Kind kind = Kind::none;
  std::vector<Term> terms;  ///< none: a number
  std::int64_t offset = 0;
  bool shifted = false;  ///< more than an index or a number is written: the slot may have more values than it runs over
  std::shared_ptr<const Expr> position;
};

/// x + factor * y. SpecError where a number of it is beyond 64 bits or one of them is a position.
Slot added(const Slot& x, const Slot& y, std::int64_t factor = 1);

template <class T>
concept InSlot = std::same_as<T, Index> || std::same_as<T, Slot>;
/// What is a slot's when added up; other sums, as of an index and a fraction, are expressions.
template <class A, class B>
concept SlotSummands = (InSlot<A> && (InSlot<B> || std::integral<B>)) || (std::integral<A> && InSlot<B>);

inline Slot slot_of(const Slot& slot) { return slot; }
template <std::integral N>
Slot slot_of(N number) {
  return static_cast<std::int64_t>(number);
}

template <class A, class B>
  requires SlotSummands<A, B>
Slot operator+(const A& x, const B& y) {
  return added(slot_of(x), slot_of(y));
}
template <class A, class B>
  requires SlotSummands<A, B>
Slot operator-(const A& x, const B& y) {
  return added(slot_of(x), slot_of(y), -1);
}
template <std::integral N, InSlot A>
Slot operator*(N factor, const A& x) {
  return added(0, x, static_cast<std::int64_t>(factor));
}
template <InSlot A, std::integral N>
Slot operator*(const A& x, N factor) {
  return factor * x;
}
template <InSlot A>
Slot operator-(const A& x) {
  return -1 * x;
}

/// A symmetry of storage: equal values (or opposite ones) whenever the listed slots are permuted. One value is stored
/// per sorted multi-index; components that an antisymmetry makes 0 are not stored.
struct Symmetry {
  std::vector<int> slots;
  bool antisymmetric = false;
  bool operator==(const Symmetry&) const = default;
};

/// `sym({0, 1})`, `sym({0, 1}) && sym({2, 3})`, `antisym({0, 1})`.
struct Symmetries {
  std::vector<Symmetry> list;
};
Symmetries sym(std::vector<int> slots);
Symmetries antisym(std::vector<int> slots);
Symmetries operator&&(Symmetries first, const Symmetries& second);

/// A tensor at its slots: a value on the right side; on the left side the place that a statement writes. Slots of a
/// nested tensor are given in two groups: `dg(i, j)[k]`.
///
/// Assigning records a statement in the tensor's program. It throws, before anything is recorded, SpecError for what
/// the notation forbids (indices that disagree, a repeated index, a broken symmetry, types) and ShapeError for extents;
/// each text begins with the kind (IndexMismatch, RepeatedIndex, SymmetryMismatch, RankError, ExtentError, RangeError,
/// SumError, TypeError) and ends with file and line.
class Access {
 public:
  Access(std::shared_ptr<formula::ProgramGraph> graph, int tensor, std::vector<Slot> slots, std::source_location where)
      : graph_(std::move(graph)), tensor_(tensor), slots_(std::move(slots)), where_(where) {}
  Access(const Access&) = default;

  Access operator[](const Slot& slot) const;
  /// States the symmetry that the tensor must be stored with, on either side: `dg(i, j).with(sym({0, 1})) = ...`. On
  /// the left one whose symmetry the right side does not show is then stored with a warning, where it would be an
  /// error.
  Access with(const Symmetries& stated) const;

  // They record, so that A(i, j) = B(j, i) is a statement and not a copy.
  const Access& operator=(const Access& value) const;  // NOLINT(misc-unconventional-assign-operator)
  const Access& operator=(const Expr& value) const;    // NOLINT(misc-unconventional-assign-operator)
  const Access& operator+=(const Expr& value) const;
  const Access& operator-=(const Expr& value) const;
  const Access& operator*=(const Expr& value) const;
  const Access& operator/=(const Expr& value) const;

  const std::shared_ptr<formula::ProgramGraph>& graph() const noexcept { return graph_; }
  int tensor() const noexcept { return tensor_; }
  const std::vector<Slot>& slots() const noexcept { return slots_; }
  const std::vector<Symmetry>& stated() const noexcept { return stated_; }
  const std::source_location& where() const noexcept { return where_; }

 private:
  std::shared_ptr<formula::ProgramGraph> graph_;
  int tensor_;
  std::vector<Slot> slots_;
  std::vector<Symmetry> stated_;
  std::source_location where_;
};

/// A tensor of a program: a handle, valid as long as any handle or the program lives.
class Tensor {
 public:
  Tensor(std::shared_ptr<formula::ProgramGraph> graph, int id) : graph_(std::move(graph)), id_(id) {}

  /// The tensor at up to 16 slots.
  Access operator()(const Slot& s0 = {}, const Slot& s1 = {}, const Slot& s2 = {}, const Slot& s3 = {},
                    const Slot& s4 = {}, const Slot& s5 = {}, const Slot& s6 = {}, const Slot& s7 = {},
                    const Slot& s8 = {}, const Slot& s9 = {}, const Slot& s10 = {}, const Slot& s11 = {},
                    const Slot& s12 = {}, const Slot& s13 = {}, const Slot& s14 = {}, const Slot& s15 = {},
                    std::source_location where = std::source_location::current()) const;

 private:
  std::shared_ptr<formula::ProgramGraph> graph_;
  int id_;
};

Expr operator+(const Expr& x, const Expr& y);
Expr operator-(const Expr& x, const Expr& y);
Expr operator*(const Expr& x, const Expr& y);
Expr operator/(const Expr& x, const Expr& y);
Expr operator-(const Expr& x);

// Comparisons are 1 or 0; && || ! combine them. & | ^ ~ << >> are for integers.
Expr operator<(const Expr& x, const Expr& y);
Expr operator<=(const Expr& x, const Expr& y);
Expr operator>(const Expr& x, const Expr& y);
Expr operator>=(const Expr& x, const Expr& y);
Expr operator==(const Expr& x, const Expr& y);
Expr operator!=(const Expr& x, const Expr& y);
Expr operator&&(const Expr& x, const Expr& y);
Expr operator||(const Expr& x, const Expr& y);
Expr operator!(const Expr& x);
Expr operator&(const Expr& x, const Expr& y);
Expr operator|(const Expr& x, const Expr& y);
Expr operator^(const Expr& x, const Expr& y);
Expr operator~(const Expr& x);
Expr operator<<(const Expr& x, const Expr& bits);
Expr operator>>(const Expr& x, const Expr& bits);

Expr sqrt(const Expr& x);
Expr cbrt(const Expr& x);
Expr rsqrt(const Expr& x);
Expr exp(const Expr& x);
Expr log(const Expr& x);
Expr sin(const Expr& x);
Expr cos(const Expr& x);
Expr tan(const Expr& x);
Expr asin(const Expr& x);
Expr acos(const Expr& x);
Expr atan(const Expr& x);
Expr sinh(const Expr& x);
Expr cosh(const Expr& x);
Expr tanh(const Expr& x);
Expr abs(const Expr& x);
Expr sign(const Expr& x);  ///< -1, 0 or 1
Expr conj(const Expr& x);
Expr real(const Expr& x);  ///< of complex values, as imag; abs() of them is real
Expr imag(const Expr& x);
Expr popcount(const Expr& x);
Expr pow(const Expr& x, const Expr& y);
Expr atan2(const Expr& x, const Expr& y);
Expr hypot(const Expr& x, const Expr& y);
Expr min(const Expr& x, const Expr& y);
Expr max(const Expr& x, const Expr& y);
Expr mod(const Expr& x, const Expr& y);  ///< remainder with x's sign; of integers x mod 0 is 0
Expr cast(DType type, const Expr& x);
Expr select(const Expr& condition, const Expr& x, const Expr& y);

/// `x` where `condition` holds, else the identity of the enclosing reduction (0 outside of one). As a whole right side:
/// nothing is stored where the condition is false.
Expr guard(const Expr& condition, const Expr& x);

/// The operation of a reduction or a scan.
enum class Reduction : std::uint8_t { sum, product, minimum, maximum, bit_and, bit_or, bit_xor };

/// Over all values of the indices, each of which must be free in `body`; the identity where there are none.
Expr reduce(Reduction by, const Indices& over, const Expr& body);
Expr sum(const Indices& over, const Expr& body);
Expr product(const Indices& over, const Expr& body);
Expr minimum(const Indices& over, const Expr& body);
Expr maximum(const Indices& over, const Expr& body);

/// Only as a whole right side. `y(i) = scan(by, i, x(i))`: prefixes that include their own element. The exclusive one
/// has one value more, the total: y's slot has the extent of i plus 1.
Expr scan(Reduction by, const Index& over, const Expr& body);
Expr exclusive_scan(Reduction by, const Index& over, const Expr& body);

/// Only as a whole right side: `arr(off(i)) = compact(j, predicate, payload)` stores the payloads of those j whose
/// predicate holds, one after the other in ascending order, from element off(i) on. The ranges that different points
/// write must not overlap.
Expr compact(const Index& over, const Expr& predicate, const Expr& payload);

Expr det3(const Access& matrix);             ///< determinant; the access has two free indices of extent 3
Expr inv3(const Access& matrix);             ///< inverse, at the access's own indices; shares det3's terms
Expr delta(const Index& i, const Index& j);  ///< 1 where they are equal, else 0
Expr diag(const Expr& x);                    ///< allows `diag(A(i, i))` and `diag(B(i) * C(i))` on a field
Expr diag(const Access& x);

/// How a tensor lies in memory. `n` components are stored per point, in the order of their sorted multi-indices.
enum class Storage : std::uint8_t {
  dense,     ///< not on a grid: row-major, or the strides given. On a grid as soa
  soa,       ///< component c of point x at c * parameter + x; parameter 0: the number of points
  pointers,  ///< one buffer per stored component
  blocked,   ///< point x at (x / parameter) * n * parameter + c * parameter + x % parameter; parameter divides the
             ///< points
};

/// Storage, symmetry and alignment of a tensor.
struct TensorForm {
  Symmetries symmetry = {};
  /// One value per grid point in every component, each slot having 1 to 16 values. At most one index of a program is a
  /// grid.
  bool on_grid = false;
  Storage storage = Storage::dense;
  std::int64_t parameter = 0;              ///< of the storage, in elements
  std::vector<std::int64_t> strides = {};  ///< dense, not on a grid: elements, one per slot; empty: row-major
  std::int64_t alignment = 16;             ///< bytes by which base pointers are promised to be divisible
  /// Of inputs and temps, not on a grid and without a symmetry: what is read beyond their slots' values, as zero
  /// padding does. Without it such reads are RangeErrors.
  std::optional<double> outside = {};
};

/// The extent of a slot: a number, that of an index, or what an access with the same slot reaches: one more than the
/// greatest value of a sum of indices (`i + 1`, `2 * i + r`).
struct Extent {
  Extent(int number) : slot(number) {}
  Extent(std::int64_t number) : slot(number) {}
  Extent(const Index& i) : slot(i) {}
  Extent(const Slot& sum) : slot(sum) {}
  Slot slot;
};

/// The role of a tensor in a program.
enum class TensorRole : std::uint8_t {
  input,   ///< the caller's, read
  output,  ///< the caller's, written; not read before a statement has written it
  inout,   ///< the caller's, read and written
  local,   ///< no storage: a value per point on a grid, else a function of its indices, inlined where it is used
  temp,    ///< storage in the plan's workspace
};

/// One tensor as a caller must bring it.
struct TensorInfo {
  std::string name;
  TensorRole role = TensorRole::input;
  DType type = DType::f64;
  std::vector<std::int64_t> extents;  ///< per slot
  std::int64_t components = 0;        ///< stored values per point; without a grid all of them
  bool on_grid = false;
  /// Shape of the array that holds it, kOpenExtent where not known: (extents) without a grid; on one (components,
  /// points), (points / n, components, n) when blocked; with pointers the shape of each of its arrays.
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< of that array, in elements; empty while an extent is open
  std::vector<std::string> buffers;   ///< names: its own, or one per stored component. None for locals
};

struct ParamInfo {
  std::string name;
  DType type = DType::f64;
};

/// Additions, multiplications, divisions and functions, each as 1, negations as 0; per grid point where there is a grid
/// and all statements are on it, of the whole program otherwise.
struct FlopCount {
  double written = 0;    ///< evaluated as the statements are written, nothing shared
  double performed = 0;  ///< by the kernels: factorised, common subexpressions computed once
};

/// Statements over tensors, in order. Each sees what the earlier ones wrote. Move-only; one thread at a time.
class Program {
 public:
  explicit Program(std::string name = "program");

  /// Reads the text form (docs/programs.md). Throws SpecError or ShapeError with line, column and a caret.
  static Program parse(std::string_view text);
  /// The text form; parse() reads it back to an equal program.
  std::string print() const;
  const std::string& name() const noexcept;

  /// Declarations. Names are letters, digits and underscores, start with a letter, are unique in the program and no
  /// words of the language. Throw SpecError and ShapeError.
  Index grid(const std::string& name, std::int64_t points = kOpenExtent,
             std::source_location where = std::source_location::current());
  Tensor input(const std::string& name, const std::vector<Extent>& extents, DType type, TensorForm form = {},
               std::source_location where = std::source_location::current());
  Tensor output(const std::string& name, const std::vector<Extent>& extents, DType type, TensorForm form = {},
                std::source_location where = std::source_location::current());
  Tensor inout(const std::string& name, const std::vector<Extent>& extents, DType type, TensorForm form = {},
               std::source_location where = std::source_location::current());
  Tensor local(const std::string& name, const std::vector<Extent>& extents, DType type, TensorForm form = {},
               std::source_location where = std::source_location::current());
  Tensor temp(const std::string& name, const std::vector<Extent>& extents, DType type, TensorForm form = {},
              std::source_location where = std::source_location::current());
  /// A scalar given at each call: it may change without a compilation.
  Expr param(const std::string& name, DType type, std::source_location where = std::source_location::current());

  /// Keeps the written order bit for bit: no factorisation, no reassociation, no fused multiply-add.
  void set_exact(bool exact = true);
  bool exact() const noexcept;
  /// From here on an index that two factors (or one access) repeat is summed over. May be switched at any statement.
  void set_einstein(bool einstein = true);

  /// Gives an open extent a value, or changes one; throws ShapeError where accesses would leave a slot.
  void set_extent(const std::string& index, std::int64_t extent);
  /// Finds open extents from the shapes of the arrays that are to be bound (TensorInfo::shape), by tensor name.
  /// Throws ShapeError (ExtentMismatch) when two shapes disagree, or one with the program.
  void bind(const std::map<std::string, std::vector<std::int64_t>>& shapes);
  std::vector<std::string> open_extents() const;  ///< names of indices without an extent

  std::vector<TensorInfo> tensors() const;  ///< in the order of declaration
  std::vector<ParamInfo> params() const;    ///< in the order of declaration: that of Call::params

  /// Of the program as it would be run; every extent must be known.
  FlopCount flops() const;

  const formula::ProgramGraph& formula() const noexcept { return *graph_; }

 private:
  explicit Program(std::shared_ptr<formula::ProgramGraph> graph) : graph_(std::move(graph)) {}
  Tensor declare(TensorRole role, const std::string& name, const std::vector<Extent>& extents, DType type,
                 TensorForm form, std::source_location where);

  std::shared_ptr<formula::ProgramGraph> graph_;
};

}  // namespace v1
}  // namespace ricci
