// The walk behind verify(): what is known at each statement of a kernel, and the rules that hold there.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernel/atoms.hpp"
#include "kernel/kernel.hpp"
#include "kernel/ranges.hpp"

namespace ricci::kernel {

constexpr std::int64_t kRegister = 4;  // bytes
constexpr int kMostLanes = 64;

inline bool is_power_of_two(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

/// What has happened to an array, as far as statements in order tell.
enum class Life : std::uint8_t {
  undeclared,  ///< registers before their declaration
  empty,
  copying,  ///< asynchronous copies are not waited for
  written,  ///< shared: with no barrier since
  fenced,   ///< the same, and products of warp groups see it from there on
  ready,
  shown,        ///< shared: for products of warp groups, too
  multiplying,  ///< registers: products to them are not waited for
};

/// Threads that differ in a value: of different blocks of a cluster, of different warps, of one warp.
enum class Varies : std::uint8_t { never, by_block, by_warp, by_lane };

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel)
      : kernel_(kernel),
        ranges_(kernel),
        varies_(kernel.vars.size()),
        unrolled_(kernel.vars.size()),
        tasks_of_(kernel.vars.size()),
        registers_(kernel.arrays.size()),
        unfenced_(kernel.arrays.size()),
        groups_since_(kernel.arrays.size(), kNoProduct),
        arriving_(kernel.arrays.size()),
        met_(kernel.arrays.size()),
        read_by_others_(kernel.arrays.size()) {}
  void run();

 private:
  [[noreturn]] void fail(const std::string& rule) const { broken(kernel_, origin_, rule); }
  void expect(bool holds, const char* rule) const;
  const Array& array_of(const Access& access) const { return kernel_.array(access.array); }
  DType type_of(const Access& access) const { return array_of(access).type; }
  bool cuda() const { return kernel_.target == Target::cuda; }

  // ---- the whole

  void launch() const;
  [[noreturn]] void too_much_shared(std::int64_t bytes) const;
  void array(int number);
  /// CPU: registers that live at once, those of `array` the last ones.
  void on_stack(const Array& array, std::int64_t bytes) const;

  // ---- statements
  void body(const Body& body, bool outermost);
  void enter(Var var, std::int64_t multiple = 1);
  /// The same of a name that is known wherever `of` is.
  void enter(Var var, const Affine& of, std::int64_t multiple = 1);
  const std::string& name(Var var) const { return kernel_.vars[static_cast<std::size_t>(var)].name; }
  void loop(const Loop& loop, bool outermost);
  void one(const Loop& loop) { this->loop(loop, false); }
  void thread_digit(const Loop& loop);
  void cluster(const Loop& loop);
  /// The body of a loop, until no round leaves in registers what differs between more threads than before it.
  void rounds(const std::function<void()>& round);
  void one(const Sweep& sweep);
  void let(const Let& let);
  void entry(const Let& let);
  void dot_tile(const Mma& mma);
  void dot(const Value& value) const;
  void parameter(const Let& let);
  void one(const If& branch);
  void one(const Comment&) {}
  void one(const Section& section);
  void one(const Let&) {}
  void one(const Declare& declare);
  void one(const Define& define);
  void one(const Advance& advance);
  void one(const AdvanceByLanes& advance);
  void one(const Store& store);
  void one(const Scatter& scatter);
  void one(const Transpose& transpose);
  void one(const AsyncCopy& copy);
  // ---- tensor maps
  void map(const TensorMap& map);
  /// What is done where the numbers of threads are 0 alone.
  void one_thread(const char* what) const;
  void counter(const Access& access);
  void all_expected() const;
  void one(const Counters& counters);
  void one(const Expect& expect);
  void one(const BoxCopy& copy);
  void one(const Await& await);

  void one(const Commit& commit);
  void all_threads(const char* what) const;
  void all_lanes(const char* what) const;
  void whole_warps(const char* what) const;
  void one(const Wait& wait);
  void one(const Barrier& barrier);
  void one(const CopyRun& run);
  void one(const Beside& beside);
  void one(const FetchRows& fetch);
  void one(const FetchLines& fetch);
  void one(const Prefetch& prefetch);
  void one(const CopyRow& copy);
  void one(const LaneReduce& reduce) { combine(reduce.registers, reduce.op, Varies::by_warp); }
  void one(const LaneScan& scan) { combine(scan.registers, scan.op, Varies::by_lane); }
  /// A register of each lane, combined with those of others.
  void combine(const Access& registers, ir::OpCode op, Varies result);
  void one(const MatrixLoad& load);
  void one(const MmaCall& call);

  // ---- warp groups
  void one(const Fence& fence);
  void one(const GroupMma& product);
  void matrix(const SharedMatrix& matrix, const Fragment& of, std::int64_t positions, std::int64_t deep);
  /// A factor in registers, which must stay until the product is waited for.
  void held(const Access& access, const Atom& atom);
  /// Registers that are accessed otherwise.
  void not_held(int array) const;
  /// Whether a value is rounded to tf32; what is stored as such and is not.
  bool is_tf32(const Value& value) const;
  [[noreturn]] void unrounded(const Access& to) const;
  void whole_groups() const;

