#include "cache/store.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <future>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/directory.hpp"
#include "cache/format.hpp"
#include "cache/lock.hpp"
#include "cache/memory.hpp"
#include "cache/sweep.hpp"
#include "ricci/log.hpp"

namespace ricci::cache {

using EntryPointer = std::shared_ptr<const Entry>;

// Work on one key that other threads wait for.
struct Flight {
  explicit Flight(std::string_view text) : key(text), done(promise.get_future()) {}
  std::string key;
  std::promise<EntryPointer> promise;
  std::shared_future<EntryPointer> done;
  std::thread::id owner = std::this_thread::get_id();
};

namespace {

using Clock = std::chrono::steady_clock;

// How many `make` functions are running below one another in this thread. One that calls the store again must not wait
// for ever for a thread or a process that may be waiting for it.
thread_local int make_depth = 0;

struct MakeScope {
  MakeScope() { ++make_depth; }
  ~MakeScope() { --make_depth; }
};

// These do not pass by themselves: trying again at every kernel would only cost time and lines of log.
bool is_lasting(int error) {
  return error == EROFS || error == EACCES || error == EPERM || error == ENOSPC || error == EDQUOT ||
         error == ENOTDIR || error == kRefused;
}

const char* advice(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return ". Free some space, or set RICCI_CACHE_DIR to another disk";
    case EROFS:
    case EACCES:
    case EPERM:
      return ". Set RICCI_CACHE_DIR to a directory that you can write, or RICCI_CACHE=ro if this is meant";
    default:
      return "";
  }
}

Config drop_refused_roots(Config config) {
  const auto refused = [&](const std::filesystem::path& root) {
    const std::optional<std::string> objection = Directory(root, config.shared).objection();
    if (objection) log_line(LogTopic::warning, *objection);
    return objection.has_value();
  };
  if (!config.root.empty() && refused(config.root)) config.root.clear();
  std::erase_if(config.read_only_roots, [&](const auto& root) { return root.empty() || refused(root); });
  for (const auto& root : config.read_only_roots) {
    std::error_code error;
    if (std::filesystem::is_directory(root, error)) continue;
    log_line(LogTopic::warning, fmt::format("RICCI_CACHE_RO: {}: {}; no kernels are found there", root.string(),
                                            error ? error.message() : "no directory"));
  }
  return config;
}

}  // namespace

struct Store::Impl {
  explicit Impl(Config wanted);
  ~Impl();

  EntryPointer find_in_memory(std::string_view key);
  EntryPointer find_on_disk(std::string_view key, const EntryName& name) noexcept;
  EntryPointer read(const Directory& directory, std::string_view key, const EntryName& name, bool touch);
  EntryPointer keep(EntryPointer entry) noexcept;
  EntryPointer lead(std::string_view key, const std::function<Entry()>& make, Outcome* outcome);
  EntryPointer wait_for_lock(std::string_view key, const EntryName& name, Lock* lock);
  EntryPointer run(std::string_view key, const std::function<Entry()>& make);
  void publish(const EntryName& name, const Entry& entry) noexcept;
  void failed(const char* what, int error);
  bool first_told(
      const std::string& path);  ///< of a damaged file, which is looked at more than once before it is replaced
  bool writable() const noexcept { return directory && !config.read_only && !latched.load(std::memory_order_relaxed); }

  Config config;
  std::optional<Directory> directory;  // the writable root
  std::vector<Directory> read_only;
  std::optional<LockFolder> locks;

  std::mutex mutex;  // guards the next three; never held while a file is touched or a caller's function runs
  MemoryCache memory;
  std::unordered_map<std::string_view, std::shared_ptr<Flight>> flights;
  std::set<std::string> told;

  std::atomic<bool> latched{false}, warned{false}, warned_timeout{false};
  SweepState sweep_state;
  std::atomic<std::int64_t> patience_ms;  // halved whenever a wait was in vain, so that a stuck lock costs 20 s in all
  std::atomic<std::uint64_t> memory_hits{0}, disk_hits{0}, misses{0}, made{0}, stored{0}, damaged{0};
};

