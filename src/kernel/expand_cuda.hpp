// What the parts of the expansion for CUDA share. A block's threads run the same statements; which elements a thread
// takes part in follows from its number.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernel/expand.hpp"
#include "kernel/warp_tile.hpp"

namespace ricci::kernel::cuda {

/// Places of a thread, and the names that stand in front of all loops.
struct Threads {
  Kernel& kernel;
  int count = 32;   ///< of a block
  Var thread = -1;  ///< 0 .. count-1
  Affine warp_row = {}, warp_column = {}, group = {}, member = {};
  Body names = {};  ///< Let

  Threads(Kernel& of, const Spread& spread);

  /// Where the thread's warp is in a tile that is spread so, over as many warps.
  void place(const Spread& spread);

  /// of / divisor % modulus (0: no remainder is taken), named in `body` unless it is an expression or a constant.
  Affine let(Body& body, const std::string& name, const Affine& of, std::int64_t divisor, std::int64_t modulus);
  /// The thread's number / divisor % modulus, named in front of all loops once.
  Affine digit(const std::string& name, std::int64_t divisor, std::int64_t modulus);
  /// Where the thread's lane holds its first element along a coordinate.
  ///   what  digits of a lane's number are called by, where there are several along it
  Affine lane_position(const Layout& held, int along, const char* what = "column");
  /// A variable for a loop; its name hides none that the loop's body may use.
  Var loop_var(const std::string& name, std::int64_t extent);
  /// A variable that is an entry of a table of its own.
  Var table_var(const std::string& name, std::int64_t extent);
  int registers(const std::string& name, DType type, std::vector<std::int64_t> shape, int lanes = 1);
  int shared(const std::string& name, DType type, std::int64_t elements);
  /// `inner` in a loop that is spelt out; without one for a single value.
  Body unrolled(Var var, Body inner);

 private:
  std::string free_name(std::string name) const;
  std::map<std::pair<std::int64_t, std::int64_t>, Affine> digits_;  ///< by divisor and modulus
  std::set<std::string> taken_;  ///< names of the kernel's own, and of all that let() gave
};

/// Which elements of a copy a thread moves: decoded once, in Threads::names.
struct Visits {
  int vector = 1;                          ///< neighbours that move together
  Var along = -1;                          ///< the digit that they are neighbours along
  std::vector<Digit> digits;               ///< of the copy
  std::vector<std::vector<Affine>> value;  ///< per visit, of each digit
  std::vector<std::vector<Condition>> when;
  std::vector<Var> rounds;  ///< loops around each visit
};
/// Those who share a copy: the number of the thread among as many.
struct Workers {
  Affine number;
  std::int64_t count = 1;
};
///   by_target  neighbours of what is copied to go to neighbouring threads, else of what is copied
Visits visits_of(Threads& threads, const Workers& workers, const Copy& copy, bool by_target = false);
/// The same by all threads of the block.
inline Visits visits_of(Threads& threads, const Copy& copy, bool by_target = false) {
  return visits_of(threads, {Affine::of(threads.thread), threads.count}, copy, by_target);
}

/// What stands in place of variables.
using Places = std::vector<std::pair<Var, Affine>>;
/// Those of one visit: of the copy's digits, and of quotients of them, which are named in `names`.
Places places_of(Threads& threads, Body& names, const Visits& visits, std::size_t visit, const Copy& copy);
/// The copy with one table of places for all quotients of an index that was joined with a table, where they are others
/// in each round than those of `any`; as it is where that is not possible.
Copy by_table(Threads& threads, const Visits& visits, Copy copy, const Copy& any);
/// Adds quotients of what has its place already, under names that begin and end so.
void add_quotients(Threads& threads, Body& names, Places& places, std::vector<Let> quotients, const std::string& begin,
                   const std::string& end);

/// The visits in so many parts of about as many, in their order, the larger ones first.
std::vector<Visits> shared_out(Threads& threads, const Visits& visits, std::int64_t parts);

/// The statements of one thread's part, where `only` holds. Asynchronous copies still need a commit and a wait.
Body copied(Threads& threads, const Visits& visits, const Copy& copy, const std::vector<Condition>& only = {});

/// The copies by tensor maps of a pipeline: one thread starts those of a round, and its place in shared memory has a
/// counter, whose phases are the rounds that go there.
class BoxCopies {
 public:
  /// copies: of one round; none: all bodies are empty.
  BoxCopies(Threads& threads, std::vector<Copy> copies, std::int64_t places, std::int64_t rounds);
  const std::vector<Copy>& copies() const { return copies_; }
  /// In front of all rounds, and of a barrier.
  Body begun() const;
  ///   copies  of a round, to its place
  Body started(const std::vector<Copy>& copies, const Affine& place, std::vector<Condition> only) const;
  /// All threads see what has come.
  Body awaited(const Affine& round, const Affine& place);

