// A directive from outside of src/kernel: "unroll b0 2" spells two rounds of a loop out together.
#include "catch.hpp"
#include "kernel/extensions.hpp"
#include "kernel/print.hpp"
#include "kernel/schedule.hpp"
#include "ricci/error.hpp"
#include "simt/contraction_case.hpp"
#include "unit/programs.hpp"

using namespace ricci;

namespace {

/// The serial loop over that variable; null where there is none.
kernel::Loop* find_loop(kernel::Kernel& kernel, kernel::Body& body, const std::string& name) {
  for (auto& statement : body) {
    auto* loop = std::get_if<kernel::Loop>(&statement.node);
    if (loop == nullptr) continue;
    const bool serial = loop->bind == kernel::Bind::serial && loop->stages == 1;
    if (serial && kernel.vars[static_cast<std::size_t>(loop->var)].name == name) return loop;
    if (auto* inner = find_loop(kernel, loop->body, name)) return inner;
  }
  return nullptr;
}

std::string unroll(kernel::Kernel& kernel, const std::vector<std::string>& words) {
  if (words.size() != 2) return "a loop and a number of rounds are expected";
  auto* loop = find_loop(kernel, kernel.body, words[0]);
  if (loop == nullptr) return "there is no loop " + words[0] + " that runs in order";
  loop->bind = kernel::Bind::unroll;
  loop->times = std::stoi(words[1]);
  return {};
}

const bool kAdded = (kernel::add(kernel::AddedDirective{"unroll", unroll}), true);

const std::string kSchedule =
    "tile a:32; tile c:16; tile b:8; order task a0 c0 sum b0; stage A at b0 async a b pad 4; stage B at b0 async b c;"
    "atom fma rows a columns c depth b warps 1x1 runs 2x2x1;";

simt::ContractionCase made(const std::string& directives) {
  return {simt::problem_of("ad,db->ab", {{'a', 50}, {'b', 40}, {'d', 44}}, {DType::f64}),
          kernel::parse_directives(directives)};
}

std::string refusal(const std::string& directives) {
  try {
    made(directives);
  } catch (const PlanError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a directive from outside is parsed, printed, passed, verified and run") {
  REQUIRE(kAdded);
  const auto directives = kernel::parse_directives(kSchedule + "unroll b0 2");
  CHECK(kernel::print(directives).ends_with("\nunroll b0 2\n"));
  CHECK(kernel::parse_directives(kernel::print(directives)) == directives);

  auto plain = made(kSchedule), spelt = made(kSchedule + "unroll b0 2");
  CHECK(plain.source.text.find("#pragma unroll 2\n") == std::string::npos);
  INFO(spelt.source.text);
  CHECK(spelt.source.text.find("#pragma unroll 2\n") != std::string::npos);
  bool same = false;
  spelt.interpreted(1, same);
  CHECK(same);
  for (const std::uint64_t seed : {0, 1, 2}) CHECK(spelt.wrong(seed).empty());
}

TEST_CASE("a rule of a directive from outside that does not hold names the directive") {
  const auto contains = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  CHECK(contains(refusal(kSchedule + "unroll d0 2"), "unroll d0 2: there is no loop d0"));
  CHECK(contains(refusal(kSchedule + "unroll b0"), "unroll b0: a loop and a number"));
  CHECK(contains(refusal("unroll b0 2;" + kSchedule), "unroll b0 2: it rewrites the tree"));
  CHECK(contains(refusal(kSchedule + "enrol b0 2"), "\"enrol\""));
  CHECK_THROWS_AS(kernel::add(kernel::AddedDirective{"unroll", unroll}), InternalError);
  CHECK_THROWS_AS(kernel::add(kernel::AddedDirective{"tile", unroll}), InternalError);
}

TEST_CASE("a directive from outside rewrites what moves elements") {
  kernel::add(kernel::AddedDirective{"say", [](kernel::Kernel& kernel, const std::vector<std::string>& words) {
                                       auto& block = std::get<kernel::Loop>(kernel.body.front().node).body;
                                       block.insert(block.begin(), {kernel::Comment{words.front()}});
                                       return std::string();
                                     }});
  const auto program = test::canonical(test::dense("ab->ba", {48, 40}));
  const kernel::Schedule schedule{{}, kernel::parse_directives("order task b; write a:48; threads 64; say here")};
  kernel::verify(schedule, program, kernel::Target::cuda);
  CHECK(kernel::print(kernel::build(program, schedule, kernel::Target::cuda)).find("# here\n") != std::string::npos);
  CHECK(kernel::launch_of(program, schedule, kernel::Target::cuda).tasks == 40);
  const kernel::Schedule on_cpu{{}, kernel::parse_directives("order task b; write a:48; say here")};
  kernel::verify(on_cpu, program, kernel::Target::cpu);
  CHECK(kernel::print(kernel::build(program, on_cpu, kernel::Target::cpu)).find("# here\n") != std::string::npos);
}

TEST_CASE("what a directive from outside breaks is found after it") {
  kernel::add(kernel::AddedDirective{"halve", [](kernel::Kernel& kernel, const std::vector<std::string>&) {
                                       for (auto& array : kernel.arrays) {
                                         if (array.space == kernel::Space::shared) array.shape.front() /= 2;
                                       }
                                       return std::string();
                                     }});
  CHECK_THROWS_AS(made(kSchedule + "halve"), InternalError);
  // Also where the next one mends it, and of what moves elements.
  kernel::add(kernel::AddedDirective{"double", [](kernel::Kernel& kernel, const std::vector<std::string>&) {
                                       for (auto& array : kernel.arrays) {
                                         if (array.space == kernel::Space::shared) array.shape.front() *= 2;
                                       }
                                       return std::string();
                                     }});
  const kernel::Schedule moves{
      {},
      kernel::parse_directives("order task; stage A shared b:40 a:48; layout b:1 a:40 elements 1920; write a:48 b:40;"
                               "threads 64; halve; double")};
  CHECK_THROWS_WITH(kernel::verify(moves, test::canonical(test::dense("ab->ba", {48, 40})), kernel::Target::cuda),
                    Catch::Matchers::EndsWith("after \"halve\""));
}
