#include "machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>

#include "kernel/kernel.hpp"

namespace ricci::simt {
namespace {

thread_local Machine* t_machine = nullptr;

FiberStacks& stacks_of_this_thread() {
  static thread_local FiberStacks stacks;
  return stacks;
}

constexpr unsigned kWriteBit = 1u << 5, kBytesMask = 31, kSiteShift = 8;
constexpr unsigned kMostThreads = 1024, kMostGridYZ = 65535;
constexpr std::size_t kStaticShared = 48u << 10, kMostShared = 227u << 10;
constexpr int kPoison = 0xa5;
constexpr std::size_t kSharedAlignment = 1024;

}  // namespace

const RicciSimtHooks Machine::kHooks = {
    on_coordinate,      on_sync_threads,    on_sync_warp,     on_sync_cluster,   on_of_block,
    on_shuffle,         on_copy_async_from, on_copy_async_to, on_commit_async,   on_wait_async,
    on_atomic_add,      on_load_matrix,     on_multiply,      on_multiply_group, on_multiply_group_held,
    on_fence_registers, on_commit_products, on_wait_products, on_fence_shared,   on_begin_counters,
    on_expect_bytes,    on_await_bytes,     on_copy_box_from, on_copy_box_to};

Machine::Machine(const Image& image, const Launch& launch, void** arguments, std::span<const Buffer> buffers,
                 const Options& options)
    : image_(image),
      launch_(launch),
      arguments_(arguments),
      options_(options),
      random_(options.seed),
      sites_(image.sites()),
      stacks_(stacks_of_this_thread()),
      cluster_(image.cluster()),
      multiplies_(launch.source.find("wgmma_") != std::string::npos) {
  const auto add_region = [&](std::string name, std::uint64_t begin, std::size_t bytes, Space space, bool writable) {
    Region& region = regions_.emplace_back();
    region.name = std::move(name);
    region.begin = begin;
    region.bytes = bytes;
    region.space = space;
    region.writable = writable;
    region.shadow.reset(bytes, begin % 16, space == Space::shared);
    if (space == Space::global) {
      region.read.reset(bytes);
      region.written.reset(bytes);
    }
  };
  for (std::size_t i = 0; i < buffers.size(); ++i)
    add_region(fmt::format("buffer {}", i), reinterpret_cast<std::uint64_t>(buffers[i].begin), buffers[i].bytes,
               Space::global, buffers[i].writable);
  first_shared_ = static_cast<int>(regions_.size());
  for (const SharedVariable& variable : image.shared())
    add_region(variable.name, variable.begin, variable.bytes, Space::shared, true);
  first_saved_ = static_cast<int>(regions_.size());
  if (cluster_ == 1) return;
  const auto bytes = (image.shared_bytes() + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
  for (unsigned rank = 0; rank < cluster_; ++rank) {
    saved_.emplace_back(static_cast<std::byte*>(std::aligned_alloc(kSharedAlignment, bytes)), &std::free);
    const auto moved = reinterpret_cast<std::uint64_t>(saved_.back().get()) - image.shared_begin();
    for (const SharedVariable& variable : image.shared())
      add_region(fmt::format("{} of block {}", variable.name, rank), variable.begin + moved, variable.bytes,
                 Space::shared, false);
  }
}

bool Machine::launch_is_possible() {
  const auto refuse = [&](std::string detail) {
    Fault fault;
    fault.kind = FaultKind::launch;
    fault.detail = std::move(detail);
    stop(std::move(fault));
    return false;
  };
  if (launch_.block == 0 || launch_.block > kMostThreads)
    return refuse(fmt::format("{} threads per block; 1 to {} are possible", launch_.block, kMostThreads));
  if (image_.launch_bounds() != 0 && launch_.block > image_.launch_bounds())
    return refuse(
        fmt::format("{} threads per block, but __launch_bounds__({})", launch_.block, image_.launch_bounds()));
  if (launch_.grid_x == 0 || launch_.grid_x > 0x7fffffffu || launch_.grid_y == 0 || launch_.grid_y > kMostGridYZ ||
      launch_.grid_z == 0 || launch_.grid_z > kMostGridYZ)
    return refuse(fmt::format("grid {} x {} x {}; up to 2147483647 x {} x {} are possible", launch_.grid_x,
                              launch_.grid_y, launch_.grid_z, kMostGridYZ, kMostGridYZ));
  if (cluster_ > kernel::kMostCluster || launch_.grid_x % cluster_ != 0)
    return refuse(fmt::format("clusters of {} blocks in a grid of {}; up to {} that divide it are possible", cluster_,
                              launch_.grid_x, kernel::kMostCluster));
  if (cluster_ > 1 && launch_.block % kWarp != 0)
    return refuse("clusters of blocks of no whole warps are not simulated");
  const std::size_t fixed = image_.shared_bytes() - std::min(image_.shared_bytes(), launch_.dynamic_shared);
  if (fixed > kStaticShared || image_.shared_bytes() > kMostShared)
    return refuse(fmt::format("{} bytes of static and {} of dynamic shared memory; {} and {} together are possible",
                              fixed, launch_.dynamic_shared, kStaticShared, kMostShared));
  return true;
}

void Machine::run() {
  if (!launch_is_possible()) return;
  image_.set_hooks(&kHooks, on_access);
  Machine* outer = std::exchange(t_machine, this);
  stacks_.release_all();
  lanes_.resize(std::size_t{cluster_} * launch_.block);
  clock_.threads = launch_.block;
  clock_.barrier.assign(cluster_, 0);
  clock_.awaited.assign(lanes_.size(), 0);
  clock_.warp.assign((lanes_.size() + kWarp - 1) / kWarp, 0);

  const std::uint64_t clusters = std::uint64_t{launch_.grid_x} * launch_.grid_y * launch_.grid_z / cluster_;
  std::vector<std::uint64_t> shuffled;
  if (options_.order == Order::random) {
    shuffled.resize(clusters);
    std::iota(shuffled.begin(), shuffled.end(), std::uint64_t{0});
    std::shuffle(shuffled.begin(), shuffled.end(), random_);
  }
  for (std::uint64_t i = 0; i < clusters && !stopped_; ++i)
    run_cluster(options_.order == Order::forward   ? i
                : options_.order == Order::reverse ? clusters - 1 - i
                                                   : shuffled[i]);
  t_machine = outer;
}

std::array<unsigned, 3> Machine::block_index(std::uint64_t linear) const {
  return {static_cast<unsigned>(linear % launch_.grid_x),
          static_cast<unsigned>(linear / launch_.grid_x % launch_.grid_y),
          static_cast<unsigned>(linear / launch_.grid_x / launch_.grid_y)};
}

std::vector<unsigned> Machine::ordered(unsigned first, unsigned end) {
  std::vector<unsigned> order(end - first);
  std::iota(order.begin(), order.end(), first);
  if (options_.order == Order::reverse) std::reverse(order.begin(), order.end());
  if (options_.order == Order::random) std::shuffle(order.begin(), order.end(), random_);
  return order;
}

void Machine::run_cluster(std::uint64_t index) {
  first_block_ = index * cluster_;
  rank_ = 0;
  ++clock_.now;
  clock_.block = clock_.cluster = clock_.now;
  std::fill(clock_.barrier.begin(), clock_.barrier.end(), clock_.now);
  std::fill(clock_.warp.begin(), clock_.warp.end(), clock_.now);
  block_starts_.push_back(clock_.now);
  block_numbers_.push_back(first_block_);
  if (image_.shared_bytes() != 0)
    std::memset(reinterpret_cast<void*>(image_.shared_begin()), kPoison, image_.shared_bytes());
  for (const auto& saved : saved_) std::memset(saved.get(), kPoison, image_.shared_bytes());
  for (Region& region : regions_) {
    region.read.begin_block();
    region.written.begin_block();
  }
  unfenced_.clear();
  counters_.clear();
  for (Lane& lane : lanes_) {
    lane.status = Status::ready;
    lane.stack = -1;
    lane.copies.clear();
    lane.groups = 0;
    lane.products.clear();
    lane.held.clear();
    lane.product_groups = 0;
    lane.sums_fenced = false;
    lane.unfenced.clear();
    lane.issued_products = 0;
    lane.log.clear();
    lane.next = 0;
    lane.rounds.clear();
  }
  do {
    for (const unsigned rank : ordered(0, cluster_)) {
      run_block(rank);
      if (stopped_) return;
    }
  } while (pass_cluster_barrier());
  if (!stopped_) check_groups();
  if (!stopped_) report_unfinished_boxes();
  if (!stopped_) blocks_done_ += cluster_;
}

// Until all of its threads are at a barrier of the cluster or have returned.
void Machine::run_block(unsigned rank) {
  show_shared(rank);
  const unsigned warps = (launch_.block + kWarp - 1) / kWarp;
  const unsigned first = rank * launch_.block, end = first + launch_.block;
  do {
    do {
      for (const unsigned warp : ordered(rank * warps, (rank + 1) * warps)) {
        run_warp(warp);
        if (stopped_) return;
      }
    } while (pass_counters(first, end));
    if (at_counters(first, end)) return report_stuck(first, end);
  } while (pass_barrier(rank));
}

// After every warp has stopped: true when the block goes on behind __syncthreads.
bool Machine::pass_barrier(unsigned rank) {
  const auto begin = lanes_.begin() + rank * launch_.block, end = begin + launch_.block;
  auto waiting = end;
  for (auto lane = begin; lane != end; ++lane)
    if (lane->status == Status::at_barrier) waiting = lane;
  if (waiting == end) return false;
  const auto missing = std::find_if(
      begin, end, [&](const Lane& lane) { return lane.status != Status::at_barrier || lane.line != waiting->line; });
  if (missing != end) {
    Fault fault = here(FaultKind::divergent_barrier, static_cast<unsigned>(waiting - lanes_.begin()), waiting->line);
    fault.other_thread = static_cast<unsigned>(missing - begin);
    if (missing->status != Status::finished) fault.other_line = missing->line;
    fault.detail = missing->status == Status::finished     ? "has returned"
                   : missing->status == Status::at_cluster ? "is at a barrier of the cluster"
                                                           : "is at another __syncthreads";
    stop(std::move(fault));
    return false;
  }
  ++clock_.now;
  clock_.barrier[rank] = clock_.now;
  std::for_each(begin, end, [](Lane& lane) { lane.status = Status::ready; });
  return true;
}

// Runs a warp until all of its lanes are at __syncthreads or have returned.
void Machine::run_warp(unsigned warp) {
  const unsigned first = warp * kWarp, end = std::min(first + kWarp, static_cast<unsigned>(lanes_.size()));
  do {
    for (const unsigned thread : ordered(first, end)) {
      if (lanes_[thread].status == Status::ready) resume(thread);
      if (stopped_) return;
    }
    count_accesses(first, end);
  } while (!stopped_ && (pass_counters(first, end) || (!at_counters(first, end) && synchronise(warp, first, end))));
}

void Machine::enter_lane() {
  t_machine->image_.call(t_machine->arguments_);
  t_machine->report_unfinished_copies();
  t_machine->report_unfinished_products();
  t_machine->lane_->status = Status::finished;
  t_machine->leave_for_good();
}

void Machine::resume(unsigned thread) {
  lane_ = &lanes_[thread];
  thread_ = thread;
  if (lane_->stack < 0) lane_->stack = stacks_.start(enter_lane, &lane_->sp);
  ricci_simt_switch(&scheduler_, lane_->sp);
  if (lane_->status == Status::finished) stacks_.release(lane_->stack);
}

void Machine::suspend(Status status, unsigned line) {
  lane_->status = status;
  lane_->line = line;
  ricci_simt_switch(&lane_->sp, scheduler_);
}

void Machine::leave_for_good() {
  void* never;
  ricci_simt_switch(&never, scheduler_);
}

Machine& Machine::running() { return *t_machine; }

unsigned Machine::on_coordinate(unsigned which) {
  const Machine& m = *t_machine;
  const unsigned grid[3] = {m.launch_.grid_x, m.launch_.grid_y, m.launch_.grid_z};
  switch (which / 3) {
    case 0:
      return which == 0 ? m.thread_ % m.launch_.block : 0;
    case 1:
      return m.block_index(m.first_block_ + m.rank_)[which % 3];
    case 2:
      return which == 6 ? m.launch_.block : 1;
    default:
      return grid[which % 3];
  }
}

void Machine::on_sync_threads(unsigned line) { t_machine->suspend(Status::at_barrier, line); }
void Machine::on_sync_warp(unsigned line) { t_machine->suspend(Status::at_warp_sync, line); }

void Machine::on_access(const void* pointer, unsigned access) {
  Machine& m = *t_machine;
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const unsigned bytes = access & kBytesMask;
  const bool write = access & kWriteBit;
  const std::uint32_t site = access >> kSiteShift;
  if (bytes == 0) {
    m.lane_->log.push_back({address, site, 0, 0, Touch::loop});
    return;
  }
  const int region = m.admit(address, bytes, write, site);
  if (region < 0) return;  // a local variable whose address was taken
  m.lane_->log.push_back({address, site, static_cast<std::uint16_t>(region), static_cast<std::uint8_t>(bytes),
                          write ? Touch::write : Touch::read});
  if (write && m.regions_[region].space == Space::shared) m.written_to_shared(address, bytes);
}

// The region of an access that may happen; -1 for a local variable.
int Machine::admit(std::uint64_t address, unsigned bytes, bool write, std::uint32_t number) {
  Site& site = sites_[number];
  int region = site.region;
  if (region < 0 || address - regions_[region].begin >= regions_[region].bytes ||
      address + bytes > regions_[region].begin + regions_[region].bytes) {
    region = locate(address, bytes);
    if (region < 0) {
      if (stacks_.contains(address)) return -1;
      refuse_access(FaultKind::out_of_bounds, site.region, address, bytes, write, number);
    }
    if (site.region >= 0 && options_.one_buffer_per_access && base_of(site.region) != base_of(region))
      refuse_access(FaultKind::out_of_bounds, site.region, address, bytes, write, number,
                    "that is in " + regions_[region].name);
    site.region = region;
  }
  if (write && !regions_[region].writable) refuse_access(FaultKind::read_only, region, address, bytes, write, number);
  if (address & (bytes - 1)) refuse_access(FaultKind::misaligned, region, address, bytes, write, number);
  return region;
}

int Machine::locate(std::uint64_t address, unsigned bytes) const {
  for (std::size_t i = 0; i < regions_.size(); ++i)
    if (address - regions_[i].begin < regions_[i].bytes && address + bytes <= regions_[i].begin + regions_[i].bytes)
      return static_cast<int>(i);
  return -1;
}

// The buffer that an address outside all of them was probably meant for.
int Machine::nearest(std::uint64_t address) const {
  constexpr std::uint64_t kFar = std::uint64_t{1} << 30;
  int best = -1;
  std::uint64_t least = kFar;
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const Region& region = regions_[i];
    const std::uint64_t distance =
        address < region.begin ? region.begin - address : address - std::min(address, region.begin + region.bytes);
    if (distance < least) {
      least = distance;
      best = static_cast<int>(i);
    }
  }
  return best;
}

void Machine::refuse_access(FaultKind kind, int region, std::uint64_t address, unsigned bytes, bool write,
                            std::uint32_t site, std::string detail) {
  Fault fault = here(kind, thread_, image_.line(site));
  fault.write = write;
  fault.address = address;
  fault.bytes = bytes;
  fault.detail = std::move(detail);
  if (region < 0) region = nearest(address);
  if (region >= 0) {
    fault.space = regions_[region].space;
    fault.buffer = regions_[region].name;
    fault.offset = static_cast<std::int64_t>(address - regions_[region].begin);
    fault.detail +=
        fmt::format("{}{} has {} bytes", fault.detail.empty() ? "" : "; ", fault.buffer, regions_[region].bytes);
  }
  stop(std::move(fault));  // with all its strings: nothing on this stack is destroyed
  leave_for_good();
}

// Counts the records of a warp: an access is one instruction at one place of the lanes' logs. Lanes that have parted
// are brought together again at the earliest instruction that any of them has still to do, as the hardware would.
void Machine::count_accesses(unsigned first, unsigned end) {
  WarpAccess access;
  for (;;) {
    for (unsigned t = first; t < end; ++t) pass_marks(t);
    const Lane* earliest = nullptr;
    for (unsigned t = first; t < end; ++t) {
      const Lane& lane = lanes_[t];
      if (lane.next < lane.log.size() && (!earliest || is_earlier(lane, *earliest))) earliest = &lane;
    }
    if (!earliest) break;
    access.lanes = 0;
    const Record* record = nullptr;
    const std::uint32_t site = earliest->log[earliest->next].site;
    const auto& rounds = earliest->rounds;
    for (unsigned t = first; t < end; ++t) {
      Lane& lane = lanes_[t];
      if (lane.next == lane.log.size() || lane.log[lane.next].site != site || lane.rounds != rounds) continue;
      const Record& own = lane.log[lane.next];
      // Two buffers in one instruction: counted one after the other.
      if (record && own.region != record->region) continue;
      record = &own;
      ++lane.next;
      access.address[access.lanes] = own.address;
      access.lane[access.lanes++] = static_cast<std::uint8_t>(t - first);
    }
    access.bytes = record->bytes;
    count(access, *record, first);
  }
  for (unsigned t = first; t < end; ++t) {
    lanes_[t].log.clear();
    lanes_[t].next = 0;
  }
}

// Whether the next record of a lane comes before another's: in an earlier round of the innermost loop that both are in,
// or else earlier in the text.
bool Machine::is_earlier(const Lane& lane, const Lane& than) {
  for (std::size_t k = 0; k < std::min(lane.rounds.size(), than.rounds.size()); ++k) {
    const auto &own = lane.rounds[k], &other = than.rounds[k];
    if (own.loop != other.loop) break;
    if (own.number != other.number) return own.number < other.number;
  }
  return lane.log[lane.next].site < than.log[than.next].site;
}

// What is no access of a warp: the end of a copy moves nothing more, loops go on.
void Machine::pass_marks(unsigned thread) {
  enum Mark : std::uint64_t { enters, next_round, leaves };  // access_tracing.cpp
  Lane& lane = lanes_[thread];
  for (; lane.next < lane.log.size() && lane.log[lane.next].touch >= Touch::leave; ++lane.next) {
    const Record& record = lane.log[lane.next];
    if (record.touch != Touch::loop) {
      if (options_.check_races) check_race(record, thread);
    } else if (record.address == enters) {
      lane.rounds.push_back({record.site, 0});
    } else {
      // A thread may leave several loops at once.
      while (lane.rounds.back().loop != record.site) lane.rounds.pop_back();
      record.address == next_round ? static_cast<void>(++lane.rounds.back().number) : lane.rounds.pop_back();
    }
  }
}

void Machine::count(const WarpAccess& access, const Record& record, unsigned first) {
  Region& region = regions_[record.region];
  Site& site = sites_[record.site];
  const bool write = writes(record.touch);
  const Cost cost = region.space == Space::shared
                        ? shared_cost(access)
                        : global_cost(access, region.begin, write ? region.written : region.read);
  site.space = region.space;
  site.write = write;
  site.bytes = access.bytes;
  ++site.requests;
  site.units += cost.units;
  site.ideal += cost.ideal;
  site.moved_bytes += std::uint64_t{access.bytes} * access.lanes;
  if (!options_.check_races || (!region.writable && region.space == Space::global)) return;
  Record own = record;
  for (unsigned i = 0; i < access.lanes; ++i) {
    own.address = access.address[i];
    check_race(own, first + access.lane[i]);
  }
}

Conflict Machine::note(const Record& record, unsigned thread) {
  Shadow& shadow = shadow_of(record.region, thread);
  const std::size_t offset = record.address - regions_[record.region].begin;
  switch (record.touch) {
    case Touch::add:
      return shadow.add(offset, record.bytes, thread, record.site, clock_);
    case Touch::issue:
      return shadow.issue(offset, record.bytes, thread, record.site, clock_);
    case Touch::leave:
      return shadow.leave(offset, record.bytes, record.issued);
    case Touch::land:
      shadow.land(offset, record.bytes, thread, clock_);
      return {};
    case Touch::multiply:
      return shadow.access(offset, record.bytes, false, thread, record.site, clock_, options_.check_uninitialised);
    default:
      return shadow.access(offset, record.bytes, record.touch == Touch::write, thread, record.site, clock_,
                           options_.check_uninitialised);
  }
}

void Machine::check_race(const Record& record, unsigned thread) {
  Region& region = regions_[record.region];
  const Conflict conflict = note(record, thread);
  if (conflict.clash == Clash::none) return;
  const FaultKind kind = conflict.clash == Clash::block           ? FaultKind::block_conflict
                         : conflict.clash == Clash::uninitialised ? FaultKind::uninitialised
                                                                  : FaultKind::race;
  Fault fault = here(kind, thread, image_.line(record.site));
  fault.space = region.space;
  fault.write = writes(record.touch);
  fault.buffer = region.name;
  fault.address = record.address;
  fault.offset = static_cast<std::int64_t>(record.address - region.begin);
  fault.bytes = record.bytes;
  if (kind != FaultKind::uninitialised) {
    fault.in_flight = conflict.clash == Clash::in_flight;
    if (conflict.other_thread != thread || fault.in_flight || kind == FaultKind::block_conflict)
      fault.other_thread = conflict.other_thread % launch_.block;
    if (kind == FaultKind::race && conflict.other_thread / launch_.block != thread / launch_.block)
      fault.other_block = block_index(first_block_ + conflict.other_thread / launch_.block);
    fault.other_line = image_.line(conflict.other_site);
    fault.detail = fault.in_flight && record.touch != Touch::leave ? "copies to it"
                   : conflict.other_wrote                          ? "wrote it"
                                                                   : "read it";
  }
  if (kind == FaultKind::block_conflict && conflict.other_stamp != 0) {
    const auto after = std::upper_bound(block_starts_.begin(), block_starts_.end(), conflict.other_stamp);
    fault.other_block = block_index(block_numbers_[after - block_starts_.begin() - 1]);
  }
  add(std::move(fault), place_of(record.site, fault.write, kind));
}

// Copies of one access that the optimiser made are one place, unless it has lost their line.
std::uint64_t Machine::place_of(std::uint32_t site, bool write, FaultKind kind) const {
  const unsigned line = image_.line(site);
  const std::uint64_t place = line ? std::uint64_t{line} << 32 : std::uint64_t{site};
  return place << 8 | std::uint64_t{write} << 7 | static_cast<std::uint64_t>(kind);
}

Fault Machine::here(FaultKind kind, unsigned thread, unsigned line) const {
  Fault fault;
  fault.kind = kind;
  fault.thread = thread % launch_.block;
  fault.block = block_index(first_block_ + thread / launch_.block);
  fault.line = line;
  return fault;
}

void Machine::add(Fault fault, std::uint64_t place) {
  if (const auto found = fault_at_.find(place); found != fault_at_.end()) {
    ++faults_[found->second].count;
  } else if (faults_.size() < options_.most_faults) {
    fault_at_[place] = faults_.size();
    faults_.push_back(std::move(fault));
  }
}

void Machine::stop(Fault fault) {
  faults_.push_back(std::move(fault));
  stopped_ = true;
}

void Machine::fill(Report& report) const {
  report.faults = faults_;
  report.blocks = blocks_done_;
  report.flops = flops_;
  std::map<std::tuple<unsigned, Space, bool, unsigned>, LineTraffic> lines;
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    const Site& site = sites_[i];
    if (site.requests == 0) continue;
    if (site.space == Space::shared) {
      report.shared.requests += site.requests;
      report.shared.wavefronts += site.units;
      report.shared.ideal += site.ideal;
    } else {
      GlobalTraffic& traffic = site.write ? report.written : report.read;
      traffic.requests += site.requests;
      traffic.sectors += site.units;
      traffic.ideal += site.ideal;
      traffic.bytes += site.moved_bytes;
    }
    const unsigned line = image_.line(static_cast<std::uint32_t>(i));
    LineTraffic& row = lines[{line, site.space, site.write, site.bytes}];
    row.line = line;
    row.space = site.space;
    row.write = site.write;
    row.bytes = site.bytes;
    row.requests += site.requests;
    row.units += site.units;
    row.ideal += site.ideal;
  }
  for (auto& [key, row] : lines) report.lines.push_back(row);
  for (const Region& region : regions_) {
    report.read.distinct += region.read.distinct();
    report.read.per_block += region.read.per_block();
    report.written.distinct += region.written.distinct();
    report.written.per_block += region.written.per_block();
  }
}

}  // namespace ricci::simt
