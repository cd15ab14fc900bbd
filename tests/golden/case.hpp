// One golden case: a problem and a schedule on one line, so that goldens change with the emitters and with nothing
// else.
//
//   cuda ab->ba a=48 b=40 f64 tile=a:32,b:32 order=b,a write=a:32,b:32 read=b:32,a:32 layout=b:1,a:33/1056 threads=256
//
//   cuda | cpp            the emitter
//   SPEC axis=extent ...  as on the command line
//   f64 | f64->f16        types
//   strides_in=, strides_out=   in the order of the spec; dense row-major when left out
//   alpha=any beta=any|1 conj
//
// Or, for what is not a permutation,
//
//   cuda directives
//
// with the directives, a line each, and then the text of a program, of whose kernels the first is taken. "#" begins a
// comment there.
//
// Directives, and what follows, speak of the canonical program, whose indices are a, b, c in the input's order (see the
// case's .ir):
//
//   tile=b:32,c:32        1 for the indices left out
//   order=b,c,a           fastest first; those left out follow, last of the program first
//   write=b:32,c:8,b:2/32 digits of the statement's mapping, fastest first; "/32" is a step other than 1
//   read=...              digits of the staged load's mapping; its presence makes a stage
//   memory=shared|warp|registers
//   layout=c:1,b:33/1056  strides in shared memory and its elements
//   row_packing=2         rows of a block to a vector (cpp, in an array)
//   prefetch_distance=1   tiles that are prefetched together (cpp, with nontemporal stores)
//   line_carry=a          index along which lines at the ends of runs are carried (cpp, with nontemporal stores)
//   along=2 across=3      leading digits of read= and of write= that blocks lie along and across (cpp, in an array)
//   swizzle=5:31:0        shift, mask, unit
//   read_rows=4           with read_vector=: rectangles, whose rows are the second digit of read= (cuda)
//   skew=a:4              tiles are cut where a's offset in the output is a multiple of 4
//   streaming             whole vectors are written by nontemporal stores (cpp)
//   vector=2 read_vector=2 threads=256 workers=32 origin=shuffle
#pragma once

#include <string>

#include "ir/program.hpp"
#include "kernel/schedule.hpp"

namespace ricci::golden {

struct Case {
  std::string name;
  bool cuda = true;
  ir::Program program;        ///< canonical
  kernel::Schedule schedule;  ///< named after the case
};

/// Reads a case. Throws std::runtime_error naming the word that it does not understand.
Case parse_case(const std::string& name, const std::string& text);

}  // namespace ricci::golden
