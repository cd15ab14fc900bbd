// Statements in the order in which they are written: bodies of loops and conditions nest as they are opened and closed.
#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "kernel/kernel.hpp"

namespace ricci::kernel {

class BodyWriter {
 public:
  template <class Node>
  void add(Node node) {
    open_.back().body.push_back({std::move(node)});
  }

  /// What follows is the body of a loop, or what happens where a condition holds, until close().
  void open(Loop loop) { open_.push_back({{std::move(loop)}, {}}); }
  void open(If branch) { open_.push_back({{std::move(branch)}, {}}); }
  void close() {
    auto frame = std::move(open_.back());
    open_.pop_back();
    auto& node = frame.header.node;
    (std::holds_alternative<Loop>(node) ? std::get<Loop>(node).body : std::get<If>(node).then) = std::move(frame.body);
    open_.back().body.push_back(std::move(frame.header));
  }
  void close(int count) {
    for (int k = 0; k < count; ++k) close();
  }

  /// What `write` adds, as a body of its own.
  template <class Write>
  Body collect(Write&& write) {
    open_.emplace_back();
    write();
    auto body = std::move(open_.back().body);
    open_.pop_back();
    return body;
  }

 private:
  struct Frame {
    Statement header;
    Body body;
  };
  std::vector<Frame> open_;
};

}  // namespace ricci::kernel
