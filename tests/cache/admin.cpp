// What `ricci cache` shows and removes.
#include "cache/admin.hpp"

#include "catch.hpp"
#include "fixture.hpp"
#include "ricci/error.hpp"

namespace admin_test {

using namespace ricci;
using namespace ricci::cache;
using namespace ricci::cache::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

constexpr std::int64_t kDay_s = 24 * 3600;

// Ten entries, number 0 used last, each a day older than the one before.
Config filled(const TemporaryFolder& folder) {
  const Config config = config_at(folder / "root");
  Store store(config);
  for (int i = 0; i < 10; ++i) {
    store.put(entry_of(key_of(i)));
    set_age(file_of(config.root, key_of(i)), -i * kDay_s);
  }
  return config;
}

template <class Call>
std::string text_of_error(Call call) {
  try {
    call();
  } catch (const CacheError& error) {
    return error.what();
  }
  return "no CacheError";
}

}  // namespace

TEST_CASE("list: all entries, those used last first") {
  TemporaryFolder folder;
  const Config config = filled(folder);
  const std::vector<EntryInfo> entries = list(config);
  REQUIRE(entries.size() == 10);
  for (int i = 0; i < 10; ++i) {
    const Entry right = entry_of(key_of(i));
    CHECK(entries[i].key == right.key);
    CHECK(entries[i].metadata == right.metadata);
    CHECK(entries[i].name == EntryName::of(right.key).hex());
    CHECK(entries[i].path.string() == file_of(config.root, right.key).string());
    CHECK(entries[i].file_bytes == fs::file_size(entries[i].path));
    CHECK(entries[i].source_bytes == right.source.size());
    CHECK(entries[i].binary_bytes == right.binary.size());
    CHECK_FALSE(entries[i].read_only);
    const auto age = std::chrono::system_clock::now() - entries[i].used;
    CHECK(std::abs(std::chrono::duration_cast<std::chrono::seconds>(age).count() - i * kDay_s) < 60);
  }
  CHECK(age_s(entries[9].path) > 8 * kDay_s);  // looking is not using
}

TEST_CASE("list: read-only roots, hidden and damaged entries, no directory") {
  TemporaryFolder folder;
  Config config = filled(folder);
  {
    Store site(config_at(folder / "site"));
    site.put(entry_of(key_of(0)));
    site.put(entry_of("site"));
  }
  config.read_only_roots = {folder / "site", folder / "missing"};
  write_file(file_of(config.root, key_of(3)), std::as_bytes(std::span("damaged")));
  const std::vector<EntryInfo> entries = list(config);
  CHECK(entries.size() == 10);  // 9 + site; key 0 is listed once
  int read_only = 0;
  for (const EntryInfo& entry : entries) read_only += entry.read_only;
  CHECK(read_only == 1);
  CHECK(list(Config{}).empty());
  CHECK(list(config_at(folder / "missing")).empty());
  CHECK_FALSE(fs::exists(folder / "missing"));
}

TEST_CASE("load: one entry by the beginning of its name") {
  TemporaryFolder folder;
  const Config config = filled(folder);
  for (int i = 0; i < 10; ++i) CHECK(is_right(load(config, EntryName::of(key_of(i)).hex()), key_of(i)));
  CHECK(is_right(load(config, EntryName::of(key_of(4)).hex().substr(0, 12)), key_of(4)));
  CHECK(find_by_name(config, EntryName::of(key_of(4)).hex().substr(0, 12)).size() == 1);
  CHECK_THAT(text_of_error([&] { load(config, "no such name"); }), ContainsSubstring("begins with 'no such name'"));
  const std::string many = text_of_error([&] { load(config, ""); });
  CHECK_THAT(many, StartsWith("10 kernels") && ContainsSubstring(EntryName::of(key_of(4)).hex()));
}

TEST_CASE("stats: counts, bytes, bound, sweep") {
  TemporaryFolder folder;
  Config config = filled(folder);
  Store(config_at(folder / "site")).put(entry_of("site"));
  config.read_only_roots = {folder / "site"};
  const Stats found = stats(config);
  REQUIRE(found.roots.size() == 2);
  CHECK(found.roots[0].root.string() == config.root.string());
  CHECK(found.roots[0].entries == 10);
  CHECK(found.roots[0].bytes == entry_bytes(config.root));
  CHECK_FALSE(found.roots[0].read_only);
  CHECK(found.roots[1].entries == 1);
  CHECK(found.roots[1].read_only);
  CHECK(found.max_bytes == config.max_bytes);
  REQUIRE(found.swept);
  CHECK(stats(Config{}).roots.empty());
  CHECK_FALSE(stats(config_at(folder / "missing")).swept);
}

