#include "io/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "ricci/error.hpp"

namespace ricci::tools {
namespace {

static_assert(std::endian::native == std::endian::little, "data is written as it lies in memory");

constexpr std::string_view kMagic{"\x93NUMPY", 6};
constexpr int kMaxRank = 32;
constexpr std::size_t kMaxHeaderBytes = 1u << 20;  // NumPy writes 128; more than this is damage

// Bytes of a header as a message shows them.
std::string shown(std::string_view bytes) {
  std::string text;
  for (const char c : bytes.substr(0, 24)) {
    const auto code = static_cast<unsigned char>(c);
    text += code >= 0x20 && code < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", code);
  }
  return bytes.size() > 24 ? text + "..." : text;
}

// Reads the Python dictionary of a header: a literal with the keys descr, fortran_order and shape, and nothing else.
class HeaderParser {
 public:
  HeaderParser(const std::string& path, std::string_view text, std::size_t offset)
      : path_(path), text_(text), offset_(offset) {}

  void parse(NpyHeader& header) {
    expect('{', "the header must be a dictionary");
    bool descr = false, order = false, shape = false;
    while (!take('}')) {
      skip_space();
      const std::size_t at = position_;
      const std::string key = string("a key");
      expect(':', fmt::format("after the key '{}'", key).c_str());
      bool* seen = key == "descr" ? &descr : key == "fortran_order" ? &order : key == "shape" ? &shape : nullptr;
      if (!seen) fail(at, fmt::format("unknown key '{}'; a header has descr, fortran_order and shape", shown(key)));
      if (*seen) fail(at, fmt::format("the key '{}' is there twice", key));
      *seen = true;
      if (seen == &descr) {
        parse_descr(header);
      } else if (seen == &order) {
        header.fortran_order = boolean();
      } else {
        parse_shape(header);
      }
      if (!take(',') && peek() != '}') fail(position_, "expected ',' or '}' in the dictionary, found " + found());
    }
    for (const auto& [seen, key] : {std::pair{descr, "descr"}, {order, "fortran_order"}, {shape, "shape"}}) {
      if (!seen) fail(position_, fmt::format("the header has no '{}'", key));
    }
    skip_space();
    if (position_ < text_.size()) fail(position_, "expected the end of the header, found " + found());
  }

  /// Where the element type stands, from the begin of the header.
  std::size_t descr_position() const noexcept { return descr_at_; }

  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    throw IoError(fmt::format("{}: byte {}: {}", path_, offset_ + at, what));
  }

 private:
  char peek() const noexcept { return position_ < text_.size() ? text_[position_] : '\0'; }

  std::string found() const {
    return position_ < text_.size() ? "'" + shown(text_.substr(position_, 1)) + "'" : "the end of the header";
  }

  void skip_space() noexcept {
    while (position_ < text_.size() && std::strchr(" \t\n\r", text_[position_]) && text_[position_]) ++position_;
  }

