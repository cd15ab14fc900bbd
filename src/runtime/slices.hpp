// Which steps of a sequence run block by block, and what is made of the steps around and inside.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/sequence.hpp"

namespace ricci::runtime {

/// What a program is predicted to take, in microseconds.
using StepTime = std::function<double(const ir::Program&)>;

/// The sequence in slices that need no more workspace than `limit` bytes, by blocks as large as that allows, along one
/// index and another: what is predicted to take the least time comes first. Nothing where none keeps the limit.
std::vector<ir::Sequence> sliced_to_fit(const ir::Sequence& sequence, std::int64_t limit, const StepTime& us_of);

/// Of all blocks.
double predicted_us(const ir::Sequence& sequence, const StepTime& us_of);

/// Blocks of all slices.
std::int64_t blocks_of(const ir::Sequence& sequence);

/// A sequence in which what is before a slice, its steps, and what is behind it have become what `instead` makes of
/// them, each run a sequence of its own: what other runs read or write is an input or an output there, and of a tensor
/// that a slice goes through in several ways each way is one.
///   limit    bytes of workspace, -1: any
///   instead  is given a run, and the bytes of workspace that it may have
ir::Sequence in_runs(const ir::Sequence& sequence, std::int64_t limit,
                     const std::function<ir::Sequence(ir::Sequence run, std::int64_t limit)>& instead);

/// What runs in how many blocks, a line for each slice.
std::string slices_text(const ir::Sequence& sequence);

}  // namespace ricci::runtime