 private:
  Body by_one(Body body, std::vector<Condition> only) const;
  Access counter(const Affine& place) const;

  Threads& threads_;
  std::vector<Copy> copies_;
  std::int64_t places_, rounds_;
  std::int64_t bytes_ = 0;  ///< of a round
  int counters_ = -1;
};

/// Elements from one position of a tile to the next, where the digits are one mixed-radix number in the array; throws
/// PlanError where they are not.
std::int64_t stride_of(const Kernel& kernel, const Access& access, const std::vector<Digit>& digits);
/// The accumulator's registers, set to 0.
Body cleared(Threads& threads, int accumulator, ir::OpCode combine = ir::OpCode::add);
/// Loads of fragments and products. Throws PlanError where an operand does not lie in shared memory by rows of rising
/// positions.
///   between  statements that products hide: the k-th one after the fragments of the k-th step along the depth, those
///            of shorter depths after the last one's
///   texts    of rounds like it that stand in the kernel
Body multiplied(Threads& threads, const Mma& mma, const WarpTile& tile, std::vector<Body> between = {}, int texts = 1);

/// Steps along the depth that are unrolled together: as long a text as hides what shared memory takes, as compilers put
/// no loads of the next round before the end of one, and not more than they are quick with. Where that many do not come
/// out even, as many as leave the fewest to a loop of single steps.
///   ahead  the first fragments are read before
///   texts  of rounds that stand in the kernel, which compilers are to be quick with together
std::int64_t steps_together(const Kernel& kernel, const Mma& mma, const WarpTile& tile, bool ahead, int texts = 1);

/// Registers of an operand's fragments that are read ahead: of complex numbers the real and the imaginary parts.
struct FragmentAhead {
  int numbers = -1, imag = -1;
};
using FragmentsAhead = std::array<FragmentAhead, 2>;

/// Products whose first fragments were read before, into registers of their own, and that read those of the next round.
class PrefetchedProducts {
 public:
  ///   mma  of the first round. Throws PlanError where its fragments are not read into registers as they lie
  PrefetchedProducts(Threads& threads, const Mma& mma, const WarpTile& tile);
  /// The first round's first fragments; in front of all rounds.
  Body first();
  /// A round.
  ///   between  statements that products hide, as in multiplied()
  ///   next     of the next round
  ///   fence    behind the last fragments of this round, before the first ones of the next
  ///   then     behind those
  Body round(const Mma& mma, const Mma& next, std::vector<Body> between, Body fence, Body then);

 private:
  Threads& threads_;
  const Mma mma_;
  const WarpTile& tile_;
  FragmentsAhead registers_ = {};  ///< of both operands' first fragments
};
/// Elements of shared memory from the start of an operand that fragments reach, what lies beyond its edges included.
std::int64_t reached(Threads& threads, const Mma& mma, const WarpTile& tile, bool first);

/// The first operand's fragments of single steps of the depth, in registers of their own.
std::vector<int> fragment_registers(Threads& threads, const Mma& mma, const WarpTile& tile, int count);
///   step, registers  of the depth, and one of those
Body first_fragment(Threads& threads, const Mma& mma, const WarpTile& tile, int step, int registers);

/// The same by warp groups: products are under way behind a round.
class GroupProducts {
 public:
  ///   mma  of the first round
  GroupProducts(Threads& threads, const Mma& mma, const WarpTile& tile);
  /// In front of all rounds.
  Body declared() const;
  /// Committed as one group or, where registers hold the first operand, a group for each step.
  ///   overlap  products of the round before may be under way
  Body round(const Mma& mma, bool overlap);

 private:
  Body from_registers(const Mma& mma, bool overlap);

  Threads& threads_;
  const WarpTile& tile_;
  std::vector<int> registers_ = {};  ///< of the first operand, taken in turns
};

/// What a block does of a group's sections.
Body sections_expanded(Kernel& kernel, const Body& block);

/// Every element of the accumulator to memory.
/// What a tile statement names, run by run.
Body prefetched(Threads& threads, const Prefetch& tile);
Body flushed(Threads& threads, const Flush& flush, const WarpTile& tile);

}  // namespace ricci::kernel::cuda
