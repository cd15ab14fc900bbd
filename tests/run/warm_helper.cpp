// One process of the test beside it: makes a kernel and says where it came from and which compilers are in memory.
//   warm_helper cpu | sm_90
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>

#include "ricci/ricci.hpp"

int main(int argc, char** argv) {
  const bool cpu = argc > 1 && std::strcmp(argv[1], "cpu") == 0;
  try {
    ricci::Runtime runtime;
    ricci::PermuteOptions options;
    if (!cpu) {
      options.device = ricci::Device::gpu;
      options.target_sm = 90;
    }
    const auto plan = runtime.plan_permute("abc->cab", ricci::Layout::row_major(ricci::DType::f64, {6, 5, 7}), options);
    if (cpu) {
      std::vector<double> a(210), b(210);
      std::iota(a.begin(), a.end(), 0.0);
      plan(b.data(), a.data());
      for (int k = 0; k < 210; ++k) {
        if (b[static_cast<std::size_t>(k)] != k % 30 * 7 + k / 30) return 2;
      }
    }
    std::printf("%s\n", plan.info().origin.c_str());
  } catch (const ricci::Error& error) {
    std::printf("%s\n", error.what());
    return 3;
  }
  std::ifstream maps("/proc/self/maps");
  for (const char* library : {"libLLVM", "libclang", "libricci-clang", "libnvrtc", "libcuda"}) {
    maps.clear();
    maps.seekg(0);
    for (std::string line; std::getline(maps, line);) {
      if (line.find(library) == std::string::npos) continue;
      std::printf("%s\n", library);
      break;
    }
  }
  return 0;
}
