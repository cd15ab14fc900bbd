// MP2 and E(T) of carbon monoxide as the examples compute them, every kernel as CUDA text for sm_90 on the simulator.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "catch.hpp"
#include "codegen/source.hpp"
#include "ir/passes/canonical.hpp"
#include "lower/lower_program.hpp"
#include "plan/plan.hpp"
#include "ricci/program.hpp"
#include "simt/emitted.hpp"
#include "support/chemistry.hpp"

namespace {

using namespace ricci;

struct Line {
  alignas(256) unsigned char at[256];
};

/// Memory as a device's allocator gives it.
struct Array {
  Array() = default;
  explicit Array(std::int64_t bytes)
      : lines(static_cast<std::size_t>(bytes) / sizeof(Line) + 1), memory(std::make_unique<Line[]>(lines)) {}
  unsigned char* begin() const { return memory[0].at; }
  std::size_t bytes() const { return lines * sizeof(Line); }

  std::size_t lines = 0;
  std::unique_ptr<Line[]> memory;
  std::vector<std::int64_t> shape;
};

std::int64_t elements_of(const std::vector<std::int64_t>& shape) {
  std::int64_t elements = 1;
  for (const auto extent : shape) elements *= extent;
  return elements;
}

/// What examples::Workbench is, of doubles, with the simulator for a device.
class SimulatedBench {
 public:
  void put(const std::string& name, std::vector<std::int64_t> shape, const std::vector<double>& values) {
    auto& array = place(name, std::move(shape));
    std::memcpy(array.begin(), values.data(), values.size() * sizeof(double));
  }
  template <class T>
  std::vector<T> get(const std::string& name) const {
    const auto& array = arrays_.at(name);
    std::vector<T> values(static_cast<std::size_t>(elements_of(array.shape)));
    std::memcpy(values.data(), array.begin(), values.size() * sizeof(T));
    return values;
  }
  const std::vector<std::int64_t>& shape(const std::string& name) const { return arrays_.at(name).shape; }
  void reshape(const std::string& name, std::vector<std::int64_t> shape) { arrays_.at(name).shape = std::move(shape); }

  void run(const std::string& name, const examples::Names& names) {
    std::ifstream in(RICCI_EXAMPLES_DIR "/programs/" + name + ".ricci");
    REQUIRE(in);
    auto program = Program::parse(std::string(std::istreambuf_iterator<char>(in), {}));
    const auto name_of = [&](const std::string& tensor) {
      const auto other = names.find(tensor);
      return other == names.end() ? tensor : other->second;
    };
    std::map<std::string, std::vector<std::int64_t>> shapes;
    for (const auto& tensor : program.tensors()) {
      const bool read = tensor.role == TensorRole::input || tensor.role == TensorRole::inout;
      if (read) shapes[tensor.name] = arrays_.at(name_of(tensor.name)).shape;
    }
    program.bind(shapes);
    for (const auto& tensor : program.tensors()) {
      if (tensor.role == TensorRole::output) place(name_of(tensor.name), tensor.shape);
    }
    const auto sequence = ir::lower(program);
    std::vector<Array> workspace(sequence.storages.size());
    std::vector<const Array*> areas;
    for (std::size_t k = 0; k < sequence.storages.size(); ++k) {
      const auto& storage = sequence.storages[k];
      REQUIRE(storage.type == DType::f64);
      if (storage.role == ir::Role::workspace) workspace[k] = Array((storage.last + 1) * size_of(storage.type));
      areas.push_back(storage.role == ir::Role::workspace ? &workspace[k] : &arrays_.at(name_of(storage.name)));
    }
    for (const auto& step : sequence.steps) run(step, areas);
  }

 private:
  Array& place(const std::string& name, std::vector<std::int64_t> shape) {
    auto& array = arrays_[name] = Array(elements_of(shape) * static_cast<std::int64_t>(sizeof(double)));
    array.shape = std::move(shape);
    return array;
  }

  static void run(const ir::Step& step, const std::vector<const Array*>& areas) {
    const auto program = ir::canonicalise(step.program);
    const auto schedule = plan::candidates(program, plan::GpuModel::of_capability(90)).front().schedule;
    const auto source = codegen::emit(program, schedule, kernel::Target::cuda, {"sm_90", "", ""});
    std::vector<void*> pointers, args;
    std::vector<simt::Buffer> buffers;
    for (std::size_t b = 0; b < program.buffer.size(); ++b) {
      const auto& area = *areas[static_cast<std::size_t>(step.storage[static_cast<std::size_t>(program.buffer[b])])];
      pointers.push_back(area.begin());
      buffers.push_back({area.begin(), area.bytes(), program.buffers[b].written});
    }
    REQUIRE(program.params.empty());
    for (auto& pointer : pointers) args.push_back(&pointer);
    simt::Options options;
    options.one_buffer_per_access = false;
    const auto report = simt::run(simt::launch_of(source, program, schedule), args.data(), buffers, options);
    if (!report.clean()) FAIL(ir::print(program) << source.text << report.text());
  }

  std::map<std::string, Array> arrays_;
};

const std::string kFolder = RICCI_EXAMPLES_DIR "/data/co_sto3g";

}  // namespace

TEST_CASE("MP2 of carbon monoxide on the simulator") {
  SimulatedBench bench;
  const auto energy = examples::mp2_energy(bench, examples::read_molecule(kFolder, false),
                                           [&](const auto& program, const auto& names) { bench.run(program, names); });
  CHECK(std::abs(energy - examples::reference_number(kFolder, "e_mp2_corr")) <= 1e-9);
}

TEST_CASE("E(T) of carbon monoxide on the simulator") {
  SimulatedBench bench;
  const auto energy =
      examples::triples_energy(bench, examples::read_molecule(kFolder, true),
                               [&](const auto& program, const auto& names) { bench.run(program, names); });
  CHECK(std::abs(energy - examples::reference_number(kFolder, "e_t")) <= 1e-9);
}
