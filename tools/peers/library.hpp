// Libraries that permutations are timed beside in the same run, each opened from a file that the user names.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ricci/plan.hpp"
#include "ricci/tensor.hpp"

namespace ricci::tools {

/// A permutation between dense tensors.
struct PeerProblem {
  DType type = DType::f64;
  std::vector<std::int64_t> extents;  ///< of the input, slowest first
  std::vector<int> order;             ///< axis k of the output is axis order[k] of the input
  int threads = 1;                    ///< on a CPU
};

/// One way in which a library does it.
struct PeerRun {
  std::string name;           ///< "hptt", "cutt measured"
  std::function<void()> run;  ///< on a GPU it queues work on the default stream; keeps plans alive; DeviceError
  std::string refused;        ///< why there is nothing to run: what the library said
};

class PeerLibrary {
 public:
  virtual ~PeerLibrary() = default;
  /// Plans it, between memory of the library's device aligned to 256 bytes, which planning may write to. None for what
  /// the library is not made for: a type, a rank.
  virtual std::vector<PeerRun> prepare(const PeerProblem& problem, void* to, const void* from) = 0;
};

struct PeerKind {
  const char* option;  ///< "--hptt"
  const char* title;   ///< "HPTT"
  Device device;       ///< where its tensors are
  const char* help;
  /// Throws IoError, naming the file, where it cannot be opened, and the function that it lacks.
  std::unique_ptr<PeerLibrary> (*open)(const std::string& file);
};

/// All that are known.
std::span<const PeerKind> peer_kinds();

std::unique_ptr<PeerLibrary> open_hptt(const std::string& file);
std::unique_ptr<PeerLibrary> open_hptt_measured(const std::string& file);
std::unique_ptr<PeerLibrary> open_cutensor(const std::string& file);
std::unique_ptr<PeerLibrary> open_cutt(const std::string& file);

/// A shared library, kept until the process ends: CUDA's leave handlers behind that run then.
class SharedLibrary {
 public:
  SharedLibrary(const std::string& file, const char* title);
  /// The first of these names that the library has. Throws IoError, naming the first, where it has none.
  void* find(std::initializer_list<const char*> spellings) const;

 private:
  std::string file_;
  const char* title_;
  void* handle_;
};

}  // namespace ricci::tools
