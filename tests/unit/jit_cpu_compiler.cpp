// Clang in process: what it makes, what it refuses, and that both loaders run the result alike.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "jit/cpu_compiler.hpp"
#include "jit/elf_object.hpp"
#include "jit/object_loader.hpp"
#include "jit_cpu_elf.hpp"
#include "ricci/error.hpp"

using namespace ricci;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using jit::Loader;

namespace {

const jit::CpuTarget kPlain{"x86-64", {}, 16}, kAvx2{"x86-64-v3", {}, 32}, kAvx512{"x86-64-v4", {}, 64};

jit::CpuCompileOptions for_host() { return {jit::host_cpu(), jit::Contract::fast, {}}; }

/// out[j * rows + i] = in[i * columns + j] + k, in blocks of 4 x 4 doubles.
std::string transpose_source(int k) {
  return fmt::format(R"(
typedef double V __attribute__((vector_size(32), aligned(8)));
extern "C" void transpose(const double* in, double* out, long rows, long columns) {{
  for (long i = 0; i < rows; i += 4)
    for (long j = 0; j < columns; j += 4) {{
      V a = *(const V*)(in + i * columns + j), b = *(const V*)(in + (i + 1) * columns + j);
      V c = *(const V*)(in + (i + 2) * columns + j), d = *(const V*)(in + (i + 3) * columns + j);
      V ab = __builtin_shufflevector(a, b, 0, 4, 2, 6), ba = __builtin_shufflevector(a, b, 1, 5, 3, 7);
      V cd = __builtin_shufflevector(c, d, 0, 4, 2, 6), dc = __builtin_shufflevector(c, d, 1, 5, 3, 7);
      *(V*)(out + j * rows + i) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + {0};
      *(V*)(out + (j + 1) * rows + i) = __builtin_shufflevector(ba, dc, 0, 1, 4, 5) + {0};
      *(V*)(out + (j + 2) * rows + i) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7) + {0};
      *(V*)(out + (j + 3) * rows + i) = __builtin_shufflevector(ba, dc, 2, 3, 6, 7) + {0};
    }}
}}
)",
                     k);
}

bool transposes(const jit::LoadedObject& object, int k) {
  using Transpose = void (*)(const double*, double*, long, long);
  const auto transpose = reinterpret_cast<Transpose>(object.symbol("transpose"));
  if (transpose == nullptr) return false;
  constexpr long kRows = 12, kColumns = 20;
  std::vector<double> in(kRows * kColumns), out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<double>(i);
  transpose(in.data(), out.data(), kRows, kColumns);
  for (long i = 0; i < kRows; ++i)
    for (long j = 0; j < kColumns; ++j)
      if (out[static_cast<std::size_t>(j * kRows + i)] != in[static_cast<std::size_t>(i * kColumns + j)] + k)
        return false;
  return true;
}

std::string assembly(const std::string& source, const jit::CpuTarget& target,
                     jit::Contract contract = jit::Contract::fast) {
  return jit::assemble_cpu(source, "kernel", {target, contract, {}});
}

std::size_t resident_kib() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

/// What this program prints when it runs one hidden test case in another environment.
std::string run_self(const std::string& environment, const std::string& test_case) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = environment + " '" + self + "' '" + test_case + "' 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  pclose(pipe);
  return text;
}

std::atomic<int> loads_seen{0};

}  // namespace

// What -fsanitize-coverage=trace-loads calls; found in this program as any other symbol of the process.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" __attribute__((visibility("default"), used)) void __sanitizer_cov_load4(std::uint32_t*) { ++loads_seen; }

TEST_CASE("compiler: its version is known without opening it", "[jit]") {
  CHECK_THAT(jit::cpu_compiler_version(), StartsWith("clang 19."));
}

TEST_CASE("compiler: flags for keys tell options apart, but not targets", "[jit]") {
  const std::string text = jit::cpu_flags_text({kAvx2, jit::Contract::fast, {}});
  CHECK_THAT(text, StartsWith("-std=c++20 -O3") && ContainsSubstring("-ffp-contract=fast"));
  CHECK_THAT(text, !ContainsSubstring("x86-64"));
  CHECK(jit::cpu_flags_text({kAvx2, jit::Contract::off, {}}) != text);
  CHECK(jit::cpu_flags_text({kAvx2, jit::Contract::fast, {"-g"}}) == text + " -g");
  CHECK_THAT(jit::cpu_flags_text({.target = kAvx2, .tiled = true}), StartsWith("-std=c++20 -O2"));
}

