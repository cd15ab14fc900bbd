// New steps made of parts of an old one, over other indices.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/builder.hpp"
#include "ir/sequence.hpp"

namespace ricci::ir {

/// A storage of partial results: one row per combination of some indices of the step.
struct Rows {
  int storage = -1;
  std::vector<std::int64_t> stride;  ///< per index of the step's program; 0: not one of the rows'
};

inline std::size_t at(int k) { return static_cast<std::size_t>(k); }

constexpr std::int64_t kRowBytes = 128;  ///< a cache line of a GPU

/// Rows of one element in a new workspace storage, row-major over the indices of `order`, slowest first.
///   row  how many of these from the last one on make a row, which begins at a multiple of kRowBytes; 0: none does
Rows add_rows(Sequence& sequence, const Program& program, const std::vector<int>& order, std::size_t row, DType type,
              const std::string& stem);
/// The same among those storages, by a name that nothing has yet.
Rows add_rows(std::vector<Storage>& storages, const Program& program, const std::vector<int>& order, std::size_t row,
              DType type, std::string name);

/// Others in the place of a step.
void replace_step(Sequence& sequence, std::size_t step, std::vector<Step> others);

/// Workspace that no step uses is no part of the sequence from here on.
void drop_unused_storages(Sequence& sequence);

/// The stem, or one with a number, that names nothing in the sequence yet.
std::string fresh_name(const Sequence& sequence, const std::string& stem);

/// A new step. Nodes, accesses and statements of the old one are copied into it; indices, buffers and parameters come
/// along as they are named.
class StepPiece {
 public:
  explicit StepPiece(const Step& from);

  Builder builder;

  /// A new index. The old index `from` is then `offset` + factor * value, summed over all new ones made for it.
  int index(int from, std::int64_t extent, std::int64_t factor, std::int64_t offset, const char* ending);
  /// A new index for which there was none.
  int fresh_index(std::string name, std::int64_t extent);
  /// The new index that an old one became, whole.
  int whole(int old);
  /// Other values for the old index, and so for all that depends on it, from here on.
  void forget(int old);
  /// From here on, `made` stands wherever the old node did.
  void replace(NodeId old, NodeId made) { known_[at(old)] = made; }

  NodeId copy(NodeId old);
  Affine affine(const Affine& old) { return affine(old.coefficient, old.constant); }
  /// affine += coefficient * index, of new ones.
  static void add_term(Affine& affine, int index, std::int64_t coefficient);

  /// The new buffer of the step's buffer `old`.
  int buffer(int old, bool written = false);
  /// The new buffer of a storage of the sequence.
  int buffer(const Sequence& sequence, int storage, bool written = false);
  /// The place of this point's row, `stride` further on per value of the new index (-1: its start).
  Affine row(const Rows& rows, int index, std::int64_t stride = 1);
  /// Element `index` of this point's row (-1: the first).
  NodeId load(const Sequence& sequence, const Rows& rows, int index);

  /// The statement of the old step, with the values that its nodes have become.
  void store(const Statement& old);

  Step finish();

 private:
  /// An old index is the sum of its terms and of a constant.
  struct Term {
    int old, made;
    std::int64_t factor;
  };

  NodeId copy_node(const Node& node);
  Affine affine(std::span<const std::int64_t> coefficient, std::int64_t constant);
  std::vector<int> whole(const std::vector<int>& old);
  const Term* first_term(int old) const;
  int declare(int storage, const Buffer& declared, bool written);
  int param(int old);
  NodeId index_value(int old);

  const Step& from_;
  Few<Term, 16> terms_;
  Few<std::int64_t, 16> constant_;  // per old index
  Few<NodeId> known_;               // per old node; -1: none
  std::vector<int> storage_, param_;
};

}  // namespace ricci::ir
