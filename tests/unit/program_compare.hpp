// A program's sequence in the interpreter against the program executed as it reads.
#pragma once

#include <cstring>

#include "catch.hpp"
#include "lower/lower_program.hpp"
#include "program_reference.hpp"
#include "ricci/program.hpp"

namespace ricci::test {

/// How the values of inputs are chosen: floats in 0.5 .. 1.5, integers in 0 .. `integers` - 1.
struct Inputs {
  std::uint64_t seed = 1;
  std::uint64_t integers = 1000;
  std::int64_t longest_kernel = 0;  ///< longer ones are cut (ir/passes/shorten.hpp); 0: as always
  /// Tensors whose values the test gives: all multi-indices, the point last.
  std::map<std::string, std::vector<Value>> given = {};
  std::map<std::string, Value> params = {};
};

/// Where the elements of a tensor lie in the slots of its sequence.
class Elements {
 public:
  Elements(const formula::ProgramGraph& program, const ir::Sequence& sequence,
           std::vector<std::vector<std::byte>>& memory)
      : program_(program), sequence_(sequence), memory_(memory) {}

  Value read(int tensor, const std::vector<std::int64_t>& multi_index, std::int64_t point) const;
  void write(int tensor, const std::vector<std::int64_t>& multi_index, std::int64_t point, const Value& value);

 private:
  std::byte* address(int tensor, const std::vector<std::int64_t>& multi_index, std::int64_t point, int& sign) const;
  const formula::ProgramGraph& program_;
  const ir::Sequence& sequence_;
  std::vector<std::vector<std::byte>>& memory_;
};

/// Runs both on the same inputs; every element of an output is CHECKed to be as near as roundings explain. Every
/// element of a slot that no statement writes must stay as it was.
void compare(const Program& program, const Inputs& inputs = {});
inline void compare(std::string_view text, const Inputs& inputs = {}) { compare(Program::parse(text), inputs); }

/// A program as it is printed, which is CHECKed to be read back as it is.
inline std::string round_trip(std::string_view text) {
  const auto once = Program::parse(text).print();
  CHECK(Program::parse(once).print() == once);
  return once;
}

}  // namespace ricci::test
