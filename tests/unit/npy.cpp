// .npy files: every type, order and version goes in and out unchanged; every kind of damage is an IoError at a byte.
#include "io/npy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "ricci/error.hpp"
#include "temporary_folder.hpp"

namespace npy_test {

namespace fs = std::filesystem;
using namespace ricci;
using tools::npy_header;
using tools::read_npy;
using tools::write_npy;

namespace {

// A directory of its own for each test case, removed at its end.
class Scratch {
 public:
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

 private:
  tests::TemporaryFolder folder_;
};

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string counting(std::size_t bytes) {
  std::string data(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(i * 37 + 11);
  return data;
}

std::string data_of(const tools::NpyArray& array) {
  return {reinterpret_cast<const char*>(array.data.data()), array.data.size()};
}

// A file made by hand, of any version, with any header.
std::string npy(int version, const std::string& header, const std::string& data) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) text += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return text + header + data;
}

std::string error_of(const std::string& path) {
  try {
    read_npy(path);
  } catch (const IoError& error) {
    return error.what();
  }
  return "read without an error";
}

}  // namespace

TEST_CASE("every type goes through a file in both orders", "[npy]") {
  const Scratch scratch;
  const std::vector<std::vector<std::int64_t>> shapes = {{}, {7}, {1}, {0}, {2, 3, 5}, {4, 0, 3}, {1, 6, 1}};
  for (int t = 0; t < kDTypeCount; ++t) {
    const auto type = static_cast<DType>(t);
    for (const auto& shape : shapes) {
      for (const bool fortran : {false, true}) {
        const Layout layout = fortran ? Layout::column_major(type, shape) : Layout::row_major(type, shape);
        const std::string data = counting(static_cast<std::size_t>(layout.elements() * size_of(type)));
        const std::string path = scratch.file("a.npy");
        write_npy(path, layout, data.data());
        const auto array = read_npy(path, DType::bf16);
        INFO(name(type) << " rank " << shape.size() << (fortran ? " F" : " C"));
        CHECK(array.layout.type == type);
        CHECK(array.layout.extents == shape);
        CHECK(array.layout.strides == layout.strides);
        CHECK(array.header.elements == layout.elements());
        CHECK(array.header.data_offset % 64 == 0);
        CHECK(data_of(array) == data);
      }
    }
  }
  CHECK(scratch.files() == 1);  // no temporary files
}

TEST_CASE("headers are NumPy's own bytes", "[npy]") {
  // As written by numpy.save, NumPy 1.26.
  const std::string expected = std::string("\x93NUMPY\x01\x00v\x00", 10) +
                               "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }" + std::string(58, ' ') +
                               "\n";
  CHECK(npy_header("<f8", false, {2, 3}) == expected);
  CHECK_THAT(npy_header("|b1", true, {5}),
             Catch::Matchers::ContainsSubstring("'fortran_order': True, 'shape': (5,), }"));
  CHECK_THAT(npy_header("<c16", false, {}), Catch::Matchers::ContainsSubstring("'shape': (), }"));
  CHECK(npy_header("<f8", false, std::vector<std::int64_t>(32, 1000000007)).size() % 64 == 0);
}

