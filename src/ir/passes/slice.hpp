// Runs of steps carried out block by block of an index, so that what they hand on in workspace holds one block.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/sequence.hpp"

namespace ricci::ir {

/// Indices of the first step that writes a storage of the workspace along which it may be sliced, those with the
/// longest strides first: blocks of these are streams as long as the whole is.
std::vector<int> slice_indices(const Sequence& sequence, int storage);

/// The sequence with the steps that write and read a storage of the workspace in one slice, along index `index` of the
/// first step that writes it. Storages that these steps alone use, and that have the index in a slot of its own, hold
/// one block then; of others each block is a part. Steps that sum over the index add up, block by block: first comes a
/// step that writes their operation's identity and, where more is done with the sum, last one that does it. Steps in
/// between that are no part of the slice go before or behind it. Where all steps are a slice already, it gets one more
/// loop.
///
/// Nothing where a step has no such index, uses its value, scans along it or needs more of another one's result than
/// the block's; where sums would change that are exact as written; and for blocks that leave a rest, where a block
/// cannot be done again.
///
///   least_share  of the storage's size, that others have from which on their steps are a part of the slice, too
std::optional<Sequence> sliced(const Sequence& sequence, int storage, int index, std::int64_t block,
                               double least_share = 0.25);

}  // namespace ricci::ir
