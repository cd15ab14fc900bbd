// What kernels of random programs for a GPU move: bytes, sectors and wavefronts as the kernel interpreter counts them
// are those that the simulator counts of the text. Permutations are in kernel_permute.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "catch.hpp"
#include "fuzz/kernel_case.hpp"
#include "kernel/build.hpp"
#include "kernel/interpret/execute.hpp"
#include "simt/emitted.hpp"

namespace kernel_counts_test {

using namespace ricci;
using kernel::Space;

namespace {

/// Names what differs: "wavefronts 12, simulated 14\n".
class Comparison {
 public:
  void operator()(const char* what, std::int64_t counted, std::uint64_t simulated) {
    if (counted != static_cast<std::int64_t>(simulated))
      text += fmt::format("{} {}, simulated {}\n", what, counted, simulated);
  }
  std::string text;
};

void compare_writes(Comparison& same, const kernel::Counts& counts, const simt::Report& report, bool sectors) {
  same("bytes written", counts.written_to(Space::global).bytes, report.written.bytes);
  if (sectors) same("sectors written", counts.written_to(Space::global).units, report.written.sectors);
  same("wavefronts", counts.read_from(Space::shared).units + counts.written_to(Space::shared).units,
       report.shared.wavefronts);
}
void compare_reads(Comparison& same, const kernel::Counts& counts, const simt::Report& report, bool sectors) {
  same("bytes read", counts.read_from(Space::global).bytes, report.read.bytes);
  if (sectors) same("sectors read", counts.read_from(Space::global).units, report.read.sectors);
}

bool has_complex(const ir::Program& program) {
  return std::any_of(program.buffers.begin(), program.buffers.end(),
                     [](const ir::Buffer& buffer) { return is_complex(buffer.type); });
}

/// Whether a text may leave operands out: those of a selection that is not taken, and of "and" and "or".
bool has_choices(const ir::Program& program) {
  return std::any_of(program.nodes.begin(), program.nodes.end(), [](const ir::Node& node) {
    return node.kind == ir::NodeKind::op &&
           (node.op == ir::OpCode::select || node.op == ir::OpCode::bit_and || node.op == ir::OpCode::bit_or);
  });
}

}  // namespace

TEST_CASE("what the kernel interpreter counts of programs is what the simulator counts of their text") {
  int compared = 0, whole = 0;
  fuzz::check_seeds(730001, 6, "counted twice", [&](std::uint64_t seed, fuzz::Kind kind) -> std::string {
    auto made = fuzz::kernel_case(seed, kind, plan::GpuModel::of_capability(90), {400, 4000});
    if (!made || has_complex(made->program)) return {};  // the text moves a complex number by its halves
    auto before = made->memory;
    std::vector<void*> pointers, arguments;
    std::vector<simt::Buffer> buffers;
    bool aligned = true;  // the interpreter counts sectors from element 0, the simulator from where memory begins
    for (std::size_t b = 0; b < made->program.buffer.size(); ++b) {
      auto& memory = made->memory[static_cast<std::size_t>(made->program.buffer[b])];
      pointers.push_back(memory.element_0());
      buffers.push_back({memory.begin(), memory.bytes(), made->program.buffers[b].written});
      aligned = aligned && memory.origin % 32 == 0;
    }
    std::vector<Scalar> params;
    for (const int param : made->program.param) params.push_back(made->random.params[static_cast<std::size_t>(param)]);
    for (auto& pointer : pointers) arguments.push_back(&pointer);
    for (auto& value : made->values) arguments.push_back(value.at);
    const auto tree = kernel::expand(kernel::build(made->program, made->schedule, kernel::Target::cuda));
    const auto counts = kernel::execute(tree, pointers, params);
    for (std::size_t b = 0; b < before.size(); ++b)
      std::copy(before[b].lines.begin(), before[b].lines.end(), made->memory[b].lines.begin());
    auto launch = simt::launch_of(made->source, made->program, made->schedule);
    launch.as_written = true;
    simt::Options options;
    options.one_buffer_per_access = false;  // of two loads that a selection chooses between, compilers make one
    const auto report = simt::run(launch, arguments.data(), buffers, options);
    if (!report.clean()) return made->told(report.text());
    Comparison same;
    compare_writes(same, counts, report, aligned);
    if (!has_choices(made->program)) compare_reads(same, counts, report, aligned), ++whole;
    ++compared;
    return same.text.empty() ? same.text : made->told(same.text);
  });
  std::printf("%d programs counted alike, %d of them with what they read\n", compared, whole);
  CHECK(whole > 0);
}

}  // namespace kernel_counts_test
