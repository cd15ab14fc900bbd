// Random contractions as products of a library, in each way that the planner lists: each element within the bound of
// its dot product. By a made-up library, and by OpenBLAS where this machine has it.
#include <dlfcn.h>

#include <cstdio>

#include "catch.hpp"
#include "fuzz/library_products.hpp"

using namespace ricci;

namespace {

void check(const char* file, std::uint64_t usual_seed) {
  RuntimeOptions options;
  options.cache_dir = "off";
  options.threads = 4;
  options.blas = file;
  Runtime runtime(options);
  const auto threads = [](std::uint64_t seed) { return 1 + static_cast<int>(seed % 4); };
  fuzz::check_library_products(
      runtime, Device::cpu, file, usual_seed, 20, threads, [](const Plan& plan, fuzz::RandomEinsum& e) {
        auto pointers = e.pointers();
        void* const output = pointers.back();
        pointers.pop_back();
        plan(std::span<void* const>(&output, 1), std::vector<const void*>(pointers.begin(), pointers.end()), e.call());
      });
}

}  // namespace

TEST_CASE("random contractions by a made-up library are within the bound of their dot products") {
  check(FAKE_BLAS_BATCH, 900001);
}

TEST_CASE("random contractions by OpenBLAS are within the bound of their dot products") {
  constexpr const char* kFile = "libopenblas.so.0";
  if (::dlopen(kFile, RTLD_NOW | RTLD_LOCAL) == nullptr) {
    std::printf("[SKIP] no %s\n", kFile);
    return;
  }
  check(kFile, 910001);
}
