#include "jit/elf_object.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

#ifndef SHT_X86_64_UNWIND
#define SHT_X86_64_UNWIND 0x70000001
#endif

namespace ricci::jit {
namespace {

// Far above any kernel (1 to 80 KB) and far below the reach of a 32-bit displacement.
constexpr std::size_t kMaxImageBytes = std::size_t{1} << 28;
constexpr std::size_t kMaxAlignment = 4096;
constexpr std::size_t kNotPlaced = std::numeric_limits<std::size_t>::max();

struct Stop {
  ObjectKind kind;
  std::string reason;
};

[[noreturn]] void damaged(std::string reason) { throw Stop{ObjectKind::damaged, std::move(reason)}; }
[[noreturn]] void other(std::string reason) { throw Stop{ObjectKind::other, std::move(reason)}; }

class Reader {
 public:
  explicit Reader(std::span<const std::byte> file) : file_(file) {}

  ObjectLayout read() {
    read_header();
    read_sections();
    place_sections();
    read_symbols();
    for (std::size_t i = 0; i < sections_.size(); ++i) read_relocations(i);
    layout_.kind = ObjectKind::simple;
    return std::move(layout_);
  }

 private:
  struct Section {
    Elf64_Shdr header;
    std::string_view name;
    std::size_t image = kNotPlaced;
  };
  struct Symbol {
    Elf64_Sym raw;
    std::string_view name;
  };

  /// `count` records of type T from a byte offset on, copied, as nothing in a file need be aligned.
  template <class T>
  T record(std::size_t offset) const {
    if (offset > file_.size() || file_.size() - offset < sizeof(T)) damaged(fmt::format("ends before byte {}", offset));
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof(T));
    return value;
  }

  void require_inside(std::size_t offset, std::size_t bytes, std::string_view what) const {
    if (offset > file_.size() || file_.size() - offset < bytes)
      damaged(fmt::format("{} takes {} bytes from {} on, in a file of {}", what, bytes, offset, file_.size()));
  }

