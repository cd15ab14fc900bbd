// What programs outside of this folder add to the kernel IR: directives, ways to copy, atoms. Each is one entry of a
// table of the process; entries are made before other threads build kernels, and stay.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/atoms.hpp"
#include "kernel/directives.hpp"
#include "kernel/kernel.hpp"

namespace ricci::kernel {

/// A directive: a word, which no other one begins with, and its pass over the tree that build() made of those before
/// it. verify() runs after it. It returns the rule that does not hold, or nothing.
struct AddedDirective {
  std::string word;
  /// words: of the line, but for the first one
  std::function<std::string(Kernel& kernel, const std::vector<std::string>& words)> pass;
};
void add(AddedDirective directive);
const AddedDirective* find_directive(std::string_view word) noexcept;
/// Takes those at the end of a list off it, which rewrite the tree that the others make, and gives those of them that
/// are among the first `count`.
Directives take_added(Directives& directives, std::size_t count = kAll);
/// The kernel after these, each applied and verified. Throws PlanError where a rule does not hold.
Kernel rewritten(Kernel kernel, const Directives& added);

/// Who makes a copy: number 0 .. count - 1, a thread of a block or a CPU's only worker.
struct Mover {
  Affine number = {};
  int count = 1;
};

/// A dispatch rule of expand(): native statements for the copies whose layouts it `applies` to, in place of those that
/// expand() makes. The first rule that applies is taken. Another text needs another name: it stands in the keys of
/// kernels.
struct CopyRule {
  std::string name;
  Target target = Target::cpu;
  std::function<bool(const Kernel& kernel, const Copy& copy)> applies;
  /// What one of the movers does. On a GPU barriers, and waits for copies that are asynchronous, follow by themselves.
  std::function<Body(Kernel& kernel, const Copy& copy, const Mover& mover)> expand;
};
void add(CopyRule rule);
const CopyRule* find_rule(const Kernel& kernel, const Copy& copy);
/// "rules NAME, NAME\n", part of a kernel's key; empty where there are none.
std::string added_rules();

/// An atom and the PTX instruction that it stands for, up to its operands: "mma.sync.aligned.m16n8k16.row.col.s32...".
/// Its device function, and its twin on the simulator, follow from the fragments. Throws InternalError where its lanes
/// do not hold every element once.
struct AddedAtom {
  Atom atom;
  std::string instruction;
};
void add(AddedAtom atom);
const AddedAtom* find_added_atom(std::string_view name) noexcept;
const std::deque<AddedAtom>& added_atoms() noexcept;

}  // namespace ricci::kernel
