// Text of the nodes that both languages share: index expressions, conditions, accesses and values of a kernel.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/writer.hpp"
#include "kernel/kernel.hpp"

namespace ricci::codegen {

class KernelText {
 public:
  /// vectors: in C++ a vector of lanes is a value of its own; in CUDA C++ `vec<T, N>`, which is only moved.
  KernelText(const kernel::Kernel& kernel, bool vectors, bool wide) : kernel_(kernel), vectors_(vectors), wide_(wide) {}

  const std::string& name(kernel::Var var) const { return kernel_.vars[static_cast<std::size_t>(var)].name; }
  std::string affine(const kernel::Affine& value) const { return affine(value, wide_); }
  /// wide: in 64 bits.
  std::string affine(const kernel::Affine& value, bool wide) const;
  /// Of an access to memory: in 64 bits where the array may need them.
  std::string offset(const kernel::Access& access) const;
  std::string condition(const std::vector<kernel::Condition>& when) const;
  /// "A[40 * a + b]", "*(const f64x8_in_memory*)(A + 40 * a)", "sum[r][v]".
  std::string load(const kernel::Access& access);
  std::string store(const kernel::Access& access, const std::string& value);
  std::string value(const kernel::Value& value);
  std::string pointer(const kernel::Access& access) const;
  std::string vector_type(DType type, int lanes);
  /// CUDA: whether registers hold several narrow elements as one u32, as fragments of tensor cores do.
  bool are_words(const kernel::Array& array) const;
  /// What such a register is set to.
  std::string word(const kernel::Value& value);

  /// Vector types that were named so far.
  const std::set<std::pair<DType, int>>& vector_types() const { return types_; }
  bool uses_parts() const { return parts_; }
  /// Those whose vectors are taken for pairs.
  const std::set<std::pair<DType, int>>& pair_types() const { return pairs_; }

 private:
  struct Text {
    std::string text;
    int rank = 3;  // 3: an atom, 2: a product, 1: a sum, 0: anything looser
  };
  Text text(const kernel::Value& value);
  Text operation(const kernel::Value& value);
  Text constant(const kernel::Value& value);
  Text on_lanes(const kernel::Value& value, const Text& x, const Text& y);
  /// C's function of that name, which both compilers know without a header.
  std::string function(const std::string& name, DType type) const;
  static std::string in_brackets(const Text& x, int rank);
  static Text infix(const Text& x, const char* symbol, const Text& y, int rank);
  const kernel::Array& array(const kernel::Access& access) const { return kernel_.array(access.array); }
  std::string registers(const kernel::Access& access) const;

  const kernel::Kernel& kernel_;
  bool vectors_, wide_;
  bool parts_ = false;
  std::set<std::pair<DType, int>> types_, pairs_;
};

}  // namespace ricci::codegen
