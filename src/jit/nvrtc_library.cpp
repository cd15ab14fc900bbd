#include "jit/nvrtc_library.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "ricci/error.hpp"
#include "ricci/log.hpp"

#ifndef RICCI_CUDA
#define RICCI_CUDA 1
#endif
#ifndef RICCI_NVRTC_HINT
#define RICCI_NVRTC_HINT ""
#endif

namespace ricci::jit {
namespace {

namespace fs = std::filesystem;

#if defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
constexpr const char* kTargetFolder = "targets/sbsa-linux/lib";
constexpr const char* kTriple = "aarch64-linux-gnu";
#else
constexpr Elf64_Half kMachine = EM_X86_64;
constexpr const char* kTargetFolder = "targets/x86_64-linux/lib";
constexpr const char* kTriple = "x86_64-linux-gnu";
#endif

// The unversioned name comes last: it is a developer's link that may lead anywhere, but the only name of a release to
// come.
constexpr const char* kFileNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

std::string environment(const char* name) {
  const char* value = ::secure_getenv(name);
  return value ? value : "";
}

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status{};
    if (fd_ >= 0 && ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode))
      size_ = static_cast<std::size_t>(status.st_size);
  }
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  bool read(void* to, std::size_t bytes, std::size_t offset) const {
    return offset <= size_ && bytes <= size_ - offset &&
           ::pread(fd_, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  }
  int fd() const { return fd_; }
  std::size_t size() const { return size_; }

 private:
  int fd_;
  std::size_t size_ = 0;
};

bool read_elf_header(const OpenFile& file, Elf64_Ehdr& header) {
  return file.read(&header, sizeof header, 0) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == kMachine && header.e_type == ET_DYN;
}

// Digits and dots from the start of `text`, with at least `parts` numbers: "13.0.88" of "13.0.88\nBuild".
std::string leading_version(std::string_view text, int parts) {
  std::size_t end = 0;
  int numbers = 0;
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) {
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
    ++numbers;
    if (end + 1 >= text.size() || text[end] != '.' || !std::isdigit(static_cast<unsigned char>(text[end + 1]))) break;
    ++end;
  }
  return numbers >= parts ? std::string(text.substr(0, end)) : "";
}

// Every release holds "Cuda compilation tools, release 13.0, V13.0.88" for its fatbin header.
std::string version_in(std::string_view data) {
  constexpr std::string_view kMark = "Cuda compilation tools, release ";
  for (;;) {
    const void* hit = ::memmem(data.data(), data.size(), kMark.data(), kMark.size());
    if (!hit) return "";
    data.remove_prefix(static_cast<std::size_t>(static_cast<const char*>(hit) - data.data()) + kMark.size());
    const std::string_view line = data.substr(0, std::min<std::size_t>(data.size(), 64));
    const std::size_t v = line.find(", V");
    if (v == std::string_view::npos) continue;  // a format string of the same text
    if (std::string version = leading_version(line.substr(v + 3), 3); !version.empty()) return version;
  }
}

std::string version_in_read_only_data(const OpenFile& file) {
  Elf64_Ehdr header;
  if (!read_elf_header(file, header) || header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum > 1024) return "";
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!file.read(sections.data(), sections.size() * sizeof(Elf64_Shdr), header.e_shoff)) return "";
  for (const Elf64_Shdr& section : sections) {
    constexpr Elf64_Xword kWritableOrCode = SHF_WRITE | SHF_EXECINSTR;
    if (section.sh_type != SHT_PROGBITS || (section.sh_flags & kWritableOrCode) || !(section.sh_flags & SHF_ALLOC))
      continue;
    if (section.sh_offset > file.size() || section.sh_size > file.size() - section.sh_offset) continue;
    const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t start = section.sh_offset / page * page, bytes = section.sh_offset + section.sh_size - start;
    // Mapped for the length of the search only: a warm process keeps nothing of NVRTC.
    void* map = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.fd(), static_cast<off_t>(start));
    if (map == MAP_FAILED) continue;
    std::string version = version_in({static_cast<const char*>(map), bytes});
    ::munmap(map, bytes);
    if (!version.empty()) return version;
  }
  return "";
}

