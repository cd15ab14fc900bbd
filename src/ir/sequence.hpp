// Kernels in order over named tensors: what einsums of many operands and programs of many statements lower to.
#pragma once

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
};

/// Steps run one after the other; each sees what the earlier ones wrote.
struct Sequence {
  std::vector<Storage> storages;
  std::vector<Param> params;
  std::vector<Step> steps;

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
