// Text of the nodes that both languages share: index expressions, conditions, accesses and values of a kernel.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/writer.hpp"
#include "kernel/kernel.hpp"

namespace ricci::codegen {

class KernelText {
 public:
  /// cpu: in C++ a vector of lanes is a value of its own, and offsets have 64 bits; in CUDA C++ it is `vec<T, N>`,
  /// which is only moved.
  KernelText(const kernel::Kernel& kernel, bool cpu);

  /// The name of a variable, or what stands in its place.
  const std::string& name(kernel::Var var) const;
  /// "(t + 256 * u) / 16 % 7".
  std::string quotient(const kernel::Let& let, bool wide = false) const;
  /// From here on the expression is said wherever the name would stand.
  void say_in_place(const kernel::Let& let) { in_place_[let.var] = {let, quotient(let)}; }
  /// CUDA: the variable counts rounds that are not spelt out, or is made of one that does. Quotients of such are taken
  /// of opaque numbers (device/cuda.cuh).
  void count_rounds(kernel::Var var) { rounds_.insert(var); }
  bool counts_rounds(const kernel::Affine& value) const { return has_any(value, rounds_); }
  /// Offsets into the arrays of these accesses are counted from there on, others from the first element.
  void count_from(std::vector<kernel::Access> bases) { bases_ = std::move(bases); }
  const kernel::Let& said_in_place(kernel::Var var) const { return in_place_.at(var).first; }
  /// Whether 32 bits are too few for the values of an expression.
  bool is_wide(const kernel::Affine& value) const;
  std::string affine(const kernel::Affine& value) const { return affine(value, cpu_ || is_wide(value)); }
  /// wide: in 64 bits.
  std::string affine(const kernel::Affine& value, bool wide) const;
  /// Of an access to memory: in 64 bits where the array may need them.
  std::string offset(const kernel::Access& access) const;
  std::string condition(const std::vector<kernel::Condition>& when) const;
  std::string condition(const kernel::If& branch);
  /// "A[40 * a + b]", "*(const f64x8_in_memory*)(A + 40 * a)", "sum[r][v]".
  std::string load(const kernel::Access& access);
  std::string store(const kernel::Store& store);
  std::string scatter(const kernel::Scatter& scatter);
  std::string let(const kernel::Let& let);
  std::string value(const kernel::Value& value);
  /// x op y, of two texts that need no brackets.
  std::string combined(ir::OpCode op, DType type, const std::string& x, const std::string& y);
  /// "int" or "i64", as its values need.
  const char* type(kernel::Var var) const;
  /// Of the registers that a statement declares: "const double a", "f64x8 sum[4]".
  std::string declaration(int array);
  std::string pointer(const kernel::Access& access) const;
  /// To where an element would lie without a swizzle.
  std::string unswizzled(const kernel::Access& access) const;
  std::string vector_type(DType type, int lanes);
  /// CUDA: whether registers hold several narrow elements as one u32: fragments that instructions of a warp take.
  bool are_words(int array) const;
  /// What such a register is set to.
  std::string word(const kernel::Value& value);

  /// Vector types that were named so far: the type of an element, and how many lanes.
  using VectorTypes = std::set<std::pair<DType, int>>;
  const VectorTypes& vector_types() const { return types_; }
  /// C++: functions of vectors that were called, by name, and of which types.
  const std::map<std::string, VectorTypes>& lane_functions() const { return lane_functions_; }
  bool uses_pieces() const { return pieces_; }  ///< C++: pieces.cuh
  /// C++: load_lanes() and store_lanes() of lanes that no literal tells.
  bool uses_some_lanes() const { return some_lanes_; }
  /// Functions of vectors, device/lane_functions.cuh.
  bool uses_lane_functions() const { return !on_lanes_.empty(); }
  /// CUDA: definitions of functions that are called from many places.
  std::string called_definitions() const;

 private:
  struct Text {
    std::string text;
    int rank = 3;           // 3: an atom, 2: a product, 1: a sum, 0: anything looser
    bool negative = false;  // a literal with a sign
  };
  Text text(const kernel::Value& value);
  Text operation(const kernel::Value& value);
  Text scalar(ir::OpCode op, DType type, DType from, const Text& x, const Text& y, const Text& z) const;
  /// Known to be 0 or 1: a comparison, a register that holds nothing else, or made of some by "and" and "or".
  bool is_truth(const kernel::Value& value) const;
  /// The value as a condition (zero or not); of rank 1 when it needs no brackets beside "&&".
  Text truth(const kernel::Value& value);
  Text constant(const kernel::Value& value);
  Text on_lanes(const kernel::Value& value, const Text& x, const Text& y);
  static Text lane_function(ir::OpCode op, DType type, int lanes, const Text& x, const Text& y);
  /// One after the other, as in a call.
  std::string operands(const kernel::Value& value, const char* of_half = "");
  /// C's function of that name, which both compilers know without a header.
  bool is_called(ir::OpCode op, DType type) const;
  std::string function(const std::string& name, DType type) const;
  static std::string in_brackets(const Text& x, int rank);
  static Text infix(const Text& x, ir::OpCode op, const Text& y);
  static bool has_any(const kernel::Affine& value, const std::set<kernel::Var>& vars) {
    return std::any_of(value.terms.begin(), value.terms.end(), [&](const auto& t) { return vars.contains(t.var); });
  }
  const kernel::Array& array(const kernel::Access& access) const { return kernel_.array(access.array); }
  /// What is read, or, with a value, the statement that writes it.
  std::string said(const kernel::Access& access, const std::string* value);
  std::string registers(const kernel::Access& access) const;
  kernel::Affine from_base(const kernel::Access& access) const;
  /// The array, of whatever block.
  std::string base(const kernel::Access& access) const;
  std::string lane(const kernel::Access& access) const;
  std::string lanes(const kernel::Access& access) const;

  void look_at(const kernel::Body& body);
  void find_truths();

  const kernel::Kernel& kernel_;
  bool cpu_;
  /// What single registers of u8 are set to, nothing where lanes combine them.
  std::vector<std::pair<int, const kernel::Value*>> set_to_;
  std::set<int> truths_;                                   // registers that are 0 or 1
  std::set<int> stored_;                                   // registers that are stored to after their declaration
  std::map<std::pair<ir::OpCode, DType>, int> functions_;  // how often each stands in the text
  std::set<std::pair<ir::OpCode, DType>> on_lanes_;        // those of them that vectors have
  bool pieces_ = false, some_lanes_ = false;
  std::vector<kernel::Access> bases_;
  VectorTypes types_;
  std::map<std::string, VectorTypes> lane_functions_;
  std::map<kernel::Var, std::pair<kernel::Let, std::string>> in_place_;
  std::set<int> fragments_;                  // registers that instructions of a warp take
  std::vector<std::pair<int, int>> copies_;  // whole accesses that are stored: to where, and from where
  std::set<kernel::Var> rounds_;
  std::set<kernel::Var> anew_;  // whose quotients are of unsigned numbers, as compilers know nothing of their sign
};

}  // namespace ricci::codegen
