// Sizes of register tiles, of blocks for caches and of tasks, along groups of axes.
#pragma once

#include "plan/models/contraction_blocking.hpp"

namespace ricci::plan::gett {

/// Tiles of several axes whose product is close to `most` and that leave as little as possible over.
void cover(Axes& axes, std::int64_t most);

/// Makes blocks of the axes larger, those first whose `stride` is small, until `room` elements are reached; along the
/// first of them whole lines of so many elements.
void grow(Axes& axes, std::int64_t room, std::int64_t line, std::int64_t Axis::* stride);

/// A line along what is contiguous in the columns' operand, then all that fits along what is contiguous in the result.
void grow_along_result(Axes& axes, std::int64_t room, std::int64_t line);

/// Sorts a depth so that what is read are neighbours, the fastest last, and gives each axis its step: the smaller of
/// both operands' strides, or that of the operand alone which has eight times as many elements as the other.
void sort_depth(Axes& depth, std::int64_t rows_elements, std::int64_t columns_elements);

/// What is summed in one go: all of it where that is no more than twice as many terms as `most`, else a line along what
/// is contiguous by the axes' steps, and then as much as fits, innermost first; divisors of extents where there are
/// any, so that nothing is filled up.
///   size   bytes of an element
///   exact  divisors alone: an operand is read in place
void cut_depth(Axes& depth, std::int64_t most, std::int64_t size, bool exact);

/// Cuts the axes into about `count` tasks, the outermost of the result first.
void cut(Axes& axes, std::int64_t count);

}  // namespace ricci::plan::gett