TEST_CASE("verify: names what is damaged, and removes it if asked") {
  TemporaryFolder folder;
  const Config config = filled(folder);
  std::vector<std::byte> bad = read_file(file_of(config.root, key_of(1)));
  bad[bad.size() / 2] ^= std::byte{4};
  write_file(file_of(config.root, key_of(1)), bad);
  write_file(file_of(config.root, key_of(2)), encode(entry_of("another key")));
  write_file(config.root / EntryName::of("k", kFormatVersion + 1).path(), encode(entry_of("k"), kFormatVersion + 1));
  VerifyReport report = verify(config);
  CHECK(report.sound == 8);
  CHECK(report.other_versions == 1);
  CHECK(report.removed == 0);
  REQUIRE(report.damaged.size() == 2);
  for (const DamagedFile& file : report.damaged)
    CHECK_THAT(file.reason, file.path == file_of(config.root, key_of(1)) ? ContainsSubstring("checksum")
                                                                         : ContainsSubstring("name"));
  CHECK(entry_files(config.root).size() == 11);
  report = verify(config, true);
  CHECK(report.removed == 2);
  CHECK(verify(config, true).damaged.empty());
  CHECK(entry_files(config.root).size() == 9);
}

TEST_CASE("verify: what cannot be read is told apart and never removed") {
  TemporaryFolder folder;
  const Config config = filled(folder);
  const fs::path file = file_of(config.root, key_of(1));
  REQUIRE(::chmod(file.c_str(), 0666) == 0);
  const VerifyReport report = verify(config, true);
  CHECK(report.sound == 9);
  CHECK(report.damaged.empty());
  REQUIRE(report.unreadable.size() == 1);
  CHECK(report.unreadable[0].path.string() == file.string());
  CHECK(fs::exists(file));
}

TEST_CASE("prune: by age, by size, to the bound, all") {
  TemporaryFolder folder;
  Config config = filled(folder);
  const std::uint64_t total = entry_bytes(config.root), each = total / 10;
  PruneOptions options;
  PruneReport report;
  SECTION("by age") {
    options.older_than = std::chrono::seconds(6 * kDay_s + 3600);
    report = prune(config, options);
    CHECK(report.removed_entries == 3);
    CHECK(fs::exists(file_of(config.root, key_of(6))));
    CHECK_FALSE(fs::exists(file_of(config.root, key_of(7))));
  }
  SECTION("by size") {
    options.max_bytes = 4 * each;
    report = prune(config, options);
    CHECK(report.bytes <= 4 * each);
    CHECK(report.entries == 4);
    CHECK(fs::exists(file_of(config.root, key_of(0))));
  }
  SECTION("by both") {
    options.older_than = std::chrono::seconds(6 * kDay_s + 3600);
    options.max_bytes = 5 * each;
    report = prune(config, options);
    CHECK(report.entries == 5);
  }
  SECTION("to the bound") {
    report = prune(config, options);
    CHECK(report.entries == 10);
    config.max_bytes = 2 * each;
    report = prune(config, options);
    CHECK(report.entries == 2);
  }
  SECTION("all") {
    write_file(config.root / "tmp/left-over", {});
    options.all = true;
    report = prune(config, options);
    CHECK(report.entries == 0);
    CHECK(report.removed_entries == 10);
    CHECK(report.removed_bytes == total);
    CHECK(count_files(config.root / "tmp") == 0);
  }
  CHECK(report.bytes == entry_bytes(config.root));
  CHECK(report.entries == entry_files(config.root).size());
  // The bound goes on being kept afterwards.
  CHECK(is_right(*Store(config).find_or_make("new", maker("new")), "new"));
}

TEST_CASE("what must not be changed or trusted is refused with a reason") {
  TemporaryFolder folder;
  Config config = filled(folder);
  CHECK_THAT(text_of_error([] { prune(Config{}, {}); }), ContainsSubstring("Set RICCI_CACHE_DIR"));
  CHECK_THAT(text_of_error([] { verify(Config{}, true); }), ContainsSubstring("Set RICCI_CACHE_DIR"));
  config.read_only = true;
  CHECK_THAT(text_of_error([&] { prune(config, {}); }), ContainsSubstring("RICCI_CACHE=ro"));
  CHECK(verify(config).sound == 10);
  REQUIRE(::chmod(config.root.c_str(), 0777) == 0);
  CHECK_THAT(text_of_error([&] { list(config); }), ContainsSubstring("chmod go-w"));
  CHECK_THROWS_AS(list(config_at(file_of(config.root, key_of(0)))), IoError);  // a file as root
}

}  // namespace admin_test