namespace {

// All stores of the process, so that fork() finds their mutexes free and the child forgets work that nobody finishes.
class Stores {
 public:
  static Stores& instance() {
    static Stores* const stores = new Stores;  // never destroyed: fork() may come during exit
    return *stores;
  }
  void add(std::mutex* mutex, std::unordered_map<std::string_view, std::shared_ptr<Flight>>* flights) {
    const std::lock_guard guard(mutex_);
    items_.push_back({mutex, flights});
  }
  void remove(const std::mutex* mutex) {
    const std::lock_guard guard(mutex_);
    std::erase_if(items_, [&](const Item& item) { return item.mutex == mutex; });
  }

 private:
  struct Item {
    std::mutex* mutex;
    std::unordered_map<std::string_view, std::shared_ptr<Flight>>* flights;
  };

  Stores() {
    (void)::pthread_atfork(
        [] {
          instance().mutex_.lock();
          for (const Item& item : instance().items_) item.mutex->lock();
        },
        [] { instance().unlock(); },
        [] {
          for (const Item& item : instance().items_) item.flights->clear();
          instance().unlock();
        });
  }
  void unlock() {
    for (const Item& item : items_) item.mutex->unlock();
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::vector<Item> items_;
};

}  // namespace

Store::Impl::Impl(Config wanted)
    : config(drop_refused_roots(std::move(wanted))),
      memory(config.max_memory_bytes),
      patience_ms(config.lock_timeout.count()) {
  if (!config.root.empty()) {
    directory.emplace(config.root, config.shared);
    if (!config.read_only) locks.emplace(*directory, config.runtime_dir);
  }
  for (const std::filesystem::path& root : config.read_only_roots) read_only.emplace_back(root, config.shared);
  Stores::instance().add(&mutex, &flights);
  if (config.root.empty() && log_enabled(LogTopic::cache))
    log_line(LogTopic::cache, "cache: no directory: kernels are kept in memory only");
}

Store::Impl::~Impl() { Stores::instance().remove(&mutex); }

EntryPointer Store::Impl::find_in_memory(std::string_view key) {
  const std::lock_guard guard(mutex);
  return memory.find(key);
}

EntryPointer Store::Impl::keep(EntryPointer entry) noexcept {
  try {
    const std::lock_guard guard(mutex);
    memory.insert(entry);
  } catch (...) {  // no memory to keep it: it is found again on disk
  }
  return entry;
}

bool Store::Impl::first_told(const std::string& path) {
  const std::lock_guard guard(mutex);
  return told.insert(path).second;
}

// Warns once; an error that will not pass also ends writing.
void Store::Impl::failed(const char* what, int error) {
  if (is_lasting(error)) latched = true;
  const bool first = !warned.exchange(true);
  if (!first && !log_enabled(LogTopic::cache)) return;
  log_line(first ? LogTopic::warning : LogTopic::cache,
           fmt::format("cannot {} the kernel cache {}: {}{}; kernels are compiled and used all the same", what,
                       config.root.string(), error_text(error), advice(error)));
}

EntryPointer Store::Impl::read(const Directory& from, std::string_view key, const EntryName& name, bool touch) {
  FileBytes bytes;
  if (const int error = from.read(name, touch, &bytes)) {
    if (error != ENOENT && log_enabled(LogTopic::cache))
      log_line(LogTopic::cache,
               fmt::format("cache: {}/{} is passed over: {}", from.root().string(), name.path(), error_text(error)));
    return nullptr;
  }
  EntryView view;
  Damage damage = inspect(bytes.span(), &view);
  if (damage == Damage::none && view.key != key) return nullptr;  // two keys of one name
  const auto entry = std::make_shared<Entry>();
  if (damage == Damage::none) damage = expand(view, entry.get());
  if (damage == Damage::none) return entry;
  ++damaged;
  const auto path = (from.root() / name.path()).string();
  if (first_told(path)) {
    log_line(LogTopic::warning,
             fmt::format("the kernel cache's file {} is damaged ({}) and is not used; what it held is made anew", path,
                         describe(damage)));
  }
  return nullptr;
}

EntryPointer Store::Impl::find_on_disk(std::string_view key, const EntryName& name) noexcept {
  try {
    EntryPointer entry;
    if (directory) entry = read(*directory, key, name, writable());
    for (auto root = read_only.begin(); !entry && root != read_only.end(); ++root)
      entry = read(*root, key, name, false);
    if (entry) ++disk_hits;
    return entry;
  } catch (...) {
    return nullptr;  // no memory for it: the caller has to make it, or fail by itself
  }
}

void Store::Impl::publish(const EntryName& name, const Entry& entry) noexcept {
  try {
    if (!writable()) return;
    const std::vector<std::byte> bytes = encode(entry);
    if (bytes.size() > config.max_bytes) {
      if (log_enabled(LogTopic::cache))
        log_line(LogTopic::cache, fmt::format("cache: {} bytes are not stored: the bound is {} bytes (RICCI_CACHE_MAX)",
                                              bytes.size(), config.max_bytes));
      return;
    }
    int error = directory->publish(name, bytes);
    if (error == ENOENT || error == ESTALE) error = directory->publish(name, bytes);  // removed under our hands
    if (error) return failed("write to", error);
    ++stored;
    account(*directory, *locks, bytes.size(), config.max_bytes, &sweep_state);
  } catch (const std::exception& error) {
    if (!warned.exchange(true)) log_line(LogTopic::warning, std::string("a kernel was not stored: ") + error.what());
  } catch (...) {
    latched = true;
  }
}

// Returns with the lock, or with the entry that another process made meanwhile, or with neither when waiting cannot
// help.
EntryPointer Store::Impl::wait_for_lock(std::string_view key, const EntryName& name, Lock* lock) {
  const auto patience = std::chrono::milliseconds(make_depth ? 0 : patience_ms.load());
  const auto begin = Clock::now();
  auto pause = std::chrono::microseconds(200);
  bool waited = false;
  for (;;) {
    switch (locks->try_acquire(name.stripe(), lock)) {
      case LockResult::unavailable:
        return nullptr;
      case LockResult::acquired:
        if (waited) patience_ms = config.lock_timeout.count();
        // Its last holder may have stored the entry between our look and our lock.
        return find_on_disk(key, name);
      case LockResult::busy:
        break;
    }
    if (Clock::now() - begin >= patience) break;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds(10'000));
    waited = true;
    if (EntryPointer entry = find_on_disk(key, name)) return entry;
  }
  if (make_depth) return nullptr;
  patience_ms = patience.count() / 2;
  if (!warned_timeout.exchange(true))
    log_line(LogTopic::warning,
             fmt::format(
                 "another process has held a lock of the kernel cache {} for {} ms: compiling without waiting for it",
                 config.root.string(), patience.count()));
  return nullptr;
}

EntryPointer Store::Impl::run(std::string_view key, const std::function<Entry()>& make) {
  const MakeScope scope;
  auto entry = std::make_shared<Entry>(make());
  entry->key = key;
  ++made;
  return entry;
}

EntryPointer Store::Impl::lead(std::string_view key, const std::function<Entry()>& make, Outcome* outcome) {
  const EntryName name = EntryName::of(key);
  *outcome = Outcome::disk;
  if (EntryPointer entry = find_on_disk(key, name)) return entry;
  Lock lock;
  if (writable())
    if (EntryPointer entry = wait_for_lock(key, name, &lock)) return entry;
  ++misses;
  *outcome = Outcome::made;
  EntryPointer entry = run(key, make);
  publish(name, *entry);
  return entry;
}

Store::Store(Config config) : impl_(std::make_unique<Impl>(std::move(config))) {}

Store::~Store() = default;

std::shared_ptr<const Entry> Store::find(std::string_view key, Outcome* outcome) noexcept {
  try {
    if (EntryPointer entry = impl_->find_in_memory(key)) {
      ++impl_->memory_hits;
      if (outcome) *outcome = Outcome::memory;
      return entry;
    }
    if (EntryPointer entry = impl_->find_on_disk(key, EntryName::of(key))) {
      if (outcome) *outcome = Outcome::disk;
      return impl_->keep(std::move(entry));
    }
  } catch (...) {  // no memory: a miss
  }
  ++impl_->misses;
  return nullptr;
}

std::shared_ptr<const Entry> Store::find_or_make(std::string_view key, const std::function<Entry()>& make,
                                                 Outcome* outcome) {
  Outcome ignored;
  if (!outcome) outcome = &ignored;
  std::shared_ptr<Flight> flight;
  bool leading = false;
  {
    const std::lock_guard guard(impl_->mutex);
    if (EntryPointer entry = impl_->memory.find(key)) {
      ++impl_->memory_hits;
      *outcome = Outcome::memory;
      return entry;
    }
    const auto under_way = impl_->flights.find(key);
    if (under_way != impl_->flights.end()) {
      flight = under_way->second;
    } else {
      flight = std::make_shared<Flight>(key);
      impl_->flights.emplace(flight->key, flight);
      leading = true;
    }
  }

  if (!leading) {
    const bool may_deadlock = flight->owner == std::this_thread::get_id();
    const bool done = !may_deadlock && (make_depth == 0 ||
                                        flight->done.wait_for(impl_->config.lock_timeout) == std::future_status::ready);
    if (done) {
      *outcome = Outcome::memory;
      EntryPointer entry = flight->done.get();
      ++impl_->memory_hits;
      return entry;
    }
    *outcome = Outcome::made;
    return impl_->keep(impl_->run(key, make));
  }

  const auto land = [&] {
    const std::lock_guard guard(impl_->mutex);
    const auto at = impl_->flights.find(key);
    if (at != impl_->flights.end() && at->second == flight) impl_->flights.erase(at);
  };
  try {
    EntryPointer entry = impl_->keep(impl_->lead(key, make, outcome));
    land();
    flight->promise.set_value(entry);
    return entry;
  } catch (...) {
    land();
    flight->promise.set_exception(std::current_exception());
    throw;
  }
}

void Store::put(Entry entry) {
  const auto shared = std::make_shared<const Entry>(std::move(entry));
  impl_->keep(shared);
  impl_->publish(EntryName::of(shared->key), *shared);
}

void Store::erase(std::string_view key) noexcept {
  try {
    {
      const std::lock_guard guard(impl_->mutex);
      impl_->memory.erase(key);
    }
    if (!impl_->writable()) return;
    if (const int error = impl_->directory->remove(EntryName::of(key))) impl_->failed("remove an entry of", error);
  } catch (...) {  // no memory for a message
  }
}

std::shared_ptr<void> Store::exclusive(const std::string& name, std::chrono::milliseconds patience) noexcept {
  try {
    if (!impl_->writable()) return nullptr;
    auto lock = std::make_shared<Lock>();
    const auto begin = Clock::now();
    for (;;) {
      const auto result = impl_->locks->try_acquire(name.c_str(), lock.get());
      if (result == LockResult::acquired) return lock;
      if (result == LockResult::unavailable || Clock::now() - begin >= patience) return nullptr;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  } catch (...) {
    return nullptr;
  }
}

Counters Store::counters() const noexcept {
  Counters counters;
  counters.memory_hits = impl_->memory_hits;
  counters.disk_hits = impl_->disk_hits;
  counters.misses = impl_->misses;
  counters.made = impl_->made;
  counters.stored = impl_->stored;
  counters.damaged = impl_->damaged;
  return counters;
}

const Config& Store::config() const noexcept { return impl_->config; }

}  // namespace ricci::cache
