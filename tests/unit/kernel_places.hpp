// Finding places in a kernel's tree and planting faults there.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

#include "catch.hpp"
#include "kernel/interpret/execute.hpp"
#include "kernel/kernel.hpp"
#include "kernel/print.hpp"
#include "kernel/verify.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {

using Place = std::function<bool(const Statement&)>;
inline bool anything(const Statement&) { return true; }

/// The first statement with such a node for which `holds`, with the body that it stands in.
template <class Node>
std::pair<Body*, std::size_t> find(Body& body, const Place& holds = anything) {
  for (std::size_t k = 0; k < body.size(); ++k) {
    auto& node = body[k].node;
    if (std::holds_alternative<Node>(node) && holds(body[k])) return {&body, k};
    std::pair<Body*, std::size_t> inner{nullptr, 0};
    if (auto* loop = std::get_if<Loop>(&node)) inner = find<Node>(loop->body, holds);
    if (auto* sweep = std::get_if<Sweep>(&node)) {
      for (auto& part : sweep->parts) {
        if (!inner.first) inner = find<Node>(part.body, holds);
      }
    }
    if (auto* section = std::get_if<Section>(&node)) inner = find<Node>(section->body, holds);
    if (auto* branch = std::get_if<If>(&node)) {
      inner = find<Node>(branch->then, holds);
      if (!inner.first) inner = find<Node>(branch->otherwise, holds);
    }
    if (inner.first) return inner;
  }
  return {nullptr, 0};
}
template <class Node>
Node& get(Kernel& kernel, const Place& holds = anything) {
  const auto [body, k] = find<Node>(kernel.body, holds);
  REQUIRE(body != nullptr);
  return std::get<Node>((*body)[k].node);
}
template <class Node>
void drop(Kernel& kernel, const Place& holds = anything) {
  const auto [body, k] = find<Node>(kernel.body, holds);
  REQUIRE(body != nullptr);
  body->erase(body->begin() + static_cast<std::ptrdiff_t>(k));
}
/// A statement as the only one under a condition.
template <class Node>
void guard(Kernel& kernel, const Condition& condition, const Place& holds = anything) {
  const auto [body, k] = find<Node>(kernel.body, holds);
  REQUIRE(body != nullptr);
  auto statement = std::move((*body)[k]);
  (*body)[k] = {If{{condition}, {std::move(statement)}, {}}};
}

inline Var var_of(const Kernel& kernel, const std::string& name) {
  for (std::size_t v = 0; v < kernel.vars.size(); ++v) {
    if (kernel.vars[v].name == name) return static_cast<Var>(v);
  }
  FAIL("no variable " << name);
  return -1;
}
inline Array& array_of(Kernel& kernel, const std::string& name) {
  for (auto& array : kernel.arrays) {
    if (array.name == name) return array;
  }
  FAIL("no array " << name);
  return kernel.arrays.front();
}
inline Place store_to(const Kernel& kernel, const std::string& name) {
  return [&kernel, name](const Statement& s) { return kernel.array(std::get<Store>(s.node).to.array).name == name; };
}
inline void scale(Affine& affine, Var var, std::int64_t coefficient) {
  affine = affine + Affine::of(var, coefficient - affine.coefficient(var));
}

/// What verify() says, or, where it says nothing, check_elements().
inline std::string found(const Kernel& kernel) {
  try {
    verify(kernel);
    check_elements(kernel, 50000000);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

struct Fault {
  const char* name;
  Kernel (*make)();
  void (*plant)(Kernel& kernel);
  const char* said;
  /// No directive is named: of the kernel as a whole, of a tensor, or of a statement that the test adds.
  bool whole = false;
};

/// Nothing is said of these kernels.
inline void check_sound(std::initializer_list<Kernel (*)()> kernels) {
  for (const auto make : kernels) {
    const auto kernel = make();
    INFO(print(kernel));
    CHECK(found(kernel).empty());
  }
}
/// Each fault is found, by its name and with the directive that made the node.
inline void check_faults(std::span<const Fault> faults) {
  for (const auto& fault : faults) {
    INFO(fault.name);
    auto kernel = fault.make();
    fault.plant(kernel);
    INFO(print(kernel));
    const auto text = found(kernel);
    INFO("said: " << text);
    CHECK(text.find(fault.said) != std::string::npos);
    CHECK((text.find("(made by \"") == std::string::npos) == fault.whole);
  }
}

}  // namespace ricci::kernel
