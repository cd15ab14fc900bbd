// Values of random programs: expressions over the buffers, parameters and indices that a program has so far.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "fuzz/random_memory.hpp"
#include "fuzz/random_tensor.hpp"
#include "ir/builder.hpp"

namespace ricci::fuzz {

using ir::Affine;
using ir::NodeId;
using ir::OpCode;

/// What is known of a node beside the node.
struct Value {
  NodeId id = -1;
  DType type = DType::f64;
  std::uint64_t needs = 0;        // indices that are run over around it
  double bound = 2;               // magnitude; integers have none
  bool sure = true;               // free of rounding that a compiler may choose
  std::optional<OpCode> guarded;  // holds a guard that waits for a reduction of this kind
};

/// Where an expression stands.
struct Context {
  std::uint64_t open = 0;       // indices that are run over around it
  OpCode around = OpCode::add;  // the innermost reduction's
  int scan = -1;                // the output whose scan it is
};

/// An access that a statement writes.
struct Output {
  int buffer = -1;
  Affine offset;
  DType type = DType::f64;
  enum class Way { store, scan, compact } way = Way::store;
  int over = -1;
  std::int64_t step = 0;
  bool exclusive = false, read = false;
};

/// A buffer while it grows around what is reached in it.
struct Area {
  std::int64_t first = 0, last = 0;
  bool reached = false, closed = false;
  Fill fill = Fill::any;
};

/// Makes values. Every draw is made whether the builder folds or not, so that one seed gives one program, folded or
/// not.
class Values {
 protected:
  Values(std::uint64_t seed, Kind kind) : random_(seed), kind_(kind) {}

  std::int64_t pick(std::int64_t low, std::int64_t high) { return fuzz::pick(random_, low, high); }
  bool chance(double probability) { return fuzz::chance(random_, probability); }
  template <class T, std::size_t n>
  T one_of(const T (&list)[n]) {
    return list[pick(0, n - 1)];
  }
  template <class T>
  T one_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(list.size()) - 1))];
  }
  bool on_grid() const { return kind_ == Kind::grid || kind_ == Kind::fields; }
  std::int64_t extent(int q) const { return builder_.program.indices[static_cast<std::size_t>(q)].extent; }
  static std::uint64_t bit(int q) { return std::uint64_t{1} << q; }

  /// What a value of `type` may be kept as.
  DType storage(DType type, bool output);
  int add_buffer(DType type, bool written, Fill fill);
  /// Places of `chosen`, apart from each other, then `inner` elements each; the span that they take in `*span`.
  Affine places(std::vector<int> chosen, std::int64_t inner, std::int64_t* span, bool broadcast);
  void reach(int buffer, const Affine& affine);
  Value keep(Value value);
  Value made_of(NodeId id, DType type, std::initializer_list<Value> parts, double bound);
  Value constant(Scalar number, DType type);
  Value some_constant(DType type);
  Value some_param(DType type);
  /// A new access; the buffer is an old one half of the time.
  Value load(DType type, const Context& context);
  std::optional<Value> reused(DType type, const Context& context, bool sure);
  Value leaf(DType type, const Context& context);
  Value cast(const Value& x, DType type);
  Value op(OpCode code, DType type, const Value& x, double bound);
  Value op(OpCode code, DType type, const Value& x, const Value& y, double bound);
  /// x * c with a magnitude of `most` at the most.
  Value scaled(const Value& x, double most);
  Value expression(DType type, const Context& context, std::int64_t size);
  Value float_operation(DType type, const Context& context, std::int64_t size);
  Value some_param_apart(DType type);
  Value real_function(DType type, const Context& context, std::int64_t size);
  Value integer_operation(DType type, const Context& context, std::int64_t size);
  Value comparison(const Context& context, std::int64_t size);
  /// A sum of indices before another one or a parameter, or not after it: what loops may begin or end by.
  std::optional<Value> index_comparison(const Context& context);
  Value predicate(const Context& context, std::int64_t size);
  Value select(DType type, const Context& context, std::int64_t size);
  double guard_bound(const Context& context, DType type) const;
  Value guard(DType type, const Context& context, std::int64_t size);
  OpCode combination(DType type, double bound, std::int64_t count);
  std::optional<Value> reduction(DType type, const Context& context, std::int64_t size);

  Generator random_;
  Kind kind_;
  ir::Builder builder_;
  std::vector<Scalar> params_;  // values of the builder's
  bool exact_ = true, bits_ = true;
  DType main_ = DType::f64, integer_ = DType::i32;
  std::int64_t size_ = 5;  // of a statement's expression, in operations
  double reuse_ = 0.1, guards_ = 0;
  std::vector<int> free_, over_;  // indices
  std::vector<Output> outputs_;
  std::vector<Area> areas_;  // per buffer
  std::vector<Value> values_;

  static constexpr std::int64_t kRoom = 6;  // elements that a compaction's row has beyond what can pass
};

}  // namespace ricci::fuzz