TEST_CASE("all three versions are read, and Python's freedom in writing a header", "[npy]") {
  const Scratch scratch;
  const std::string data = counting(24);
  for (int version = 1; version <= 3; ++version) {
    const auto array = read_npy(
        scratch.file("a.npy", npy(version, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }\n", data)));
    CHECK(array.header.version == version);
    CHECK(array.layout.type == DType::i32);
    CHECK(data_of(array) == data);
  }
  for (const char* header : {"{'shape':(2,3),'fortran_order':False,'descr':'=i4'}",
                             "{ \"descr\" : \"|i4\" , \"shape\" : ( 2L , 3L , ) , \"fortran_order\" : False }   "}) {
    const auto array = read_npy(scratch.file("b.npy", npy(1, header, data)));
    CHECK(array.layout.extents == std::vector<std::int64_t>{2, 3});
    CHECK(data_of(array) == data);
  }
}

TEST_CASE("bool stays bool, big-endian is swapped, two opaque bytes need a meaning", "[npy]") {
  const Scratch scratch;
  const auto flags = read_npy(scratch.file("flags.npy", npy_header("|b1", false, {3}) + std::string("\1\0\1", 3)));
  CHECK(flags.layout.type == DType::u8);
  CHECK(flags.header.descr == "|b1");
  const std::string copy = scratch.file("copy.npy");
  write_npy(copy, flags.layout, flags.data.data(), flags.header.descr);
  CHECK(contents(copy) == contents(scratch.file("flags.npy")));

  const struct {
    const char* descr;
    std::string big, little;
  } swaps[] = {{">i2", "\1\2\3\4", "\2\1\4\3"},
               {">f4", "\1\2\3\4", "\4\3\2\1"},
               {">u8", "\1\2\3\4\5\6\7\10", "\10\7\6\5\4\3\2\1"},
               {">c8", "\1\2\3\4\5\6\7\10", "\4\3\2\1\10\7\6\5"},
               {">i1", "\1\2", "\1\2"},
               {">c16", "\1\2\3\4\5\6\7\10abcdefgh", "\10\7\6\5\4\3\2\1hgfedcba"}};
  for (const auto& swap : swaps) {
    INFO(swap.descr);
    const std::int64_t bytes = std::string(swap.descr) == ">i2"   ? 2
                               : std::string(swap.descr) == ">i1" ? 1
                                                                  : static_cast<std::int64_t>(swap.big.size());
    const std::int64_t extent = static_cast<std::int64_t>(swap.big.size()) / bytes;
    const auto array = read_npy(scratch.file("big.npy", npy_header(swap.descr, false, {extent}) + swap.big));
    CHECK(array.header.big_endian);
    CHECK(data_of(array) == swap.little);
  }

  const std::string brain =
      scratch.file("brain.npy", npy_header("<V2", false, {2}) + std::string("\x80\x3f\x00\x40", 4));
  CHECK_THAT(error_of(brain),
             Catch::Matchers::ContainsSubstring("byte 20: element type '<V2' is two bytes of unknown"));
  CHECK(read_npy(brain, DType::bf16).layout.type == DType::bf16);
}

TEST_CASE("damage is an IoError that names the byte", "[npy]") {
  const Scratch scratch;
  const std::string good = npy_header("<f8", false, {2, 3});
  const std::string data = counting(48);
  const auto dict = [](const std::string& text) { return npy(1, text, std::string(48, 'x')); };
  const struct {
    const char* what;
    std::string bytes;
    const char* text;
  } damages[] = {
      {"empty", "", "byte 0: the file is empty"},
      {"text", "hello, world", "byte 0: not a .npy file: it begins with 'hello,'"},
      {"one byte", "\x93", "byte 1: the file ends inside its first 8 bytes"},
      {"archive", "PK\x03\x04rest of it", "byte 0: this is an .npz archive"},
      {"flipped magic", "\x92" + good.substr(1) + data, "byte 0: not a .npy file: it begins with '\\x92NUMPY'"},
      {"version", good.substr(0, 6) + '\7' + good.substr(7) + data, "byte 6: version 7.0 of the format"},
      {"minor version", good.substr(0, 7) + '\1' + good.substr(8) + data, "byte 6: version 1.1 of the format"},
      {"no length", good.substr(0, 9), "byte 9: the file ends inside the length"},
      {"huge header", npy(2, "", "").substr(0, 8) + "\xff\xff\xff\x7f", "byte 8: the header claims 2147483647 bytes"},
      {"short header", good.substr(0, 50), "byte 50: the file ends after 40 of the 118 bytes of its header"},
      {"no dictionary", dict("('descr', '<f8')"), "byte 10: expected '{', found '('"},
      {"open dictionary", dict("{'descr': '<f8'"), "byte 25: expected ',' or '}' in the dictionary, found the end"},
      {"open quote", dict("{'descr: "), "byte 11: the quote that opens here is not closed"},
      {"number as key", dict("{1: 2}"), "byte 11: expected a key in quotes, found '1'"},
      {"NUL", dict(std::string("{\0}", 3)), "byte 11: expected a key in quotes, found '\\x00'"},
      {"unknown key", dict("{'dtype': '<f8'}"), "byte 11: unknown key 'dtype'"},
      {"twice", dict("{'descr': '<f8', 'descr': '<f8', }"), "byte 27: the key 'descr' is there twice"},
      {"no shape", dict("{'descr': '<f8', 'fortran_order': False}"), "the header has no 'shape'"},
      {"no descr", dict("{'shape': (2, 3), 'fortran_order': False}"), "the header has no 'descr'"},
      {"no order", dict("{'shape': (2, 3), 'descr': '<f8'}"), "the header has no 'fortran_order'"},
      {"order", dict("{'descr': '<f8', 'fortran_order': 0, 'shape': (2, 3)}"),
       "byte 44: fortran_order must be True or False, found '0'"},
      {"list", dict("{'descr': '<f8', 'fortran_order': False, 'shape': [2, 3]}"), "byte 60: expected '(', found '['"},
      {"no comma", dict("{'descr': '<f8', 'fortran_order': False, 'shape': (6)}"), "one extent is written (n,)"},
      {"negative", dict("{'descr': '<f8', 'fortran_order': False, 'shape': (2, -3)}"),
       "byte 64: an extent is negative"},
      {"letters", dict("{'descr': '<f8', 'fortran_order': False, 'shape': (2, x)}"),
       "byte 64: expected an extent, found 'x'"},
      {"fraction", dict("{'descr': '<f8', 'fortran_order': False, 'shape': (2.5, 3)}"),
       "expected ',' or ')' in the shape, found '.'"},
      {"extent", dict("{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775808,)}"),
       "byte 61: an extent is larger than 2^63 - 1"},
      {"product", dict("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}"),
       "byte 73: the extents multiply to more bytes than 2^63 - 1"},
      {"product hidden by 0", dict("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296)}"),
       "byte 76: the extents multiply to more"},
      {"rank 33", npy(1, npy_header("<f8", false, std::vector<std::int64_t>(33, 1)).substr(10), data),
       "more than 32 axes"},
      {"text after", dict("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)} + {}"),
       "byte 68: expected the end of the header, found '+'"},
      {"no byte order", dict("{'descr': 'f8', 'fortran_order': False, 'shape': (2, 3)}"),
       "byte 20: element type 'f8' does not begin with a byte order"},
      {"empty type", dict("{'descr': '', 'fortran_order': False, 'shape': (2, 3)}"), "byte 20: element type ''"},
      {"objects", npy_header("|O", false, {2, 3}) + data, "byte 20: element type '|O' is none that Ricci has"},
      {"long double", npy_header("<f16", false, {2, 3}) + data, "byte 20: element type '<f16' is none that Ricci has"},
      {"strings", npy_header("<U8", false, {2, 3}) + data, "byte 20: element type '<U8' is none"},
      {"dates", npy_header("<M8[ns]", false, {2, 3}) + data, "byte 20: element type '<M8[ns]' is none"},
      {"fields", dict("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (2,)}"),
       "byte 20: a structured type"},
      {"no data", good, "byte 128: the data is cut short: shape (2, 3) of '<f8' needs 48 bytes of data, 0 are there"},
      {"one byte less", good + data.substr(1), "byte 175: the data is cut short"},
      {"one byte more", good + data + "x", "byte 176: 1 bytes too many after the data"},
      {"huge shape", npy_header("<f8", false, {1000000, 1000000, 1000}) + data,
       "needs 8000000000000000 bytes of data, 48 are there"},
  };
  for (const auto& damage : damages) {
    INFO(damage.what);
    const std::string path = scratch.file("damaged.npy", damage.bytes);
    CHECK_THAT(error_of(path), Catch::Matchers::StartsWith(path + ": byte "));
    CHECK_THAT(error_of(path), Catch::Matchers::ContainsSubstring(damage.text));
  }
}

TEST_CASE("no cut of a file is read", "[npy]") {
  const Scratch scratch;
  const std::string whole = npy_header("<i2", true, {3, 2}) + counting(12);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    INFO(bytes);
    CHECK_THAT(error_of(scratch.file("cut.npy", whole.substr(0, bytes))),
               Catch::Matchers::ContainsSubstring(": byte "));
  }
  CHECK(read_npy(scratch.file("cut.npy", whole)).header.elements == 6);
}

TEST_CASE("no flipped bit of a header crashes, and none changes the amount of data unseen", "[npy]") {
  const Scratch scratch;
  const std::string whole = npy_header("<f4", false, {2, 3}) + counting(24);
  int refused = 0, read = 0;
  for (std::size_t bit = 0; bit < 8 * 128; ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    try {
      const auto array = read_npy(scratch.file("flipped.npy", bytes));
      CHECK(array.data.size() == 24);
      ++read;
    } catch (const IoError&) {
      ++refused;
    }
  }
  CHECK(refused > 400);  // bits of the text; most others are padding, where a tab is as good as a space
  CHECK(refused + read == 8 * 128);
}

TEST_CASE("files that are none", "[npy]") {
  const Scratch scratch;
  CHECK_THAT(error_of(scratch.file("absent.npy")), Catch::Matchers::ContainsSubstring("cannot be read: No such file"));
  fs::create_directory(scratch.file("folder"));
  CHECK_THAT(error_of(scratch.file("folder")), Catch::Matchers::ContainsSubstring("is a directory"));
}

TEST_CASE("an output that cannot be written leaves everything as it was", "[npy]") {
  const Scratch scratch;
  const Layout layout = Layout::row_major(DType::f64, {4});
  const double values[4] = {1, 2, 3, 4};
  const auto failure = [&](const std::string& path) -> std::string {
    try {
      write_npy(path, layout, values);
    } catch (const IoError& error) {
      return error.what();
    }
    return "written";
  };
  CHECK_THAT(failure(scratch.file("no/such/folder.npy")), Catch::Matchers::ContainsSubstring("no directory"));
  fs::create_directory(scratch.file("folder"));
  CHECK_THAT(failure(scratch.file("folder")), Catch::Matchers::ContainsSubstring("it is a directory"));
  CHECK_THAT(failure("/dev/full"), Catch::Matchers::ContainsSubstring("No space left"));
  CHECK(failure("/dev/null") == "written");

  const std::string old = scratch.file("old.npy", "what was there");
  {
    tools::OutputFile file(old);
    file.write("half", 4);
    CHECK(scratch.files() == 3);  // the temporary file beside it
  }
  CHECK(contents(old) == "what was there");
  CHECK(scratch.files() == 2);

  const Layout strided = Layout::strided(DType::f64, {2}, {2});
  CHECK_THROWS_AS(write_npy(old, strided, values), IoError);
  CHECK(contents(old) == "what was there");
}

TEST_CASE("an output keeps the mode of the file it replaces, and follows links", "[npy]") {
  const Scratch scratch;
  const Layout layout = Layout::row_major(DType::f64, {1});
  const double value = 3;
  const std::string old = scratch.file("old.npy", "x");
  chmod(old.c_str(), 0640);
  fs::create_symlink(old, scratch.file("link.npy"));
  write_npy(scratch.file("link.npy"), layout, &value);
  CHECK(fs::is_symlink(scratch.file("link.npy")));
  CHECK(read_npy(old).header.elements == 1);
  struct stat status{};
  REQUIRE(stat(old.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0640);
}

}  // namespace npy_test
