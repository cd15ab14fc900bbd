// More than 2^31 elements: offsets that no 32-bit integer holds, on the CPU and on a device.
#include <cstdint>
#include <memory>
#include <random>

#include "catch.hpp"
#include "device_memory.hpp"
#include "ricci/ricci.hpp"

using namespace ricci;
namespace cuda = ricci::jit::cuda;

namespace {

constexpr std::int64_t kRows = 46341, kColumns = 46349, kElements = kRows * kColumns;
static_assert(kElements > std::int64_t{1} << 31);

/// A value that tells every place from its neighbours and from those 2^32 elements away.
unsigned char value_at(std::int64_t k) {
  return static_cast<unsigned char>((static_cast<std::uint64_t>(k) * 0x9E3779B97F4A7C15u) >> 56);
}

void check_transposed(const unsigned char* b) {
  std::mt19937_64 random(3);
  std::int64_t wrong = 0;
  for (int s = 0; s < 2000000; ++s) {
    const auto k = s == 0 ? kElements - 1 : static_cast<std::int64_t>(random() % kElements);
    wrong += b[k] != value_at(k % kRows * kColumns + k / kRows);
  }
  REQUIRE(wrong == 0);
}

std::unique_ptr<unsigned char[]> filled() {
  std::unique_ptr<unsigned char[]> a(new unsigned char[kElements]);
  for (std::int64_t k = 0; k < kElements; ++k) a[static_cast<std::size_t>(k)] = value_at(k);
  return a;
}

}  // namespace

#ifdef RICCI_TEST_GPU
TEST_CASE("a tensor of more than 2^31 elements is transposed on a device") {
  if (!cuda::available()) RICCI_SKIP("no GPU");
  const auto a = filled();
  PermuteOptions options;
  options.device = Device::gpu;
  const auto plan = Runtime::global().plan_permute("ab->ba", Layout::row_major(DType::u8, {kRows, kColumns}), options);
  const tests::DeviceMemory from(a.get(), kElements), to(kElements);
  cuda::fill_bytes(to.get(), 0x5a, kElements);
  plan(to.get(), from.get());
  std::unique_ptr<unsigned char[]> b(new unsigned char[kElements]);
  to.copy_to_host(b.get());
  check_transposed(b.get());
}
#else
TEST_CASE("a tensor of more than 2^31 elements is transposed on the CPU") {
  const auto a = filled();
  const auto plan = Runtime::global().plan_permute("ab->ba", Layout::row_major(DType::u8, {kRows, kColumns}));
  std::unique_ptr<unsigned char[]> b(new unsigned char[kElements]);
  plan(b.get(), a.get());
  check_transposed(b.get());
}
#endif
