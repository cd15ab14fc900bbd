// Where the storages of a workspace lie: one allocator for all sequences, by the lifetimes of their storages.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/sequence.hpp"

namespace ricci::ir {

/// Bytes between places of a workspace that storages may begin at.
inline constexpr std::int64_t kWorkspaceAlignment = 256;

/// That a storage takes of a workspace.
std::int64_t bytes_of(const Storage& storage);

struct WorkspaceLayout {
  /// Per storage of the sequence, in bytes from the workspace's first one: where its lowest element lies. -1 for a
  /// storage of the caller's.
  std::vector<std::int64_t> offset;
  std::int64_t bytes = 0;
};

/// Slots whose lifetimes (the steps from the first to the last that uses them) do not meet may share memory. Larger
/// storages are placed first, each at the lowest place that is free for all of its lifetime. Slots that no step uses
/// take no memory.
WorkspaceLayout workspace_layout(const Sequence& sequence);

}  // namespace ricci::ir
