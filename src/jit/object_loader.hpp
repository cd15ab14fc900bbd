// Objects made executable: the small loader for simple ones (no LLVM in the process), ORC for all others.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace ricci::jit {

enum class Loader { automatic, arena, orc };  ///< RICCI_LOADER=arena|orc overrides `automatic`

/// Whether the small loader can take this object: known sections, relocations and symbols only. Gives the reason if
/// not.
bool is_simple_object(std::span<const std::byte> object, std::string* reason = nullptr);

/// Executable code of one object; unloaded when the last reference goes.
class LoadedObject {
 public:
  virtual ~LoadedObject() = default;
  virtual void* symbol(const std::string& name) const = 0;  ///< null when absent
};

/// Loads an object. `automatic` takes the small loader when the object is simple, else ORC. Throws InternalError on a
/// damaged object, PlanError when ORC is needed and there is no plug-in. Thread-safe.
std::shared_ptr<const LoadedObject> load_object(std::span<const std::byte> object, Loader loader = Loader::automatic);

}  // namespace ricci::jit
