// Export and import: everything or nothing.
#include <sys/resource.h>

#include "cache/admin.hpp"
#include "catch.hpp"
#include "fixture.hpp"
#include "ricci/error.hpp"

namespace bundle_test {

using namespace ricci;
using namespace ricci::cache;
using namespace ricci::cache::test;
using Catch::Matchers::ContainsSubstring;

namespace {

Config filled(const fs::path& root, int begin, int end) {
  const Config config = config_at(root);
  Store store(config);
  for (int i = begin; i < end; ++i) store.put(entry_of(key_of(i)));
  return config;
}

bool all_right(const Config& config, int begin, int end) {
  Store store(config);
  for (int i = begin; i < end; ++i) {
    const auto entry = store.find(key_of(i));
    if (!entry || !is_right(*entry, key_of(i))) return false;
  }
  return true;
}

void sign(std::vector<std::byte>* bundle) {
  std::byte digest[16];
  checksum(std::span(*bundle).subspan(24), digest);
  std::copy(std::begin(digest), std::end(digest), bundle->begin() + 8);
}

std::string refusal(const Config& config, const fs::path& file) {
  try {
    import_bundle(config, file);
  } catch (const CacheError& error) {
    return error.what();
  }
  return "not refused";
}

}  // namespace

TEST_CASE("a bundle brings all entries to another cache") {
  TemporaryFolder folder;
  const Config from = filled(folder / "from", 0, 12), to = filled(folder / "to", 10, 15);
  const BundleReport out = export_bundle(from, folder / "bundle");
  CHECK(out.entries == 12);
  CHECK(out.bytes == fs::file_size(folder / "bundle"));
  const BundleReport in = import_bundle(to, folder / "bundle");
  CHECK(in.entries == 10);
  CHECK(in.already_present == 2);
  CHECK(all_right(to, 0, 15));
  CHECK(count_files(to.root / "tmp") == 0);
  CHECK(import_bundle(to, folder / "bundle").entries == 0);
  const Config empty = config_at(folder / "made/by/import");
  CHECK(import_bundle(empty, folder / "bundle").entries == 12);
  CHECK(all_right(empty, 0, 12));
}

TEST_CASE("the same entries give the same bytes, from writable and read-only roots alike") {
  TemporaryFolder folder;
  const Config one = filled(folder / "one", 0, 6);
  Config two = filled(folder / "two", 3, 6);
  two.read_only_roots = {filled(folder / "site", 0, 4).root};
  two.read_only = true;
  (void)export_bundle(one, folder / "a");
  (void)export_bundle(two, folder / "b");
  CHECK(read_file(folder / "a") == read_file(folder / "b"));
}

TEST_CASE("a filter chooses, and damaged entries stay behind") {
  TemporaryFolder folder;
  const Config from = filled(folder / "from", 0, 6), to = config_at(folder / "to");
  write_file(file_of(from.root, key_of(2)), std::as_bytes(std::span("damaged")));
  CHECK(export_bundle(from, folder / "all").entries == 5);
  const auto chosen = [](const EntryInfo& info) { return info.key == key_of(4); };
  CHECK(export_bundle(from, folder / "bundle", chosen).entries == 1);
  CHECK(import_bundle(to, folder / "bundle").entries == 1);
  CHECK(all_right(to, 4, 5));
  CHECK_THROWS_AS(export_bundle(from, folder / "none", [](const EntryInfo&) { return false; }), CacheError);
  CHECK_FALSE(fs::exists(folder / "none"));
  CHECK_THROWS_AS(export_bundle(from, folder / "no/such/folder"), IoError);
}

TEST_CASE("a damaged entry in the cache is replaced by an import") {
  TemporaryFolder folder;
  const Config from = filled(folder / "from", 0, 3), to = filled(folder / "to", 0, 3);
  (void)export_bundle(from, folder / "bundle");
  write_file(file_of(to.root, key_of(1)), std::as_bytes(std::span("damaged")));
  const BundleReport report = import_bundle(to, folder / "bundle");
  CHECK(report.entries == 1);
  CHECK(report.already_present == 2);
  CHECK(all_right(to, 0, 3));
}

TEST_CASE("every damage to a bundle is refused, and nothing is imported") {
  TemporaryFolder folder;
  (void)export_bundle(filled(folder / "from", 0, 2), folder / "bundle");
  const std::vector<std::byte> good = read_file(folder / "bundle");
  const Config to = config_at(folder / "to");
  const fs::path bad_file = folder / "bad";
  int accepted = 0;
  const auto refuses = [&](std::span<const std::byte> bad) {
    write_file(bad_file, bad);
    const bool refused = refusal(to, bad_file).find("nothing was imported") != std::string::npos;
    accepted += !refused || fs::exists(to.root);
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::vector<std::byte> bad = good;
    bad[i] ^= static_cast<std::byte>(1u << (i % 8));
    refuses(bad);
    refuses(std::span(good).first(i));
  }
  CHECK(accepted == 0);

  // Damage under a right checksum, as by a program that is wrong: inside an entry, in the sizes, in the count.
  for (const std::size_t at : {std::size_t{40}, std::size_t{47}, std::size_t{28}, std::size_t{24}, good.size() - 1}) {
    std::vector<std::byte> bad = good;
    bad[at] ^= std::byte{1};
    sign(&bad);
    refuses(bad);
  }
  CHECK(accepted == 0);
  std::vector<std::byte> fewer = good;  // one entry less announced than there is
  put_u32(fewer.data() + 28, 1);
  sign(&fewer);
  refuses(fewer);
  CHECK(accepted == 0);
  // An entry whose checksum is right and whose source does not decompress.
  std::vector<std::byte> unreadable = good;
  std::byte* const entry = unreadable.data() + 48;
  REQUIRE(entry[28] == std::byte{1});
  const std::size_t entry_size = get_u64(entry - 8), source_at = 64 + get_u32(entry + 32) + get_u32(entry + 36);
  entry[source_at] ^= std::byte{1};
  std::vector<std::byte> alone(entry, entry + entry_size);
  sign(&alone);
  std::copy(alone.begin(), alone.end(), entry);
  sign(&unreadable);
  refuses(unreadable);
  CHECK(accepted == 0);
  std::vector<std::byte> newer = good;
  put_u32(newer.data() + 24, 2);
  sign(&newer);
  write_file(bad_file, newer);
  CHECK_THAT(refusal(to, bad_file), ContainsSubstring("version 2"));
  CHECK_THAT(refusal(to, file_of(folder / "from", key_of(0))), ContainsSubstring("not a bundle"));
  CHECK_THAT(refusal(to, folder.path()), ContainsSubstring("not a regular file"));
  CHECK_THROWS_AS(import_bundle(to, folder / "missing"), IoError);
  // The bundle itself was fine all the time.
  CHECK(import_bundle(to, folder / "bundle").entries == 2);
}

TEST_CASE("an import that fails half way leaves nothing behind") {
  TemporaryFolder folder;
  const Config from = filled(folder / "from", 0, 8);
  Store(from).put(entry_of("large", 50'000));
  (void)export_bundle(from, folder / "bundle");
  const Config to = filled(folder / "to", 0, 2);
  const int status = in_child([&] {
    const rlimit limit{20'000, 20'000};  // the large one cannot be written
    CHILD_CHECK(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
    try {
      import_bundle(to, folder / "bundle");
    } catch (const IoError& error) {
      CHILD_CHECK(std::string(error.what()).find("File too large") != std::string::npos);
      return 0;
    }
    return 2;
  });
  CHECK(status == 0);
  CHECK(entry_files(to.root).size() == 2);
  CHECK(count_files(to.root / "tmp") == 0);

  // A place that is taken stops the import when files are already appearing: they go again.
  fs::create_directories(file_of(to.root, key_of(5)) / "taken");
  CHECK_THROWS_AS(import_bundle(to, folder / "bundle"), IoError);
  fs::remove_all(file_of(to.root, key_of(5)));
  CHECK(entry_files(to.root).size() == 2);
  CHECK(count_files(to.root / "tmp") == 0);
  CHECK(all_right(to, 0, 2));
}

TEST_CASE("bounds and rights hold for imports") {
  TemporaryFolder folder;
  (void)export_bundle(filled(folder / "from", 0, 8), folder / "bundle");
  Config to = config_at(folder / "to");
  to.max_bytes = fs::file_size(folder / "bundle") - 1;
  CHECK_THAT(refusal(to, folder / "bundle"), ContainsSubstring("RICCI_CACHE_MAX"));
  CHECK_FALSE(fs::exists(to.root));
  to.max_bytes += 1;
  to.read_only = true;
  CHECK_THAT(refusal(to, folder / "bundle"), ContainsSubstring("RICCI_CACHE=ro"));
  CHECK_THAT(refusal(Config{}, folder / "bundle"), ContainsSubstring("Set RICCI_CACHE_DIR"));
  to.read_only = false;
  (void)filled(to.root, 100, 105);
  for (int i = 100; i < 105; ++i) set_age(file_of(to.root, key_of(i)), -1000);
  CHECK(import_bundle(to, folder / "bundle").entries == 8);
  CHECK(entry_bytes(to.root) <= to.max_bytes);
  CHECK(all_right(to, 0, 8));  // what was there before made room
}

}  // namespace bundle_test
