// C text of affine offsets and of values, shared by both emitters.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernel/schedule.hpp"

namespace ricci::codegen {

/// The C type of one element: "u64", "float", "c128".
const char* c_type(DType type);

/// A sum of products: "1280 * a + 40 * b + c", or "0". `name(q)` is the text for index q; an empty text is a zero. With
/// `wide`, products are formed in 64 bits.
std::string affine_text(const std::vector<std::int64_t>& coefficient, std::int64_t constant,
                        const std::function<std::string(int)>& name, bool wide = false);

/// The value of a node, with `leaf(node)` as the text of each load.
std::string value_text(const ir::Program& program, ir::NodeId id, const std::function<std::string(ir::NodeId)>& leaf);

/// Loads that the statement's value uses, in evaluation order.
std::vector<ir::NodeId> loads_of(const ir::Program& program, ir::NodeId id);

/// Per buffer: whether a select chooses between a load of it and a load of a buffer that the kernel writes. Compilers
/// merge the two loads, and NVRTC 13.0 then assumes of the merged load what `const __restrict__` says of one of them,
/// that no store changes it: it may move the load across a store. Such buffers get no `__restrict__`.
std::vector<bool> chosen_beside_written(const ir::Program& program);

/// Portable prelude: the parts that the program needs.
std::string portable_prelude(const ir::Program& program);

/// The head comment of a kernel.
std::string head_text(const ir::Program& program, const kernel::Schedule& schedule, const std::string& kernel,
                      const std::string& target, const std::string& reproduce, const std::string& plan);

}  // namespace ricci::codegen
