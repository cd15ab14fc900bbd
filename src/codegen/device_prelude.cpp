#include "prelude.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "kernel/extensions.hpp"

namespace ricci::codegen {
namespace {

using kernel::AtomType;
using kernel::Fragment;

/// How a fragment's registers are declared and handed to an instruction.
const char* register_type(const Fragment& fragment) {
  if (fragment.type == AtomType::f64) return "f64";
  if (fragment.type == AtomType::f32 || fragment.type == AtomType::tf32) return "f32";
  return fragment.type == AtomType::i32 ? "i32" : "u32";
}
std::vector<std::string> handed(const Fragment& fragment, const char* name, const char* access) {
  const char letter = fragment.type == AtomType::f64 ? 'd' : fragment.type == AtomType::f32 ? 'f' : 'r';
  std::vector<std::string> list;
  for (int r = 0; r < fragment.registers(); ++r) {
    list.push_back(fragment.type == AtomType::tf32
                       ? fmt::format("\"{}r\"(__builtin_bit_cast(u32, {}[{}]))", access, name, r)
                       : fmt::format("\"{}{}\"({}[{}])", access, letter, name, r));
  }
  return list;
}

/// PTX's word for it.
const char* ptx_type(AtomType type) {
  return type == AtomType::tf32  ? "tf32"
         : type == AtomType::i8  ? "s8"
         : type == AtomType::i32 ? "s32"
                                 : name(dtype_of(type));
}

/// mma.sync of an atom, up to its operands.
std::string instruction_of(const kernel::Atom& atom) {
  if (const auto* added = kernel::find_added_atom(atom.name)) return added->instruction;
  return fmt::format("mma.sync.aligned.m{}n{}k{}.row.col.{}.{}.{}.{}", atom.m, atom.n, atom.k, ptx_type(atom.c.type),
                     ptx_type(atom.a.type), ptx_type(atom.b.type), ptx_type(atom.c.type));
}

/// The device function of an atom of one warp.
std::string function_of(const kernel::Atom& atom) {
  int next = 0;
  const auto numbers = [&](const Fragment& fragment, int first) {
    std::vector<std::string> list;
    for (int r = 0; r < fragment.registers(); ++r) list.push_back(fmt::format("%{}", first + r));
    next = first + fragment.registers();
    return fmt::format("{{{}}}", fmt::join(list, ", "));
  };
  const auto c = numbers(atom.c, 0), a = numbers(atom.a, next), b = numbers(atom.b, next);
  return fmt::format(
      "inline void mma_{}({} (&c)[{}], const {} (&a)[{}], const {} (&b)[{}]) {{\n"
      "  asm volatile(\"{} \"\n"
      "               \"{}, {}, {}, {};\"\n"
      "               : {}\n"
      "               : {}, {});\n"
      "}}\n",
      atom.name, register_type(atom.c), atom.c.registers(), register_type(atom.a), atom.a.registers(),
      register_type(atom.b), atom.b.registers(), instruction_of(atom), c, a, b, c,
      fmt::join(handed(atom.c, "c", "+"), ", "), fmt::join(handed(atom.a, "a", ""), ", "),
      fmt::join(handed(atom.b, "b", ""), ", "));
}

/// The device function of an atom of a warp group: an instruction of so many times the atom's columns.
std::string group_function_of(const kernel::Atom& atom, int times) {
  const int registers = times * atom.c.registers(), per = atom.c.registers();
  std::vector<std::string> numbers, sums;
  for (int r = 0; r < registers; ++r) {
    numbers.push_back(fmt::format("%{}", r));
    sums.push_back(fmt::format("\"+f\"(d[{}][{}])", r / per, r % per));
  }
  const char* type = ptx_type(atom.a.type);
  // Elements of 32 bits lie along the depth, where they lie in shared memory.
  const bool either_way = atom.a.per_register() > 1;
  const auto held = handed(atom.a, "a", "");
  const int of_a = atom.holds_a ? atom.a.registers() : 1;
  std::vector<std::string> a;
  for (int r = 0; r < of_a; ++r) a.push_back(fmt::format("%{}", registers + r));
  std::vector<std::string> parameters, ways;
  if (either_way && !atom.holds_a) parameters.emplace_back("ATransposed");
  if (either_way) parameters.emplace_back("BTransposed");
  std::string immediate;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    immediate += fmt::format(", %{}", registers + of_a + 1 + static_cast<int>(k));
    ways.push_back(fmt::format(", \"n\"({})", parameters[k]));
    parameters[k] = "int " + parameters[k];
  }
  return fmt::format(
      "{}inline void {}(f32 (&d)[{}][{}], {}, u64 b) {{\n"
      "  asm volatile(\"{{.reg .pred p; setp.ne.b32 p, 1, 0; \"\n"
      "               \"wgmma.mma_async.sync.aligned.m{}n{}k{}.f32.{}.{} \"\n"
      "               \"{{{}}}, {}, %{}, p, 1, 1{};}}\"\n"
      "               : {}\n"
      "               : {}, \"l\"(b){});\n"
      "}}\n",
      parameters.empty() ? "" : fmt::format("template <{}>\n", fmt::join(parameters, ", ")), atom.name, times, per,
      atom.holds_a ? fmt::format("const {} (&a)[{}]", register_type(atom.a), of_a) : "u64 a", atom.m * atom.warps,
      atom.n * times, atom.k, type, type, fmt::join(numbers, ", "),
      atom.holds_a ? fmt::format("{{{}}}", fmt::join(a, ", ")) : a.front(), registers + of_a, immediate,
      fmt::join(sums, ", "), atom.holds_a ? fmt::format("{}", fmt::join(held, ", ")) : "\"l\"(a)", fmt::join(ways, ""));
}

}  // namespace

std::string device_prelude(const DeviceParts& parts) {
  std::string text = prelude::kCuda;
  if (parts.async) text.append("\n").append(prelude::kAsync);
  if (parts.tensor_core) text.append("\n").append(prelude::kTensorCore);
  for (const auto& name : parts.products) text.append("\n").append(function_of(*kernel::find_atom(name)));
  if (parts.warp_group) text.append("\n").append(prelude::kWarpGroup);
  for (const auto& [name, times] : parts.group_products)
    text.append("\n").append(group_function_of(*kernel::find_atom(name), times));
  if (parts.cluster) text.append("\n").append(prelude::kCluster);
  if (parts.reduce) text.append("\n").append(prelude::kReduce);
  return text;
}

}  // namespace ricci::codegen
