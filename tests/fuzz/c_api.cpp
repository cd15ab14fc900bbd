// Calls of the C interface with one to three arguments mutated: each gives a status, none a crash, a hang or much
// memory. Arrays end where unreadable pages begin, so that an element past a count is a crash.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "c_api_by_value.h"
#include "catch.hpp"
#include "fuzz/random_problem.hpp"
#include "fuzz/random_tensor.hpp"

namespace {

using namespace ricci;
using fuzz::Generator;

constexpr double kMostSeconds = 10;       // of one call
constexpr long kMostKilobytes = 1 << 20;  // of the process

/// An array that ends at a page that must not be touched.
template <class T>
class Guarded {
 public:
  explicit Guarded(const std::vector<T>& values) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto bytes = values.size() * sizeof(T), room = (bytes + page - 1) / page * page;
    size_ = room + page;
    base_ = static_cast<char*>(::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED || ::mprotect(base_ + room, page, PROT_NONE) != 0) throw std::bad_alloc();
    begin_ = base_ + room - bytes;
    if (bytes > 0) std::memcpy(begin_, values.data(), bytes);
  }
  ~Guarded() { ::munmap(base_, size_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  T* get() const { return reinterpret_cast<T*>(begin_); }

 private:
  char* base_ = nullptr;
  char* begin_ = nullptr;
  std::size_t size_ = 0;
};

/// Numbers at which things end, and some that are right.
int odd_int(Generator& random) {
  static constexpr int kNumbers[] = {INT_MIN, -1000, -2, -1, 0,       1,       2,           3,      4,
                                     7,       14,    32, 33, 1 << 20, 1 << 30, INT_MAX - 1, INT_MAX};
  return kNumbers[fuzz::pick(random, 0, std::size(kNumbers) - 1)];
}

std::int64_t odd_long(Generator& random) {
  static constexpr std::int64_t kNumbers[] = {
      INT64_MIN,        -(INT64_C(1) << 58), -3,       -1, 0, 1, 2, 3, 5, 16, 17, INT64_C(1) << 31,
      INT64_C(1) << 58, INT64_C(1) << 62,    INT64_MAX};
  return kNumbers[fuzz::pick(random, 0, std::size(kNumbers) - 1)];
}

template <class Enum>
void set_number(Enum& enumerator, int number) {
  std::memcpy(&enumerator, &number, sizeof number);
}

/// A text with a few of its bytes gone, doubled or others.
std::string odd_text(Generator& random, std::string text) {
  static constexpr char kBytes[] = "ab,.>-+*/()=1 9\n\t\x80\xff_:#";
  for (auto times = fuzz::pick(random, 0, 3); times > 0 && !text.empty(); --times) {
    const auto at = static_cast<std::size_t>(fuzz::pick(random, 0, static_cast<std::int64_t>(text.size()) - 1));
    switch (fuzz::pick(random, 0, 2)) {
      case 0:
        text.erase(at, 1);
        break;
      case 1:
        text.insert(at, text.substr(at, 8));
        break;
      default:
        text[at] = kBytes[fuzz::pick(random, 0, static_cast<std::int64_t>(sizeof kBytes) - 2)];
    }
  }
  return text;
}

/// A layout and its arrays. Those have as many elements as the largest rank, so that a rank up to there reads what is
/// there; a larger one may read nothing.
struct OddLayout {
  static constexpr int kMostAxes = 32;

  OddLayout(Generator& random, std::vector<std::int64_t> shape, bool mutate) {
    const auto rank = static_cast<int>(shape.size());
    shape.resize(kMostAxes, 1);
    std::vector<std::int64_t> steps(kMostAxes, 1);
    for (int k = rank - 1; k > 0; --k) steps[static_cast<std::size_t>(k - 1)] = steps[static_cast<std::size_t>(k)] * 5;
    layout = {RICCI_F64, rank, nullptr, nullptr, 0};
    bool no_extents = false, strides = false;
    if (mutate) {
      switch (fuzz::pick(random, 0, 5)) {
        case 0:
          set_number(layout.type, odd_int(random));
          break;
        case 1:
          layout.rank = odd_int(random);
          break;
        case 2:
          no_extents = true;
          break;
        case 3:
          shape[static_cast<std::size_t>(fuzz::pick(random, 0, 3))] = odd_long(random);
          break;
        case 4:
          strides = true;
          steps[static_cast<std::size_t>(fuzz::pick(random, 0, 3))] = odd_long(random);
          break;
        default:
          layout.alignment = odd_long(random);
      }
    }
    extents_ = std::make_unique<Guarded<std::int64_t>>(shape);
    strides_ = std::make_unique<Guarded<std::int64_t>>(steps);
    layout.extents = no_extents ? nullptr : extents_->get();
    layout.strides = strides ? strides_->get() : nullptr;
  }

  ricci_layout layout{};

 private:
  std::unique_ptr<Guarded<std::int64_t>> extents_, strides_;
};

bool is_status(int status) { return status <= RICCI_OK && status >= RICCI_ERROR_INTERNAL; }

/// Options of a kind, a few of them set to odd values, which may be refused; null now and then.
class OddOptions {
 public:
  OddOptions(Generator& random, int kind) {
    // Nothing that measures: that takes seconds.
    static constexpr const char* kKeys[] = {"device",    "gpu",   "target", "schedule", "threads", "precision",
                                            "measured",  "alpha", "beta",   "conj",     "path",    "mode",
                                            "cache-dir", "pin",   "",       "alpha ",   "\xff"};
    static constexpr const char* kValues[] = {"cpu",    "gpu",      "0",        "-1",         "1",
                                              "4",      "any",      "all",      "1,2",        "3",
                                              ",",      "i",        "-",        "sm_90",      "flops",
                                              "memory", "bf16",     "i32",      "estimate",   "untuned",
                                              "1e999",  "nan",      "inf-infi", "2147483648", "-9223372036854775809",
                                              "",       "\xff\xfe", "4096"};
    if (fuzz::pick(random, 0, 19) == 0) kind = odd_int(random);
    if (create_options_by_number(kind, &options_) != RICCI_OK) return;
    for (auto times = fuzz::pick(random, 0, 3); times > 0; --times) {
      const auto* key = kKeys[fuzz::pick(random, 0, std::size(kKeys) - 1)];
      const auto* value = kValues[fuzz::pick(random, 0, std::size(kValues) - 1)];
      const auto null = fuzz::pick(random, 0, 39);
      const int status = ricci_options_set(options_, null == 0 ? nullptr : key, null == 1 ? nullptr : value);
      if (!is_status(status) || status == RICCI_ERROR_INTERNAL) wrong_ = std::string("options: ") + key + "=" + value;
    }
  }
  ~OddOptions() { ricci_options_destroy(options_); }
  OddOptions(const OddOptions&) = delete;
  OddOptions& operator=(const OddOptions&) = delete;
  const ricci_options* get() const { return options_; }
  const std::string& wrong() const { return wrong_; }

 private:
  ricci_options* options_ = nullptr;
  std::string wrong_;
};

/// What is wrong with what a planning call gave; nothing if it is sound.
std::string judge(int status, ricci_plan* plan, const OddOptions& options) {
  std::string wrong = options.wrong();
  if (!is_status(status)) wrong = "no status: " + std::to_string(status);
  if ((status == RICCI_OK) != (plan != nullptr)) wrong = "a plan and a failure, or neither";
  if (status != RICCI_OK && *ricci_last_error() == '\0') wrong = "a failure without a text";
  if (status != RICCI_OK && ricci_last_error_status() != status) wrong = "a failure with another status";
  if (status == RICCI_ERROR_INTERNAL) wrong = std::string("a defect: ") + ricci_last_error();
  ricci_plan_release(plan);
  return wrong;
}

std::string permute(Generator& random) {
  const auto hit = fuzz::pick(random, 0, 3);
  const OddLayout input(random, {2, 3, 4}, hit == 0),
      output(random, {4, 2, 3}, hit == 1 || fuzz::pick(random, 0, 9) == 0);
  const OddOptions options(random, RICCI_OPTIONS_PERMUTE);
  const std::string spec = hit == 2 ? odd_text(random, "abc->cab") : "abc->cab";
  const auto null = fuzz::pick(random, 0, 19);
  ricci_plan* plan = nullptr;
  const auto status =
      ricci_plan_permute(nullptr, null == 0 ? nullptr : spec.c_str(), null == 1 ? nullptr : &input.layout,
                         null == 2 ? nullptr : &output.layout, options.get(), null == 4 ? nullptr : &plan);
  return judge(status, plan, options);
}

std::string einsum(Generator& random) {
  const auto hit = fuzz::pick(random, 0, 5);
  const OddLayout a(random, {2, 3}, hit == 0), b(random, {3, 4}, hit == 1), output(random, {2, 4}, hit == 2);
  const Guarded<ricci_layout> inputs({a.layout, b.layout});
  const OddOptions options(random, RICCI_OPTIONS_EINSUM);
  // The spec has two operands in every case: a caller whose count is the spec's has as many layouts.
  const int count = hit == 3 ? odd_int(random) : 2;
  const auto null = fuzz::pick(random, 0, 19);
  ricci_plan* plan = nullptr;
  const auto status = ricci_plan_einsum(
      nullptr, null == 0 ? nullptr : "ab,bc->ac", count, null == 1 ? nullptr : inputs.get(),
      fuzz::pick(random, 0, 1) == 0 ? nullptr : &output.layout, options.get(), null == 3 ? nullptr : &plan);
  return judge(status, plan, options);
}

std::string program(Generator& random) {
  static const std::string kText =
      "index i j\nparam s : f64\ninput x(i, j) : f64\noutput y(i) : f64\ny(i) = sum(j, s * x(i, j)) + 1\n";
  const auto hit = fuzz::pick(random, 0, 6);
  const std::string text = hit == 0 ? odd_text(random, kText) : kText;
  std::vector<ricci_extent> list = {{"i", 5}, {"j", 3}};
  if (hit == 1) list[0].extent = odd_long(random);
  if (hit == 2) list[1].index = nullptr;
  if (hit == 3) list[1].index = "nothing";
  const Guarded<ricci_extent> extents(list);
  const int count =
      hit == 4 ? std::array{INT_MIN, -1, 0, 1, 3, 1 << 30, INT_MAX}[static_cast<std::size_t>(fuzz::pick(random, 0, 6))]
               : 2;
  const OddOptions options(random, RICCI_OPTIONS_PROGRAM);
  const auto null = fuzz::pick(random, 0, 19);
  ricci_plan* plan = nullptr;
  const int status =
      ricci_plan_program(nullptr, null == 0 ? nullptr : text.c_str(), count, null == 1 ? nullptr : extents.get(),
                         options.get(), null == 2 ? nullptr : &plan);
  return judge(status, plan, options);
}

/// Calls of a plan that is sound, with pointers and sizes that are not.
std::string execute(Generator& random) {
  static ricci_plan* const plan = [] {
    const std::int64_t ab[] = {2, 3}, bc[] = {3, 4}, cd[] = {4, 2};
    const ricci_layout inputs[] = {
        {RICCI_F64, 2, ab, nullptr, 0}, {RICCI_F64, 2, bc, nullptr, 0}, {RICCI_F64, 2, cd, nullptr, 0}};
    ricci_plan* made = nullptr;
    ricci_plan_einsum(nullptr, "ab,bc,cd->ad", 3, inputs, nullptr, nullptr, &made);
    return made;
  }();
  if (plan == nullptr) return std::string("no plan: ") + ricci_last_error();
  alignas(256) static std::array<unsigned char, 4096> workspace;
  static const Guarded<double> a(std::vector<double>(6, 1)), b(std::vector<double>(12, 1)),
      c(std::vector<double>(8, 1)), d(std::vector<double>(4, 0));
  std::array<void*, 1> outputs = {d.get()};
  std::array<const void*, 3> inputs = {a.get(), b.get(), c.get()};
  ricci_call call = RICCI_CALL;
  const ricci_scalar factor = {2, 0};
  switch (fuzz::pick(random, 0, 9)) {
    case 0:
      outputs[0] = nullptr;
      break;
    case 1:
      inputs[static_cast<std::size_t>(fuzz::pick(random, 0, 2))] = nullptr;
      break;
    case 2:
      outputs[0] = b.get() + fuzz::pick(random, 0, 8);
      break;
    case 3:
      outputs[0] = reinterpret_cast<char*>(d.get()) - fuzz::pick(random, 0, 7);
      break;
    case 4:
      call.workspace = workspace.data() + fuzz::pick(random, 0, 2) * 128;
      call.workspace_bytes = std::min<std::int64_t>(odd_long(random), 2048);
      break;
    case 5:
      call.workspace_bytes = odd_long(random);
      break;
    case 6: {
      int rank = 0;
      ricci_dtype type = RICCI_I8;
      const bool full = fuzz::pick(random, 0, 1) == 0;
      (void)ricci_plan_output_shape(full ? plan : nullptr, &type, fuzz::pick(random, 0, 1) == 0 ? &rank : nullptr,
                                    nullptr);
      (void)ricci_plan_input_name(full ? plan : nullptr, odd_int(random));
      (void)ricci_plan_output_name(full ? plan : nullptr, odd_int(random));
      (void)ricci_plan_param_name(full ? plan : nullptr, odd_int(random));
      (void)status_name_by_number(odd_int(random));
      break;
    }
    case 7:
      call.size = std::min<std::int64_t>(odd_long(random), sizeof call);
      break;
    case 8:
      (fuzz::pick(random, 0, 1) == 0 ? call.alpha : call.beta) = &factor;
      break;
    default:
      break;
  }
  const auto null = fuzz::pick(random, 0, 9);
  int status = 0;
  if (null == 0) {
    status = ricci_plan_execute(fuzz::pick(random, 0, 1) == 0 ? plan : nullptr, outputs[0], inputs[0], nullptr);
    if (status == RICCI_OK) return "a plan of three inputs took one";
  } else {
    status = ricci_execute(null == 1 ? nullptr : plan, null == 2 ? nullptr : outputs.data(),
                           null == 3 ? nullptr : inputs.data(), null == 4 ? nullptr : &call);
  }
  if (!is_status(status) || status == RICCI_ERROR_INTERNAL) return "status " + std::to_string(status);
  return {};
}

std::string attack(std::uint64_t seed) {
  Generator random(seed);
  switch (seed % 4) {
    case 0:
      return permute(random);
    case 1:
      return einsum(random);
    case 2:
      return program(random);
    default:
      return execute(random);
  }
}

/// What the child that makes the calls tells its parent.
struct Shared {
  std::atomic<std::uint64_t> seed{0};
  std::atomic<bool> wrong{false};
  char text[4096] = {};
};

int child(Shared& shared, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    shared.seed = seed;
    const auto wrong = attack(seed);
    if (wrong.empty()) continue;
    std::snprintf(shared.text, sizeof shared.text, "%s", wrong.c_str());
    shared.wrong = true;
    return 1;
  }
  return 0;
}

}  // namespace

