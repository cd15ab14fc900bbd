#include "jit/cpu_target.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "ricci/error.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ricci::jit {

std::string CpuTarget::text() const {
  std::string text = cpu;
  for (const std::string& feature : features) text += feature;
  return text;
}

namespace {

#if defined(__x86_64__)

enum class State { none, ymm, zmm };  // registers that the operating system must save
enum Register { eax, ebx, ecx, edx };

struct Feature {
  const char* name;  // as LLVM spells it
  std::uint32_t leaf, subleaf;
  Register where;
  int bit;
  State state;
  int level;  // of the x86-64 psABI that first demands it, 1 to 4; 0: no level does
};

// What can change the code of a kernel. System, cryptography and tuning features stay out: each of them would make
// another target, and so another key, for the same machine code.
constexpr std::array kFeatures = {
    Feature{"sse3", 1, 0, ecx, 0, State::none, 2},
    Feature{"ssse3", 1, 0, ecx, 9, State::none, 2},
    Feature{"cx16", 1, 0, ecx, 13, State::none, 2},
    Feature{"sse4.1", 1, 0, ecx, 19, State::none, 2},
    Feature{"sse4.2", 1, 0, ecx, 20, State::none, 2},
    Feature{"popcnt", 1, 0, ecx, 23, State::none, 2},
    Feature{"sahf", 0x80000001, 0, ecx, 0, State::none, 2},
    Feature{"fma", 1, 0, ecx, 12, State::ymm, 3},
    Feature{"movbe", 1, 0, ecx, 22, State::none, 3},
    Feature{"avx", 1, 0, ecx, 28, State::ymm, 3},
    Feature{"f16c", 1, 0, ecx, 29, State::ymm, 3},
    Feature{"bmi", 7, 0, ebx, 3, State::none, 3},
    Feature{"avx2", 7, 0, ebx, 5, State::ymm, 3},
    Feature{"bmi2", 7, 0, ebx, 8, State::none, 3},
    Feature{"lzcnt", 0x80000001, 0, ecx, 5, State::none, 3},
    Feature{"avx512f", 7, 0, ebx, 16, State::zmm, 4},
    Feature{"avx512dq", 7, 0, ebx, 17, State::zmm, 4},
    Feature{"avx512cd", 7, 0, ebx, 28, State::zmm, 4},
    Feature{"avx512bw", 7, 0, ebx, 30, State::zmm, 4},
    Feature{"avx512vl", 7, 0, ebx, 31, State::zmm, 4},
    Feature{"avx512ifma", 7, 0, ebx, 21, State::zmm, 0},
    Feature{"avx512vbmi", 7, 0, ecx, 1, State::zmm, 0},
    Feature{"avx512vbmi2", 7, 0, ecx, 6, State::zmm, 0},
    Feature{"gfni", 7, 0, ecx, 8, State::none, 0},
    Feature{"avx512vnni", 7, 0, ecx, 11, State::zmm, 0},
    Feature{"avx512bitalg", 7, 0, ecx, 12, State::zmm, 0},
    Feature{"avx512vpopcntdq", 7, 0, ecx, 14, State::zmm, 0},
    Feature{"avx512fp16", 7, 0, edx, 23, State::zmm, 0},
    Feature{"avxvnni", 7, 1, eax, 4, State::ymm, 0},
    Feature{"avx512bf16", 7, 1, eax, 5, State::zmm, 0},
};

bool needs_avx512f(const Feature& feature) { return feature.state == State::zmm; }

/// Registers whose contents survive a switch of tasks, by XCR0.
State saved_state() {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  constexpr std::uint32_t kOsxsave = 1u << 27;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & kOsxsave)) return State::none;
  std::uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr std::uint32_t kYmm = 0x6, kZmm = 0xe6;
  if ((low & kZmm) == kZmm) return State::zmm;
  return (low & kYmm) == kYmm ? State::ymm : State::none;
}

