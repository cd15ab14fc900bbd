// Kernels in order over named tensors: what einsums of many operands and programs of many statements lower to.
#pragma once

#include <algorithm>

#include "ir/program.hpp"

namespace ricci::ir {

enum class Role : std::uint8_t {
  input,      ///< read
  output,     ///< written; read as well where a statement adds to it
  workspace,  ///< temporary memory of the call, undefined before it
};

/// Memory of the whole sequence. Offsets lie in [first, last], in elements from the base pointer.
struct Storage {
  std::string name;
  Role role = Role::input;
  DType type = DType::f64;
  std::int64_t first = 0, last = -1;
  std::int64_t alignment = 0;  ///< bytes promised for the base pointer; workspace: 256
  bool tf32 = false;           ///< as of Buffer
};

/// One kernel: which storage is which of its buffers, which parameter is which of its own.
struct Step {
  Program program;
  std::vector<int> storage, param;
  /// Per loop of the slice that the step is in, and per buffer: elements that its base moves by from one value of the
  /// loop's index to the next. Empty: none does.
  std::vector<std::vector<std::int64_t>> advance = {};

  bool advances() const noexcept { return !advance.empty(); }
};

/// Values of an index that steps run over block by block. The last block ends with the last value: where the blocks do
/// not divide the extent, it does some of the block before again.
struct BlockLoop {
  std::string name;  ///< of the index
  std::int64_t extent = 1, block = 1;

  std::int64_t blocks() const noexcept { return (extent + block - 1) / block; }
  std::int64_t first(std::int64_t number) const noexcept { return std::min(number * block, extent - block); }
};

using BlockValues = Few<std::int64_t, 4>;  ///< per loop of a slice

/// Steps [first, last) of a sequence, all of which run on one block before any runs on the next one: what they hand on
/// in workspace holds one block. Of several loops the last one runs fastest.
struct Slice {
  std::size_t first = 0, last = 0;
  std::vector<BlockLoop> loops;

  std::int64_t blocks() const noexcept;
  /// The first value of each loop's index in a block.
  BlockValues values(std::int64_t block) const;
};

/// Elements that the base of a step's buffer lies further on in the block that begins at these values.
inline std::int64_t shift_of(const std::vector<std::vector<std::int64_t>>& advance, const BlockValues& values,
                             std::size_t buffer) noexcept {
  std::int64_t shift = 0;
  for (std::size_t l = 0; l < advance.size(); ++l) shift += values[l] * advance[l][buffer];
  return shift;
}

/// Steps run one after the other; each sees what the earlier ones wrote.
struct Sequence {
  std::vector<Storage> storages;
  std::vector<Param> params;
  std::vector<Step> steps;
  std::vector<Slice> slices = {};  ///< in the order of their steps, which no two share

  /// The slice that a step is in, or null.
  const Slice* slice_of(std::size_t step) const noexcept;

  std::int64_t workspace_bytes() const;  ///< see workspace_layout()
  /// Whether it keeps a limit of so many bytes of workspace; -1: any.
  bool fits(std::int64_t workspace_limit) const { return workspace_limit < 0 || workspace_bytes() <= workspace_limit; }
};

/// One kernel as a sequence: its buffers are the storages, in order, written ones outputs.
Sequence sequence_of(Program program);

/// Throws InternalError when a step uses a storage that does not exist, has another type, or is too small.
void verify(const Sequence& sequence);
/// The same of steps whose programs were verified where they were made.
void verify_storages(const Sequence& sequence);

/// storages[k] is the base pointer of sequence.storages[k], workspace included.
void interpret(const Sequence& sequence, const std::vector<void*>& storages, const std::vector<Scalar>& params);

}  // namespace ricci::ir
