// Constants of every integer type, to 64 bits, as text for both targets: compiled and run, they are the numbers they
// were.
#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

#include "catch.hpp"
#include "codegen/source.hpp"
#include "ir/builder.hpp"
#include "jit/cpu_compiler.hpp"
#include "jit/object_loader.hpp"
#include "plan/plan.hpp"
#include "simt/emitted.hpp"

namespace test_constants {

using namespace ricci;
using ir::OpCode;

namespace {

constexpr std::int64_t kPoints = 5;

/// x + c for each constant c, x being 0 .. kPoints-1.
struct Constants {
  ir::Program program;
  std::vector<std::uint64_t> added;  // per output
  std::vector<std::vector<std::uint64_t>> memory;

  Constants() {
    constexpr std::uint64_t kEdges[] = {1,
                                        ~std::uint64_t{0},
                                        std::uint64_t{1} << 7,
                                        std::uint64_t{1} << 15,
                                        std::uint64_t{1} << 31,
                                        (std::uint64_t{1} << 53) + 1,
                                        ~std::uint64_t{0} >> 1,
                                        std::uint64_t{1} << 63,
                                        ~std::uint64_t{0} << 53};
    ir::Builder b;
    b.program.indices = {{"i", kPoints}};
    for (const auto type :
         {DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16, DType::u32, DType::u64}) {
      const auto buffer = [&](std::string name, bool written) {
        b.program.buffers.push_back({std::move(name), type, written, 0, kPoints - 1, size_of(type)});
        added.push_back(0);
        return static_cast<int>(b.program.buffers.size()) - 1;
      };
      const auto x = b.load(buffer(fmt::format("x_{}", name(type)), false), {{1}, 0});
      for (std::size_t k = 0; k < std::size(kEdges); ++k) {
        const auto y = buffer(fmt::format("y{}_{}", k, name(type)), true);
        added.back() = kEdges[k];
        b.store(y, {{1}, 0}, b.op(OpCode::add, type, x, b.integer(kEdges[k], type)));
      }
    }
    program = b.finish();
    for (const auto& buffer : program.buffers) {
      auto& words = memory.emplace_back(static_cast<std::size_t>(kPoints));
      for (std::int64_t i = 0; i < kPoints && !buffer.written; ++i) {
        auto* bytes = reinterpret_cast<unsigned char*>(words.data());
        std::memcpy(bytes + i * size_of(buffer.type), &i, static_cast<std::size_t>(size_of(buffer.type)));
      }
    }
  }

  std::vector<void*> pointers() {
    std::vector<void*> list;
    for (auto& words : memory) list.push_back(words.data());
    return list;
  }

  void check() const {
    for (std::size_t k = 0; k < memory.size(); ++k) {
      const auto& buffer = program.buffers[k];
      for (std::int64_t i = 0; i < kPoints; ++i) {
        std::uint64_t value = 0;
        const auto* bytes = reinterpret_cast<const unsigned char*>(memory[k].data());
        std::memcpy(&value, bytes + i * size_of(buffer.type), static_cast<std::size_t>(size_of(buffer.type)));
        INFO(buffer.name << "[" << i << "]");
        CHECK(wrapped(value, buffer.type) == wrapped(added[k] + static_cast<std::uint64_t>(i), buffer.type));
      }
    }
  }
};

}  // namespace

TEST_CASE("integer constants are exact in the interpreter") {
  Constants constants;
  ir::interpret(constants.program, constants.pointers(), {});
  constants.check();
}

TEST_CASE("integer constants are exact in CUDA text") {
  Constants constants;
  const auto& program = constants.program;
  const auto schedule = plan::candidates(program, plan::GpuModel::of_capability(90)).front().schedule;
  const auto source = codegen::emit(program, schedule, kernel::Target::cuda, {"sm_90", "", ""});
  INFO(source.text);
  auto pointers = constants.pointers();
  std::vector<void*> arguments;
  std::vector<simt::Buffer> buffers;
  for (std::size_t k = 0; k < pointers.size(); ++k) {
    arguments.push_back(&pointers[k]);
    const auto bytes = static_cast<std::size_t>(kPoints * size_of(program.buffers[k].type));
    buffers.push_back({pointers[k], bytes, program.buffers[k].written});
  }
  const auto report = simt::run(simt::launch_of(source, program, schedule), arguments.data(), buffers);
  if (!report.clean()) FAIL(report.text());
  constants.check();
}

TEST_CASE("integer constants are exact in C++ text") {
  Constants constants;
  const auto& program = constants.program;
  plan::CpuModel device_model;
  device_model.vector_bytes = jit::host_cpu().vector_bytes;
  const auto schedule = plan::candidates(program, device_model).front().schedule;
  const auto source = codegen::emit(program, schedule, kernel::Target::cpu, {"host", "", ""});
  INFO(source.text);
  jit::CpuCompileOptions options;
  options.target = jit::host_cpu();
  const auto object = jit::load_object(jit::compile_cpu(source.full(), source.kernel, options).bytes);
  const auto function = reinterpret_cast<void (*)(void* const*, long long, long long)>(object->symbol(source.kernel));
  REQUIRE(function != nullptr);
  function(constants.pointers().data(), 0, kernel::launch_of(program, schedule, kernel::Target::cpu).tasks);
  constants.check();
}

}  // namespace test_constants
