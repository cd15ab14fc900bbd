// What both printers say of a kernel's statements alike.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <variant>

#include "codegen/kernel_text.hpp"
#include "codegen/writer.hpp"
#include "ricci/error.hpp"

namespace ricci::codegen {

/// Printer: has a function `one` of each node that only its language says, or says in its own way.
template <class Printer>
class StatementPrinter {
  friend Printer;
  StatementPrinter(const kernel::Kernel& kernel, bool cpu) : kernel_(kernel), text_(kernel, cpu) {}

 protected:
  void print(const kernel::Body& body) {
    for (const auto& statement : body) print(statement);
  }
  void print(const kernel::Statement& statement) {
    std::visit([&](const auto& node) { static_cast<Printer*>(this)->one(node); }, statement.node);
  }

  void one(const kernel::Let& let) {
    const auto& table = kernel_.vars[static_cast<std::size_t>(let.var)].name;
    if (!let.values.empty() && tabled_.insert(table).second) static_cast<Printer*>(this)->table(table, let.values);
    if (let.in_place) return text_.say_in_place(let);
    w_.line("const {} {} = {};", text_.type(let.var), text_.name(let.var), text_.let(let));
  }
  void one(const kernel::Comment& comment) { w_.line("// {}", comment.text); }
  void one(const kernel::Declare& declaration) {
    w_.line("{}{};", text_.declaration(declaration.array), declaration.zeros ? " = {}" : "");
  }
  void one(const kernel::Define& define) {
    w_.line("{} = {};", text_.declaration(define.array), text_.value(define.value));
  }
  void one(const kernel::Store& store) { w_.line("{}", text_.store(store)); }
  void one(const kernel::Scatter& scatter) { w_.line("{}", text_.scatter(scatter)); }
  void one(const kernel::Section& section) {
    if (!section.title.empty()) w_.line("// {}", section.title);
    w_.open("{{");
    print(section.body);
    w_.close();
  }
  void one(const kernel::If& branch) {
    w_.open("if ({}) {{", text_.condition(branch));
    print(branch.then);
    if (!branch.otherwise.empty()) {
      w_.otherwise();
      print(branch.otherwise);
    }
    w_.close();
  }
  template <class Other>
  void one(const Other&) {
    throw InternalError("a statement that this language has no text of");
  }

  /// The slowest digit of a number below `count`, of `extent` values, where slower ones make it one below `all`.
  static std::string digit(const char* number, std::int64_t all, std::int64_t count, std::int64_t extent) {
    const auto below = count / extent;
    const auto quotient = below == 1 ? std::string(number) : fmt::format("{} / {}", number, below);
    return count == all ? quotient : fmt::format("{} % {}", quotient, extent);
  }
  static std::string next(const std::string& name, std::int64_t step) {
    return step == 1 ? "++" + name : fmt::format("{} += {}", name, step);
  }

  const kernel::Kernel& kernel_;
  KernelText text_;
  Writer w_;
  std::set<std::string> tabled_;  // names of tables
};

}  // namespace ricci::codegen
