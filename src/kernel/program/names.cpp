#include "kernel/program/names.hpp"

namespace ricci::kernel {

Names::Names(const ir::Program& program) {
  for (const auto& index : program.indices) taken_[index.name] = 1;
  for (const auto& buffer : program.buffers) taken_[buffer.name] = 1;
  for (const auto& param : program.params) taken_[param.name] = 1;
  for (const char* word : {"t", "member", "thread", "task", "first", "last", "args", "scratch", "shared", "in", "out"})
    taken_[word] = 1;
}

std::string Names::fresh(const std::string& stem) {
  const int count = ++taken_[stem];
  if (count == 1) return stem;
  auto made = stem + std::to_string(count);
  return taken_[made] == 0 ? (taken_[made] = 1, made) : fresh(stem);
}

}  // namespace ricci::kernel
