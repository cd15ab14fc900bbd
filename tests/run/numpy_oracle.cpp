// Random einsums, reductions, scans and compactions with what the interpreter makes of them, for numpy_oracle.py.
//
// usage: run_numpy_oracle COUNT FOLDER
//
// Writes FOLDER/cases.json, a list of COUNT cases, FOLDER/data.bin, the memory that their tensors lie in, and
// FOLDER/types.txt, what types meet in.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "frontend/problem.hpp"
#include "fuzz/random_einsum.hpp"
#include "ir/builder.hpp"

using namespace ricci;
using fuzz::Generator;
using fuzz::Tensor;
using ir::NodeId;
using ir::OpCode;

namespace {

class Output {
 public:
  explicit Output(const std::string& folder)
      : cases_(folder + "/cases.json"), data_(folder + "/data.bin", std::ios::binary) {
    cases_.exceptions(std::ios::failbit | std::ios::badbit);
    data_.exceptions(std::ios::failbit | std::ios::badbit);
    cases_ << "[";
  }

  /// The tensor's memory as it is now, and the words that say where it lies.
  std::string tensor(const Tensor& tensor) {
    const auto& layout = tensor.layout();
    auto text =
        fmt::format(R"({{"type": "{}", "extents": [{}], "strides": [{}], "begin": {}, "bytes": {}, "origin": {}}})",
                    name(layout.type), fmt::join(layout.extents, ", "), fmt::join(layout.strides, ", "), bytes_,
                    tensor.bytes(), tensor.origin());
    data_.write(reinterpret_cast<const char*>(tensor.begin()), static_cast<std::streamsize>(tensor.bytes()));
    bytes_ += tensor.bytes();
    return text;
  }

  void add(const std::string& text) {
    cases_ << (first_ ? "\n" : ",\n") << text;
    first_ = false;
  }

  void finish() {
    cases_ << "\n]\n";
    cases_.close();
    data_.close();
  }

 private:
  std::ofstream cases_, data_;
  std::size_t bytes_ = 0;
  bool first_ = true;
};

void einsum(std::uint64_t seed, Output& out) {
  auto random = fuzz::random_einsum(seed, {3000, 4});
  const auto& problem = random.problem;
  std::vector<std::string> inputs;
  for (std::size_t k = 0; k < problem.inputs.size(); ++k) inputs.push_back(out.tensor(random.tensors[k]));
  // The addend where there is one, else what the output holds before.
  const auto old = out.tensor(random.tensors[problem.inputs.size()]);
  const auto program = ir::lower(problem);
  ir::interpret(program, random.pointers(), random.params(program.params));
  std::vector<int> conjugate(problem.conjugate.begin(), problem.conjugate.end());
  out.add(fmt::format(R"({{"kind": "einsum", "seed": {}, "spec": "{}", "conjugate": [{}], "alpha": ["{:a}", "{:a}"], )"
                      R"("beta": ["{:a}", "{:a}"], "inputs": [{}], "conjugate_old": {:d}, "old": {}, "result": {}}})",
                      seed, problem.spec.text, fmt::join(conjugate, ", "), random.alpha.real(), random.alpha.imag(),
                      random.beta.real(), random.beta.imag(), fmt::join(inputs, ", "), problem.conjugate_addend, old,
                      out.tensor(random.tensors.back())));
}

const char* numpy_name_of(OpCode op) {
  switch (op) {
    case OpCode::add:
      return "add";
    case OpCode::mul:
      return "multiply";
    case OpCode::minimum:
      return "minimum";
    case OpCode::maximum:
      return "maximum";
    case OpCode::bit_and:
      return "bitwise_and";
    case OpCode::bit_or:
      return "bitwise_or";
    default:
      return "bitwise_xor";
  }
}

/// A program over the axes of one tensor: some are reduced, or one is scanned or compacted.
class OneTensor {
 public:
  OneTensor(std::uint64_t seed, Output& out) : random_(seed), out_(out), seed_(seed) {
    choose();
    for (std::size_t q = 0; q < extents_.size(); ++q) {
      builder_.program.indices.push_back({fmt::format("i{}", q), extents_[q]});
    }
    const auto layout =
        Layout::strided(type_, extents_, fuzz::random_strides(random_, extents_, chance(0.3), chance(0.5)));
    Tensor input(random_, layout);
    input.fill(random_);
    buffer("in", layout, false);
    const auto x = builder_.load(0, access(layout));
    guarded_ = !is_complex(type_) && chance(0.4);
    const auto positive =
        is_complex(type_) ? NodeId{-1} : builder_.op(OpCode::less, DType::u8, builder_.constant(0, type_), x);
    const auto value = guarded_ ? builder_.guard(positive, x) : x;
    if (kind_ == 0) reduction(input, value);
    if (kind_ == 1) scan(input, value);
    if (kind_ == 2) compaction(input, positive, x);
  }

 private:
  bool chance(double probability) { return fuzz::chance(random_, probability); }

  void choose() {
    constexpr DType kTypes[] = {DType::i8,  DType::i16, DType::i32, DType::i64, DType::u8,  DType::u16,
                                DType::u32, DType::u64, DType::f32, DType::f64, DType::c64, DType::c128};
    constexpr OpCode kOps[] = {OpCode::add,     OpCode::mul,    OpCode::minimum, OpCode::maximum,
                               OpCode::bit_and, OpCode::bit_or, OpCode::bit_xor};
    kind_ = static_cast<int>(seed_ % 5) / 2;  // two reductions, two scans, a compaction
    do {
      type_ = kTypes[fuzz::pick(random_, 0, std::size(kTypes) - 1)];
      op_ = kOps[fuzz::pick(random_, 0, kind_ == 2 ? 0 : std::size(kOps) - 1)];
    } while ((is_complex(type_) && (kind_ == 2 || op_ == OpCode::minimum || op_ == OpCode::maximum)) ||
             (!is_integer(type_) && (op_ == OpCode::bit_and || op_ == OpCode::bit_or || op_ == OpCode::bit_xor)));
    extents_.resize(static_cast<std::size_t>(fuzz::pick(random_, 1, 4)));
    const bool infinite = !is_integer(type_) && (op_ == OpCode::minimum || op_ == OpCode::maximum);
    for (auto& extent : extents_) extent = !infinite && chance(0.05) ? 0 : fuzz::pick(random_, 1, 9);
  }

