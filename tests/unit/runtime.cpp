// Plans of several kernels and several tensors: what they count, share and refuse.
#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "lower/einsum.hpp"
#include "ricci/ricci.hpp"
#include "runtime/program_counts.hpp"
#include "runtime/runtime_impl.hpp"
#include "small_stack.hpp"

namespace runtime_test {

using namespace ricci;
using Catch::Matchers::StartsWith;

namespace {

Layout f64(std::vector<std::int64_t> extents) { return Layout::row_major(DType::f64, std::move(extents)); }

ir::EinsumProblem problem(const char* spec, std::vector<Layout> inputs) {
  auto output = einsum_output(spec, inputs);
  return {Spec::parse(spec), std::move(inputs), std::move(output)};
}

/// The text of the error that a call throws; "nothing" when it throws none.
template <class Call>
std::string text_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("bytes and flops that an einsum cannot do without") {
  const auto real = runtime::count_program(ir::lower(problem("ab,bc->ac", {f64({3, 4}), f64({4, 5})})));
  CHECK(real.bytes == 8 * (12 + 20 + 15));
  CHECK(real.flops == 2 * 3 * 4 * 5);
  const auto c = [](std::vector<std::int64_t> e) { return Layout::row_major(DType::c128, std::move(e)); };
  const auto complex = runtime::count_program(ir::lower(problem("ab,bc->ac", {c({3, 4}), c({4, 5})})));
  CHECK(complex.bytes == 16 * (12 + 20 + 15));
  CHECK(complex.flops == 8 * 3 * 4 * 5);
  const auto i = [](std::vector<std::int64_t> e) { return Layout::row_major(DType::i64, std::move(e)); };
  const auto whole = runtime::count_program(ir::lower(problem("ab,bc->ac", {i({3, 4}), i({4, 5})})));
  CHECK(whole.flops == 0);
  CHECK(whole.operations == 2 * 3 * 4 * 5);
  // A diagonal is read once; a broadcast element too.
  CHECK(runtime::count_program(ir::lower(problem("aa->a", {f64({6, 6})}))).bytes == 8 * (6 + 6));
  CHECK(runtime::count_program(ir::lower(problem("ab->ba", {Layout::strided(DType::f64, {4, 5}, {0, 1})}))).bytes ==
        8 * (5 + 20));
  // What depends on fewer indices is done for those alone: b * c once for each b and c, then times a.
  CHECK(runtime::count_program(ir::lower(problem("a,b->ab", {f64({7}), f64({9})}))).flops == 7 * 9);
}

TEST_CASE("workspace is no compulsory traffic") {
  const auto sequence = ir::lower_einsum(problem("ab,bc,cd->ad", {f64({3, 4}), f64({4, 5}), f64({5, 2})}));
  REQUIRE(sequence.steps.size() == 2);
  const auto work = runtime::count_program(sequence);
  CHECK(work.bytes == 8 * (12 + 20 + 10 + 6));
  CHECK(work.flops == 2 * 4 * 5 * 2 + 2 * 3 * 4 * 2);
}

TEST_CASE("a stencil reads each point once, a symmetric pair of accesses too") {
  auto program =
      Program::parse("index i = 100\ninput x(102) : f64\noutput y(i) : f64\ny(i) = x(i+0) + x(i+1) + x(i+2)\n");
  RuntimeOptions options;
  options.cache_dir = "off";
  Runtime runtime(std::move(options));
  CHECK(runtime.plan_program(program).info().compulsory_bytes == 8 * (102 + 100));
  program = Program::parse("index i j = 9\ninput x(i, j) : f64\noutput y(i, j) : f64\ny(i, j) = x(i, j) + x(j, i)\n");
  CHECK(runtime.plan_program(program).info().compulsory_bytes == 8 * (81 + 81));
  program = Program::parse("index i = 9\ninout y(i) : f64\ny(i) += 1\n");
  CHECK(runtime.plan_program(program).info().compulsory_bytes == 8 * (9 + 9));
}

TEST_CASE("views of one buffer that never meet are allowed, for any number of operands") {
  std::vector<double> memory(64);
  std::iota(memory.begin(), memory.end(), 1.0);
  // Every third element: the operands and the output lie between each other.
  const auto third = Layout::strided(DType::f64, {10}, {3});
  const Layout inputs[] = {third, third};
  const auto plan = Runtime::global().plan_einsum("a,a->a", inputs, third);
  const void* from[] = {memory.data(), memory.data() + 1};
  void* to[] = {memory.data() + 2};
  plan(to, from);
  for (std::size_t k = 0; k < 10; ++k) CHECK(memory[3 * k + 2] == memory[3 * k] * memory[3 * k + 1]);
  const auto before = memory;
  for (const std::size_t shift : {0u, 1u, 3u, 4u, 27u}) {
    to[0] = memory.data() + shift;
    const std::string other = shift % 3 == 0 ? "A" : "B";
    CHECK_THAT(text_of([&] { plan(to, from); }), StartsWith("input " + other + " and output C overlap"));
  }
  CHECK(memory == before);
  to[0] = memory.data() + 30;  // past the last element of A, among none of B
  CHECK_NOTHROW(plan(to, from));
  from[1] = memory.data();  // inputs may be the same
  CHECK_NOTHROW(plan(to, from));
}

TEST_CASE("counts of pointers and parameters, factors of programs") {
  const Layout inputs[] = {f64({3, 4}), f64({4, 5})};
  const auto plan = Runtime::global().plan_einsum("ab,bc->ac", inputs);
  std::array<double, 60> memory{};
  const void* from[] = {memory.data(), memory.data() + 12};
  void* to[] = {memory.data() + 32};
  const void* one[] = {memory.data()};
  CHECK(text_of([&] { plan(to, one); }) == "this plan writes 1 (C) and reads 2 (A, B); 1 and 1 pointers were given");
  const Scalar two[] = {2};
  Call call;
  call.params = two;
  CHECK(text_of([&] { plan(to, from, call); }) == "this plan takes 0 parameters (none); 1 values were given");

  const auto program = Program::parse("index i = 4\nparam s : i32\noutput y(i) : i32\ny(i) = s + cast(i32, i)\n");
  const auto counted = Runtime::global().plan_program(program);
  std::array<std::int32_t, 4> y{};
  void* out[] = {y.data()};
  const std::span<const void* const> none;
  CHECK(text_of([&] { counted(out, none); }) == "this plan takes 1 parameters (s); 0 values were given");
  call.params = two;
  call.alpha = 2;
  CHECK_THAT(text_of([&] { counted(out, none, call); }), StartsWith("alpha and beta are factors of permutations"));
  call.alpha.reset();
  const Scalar half[] = {0.5};
  call.params = half;
  CHECK(text_of([&] { counted(out, none, call); }) ==
        "parameter s = 0.5 is not a whole number below 2^63, but it is i32");
  CHECK(y == std::array<std::int32_t, 4>{});
  call.params = two;
  counted(out, none, call);
  CHECK(y == std::array<std::int32_t, 4>{2, 3, 4, 5});
}

TEST_CASE("an empty sum writes its zeros, an empty result nothing") {
  const Layout inputs[] = {f64({3, 0}), f64({0, 5})};
  const auto zeros = Runtime::global().plan_einsum("ab,bc->ac", inputs);
  std::array<double, 15> c{};
  c.fill(7);
  void* to[] = {c.data()};
  const void* from[] = {nullptr, nullptr};  // no element of them is touched
  zeros(to, from);
  CHECK(std::count(c.begin(), c.end(), 0.0) == 15);
  const Layout nothing[] = {f64({0, 4}), f64({4, 5})};
  const auto empty = Runtime::global().plan_einsum("ab,bc->ac", nothing);
  CHECK(empty.info().steps == 0);
  CHECK(empty.info().origin == "none");
  to[0] = nullptr;
  CHECK_NOTHROW(empty(to, from));
}

TEST_CASE("plans of one canonical form share a kernel, whoever asks for it") {
  RuntimeOptions options;
  options.cache_dir = "off";
  Runtime runtime(std::move(options));
  const Layout ab_bc[] = {f64({6, 7}), f64({7, 8})}, bc_ab[] = {f64({7, 8}), f64({6, 7})};
  const auto first = runtime.plan_einsum("ab,bc->ac", ab_bc);
  CHECK(first.info().origin == "compiled");
  const auto renamed = runtime.plan_einsum("xk,ky->xy", ab_bc);
  CHECK(renamed.info().origin == "memory");
  const auto swapped = runtime.plan_einsum("bc,ab->ac", bc_ab);
  CHECK(swapped.key() == first.key());
  const auto program = Program::parse(
      "index a = 6\nindex b = 7\nindex c = 8\ninput A(a, b) : f64\ninput B(b, c) : f64\noutput C(a, c) : f64\n"
      "C(a, c) = sum(b, A(a, b) * B(b, c))\n");
  CHECK(runtime.plan_program(program).key() == first.key());
}

TEST_CASE("a plan runs on no more threads than it asks for") {
  const auto threads_of_process = [] {
    namespace fs = std::filesystem;
    return static_cast<int>(std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator()));
  };
  RuntimeOptions options;
  options.cache_dir = "off";
  options.threads = 6;
  Runtime runtime(std::move(options));
  const auto input = f64({300, 400});
  std::vector<double> a(300 * 400), b(a.size());
  std::iota(a.begin(), a.end(), 0);
  const int before = threads_of_process();
  // Pools of 2, 3 and 6 threads, each made when it is first asked for; the caller is one of each.
  const std::pair<int, int> steps[] = {{1, 0}, {2, 1}, {3, 3}, {2, 3}, {0, 8}};
  for (const auto& [threads, more] : steps) {
    PermuteOptions permute;
    permute.threads = threads;
    const auto plan = runtime.plan_permute("ab->ba", input, permute);
    std::fill(b.begin(), b.end(), -1);
    plan(b.data(), a.data());
    CHECK(b[2] == a[2 * 400]);
    CHECK(b[300 * 400 - 2] == a[299 * 400 - 1]);
    CHECK(threads_of_process() - before == more);
  }
}

namespace {

/// Names of all schedules of a permutation, as the refusal of an unknown one lists them.
std::vector<std::string> schedules_of(Runtime& runtime, const char* spec, const Layout& input, const Layout& output) {
  PermuteOptions permute;
  permute.schedule = "none such";
  const auto all = text_of([&] { runtime.plan_permute(spec, input, output, permute); });
  std::istringstream lines(all.substr(all.find('\n') + 1));
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find_first_not_of(' ');
    if (first != std::string::npos) names.push_back(line.substr(first));
  }
  return names;
}

}  // namespace

