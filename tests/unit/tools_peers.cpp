// Libraries beside Ricci: their calls in order, with libraries that permute on the host in their place.
#include <dlfcn.h>

#include <cstring>
#include <numeric>

#include "catch.hpp"
#include "peers/library.hpp"
#include "ricci/error.hpp"

using namespace ricci;
using namespace ricci::tools;
using Catch::Matchers::Message;
using Catch::Matchers::StartsWith;

namespace {

template <class Function>
Function* in_library(const char* file, const char* name) {
  return reinterpret_cast<Function*>(dlsym(dlopen(file, RTLD_NOW | RTLD_NOLOAD), name));
}

std::int64_t elements(const PeerProblem& problem) {
  return std::accumulate(problem.extents.begin(), problem.extents.end(), std::int64_t{1}, std::multiplies<>());
}

struct Memory {
  explicit Memory(const PeerProblem& problem)
      : from(static_cast<std::size_t>(elements(problem) * size_of(problem.type))), to(from.size(), 0x55) {
    for (std::size_t k = 0; k < from.size(); ++k) from[k] = static_cast<unsigned char>(k * 37 + k / 251);
  }
  std::vector<unsigned char> from, to;
};

/// What the problem's permutation makes of the memory.
std::vector<unsigned char> expected(const PeerProblem& problem, const Memory& memory) {
  const auto size = static_cast<std::size_t>(size_of(problem.type));
  std::vector<unsigned char> result(memory.from.size());
  const auto rank = problem.extents.size();
  std::vector<std::int64_t> strides(rank, 1);
  for (std::size_t k = rank; k-- > 1;) strides[k - 1] = strides[k] * problem.extents[k];
  for (std::int64_t at = 0; at < elements(problem); ++at) {
    std::int64_t rest = at, source = 0;
    for (std::size_t k = rank; k-- > 0;) {
      const auto axis = static_cast<std::size_t>(problem.order[k]);
      source += rest % problem.extents[axis] * strides[axis];
      rest /= problem.extents[axis];
    }
    std::memcpy(&result[static_cast<std::size_t>(at) * size], &memory.from[static_cast<std::size_t>(source) * size],
                size);
  }
  return result;
}

void check_runs(PeerLibrary& library, const PeerProblem& problem, std::size_t count) {
  Memory memory(problem);
  const auto runs = library.prepare(problem, memory.to.data(), memory.from.data());
  REQUIRE(runs.size() == count);
  for (const auto& peer : runs) {
    INFO(peer.name << ' ' << peer.refused);
    REQUIRE(peer.run);
    std::fill(memory.to.begin(), memory.to.end(), 0x55);
    peer.run();
    CHECK((memory.to == expected(problem, memory)));
  }
}

}  // namespace

TEST_CASE("cuTENSOR is called in order, for every type, and all that it gave is given back") {
  const auto alive = [] { return in_library<int()>(FAKE_CUTENSOR, "fake_alive")(); };
  {
    const auto library = open_cutensor(FAKE_CUTENSOR);
    CHECK(alive() == 0);  // a handle needs a device, opening does not
    in_library<void(const char*)>(FAKE_CUTENSOR, "fake_refuse")("");
    check_runs(*library, {DType::f64, {4, 3, 5}, {2, 0, 1}}, 1);
    CHECK(std::string(in_library<const char*()>(FAKE_CUTENSOR, "fake_log")()) ==
          "create tensor tensor permutation scalar preference plan permute ");
    CHECK(alive() == 1);  // the handle
    for (const auto type : {DType::f16, DType::f32, DType::f64, DType::c64, DType::c128}) {
      check_runs(*library, {type, {2, 1, 7, 3, 4}, {3, 1, 4, 0, 2}}, 1);
    }
    check_runs(*library, {DType::i32, {4, 3}, {1, 0}}, 0);
    CHECK(alive() == 1);
  }
  CHECK(alive() == 0);
}

