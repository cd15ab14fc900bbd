#include "kernel/atom_types.hpp"

#include <fmt/format.h>

namespace ricci::kernel {

DType operand_type(const Atom* atom, const Contraction& contraction) noexcept {
  return atom != nullptr && atom->a.per_register() > 1 ? dtype_of(atom->a.type) : contraction.type;
}

bool computes(const Atom& atom, int parts, const ir::Program& program, const Contraction& contraction,
              std::string* why) {
  const auto fails = [&](auto format, const auto&... values) {
    if (why != nullptr) *why = fmt::format(format, values...);
    return false;
  };
  const bool in_parts = (contraction.type == DType::c128 && atom.a.type == AtomType::f64) ||
                        (contraction.type == DType::c64 && atom.a.type == AtomType::tf32);
  if (const auto type = dtype_of(atom.c.type); type != contraction.type && !in_parts)
    return fails(FMT_STRING("sums in {}, and those of the program are in {}"), name(type), name(contraction.type));
  if (!contraction.is_product()) return fails(FMT_STRING("{} multiplies alone, and terms are of their own"), atom.name);
  if (atom.a.type == AtomType::tf32) {
    const auto precision = parts == 1 ? Precision::tf32 : Precision::tf32x3;
    if (program.precision == Precision::operands || (parts == 1 && program.precision != precision))
      return fails(FMT_STRING("products in {}, and those of the program are in {}"), name(precision),
                   name(program.precision));
  }
  if (atom.warps > 1 && (parts > 1 || is_complex(contraction.type)))
    return fails(FMT_STRING("products of warp groups are of real numbers in one part, and these are of {} in {}"),
                 name(contraction.type), parts);
  if (parts > 2 || (parts == 2 && atom.a.type != AtomType::tf32))
    return fails(FMT_STRING("factors of {} in {} parts"), name(dtype_of(atom.a.type)), parts);
  for (const auto* factor : {&contraction.first, &contraction.second}) {
    const auto& load = program.nodes[static_cast<std::size_t>(factor->load)];
    const auto type = operand_type(&atom, contraction);
    if (atom.a.per_register() > 1 && factor->rounded.value_or(load.type) != type)
      return fails(FMT_STRING("{} is of type {}, which nothing converts to {}"),
                   program.buffers[static_cast<std::size_t>(load.source)].name,
                   name(factor->rounded.value_or(load.type)), name(type));
  }
  return true;
}

std::optional<Dot> dot_of(const ir::Program& program, const Contraction& contraction, const Factor& rows,
                          const Factor& columns) {
  if (!contraction.is_product() || contraction.negative) return std::nullopt;
  if (contraction.indices(Role::depth).empty() || !contraction.indices(Role::summed).empty()) return std::nullopt;
  const auto type = [&](const Factor& factor) {
    return factor.rounded.value_or(program.nodes[static_cast<std::size_t>(factor.load)].type);
  };
  Dot dot;
  dot.flipped = type(rows) == DType::i8;
  dot.types = dot_types(dot.flipped ? DType::u8 : type(rows), type(columns));
  if (dot.types == nullptr || dot.types->sum != contraction.type) return std::nullopt;
  return dot;
}

Precision effective_precision(const ir::Program& program, Precision wanted, int sm) {
  const bool rounds = wanted == Precision::tf32 || wanted == Precision::tf32x3;
  if (!rounds || sm < find_atom("m16n8k8_tf32")->sm) return Precision::operands;
  const auto contraction = contraction_of(program);
  if (contraction) {
    // Of factors that are tf32 as they lie one part is all there is.
    const auto is_tf32 = [&](const Factor& factor) {
      return program.buffers[static_cast<std::size_t>(program.nodes[static_cast<std::size_t>(factor.load)].source)]
          .tf32;
    };
    if (is_tf32(contraction->first) && is_tf32(contraction->second)) return Precision::tf32;
  }
  const bool single = contraction && contraction->is_product() && !contraction->indices(Role::depth).empty() &&
                      (contraction->type == DType::f32 || contraction->type == DType::c64);
  return single ? wanted : Precision::operands;
}

}  // namespace ricci::kernel