// Takes `path` when it is a library for this machine; otherwise notes why not, if something is there at all.
bool take(const fs::path& path, NvrtcFile& found) {
  std::error_code failure;
  const fs::path real = fs::canonical(path, failure);
  if (failure) return false;
  const OpenFile file(real.string());
  Elf64_Ehdr header;
  if (!read_elf_header(file, header)) {
    found.looked_in.push_back(fmt::format("{} (not a library for this machine, or not readable)", path.string()));
    return false;
  }
  found.path = real.string();
  found.version = nvrtc_file_version(found.path);
  return true;
}

bool take_from_folder(const fs::path& folder, NvrtcFile& found) {
  for (const char* name : kFileNames)
    if (take(folder / name, found)) return true;
  found.looked_in.push_back(folder.string());
  return false;
}

// A toolkit root, a Python site folder or a plain folder of libraries.
bool take_from_root(const fs::path& root, NvrtcFile& found) {
  std::error_code failure;
  if (!fs::is_directory(root, failure)) {
    found.looked_in.push_back(fmt::format("{} (no such folder)", root.string()));
    return false;
  }
  for (const char* below : {"lib64", kTargetFolder, "lib", "", "nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"}) {
    for (const char* name : kFileNames)
      if (take(root / below / name, found)) return true;
  }
  found.looked_in.push_back(root.string());
  return false;
}

std::string list(const std::vector<std::string>& places) {
  std::string text;
  for (const std::string& place : places) text += "\n    " + place;
  return text;
}

std::atomic<bool> nvrtc_is_open{false};

}  // namespace

NvrtcPlaces NvrtcPlaces::from_environment() {
  NvrtcPlaces places;
  places.built = RICCI_CUDA != 0;
  if (const char* given = ::secure_getenv("RICCI_NVRTC"); given && *given) places.ricci_nvrtc = given;
  places.cuda_home = environment("CUDA_HOME");
  places.cuda_path = environment("CUDA_PATH");
  places.hint = RICCI_NVRTC_HINT;
  places.library_path = environment("LD_LIBRARY_PATH");
  return places;
}

NvrtcFile find_nvrtc(const NvrtcPlaces& places) {
  NvrtcFile found;
  if (!places.built) {
    found.looked_in.emplace_back("nowhere: this Ricci was built with RICCI_CUDA=OFF");
    return found;
  }
  if (places.ricci_nvrtc) {
    std::error_code failure;
    if (fs::is_directory(*places.ricci_nvrtc, failure)) {
      take_from_root(*places.ricci_nvrtc, found);
    } else if (!take(*places.ricci_nvrtc, found) && found.looked_in.empty()) {
      found.looked_in.push_back(fmt::format("{} (no such file)", *places.ricci_nvrtc));
    }
    if (found.path.empty()) found.looked_in.back() += ", which RICCI_NVRTC names: unset it to search the usual places";
    return found;
  }
  for (const std::string* root : {&places.cuda_home, &places.cuda_path, &places.toolkit, &places.hint})
    if (!root->empty() && take_from_root(*root, found)) return found;
  for (std::size_t start = 0; start < places.library_path.size();) {
    const std::size_t end = std::min(places.library_path.find(':', start), places.library_path.size());
    if (end > start && take_from_folder(places.library_path.substr(start, end - start), found)) return found;
    start = end + 1;
  }
  if (!places.linker) return found;
  for (const fs::path& folder :
       {fs::path("/usr/local/lib"), fs::path("/usr/lib") / kTriple, fs::path("/usr/lib64"), fs::path("/usr/lib")})
    if (take_from_folder(folder, found)) return found;
  // Only the linker knows its cache; asking it opens the library, which is no loss: a program that gets here compiles.
  for (const char* name : kFileNames) {
    void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    void* symbol = library ? ::dlsym(library, "nvrtcVersion") : nullptr;
    Dl_info info{};
    if (symbol && ::dladdr(symbol, &info) && info.dli_fname && take(info.dli_fname, found)) return found;
  }
  found.looked_in.emplace_back("the dynamic linker's search");
  return found;
}

