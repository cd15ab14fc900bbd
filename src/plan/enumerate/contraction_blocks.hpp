// Sizes of register tiles, of blocks for caches and of tasks, along groups of axes.
#pragma once

#include <cstdint>
#include <functional>

#include "plan/models/contraction_blocking.hpp"

namespace ricci::plan::gett {

/// Tiles of several axes whose product is close to `most` and that leave as little as possible over.
void cover(Axes& axes, std::int64_t most);

/// A register tile of so many columns and at most so many rows where one vector has neighbours along an index of both
/// operands, the last of the columns; false where an operand that is read in place would be read past its end.
bool tile_lanes_of_both(Blocking& b, std::int64_t columns, std::int64_t most_rows);

/// The same of so many vectors where these run along another index than the result's fastest, of which the tile has as
/// many values as it can: these are written together.
///   cover_rows  is cover(b.rows, most_rows)
bool tile_across(Blocking& b, std::int64_t vectors, std::int64_t most_rows, const std::function<void()>& cover_rows);

/// Tiles that divide their tasks and indices, with so many points at most.
void divide(Axes& axes, std::int64_t most);

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

/// Of so many parts along an axis, of which `others` tasks each have up to `most`: how many such tasks have, more than
/// half of `most`, that leave the least to the thread which ends last.
std::int64_t even_share(std::int64_t parts, std::int64_t most, std::int64_t others, std::int64_t threads);

/// Cuts the axes into about `count` tasks, the outermost of the result first, which threads share evenly where there
/// are `others` of each.
void cut(Axes& axes, std::int64_t count, std::int64_t others, std::int64_t threads);

}  // namespace ricci::plan::gett
