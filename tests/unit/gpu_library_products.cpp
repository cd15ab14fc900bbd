// Contractions as products of cuBLAS: what it is asked for, on which stream, and that it is what the contraction is.
// The driver and cuBLAS are made up (fake_driver.cpp, fake_cublas.cpp): devices have the host's memory.
#include <dlfcn.h>

#include <cstring>
#include <string>
#include <vector>

#include "catch.hpp"
#include "jit/cuda_driver.hpp"
#include "ricci/ricci.hpp"

using namespace ricci;
using Catch::Matchers::ContainsSubstring;
namespace cuda = jit::cuda;
using Lines = std::vector<std::string>;

namespace {

Lines asked() {
  using Asked = void (*)(void (*)(const char*, void*), void*);
  static const auto hand_out = reinterpret_cast<Asked>(::dlsym(::dlopen(FAKE_CUBLAS, RTLD_NOW), "fake_cublas_asked"));
  REQUIRE(hand_out != nullptr);
  Lines lines;
  hand_out([](const char* text, void* to) { static_cast<Lines*>(to)->emplace_back(text); }, &lines);
  return lines;
}

RuntimeOptions with_cublas() {
  RuntimeOptions options;
  options.cache_dir = "off";
  options.cublas = FAKE_CUBLAS;
  return options;
}

EinsumOptions on_gpu(const char* schedule = "gemm") {
  EinsumOptions options;
  options.device = Device::gpu;
  options.gpu = 0;
  options.schedule = schedule;
  return options;
}

/// Numbers in a device's memory, which the host may read and write here.
template <class T>
class Numbers {
 public:
  Numbers(std::int64_t count, int seed, int device = 0) : count_(static_cast<std::size_t>(count)) {
    const cuda::OnDevice on_device(device);
    begin_ = static_cast<T*>(cuda::allocate(count_ * sizeof(T)));
    for (std::size_t k = 0; k < count_; ++k) {
      const auto x = static_cast<double>((7 * k + static_cast<std::size_t>(seed)) % 13) - 6;
      if constexpr (std::is_floating_point_v<T>) {
        begin_[k] = static_cast<T>(x);
      } else {
        begin_[k] = T(x, static_cast<double>(k % 5) - 2);
      }
    }
  }
  ~Numbers() { cuda::release(begin_); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  T* get() const { return begin_; }
  std::vector<T> values() const { return {begin_, begin_ + count_}; }

 private:
  std::size_t count_;
  T* begin_;
};

/// Whether an einsum that is a product as it stands gives the interpreter's result; what was asked for.
template <class T>
Lines right(const char* spec, std::vector<Layout> inputs, const Layout& output, EinsumOptions options) {
  Runtime runtime(with_cublas());
  const auto plan = runtime.plan_einsum(spec, inputs, output, options);
  const Numbers<T> a(inputs[0].elements(), 1), b(inputs[1].elements(), 2), c(output.elements(), 3);
  auto wanted = c.values();
  const std::vector<const void*> from = {a.get(), b.get()};
  Runtime::interpret_einsum(spec, inputs, output, from, wanted.data(), options);
  asked();
  Call call;
  call.stream = reinterpret_cast<void*>(77);
  void* const to = c.get();
  plan(std::span<void* const>(&to, 1), from, call);
  CHECK(c.values() == wanted);
  return asked();
}

Layout f64(std::vector<std::int64_t> extents) { return Layout::row_major(DType::f64, std::move(extents)); }

}  // namespace

TEST_CASE("products of cuBLAS are queued on the call's stream, a batch at a time") {
  CHECK(right<double>("ak,kb->ab", {f64({9, 8}), f64({8, 7})}, f64({9, 7}), on_gpu()) ==
        Lines{"1 of 7 x 9 x 8 types 111 compute 70 stream 77"});
  CHECK(right<double>("ka,bk->ba", {f64({8, 9}), f64({7, 8})}, f64({7, 9}), on_gpu()) ==
        Lines{"1 of 9 x 7 x 8 types 111 compute 70 stream 77"});
  CHECK(right<double>("gak,gkb->gab", {f64({5, 9, 8}), f64({5, 8, 7})}, f64({5, 9, 7}), on_gpu()) ==
        Lines{"5 of 7 x 9 x 8 types 111 compute 70 stream 77"});
  // Two indices of the batch, not neighbours in all: the longer one is a launch.
  CHECK(right<double>("ghak,hgkb->ghab", {f64({2, 5, 9, 8}), f64({5, 2, 8, 7})}, f64({2, 5, 9, 7}), on_gpu()) ==
        Lines(2, "5 of 7 x 9 x 8 types 111 compute 70 stream 77"));
  auto options = on_gpu();
  options.alpha = 3;
  options.beta = -2;
  CHECK(right<double>("ak,kb->ab", {f64({9, 8}), f64({8, 7})}, f64({9, 7}), options).size() == 1);
  const auto c128 = [](std::vector<std::int64_t> extents) { return Layout::row_major(DType::c128, extents); };
  options.alpha = {1, 2};
  options.conjugate = {true, false};
  CHECK(right<Scalar>("ka,kb->ab", {c128({8, 9}), c128({8, 7})}, c128({9, 7}), options) ==
        Lines{"1 of 7 x 9 x 8 types 555 compute 70 stream 77"});
}

TEST_CASE("precisions are those that the plan allows") {
  const auto f32 = [](std::vector<std::int64_t> extents) { return Layout::row_major(DType::f32, extents); };
  CHECK(right<float>("ak,kb->ab", {f32({9, 8}), f32({8, 7})}, f32({9, 7}), on_gpu()) ==
        Lines{"1 of 7 x 9 x 8 types 000 compute 68 stream 77"});
  auto options = on_gpu();
  options.precision = Precision::tf32;
  CHECK(right<float>("ak,kb->ab", {f32({9, 8}), f32({8, 7})}, f32({9, 7}), options) ==
        Lines{"1 of 7 x 9 x 8 types 000 compute 77 stream 77"});
}

TEST_CASE("a handle for each device, for all runtimes, of which a capture finds one") {
  Runtime runtime(with_cublas());
  const std::vector<Layout> inputs = {f64({9, 8}), f64({8, 7})};
  const auto plan = runtime.plan_einsum("ak,kb->ab", inputs, on_gpu());
  asked();
  Runtime another(with_cublas());
  another.plan_einsum("ak,kb->ab", inputs, on_gpu());
  CHECK(asked().empty());
  plan.load(1);
  CHECK(asked() == Lines{"create"});
  const Numbers<double> a(72, 1, 1), b(56, 2, 1), c(63, 3, 1);
  const cuda::OnDevice on_device(1);
  plan({c.get()}, {a.get(), b.get()});
  CHECK(asked() == Lines{"1 of 7 x 9 x 8 types 111 compute 70 stream 0"});
}

TEST_CASE("large products are predicted to be cuBLAS's only where there is one") {
  const std::vector<Layout> inputs = {f64({4096, 4096}), f64({4096, 4096})};
  Runtime runtime(with_cublas());
  auto options = on_gpu("gemm");
  const auto text = runtime.plan_einsum("ak,kb->ab", inputs, options).explain();
  CHECK_THAT(text, ContainsSubstring("gemm") && ContainsSubstring("products"));
  RuntimeOptions without;
  without.cache_dir = "off";
  without.cublas = "off";
  Runtime other(without);
  CHECK_THROWS_AS(other.plan_einsum("ak,kb->ab", inputs, options), PlanError);
  without.cublas = "/nowhere/libcublas.so";
  CHECK_THROWS_WITH(Runtime(without), ContainsSubstring("RICCI_CUBLAS"));
  without.cublas = FAKE_BLAS;
  CHECK_THROWS_WITH(Runtime(without), ContainsSubstring("has no cublasCreate_v2"));
}