  void buffer(const char* name, const Layout& layout, bool written) {
    std::int64_t last = 0;
    for (std::size_t k = 0; k < layout.extents.size(); ++k) last += layout.strides[k] * (layout.extents[k] - 1);
    builder_.program.buffers.push_back({name, layout.type, written, 0, std::max<std::int64_t>(last, 0), 1});
  }

  static ir::Affine access(const Layout& layout) {
    ir::Affine offset;
    offset.coefficient.assign(layout.strides.data(), layout.strides.data() + layout.strides.size());
    return offset;
  }

  /// The statement's access to an output over all axes but those in `over`, which have `room` places together.
  ir::Affine result(const std::vector<int>& over, std::int64_t room) {
    auto extents = extents_;
    for (const int q : over) extents[static_cast<std::size_t>(q)] = 1;
    if (!over.empty()) extents[static_cast<std::size_t>(over.front())] = room;
    output_layout_ = Layout::row_major(type_, extents);
    buffer("out", output_layout_, true);
    auto offset = access(output_layout_);
    for (const int q : over) offset.coefficient[static_cast<std::size_t>(q)] = 0;
    return offset;
  }

  void write(Tensor& input, const std::string& words) {
    Tensor output(random_, output_layout_);
    output.fill(random_);
    const auto in = out_.tensor(input), old = out_.tensor(output);
    ir::interpret(builder_.finish(), {input.element_0(), output.element_0()}, {});
    out_.add(
        fmt::format(R"({{"seed": {}, "operation": "{}", "guarded": {}, {}, "inputs": [{}], "old": {}, "result": {}}})",
                    seed_, numpy_name_of(op_), guarded_, words, in, old, out_.tensor(output)));
  }

  void reduction(Tensor& input, NodeId value) {
    std::vector<int> over;
    for (std::size_t q = 0; q < extents_.size(); ++q) {
      if (over.empty() ? q + 1 == extents_.size() || chance(0.5) : chance(0.5)) over.push_back(static_cast<int>(q));
    }
    const auto to = result(over, 1);
    builder_.store(1, to, builder_.reduce(op_, value, over));
    write(input, fmt::format(R"("kind": "reduction", "over": [{}])", fmt::join(over, ", ")));
  }

  void scan(Tensor& input, NodeId value) {
    const auto q = static_cast<int>(fuzz::pick(random_, 0, static_cast<std::int64_t>(extents_.size()) - 1));
    const bool exclusive = chance(0.5);
    const auto to = result({q}, extents_[static_cast<std::size_t>(q)] + (exclusive ? 1 : 0));
    builder_.store(1, to, builder_.scan(op_, value, q, exclusive), step(q));
    write(input, fmt::format(R"("kind": "scan", "over": [{}], "exclusive": {})", q, exclusive));
  }

  void compaction(Tensor& input, NodeId positive, NodeId value) {
    const auto q = static_cast<int>(fuzz::pick(random_, 0, static_cast<std::int64_t>(extents_.size()) - 1));
    guarded_ = true;
    const auto to = result({q}, extents_[static_cast<std::size_t>(q)]);
    builder_.store(1, to, builder_.compact(positive, value, builder_.constant(0, DType::i64), q), step(q));
    write(input, fmt::format(R"("kind": "compaction", "over": [{}])", q));
  }

  /// Strides of empty or single places say nothing, but a step is never 0.
  std::int64_t step(int q) const {
    return std::max<std::int64_t>(output_layout_.strides[static_cast<std::size_t>(q)], 1);
  }

  Generator random_;
  Output& out_;
  std::uint64_t seed_;
  ir::Builder builder_;
  int kind_ = 0;
  DType type_ = DType::f64;
  OpCode op_ = OpCode::add;
  bool guarded_ = false;
  std::vector<std::int64_t> extents_;
  Layout output_layout_;
};

/// What any two and three types meet in, a line each, the result last; for NumPy, which has no bf16.
void types(const std::string& folder) {
  std::ofstream out(folder + "/types.txt");
  std::vector<DType> all;
  for (int k = 0; k < kDTypeCount; ++k) {
    if (static_cast<DType>(k) != DType::bf16) all.push_back(static_cast<DType>(k));
  }
  for (const auto a : all) {
    for (const auto b : all) {
      out << name(a) << ' ' << name(b) << ' ' << name(ir::result_type({a, b})) << '\n';
      for (const auto c : all) {
        out << name(a) << ' ' << name(b) << ' ' << name(c) << ' ' << name(ir::result_type({a, b, c})) << '\n';
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fputs("usage: run_numpy_oracle COUNT FOLDER\n", stderr);
    return 2;
  }
  Output out(argv[2]);
  const auto count = std::strtoull(argv[1], nullptr, 10);
  for (std::uint64_t k = 0; k < count; ++k) {
    if (k % 4 == 3) {
      OneTensor(9000 + k / 4, out);
    } else {
      einsum(5000 + k, out);
    }
  }
  out.finish();
  types(argv[2]);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
