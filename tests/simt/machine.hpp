// One run of a kernel: blocks one after another, or clusters of them, the threads of each as fibers, every access seen
// before it happens.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fiber.hpp"
#include "group_matrix.hpp"
#include "image.hpp"
#include "kernel/atoms.hpp"
#include "shadow.hpp"
#include "simulator.hpp"
#include "traffic.hpp"

namespace ricci::simt {

/// Bytes that a tensor map or a matrix in shared memory is moved by.
constexpr unsigned kUnit = 16;

class Machine {
 public:
  Machine(const Image& image, const Launch& launch, void** arguments, std::span<const Buffer> buffers,
          const Options& options);

  /// Runs the grid on the calling thread. Call once.
  void run();
  /// Faults and traffic of the run.
  void fill(Report& report) const;

 private:
  enum class Status : std::uint8_t { ready, at_barrier, at_warp_sync, at_call, at_cluster, at_counter, finished };

  // How an access touches memory. An asynchronous copy is a read, a write that is issued, and its landing: until then
  // what it reads must stay as it was, and `leave` looks whether it did.
  // What a product of a warp group reads is no access of a warp either, and must stay until the product is over.
  // Neither are the beginnings and ends of loops and of their rounds, whose address says which.
  enum class Touch : std::uint8_t { read, write, add, issue, leave, land, multiply, loop };
  static constexpr bool writes(Touch touch) {
    return touch != Touch::read && touch != Touch::leave && touch != Touch::multiply && touch != Touch::loop;
  }

  // An access that has been let through, kept until its warp synchronises.
  struct Record {
    std::uint64_t address;
    std::uint32_t site;
    std::uint16_t region;
    std::uint8_t bytes;
    Touch touch;
    std::uint32_t issued = 0;  // of leave: when the copy was
  };

  // What the lanes of a warp do together, and what one lane passes to it: pointers into its own stack, and for
  // load_matrix the row that it points to.
  struct WarpCall {
    enum class Kind : std::uint8_t { shuffle, load_matrix, multiply } kind{};
    void* out = nullptr;
    const void *a = nullptr, *b = nullptr;
    const kernel::Atom* atom = nullptr;  // of multiply
    unsigned count = 0;                  // bytes of shuffle, matrices of load_matrix
    unsigned source = 0;                 // lane of shuffle
    bool transposed = false;             // of load_matrix
    // Whether two lanes make the same call.
    bool with(const WarpCall& other) const {
      return kind == other.kind && atom == other.atom && transposed == other.transposed &&
             (kind == Kind::shuffle || count == other.count);
    }
  };

  // An asynchronous copy that its thread has not yet waited for.
  struct AsyncCopy {
    std::uint64_t to, from;  // from 0: zeros
    std::uint32_t site;
    unsigned group;
    std::uint32_t issued;  // the clock then
    std::uint16_t region;  // of the target
    std::uint8_t bytes;
  };

  // What a box of a tensor map brings to 16 bytes of shared memory: bytes `first` to `end` of those from `from` on, and
  // zeros around them.
  struct BoxUnit {
    std::uint64_t to, from;
    std::uint32_t site, issued;
    std::uint16_t region;
    std::uint8_t first, end;
  };
  // What counts the bytes of boxes.
  struct Counter {
    unsigned thread = 0;                   // that began it,
    std::uint32_t since = 0;               // at that time
    std::uint64_t phases = 0;              // that are over
    std::uint64_t expected = 0, come = 0;  // bytes of this one
    std::vector<BoxUnit> units;
  };

  // What a thread has to do of its warp group's product that it has not waited for.
  struct GroupProduct {
    const kernel::Atom* atom;
    unsigned times;       // the atom's columns
    std::uint32_t* sums;  ///< registers
    GroupMatrix a, b;
    unsigned group;
    std::uint32_t site, issued;
    std::vector<std::uint64_t> read = {};  // 16 bytes each that this thread answers for
    // Of A in registers: the thread's own, what they held, and the rows of which its sums are.
    const void* own = nullptr;
    std::vector<std::byte> held = {};
    std::vector<std::uint32_t> rows = {};
  };

