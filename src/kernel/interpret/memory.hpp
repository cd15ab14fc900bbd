// Memory of a kernel that is being executed: what each element holds, who touched it last, and whether that was
// allowed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/interpret/interpret_value.hpp"
#include "kernel/interpret/execute.hpp"

namespace ricci::kernel {

/// A value, or that of an element of array `unwritten`, which nothing had written when it was read.
struct Item {
  ir::oracle::Value value;
  int unwritten = -1;
};

class Memory {
 public:
  /// buffers: null where values do not matter.
  ///   threads  of all blocks that run at once
  Memory(const Kernel& kernel, int threads, int blocks, const std::vector<void*>* buffers);

  /// Registers, scratch and shared memory hold nothing at the beginning of a task.
  void begin_task(std::int64_t task);
  /// Of the block of a thread.
  void barrier(int thread) { interval(thread) = ++intervals_begun_; }
  /// Behind a barrier of each block.
  void barrier_of_cluster() { ++cluster_interval_; }
  /// Of the warp of a thread.
  void barrier_of_warp(int thread) { ++warp_interval(thread); }
  /// The directive named by what is thrown from here on.
  void set_origin(int origin) { origin_ = origin; }

  ///   block  of the cluster, whose shared memory is read; -1: the thread's own
  Item read(int array, std::int64_t element, int thread, int block = -1);
  void write(int array, std::int64_t element, int thread, const Item& item);
  /// An element of the caller's becomes `sum` of what it is, while any threads do the same.
  void add(int array, std::int64_t element, int thread, const std::function<Item(const Item& before)>& sum);

  /// Asynchronous copies of a thread to shared memory: under way, closed as a group, landed but for the last `groups`
  /// groups.
  void start(int array, std::int64_t element, int thread, const Item& item);
  void commit(int thread);
  void wait(int thread, int groups);

  // Copies by tensor maps (map.cpp), which counters of a shared array count, phase by phase.

  /// All counters of an array, in the block of a thread.
  void make_ready(int array, int thread);
  /// The phase ends when so many bytes have come.
  void expect(int array, std::int64_t counter, int thread, std::int64_t bytes);
  /// What goes to an element of shared memory until that phase is over.
  void bring(int array, std::int64_t element, const Item& item, int counters, std::int64_t counter, int thread);
  void await(int array, std::int64_t counter, int thread, std::int64_t parity);
  void end_task() const;

  // Products of warp groups (product_memory.cpp). Registers that they add to or read must not be touched until they are
  // waited for, nor what they read of shared memory be written.

  /// An element of shared memory as such a product reads it, on account of one of the group's threads.
  Item read_for_product(int array, std::int64_t element, int thread);
  /// A register that the thread's next product adds to, whatever is under way.
  Item sum(int array, std::int64_t element, int thread) const;
  /// A register of a factor that the thread's next product reads.
  Item held(int array, std::int64_t element, int thread);
  /// What a product makes of the thread's registers from `first` on.
  void multiply(int array, std::int64_t first, int thread, const std::vector<Item>& sums);
  void commit_products(int thread);
  void wait_for_products(int thread, int groups);
  /// What the thread has written is seen by products: to a register array, -1: to shared memory.
  void fence(int thread, int registers);

  /// After all tasks.
  void check_results() const;

 private:
  /// Threads that read and wrote an element in an interval between barriers.
  struct Met {
    std::int64_t task = -1;
    std::int64_t written_in = -1, read_in = -1;
    std::int64_t written_in_cluster = -1, read_in_cluster = -1;
    int reading_block = -1;        // -2: several
    int writer = -1, reader = -1;  // reader -2: several
    int reading_warp = -1;         // -2: several
    /// The same intervals between barriers of the writer's warp, and of the readers'.
    std::int64_t written_in_warp = -1, read_in_warp = -1;
    bool written = false;
    bool several = false;  // tasks that touched it
    bool added = false;    // and nothing else
    bool fenced = false;   // since it was written
    std::int64_t fenced_in = -1;
    bool under_way = false;  // an asynchronous copy to it, which is into shared memory
    int products = 0;        // under way, that read it
  };
  struct Cells {
    std::vector<Item> items;
    std::vector<Met> met;                              // shared, of each block
    std::unordered_map<std::int64_t, Met> met_global;  // global and written
  };
  struct Flight {
    int array;
    std::int64_t element;
    Item item;
    int group;
  };
  struct Flights {
    std::vector<Flight> flights;
    int group = 0;  // that is open
  };

  /// What a counter of copies by tensor maps counts.
  struct Counter {
    int thread = -1;                      // that has made it ready,
    std::int64_t since = -1;              // in that interval between barriers
    std::int64_t phases = 0;              // that are over
    std::int64_t expected = 0, come = 0;  // bytes of this one; expected 0: nothing yet
    std::vector<Flight> flights;
  };
  Counter& counter_of(int array, std::int64_t counter, int thread);

  /// Products of a thread that are not waited for.
  struct Products {
    struct Read {
      int array;
      std::int64_t element;
      int group;
    };
    struct Sum {
      Item item;
      int group;
    };
    std::map<std::pair<int, std::int64_t>, Sum> sums;
    std::vector<Read> reads;
    std::map<std::pair<int, std::int64_t>, int> held;    // registers of factors, by the last group that reads them
    std::vector<std::pair<int, std::int64_t>> unfenced;  // elements of shared memory that it wrote
    std::set<std::pair<int, std::int64_t>> written;      // registers, since the last fence
    int group = 0;                                       // that is open
  };

  void check_products(int array, std::int64_t element, int thread) const;
  void write_before_products(int array, std::int64_t element, int thread);

  const Array& array(int number) const { return kernel_.array(number); }
  [[noreturn]] void fail(int array, std::int64_t element, const std::string& rule) const;
  void check_bounds(int array, std::int64_t element) const;
  static int warp_of(int thread) { return thread / 32; }
  int block_of(int thread) const { return blocks_ == 1 ? 0 : thread / (threads_ / blocks_); }
  std::int64_t& warp_interval(int thread) { return warp_intervals_[static_cast<std::size_t>(warp_of(thread))]; }
  std::int64_t& interval(int thread) { return intervals_[static_cast<std::size_t>(block_of(thread))]; }
  void meet(Met& met, int array, std::int64_t element, int thread, bool writes);
  Met* met(int array, std::int64_t element, int block);
  std::size_t cell(int array, std::int64_t element, int thread, int block) const;
  std::size_t cell(int array, std::int64_t element, int thread) const {
    return cell(array, element, thread, block_of(thread));
  }
  char* address(int array, std::int64_t element) const;

  const Kernel& kernel_;
  int threads_, blocks_;
  const std::vector<void*>* buffers_;
  std::vector<std::int64_t> elements_;                       // per array, as it says them
  std::vector<Cells> cells_;                                 // per array
  std::vector<Flights> flights_;                             // per thread
  std::map<std::pair<int, std::size_t>, Counter> counters_;  // by array and cell
  bool multiplies_ = false;                                  // there are products of warp groups
  std::vector<Products> products_;                           // per thread
  std::int64_t task_ = -1, cluster_interval_ = 0;
  std::int64_t intervals_begun_ = 0;     // of all blocks, which have different ones
  std::vector<std::int64_t> intervals_;  // per block
  std::vector<std::int64_t> warp_intervals_;
  int origin_ = -1;
};

}  // namespace ricci::kernel