TEST_CASE("what cuTENSOR refuses is said and nothing stays") {
  const auto refuse = [](const char* function) {
    in_library<void(const char*)>(FAKE_CUTENSOR, "fake_refuse")(function);
  };
  const auto library = open_cutensor(FAKE_CUTENSOR);
  const PeerProblem problem{DType::f32, {4, 3}, {1, 0}};
  Memory memory(problem);
  const auto prepare = [&] { return library->prepare(problem, memory.to.data(), memory.from.data()); };
  refuse("create");
  CHECK_THROWS_MATCHES(prepare(), DeviceError, Message("cutensorCreate: not supported (15)"));
  const std::pair<const char*, const char*> stages[] = {{"tensor", "cutensorCreateTensorDescriptor"},
                                                        {"permutation", "cutensorCreatePermutation"},
                                                        {"scalar", "cutensorOperationDescriptorGetAttribute"},
                                                        {"preference", "cutensorCreatePlanPreference"},
                                                        {"plan", "cutensorCreatePlan"}};
  for (const auto& [stage, function] : stages) {
    refuse(stage);
    const auto runs = prepare();
    REQUIRE(runs.size() == 1);
    CHECK(!runs[0].run);
    CHECK(runs[0].refused == std::string(function) + ": not supported (15)");
    CHECK(in_library<int()>(FAKE_CUTENSOR, "fake_alive")() == 1);  // the handle
  }
  refuse("permute");
  const auto runs = prepare();
  CHECK_THROWS_MATCHES(runs[0].run(), DeviceError, Message("cutensorPermute: not supported (15)"));
}

TEST_CASE("cuTT is called with extents of one left out, and both plans are destroyed") {
  const auto library = open_cutt(FAKE_CUTT);
  for (const auto type : {DType::f32, DType::f64, DType::c64}) {
    check_runs(*library, {type, {4, 3, 5}, {2, 0, 1}}, 2);
    check_runs(*library, {type, {1, 4, 1, 3, 5, 2}, {4, 2, 5, 3, 0, 1}}, 2);
  }
  const auto taken = [&](const PeerProblem& problem) {
    char from = 0, to = 0;
    return !library->prepare(problem, &to, &from).empty();
  };
  CHECK_FALSE(taken({DType::c128, {4, 3}, {1, 0}}));
  CHECK_FALSE(taken({DType::f16, {4, 3}, {1, 0}}));
  CHECK_FALSE(taken({DType::f32, {4, 1}, {1, 0}}));
  CHECK_FALSE(taken({DType::f32, {65536, 65536}, {1, 0}}));
  CHECK_FALSE(taken({DType::f32, {std::int64_t{1} << 33, 2}, {1, 0}}));

  const PeerProblem refused{DType::f32, {13, 4}, {1, 0}};
  Memory memory(refused);
  const auto runs = library->prepare(refused, memory.to.data(), memory.from.data());
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].name == "cutt");
  CHECK(runs[0].refused == "cuttPlan: internal error (4)");
  CHECK(runs[1].name == "cutt measured");
  CHECK(runs[1].refused == "cuttPlanMeasure: internal error (4)");
  CHECK(in_library<std::size_t()>(FAKE_CUTT, "fake_plans")() == 0);
}

TEST_CASE("HPTT plans in each call, once, or by measuring, and no plan is left") {
  const auto library = open_hptt(FAKE_HPTT), measured = open_hptt_measured(FAKE_HPTT);
  for (const auto type : {DType::f32, DType::f64, DType::c64, DType::c128}) {
    check_runs(*library, {type, {4, 3, 5}, {2, 0, 1}}, 2);
    CHECK(in_library<int()>(FAKE_HPTT, "fake_measured")() == 0);
  }
  check_runs(*measured, {DType::c64, {4, 3, 5, 2}, {2, 3, 0, 1}}, 1);
  CHECK(in_library<int()>(FAKE_HPTT, "fake_measured")() == 1);
  CHECK(in_library<int()>(FAKE_HPTT, "fake_alive")() == 0);
  const PeerProblem half{DType::f16, {4, 3}, {1, 0}}, huge{DType::f32, {std::int64_t{1} << 33, 2}, {1, 0}};
  char from = 0, to = 0;
  CHECK(library->prepare(half, &to, &from).empty());
  CHECK(library->prepare(huge, &to, &from).empty());
}

TEST_CASE("a library that is not there, or is another one, is named with what it lacks") {
  for (const auto& kind : peer_kinds()) {
    INFO(kind.option);
    CHECK_THROWS_WITH(kind.open("/nowhere/lib.so"),
                      StartsWith(std::string(kind.title) + "'s library cannot be opened: /nowhere/lib.so"));
    CHECK_THROWS_AS(kind.open("/nowhere/lib.so"), IoError);
  }
  CHECK_THROWS_MATCHES(open_cutensor(FAKE_OLD_CUTENSOR), IoError,
                       Message(FAKE_OLD_CUTENSOR " has no cutensorPermute; is it cuTENSOR's shared library?"));
  CHECK_THROWS_MATCHES(open_cutt(FAKE_CUTENSOR), IoError,
                       Message(FAKE_CUTENSOR " has no cuttPlan; is it cuTT's shared library?"));
  CHECK_THROWS_MATCHES(open_hptt(FAKE_CUTT), IoError,
                       Message(FAKE_CUTT " has no sTensorTranspose; is it HPTT's shared library?"));
}
