// A process without a GPU: CTest hides those that the machine may have.
#include <array>
#include <cstddef>

#include "catch.hpp"
#include "jit/cuda_driver.hpp"
#include "ricci/error.hpp"

namespace jit_cuda_no_device_test {

namespace cuda = ricci::jit::cuda;
using Catch::Matchers::ContainsSubstring;
using ricci::DeviceError;

TEST_CASE("without a device everything says so") {
  REQUIRE_FALSE(cuda::available());
  const std::string reason = cuda::unavailable_reason();
  CHECK(reason.size() > 20);
  CHECK(cuda::unavailable_reason() == reason);
  CHECK(cuda::device_count() == 0);

  std::array<std::byte, 64> bytes{};
  void* arguments[1] = {};
  CHECK_THROWS_AS(cuda::device_info(0), DeviceError);
  CHECK_THROWS_AS(cuda::driver_version(), DeviceError);
  CHECK_THROWS_AS(cuda::current_device(), DeviceError);
  CHECK_THROWS_AS(cuda::Module(bytes, 0), DeviceError);
  CHECK_THROWS_AS(cuda::launch(bytes.data(), 1, 1, 1, 32, 0, nullptr, arguments), DeviceError);
  CHECK_THROWS_AS(cuda::pointer_info(bytes.data()), DeviceError);
  CHECK_THROWS_AS(cuda::allocate(64), DeviceError);
  CHECK_THROWS_AS(cuda::copy_to_device(bytes.data(), bytes.data(), 64), DeviceError);
  CHECK_THROWS_AS(cuda::copy_to_host(bytes.data(), bytes.data(), 64), DeviceError);
  CHECK_THROWS_AS(cuda::copy_on_device(bytes.data(), bytes.data(), 64, nullptr), DeviceError);
  CHECK_THROWS_AS(cuda::fill_bytes(bytes.data(), 0, 64), DeviceError);
  CHECK_THROWS_AS(cuda::synchronize(), DeviceError);
  CHECK_THROWS_AS(cuda::synchronize(nullptr), DeviceError);
  CHECK_THROWS_AS(cuda::OwnedStream(), DeviceError);
  CHECK_THROWS_AS(cuda::Event(), DeviceError);
  cuda::release(nullptr);
  cuda::release(bytes.data());  // nothing of ours: ignored

  try {
    cuda::allocate(64);
  } catch (const DeviceError& error) {
    CHECK_THAT(error.what(), ContainsSubstring(reason));
  }
}

}  // namespace jit_cuda_no_device_test
