// Prints whether the system raised this program's privileges, and the cache directory that it would use.
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdio>

#include "cache/store.hpp"

int main() {
  const ricci::cache::Config config = ricci::cache::Config::from_environment();
  std::printf("%lu [%s] %zu\n", ::getauxval(AT_SECURE), config.root.c_str(), config.read_only_roots.size());
  std::fflush(stdout);
  ::_exit(0);  // past the leak checker, which cannot look into a program with raised privileges
}
