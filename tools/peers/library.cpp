#include "peers/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

#include "ricci/error.hpp"

namespace ricci::tools {

std::span<const PeerKind> peer_kinds() {
  static constexpr std::array kKinds = {
      PeerKind{"--hptt", "HPTT", Device::cpu,
               "CPU: HPTT's shared library, timed beside Ricci: planning in each call, and plans made once", open_hptt},
      PeerKind{"--hptt-measured", "HPTT", Device::cpu,
               "CPU: the same library's measured plans, each up to ten seconds in the making", open_hptt_measured},
      PeerKind{"--cutensor", "cuTENSOR", Device::gpu,
               "GPU: cuTENSOR 2's shared library, timed beside Ricci; plans are reused", open_cutensor},
      PeerKind{"--cutt", "cuTT", Device::gpu,
               "GPU: cuTT as a shared library, its heuristic and its measured plans timed beside Ricci", open_cutt},
  };
  return kKinds;
}

SharedLibrary::SharedLibrary(const std::string& file, const char* title)
    : file_(file), title_(title), handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
  if (handle_ == nullptr) throw IoError(fmt::format("{}'s library cannot be opened: {}", title, dlerror()));
}

void* SharedLibrary::find(std::initializer_list<const char*> spellings) const {
  for (const char* name : spellings) {
    if (void* const symbol = dlsym(handle_, name)) return symbol;
  }
  throw IoError(fmt::format("{} has no {}; is it {}'s shared library?", file_, *spellings.begin(), title_));
}

}  // namespace ricci::tools
