// Where NVRTC is, which version it is (without opening it), and its functions (opened once, on the first compile).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "jit/cuda_api.hpp"

namespace ricci::jit {

/// Where to look, as read from the environment and the build: a value, so that tests can state one.
struct NvrtcPlaces {
  bool built = true;                        ///< false: built with RICCI_CUDA=OFF, nothing is found
  std::optional<std::string> ricci_nvrtc;   ///< RICCI_NVRTC, a file or a folder; when set it is the only place
  std::string cuda_home, cuda_path;         ///< CUDA_HOME, CUDA_PATH: toolkit roots
  std::string toolkit = "/usr/local/cuda";  ///< the usual root
  std::string hint;                         ///< what CMake baked in: a folder, a toolkit or a Python site folder
  std::string library_path;                 ///< LD_LIBRARY_PATH, colon-separated
  bool linker = true;                       ///< also the folders the dynamic linker searches

  static NvrtcPlaces from_environment();  ///< ignores the environment in set-user-id programs
};

struct NvrtcFile {
  std::string path;                    ///< with symbolic links resolved; empty when there is none
  std::string version;                 ///< "13.0.88"; empty when the file does not say
  std::vector<std::string> looked_in;  ///< places tried, in order, each with what was wrong where something was there
};

/// The first usable library, in the order of NvrtcPlaces' members. Opens no library: tens of microseconds, or about
/// half a millisecond where the version is in no file name.
NvrtcFile find_nvrtc(const NvrtcPlaces& places);

/// The same for this process, found on the first call and kept. Thread-safe.
const NvrtcFile& found_nvrtc();

/// The version in a library's file name (libnvrtc.so.13.0.88), else in its read-only data; empty when neither says.
std::string nvrtc_file_version(const std::string& path);

/// NVRTC, opened once and never closed.
class Nvrtc {
 public:
  /// Throws PlanError naming the places looked in when there is none or it cannot be opened. Thread-safe.
  static const Nvrtc& get();
  /// Whether get() has opened it.
  static bool is_open() noexcept;

  api::NvrtcFunctions call;
  std::string path, version;       ///< version is "13.0" where the file did not say more
  std::vector<int> architectures;  ///< compute capabilities times ten it compiles for, ascending
  double open_ms = 0;

 private:
  Nvrtc();
};

}  // namespace ricci::jit
