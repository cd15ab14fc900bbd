#include "kernel/atom_types.hpp"

#include <fmt/format.h>

namespace ricci::kernel {

DType operand_type(const Atom* atom, const Contraction& contraction) noexcept {
  return atom != nullptr && atom->a.per_register() > 1 ? dtype_of(atom->a.type) : contraction.type;
}

std::string mismatch(const Atom& atom, const ir::Program& program, const Contraction& contraction) {
  if (const auto type = dtype_of(atom.c.type); type != contraction.type)
    return fmt::format("sums in {}, and those of the program are in {}", name(type), name(contraction.type));
  if (atom.a.type == AtomType::tf32) return "products in tf32, and those of the program are in f32";
  for (const auto* factor : {&contraction.first, &contraction.second}) {
    const auto& load = program.nodes[static_cast<std::size_t>(factor->load)];
    const auto type = operand_type(&atom, contraction);
    if (atom.a.per_register() > 1 && load.type != type)
      return fmt::format("{} is of type {}, which nothing converts to {}",
                         program.buffers[static_cast<std::size_t>(load.source)].name, name(load.type), name(type));
  }
  return {};
}

}  // namespace ricci::kernel
