#include "jit/clang_plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <system_error>
#include <vector>

#include "ricci/error.hpp"
#include "ricci/log.hpp"

namespace ricci::jit {

#ifndef RICCI_LLVM_VERSION

const char* llvm_version() noexcept { return ""; }

const RicciClangApi& clang_plugin() {
  throw PlanError(
      "CPU kernels need Clang, and this Ricci was built without it (RICCI_CPU=OFF).\n"
      "Install clang-19, llvm-19-dev, libclang-19-dev and libpolly-19-dev and configure with -DRICCI_CPU=ON.");
}

#else

const char* llvm_version() noexcept { return RICCI_LLVM_VERSION; }

namespace {

constexpr const char* kFile = "libricci-clang.so";
constexpr std::string_view kAbsent = "not there";

std::string folder_of_this_code() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&llvm_version), &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string_view file = info.dli_fname;
  const std::size_t slash = file.rfind('/');
  if (slash != std::string_view::npos) return std::string(file.substr(0, slash));
  // A program that was found through PATH reports its bare name.
  std::error_code unreadable;
  return std::filesystem::read_symlink("/proc/self/exe", unreadable).parent_path().string();
}

std::vector<std::string> places() {
  std::vector<std::string> folders;
  // secure_getenv: a set-uid program must not load code that its caller names.
  if (const char* folder = secure_getenv("RICCI_PLUGIN_DIR"); folder != nullptr && *folder != '\0')
    folders.emplace_back(folder);
  if (std::string beside = folder_of_this_code(); !beside.empty()) {
    folders.push_back(beside);
    folders.push_back(beside + "/ricci");
    folders.push_back(beside + "/../ricci_clang");             // the package of that name beside Python's
    folders.push_back(beside + "/../" RICCI_LIBDIR "/ricci");  // the command line, in bin/ of a prefix that was moved
  }
  folders.emplace_back(RICCI_PLUGIN_BUILD_DIR);
  folders.emplace_back(RICCI_PLUGIN_INSTALL_DIR);
  return folders;
}

/// Null with a reason when the file is not a plug-in for this library.
const RicciClangApi* open(const std::string& path, std::string& reason) {
  if (access(path.c_str(), F_OK) != 0) {
    reason = kAbsent;
    return nullptr;
  }
  // RTLD_LOCAL keeps its LLVM apart from any other in the process.
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    reason = dlerror();
    return nullptr;
  }
  const auto entry = reinterpret_cast<RicciClangEntry>(dlsym(handle, RICCI_CLANG_ENTRY));
  if (entry == nullptr) {
    reason = "no function " RICCI_CLANG_ENTRY " in it";
    return nullptr;
  }
  const RicciClangApi* api = entry();
  if (api->abi != RICCI_CLANG_ABI) {
    reason = fmt::format("interface {}, wanted {}", api->abi, RICCI_CLANG_ABI);
    return nullptr;
  }
  if (std::string_view(api->version) != RICCI_LLVM_VERSION) {
    reason = fmt::format("made with LLVM {}, wanted " RICCI_LLVM_VERSION, api->version);
    return nullptr;
  }
  return api;
}

struct Opened {
  const RicciClangApi* api = nullptr;
  std::string tried;
};

Opened open_first() {
  Opened opened;
  for (const std::string& folder : places()) {
    const std::string path = folder + "/" + kFile;
    std::string reason;
    const auto start = std::chrono::steady_clock::now();
    opened.api = open(path, reason);
    if (opened.api != nullptr) {
      if (log_enabled(LogTopic::compile)) {
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
        log_line(LogTopic::compile,
                 fmt::format("opened {} (LLVM {}) in {:.1f} ms", path, opened.api->version, took.count()));
      }
      return opened;
    }
    if (reason != kAbsent && log_enabled(LogTopic::compile))
      log_line(LogTopic::compile, fmt::format("passed over {}: {}", path, reason));
    opened.tried += fmt::format("\n  {}: {}", path, reason);
  }
  return opened;
}

}  // namespace

const RicciClangApi& clang_plugin() {
  static std::mutex mutex;
  static const RicciClangApi* api = nullptr;  // kept only when found: a later call may find what is missing now
  const std::lock_guard lock(mutex);
  if (api == nullptr) {
    const Opened opened = open_first();
    if (opened.api == nullptr)
      throw PlanError(
          fmt::format("No Clang plug-in for CPU kernels. Tried:{}\n"
                      "Build the target ricci_clang, or name the folder of {} in RICCI_PLUGIN_DIR.",
                      opened.tried, kFile));
    api = opened.api;
  }
  return *api;
}

#endif

}  // namespace ricci::jit
