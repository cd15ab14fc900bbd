#include "kernel/extensions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernel/expand.hpp"
#include "kernel/verify.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

/// Entries stay where they are: others point to them.
struct Tables {
  std::deque<AddedDirective> directives;
  std::deque<CopyRule> rules;
  std::deque<AddedAtom> atoms;
};
Tables& tables() {
  static Tables all;
  return all;
}

template <class Entry, class Is>
const Entry* find(const std::deque<Entry>& entries, Is is) {
  const auto found = std::find_if(entries.begin(), entries.end(), is);
  return found == entries.end() ? nullptr : &*found;
}

[[noreturn]] void is_there(std::string_view what, std::string_view name) {
  throw InternalError(fmt::format("there is {} \"{}\" already", what, name));
}

}  // namespace

void add(AddedDirective directive) {
  if (is_directive(directive.word) || find_directive(directive.word) != nullptr)
    is_there("a directive", directive.word);
  tables().directives.push_back(std::move(directive));
}

const AddedDirective* find_directive(std::string_view word) noexcept {
  return find(tables().directives, [&](const AddedDirective& one) { return one.word == word; });
}

Directives take_added(Directives& directives, std::size_t count) {
  auto first = directives.size();
  while (first > 0 && directives[first - 1].kind == Directive::Kind::added) --first;
  const auto at = [&](std::size_t k) { return directives.begin() + static_cast<std::ptrdiff_t>(k); };
  Directives added(at(first), at(std::clamp(count, first, directives.size())));
  directives.erase(at(first), directives.end());
  return added;
}

Kernel rewritten(Kernel kernel, const Directives& added) {
  verify(kernel);
  for (const auto& directive : added) {
    kernel.directives.push_back(print(directive));
    const auto rule = find_directive(directive.subject)->pass(kernel, directive.loops.front().second);
    if (!rule.empty()) refuse(directive, rule);
    made_by(kernel.body, static_cast<int>(kernel.directives.size()) - 1);
    verify(kernel);
  }
  return kernel;
}

void add(CopyRule rule) {
  const auto same = [&](const CopyRule& other) { return other.name == rule.name; };
  if (find(tables().rules, same) != nullptr) is_there("a rule", rule.name);
  tables().rules.push_back(std::move(rule));
}

const CopyRule* find_rule(const Kernel& kernel, const Copy& copy) {
  if (copy.rounded || !copy.quotients.empty()) return nullptr;  // rules know of neither
  return find(tables().rules,
              [&](const CopyRule& rule) { return rule.target == kernel.target && rule.applies(kernel, copy); });
}

std::string added_rules() {
  std::string text;
  for (const auto& rule : tables().rules) text += (text.empty() ? "rules " : ", ") + rule.name;
  return text.empty() ? text : text + "\n";
}

void add(AddedAtom atom) {
  if (find_atom(atom.atom.name) != nullptr) is_there("an atom", atom.atom.name);
  verify(atom.atom);
  tables().atoms.push_back(std::move(atom));
}

const AddedAtom* find_added_atom(std::string_view name) noexcept {
  return find(tables().atoms, [&](const AddedAtom& one) { return one.atom.name == name; });
}

const std::deque<AddedAtom>& added_atoms() noexcept { return tables().atoms; }

const Atom* find_atom(std::string_view name) noexcept {
  for (const Atom& atom : kGroupAtoms)
    if (atom.name == name) return &atom;
  for (const Atom& atom : kAtoms)
    if (atom.name == name) return &atom;
  const auto* added = find_added_atom(name);
  return added != nullptr ? &added->atom : nullptr;
}

}  // namespace ricci::kernel
