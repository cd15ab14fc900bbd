// A program by plans of the CPU against the interpreter, to the bit.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "ricci/ricci.hpp"

namespace ricci::fuzz {

/// Where results by one thread and by three differ from the interpreter's, with the plan's text; empty where they do
/// not.
///   before  what the result holds before
///   look    is given the plan of one thread
template <class T>
std::string difference_of_plans(Runtime& runtime, const Program& program, const std::vector<const void*>& from,
                                const std::vector<T>& before, const std::function<void(const Plan&)>& look) {
  auto want = before;
  Runtime::interpret_program(program, std::vector<void*>{want.data()}, from);
  PlanOptions options;
  for (const int threads : {1, 3}) {
    options.threads = threads;
    const auto plan = runtime.plan_program(program, options);
    if (threads == 1) look(plan);
    auto got = before;
    plan(std::vector<void*>{got.data()}, from);
    for (std::size_t n = 0; n < got.size(); ++n) {
      if (got[n] != want[n]) return fmt::format("element {} differs\n{}{}", n, plan.explain(), plan.source());
    }
  }
  return {};
}

}  // namespace ricci::fuzz