TEST_CASE("lines that wait for the next tile are whole, in whatever parts tiles are run") {
  RuntimeOptions options;
  options.cache_dir = "off";
  options.threads = 7;
  Runtime runtime(std::move(options));
  const struct {
    DType type;
    std::vector<std::int64_t> extents;
  } problems[] = {{DType::u8, {513, 3, 1021}},
                  {DType::bf16, {517, 3, 411}},
                  {DType::f32, {219, 5, 333}},
                  {DType::f64, {131, 5, 203}},
                  {DType::c128, {77, 5, 130}}};
  for (const auto& [type, extents] : problems) {
    const auto input = Layout::row_major(type, extents),
               output = Layout::row_major(type, {extents[2], extents[0], extents[1]});
    const auto size = static_cast<std::size_t>(size_of(type));
    const auto n = [&](std::size_t k) { return static_cast<std::size_t>(extents[k]); };
    std::vector<unsigned char> from(n(0) * n(1) * n(2) * size), want(from.size());
    for (std::size_t k = 0; k < from.size(); ++k) from[k] = static_cast<unsigned char>(k * 7 + k / 251);
    for (std::size_t i = 0; i < n(0) * n(1); ++i) {
      for (std::size_t j = 0; j < n(2); ++j) {
        std::memcpy(&want[(j * n(0) * n(1) + i) * size], &from[(i * n(2) + j) * size], size);
      }
    }
    PermuteOptions permute;
    const int every = tests::kSanitized ? 44 : 11;
    int waited = 0, k = 0;
    for (const auto& name : schedules_of(runtime, "abc->cab", input, output)) {
      if (name.find("staged") == std::string::npos || name.find("kept") != std::string::npos || k++ % every != 0)
        continue;
      permute.schedule = name;
      INFO(permute.schedule);
      for (const int threads : {1, 2, 7}) {
        permute.threads = threads;
        const auto plan = runtime.plan_permute("abc->cab", input, output, permute);
        waited += plan.source().find("waiting") != std::string::npos;
        for (const std::size_t off : {std::size_t{0}, 3 * size}) {
          std::vector<unsigned char> to(want.size() + off + 1, 0x5a);
          // Tiles and lines lie in scratch memory: a kernel takes next to nothing of its caller's stack.
          tests::on_small_stack([&] { plan(to.data() + off, from.data()); });
          CHECK(std::equal(want.begin(), want.end(), to.begin() + static_cast<std::ptrdiff_t>(off)));
          CHECK(to.back() == 0x5a);
        }
      }
    }
    CHECK(waited > 0);
  }
}