  bool take(char c) noexcept {
    skip_space();
    if (position_ >= text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  void expect(char c, const char* where) {
    if (!take(c)) fail(position_, fmt::format("expected '{}', found {}: {}", c, found(), where));
  }

  bool take_word(std::string_view word) {
    skip_space();
    if (text_.substr(position_, word.size()) != word) return false;
    position_ += word.size();
    return true;
  }

  std::string string(const char* what) {
    skip_space();
    const std::size_t at = position_;
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail(at, fmt::format("expected {} in quotes, found {}", what, found()));
    const std::size_t end = text_.find(quote, at + 1);
    if (end == std::string_view::npos) fail(at, "the quote that opens here is not closed");
    position_ = end + 1;
    return std::string(text_.substr(at + 1, end - at - 1));
  }

  bool boolean() {
    if (take_word("True")) return true;
    if (take_word("False")) return false;
    fail(position_, "fortran_order must be True or False, found " + found());
  }

  void parse_descr(NpyHeader& header) {
    skip_space();
    descr_at_ = position_;
    if (peek() == '[') fail(position_, "a structured type (a list of fields); save one field as an array of its own");
    header.descr = string("the element type");
  }

  void parse_shape(NpyHeader& header) {
    expect('(', "shape must be a tuple");
    while (!take(')')) {
      skip_space();
      const std::size_t at = position_;
      if (peek() == '-') fail(at, "an extent is negative");
      std::int64_t extent = 0;
      while (peek() >= '0' && peek() <= '9') {
        if (__builtin_mul_overflow(extent, 10, &extent) || __builtin_add_overflow(extent, peek() - '0', &extent)) {
          fail(at, "an extent is larger than 2^63 - 1");
        }
        ++position_;
      }
      if (position_ == at) fail(at, "expected an extent, found " + found());
      if (peek() == 'L') ++position_;  // Python 2 wrote its long integers so
      if (header.shape.size() == kMaxRank) fail(at, fmt::format("more than {} axes", kMaxRank));
      header.shape.push_back(extent);
      // A zero extent must not hide that the others are too large for strides.
      if (__builtin_mul_overflow(product_, std::max<std::int64_t>(extent, 1), &product_) ||
          product_ > std::numeric_limits<std::int64_t>::max() / 16) {
        fail(at, "the extents multiply to more bytes than 2^63 - 1");
      }
      if (extent == 0) header.elements = 0;
      const bool comma = take(',');
      if (!comma && peek() != ')') fail(position_, "expected ',' or ')' in the shape, found " + found());
      if (!comma && header.shape.size() == 1) fail(position_, "shape must be a tuple; one extent is written (n,)");
    }
    header.elements = header.elements == 0 ? 0 : product_;
  }

  const std::string& path_;
  std::string_view text_;
  std::size_t offset_;
  std::size_t position_ = 0, descr_at_ = 0;
  std::int64_t product_ = 1;
};

struct Known {
  std::string_view code;  // kind and bytes, without the byte order
  DType type;
};
constexpr Known kKnown[] = {
    {"i1", DType::i8},  {"i2", DType::i16}, {"i4", DType::i32}, {"i8", DType::i64},   {"u1", DType::u8},
    {"u2", DType::u16}, {"u4", DType::u32}, {"u8", DType::u64}, {"b1", DType::u8},    {"f2", DType::f16},
    {"f4", DType::f32}, {"f8", DType::f64}, {"c8", DType::c64}, {"c16", DType::c128},
};

void read_descr(NpyHeader& header, std::optional<DType> opaque, const HeaderParser& parser) {
  const std::size_t at = parser.descr_position();
  const std::string_view descr = header.descr;
  const char order = descr.empty() ? '\0' : descr[0];
  if (order != '<' && order != '=' && order != '|' && order != '>') {
    parser.fail(at, fmt::format("element type '{}' does not begin with a byte order (<, >, = or |)", shown(descr)));
  }
  const std::string_view code = descr.substr(1);
  header.big_endian = order == '>';
  if (code == "V2") {
    if (!opaque) {
      parser.fail(at,
                  fmt::format("element type '{}' is two bytes of unknown meaning; if they are bfloat16, say so with "
                              "--dtype bf16 (or --in-dtype bf16 to convert them)",
                              descr));
    }
    header.type = *opaque;
    return;
  }
  const auto known = std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& k) { return k.code == code; });
  if (known == std::end(kKnown)) {
    parser.fail(at, fmt::format("element type '{}' is none that Ricci has: i1 i2 i4 i8 u1 u2 u4 u8 b1 f2 f4 f8 c8 c16",
                                shown(descr)));
  }
  header.type = known->type;
}

template <typename Word>
void swap_words(std::byte* data, std::size_t words) {
  for (std::size_t i = 0; i < words; ++i) {
    Word word;
    std::memcpy(&word, data + i * sizeof word, sizeof word);
    if constexpr (sizeof word == 2) word = __builtin_bswap16(word);
    if constexpr (sizeof word == 4) word = __builtin_bswap32(word);
    if constexpr (sizeof word == 8) word = __builtin_bswap64(word);
    std::memcpy(data + i * sizeof word, &word, sizeof word);
  }
}

// A complex number is two words, each in its own byte order.
void swap_bytes(Buffer& data, DType type) {
  const std::int64_t word = is_complex(type) ? size_of(type) / 2 : size_of(type);
  const std::size_t words = data.size() / static_cast<std::size_t>(word);
  if (word == 2) swap_words<std::uint16_t>(data.data(), words);
  if (word == 4) swap_words<std::uint32_t>(data.data(), words);
  if (word == 8) swap_words<std::uint64_t>(data.data(), words);
}

NpyHeader read_header(InputFile& file, std::optional<DType> opaque) {
  const std::string& path = file.path();
  const auto fail = [&](std::size_t at, const std::string& what) {
    throw IoError(fmt::format("{}: byte {}: {}", path, at, what));
  };

  char start[12];  // magic, version, length of the header in 2 or 4 bytes
  std::size_t got = file.read(start, 8);
  if (got == 0) fail(0, "the file is empty; a .npy file begins with \\x93NUMPY");
  if (got >= 4 && std::memcmp(start, "PK\x03\x04", 4) == 0) {
    fail(0, "this is an .npz archive; take one array out of it and save that with numpy.save");
  }
  const std::string_view begin(start, std::min(got, kMagic.size()));
  if (begin != kMagic.substr(0, begin.size())) {
    fail(0, fmt::format("not a .npy file: it begins with '{}' instead of '\\x93NUMPY'", shown(begin)));
  }
  if (got < 8) fail(got, "the file ends inside its first 8 bytes");

  NpyHeader header;
  header.version = static_cast<unsigned char>(start[6]);
  const int minor = static_cast<unsigned char>(start[7]);
  if (header.version < 1 || header.version > 3 || minor != 0) {
    fail(6, fmt::format("version {}.{} of the format; 1.0, 2.0 and 3.0 are known", header.version, minor));
  }
  const std::size_t length_bytes = header.version == 1 ? 2 : 4;
  got = file.read(start + 8, length_bytes);
  if (got < length_bytes) fail(8 + got, "the file ends inside the length of the header");
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(start[8 + i])) << (8 * i);
  }
  if (length > kMaxHeaderBytes) {
    fail(8, fmt::format("the header claims {} bytes; more than {} is not believable", length, kMaxHeaderBytes));
  }
  const std::size_t offset = 8 + length_bytes;
  std::string text(length, '\0');
  got = file.read(text.data(), length);
  if (got < length) {
    fail(offset + got, fmt::format("the file ends after {} of the {} bytes of its header", got, length));
  }
  HeaderParser parser(path, text, offset);
  parser.parse(header);
  read_descr(header, opaque, parser);
  header.data_offset = offset + length;
  return header;
}

}  // namespace

