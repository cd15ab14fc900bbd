// One process of bench/latency.cpp, as small as a user's: plans one permutation and says when it was ready to run.
//   ricci-bench-first-kernel cpu|sm_90 NANOSECONDS
// NANOSECONDS is the monotonic clock when the process was asked for. Prints: ms from then, ms from main(), ms in
// plan_permute(), ms of that before the source was there, origin, and how many compiler libraries are mapped.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "ricci/ricci.hpp"

namespace {

long long now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int compilers_mapped() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  std::string previous;
  for (std::string line; std::getline(maps, line);) {
    for (const char* library : {"libLLVM", "libclang", "libricci-clang", "libnvrtc"}) {
      if (line.find(library) == std::string::npos || previous == library) continue;
      previous = library;
      ++count;
    }
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  const auto main_ns = now_ns();
  if (argc != 3) {
    std::fprintf(stderr, "usage: ricci-bench-first-kernel cpu|sm_90 NANOSECONDS\n");
    return 2;
  }
  const auto asked_ns = std::atoll(argv[2]);
  try {
    ricci::PermuteOptions options;
    if (std::strcmp(argv[1], "cpu") != 0) {
      options.device = ricci::Device::gpu;
      options.target_sm = 90;
    }
    ricci::Runtime runtime;
    const auto before_ns = now_ns();
    const auto plan =
        runtime.plan_permute("abc->cab", ricci::Layout::row_major(ricci::DType::f64, {48, 32, 40}), options);
    const auto ready_ns = now_ns();
    const auto ms = [](long long ns) { return static_cast<double>(ns) * 1e-6; };
    std::printf("%.4f %.4f %.4f %.4f %s %d\n", ms(ready_ns - asked_ns), ms(ready_ns - main_ns),
                ms(ready_ns - before_ns), plan.info().plan_ms + plan.info().generate_ms, plan.info().origin.c_str(),
                compilers_mapped());
  } catch (const ricci::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
  return 0;
}
