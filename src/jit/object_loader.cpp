#include "jit/object_loader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "jit/clang_plugin.hpp"
#include "jit/elf_object.hpp"
#include "jit/executable_arena.hpp"
#include "ricci/error.hpp"
#include "ricci/log.hpp"

namespace ricci::jit {
namespace {

// ---- the small loader
// ------------------------------------------------------------------------------------------------

class ArenaObject final : public LoadedObject {
 public:
  ArenaObject(ExecutableArena::CodeBlock block, std::vector<ObjectLayout::Name> names)
      : block_(block), names_(std::move(names)) {}
  ~ArenaObject() override { ExecutableArena::process().release(block_); }
  ArenaObject(const ArenaObject&) = delete;
  ArenaObject& operator=(const ArenaObject&) = delete;

  void* symbol(const std::string& name) const override {
    for (const ObjectLayout::Name& known : names_)
      if (known.name == name) return block_.run + known.image;
    return nullptr;
  }

 private:
  ExecutableArena::CodeBlock block_;
  std::vector<ObjectLayout::Name> names_;
};

template <class F>
std::uint64_t address_of(F function) {
  return reinterpret_cast<std::uint64_t>(function);
}

std::uint64_t known_function_address(std::size_t index) {
  static const std::array<std::uint64_t, kKnownFunctions.size()> addresses = {
      address_of<void* (*)(void*, const void*, std::size_t)>(&std::memcpy),
      address_of<void* (*)(void*, const void*, std::size_t)>(&std::memmove),
      address_of<void* (*)(void*, int, std::size_t)>(&std::memset),
      address_of<double (*)(double)>(&::sqrt),
      address_of<double (*)(double)>(&::cbrt),
      address_of<double (*)(double)>(&::exp),
      address_of<double (*)(double)>(&::log),
      address_of<double (*)(double)>(&::sin),
      address_of<double (*)(double)>(&::cos),
      address_of<double (*)(double)>(&::tan),
      address_of<double (*)(double)>(&::asin),
      address_of<double (*)(double)>(&::acos),
      address_of<double (*)(double)>(&::atan),
      address_of<double (*)(double)>(&::sinh),
      address_of<double (*)(double)>(&::cosh),
      address_of<double (*)(double)>(&::tanh),
      address_of<double (*)(double, double)>(&::pow),
      address_of<float (*)(float)>(&::sqrtf),
      address_of<float (*)(float)>(&::cbrtf),
      address_of<float (*)(float)>(&::expf),
      address_of<float (*)(float)>(&::logf),
      address_of<float (*)(float)>(&::sinf),
      address_of<float (*)(float)>(&::cosf),
      address_of<float (*)(float)>(&::tanf),
      address_of<float (*)(float)>(&::asinf),
      address_of<float (*)(float)>(&::acosf),
      address_of<float (*)(float)>(&::atanf),
      address_of<float (*)(float)>(&::sinhf),
      address_of<float (*)(float)>(&::coshf),
      address_of<float (*)(float)>(&::tanhf),
      address_of<float (*)(float, float)>(&::powf),
      address_of<double (*)(double, double)>(&::fmod),
      address_of<float (*)(float, float)>(&::fmodf),
      address_of<double (*)(double, double)>(&::atan2),
      address_of<float (*)(float, float)>(&::atan2f),
      address_of<double (*)(double, double)>(&::hypot),
      address_of<float (*)(float, float)>(&::hypotf),
      address_of<double (*)(double)>(&::log1p),
      address_of<float (*)(float)>(&::log1pf),
  };
  return addresses[index];
}

void write_image(std::span<const std::byte> object, const ObjectLayout& layout,
                 const ExecutableArena::CodeBlock& block) {
  for (const ObjectLayout::Piece& piece : layout.pieces)
    std::memcpy(block.write + piece.image, object.data() + piece.file, piece.bytes);
  for (const ObjectLayout::Jump& jump : layout.jumps) {
    // jmp *0(%rip), and the address behind it
    constexpr std::array<unsigned char, 6> kJump = {0xff, 0x25, 0, 0, 0, 0};
    const std::uint64_t address = known_function_address(jump.function);
    std::memcpy(block.write + jump.image, kJump.data(), kJump.size());
    std::memcpy(block.write + jump.image + kJump.size(), &address, sizeof(address));
  }
  for (const ObjectLayout::Patch& patch : layout.patches) {
    if (patch.kind == ObjectLayout::PatchKind::absolute64) {
      const std::uint64_t address = reinterpret_cast<std::uint64_t>(block.run) + patch.value;
      std::memcpy(block.write + patch.image, &address, sizeof(address));
    } else {
      const auto distance = static_cast<std::uint32_t>(patch.value);
      std::memcpy(block.write + patch.image, &distance, sizeof(distance));
    }
  }
}

/// One line per function in the file where `perf report` looks for the names of generated code.
void tell_perf(const ObjectLayout& layout, const std::byte* run) {
  static const bool wanted = [] {
    const char* value = std::getenv("RICCI_PERF_MAP");
    const std::string_view word = value != nullptr ? value : "";
    if (!word.empty() && word != "0" && word != "1") {
      log_line(LogTopic::warning, fmt::format("RICCI_PERF_MAP={} is neither 0 nor 1; ignored", word));
    }
    return word == "1";
  }();
  if (!wanted) return;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  // The name is perf's, in a folder that all users write to.
  const int file = open(fmt::format("/tmp/perf-{}.map", getpid()).c_str(),
                        O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return;
  std::string lines;
  for (const ObjectLayout::Name& name : layout.names)
    lines += fmt::format("{:x} {:x} {}\n", reinterpret_cast<std::uintptr_t>(run + name.image), name.bytes, name.name);
  if (write(file, lines.data(), lines.size()) < 0)
    log_line(LogTopic::warning, fmt::format("RICCI_PERF_MAP: no names written: {}", std::strerror(errno)));
  close(file);
}

std::shared_ptr<const LoadedObject> load_into_arena(std::span<const std::byte> object, ObjectLayout layout) {
  ExecutableArena& arena = ExecutableArena::process();
  const ExecutableArena::CodeBlock block = arena.allocate(layout.image_bytes);
  try {
    write_image(object, layout, block);
    arena.publish(block);
    tell_perf(layout, block.run);
    return std::make_shared<ArenaObject>(block, std::move(layout.names));
  } catch (...) {
    arena.release(block);
    throw;
  }
}

// ---- ORC
// -------------------------------------------------------------------------------------------------------------

class OrcObject final : public LoadedObject {
 public:
  OrcObject(const RicciClangApi& clang, RicciOrcObject* object) : clang_(clang), object_(object) {}
  ~OrcObject() override { clang_.orc_unload(object_); }
  OrcObject(const OrcObject&) = delete;
  OrcObject& operator=(const OrcObject&) = delete;

  void* symbol(const std::string& name) const override { return clang_.orc_symbol(object_, name.c_str()); }

 private:
  const RicciClangApi& clang_;
  RicciOrcObject* object_;
};

std::shared_ptr<const LoadedObject> load_by_orc(std::span<const std::byte> object) {
  const RicciClangApi& clang = clang_plugin();
  RicciOrcObject* loaded = nullptr;
  std::string log;
  const auto take = [](void* context, const char* text, std::size_t bytes) {
    static_cast<std::string*>(context)->assign(text, bytes);
  };
  if (clang.orc_load(object.data(), object.size(), &loaded, &log, take) != RICCI_CLANG_OK)
    throw InternalError(fmt::format("ORC does not take an object of {} bytes: {}", object.size(), log));
  return std::make_shared<OrcObject>(clang, loaded);
}

Loader loader_from_environment() {
  const char* value = std::getenv("RICCI_LOADER");
  if (value == nullptr || *value == '\0') return Loader::automatic;
  const std::string_view name = value;
  if (name == "arena") return Loader::arena;
  if (name == "orc") return Loader::orc;
  throw PlanError(fmt::format("RICCI_LOADER is '{}'; it may be arena or orc, or unset", name));
}

}  // namespace

bool is_simple_object(std::span<const std::byte> object, std::string* reason) {
  ObjectLayout layout = lay_out_object(object);
  if (reason != nullptr) *reason = std::move(layout.reason);
  return layout.kind == ObjectKind::simple;
}

std::shared_ptr<const LoadedObject> load_object(std::span<const std::byte> object, Loader loader) {
  if (loader == Loader::automatic) loader = loader_from_environment();
  ObjectLayout layout = lay_out_object(object);
  // ORC is not asked either: LLVM's readers trust more than they check.
  if (layout.kind == ObjectKind::damaged)
    throw InternalError(fmt::format("A damaged object of {} bytes: {}", object.size(), layout.reason));
  if (loader == Loader::arena && layout.kind != ObjectKind::simple)
    throw PlanError(fmt::format("The small loader cannot take this object: {}.\nUnset RICCI_LOADER, or set it to orc.",
                                layout.reason));
  if (loader == Loader::orc || layout.kind != ObjectKind::simple) return load_by_orc(object);
  return load_into_arena(object, std::move(layout));
}

}  // namespace ricci::jit