TEST_CASE("complex numbers that are aligned to their parts alone") {
  RuntimeOptions options;
  options.cache_dir = "off";
  Runtime runtime(std::move(options));
  constexpr std::size_t kRows = 77, kColumns = 130;
  for (const auto type : {DType::c64, DType::c128}) {
    const auto part = static_cast<std::size_t>(size_of(type)) / 2;
    auto input = Layout::row_major(type, {kRows, kColumns}), output = Layout::row_major(type, {kColumns, kRows});
    input.alignment = output.alignment = static_cast<std::int64_t>(part);
    PermuteOptions permute;
    int tried = 0, k = 0;
    for (const auto& name : schedules_of(runtime, "ab->ba", input, output)) {
      if (name.find("sta") == std::string::npos || k++ % 9 != 0) continue;
      permute.schedule = name;
      INFO(permute.schedule);
      const auto plan = runtime.plan_permute("ab->ba", input, output, permute);
      std::vector<std::uint64_t> from(2 * kRows * kColumns + 2), to(from.size());
      auto* const a = reinterpret_cast<unsigned char*>(from.data()) + part;
      auto* const b = reinterpret_cast<unsigned char*>(to.data()) + part;
      for (std::size_t n = 0; n < 2 * part * kRows * kColumns; ++n) a[n] = static_cast<unsigned char>(n * 7 + n / 251);
      plan(b, a);
      bool same = true;
      for (std::size_t i = 0; i < kRows; ++i) {
        for (std::size_t j = 0; j < kColumns; ++j)
          same = same && std::memcmp(b + 2 * part * (j * kRows + i), a + 2 * part * (i * kColumns + j), 2 * part) == 0;
      }
      CHECK(same);
      ++tried;
    }
    CHECK(tried > 3);
  }
}