TEST_CASE("compiler: of register tiles only loops that say so are unrolled", "[jit]") {
  const auto stores = [](const std::string& pragma, bool tiled, const std::vector<std::string>& extra = {}) {
    const std::string source =
        "extern \"C\" void kernel(volatile int* to) {\n" + pragma + "\nfor (int k = 0; k < 4; ++k) to[k] = 7;\n}\n";
    const std::string text = jit::assemble_cpu(source, "kernel", {.target = kAvx2, .extra = extra, .tiled = tiled});
    int count = 0;
    for (auto at = text.find("$7"); at != std::string::npos; at = text.find("$7", at + 1)) ++count;
    return count;
  };
  CHECK(stores("", true) == 1);
  CHECK(stores("#pragma unroll", true) == 4);
  CHECK(stores("", false) == 4);
  CHECK(stores("", false, {"-skip-passes=LoopFullUnrollPass,LoopUnrollPass"}) == 1);
}

TEST_CASE("compiler: a kernel runs through both loaders", "[jit]") {
  const jit::CpuObject object = jit::compile_cpu(transpose_source(3), "transpose", for_host());
  CHECK(object.simple);
  CHECK(object.ms > 0);
  CHECK(transposes(*jit::load_object(object.bytes), 3));
  CHECK(transposes(*jit::load_object(object.bytes, Loader::arena), 3));
  CHECK(transposes(*jit::load_object(object.bytes, Loader::orc), 3));
}

TEST_CASE("compiler: both loaders agree on every relocation", "[jit]") {
  const auto object = full_object();
  for (Loader loader : {Loader::arena, Loader::orc}) {
    const auto loaded = jit::load_object(object, loader);
    const auto call = [&](const char* name) { return reinterpret_cast<int (*)()>(loaded->symbol(name))(); };
    CHECK(call("constant") == 42);
    CHECK(call("indirect") == 7);
    CHECK(call("near") == 42);
    CHECK(loaded->symbol("absent") == nullptr);
    char text[] = "abcd";
    reinterpret_cast<void* (*)(void*, int, std::size_t)>(loaded->symbol("fill"))(text, '-', 2);
    CHECK(std::string(text) == "--cd");
  }
}

TEST_CASE("compiler: each target uses its registers", "[jit]") {
  const auto sum = [](const jit::CpuTarget& target) {
    return assembly(fmt::format("typedef float V __attribute__((vector_size({})));\n"
                                "extern \"C\" void sum(V* a, const V* b) {{ *a += *b; }}\n",
                                target.vector_bytes),
                    target);
  };
  // Loops are vectorised as well, which cc1 does not do by itself.
  const std::string loop =
      "extern \"C\" void sum(float* __restrict a, const float* __restrict b) {\n"
      "  for (int i = 0; i < 4096; ++i) a[i] += b[i];\n}\n";
  for (const std::string& text : {sum(kAvx512), assembly(loop, kAvx512)}) CHECK_THAT(text, ContainsSubstring("%zmm"));
  for (const std::string& text : {sum(kAvx2), assembly(loop, kAvx2)}) {
    CHECK_THAT(text, ContainsSubstring("%ymm"));
    CHECK_THAT(text, !ContainsSubstring("%zmm"));
  }
  for (const std::string& text : {sum(kPlain), assembly(loop, kPlain)}) {
    CHECK_THAT(text, ContainsSubstring("%xmm"));
    CHECK_THAT(text, !ContainsSubstring("%ymm"));
  }
}

TEST_CASE("compiler: products and sums are contracted only where asked", "[jit]") {
  const std::string source =
      "extern \"C\" double f(double a, double b, double c) { double p = a * b; return p + c; }\n";
  CHECK_THAT(assembly(source, kAvx2, jit::Contract::fast), ContainsSubstring("vfmadd"));
  CHECK_THAT(assembly(source, kAvx2, jit::Contract::off), !ContainsSubstring("vfmadd"));
  // Within one expression alone: not a product that has a name.
  const std::string joined = "extern \"C\" double f(double a, double b, double c) { return a * b + c; }\n";
  CHECK_THAT(assembly(joined, kAvx2, jit::Contract::on), ContainsSubstring("vfmadd"));
  CHECK_THAT(assembly(source, kAvx2, jit::Contract::on), !ContainsSubstring("vfmadd"));
}

TEST_CASE("compiler: a loop that copies or clears becomes no call", "[jit]") {
  const std::string source =
      "extern \"C\" void copy(char* __restrict a, const char* __restrict b, long n) { for (long i = 0; i < n; ++i) "
      "a[i] = b[i]; }\n"
      "extern \"C\" void clear(double* a, long n) { for (long i = 0; i < n; ++i) a[i] = 0; }\n"
      "extern \"C\" double root(double x) { return __builtin_sqrt(x); }\n"
      "extern \"C\" void times(_Complex double* a, _Complex double b) { *a *= b; }\n";
  const jit::CpuObject object = jit::compile_cpu(source, "loops", for_host());
  const jit::ObjectLayout layout = jit::lay_out_object(object.bytes);
  REQUIRE(layout.kind == jit::ObjectKind::simple);
  CHECK(layout.jumps.empty());
}

