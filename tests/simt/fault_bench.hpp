// A kernel of two buffers, made of its body alone: for tests of what the simulator reports.
#pragma once

#include <array>
#include <fstream>
#include <iterator>
#include <string>

#include "catch.hpp"
#include "simt/simulator.hpp"
#include "simt/tensor_map.hpp"

namespace ricci::simt {

inline std::string device_types() {
  std::ifstream file(RICCI_TEST_DIR "/../../src/codegen/device/types.cuh");
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Runs `body` as a kernel of (const double* A, double* B) on 64 elements each. The body's first line is line 1.
struct Bench {
  alignas(64) double memory[3 * 64] = {};
  const double* a = memory;
  double* b = memory + 128;  // 64 elements of no buffer between
  unsigned grid = 1, block = 32;
  std::size_t dynamic_shared = 0;
  Options options;
  const TensorMap* map = nullptr;  ///< a third argument, M

  /// before: words in front of the kernel's name.
  Report run(const std::string& body, const std::string& before = {}) {
    std::string types = device_types();
    for (char& c : types)
      if (c == '\n') c = ' ';
    // Comments would swallow what follows on their line.
    for (std::size_t at; (at = types.find("//")) != std::string::npos;)
      types.erase(at, types.find("template", at) - at);
    Launch launch;
    launch.source = types + "extern \"C\" __global__ void " + before + "k(const double* A, double* B" +
                    (map != nullptr ? ", const __grid_constant__ TensorMap M" : "") + ") {" + body + "}\n";
    launch.kernel = "k";
    launch.parameter_types = {"const double*", "double*"};
    if (map != nullptr) launch.parameter_types.emplace_back("TensorMap");
    launch.grid_x = grid;
    launch.block = block;
    launch.dynamic_shared = dynamic_shared;
    void* arguments[] = {&a, &b, const_cast<TensorMap*>(map)};
    const Buffer buffers[] = {{a, 512, false}, {b, 512, true}};
    return ricci::simt::run(launch, arguments, buffers, options);
  }
};

inline const Fault& only(const Report& report) {
  INFO(report.text());
  REQUIRE(report.faults.size() == 1);
  CHECK_FALSE(report.clean());
  CHECK_THAT(report.text(), Catch::Matchers::ContainsSubstring(report.faults[0].text()));
  return report.faults[0];
}

using Block = std::array<unsigned, 3>;

}  // namespace ricci::simt
