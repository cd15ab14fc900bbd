// Emitted text beside its input. A mismatch writes what was emitted to X.actual and says how to look at it and how to
// accept it; every text is also compiled, and what the compiler says of it is held in resources.txt.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "catch.hpp"
#include "codegen/source.hpp"
#include "golden/case.hpp"
#include "jit/cpu_compiler.hpp"
#include "jit/cuda_compiler.hpp"
#include "plan/plan.hpp"

using namespace ricci;
using ricci::golden::Case;

namespace {

const std::filesystem::path kFolder = RICCI_TEST_DIR;

bool accepts() {
  const char* text = std::getenv("RICCI_ACCEPT");
  return text != nullptr && std::string(text) == "1";
}

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<Case> all_cases() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".case") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Case> cases;
  for (const auto& path : paths) cases.push_back(golden::parse_case(path.stem().string(), content(path)));
  return cases;
}

codegen::Source emit(const Case& c) {
  codegen::Notes notes;
  notes.target = c.cuda ? "sm_90" : "x86-64-v4";
  notes.plan = kernel::summary(c.program, c.schedule);
  notes.reproduce = fmt::format("RICCI_ACCEPT=1 ctest -R golden, from tests/golden/{}.case", c.name);
  return codegen::emit(c.program, c.schedule, c.cuda ? kernel::Target::cuda : kernel::Target::cpu, notes);
}

void compare(const std::string& file, const std::string& text) {
  const auto path = kFolder / file;
  const auto actual = path.string() + ".actual";
  if (accepts()) std::ofstream(path) << text;
  if (content(path) == text) {
    std::filesystem::remove(actual);
    return;
  }
  std::ofstream(actual) << text;
  FAIL_CHECK(file << " is not what is emitted now. Look at it with\n  diff -u " << path.string() << " " << actual
                  << "\nand accept all goldens with\n  RICCI_ACCEPT=1 ctest -R golden");
}

struct Resources {
  int registers = 0, spill_bytes = 0, shared_bytes = 0;
};

const char* const kHead = "# registers, bytes of spills and of static shared memory for sm_90, by ";

}  // namespace

TEST_CASE("emitted text") {
  const auto cases = all_cases();
  REQUIRE(cases.size() >= 10);
  for (const auto& c : cases) {
    INFO(c.name);
    const auto source = emit(c);
    compare(c.name + (c.cuda ? ".cu" : ".cpp"), source.text);
    compare(c.name + ".ir", print(c.program) + print(c.schedule));
    CHECK(emit(c).full() == source.full());
  }
}

TEST_CASE("a schedule that was read from its text gives the same kernel") {
  for (auto c : all_cases()) {
    INFO(c.name);
    const auto text = emit(c).full();
    auto schedule = kernel::parse_schedule(print(c.schedule));
    REQUIRE(schedule);
    schedule->name = c.schedule.name;
    c.schedule = *schedule;
    CHECK(emit(c).full() == text);
  }
}

TEST_CASE("every CUDA text compiles, spills nothing and takes the registers that it took") {
  const auto version = jit::cuda_compiler_version();
  if (version.empty()) RICCI_SKIP("no NVRTC");
  std::map<std::string, Resources> held;
  std::istringstream stream(content(kFolder / "resources.txt"));
  std::string head;
  std::getline(stream, head);
  Resources r;
  for (std::string name; stream >> name >> r.registers >> r.spill_bytes >> r.shared_bytes;) held[name] = r;

  std::string text = kHead + version + "\n";
  // Registers are the compiler's choice: another version may choose otherwise.
  const bool same_compiler = head == kHead + version;
  for (const auto& c : all_cases()) {
    if (!c.cuda) continue;
    INFO(c.name);
    const auto source = emit(c);
    jit::CudaCompileOptions options;
    options.contract = !c.program.exact;
    const auto object = jit::compile_cuda(source.full(), source.kernel, options);
    text += fmt::format("{} {} {} {}\n", c.name, object.registers, object.spill_bytes, object.static_shared_bytes);
    CHECK(object.spill_bytes == 0);
    if (accepts()) continue;
    REQUIRE(held.count(c.name) == 1);
    CHECK(object.static_shared_bytes == held[c.name].shared_bytes);
    if (same_compiler) CHECK(object.registers == held[c.name].registers);
  }
  if (accepts()) std::ofstream(kFolder / "resources.txt") << text;
}

#ifdef RICCI_TEST_CPU
TEST_CASE("every C++ text compiles to what the small loader takes") {
  jit::CpuCompileOptions options;
  options.target = {"x86-64-v4", {}, 64};
  for (const auto& c : all_cases()) {
    if (c.cuda) continue;
    INFO(c.name);
    options.contract = c.program.exact ? jit::Contract::off : jit::Contract::fast;
    const auto source = emit(c);
    const auto object = jit::compile_cpu(source.full(), source.kernel, options);
    CHECK(object.simple);
    CHECK(object.bytes.size() > 300);
  }
}
#endif

TEST_CASE("a case that cannot be understood is named") {
  const auto text = [](const std::string& line) -> std::string {
    try {
      golden::parse_case("x", line);
    } catch (const std::exception& error) {
      return error.what();
    }
    return {};
  };
  CHECK(text("cuda ab->ba a=4 b=5 f64\norder\nwrite a:4 b:5").empty());
  CHECK(text("metal ab->ba a=4 b=5 f64") == "x.case: cannot make sense of 'metal'");
  CHECK(text("cuda ab->ba a=4 b=5 f64 tiles=a:2\norder\nwrite a:4 b:5") == "x.case: cannot make sense of 'tiles=a:2'");
  CHECK(text("cuda ab->ba a=4 b=5 f64\ntile z:2\norder\nwrite") ==
        "schedule: tile z:2: no index of this program has the name z");
}