NpyArray read_npy(const std::string& path, std::optional<DType> opaque, const Share& share) {
  InputFile file(path);
  NpyArray array;
  array.header = read_header(file, opaque);
  const NpyHeader& header = array.header;
  const auto bytes = static_cast<std::uint64_t>(header.elements * size_of(header.type));
  const auto describe = [&] {
    return fmt::format("shape ({}) of '{}' needs {} bytes of data", fmt::join(header.shape, ", "), header.descr, bytes);
  };
  const auto truncated = [&](std::uint64_t there) {
    throw IoError(fmt::format("{}: byte {}: the data is cut short: {}, {} are there", path, header.data_offset + there,
                              describe(), there));
  };
  const auto trailing = [&](const std::string& more) {
    throw IoError(
        fmt::format("{}: byte {}: {} after the data: {}", path, header.data_offset + bytes, more, describe()));
  };

  if (file.size()) {
    const std::uint64_t there = *file.size() - std::min<std::uint64_t>(*file.size(), header.data_offset);
    if (there < bytes) truncated(there);
    if (there > bytes) trailing(fmt::format("{} bytes too many", there - bytes));
  }
  array.data = Buffer(bytes);
  const std::size_t got = file.read(array.data.data(), bytes, share);
  if (got < bytes) truncated(got);
  char extra;
  if (file.read(&extra, 1) != 0) trailing("more bytes");
  if (header.big_endian) swap_bytes(array.data, header.type);

  array.layout = header.fortran_order ? Layout::column_major(header.type, header.shape)
                                      : Layout::row_major(header.type, header.shape);
  return array;
}

const char* npy_descr(DType type) noexcept {
  switch (type) {
    case DType::i8:
      return "|i1";
    case DType::i16:
      return "<i2";
    case DType::i32:
      return "<i4";
    case DType::i64:
      return "<i8";
    case DType::u8:
      return "|u1";
    case DType::u16:
      return "<u2";
    case DType::u32:
      return "<u4";
    case DType::u64:
      return "<u8";
    case DType::f16:
      return "<f2";
    case DType::bf16:
      return "<V2";
    case DType::f32:
      return "<f4";
    case DType::f64:
      return "<f8";
    case DType::c64:
      return "<c8";
    case DType::c128:
      return "<c16";
  }
  return "";
}

std::string npy_header(std::string_view descr, bool fortran_order, const std::vector<std::int64_t>& shape) {
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}{}), }}", descr, fortran_order ? "True" : "False",
                  fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // Padded so that the data begins at a multiple of 64 bytes, as NumPy does.
  const std::size_t start = kMagic.size() + 4;
  text.append((64 - (start + text.size() + 1) % 64) % 64, ' ');
  text += '\n';
  std::string header(kMagic);
  header += '\x01';
  header += '\x00';
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

std::unique_ptr<OutputFile> stage_npy(const std::string& path, const Layout& layout, const void* data,
                                      std::string_view descr, const Share& share) {
  const bool row_major = layout.strides == Layout::row_major(layout.type, layout.extents).strides;
  if (!row_major && layout.strides != Layout::column_major(layout.type, layout.extents).strides) {
    throw IoError(fmt::format("{}: a .npy file holds row- or column-major tensors, not strides ({})", path,
                              fmt::join(layout.strides, ", ")));
  }
  const std::string header = npy_header(descr.empty() ? npy_descr(layout.type) : descr, !row_major, layout.extents);
  auto file = std::make_unique<OutputFile>(path);
  file->write(header.data(), header.size());
  file->write(data, static_cast<std::size_t>(layout.elements() * size_of(layout.type)), share);
  return file;
}

void write_npy(const std::string& path, const Layout& layout, const void* data, std::string_view descr,
               const Share& share) {
  stage_npy(path, layout, data, descr, share)->commit();
}

}  // namespace ricci::tools
