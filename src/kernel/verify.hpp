// The rules of a kernel that its tree alone shows, whatever its extents: run after build() and after expand(). The
// kernel interpreter (interpret/execute.hpp) has those that need every element.
#pragma once

#include "kernel/atoms.hpp"
#include "kernel/kernel.hpp"

namespace ricci::kernel {

/// Throws InternalError, naming the first rule that does not hold and the directive that made the node:
/// - names: variables and arrays exist, are known where they are used, and loops hide none around them;
/// - bounds: every access lies in its array, by intervals and the conditions that hold there (Ranges);
/// - types: what is stored, loaded and computed with fits; lanes are as many as an array's registers have;
/// - tasks are the outermost loops, thread loops are a GPU's, statements are their target's;
/// - registers are indexed by literals and by variables of unrolled loops, and declared around what uses them;
/// - order: something is written to an array before it is read; to shared memory with a barrier between, and a wait
///   where it was copied asynchronously;
/// - barriers, waits and instructions of warps stand where all threads of a block pass, shuffles where all lanes of a
///   warp do;
/// - every task loop moves every result, and nothing that is read only is written;
/// - arrays are advanced once for all rounds of a loop, and not accessed where it is not known how far;
/// - swizzles are bijections that keep vectors whole;
/// - wide accesses of a GPU are aligned, and of 2 to 16 bytes in shared memory; blocks, threads and memory are what a
///   launch takes;
/// - registers that live at once in a kernel on a CPU fit into kMostStack bytes of the caller's stack;
/// - an atom exists, and its operands have its types and sizes.
void verify(const Kernel& kernel);

/// Throws InternalError unless the lanes of a warp hold every element of each of the atom's fragments once.
void verify(const Atom& atom);

}  // namespace ricci::kernel
