// A kernel being executed: the threads of a block, or of a cluster's blocks, in step, statement by statement.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "kernel/interpret/memory.hpp"

namespace ricci::kernel {

/// What a tensor core reads of a binary32 in place of a tf32.
double upper_19_bits(double value);

class Machine {
 public:
  /// Numbers of threads that take part, rising.
  using Threads = std::vector<int>;

  /// buffers: null where values do not matter. steps: statements of single threads after which the run is left.
  Machine(const Kernel& kernel, const std::vector<void*>* buffers, const std::vector<Scalar>& params,
          std::int64_t steps);

  /// Runs tasks; with `corners`, only those whose digits are 0, 1 or the last value. False where steps ran out.
  bool run(bool corners);

  const Counts& counts() const { return counts_; }

 private:
  struct Left {};  // thrown where steps run out

  // ---- machine.cpp: statements
  void tasks(const Body& body, std::int64_t number, bool corners);
  void task(const Body& body, std::int64_t number);
  /// The blocks of a cluster: at once, or, of tile statements, one after the other.
  void cluster(const Loop& loop, std::int64_t number);
  void execute(const Body& body, const Threads& threads);
  void one(const Loop& loop, const Threads& threads);
  void one(const Sweep& sweep, const Threads& threads);
  void one(const Let& let, const Threads& threads);
  void one(const If& branch, const Threads& threads);
  void one(const Comment&, const Threads&) {}
  void one(const Section& section, const Threads& threads) { execute(section.body, threads); }
  void one(const Declare& declare, const Threads& threads);
  void one(const Define& define, const Threads& threads);
  void one(const Advance& advance, const Threads& threads);
  void one(const AdvanceByLanes& advance, const Threads& threads);
  void one(const Store& store, const Threads& threads);
  void one(const Scatter& scatter, const Threads& threads);
  void one(const Transpose& transpose, const Threads& threads);
  void one(const AsyncCopy& copy, const Threads& threads);
  // ---- map.cpp: copies by tensor maps
  void one(const Counters& counters, const Threads& threads);
  void one(const Expect& expect, const Threads& threads);
  void one(const BoxCopy& copy, const Threads& threads);
  void one(const Await& await, const Threads& threads);
  void one(const Commit&, const Threads& threads);
  void one(const Wait& wait, const Threads& threads);
  void one(const Barrier& barrier, const Threads& threads);
  void one(const MatrixLoad& load, const Threads& threads);
  void one(const MmaCall& call, const Threads& threads);
  void one(const Fence& fence, const Threads& threads);
  void one(const GroupMma& product, const Threads& threads);
  void one(const Prefetch&, const Threads&) {}
  void one(const Beside&, const Threads&) {}
  void one(const CopyRun& run, const Threads& threads);
  void one(const FetchRows&, const Threads&) {}
  void one(const FetchLines&, const Threads&) {}
  void one(const CopyRow& copy, const Threads& threads);
  // ---- lanes.cpp: what the lanes of a warp do together, and those of a vector
  void one(const LaneReduce& reduce, const Threads& threads);
  void one(const LaneScan& scan, const Threads& threads);
  /// Of each warp that passes, the register of every lane as `combine` leaves it.
  void over_lanes(const Access& registers, const Threads& threads,
                  const std::function<void(std::vector<Item>& lanes)>& combine);
  std::vector<Item> exchanged(const Value& value, int thread);
  std::vector<Item> rearranged(const Value& value, std::vector<Item> lanes, int thread);
  // ---- tiles.cpp: tile statements, by their definition
  void one(const Copy& copy, const Threads& threads);
  void one(const Clear& clear, const Threads& threads);
  void one(const TileExchange& exchange, const Threads& threads);
  void one(const Mma& mma, const Threads& threads);
  void one(const Flush& flush, const Threads& threads);
  void over(std::span<const Digit> digits, int thread, const std::function<void()>& each);
  void thread_digits(const Loop& loop, const Threads& threads, std::int64_t product);
  /// All threads of a block do, or none.
  void all_take_part(const Threads& threads, const char* what) const;
  void whole_warps(const Threads& threads, const char* what) const;

  std::int64_t& variable(Var var, int thread) {
    return env_[static_cast<std::size_t>(var) * static_cast<std::size_t>(threads_) + static_cast<std::size_t>(thread)];
  }
  std::int64_t at(const Affine& affine, int thread) const;
  bool holds(const std::vector<Condition>& when, int thread) const;
  /// Whether a value that decides is not zero; true where values do not matter.
  bool decides(const Value& condition, int thread);

  // ---- values.cpp
  std::int64_t element(const Access& access, int thread) const;
  std::int64_t lane(const Access& access, int thread) const;
  /// The lanes that exist: from the first one on, below the second one.
  std::pair<int, int> existing(const Access& access, int thread) const;
  std::vector<Item> dot(const Value& value, int thread);
  /// A u8 with another sign bit.
  Item flipped(const Item& item);
  std::vector<Item> load(const Access& access, int thread);
  void store(const Access& access, const std::vector<Item>& items, int thread);
  void add(const Access& access, const Item& item, int thread);
  std::vector<Item> value(const Value& value, int thread);
  Item operation(const Value& value, const Item* operands);
  Item converted(const Item& item, DType from, DType to);
  void count(const Access& access, const Threads& threads, bool writes);
  /// Of `bytes` each, by thread; `lanes` of a vector.
  void count(int number, const std::vector<std::pair<int, std::int64_t>>& elements, std::int64_t bytes, int lanes,
             bool writes);
  void count(int array, const Counts::Moved& moved, bool writes);
  void count_loads(const Value& value, const Threads& threads);
  void check_shuffles(const Value& value, const Threads& threads) const;
  std::int64_t& advanced(int array, int thread) {
    return advanced_[static_cast<std::size_t>(array) * static_cast<std::size_t>(threads_) +
                     static_cast<std::size_t>(thread)];
  }

  /// Threads of a block; tile statements are executed by one for all of them.
  int block_threads() const { return threads_ / blocks_; }

  const Kernel& kernel_;
  int blocks_;   // that run at once
  int threads_;  // of all of these
  bool values_;
  std::vector<ir::oracle::Value> params_;
  std::vector<std::int64_t> env_;       // per variable and thread
  std::vector<std::int64_t> advanced_;  // per array and thread: what its offsets are counted from
  Memory memory_;
  Counts counts_;
  std::int64_t steps_;
  int origin_ = -1;
  const Threads* passing_ = nullptr;  // those that the statement is executed by
  bool all_tasks_ = true;             // none has been left out
  std::int64_t thread_product_ = 0;   // threads that the thread loops around number; 0 outside of them
  /// Accumulators of tile statements: by element, whatever layout the atom gives them; of those whose parts the blocks
  /// of a cluster have, the sum of the parts so far.
  using Tile = std::map<std::pair<std::int64_t, std::int64_t>, Item>;
  std::map<int, Tile> tiles_, parts_;
  std::map<int, ir::OpCode> begins_;  // with the identity of which operation a tile does
  std::span<const Item> factors_;     // that a term is of
  const Item* finished_ = nullptr;    // the element that a Flush is writing
  int finished_array_ = -1;
};

}  // namespace ricci::kernel