TEST_CASE("one schedule's name for several kernels") {
  const Layout inputs[] = {f64({3, 4}), f64({4, 5}), f64({5, 2})};
  EinsumOptions options;
  options.schedule = "no such schedule";
  CHECK_THROWS_AS(Runtime::global().plan_einsum("ab,bc,cd->ad", inputs, options), PlanError);
  const auto plain = Runtime::global().plan_einsum("ab,bc,cd->ad", inputs);
  for (const auto& candidate : plain.candidates()) {
    options.schedule = candidate.name;
    const auto plan = Runtime::global().plan_einsum("ab,bc,cd->ad", inputs, options);
    CHECK(plan.info().schedule.find(candidate.name) != std::string::npos);
  }
}

TEST_CASE("a contraction takes directives for a schedule") {
  const Layout inputs[] = {f64({20, 30}), f64({30, 24})};
  std::vector<double> a(600), b(720), c(480), d(480);
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = static_cast<double>(k % 7);
  for (std::size_t k = 0; k < b.size(); ++k) b[k] = static_cast<double>(k % 5);
  const void* in[] = {a.data(), b.data()};
  EinsumOptions options;
  void* out[] = {c.data()};
  Runtime::global().plan_einsum("ik,kj->ij", inputs, options)(out, in);
  // In canonical form rows are a, columns c, and b is summed over.
  options.schedule = "tile a:4; tile c:8; order task a0 c0; atom fma rows a columns c depth b lanes 8";
  const auto plan = Runtime::global().plan_einsum("ik,kj->ij", inputs, options);
  CHECK(plan.info().schedule == options.schedule);
  CHECK(plan.explain().find(options.schedule) != std::string::npos);
  out[0] = d.data();
  plan(out, in);
  CHECK(c == d);
  options.schedule = "tile a:4; tile c:8; order task a0 c0; atom fma rows a columns c depth z lanes 8";
  CHECK_THROWS_AS(Runtime::global().plan_einsum("ik,kj->ij", inputs, options), PlanError);
}

