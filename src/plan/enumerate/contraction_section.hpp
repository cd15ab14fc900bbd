// Directives of a contraction on a CPU, or of a part of a group of them.
#pragma once

#include <string>
#include <vector>

#include "kernel/directives.hpp"
#include "plan/models/contraction_blocking.hpp"

namespace ricci::plan::gett {

/// Tiles of all axes and the order of their loops: tasks, parts of the depth, blocks of rows, tiles of columns and
/// rows.
///   indices  names, by Axis::index
///   tasks    loops over tasks, the slowest first: an index of the batch, or any other one's name with a 0 behind it
///   along_result  tiles come in the order in which the result has them; else those of the rows are inside of columns'
void add_loops(kernel::Directives& list, const std::vector<std::string>& indices, const Blocking& blocking,
               const std::vector<std::string>& tasks, bool along_result = false);

/// What is packed of a product's operands, and its atom, inside of such loops.
void add_product(kernel::Directives& list, const std::vector<std::string>& indices, const Blocking& blocking,
                 const std::string& last_task, const std::string& rows_operand, const std::string& columns_operand);

}  // namespace ricci::plan::gett
