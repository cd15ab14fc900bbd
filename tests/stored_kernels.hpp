// The kernels of a cache directory, without what was measured or chosen.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "cache/admin.hpp"

namespace ricci::tests {

/// Paths of their files.
inline std::set<std::string> stored_kernels(const std::filesystem::path& folder) {
  cache::Config config;
  config.root = folder;
  std::set<std::string> files;
  for (const auto& entry : cache::list(config)) {
    if (entry.key.starts_with("ricci kernel ")) files.insert(entry.path.string());
  }
  return files;
}

}  // namespace ricci::tests