TEST_CASE("compiler: the copy of a large object calls memcpy through a jump", "[jit]") {
  const std::string source =
      "struct Large { double values[1000]; };\n"
      "extern \"C\" void copy(Large* a, const Large* b) { *a = *b; }\n";
  const jit::CpuObject object = jit::compile_cpu(source, "large", for_host());
  CHECK(jit::lay_out_object(object.bytes).jumps.size() == 1);
  std::vector<double> a(1000), b(1000, 3.5);
  for (Loader loader : {Loader::arena, Loader::orc}) {
    a.assign(1000, 0);
    reinterpret_cast<void (*)(double*, const double*)>(jit::load_object(object.bytes, loader)->symbol("copy"))(
        a.data(), b.data());
    CHECK(a == b);
  }
}

TEST_CASE("compiler: what the small loader does not take goes to ORC", "[jit]") {
  const std::string source =
      "extern \"C\" double exp(double);\n"
      "static int calls = 0;\n"
      "extern \"C\" double twice(double x) { ++calls; return 2 * exp(x); }\n"
      "extern \"C\" int count() { return calls; }\n";
  const jit::CpuObject object = jit::compile_cpu(source, "twice", for_host());
  CHECK_FALSE(object.simple);
  CHECK_THROWS_AS(jit::load_object(object.bytes, Loader::arena), PlanError);
  const auto loaded = jit::load_object(object.bytes);
  CHECK(reinterpret_cast<double (*)(double)>(loaded->symbol("twice"))(1.0) == 2 * std::exp(1.0));
  CHECK(reinterpret_cast<int (*)()>(loaded->symbol("count"))() == 1);
  // Its state is its own.
  CHECK(reinterpret_cast<int (*)()>(jit::load_object(object.bytes)->symbol("count"))() == 0);

  const jit::CpuObject missing = jit::compile_cpu(
      "extern \"C\" int nowhere_at_all(); extern \"C\" int f() { return nowhere_at_all(); }", "f", for_host());
  CHECK_THROWS_WITH(jit::load_object(missing.bytes), ContainsSubstring("nowhere_at_all"));
  CHECK_THROWS_AS(jit::load_object(missing.bytes), InternalError);
}

TEST_CASE("compiler: refused source is an error with line, source and log", "[jit]") {
  const std::string source = "extern \"C\" int f(int a) {\n  return a + b;\n}\n";
  try {
    jit::compile_cpu(source, "wrong", for_host());
    FAIL("compiled");
  } catch (const CompileError& error) {
    CHECK_THAT(error.what(), ContainsSubstring("wrong.cpp:2:14: error: use of undeclared identifier 'b'"));
    CHECK(error.source() == source);
    CHECK_THAT(error.log(), StartsWith("wrong.cpp:2:14"));
  }
  CHECK_THROWS_WITH(jit::compile_cpu("extern \"C\" void f() { asm(\"bogus\"); }", "asm", for_host()),
                    ContainsSubstring("asm.cpp:1:27: error: invalid instruction"));
  CHECK_THROWS_WITH(jit::compile_cpu("#include <vector>\n", "include", for_host()),
                    ContainsSubstring("file not found"));
  CHECK_THROWS_WITH(jit::compile_cpu("", "flag", {jit::host_cpu(), jit::Contract::fast, {"-fno-such-flag"}}),
                    ContainsSubstring("unknown argument: '-fno-such-flag'"));
  CHECK_THROWS_WITH(jit::compile_cpu("", "flag", {jit::host_cpu(), jit::Contract::fast, {"-mllvm", "-enable-misched"}}),
                    ContainsSubstring("-mllvm"));
  CHECK_THROWS_WITH(jit::compile_cpu("", "cpu", {{"x87-64", {}, 16}, jit::Contract::fast, {}}),
                    ContainsSubstring("x87-64"));
}

TEST_CASE("compiler: an error inside LLVM costs one kernel, not the process", "[jit]") {
  // An instruction that the target lacks, past Clang's own checks.
  const std::string source =
      "typedef char Bytes __attribute__((vector_size(32)));\n"
      "typedef long long Sums __attribute__((vector_size(32)));\n"
      "Sums sad(Bytes, Bytes) __asm__(\"llvm.x86.avx2.psad.bw\");\n"
      "extern \"C\" void f(Sums* out, Bytes* a, Bytes* b) { *out = sad(*a, *b); }\n";
  const jit::CpuCompileOptions plain{kPlain, jit::Contract::fast, {}};
  for (int i = 0; i < 3; ++i) {
    CHECK_THROWS_WITH(jit::compile_cpu(source, "fatal", plain),
                      ContainsSubstring("gave up") && ContainsSubstring("LLVM ERROR"));
    CHECK(transposes(*jit::load_object(jit::compile_cpu(transpose_source(i), "transpose", for_host()).bytes), i));
  }
}