  /// An operand of an atom: the registers of its fragment, all but the last dimension named.
  void fragment(const Access& access, const Fragment& of, const std::string& atom);

  // ---- tile statements
  void enter(const std::vector<Digit>& digits);
  void leave(const std::vector<Digit>& digits);
  void one(const Copy& copy);
  void one(const Clear& clear);
  void one(const TileExchange& exchange);
  /// Whether a register array of a CPU has a register for each row and vector of columns.
  void registers_of(int array, const std::vector<Digit>& rows, const std::vector<Digit>& columns) const;
  void one(const Mma& mma);
  /// Each warp, and each lane of an atom with lanes for several products, has one of those side by side.
  void products_side_by_side(const Mma& mma) const;
  void one(const Flush& flush);

  // ---- accesses and values
  Life& life_of(int array);
  const Array& array_of_checked(const Access& access);
  DType type_of_checked(const Access& access) { return array_of_checked(access).type; }
  void read_life(int number);

  /// Of an access to shared memory of a block of the cluster, which reads it.
  void read_of_block(const Access& access);
  /// Behind a barrier of the cluster: what any block has written, all may read.
  void meet_blocks();
  /// What storing to an array changes.
  ///   adds  by an atomic addition, as other tasks may
  void written(const Access& access, bool adds = false);
  void atomic(const Store& store);
  void written_to_shared(int array);
  void known(const Affine& affine) const;
  void conditions(const std::vector<Condition>& when) const;
  Varies varies(const Affine& affine) const;
  Varies varies(const std::vector<Condition>& when) const;
  void part(Varies by);
  void other_part();
  void join();
  Varies varies(const Value& value) const;
  /// What is stored to registers decides which threads have different ones.
  void holds(const Access& to, Varies value);
  /// The tasks from whose numbers an expression follows, as of here.
  std::vector<Var> tasks_of(const Affine& affine) const;
  void register_index(const Array& array, const Affine& index, std::int64_t extent) const;
  void register_access(const Access& access) const;
  /// Of neighbours from `offset` on.
  void some_lanes(const Access& access, const Affine& offset) const;
  void access(const Access& access);
  /// An offset, counted from element 0 of the array.
  Affine offset(const Access& access) const;

  /// Wide accesses of a GPU: at a multiple of their size, of up to 16 bytes in shared memory.
  void aligned(const Access& access) const;
  void value(const Value& value);
  void lane(const Access& access) const;
  void exchange(const Value& value);

  const Kernel& kernel_;
  Ranges ranges_;
  std::vector<Varies> varies_;              // per variable in scope
  std::vector<bool> unrolled_;              // likewise
  std::vector<std::vector<Var>> tasks_of_;  // likewise: tasks from whose numbers it follows
  std::vector<Varies> registers_;           // per array: what was stored to it last
  /// A branch or loop around that threads pass by what has this in common, and how many stores were before it.
  struct Part {
    Varies by;
    std::size_t stored;
  };
  std::vector<Part> parts_;
  std::vector<std::pair<int, Varies>> stored_;  // to registers inside of them: the array, and what it held
  std::vector<Life> life_;                      // per array
  std::vector<bool> unfenced_;                  // per array: registers written with no fence since
  static constexpr int kNoProduct = -1, kMostGroups = 16;
  /// Per array: registers that a product under way reads, and how many groups of products have been closed since it was
  /// issued, kMostGroups for all numbers above.
  std::vector<int> groups_since_;
  std::vector<bool> arriving_;        // per array: shared, that boxes are copied to
  std::int64_t expected_ = 0;         // bytes, that no copy has brought yet
  std::vector<Var> threads_;          // loops around over threads
  std::vector<bool> met_;             // per array: shared, with a barrier of the cluster behind what was written
  std::vector<bool> read_by_others_;  // per array: shared, with no such barrier since other blocks read it
  std::vector<std::optional<Affine>> moved_;  // per array: how far it has been advanced; nothing: not known any more
  std::vector<Var> tasks_;
  bool fetches_ = false;           // rows ahead have been named
  bool ahead_ = false;             // a section is executed ahead
  std::int64_t stack_ = 0;         // bytes of the registers that are declared around
  std::int64_t thread_below_ = 0;  // threads that share the digits of the loops around; 0: outside of them
  Var cluster_ = -1;               // the loop around over the blocks of a cluster
  int divergent_blocks_ = 0;       // conditions around that depend on the block
  int divergent_ = 0;              // those that depend on the thread
  int divergent_lanes_ = 0;        // those of them that depend on the lane
  int rounds_ = 0;                 // loops around but those over tasks and threads
  std::optional<DType> term_of_;   // inside of a term: the type of its factors
  int finished_ = -1;              // the accumulator that a Flush stands for
  int origin_ = -1;
  bool tiles_ = false;
};

}  // namespace ricci::kernel