  void read_header() {
#if !defined(__x86_64__)
    other("this process is not an x86-64 one");
#endif
    header_ = record<Elf64_Ehdr>(0);
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) damaged("no ELF magic");
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB)
      other("not a 64-bit little-endian ELF file");
    if (header_.e_ident[EI_VERSION] != EV_CURRENT || header_.e_version != EV_CURRENT) damaged("unknown version of ELF");
    if (header_.e_type != ET_REL) other(fmt::format("ELF type {}, not a relocatable object", header_.e_type));
    if (header_.e_machine != EM_X86_64) other(fmt::format("machine {}, not x86-64", header_.e_machine));
    if (header_.e_shnum == 0) other("no sections, or more than 65,279");
    if (header_.e_shentsize != sizeof(Elf64_Shdr))
      damaged(fmt::format("section headers of {} bytes", header_.e_shentsize));
    require_inside(header_.e_shoff, header_.e_shnum * sizeof(Elf64_Shdr), "the section table");
  }

  /// A string table's text at an offset; the table is known to lie in the file and to end in a null.
  std::string_view text(const Section& table, std::size_t offset) const {
    if (offset >= table.header.sh_size) damaged("a name outside its string table");
    return reinterpret_cast<const char*>(file_.data()) + table.header.sh_offset + offset;
  }

  const Section& string_table(std::size_t index) const {
    if (index >= sections_.size() || sections_[index].header.sh_type != SHT_STRTAB)
      damaged(fmt::format("section {} is no string table", index));
    const Section& table = sections_[index];
    if (table.header.sh_size == 0 || file_[table.header.sh_offset + table.header.sh_size - 1] != std::byte{0})
      damaged(fmt::format("string table {} has no end", index));
    return table;
  }

  void read_sections() {
    sections_.resize(header_.e_shnum);
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      Elf64_Shdr& section = sections_[i].header;
      section = record<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr));
      if (section.sh_type != SHT_NULL && section.sh_type != SHT_NOBITS)
        require_inside(section.sh_offset, section.sh_size, fmt::format("section {}", i));
    }
    const Section& names = string_table(header_.e_shstrndx);
    for (Section& section : sections_) section.name = text(names, section.header.sh_name);
  }

  /// Whether the section belongs into the image; refuses what the small loader does not know.
  static bool belongs(const Section& section) {
    const Elf64_Shdr& header = section.header;
    if (header.sh_flags & SHF_COMPRESSED) other(fmt::format("section {} is compressed", section.name));
    if (!(header.sh_flags & SHF_ALLOC) || header.sh_size == 0) return false;  // comments, symbols, debug information
    const auto is = [&](std::string_view stem) {
      return section.name == stem || (section.name.starts_with(stem) && section.name[stem.size()] == '.');
    };
    if (header.sh_type == SHT_NOTE) return false;
    if (is(".eh_frame") && (header.sh_type == SHT_PROGBITS || header.sh_type == SHT_X86_64_UNWIND))
      return false;  // nothing unwinds through a kernel
    if (header.sh_type != SHT_PROGBITS) other(fmt::format("section {} of type {}", section.name, header.sh_type));
    if (header.sh_flags & SHF_TLS) other(fmt::format("section {} is thread-local", section.name));
    if (is(".text") && !(header.sh_flags & SHF_WRITE)) return true;
    if (is(".rodata") && !(header.sh_flags & SHF_WRITE)) return true;
    if (is(".data.rel.ro")) return true;  // written by relocations alone
    other(fmt::format("section {} ({} bytes)", section.name, header.sh_size));
  }

  void grow(std::size_t bytes) {
    if (bytes > kMaxImageBytes || layout_.image_bytes > kMaxImageBytes - bytes)
      other(fmt::format("more than {} bytes in memory", kMaxImageBytes));
    layout_.image_bytes += bytes;
  }

  void align(std::size_t alignment) { grow((alignment - layout_.image_bytes % alignment) % alignment); }

  void place_sections() {
    for (Section& section : sections_) {
      if (!belongs(section)) continue;
      const std::size_t alignment = std::max<std::size_t>(section.header.sh_addralign, 1);
      if ((alignment & (alignment - 1)) != 0) damaged(fmt::format("section {} aligned to {}", section.name, alignment));
      if (alignment > kMaxAlignment) other(fmt::format("section {} aligned to {}", section.name, alignment));
      align(alignment);
      section.image = layout_.image_bytes;
      grow(section.header.sh_size);
      layout_.pieces.push_back({section.header.sh_offset, section.image, section.header.sh_size});
    }
  }

  void read_symbols() {
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      if (sections_[i].header.sh_type != SHT_SYMTAB) continue;
      if (symbol_table_ != 0) damaged("two symbol tables");
      symbol_table_ = i;
    }
    if (symbol_table_ == 0) return;
    const Elf64_Shdr& table = sections_[symbol_table_].header;
    if (table.sh_entsize != sizeof(Elf64_Sym) || table.sh_size % sizeof(Elf64_Sym) != 0)
      damaged("a symbol table of odd size");
    const Section& names = string_table(table.sh_link);
    for (std::size_t i = 0; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
      Symbol symbol{record<Elf64_Sym>(table.sh_offset + i * sizeof(Elf64_Sym)), {}};
      symbol.name = text(names, symbol.raw.st_name);
      check_symbol(i, symbol);
      symbols_.push_back(symbol);
    }
  }

  void check_symbol(std::size_t index, const Symbol& symbol) {
    const Elf64_Sym& raw = symbol.raw;
    if (raw.st_shndx == SHN_UNDEF) {
      if (index != 0 && known_function(symbol.name) == kKnownFunctions.size())
        other(fmt::format("undefined symbol '{}'", symbol.name));
      return;
    }
    if (raw.st_shndx == SHN_ABS && ELF64_ST_TYPE(raw.st_info) == STT_FILE) return;
    if (raw.st_shndx >= SHN_LORESERVE)
      other(fmt::format("symbol '{}' in special section {:#x}", symbol.name, raw.st_shndx));
    if (raw.st_shndx >= sections_.size()) damaged(fmt::format("symbol '{}' in section {}", symbol.name, raw.st_shndx));
    const Section& section = sections_[raw.st_shndx];
    if (section.image == kNotPlaced) return;
    if (raw.st_value > section.header.sh_size || section.header.sh_size - raw.st_value < raw.st_size)
      damaged(fmt::format("symbol '{}' outside section {}", symbol.name, section.name));
    const unsigned type = ELF64_ST_TYPE(raw.st_info);
    if (type == STT_GNU_IFUNC) other(fmt::format("symbol '{}' is resolved at load time", symbol.name));
    const bool named = type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE;
    if (ELF64_ST_BIND(raw.st_info) != STB_LOCAL && named && !symbol.name.empty())
      layout_.names.push_back({std::string(symbol.name), section.image + raw.st_value, raw.st_size});
  }

  static std::size_t known_function(std::string_view name) {
    const auto found = std::find(kKnownFunctions.begin(), kKnownFunctions.end(), name);
    return static_cast<std::size_t>(found - kKnownFunctions.begin());
  }

  /// Where a reference to the symbol leads, in the image.
  std::size_t image_of(const Symbol& symbol) {
    if (symbol.raw.st_shndx != SHN_UNDEF) {
      if (symbol.raw.st_shndx >= sections_.size() || sections_[symbol.raw.st_shndx].image == kNotPlaced)
        other(fmt::format("a reference to '{}', which is not loaded", symbol.name));
      return sections_[symbol.raw.st_shndx].image + symbol.raw.st_value;
    }
    // libc may be more than 2 GB away, so that each known function gets a jump inside the image.
    const std::size_t function = known_function(symbol.name);
    if (function == kKnownFunctions.size()) damaged("a reference to no symbol");
    for (const ObjectLayout::Jump& jump : layout_.jumps)
      if (jump.function == function) return jump.image;
    align(ObjectLayout::kJumpBytes);
    layout_.jumps.push_back({layout_.image_bytes, function});
    grow(ObjectLayout::kJumpBytes);
    return layout_.jumps.back().image;
  }

  void read_relocations(std::size_t index) {
    const Elf64_Shdr& table = sections_[index].header;
    if (table.sh_type == SHT_REL) other("relocations without addends");
    if (table.sh_type != SHT_RELA) return;
    if (table.sh_info == 0 || table.sh_info >= sections_.size())
      damaged(fmt::format("relocations for section {}", table.sh_info));
    const Section& section = sections_[table.sh_info];
    if (section.image == kNotPlaced) return;
    if (table.sh_link != symbol_table_ || symbol_table_ == 0) damaged("relocations without a symbol table");
    if (table.sh_entsize != sizeof(Elf64_Rela) || table.sh_size % sizeof(Elf64_Rela) != 0)
      damaged("a relocation table of odd size");
    for (std::size_t i = 0; i < table.sh_size / sizeof(Elf64_Rela); ++i)
      read_relocation(record<Elf64_Rela>(table.sh_offset + i * sizeof(Elf64_Rela)), section);
  }

  void read_relocation(const Elf64_Rela& relocation, const Section& section) {
    const auto type = ELF64_R_TYPE(relocation.r_info);
    if (type == R_X86_64_NONE) return;
    if (type != R_X86_64_PC32 && type != R_X86_64_PLT32 && type != R_X86_64_64)
      other(fmt::format("relocation type {} in {}", type, section.name));
    const std::size_t width = type == R_X86_64_64 ? 8 : 4;
    if (relocation.r_offset > section.header.sh_size || section.header.sh_size - relocation.r_offset < width)
      damaged(fmt::format("a relocation outside section {}", section.name));
    const std::size_t which = ELF64_R_SYM(relocation.r_info);
    if (which >= symbols_.size()) damaged(fmt::format("a relocation against symbol {} of {}", which, symbols_.size()));

    const std::size_t place = section.image + relocation.r_offset;
    // Unsigned: what a damaged addend makes of the sum is well defined, and found below.
    const std::uint64_t target = image_of(symbols_[which]) + static_cast<std::uint64_t>(relocation.r_addend);
    if (type == R_X86_64_64) {
      layout_.patches.push_back({ObjectLayout::PatchKind::absolute64, place, target});
      return;
    }
    const auto distance = static_cast<std::int64_t>(target - place);
    if (distance != static_cast<std::int32_t>(distance)) damaged(fmt::format("a reference {} bytes away", distance));
    layout_.patches.push_back(
        {ObjectLayout::PatchKind::relative32, place, static_cast<std::uint32_t>(static_cast<std::int32_t>(distance))});
  }

  std::span<const std::byte> file_;
  Elf64_Ehdr header_{};
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
  std::size_t symbol_table_ = 0;  // 0: none, as section 0 is never one
  ObjectLayout layout_;
};

}  // namespace

ObjectLayout lay_out_object(std::span<const std::byte> object) {
  try {
    return Reader(object).read();
  } catch (Stop& stop) {
    ObjectLayout refused;
    refused.kind = stop.kind;
    refused.reason = std::move(stop.reason);
    return refused;
  }
}

}  // namespace ricci::jit
