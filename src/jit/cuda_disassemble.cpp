#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "jit/cuda_compiler.hpp"

namespace ricci::jit {
namespace {

namespace fs = std::filesystem;

std::string find_tool(const char* name) {
  std::vector<fs::path> folders;
  if (const char* path = ::secure_getenv("PATH")) {
    std::string all = path;
    for (std::size_t start = 0; start < all.size();) {
      const std::size_t end = std::min(all.find(':', start), all.size());
      if (end > start) folders.emplace_back(all.substr(start, end - start));
      start = end + 1;
    }
  }
  if (const char* home = ::secure_getenv("CUDA_HOME"); home && *home) folders.push_back(fs::path(home) / "bin");
  folders.emplace_back("/usr/local/cuda/bin");
  for (const fs::path& folder : folders) {
    const std::string tool = (folder / name).string();
    std::error_code failure;
    if (fs::is_regular_file(tool, failure) && ::access(tool.c_str(), X_OK) == 0) return tool;
  }
  return "";
}

// A file of the caller's own, readable by nobody else, gone with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::vector<std::byte>& bytes) {
    const char* folder = ::secure_getenv("TMPDIR");
    path_ = (fs::path(folder && *folder ? folder : "/tmp") / "ricci-XXXXXX.cubin").string();
    const int file = ::mkostemps(path_.data(), 6, O_CLOEXEC);
    if (file < 0) return;
    made_ = true;
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    while (left > 0) {
      const ssize_t wrote = ::write(file, at, left);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) break;
      at += wrote;
      left -= static_cast<std::size_t>(wrote);
    }
    whole_ = ::close(file) == 0 && left == 0;
  }
  ~TemporaryFile() {
    if (made_) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  bool whole() const { return whole_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool made_ = false, whole_ = false;
};

// Standard output of a program that ends with status 0; empty otherwise.
std::string output_of(const std::vector<std::string>& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return "";
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failure = ::posix_spawn(&child, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  char block[65536];
  while (!failure) {
    const ssize_t got = ::read(ends[0], block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(block, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  if (failure) return "";
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno == EINTR) continue;
    // ECHILD: the host ignores SIGCHLD, so the status is lost; the text is all there is to go by.
    return errno == ECHILD ? text : "";
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "";
}

}  // namespace

std::string disassemble_cubin(const std::vector<std::byte>& cubin) {
  const std::string nvdisasm = find_tool("nvdisasm"), cuobjdump = find_tool("cuobjdump");
  if (cubin.empty() || (nvdisasm.empty() && cuobjdump.empty())) return "";
  const TemporaryFile file(cubin);
  if (!file.whole()) return "";
  std::string text;
  if (!nvdisasm.empty()) text = output_of({nvdisasm, "-c", file.path()});
  if (text.empty() && !cuobjdump.empty()) text = output_of({cuobjdump, "-sass", file.path()});
  return text;
}

}  // namespace ricci::jit
