// Where the cache is, from the environment.
#include "cache/config.hpp"

#include <map>

#include "catch.hpp"
#include "fixture.hpp"

namespace config_test {

using namespace ricci::cache;
using namespace ricci::cache::test;
using Catch::Matchers::ContainsSubstring;

namespace {

Config from(const std::map<std::string, std::string>& variables, bool secure = false) {
  return config_from(
      [&](const char* name) -> const char* {
        const auto at = variables.find(name);
        return at == variables.end() ? nullptr : at->second.c_str();
      },
      secure);
}

}  // namespace

TEST_CASE("the directory: RICCI_CACHE_DIR, then XDG_CACHE_HOME, then HOME, then none") {
  CHECK(from({{"RICCI_CACHE_DIR", "/a/b"}, {"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}).root.string() == "/a/b");
  CHECK(from({{"RICCI_CACHE_DIR", "/a/b/"}}).root.string() == "/a/b");
  CHECK(from({{"RICCI_CACHE_DIR", "b/../c"}}).root.string() == (fs::current_path() / "c").string());
  CHECK(from({{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}).root.string() == "/x/ricci/v1");
  CHECK(from({{"XDG_CACHE_HOME", "x"}, {"HOME", "/h"}}).root.string() == "/h/.cache/ricci/v1");
  CHECK(from({{"HOME", "/h"}}).root.string() == "/h/.cache/ricci/v1");
  CHECK(from({{"HOME", ""}}).root.empty());
  CHECK(from({{"HOME", "relative"}}).root.empty());
  CHECK(from({}).root.empty());
}

TEST_CASE("without HOME a program keeps its kernels in memory, and says nothing") {
  const int status = in_child([] {
    for (const char* name : {"RICCI_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "RICCI_CACHE_RO"}) ::unsetenv(name);
    Warnings warnings;
    Store store(Config::from_environment());
    CHILD_CHECK(store.config().root.empty());
    int calls = 0;
    for (int i = 0; i < 2; ++i) CHILD_CHECK(is_right(*store.find_or_make("k", maker("k", &calls)), "k"));
    CHILD_CHECK(calls == 1);
    CHILD_CHECK(warnings.count() == 0);
    return 0;
  });
  CHECK(status == 0);
}

TEST_CASE("off, ro, read-only roots, sharing") {
  const Config off = from({{"HOME", "/h"}, {"RICCI_CACHE", "off"}, {"RICCI_CACHE_RO", "/r"}});
  CHECK(off.root.empty());
  CHECK(off.read_only_roots.empty());
  CHECK(from({{"HOME", "/h"}, {"RICCI_CACHE_DIR", "off"}, {"RICCI_CACHE", "ro"}}).root.empty());
  CHECK(from({{"HOME", "/h"}, {"RICCI_CACHE", "ro"}}).read_only);
  CHECK_FALSE(from({{"HOME", "/h"}, {"RICCI_CACHE", "on"}}).read_only);
  const Config roots = from({{"RICCI_CACHE_RO", ":/r/one::/r/two:"}});
  REQUIRE(roots.read_only_roots.size() == 2);
  CHECK(roots.read_only_roots[0].string() == "/r/one");
  CHECK(roots.read_only_roots[1].string() == "/r/two");
  CHECK(from({{"RICCI_CACHE_SHARED", "1"}}).shared);
  CHECK_FALSE(from({{"RICCI_CACHE_SHARED", "0"}}).shared);
  CHECK(from({{"XDG_RUNTIME_DIR", "/run/user/7"}}).runtime_dir.string() == "/run/user/7");
  CHECK(from({{"XDG_RUNTIME_DIR", "relative"}}).runtime_dir.empty());
}

TEST_CASE("what cannot be read is a warning and changes nothing") {
  Warnings warnings;
  CHECK_FALSE(from({{"HOME", "/h"}, {"RICCI_CACHE", "of"}}).read_only);
  CHECK_THAT(warnings.text(), ContainsSubstring("RICCI_CACHE=of"));
  CHECK(from({{"RICCI_CACHE_MAX", "lots"}}).max_bytes == Config().max_bytes);
  CHECK_THAT(warnings.text(), ContainsSubstring("RICCI_CACHE_MAX=lots"));
  CHECK(warnings.count() == 2);
  CHECK(from({{"RICCI_CACHE_MAX", "512M"}}).max_bytes == 512u << 20);
  CHECK(warnings.count() == 2);
  CHECK_FALSE(from({{"HOME", "/h"}, {"RICCI_CACHE_SHARED", "banana"}}).shared);
  CHECK_THAT(warnings.text(), ContainsSubstring("RICCI_CACHE_SHARED=banana is neither 0 nor 1"));
  CHECK(warnings.count() == 3);
  for (const char* understood : {"", "0", "1"}) from({{"HOME", "/h"}, {"RICCI_CACHE_SHARED", understood}});
  CHECK(warnings.count() == 3);
}

TEST_CASE("a read-only root that is not there is a warning, when the cache is opened") {
  TemporaryFolder folder;
  const fs::path file = folder / "file", there = folder / "there", missing = folder / "missing";
  write_file(file, {});
  fs::create_directories(there);
  Warnings warnings;
  const Store store(from({{"RICCI_CACHE_DIR", (folder / "root").string()},
                          {"RICCI_CACHE_RO", missing.string() + ":" + there.string() + ":" + file.string()}}));
  CHECK(warnings.count() == 2);
  CHECK_THAT(warnings.text(), ContainsSubstring("RICCI_CACHE_RO: " + missing.string()));
  CHECK_THAT(warnings.text(), ContainsSubstring("RICCI_CACHE_RO: " + file.string() + ": no directory"));
}

TEST_CASE("sizes") {
  CHECK(parse_bytes("0") == 0u);
  CHECK(parse_bytes("12345") == 12345u);
  CHECK(parse_bytes("3K") == 3072u);
  CHECK(parse_bytes("3k") == 3072u);
  CHECK(parse_bytes("2M") == 2u << 20);
  CHECK(parse_bytes("1G") == 1u << 30);
  CHECK(parse_bytes("4t") == std::uint64_t{4} << 40);
  for (const char* bad : {"", "M", "-1", "1.5G", "1 G", "1MB", "1X", "99999999999999999999", "17179869184G"}) {
    INFO(bad);
    CHECK_FALSE(parse_bytes(bad));
  }
}

TEST_CASE("a program with raised privileges does not believe its environment") {
  const Config secure = from({{"RICCI_CACHE_DIR", "/a"}, {"HOME", "/h"}, {"RICCI_CACHE_RO", "/r"}}, true);
  CHECK(secure.root.empty());
  CHECK(secure.read_only_roots.empty());

  // The same with a real set-user-id program.
  if (::geteuid() != 0) RICCI_SKIP("not root: cannot make a set-user-id program");
  TemporaryFolder folder;
  const fs::path helper = folder / "helper", output = folder / "output";
  fs::copy_file(RICCI_SECURE_HELPER, helper);
  REQUIRE(::chown(helper.c_str(), kNobody, kNobody) == 0);
  REQUIRE(::chmod(helper.c_str(), 04755) == 0);
  const auto run_as = [&](uid_t user) {
    const int status = in_child([&] {
      if (!std::freopen(output.c_str(), "w", stdout) || !become(user)) return 2;
      ::setenv("RICCI_CACHE_DIR", "/somewhere", 1);
      ::execl(helper.c_str(), helper.c_str(), static_cast<char*>(nullptr));
      return 3;
    });
    REQUIRE(status == 0);
    std::string line;
    std::ifstream in(output);
    std::getline(in, line);
    return line;
  };
  CHECK(run_as(kNobody) == "0 [/somewhere] 0");  // its owner: nothing is raised
  const std::string raised = run_as(kNobody - 1);
  if (raised.starts_with("0 ")) RICCI_SKIP("the temporary folder is mounted nosuid");
  CHECK(raised == "1 [] 0");
}

}  // namespace config_test
