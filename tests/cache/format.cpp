// The bytes of an entry: what goes in comes out, and nothing else ever comes out.
#include "catch.hpp"
#include "fixture.hpp"
#include "ricci/error.hpp"

namespace format_test {

using namespace ricci::cache;
using namespace ricci::cache::test;

namespace {

Damage decode(std::span<const std::byte> bytes, Entry* entry) {
  EntryView view;
  const Damage damage = inspect(bytes, &view);
  return damage == Damage::none ? expand(view, entry) : damage;
}

// A file that was made on purpose: any content under a right checksum.
void sign(std::vector<std::byte>* file) {
  std::byte digest[16];
  checksum(std::span(*file).subspan(24), digest);
  std::copy(std::begin(digest), std::end(digest), file->begin() + 8);
}

Entry small_entry() {
  Entry entry;
  entry.key = "k";
  entry.metadata = "{}";
  entry.source = "void k() {}";
  entry.binary = noise("k", 16);
  return entry;
}

}  // namespace

TEST_CASE("entries of every shape come back as they were") {
  const std::size_t sizes[] = {0, 1, 7, 300, 70'000};
  for (const std::size_t source : sizes) {
    for (const std::size_t binary : sizes) {
      Entry entry;
      entry.key = std::string("key\0with a zero", 15);
      entry.metadata = binary % 2 ? "" : "{\"a\":1}";
      entry.source = std::string(source, 'x');
      entry.binary = binary == 300 ? std::vector<std::byte>(binary) : noise("n", binary);
      Entry back;
      REQUIRE(decode(encode(entry), &back) == Damage::none);
      CHECK(back.key == entry.key);
      CHECK(back.metadata == entry.metadata);
      CHECK(back.source == entry.source);
      CHECK(back.binary == entry.binary);
    }
  }
}

TEST_CASE("text is compressed and noise is not") {
  Entry entry = small_entry();
  entry.source = std::string(100'000, 'x');
  CHECK(encode(entry).size() < 1000);
  entry.source.clear();
  entry.binary = noise("n", 5000);
  CHECK(encode(entry).size() == kHeaderBytes + entry.key.size() + entry.metadata.size() + 5000);
}

TEST_CASE("every flipped bit and every truncation is noticed") {
  const std::vector<std::byte> good = encode(small_entry());
  Entry entry;
  REQUIRE(decode(good, &entry) == Damage::none);
  int accepted = 0;
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::vector<std::byte> bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    accepted += decode(bad, &entry) == Damage::none;
  }
  for (std::size_t size = 0; size < good.size(); ++size)
    accepted += decode(std::span(good).first(size), &entry) == Damage::none;
  std::vector<std::byte> longer = good;
  longer.push_back(std::byte{0});
  accepted += decode(longer, &entry) == Damage::none;
  CHECK(accepted == 0);
}

TEST_CASE("forged sizes and codecs under a right checksum stay inside the file") {
  Entry entry = entry_of("key");
  entry.source = std::string(5000, 'x');
  const std::vector<std::byte> good = encode(entry);
  Entry back;
  for (const std::size_t field : {32, 36, 40, 44, 48, 52}) {
    for (const std::uint32_t value : {0u, 1u, 0x7fffffffu, 0xffffffffu, get_u32(good.data() + field) + 1}) {
      std::vector<std::byte> bad = good;
      put_u32(bad.data() + field, value);
      if (bad == good) continue;
      sign(&bad);
      INFO("field " << field << " value " << value);
      CHECK(decode(bad, &back) != Damage::none);
    }
  }
  for (const std::size_t codec : {28, 29}) {
    std::vector<std::byte> bad = good;
    bad[codec] = bad[codec] == std::byte{0} ? std::byte{1} : std::byte{0};
    sign(&bad);
    CHECK(decode(bad, &back) != Damage::none);
    bad[codec] = std::byte{7};
    sign(&bad);
    CHECK(decode(bad, &back) == Damage::codec);
  }
  std::vector<std::byte> bad = good;
  put_u64(bad.data() + 56, good.size() + 1);
  sign(&bad);
  CHECK(decode(bad, &back) == Damage::sizes);
}

TEST_CASE("another format version is known as such, and damaged ones are not") {
  std::vector<std::byte> other = encode(small_entry(), kFormatVersion + 1);
  EntryView view;
  std::uint32_t version = 0;
  CHECK(inspect(other, &view, &version) == Damage::version);
  CHECK(version == kFormatVersion + 1);
  other.back() ^= std::byte{1};
  CHECK(inspect(other, &view) == Damage::checksum);
}

TEST_CASE("names follow from the key and the version alone") {
  const EntryName name = EntryName::of("abc");
  CHECK(name == EntryName::of("abc"));
  CHECK_FALSE(name == EntryName::of("abd"));
  CHECK_FALSE(name == EntryName::of("abc", kFormatVersion + 1));
  CHECK(name.hex().size() == 32);
  CHECK(name.path() == name.hex().substr(0, 2) + "/" + name.hex().substr(2) + ".k");
  const auto parsed = EntryName::parse(name.folder, name.file);
  REQUIRE(parsed);
  CHECK(*parsed == name);
  CHECK_FALSE(EntryName::parse("AB", name.file));
  CHECK_FALSE(EntryName::parse("abc", name.file));
  CHECK_FALSE(EntryName::parse("ab", "usage"));
  CHECK_FALSE(EntryName::parse("ab", std::string(30, 'g') + ".k"));
  CHECK_FALSE(EntryName::parse("ab", std::string(30, 'a') + ".j"));
  // Holds this version to the names that it gave in the past: a change makes every cache in the world cold.
  CHECK(EntryName::of("").hex() == "d9265cc53bb2b9ae6131b78f753823cd");
}

}  // namespace format_test