const NvrtcFile& found_nvrtc() {
  static const NvrtcFile found = find_nvrtc(NvrtcPlaces::from_environment());
  return found;
}

std::string nvrtc_file_version(const std::string& path) {
  std::error_code failure;
  const fs::path real = fs::canonical(path, failure);
  if (failure) return "";
  constexpr std::string_view kStem = "libnvrtc.so.";
  const std::string name = real.filename().string();
  if (name.starts_with(kStem))
    if (std::string version = leading_version(std::string_view(name).substr(kStem.size()), 3); !version.empty())
      return version;
  return version_in_read_only_data(OpenFile(real.string()));
}

bool Nvrtc::is_open() noexcept { return nvrtc_is_open.load(std::memory_order_acquire); }

const Nvrtc& Nvrtc::get() {
  // A throwing constructor runs again on the next call. Never destroyed: a thread may compile while the process ends.
  static const Nvrtc* const library = new Nvrtc;
  return *library;
}

Nvrtc::Nvrtc() {
  if (RICCI_CUDA == 0)
    throw PlanError(
        "this Ricci was built with RICCI_CUDA=OFF and compiles no CUDA kernels: configure with RICCI_CUDA=ON");
  const NvrtcFile& file = found_nvrtc();
  if (file.path.empty()) {
    throw PlanError(fmt::format(
        "CUDA kernels need NVRTC (libnvrtc.so.13 or .12), which was not found.\n  looked in:{}\n"
        "  Install the CUDA toolkit or `pip install nvidia-cuda-nvrtc`, and set CUDA_HOME or RICCI_NVRTC to it.",
        list(file.looked_in)));
  }
  const auto start = std::chrono::steady_clock::now();
  void* library = ::dlopen(file.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = ::dlerror();
    throw PlanError(
        fmt::format("NVRTC cannot be opened: {}\n  Set RICCI_NVRTC to another libnvrtc.so.", why ? why : file.path));
  }
  const auto load = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (!function)
      throw PlanError(
          fmt::format("{} has no {}: it is not NVRTC, or older than 11.2.\n  Set RICCI_NVRTC to another libnvrtc.so.",
                      file.path, name));
  };
  load(call.get_error_string, "nvrtcGetErrorString");
  load(call.version, "nvrtcVersion");
  load(call.get_num_supported_archs, "nvrtcGetNumSupportedArchs");
  load(call.get_supported_archs, "nvrtcGetSupportedArchs");
  load(call.create_program, "nvrtcCreateProgram");
  load(call.destroy_program, "nvrtcDestroyProgram");
  load(call.compile_program, "nvrtcCompileProgram");
  load(call.get_cubin_size, "nvrtcGetCUBINSize");
  load(call.get_cubin, "nvrtcGetCUBIN");
  load(call.get_log_size, "nvrtcGetProgramLogSize");
  load(call.get_log, "nvrtcGetProgramLog");

  int major = 0, minor = 0, count = 0;
  call.version(&major, &minor);
  path = file.path;
  version = file.version.empty() ? fmt::format("{}.{}", major, minor) : file.version;
  if (call.get_num_supported_archs(&count) == api::kNvrtcSuccess && count > 0) {
    architectures.resize(static_cast<std::size_t>(count));
    call.get_supported_archs(architectures.data());
  }
  // NVRTC opens its second half by name. Some packages carry no run path, so it is opened here, from the same folder.
  const fs::path folder = fs::path(path).parent_path();
  for (const std::string& builtins :
       {fmt::format("libnvrtc-builtins.so.{}.{}", major, minor), std::string("libnvrtc-builtins.so")}) {
    std::error_code failure;
    if (fs::exists(folder / builtins, failure) && ::dlopen((folder / builtins).c_str(), RTLD_LAZY | RTLD_LOCAL)) break;
  }
  open_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  nvrtc_is_open.store(true, std::memory_order_release);
  if (log_enabled(LogTopic::compile))
    log_line(LogTopic::compile, fmt::format("nvrtc {} opened in {:.1f} ms: {}", version, open_ms, path));
}

}  // namespace ricci::jit
