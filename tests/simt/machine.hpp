// One run of a kernel: blocks one after another, the threads of a block as fibers, every access seen before it happens.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "fiber.hpp"
#include "image.hpp"
#include "shadow.hpp"
#include "simulator.hpp"
#include "traffic.hpp"

namespace ricci::simt {

class Machine {
 public:
  Machine(const Image& image, const Launch& launch, void** arguments, std::span<const Buffer> buffers,
          const Options& options);

  /// Runs the grid on the calling thread. Call once.
  void run();
  /// Faults and traffic of the run.
  void fill(Report& report) const;

 private:
  enum class Status : std::uint8_t { ready, at_barrier, at_warp_sync, at_shuffle, finished };

  // An access that has been let through, kept until its warp synchronises.
  struct Record {
    std::uint64_t address;
    std::uint32_t site;
    std::uint16_t region;
    std::uint8_t bytes;
    bool write;
  };

  struct Lane {
    void* sp = nullptr;
    int stack = -1;
    Status status = Status::ready;
    unsigned line = 0;  // of the synchronisation it waits at
    void* value = nullptr;
    unsigned value_bytes = 0, source = 0;
    std::vector<Record> log;
    std::size_t next = 0;  // first record of the log that is not yet counted
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
  static void on_shuffle(void* value, unsigned bytes, unsigned source, unsigned line);

  bool launch_is_possible();
  void run_block(std::uint64_t index);
  void run_warp(unsigned warp);
  void resume(unsigned thread);
  void suspend(Status status, unsigned line);
  bool pass_barrier();
  bool synchronise(unsigned warp, unsigned first, unsigned end);
  void exchange(unsigned first, unsigned end);
  void count_accesses(unsigned first, unsigned end);
  void count(const WarpAccess& access, const Record& record, unsigned first);
  void check_race(const Record& record, unsigned thread);

  int locate(std::uint64_t address, unsigned bytes) const;
  int nearest(std::uint64_t address) const;
  void refuse_access(FaultKind kind, int region, std::uint64_t address, unsigned bytes, bool write, std::uint32_t site,
                     std::string detail = {});
  Fault here(FaultKind kind, unsigned thread, unsigned line) const;
  void add(Fault fault, std::uint64_t place);
  void stop(Fault fault);  // from the scheduler
  // From a fiber, which is never switched to again. Not [[noreturn]]: the address sanitizer would look for the end of
  // its stack.
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
  unsigned thread_ = 0;
  std::array<unsigned, 3> block_{};
  std::uint64_t blocks_done_ = 0;
  Clock clock_;
  std::vector<std::uint32_t> block_starts_;   // clock at the start of each block that ran,
  std::vector<std::uint64_t> block_numbers_;  // and which it was
};

}  // namespace ricci::simt
