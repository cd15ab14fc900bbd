// What calls of GPU plans ask of the driver: launches and nothing else, on the device that the tensors are on. The
// driver is tests/unit/fake_driver.cpp, so that no GPU is needed, and each of its answers is known.
#include <dlfcn.h>

#include <cstdio>
#include <string>
#include <vector>

#include "catch.hpp"
#include "jit/cuda_compiler.hpp"
#include "jit/cuda_driver.hpp"
#include "ricci/ricci.hpp"

using namespace ricci;
namespace cuda = jit::cuda;
using Lines = std::vector<std::string>;

namespace {

Lines asked() {
  using Asked = void (*)(void (*)(const char*, void*), void*);
  static const auto hand_out =
      reinterpret_cast<Asked>(::dlsym(::dlopen("libcuda.so.1", RTLD_NOW), "fake_driver_asked"));
  REQUIRE(hand_out != nullptr);
  Lines lines;
  hand_out([](const char* text, void* to) { static_cast<Lines*>(to)->emplace_back(text); }, &lines);
  return lines;
}

void capture(bool on) {
  static const auto set =
      reinterpret_cast<void (*)(bool)>(::dlsym(::dlopen("libcuda.so.1", RTLD_NOW), "fake_driver_capture"));
  REQUIRE(set != nullptr);
  set(on);
}

class Memory {
 public:
  Memory(std::size_t bytes, int device) {
    const cuda::OnDevice on_device(device);
    pointer_ = cuda::allocate(bytes);
  }
  ~Memory() { cuda::release(pointer_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* get() const { return pointer_; }

 private:
  void* pointer_;
};

constexpr std::int64_t kSide = 64;
constexpr std::size_t kBytes = 8 * kSide * kSide;
const auto kMatrix = [] {
  auto layout = Layout::row_major(DType::f64, {kSide, kSide});
  layout.alignment = 256;
  return layout;
}();

Plan chain(Runtime& runtime, std::vector<bool> constant = {}) {
  EinsumOptions options;
  options.device = Device::gpu;
  options.gpu = 0;
  options.constant = std::move(constant);
  const std::vector<Layout> inputs(3, kMatrix);
  return runtime.plan_einsum("ab,bc,cd->ad", inputs, kMatrix, options);
}

RuntimeOptions in_memory() {
  RuntimeOptions options;
  options.cache_dir = "off";
  options.graph_kernels = 3;  // those of the chain are launched one by one
  return options;
}

bool no_compiler() {
  if (!jit::cuda_compiler_version().empty()) return false;
  std::printf("[SKIP] no NVRTC\n");
  return true;
}

}  // namespace

TEST_CASE("a call launches, and neither waits nor allocates: it may be captured into a graph") {
  if (no_compiler()) return;
  Runtime runtime(in_memory());
  const auto plan = chain(runtime);
  const Memory a(kBytes, 0), b(kBytes, 0), c(kBytes, 0), d(kBytes, 0);
  const auto bytes = static_cast<std::size_t>(plan.info().workspace_bytes);
  REQUIRE(bytes == kBytes);
  const Memory workspace(bytes, 0);
  Call call;
  call.stream = reinterpret_cast<void*>(77);
  call.workspace = workspace.get();
  call.workspace_bytes = bytes;
  asked();
  plan({d.get()}, {a.get(), b.get(), c.get()}, call);
  CHECK(asked() == Lines(2, "launch on device 0 stream 77"));
  call.workspace = nullptr;
  plan({d.get()}, {a.get(), b.get(), c.get()}, call);
  CHECK(asked() == Lines{"allocate in order on device 0", "launch on device 0 stream 77",
                         "launch on device 0 stream 77", "free in order on device 0"});
}

TEST_CASE("plans of several kernels are launched as one graph, from a stream's second call on") {
  if (no_compiler()) return;
  auto options = in_memory();
  Runtime runtime(options);
  const Memory a(kBytes, 0), b(kBytes, 0), c(kBytes, 0), d(kBytes, 0), other(kBytes, 0);
  EinsumOptions einsum;
  einsum.device = Device::gpu;
  einsum.gpu = 0;
  einsum.path = EinsumOptions::Path::flops;
  const std::vector<Layout> inputs(4, kMatrix);
  Call call;
  call.stream = reinterpret_cast<void*>(7);
  const Memory workspace(4 * kBytes, 0);
  call.workspace = workspace.get();
  call.workspace_bytes = 4 * kBytes;
  const auto make = [&](Runtime& of) { return of.plan_einsum("ab,bc,cd,de->ae", inputs, kMatrix, einsum); };
  const Lines single(3, "launch on device 0 stream 7"), graph = {"launch a graph on device 0 stream 7"};
  {
    const auto plan = make(runtime);
    REQUIRE(plan.info().steps == 3);
    asked();
    plan({d.get()}, {a.get(), b.get(), a.get(), b.get()}, call);
    CHECK(asked() == single);
    plan({d.get()}, {a.get(), b.get(), a.get(), b.get()}, call);
    const auto made = asked();
    REQUIRE(made.size() == 2);
    CHECK(made[0].starts_with("graph on device 0, 0 after, 1 after"));
    CHECK(made[0].find(", 2 after") != std::string::npos);
    CHECK(made[1] == graph.front());
    plan({d.get()}, {a.get(), b.get(), a.get(), b.get()}, call);
    CHECK(asked() == graph);
    // The last kernel writes elsewhere, and one reads something else.
    plan({other.get()}, {a.get(), b.get(), a.get(), b.get()}, call);
    CHECK(asked() == Lines{"update 2", graph.front()});
    plan({other.get()}, {a.get(), c.get(), a.get(), b.get()}, call);
    const auto changed = asked();
    REQUIRE(changed.size() == 2);
    CHECK(changed[0].starts_with("update "));
    CHECK(changed[1] == graph.front());
    call.stream = reinterpret_cast<void*>(8);
    plan({d.get()}, {a.get(), b.get(), a.get(), b.get()}, call);
    CHECK(asked() == Lines(3, "launch on device 0 stream 8"));
    call.stream = reinterpret_cast<void*>(7);
    capture(true);
    plan({d.get()}, {a.get(), b.get(), a.get(), b.get()}, call);
    capture(false);
    CHECK(asked() == single);
    CHECK_THROWS_AS(plan({d.get()}, {a.get(), b.get(), a.get(), nullptr}, call), ShapeError);
    CHECK(asked().empty());
  }
  CHECK(asked() == Lines{"drop a graph"});
  options.graph_kernels = 0;
  Runtime none(options);
  const auto plan = make(none);
  asked();
  for (int k = 0; k < 3; ++k) {
    plan({d.get()}, {a.get(), b.get(), a.get(), b.get()}, call);
    CHECK(asked() == single);
  }
  options.graph_kernels = -2;
  CHECK_THROWS_AS(Runtime(options), PlanError);
}

TEST_CASE("one plan on several devices: its kernels are loaded where tensors are, once") {
  if (no_compiler()) return;
  Runtime runtime(in_memory());
  const auto plan = chain(runtime);
  const Memory a(kBytes, 1), b(kBytes, 1), c(kBytes, 1), d(kBytes, 1), workspace(kBytes, 1), elsewhere(kBytes, 0);
  Call call;
  call.workspace = workspace.get();
  call.workspace_bytes = kBytes;
  const cuda::OnDevice on_device(1);
  asked();
  plan({d.get()}, {a.get(), b.get(), c.get()}, call);
  const Lines launches(2, "launch on device 1 stream 0");
  const auto first = asked();
  CHECK(first.front() == "load on device 1");
  CHECK(Lines(first.end() - 2, first.end()) == launches);
  plan({d.get()}, {a.get(), b.get(), c.get()}, call);
  CHECK(asked() == launches);
  CHECK_THROWS_WITH(
      plan({elsewhere.get()}, {a.get(), b.get(), c.get()}, call),
      Catch::Matchers::ContainsSubstring("belongs to device 1, other tensors of this call to device 0") ||
          Catch::Matchers::ContainsSubstring("belongs to device 0, other tensors of this call to device 1"));
  CHECK(asked().empty());
}

TEST_CASE("kernels are loaded ahead of a capture, and not on devices of another kind") {
  if (no_compiler()) return;
  Runtime runtime(in_memory());
  const auto plan = chain(runtime, {false, true, true});
  const Memory a(kBytes, 1), b(kBytes, 1), c(kBytes, 1), d(kBytes, 1);
  plan.load(1);
  const cuda::OnDevice on_device(1);
  const std::vector<const void*> constants = {b.get(), c.get()};
  asked();
  const auto packed = plan.pack(constants);
  CHECK(packed.bytes() == static_cast<std::int64_t>(kBytes));  // the product of both
  for (const auto& line : asked()) CHECK(line.find("on device 1") != std::string::npos);
  Call call;
  call.packed = &packed;
  plan(d.get(), a.get(), call);
  CHECK(asked() == Lines{"launch on device 1 stream 0"});
  CHECK_THROWS_WITH(plan.load(2), Catch::Matchers::ContainsSubstring("another architecture"));
  CHECK_THROWS_WITH(plan.load(3), Catch::Matchers::ContainsSubstring("no CUDA device 3"));
}

TEST_CASE("tensor maps are encoded for the pointers of a call, and again where these change") {
  if (no_compiler()) return;
  Runtime runtime(in_memory());
  constexpr std::int64_t kRows = 128, kDeep = 264;
  constexpr auto kHalfBytes = static_cast<std::size_t>(2 * kRows * kDeep);
  auto of = [](std::int64_t rows, std::int64_t columns, DType type) {
    auto layout = Layout::row_major(type, {rows, columns});
    layout.alignment = 256;
    return layout;
  };
  EinsumOptions options;
  options.device = Device::gpu;
  options.gpu = 0;
  options.schedule =
      "tile a:64; tile b:64; tile c:64; order task a0 c0 sum b0; stage A at b0 maps a b; stage B at b0 maps c b;"
      "atom wgmma_bf16 rows a columns c depth b warps 4x1 runs 1x1x2; pipeline b0 3";
  const std::vector<Layout> inputs(2, of(kRows, kDeep, DType::bf16));
  const auto plan = runtime.plan_einsum("ab,cb->ac", inputs, of(kRows, kRows, DType::f32), options);
  const Memory a(kHalfBytes, 0), b(kHalfBytes, 0), other(kHalfBytes, 0), c(4 * kRows * kRows, 0);
  const std::string map = "map of 2 dimensions, type 1, swizzle 3, 264 neighbours",
                    launch = "launch on device 0 stream 0";
  asked();
  plan({c.get()}, {a.get(), b.get()});
  CHECK(asked() == Lines{map, map, launch});
  plan({c.get()}, {a.get(), b.get()});
  CHECK(asked() == Lines{launch});
  plan({c.get()}, {other.get(), b.get()});
  CHECK(asked() == Lines{map, launch});
  CHECK_THROWS_AS(plan({c.get()}, {static_cast<char*>(a.get()) + 16, b.get()}), ShapeError);

  // In a graph of two kernels, of which the second one multiplies what the first one has copied to the workspace.
  auto in_graph = in_memory();
  in_graph.graph_kernels = 2;
  Runtime other_runtime(in_graph);
  options.schedule =
      "copy A a b; tile a:32; tile b:16; tile c:32; order task a0 c0 sum b0; stage A at b0 maps a b pad 2;"
      "stage B at b0 maps c b pad 2; atom m16n8k8_f64 rows a columns c depth b warps 1x1 runs 1x1x2; pipeline b0 3";
  const std::vector<Layout> matrices(2, kMatrix);
  const auto copied = other_runtime.plan_einsum("ab,cb->ac", matrices, kMatrix, options);
  REQUIRE(copied.info().steps == 2);
  const auto bytes = static_cast<std::size_t>(copied.info().workspace_bytes);
  const Memory workspace(bytes, 0);
  Call call;
  call.workspace = workspace.get();
  call.workspace_bytes = bytes;
  const std::string graph = "launch a graph on device 0 stream 0",
                    rows = "map of 3 dimensions, type 4, swizzle 0, 16 neighbours";
  asked();
  copied({c.get()}, {a.get(), b.get()}, call);
  CHECK(asked() == Lines{launch, rows, rows, launch});
  copied({c.get()}, {a.get(), b.get()}, call);
  const auto made = asked();
  REQUIRE(made.size() == 2);
  CHECK(made[0].starts_with("graph on device 0, 0 after, 1 after"));
  CHECK(made[1] == graph);
  copied({c.get()}, {a.get(), other.get()}, call);
  CHECK(asked() == Lines{rows, "update 1", graph});
  copied({c.get()}, {other.get(), other.get()}, call);
  CHECK(asked() == Lines{"update 0", graph});
}