  struct Lane {
    void* sp = nullptr;
    int stack = -1;
    Status status = Status::ready;
    unsigned line = 0;          // of the synchronisation it waits at
    std::uint64_t counter = 0;  // of at_counter, and the parity of the phases that it waits for
    unsigned parity = 0;
    WarpCall call;
    std::vector<AsyncCopy> copies;      // oldest first
    unsigned groups = 0;                // that it has committed
    std::deque<GroupProduct> products;  // oldest first
    std::map<std::uint32_t*, std::vector<std::uint32_t>>
        held;                                              // registers of products under way, and what they will hold
    unsigned product_groups = 0;                           // that it has committed
    bool sums_fenced = false;                              // since products have last given them back
    std::map<const void*, std::vector<std::byte>> fenced;  // registers as they were at their fence
    std::vector<std::uint64_t> unfenced;  // 16 bytes each of shared memory that it has written since its fence
    std::uint64_t issued_products = 0;    // of all, in their order: the same for the threads of a group
    std::vector<Record> log;
    std::size_t next = 0;  // first record of the log that is not yet counted
    // Loops around that record, outermost first, and the round that it is in: where the text is traced as written.
    struct Round {
      std::uint32_t loop, number;
      bool operator==(const Round&) const = default;
    };
    std::vector<Round> rounds;
  };

  // A buffer or a shared variable.
  struct Region {
    std::string name;
    std::uint64_t begin = 0;
    std::size_t bytes = 0;
    Space space = Space::global;
    bool writable = true;
    Shadow shadow;
    SectorMap read, written;
  };

  struct Site {
    int region = -1;  // where its accesses have been so far
    Space space = Space::none;
    bool write = false;
    unsigned bytes = 0;
    std::uint64_t requests = 0, units = 0, ideal = 0, moved_bytes = 0;
  };

  static const RicciSimtHooks kHooks;
  static void enter_lane();
  static unsigned on_coordinate(unsigned which);
  static void on_access(const void* address, unsigned access);
  static void on_sync_threads(unsigned line);
  static void on_sync_warp(unsigned line);
  static void on_sync_cluster(unsigned line);
  static const void* on_of_block(const void* shared, unsigned block, unsigned line);
  static void on_shuffle(void* value, unsigned bytes, unsigned source, unsigned line);
  static void on_copy_async_from(const void* global, unsigned bytes, unsigned site);
  static void on_copy_async_to(void* shared, const void* global, unsigned bytes, unsigned site);
  static void on_commit_async();
  static void on_wait_async(unsigned groups);
  static void on_atomic_add(void* p, const void* x, unsigned number, unsigned site);
  static void on_load_matrix(unsigned* registers, const void* row, unsigned count, bool transposed, unsigned site);
  static void on_multiply(const char* atom, void* c, const void* a, const void* b, unsigned line);

  static void on_multiply_group(const char* atom, unsigned times, void* sums, unsigned long long a, bool a_transposed,
                                unsigned long long b, bool b_transposed, unsigned site);
  static void on_multiply_group_held(const char* atom, unsigned times, void* sums, const void* a, unsigned bytes,
                                     const unsigned* rows, unsigned long long b, bool b_transposed, unsigned site);
  static void on_fence_registers(const void* registers, unsigned bytes);
  static void on_commit_products();
  static void on_wait_products(unsigned groups, unsigned line);
  static void on_fence_shared();
  static void on_begin_counters(const void* counters, unsigned count, unsigned line);
  static void on_expect_bytes(const void* counter, unsigned bytes, unsigned line);
  static void on_await_bytes(const void* counter, unsigned parity, unsigned line);
  static void on_copy_box_from(const void* map, const int* at, unsigned rank, unsigned site);
  static void on_copy_box_to(void* shared, const void* map, const void* counter, const int* at, unsigned rank,
                             unsigned site);
  // machine_maps.cpp
  Counter& counter_at(std::uint64_t address, unsigned line);
  void end_phase(Counter& counter, unsigned thread);
  bool pass_counters(unsigned first, unsigned end);
  bool is_over(const Lane& lane);
  bool at_counters(unsigned first, unsigned end) const;
  void report_stuck(unsigned first, unsigned end);
  void report_unfinished_boxes();

