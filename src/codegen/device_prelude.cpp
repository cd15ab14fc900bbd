#include "prelude.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "kernel/extensions.hpp"

namespace ricci::codegen {
namespace {

using kernel::AtomType;
using kernel::Fragment;

/// Elements of atoms: their registers' type and letter in an asm statement, and PTX's word for them.
struct Register {
  const char *type, *letter, *ptx;
};
const Register& register_of(AtomType type) {
  static constexpr Register kAll[] = {{"f64", "d", "f64"}, {"f32", "f", "f32"},  {"f32", "r", "tf32"},
                                      {"u32", "r", "f16"}, {"u32", "r", "bf16"}, {"i32", "r", "s32"},
                                      {"u32", "r", "s8"},  {"u32", "r", "u8"}};
  return kAll[static_cast<int>(type)];
}

/// "f64 (&a)[2]".
std::string parameter(const Fragment& fragment, const char* name) {
  return fmt::format("{} (&{})[{}]", register_of(fragment.type).type, name, fragment.registers());
}

/// The operands of an instruction in an asm statement: results, which come first, then what is read.
class Operands {
 public:
  /// Returns the operand's number: "%4".
  std::string add(const std::string& constraint, const std::string& value) {
    (constraint.front() == '+' ? results_ : read_).push_back(fmt::format("\"{}\"({})", constraint, value));
    return fmt::format("%{}", results_.size() + read_.size() - 1);
  }
  /// Those of a fragment's registers: "%0, %1".
  std::string add(const Fragment& fragment, const std::string& name, const std::string& access) {
    std::vector<std::string> numbers;
    for (int r = 0; r < fragment.registers(); ++r) {
      const auto value = fmt::format("{}[{}]", name, r);
      const bool bits = fragment.type == AtomType::tf32;
      numbers.push_back(add(access + register_of(fragment.type).letter,
                            bits ? fmt::format("__builtin_bit_cast(u32, {})", value) : value));
    }
    return fmt::format("{}", fmt::join(numbers, ", "));
  }
  std::string text() const {
    return fmt::format("               : {}\n               : {}", fmt::join(results_, ", "), fmt::join(read_, ", "));
  }

 private:
  std::vector<std::string> results_, read_;
};

/// mma.sync of an atom, up to its operands.
std::string instruction_of(const kernel::Atom& atom) {
  if (const auto* added = kernel::find_added_atom(atom.name)) return added->instruction;
  return fmt::format("mma.sync.aligned.m{0}n{1}k{2}.row.col.{5}.{3}.{4}.{5}", atom.m, atom.n, atom.k,
                     register_of(atom.a.type).ptx, register_of(atom.b.type).ptx, register_of(atom.c.type).ptx);
}

/// The device function of an atom of one warp.
std::string function_of(const kernel::Atom& atom) {
  Operands operands;
  const auto c = operands.add(atom.c, "c", "+"), a = operands.add(atom.a, "a", ""), b = operands.add(atom.b, "b", "");
  return fmt::format(
      "inline void mma_{0}({1}, const {2}, const {3}) {{\n"
      "  asm volatile(\"{4} \"\n"
      "               \"{{{5}}}, {{{6}}}, {{{7}}}, {{{5}}};\"\n"
      "{8});\n"
      "}}\n",
      atom.name, parameter(atom.c, "c"), parameter(atom.a, "a"), parameter(atom.b, "b"), instruction_of(atom), c, a, b,
      operands.text());
}

/// The device function of an atom of a warp group: an instruction of so many times the atom's columns.
std::string group_function_of(const kernel::Atom& atom, int times) {
  Operands operands;
  std::vector<std::string> sums, ways;
  for (int k = 0; k < times; ++k) sums.push_back(operands.add(atom.c, fmt::format("d[{}]", k), "+"));
  auto factors = atom.holds_a ? fmt::format("{{{}}}", operands.add(atom.a, "a", "")) : operands.add("l", "a");
  // Factors of integers are as they are; others may be negated.
  factors += ", " + operands.add("l", "b") + (atom.c.type == AtomType::i32 ? ", p" : ", p, 1, 1");
  const auto either_way = [&](const char* name) {
    ways.push_back(fmt::format("int {}", name));
    factors += ", " + operands.add("n", name);
  };
  if (kernel::lies_either_way(atom.a.type)) {
    if (!atom.holds_a) either_way("ATransposed");
    either_way("BTransposed");
  }
  const char* type = register_of(atom.a.type).ptx;
  const auto& sum = register_of(atom.c.type);
  return fmt::format(
      "{}inline void {}({} (&d)[{}][{}], {}, u64 b) {{\n"
      "  asm volatile(\"{{.reg .pred p; setp.ne.b32 p, 1, 0; \"\n"
      "               \"wgmma.mma_async.sync.aligned.m{}n{}k{}.{}.{}.{} \"\n"
      "               \"{{{}}}, {};}}\"\n"
      "{});\n"
      "}}\n",
      ways.empty() ? "" : fmt::format("template <{}>\n", fmt::join(ways, ", ")), atom.name, sum.type, times,
      atom.c.registers(), atom.holds_a ? "const " + parameter(atom.a, "a") : "u64 a", atom.m * atom.warps,
      atom.n * times, atom.k, sum.ptx, type, type, fmt::join(sums, ", "), factors, operands.text());
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
  if (parts.tensor_map) text.append("\n").append(prelude::kTensorMap);
  if (parts.cluster) text.append("\n").append(prelude::kCluster);
  if (parts.reduce) text.append("\n").append(prelude::kReduce);
  return text;
}

}  // namespace ricci::codegen
