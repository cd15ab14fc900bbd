// One process of the test beside it: makes plans of every kind, runs them where it can, and says where their kernels
// came from, where they are kept, what they computed and which compilers are in memory.
//   warm_helper cpu|sm_90 PROGRAMS       PROGRAMS: the folder of the examples' programs
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ricci/ricci.hpp"

using namespace ricci;

namespace {

/// The memory of one argument of a call.
struct Array {
  explicit Array(const Argument& given)
      : argument(given),
        bytes(static_cast<std::size_t>(std::max<std::int64_t>(given.last - given.first + 1, 0) * size_of(given.type))) {
    memory.resize(bytes / sizeof(Line) + 1);
    const auto size = static_cast<std::size_t>(size_of(given.type));
    for (std::size_t k = 0; k * size < bytes; ++k) put(k, size);
  }

  /// Small whole numbers, whose sums of products are exact; as offsets, those of rows of two elements.
  void put(std::size_t k, std::size_t size) {
    auto* const at = begin() + k * size;
    const auto number = static_cast<unsigned char>(k * 37 % 101 % 7 + 1);
    const auto write = [&](auto value) { std::memcpy(at, &value, sizeof value); };
    switch (argument.type) {
      case DType::f32:
        return write(static_cast<float>(number));
      case DType::f64:
        return write(static_cast<double>(number));
      case DType::i64:
        return write(static_cast<std::int64_t>(2 * k));
      default:
        at[0] = number;  // of zeros
    }
  }

  struct alignas(256) Line {
    unsigned char at[256];
  };
  unsigned char* begin() { return memory.data()->at; }
  void* element_0() { return begin() - argument.first * size_of(argument.type); }

  Argument argument;
  std::size_t bytes;
  std::vector<Line> memory;
};

/// Runs it once on made-up numbers; a hash of all that it wrote.
std::uint64_t digest(const Plan& plan) {
  std::vector<Array> arrays;
  for (const auto& argument : plan.outputs()) arrays.emplace_back(argument);
  for (const auto& argument : plan.inputs()) arrays.emplace_back(argument);
  std::vector<void*> outputs;
  std::vector<const void*> inputs;
  for (auto& array : arrays) {
    if (outputs.size() < plan.outputs().size()) {
      outputs.push_back(array.element_0());
    } else {
      inputs.push_back(array.element_0());
    }
  }
  const std::vector<Scalar> params(plan.params().size(), 2);
  Call call;
  call.params = params;
  plan(outputs, inputs, call);
  std::uint64_t hash = 1469598103934665603u;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    for (std::size_t b = 0; b < arrays[k].bytes; ++b) hash = (hash ^ arrays[k].begin()[b]) * 1099511628211u;
  }
  return hash;
}

/// One line; its kernels' files on lines of their own.
void report(const std::string& name, const Plan& plan) {
  const auto& info = plan.info();
  const auto hash = plan.device() == Device::cpu ? digest(plan) : 0;
  std::printf("%s: %s, %d kernels, %lld B workspace, result %016llx\n", name.c_str(), info.origin.c_str(), info.steps,
              static_cast<long long>(info.workspace_bytes), static_cast<unsigned long long>(hash));
  std::printf("%s", plan.cache_path().c_str());
  if (!plan.cache_path().empty() && plan.cache_path().back() != '\n') std::printf("\n");
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A program of the examples, at a small extent; where it is about one long index, long enough to be cut.
Program program_of(const std::filesystem::path& file) {
  auto program = Program::parse(text_of(file));
  const bool one_long = file.parent_path().filename() == "long";
  for (const auto& index : program.open_extents()) program.set_extent(index, index == "x" ? 67 : 6);
  if (one_long) {
    program.set_extent("i", 100003);
    if (file.stem() == "compaction") program.set_extent("n", 100003);
  }
  return program;
}

void make_all(bool cpu, const std::filesystem::path& programs) {
  PlanOptions where;
  if (!cpu) {
    where.device = Device::gpu;
    where.target_sm = 90;
  }
  // A runtime each, so that none finds another's kernels in memory.
  PermuteOptions permute;
  static_cast<PlanOptions&>(permute) = where;
  report("permutation", Runtime().plan_permute("abc->cab", Layout::row_major(DType::f64, {6, 5, 7}), permute));
  EinsumOptions einsum;
  static_cast<PlanOptions&>(einsum) = where;
  const Layout matrices[] = {Layout::row_major(DType::f64, {6, 40}), Layout::row_major(DType::f64, {40, 30}),
                             Layout::row_major(DType::f64, {30, 5})};
  const std::span<const Layout> three(matrices);
  report("einsum of two operands", Runtime().plan_einsum("ik,kj->ij", three.first(2), einsum));
  report("einsum of three operands", Runtime().plan_einsum("ik,kl,lj->ij", three, einsum));
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(programs)) {
    if (entry.path().extension() == ".ricci") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    report("program " + file.lexically_relative(programs).string(), Runtime().plan_program(program_of(file), where));
  }
}

/// The libraries in memory that a process whose kernels are on disk does without.
void report_compilers() {
  const auto maps = text_of("/proc/self/maps");
  for (const char* library : {"libLLVM", "libclang", "libricci-clang", "libnvrtc", "libcuda"}) {
    if (maps.find(library) != std::string::npos) std::printf("mapped %s\n", library);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    make_all(std::strcmp(argv[1], "cpu") == 0, argv[2]);
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    return 3;
  }
  report_compilers();
  return 0;
}