  bool launch_is_possible();
  void run_cluster(std::uint64_t index);
  void run_block(unsigned rank);
  void show_shared(unsigned rank);
  void run_warp(unsigned warp);
  void resume(unsigned thread);
  void suspend(Status status, unsigned line);
  bool pass_barrier(unsigned rank);
  bool pass_cluster_barrier();
  int base_of(int region) const;
  Shadow& shadow_of(int region, unsigned thread);
  bool synchronise(unsigned warp, unsigned first, unsigned end);
  void shuffle(unsigned first, unsigned end);
  void call_whole_warp(unsigned first, unsigned end);
  void report_unfinished_copies();
  void report_unfinished_products();
  template <class V>
  void add_product(const GroupProduct& product, std::uint32_t* sums) const;
  void issue(GroupProduct product, std::uint64_t identity);
  void check_groups();
  void written_to_shared(std::uint64_t address, unsigned bytes);
  std::uint64_t unit_of(std::uint64_t address) const;
  void refuse(FaultKind kind, unsigned line, std::string detail);
  int admit(std::uint64_t address, unsigned bytes, bool write, std::uint32_t site);
  int admit(const void* pointer, unsigned bytes, bool write, std::uint32_t site, Space space);
  Conflict note(const Record& record, unsigned thread);
  void count_accesses(unsigned first, unsigned end);
  void pass_marks(unsigned thread);
  static bool is_earlier(const Lane& lane, const Lane& than);
  void count(const WarpAccess& access, const Record& record, unsigned first);
  void check_race(const Record& record, unsigned thread);

  int locate(std::uint64_t address, unsigned bytes) const;
  int nearest(std::uint64_t address) const;
  void refuse_access(FaultKind kind, int region, std::uint64_t address, unsigned bytes, bool write, std::uint32_t site,
                     std::string detail = {});
  Fault here(FaultKind kind, unsigned thread, unsigned line) const;
  std::uint64_t place_of(std::uint32_t site, bool write, FaultKind kind) const;
  void add(Fault fault, std::uint64_t place);
  void stop(Fault fault);  // from the scheduler
  static Machine& running();
  // From a fiber, which is never switched to again.
  void leave_for_good();
  std::array<unsigned, 3> block_index(std::uint64_t linear) const;
  std::vector<unsigned> ordered(unsigned first, unsigned end);

  const Image& image_;
  const Launch& launch_;
  void** arguments_;
  Options options_;
  std::mt19937_64 random_;

  std::vector<Region> regions_;
  std::vector<Site> sites_;
  std::vector<Fault> faults_;
  std::map<std::uint64_t, std::size_t> fault_at_;  // place -> index in faults_
  bool stopped_ = false;

  FiberStacks& stacks_;
  void* scheduler_ = nullptr;
  std::vector<Lane> lanes_;
  Lane* lane_ = nullptr;  // that runs
  // Threads of a cluster are numbered block by block. Its blocks' shared memory lies in the image in turn, and waits in
  // `saved_`, which is a region to other blocks, for each shared variable of each block, behind all others.
  unsigned thread_ = 0, cluster_ = 1;
  unsigned rank_ = 0;  // of the block that runs
  std::uint64_t first_block_ = 0;
  std::vector<std::unique_ptr<std::byte, decltype(&std::free)>> saved_;
  int first_shared_ = 0, first_saved_ = 0;
  std::uint64_t blocks_done_ = 0, flops_ = 0;
  Clock clock_;
  bool multiplies_;                                                 // by warp groups
  std::unordered_map<std::uint64_t, unsigned> unfenced_;            // how often each is among those of lanes
  std::map<std::pair<unsigned, std::uint64_t>, Counter> counters_;  // by rank and address
  std::vector<std::uint32_t> block_starts_;                         // clock at the start of each block that ran,
  std::vector<std::uint64_t> block_numbers_;                        // and which it was
};

}  // namespace ricci::simt