TEST_CASE("compiler: the same source gives the same bytes", "[jit]") {
  const auto first = jit::compile_cpu(transpose_source(1), "transpose", for_host());
  jit::compile_cpu(transpose_source(2), "other", for_host());
  CHECK(jit::compile_cpu(transpose_source(1), "transpose", for_host()).bytes == first.bytes);
}

TEST_CASE("compiler: threads compile and load at once", "[jit]") {
  const auto sequential = jit::compile_cpu(transpose_source(0), "transpose", for_host());
  std::vector<int> wrong(2, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const int k = i * 2 + t;
        const auto object = jit::compile_cpu(transpose_source(k), "transpose", for_host());
        if (k == 0 && object.bytes != sequential.bytes) ++wrong[static_cast<std::size_t>(t)];
        for (Loader loader : {Loader::arena, Loader::orc})
          if (!transposes(*jit::load_object(object.bytes, loader), k)) ++wrong[static_cast<std::size_t>(t)];
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(2, 0));
}

TEST_CASE("compiler: two hundred compilations leave nothing behind", "[jit]") {
#if defined(RICCI_SANITIZED)
  RICCI_SKIP("the address sanitizer keeps what is freed");
#endif
  const auto compile = [](int count) {
    for (int i = 0; i < count; ++i) {
      const auto object = jit::compile_cpu(transpose_source(i), "transpose", for_host());
      jit::load_object(object.bytes, i % 2 == 0 ? Loader::arena : Loader::orc);
    }
  };
  compile(40);
  const std::size_t before = resident_kib();
  compile(200);
  const std::size_t after = resident_kib();
  // With cc1's -disable-free it would be 255 KB for each.
  CAPTURE(before, after);
  CHECK(after < before + 200 * 32);
}

TEST_CASE("compiler: instrumentation is put in where asked", "[jit]") {
  const std::string source = "extern \"C\" int sum(const int* a) { return a[0] + a[5]; }\n";
  const jit::CpuCompileOptions traced{
      jit::host_cpu(), jit::Contract::fast, {"-fsanitize-coverage-type=3", "-fsanitize-coverage-trace-loads"}};
  const jit::CpuObject object = jit::compile_cpu(source, "traced", traced);
  CHECK_FALSE(object.simple);
  const auto loaded = jit::load_object(object.bytes);
  const int values[6] = {3, 0, 0, 0, 0, 4};
  loads_seen = 0;
  CHECK(reinterpret_cast<int (*)(const int*)>(loaded->symbol("sum"))(values) == 7);
  CHECK(loads_seen == 2);
}

TEST_CASE("child: compile", "[.child]") {
  try {
    const jit::CpuObject object = jit::compile_cpu("extern \"C\" int thirteen() { return 13; }", "f", for_host());
    const auto loaded = jit::load_object(object.bytes);
    std::printf("pid %d compiled %d at %lx\n", getpid(), object.simple,
                reinterpret_cast<unsigned long>(loaded->symbol("thirteen")));
  } catch (const PlanError& error) {
    std::printf("refused: %s\n", error.what());
  }
}

TEST_CASE("compiler: RICCI_PERF_MAP=1 tells perf the names", "[jit]") {
  const std::string text = run_self("RICCI_PERF_MAP=1", "child: compile");
  int pid = 0, simple = 0;
  unsigned long address = 0;
  const std::size_t start = text.find("pid ");
  REQUIRE(start != std::string::npos);
  REQUIRE(std::sscanf(text.c_str() + start, "pid %d compiled %d at %lx", &pid, &simple, &address) == 3);
  const std::string map = fmt::format("/tmp/perf-{}.map", pid);
  std::string line;
  std::ifstream file(map);
  std::getline(file, line);
  std::remove(map.c_str());
  CHECK_THAT(line, StartsWith(fmt::format("{:x} ", address)) && ContainsSubstring(" thirteen"));
}

TEST_CASE("compiler: a plug-in that does not fit is passed over, and said", "[jit]") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("ricci-plugin-{}", getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "libricci-clang.so") << "not a library";
  const std::string text = run_self("RICCI_LOG=compile RICCI_PLUGIN_DIR=" + folder.string(), "child: compile");
  std::filesystem::remove_all(folder);
  CHECK_THAT(text, ContainsSubstring("passed over " + (folder / "libricci-clang.so").string()));
  CHECK_THAT(text, ContainsSubstring("opened "));
  CHECK_THAT(text, ContainsSubstring("compiled 1"));
}
