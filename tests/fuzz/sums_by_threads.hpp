// A program of sums on the CPU by one to eight threads: the interpreter's results within a bound, the same bits by any
// number of threads.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "ricci/ricci.hpp"

namespace ricci::fuzz {

/// What is wrong, or nothing.
///   from      the inputs
///   before    the output's memory before each call
///   relative  of a bound for each element, which `all_added`, the program with nothing subtracted, gives of the
///   inputs'
///             moduli; 0: exact
///   schedule  that of one thread
template <class T>
std::string wrong_sums(Runtime& runtime, const std::string& text, const std::string& all_added,
                       const std::vector<std::vector<T>>& from, const std::vector<T>& before, double relative,
                       std::string& schedule) {
  std::vector<std::vector<T>> moduli = from;
  std::vector<const void*> inputs, sizes;
  for (auto& values : moduli) {
    for (auto& value : values) value = static_cast<T>(std::abs(value));
    sizes.push_back(values.data());
  }
  for (const auto& values : from) inputs.push_back(values.data());
  const auto into = [](std::vector<T>& result) { return std::vector<void*>{result.data()}; };
  const auto program = Program::parse(text);
  auto want = before, bound = before, first = before;
  Runtime::interpret_program(program, into(want), inputs);
  if (relative > 0) Runtime::interpret_program(Program::parse(all_added), into(bound), sizes);
  PlanOptions options;
  for (const int threads : {1, 2, 3, 5, 8}) {
    options.threads = threads;
    const auto plan = runtime.plan_program(program, options);
    auto result = before;
    plan(into(result), inputs);
    if (threads > 1) {
      if (result != first) return fmt::format("one thread computes other bits than {}\n{}", threads, plan.explain());
      continue;
    }
    first = result;
    schedule = plan.info().schedule;
    for (std::size_t k = 0; k < result.size(); ++k) {
      if (std::abs(result[k] - want[k]) <= relative * static_cast<double>(std::abs(bound[k]))) continue;
      return fmt::format("element {} differs by {}\n{}{}", k, std::abs(result[k] - want[k]), plan.explain(),
                         plan.source());
    }
  }
  return {};
}

}  // namespace ricci::fuzz