TEST_CASE("a contraction has the same bits for any number of threads") {
  RuntimeOptions options;
  options.cache_dir = "off";
  options.threads = 8;
  Runtime runtime(std::move(options));
  const struct {
    const char* spec;
    std::vector<std::int64_t> a, b;
  } problems[] = {{"ab,bc->ac", {70, 900}, {900, 90}},
                  {"ab,bc->ac", {9, 4000}, {4000, 11}},
                  {"abc,dbc->ad", {33, 40, 17}, {50, 40, 17}},
                  {"abcd,cefb->adef", {6, 30, 20, 9}, {20, 7, 12, 30}}};
  for (const auto& [spec, a_extents, b_extents] : problems) {
    for (const auto type : {DType::f32, DType::f64, DType::c128}) {
      INFO(spec << " in " << name(type));
      const Layout inputs[] = {Layout::row_major(type, a_extents), Layout::row_major(type, b_extents)};
      const auto part = is_complex(type) ? size_of(type) / 2 : size_of(type);
      const auto filled = [&](const Layout& layout) {
        std::vector<unsigned char> bytes(static_cast<std::size_t>(layout.elements() * size_of(type)));
        for (std::size_t k = 0; k < bytes.size() / static_cast<std::size_t>(part); ++k) {
          const double value = static_cast<double>(k * 7919 % 1009) / 503 - 1;
          const auto narrow = static_cast<float>(value);
          std::memcpy(&bytes[k * static_cast<std::size_t>(part)],
                      part == 4 ? static_cast<const void*>(&narrow) : &value, static_cast<std::size_t>(part));
        }
        return bytes;
      };
      const auto a = filled(inputs[0]), b = filled(inputs[1]);
      const auto output = einsum_output(spec, inputs);
      std::vector<unsigned char> first;
      for (const int threads : {1, 2, 3, 5, 8}) {
        EinsumOptions einsum;
        einsum.threads = threads;
        std::vector<unsigned char> c(static_cast<std::size_t>(output.elements() * size_of(type)));
        const void* const from[] = {a.data(), b.data()};
        void* const to[] = {c.data()};
        runtime.plan_einsum(spec, inputs, output, einsum)(to, from);
        if (threads == 1) first = c;
        CHECK(c == first);
      }
    }
  }
}

TEST_CASE("einsum and contract in one call, the second time without planning") {
  const Layout a = f64({2, 3}), b = f64({3, 2}), c = f64({2, 2});
  const double x[] = {1, 2, 3, 4, 5, 6}, y[] = {1, 0, 0, 1, 1, 1};
  double z[4] = {1, 1, 1, 1};
  EinsumOptions options;
  options.beta = 1;
  for (int k = 1; k <= 2; ++k) {
    contract("ab,bc->ac", a, x, b, y, c, z, options);
    const double expected[] = {4, 5, 10, 11};
    for (int e = 0; e < 4; ++e) CHECK(z[e] == 1 + k * expected[e]);
  }
  const Layout inputs[] = {a};
  const void* const from[] = {x};
  double sum = 0;
  einsum("ab->", inputs, from, f64({}), &sum);
  CHECK(sum == 21);
}