CpuTarget detect() {
  const State saved = saved_state();
  // Each leaf is read once: in a virtual machine the hypervisor answers, which takes 5 microseconds and more.
  struct Leaf {
    std::uint32_t leaf = 0, subleaf = 0;
    std::array<std::uint32_t, 4> registers{};  // all 0 where the processor has no such leaf
  };
  std::vector<Leaf> leaves;
  const auto read = [&](std::uint32_t leaf, std::uint32_t subleaf) -> const std::array<std::uint32_t, 4>& {
    for (const Leaf& known : leaves)
      if (known.leaf == leaf && known.subleaf == subleaf) return known.registers;
    auto& [l, s, r] = leaves.emplace_back(Leaf{leaf, subleaf, {}});
    __get_cpuid_count(leaf, subleaf, &r[0], &r[1], &r[2], &r[3]);
    return r;
  };
  std::array<bool, kFeatures.size()> has{};
  for (std::size_t i = 0; i < kFeatures.size(); ++i) {
    const Feature& feature = kFeatures[i];
    has[i] = (read(feature.leaf, feature.subleaf)[feature.where] >> feature.bit & 1u) && feature.state <= saved;
  }
  const auto level_is_complete = [&](int level) {
    for (std::size_t i = 0; i < kFeatures.size(); ++i)
      if (kFeatures[i].level == level && !has[i]) return false;
    return true;
  };
  int level = 1;
  while (level < 4 && level_is_complete(level + 1)) ++level;

  CpuTarget target;
  target.cpu = level == 1 ? "x86-64" : "x86-64-v" + std::to_string(level);
  for (std::size_t i = 0; i < kFeatures.size(); ++i) {
    const Feature& feature = kFeatures[i];
    if (!has[i] || (feature.level != 0 && feature.level <= level)) continue;
    // The vector shapes that kernels use exist from level 4 on; a part of AVX-512 (Knights Landing) is not worth a
    // target.
    if (needs_avx512f(feature) && level < 4) continue;
    target.features.push_back(std::string("+") + feature.name);
  }
  std::sort(target.features.begin(), target.features.end());
  target.vector_bytes = level == 4 ? 64 : level == 3 ? 32 : 16;
  return target;
}

/// CPUID 8000001A, "performance optimization identifiers" of AMD's manual; other processors have no such leaf.
int datapath() {
  constexpr std::uint32_t kLeaf = 0x8000001a, kBytes16 = 1u << 0, kBytes32 = 1u << 2, kBytes64 = 1u << 3;
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(kLeaf, &a, &b, &c, &d) || (a & kBytes64)) return 64;
  return (a & kBytes32) ? 32 : (a & kBytes16) ? 16 : 64;
}

/// RICCI_CPU_ISA names a plain level without extras, so that what it gives is the same on every machine that has it.
CpuTarget lowered(const CpuTarget& host, std::string_view isa) {
  if (isa == "plain") return {"x86-64", {}, 16};
  if (isa == "avx2") return host.vector_bytes >= 32 ? CpuTarget{"x86-64-v3", {}, 32} : host;
  if (isa == "avx512") return host.vector_bytes >= 64 ? CpuTarget{"x86-64-v4", {}, 64} : host;
  throw PlanError("RICCI_CPU_ISA is '" + std::string(isa) + "'; it may be plain, avx2 or avx512, or unset");
}

#else

CpuTarget detect() { return {"generic", {}, 16}; }

int datapath() { return 64; }

CpuTarget lowered(const CpuTarget& host, std::string_view) { return host; }

#endif

}  // namespace

int host_datapath_bytes() {
  static const int bytes = datapath();
  return bytes;
}

CpuTarget host_cpu() {
  static const CpuTarget host = detect();
  const char* isa = std::getenv("RICCI_CPU_ISA");
  return isa == nullptr || *isa == '\0' ? host : lowered(host, isa);
}

}  // namespace ricci::jit
