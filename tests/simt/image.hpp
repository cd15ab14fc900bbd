// A kernel's text compiled for the simulator and loaded into this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hooks.hpp"
#include "simulator.hpp"

namespace ricci::jit {
class LoadedObject;
}

namespace ricci::simt {

/// Shared variables are behind so many bytes, from whose start they are placed.
constexpr std::size_t kAnchorBytes = 1024;

struct SharedVariable {
  std::string name;
  std::uint64_t begin = 0;  ///< address
  std::size_t bytes = 0;
};

/// The text that is compiled: hooks, host prelude, the launch's source and an entry that unpacks arguments. Lines of
/// diagnostics and accesses are those of Launch::source.
std::string simulated_text(const Launch& launch);

class Image {
 public:
  explicit Image(const Launch& launch);  ///< throws CompileError, PlanError

  void set_hooks(const RicciSimtHooks* hooks, void (*trace)(const void*, unsigned)) const;
  void call(void** arguments) const { entry_(arguments); }

  std::uint32_t sites() const { return lines_[0]; }
  unsigned line(std::uint32_t site) const { return lines_[1 + site]; }
  const std::vector<SharedVariable>& shared() const { return shared_; }
  std::uint64_t shared_begin() const { return shared_begin_; }
  std::size_t shared_bytes() const { return shared_bytes_; }  ///< alignment gaps included
  unsigned launch_bounds() const { return launch_bounds_; }   ///< 0: none given
  unsigned cluster() const { return cluster_; }               ///< blocks of the kernel's __cluster_dims__, along x
  double compile_ms() const { return compile_ms_; }

 private:
  void find_shared(const std::vector<std::byte>& object, std::uint64_t anchor);

  std::shared_ptr<const jit::LoadedObject> loaded_;
  void (*entry_)(void**) = nullptr;
  const std::uint32_t* lines_ = nullptr;
  std::vector<SharedVariable> shared_;
  std::uint64_t shared_begin_ = 0;
  std::size_t shared_bytes_ = 0;
  unsigned launch_bounds_ = 0, cluster_ = 1;
  double compile_ms_ = 0;
};

}  // namespace ricci::simt