TEST_CASE("the interpreter takes what a plan takes") {
  const auto program = Program::parse(
      "index i = 3\nparam s : f64\ninput x(i) : f64\ninout y(i) : f64\ntemp t(i) : f64\noutput n() : f64\n"
      "t(i) = s * x(i)\ny(i) += t(i)\nn() = sum(i, t(i) * t(i))\n");
  const double x[] = {1, 2, 3};
  double y[] = {10, 20, 30}, n = 0, y2[] = {10, 20, 30}, n2 = 0;
  void *outputs[] = {y, &n}, *oracle[] = {y2, &n2};
  const void* inputs[] = {x};
  const Scalar params[] = {2};
  Call call;
  call.params = params;
  const auto plan = Runtime::global().plan_program(program);
  plan(outputs, inputs, call);
  Runtime::interpret_program(program, oracle, inputs, params);
  for (int k = 0; k < 3; ++k) {
    CHECK(y[k] == 10 * (k + 1) + 2 * x[k]);
    CHECK(y2[k] == y[k]);
  }
  CHECK(n == 4 * 14);
  CHECK(n2 == n);
  CHECK_THROWS_AS(Runtime::interpret_program(program, oracle, inputs), ShapeError);
}

TEST_CASE("a choice of the model is remembered for its own problem, target and threads") {
  const auto input = f64({48, 56, 40});
  Runtime runtime;
  const auto schedule = [&](Runtime& of, const char* spec, int sm, int threads) {
    PermuteOptions options;
    options.device = sm > 0 ? Device::gpu : Device::cpu;
    options.target_sm = sm;
    options.threads = threads;
    return of.plan_permute(spec, input, options).info().schedule;
  };
  for (int round = 0; round < 2; ++round) {
    for (const char* spec : {"abc->cab", "abc->cba"}) {
      for (const auto& [sm, threads] : {std::pair{90, 0}, {75, 0}, {0, 1}, {0, 2}}) {
        INFO(spec << " sm " << sm << " threads " << threads);
        Runtime fresh;
        CHECK(schedule(runtime, spec, sm, threads) == schedule(fresh, spec, sm, threads));
      }
    }
  }
}

TEST_CASE("a long call tells how far it has come, and ends where it is told to") {
  // 1.6 * 10^9 pairs: most of a second.
  std::vector<std::uint64_t> a(40000);
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = k * k * k;
  const auto program = Program::parse(
      "index i j = 40000\ninput a(i) : u64\noutput n(i) : i64\nn(i) = sum(j, cast(i64, popcount(a(i) and a(j)) >= "
      "9))\n");
  for (const int threads : {1, 2}) {
    PlanOptions options;
    options.threads = threads;
    const auto plan = Runtime::global().plan_program(program, options);
    std::vector<std::int64_t> plain(a.size()), watched(a.size());
    plan(plain.data(), a.data());
    std::vector<double> shares;
    Call call;
    call.progress = [&](double share) { shares.push_back(share); };
    plan(watched.data(), a.data(), call);
    CHECK(watched == plain);
    CHECK(shares.size() > 5);
    CHECK(std::is_sorted(shares.begin(), shares.end()));
    CHECK(shares.front() > 0);
    CHECK(shares.front() < 0.5);
    CHECK(shares.back() == 1);

    struct Enough {};
    shares.clear();
    call.progress = [&](double share) {
      shares.push_back(share);
      throw Enough{};
    };
    CHECK_THROWS_AS(plan(watched.data(), a.data(), call), Enough);
    CHECK(shares.size() == 1);
  }
}

}  // namespace runtime_test
