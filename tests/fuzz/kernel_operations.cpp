// Operations in the value around a sum, with the types that have them, all of them where RICCI_FUZZ_CASES is 1,000: the
// kernel executed and compiled, its lanes as wide as the processor's vectors and single, equal to the interpreter.
#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "catch.hpp"
#include "codegen/expression.hpp"
#include "codegen/kernel_source.hpp"
#include "fuzz/random_tensor.hpp"
#include "fuzz/rounding.hpp"
#include "fuzz/seeds.hpp"
#include "ir/builder.hpp"
#include "jit/cpu_compiler.hpp"
#include "jit/object_loader.hpp"
#include "kernel/build.hpp"
#include "kernel/interpret/execute.hpp"
#include "kernel/print.hpp"
#include "ricci/error.hpp"

namespace kernel_operations_test {

using namespace ricci;
using ir::OpCode;

namespace {

constexpr std::int64_t kRows = 5, kColumns = 19, kDepth = 3;

bool takes(OpCode op, DType type) {
  if (ir::is_function(op)) return is_real(type);
  if (op == OpCode::tf32 || op == OpCode::tf32_rest) return type == DType::f32;
  if (op >= OpCode::remainder && op <= OpCode::popcount) return is_integer(type);
  if (op >= OpCode::conj && op <= OpCode::complex_of && op != OpCode::cast) return is_complex(type);
  if (op == OpCode::minimum || op == OpCode::maximum || op == OpCode::absolute || op == OpCode::sign ||
      ir::is_comparison(op) || op == OpCode::select)
    return !is_complex(type);
  return true;
}

/// C = op(sum of A B, D) + D, or what is chosen or converted by the operation.
ir::Program program_of(OpCode op, DType type, DType stored) {
  ir::Builder b;
  const auto reach = [](std::int64_t elements) { return elements - 1; };
  b.program.exact = is_integer(type);
  b.program.indices = {{"i", kRows}, {"j", kColumns}, {"k", kDepth}};
  b.program.buffers = {{"A", type, false, 0, reach(kRows * kDepth), 16},
                       {"B", type, false, 0, reach(kDepth * kColumns), 16},
                       {"D", type, false, 0, reach(kRows * kColumns), 16},
                       {"C", stored, true, 0, reach(kRows * kColumns), 16}};
  const auto a = b.load(0, {{kDepth, 0, 1}}), x = b.load(1, {{0, 1, kColumns}});
  const auto sum = b.reduce(OpCode::add, b.op(OpCode::mul, type, a, x), {2});
  const auto d = b.load(2, {{kColumns, 1, 0}});
  const auto operands = ir::operand_count(op);
  ir::NodeId value = -1;
  if (ir::is_comparison(op)) {
    value = b.op(OpCode::select, type, b.op(op, DType::u8, sum, d), d, b.op(OpCode::neg, type, d));
  } else if (op == OpCode::select) {
    const auto either =
        b.op(OpCode::bit_or, DType::u8, b.op(OpCode::less, DType::u8, sum, d), b.op(OpCode::equal, DType::u8, d, d));
    value = b.op(op, type, either, sum, d);
  } else if (op >= OpCode::real_part && op <= OpCode::complex_of) {
    const auto part = type == DType::c128 ? DType::f64 : DType::f32;
    const auto of_sum = b.op(op == OpCode::imag_part ? op : OpCode::real_part, part, sum);
    value = b.op(OpCode::complex_of, type, of_sum, b.op(OpCode::imag_part, part, d));
  } else if (op == OpCode::cast) {
    value = b.cast(sum, stored);
  } else {
    value = b.op(op, type, sum, operands > 1 ? d : -1);
    value = b.op(OpCode::add, type, value, d);
  }
  b.store(3, {{kColumns, 1, 0}}, b.cast(value, stored));
  return b.finish();
}

struct Memory {
  explicit Memory(const ir::Program& program, std::uint64_t seed) {
    fuzz::Generator random(seed);
    for (const auto& buffer : program.buffers) {
      tensors.emplace_back(random, Layout::row_major(buffer.type, {buffer.last + 1}));
      tensors.back().fill(random);
    }
  }
  std::vector<void*> pointers() {
    std::vector<void*> all;
    for (auto& tensor : tensors) all.push_back(tensor.element_0());
    return all;
  }
  std::vector<fuzz::Tensor> tensors;
};

std::string failure(const ir::Program& program, int lanes) {
  Memory memory(program, 7);
  const auto sequence = ir::sequence_of(program);
  const auto want = fuzz::expected(sequence, memory.pointers(), {});
  const auto before = memory.tensors.back();
  const auto contraction = kernel::contraction_of(program);
  if (!contraction) return "no contraction";
  const auto target = jit::host_cpu();
  const auto kernel = kernel::expand(
      kernel::build(program, *contraction,
                    kernel::parse_directives("atom fma rows i columns j depth k lanes " + std::to_string(lanes)),
                    kernel::Target::cpu, target.vector_bytes));
  kernel::execute(kernel, memory.pointers(), {});
  if (const auto text = fuzz::compare(sequence, want, memory.pointers()); !text.empty())
    return kernel::print(kernel) + "executed: " + text;
  memory.tensors.back() = before;
  const auto source = codegen::print_cpp(kernel, "kernel");
  jit::CpuCompileOptions options;
  options.target = target;
  options.contract = program.exact ? jit::Contract::off : jit::Contract::fast;
  const auto object = jit::load_object(
      jit::compile_cpu(codegen::portable_prelude(program) + source.portable + source.text, "kernel", options).bytes);
  reinterpret_cast<void (*)(void* const*, long long, long long, char*)>(object->symbol("kernel"))(
      memory.pointers().data(), 0, kernel.tasks(), nullptr);
  if (const auto text = fuzz::compare(sequence, want, memory.pointers()); !text.empty())
    return source.text + "compiled: " + text;
  return memory.tensors.back().same_around(before) ? std::string() : "memory beside C was written";
}

}  // namespace

TEST_CASE("kernels take every operation around a sum") {
  constexpr DType kTypes[] = {DType::f32, DType::f64, DType::c64, DType::c128, DType::i8,  DType::i16,
                              DType::i32, DType::i64, DType::u8,  DType::u16,  DType::u32, DType::u64};
  struct Operation {
    OpCode op;
    DType type, stored;
  };
  std::vector<Operation> all;
  const auto check = [&](const Operation& operation) {
    const auto& [op, type, stored] = operation;
    const auto program = program_of(op, type, stored);
    for (const int lanes : {1, static_cast<int>(jit::host_cpu().vector_bytes / size_of(type))}) {
      if (lanes > 1 && is_complex(type)) continue;
      INFO(ir::name_of(op) << " of " << name(type) << " stored as " << name(stored) << ", lanes " << lanes);
      std::string text;
      try {
        text = failure(program, lanes);
      } catch (const CompileError& error) {
        text = error.what() + error.source() + error.log();
      } catch (const Error& error) {
        text = error.what();
      }
      INFO(text);
      CHECK(text.empty());
    }
  };
  for (const auto type : kTypes) {
    for (auto op = OpCode::add; op <= OpCode::select; op = static_cast<OpCode>(static_cast<int>(op) + 1)) {
      if (takes(op, type) && op != OpCode::cast) all.push_back({op, type, type});
    }
  }
  for (const auto stored : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::c64, DType::c128}) {
    for (const auto type : {DType::f32, DType::f64}) all.push_back({OpCode::cast, type, stored});
    if (!is_complex(stored)) all.push_back({OpCode::cast, DType::i32, stored});
  }
  for (const auto stored : {DType::i8, DType::i64, DType::u16}) all.push_back({OpCode::cast, DType::i32, stored});
  CHECK(all.size() > 250);
  std::mt19937_64 random(fuzz::first_seed(700001));
  std::shuffle(all.begin(), all.end(), random);
  all.resize(std::min(all.size(), static_cast<std::size_t>(fuzz::cases(50))));
  for (const auto& operation : all) check(operation);
}

}  // namespace kernel_operations_test
