// Random contractions on a device as products of cuBLAS, in each way that the planner lists: each element within the
// bound of its dot product. Where there is a device and a cuBLAS: RICCI_CUBLAS, or the usual names.
#include <dlfcn.h>

#include <cstdlib>

#include "catch.hpp"
#include "fuzz/library_products.hpp"
#include "fuzz/on_device.hpp"
#include "jit/cuda_driver.hpp"

using namespace ricci;
namespace cuda = ricci::jit::cuda;

namespace {

std::string found_cublas() {
  if (const char* given = std::getenv("RICCI_CUBLAS"); given != nullptr && *given != '\0') return given;
  for (const char* name : {"libcublas.so.13", "libcublas.so.12"}) {
    if (::dlopen(name, RTLD_NOW | RTLD_LOCAL) != nullptr) return name;
  }
  return {};
}

}  // namespace

TEST_CASE("random contractions by cuBLAS are within the bound of their dot products") {
  if (!cuda::available()) RICCI_SKIP("no GPU");
  const auto file = found_cublas();
  if (file.empty()) RICCI_SKIP("no GPU library cuBLAS");
  RuntimeOptions with;
  with.cublas = file;
  Runtime runtime(with);
  fuzz::check_library_products(
      runtime, Device::gpu, file, 920001, 200, [](std::uint64_t) { return 0; }, fuzz::run_on_device);
}
