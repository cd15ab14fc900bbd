// C text of affine offsets and of values, shared by both emitters.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernel/schedule.hpp"

namespace ricci::codegen {

/// The C type of one element: "u64", "float", "c128".
const char* c_type(DType type);

/// A literal of that type: "2.5", "1.5f", "c128{0.0, 1.0}"; of an integer type, by the bits of a constant: "-3",
/// "(u8)7".
std::string literal(Scalar value, DType type);
std::string literal(std::uint64_t bits, DType type);

/// A sum of products: "1280 * a + 40 * b + c", or "0". `name(q)` is the text for index q; an empty text is a zero. With
/// `wide`, products are formed in 64 bits.
std::string affine_text(const std::vector<std::int64_t>& coefficient, std::int64_t constant,
                        const std::function<std::string(int)>& name, bool wide = false);

/// The value of a node, with `leaf(node)` as the text of each load.
std::string value_text(const ir::Program& program, ir::NodeId id, const std::function<std::string(ir::NodeId)>& leaf);

/// Loads that the statement's value uses, in evaluation order.
std::vector<ir::NodeId> loads_of(const ir::Program& program, ir::NodeId id);

/// Portable prelude: the parts that the program needs.
std::string portable_prelude(const ir::Program& program);

/// The head comment of a kernel.
std::string head_text(const ir::Program& program, const kernel::Schedule& schedule, const std::string& kernel,
                      const std::string& target, const std::string& reproduce, const std::string& plan);

}  // namespace ricci::codegen