TEST_CASE("calls of the C interface with mutated arguments give a status and nothing worse") {
  const auto first = fuzz::first_seed(900001);
  const auto count = static_cast<std::uint64_t>(fuzz::cases(3000));
  std::printf("%llu calls of the C interface from seed %llu\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(first));
  std::fflush(stdout);
  void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto* const shared = new (memory) Shared;
  const pid_t process = ::fork();
  REQUIRE(process >= 0);
  if (process == 0) ::_exit(child(*shared, first, count));
  int status = 0;
  rusage usage{};
  auto since = std::chrono::steady_clock::now();
  std::uint64_t at = 0;
  bool hangs = false;
  while (::wait4(process, &status, WNOHANG, &usage) == 0) {
    const auto now = std::chrono::steady_clock::now();
    if (at != shared->seed) {
      at = shared->seed;
      since = now;
    } else if (std::chrono::duration<double>(now - since).count() > kMostSeconds) {
      hangs = true;
      ::kill(process, SIGKILL);
      ::wait4(process, &status, 0, &usage);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  INFO("RICCI_FUZZ_SEED=" << shared->seed << " RICCI_FUZZ_CASES=1: " << shared->text);
  CHECK_FALSE(hangs);
  CHECK_FALSE(WIFSIGNALED(status));
  CHECK_FALSE(shared->wrong);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(usage.ru_maxrss < kMostKilobytes);
  ::munmap(memory, sizeof(Shared));
}
