// Makes relocatable x86-64 objects byte by byte, so that tests of the loaders need no compiler and can be wrong on
// purpose.
#pragma once
#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

class ObjectBuilder {
 public:
  ObjectBuilder() {
    section("", SHT_NULL, 0, {}, 0);
    symbols_.push_back({});
    strings_.push_back('\0');
  }

  /// Returns the section's index.
  unsigned section(const std::string& name, unsigned type, std::uint64_t flags, std::vector<unsigned char> bytes,
                   std::uint64_t alignment = 16) {
    sections_.push_back({name, {}, std::move(bytes), {}});
    Elf64_Shdr& header = sections_.back().header;
    header.sh_type = type;
    header.sh_flags = flags;
    header.sh_addralign = alignment;
    header.sh_size = sections_.back().bytes.size();
    return static_cast<unsigned>(sections_.size() - 1);
  }
  unsigned text(std::initializer_list<unsigned char> code, const std::string& name = ".text") {
    return section(name, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, code);
  }

  /// Returns the symbol's index. Local ones come first, as ELF wants it.
  unsigned symbol(const std::string& name, unsigned section, std::uint64_t value, std::uint64_t bytes,
                  unsigned bind = STB_GLOBAL, unsigned type = STT_FUNC) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(strings_.size());
    symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(bind, type));
    symbol.st_shndx = static_cast<Elf64_Half>(section);
    symbol.st_value = value;
    symbol.st_size = bytes;
    strings_ += name + '\0';
    symbols_.push_back(symbol);
    if (bind == STB_LOCAL) locals_ = symbols_.size();
    return static_cast<unsigned>(symbols_.size() - 1);
  }
  unsigned undefined(const std::string& name) { return symbol(name, SHN_UNDEF, 0, 0, STB_GLOBAL, STT_NOTYPE); }

  void relocate(unsigned section, std::uint64_t offset, std::uint64_t type, std::uint64_t symbol, std::int64_t addend) {
    sections_[section].relocations.push_back({offset, ELF64_R_INFO(symbol, type), addend});
  }

  std::vector<std::byte> build() const {
    std::vector<Section> all = sections_;
    const auto symbol_table = static_cast<Elf64_Word>(all.size());
    all.push_back(table(".symtab", SHT_SYMTAB, symbols_.data(), symbols_.size(), symbol_table + 1,
                        static_cast<Elf64_Word>(locals_)));
    all.push_back({".strtab", {}, {strings_.begin(), strings_.end()}, {}});
    all.back().header.sh_type = SHT_STRTAB;
    for (Elf64_Word i = 0; i < sections_.size(); ++i)
      if (!sections_[i].relocations.empty())
        all.push_back(table(".rela" + sections_[i].name, SHT_RELA, sections_[i].relocations.data(),
                            sections_[i].relocations.size(), symbol_table, i));
    all.push_back({".shstrtab", {}, {}, {}});
    all.back().header.sh_type = SHT_STRTAB;
    std::string names;
    for (Section& section : all) {
      section.header.sh_name = static_cast<Elf64_Word>(names.size());
      names += section.name + '\0';
    }
    all.back().bytes.assign(names.begin(), names.end());

    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_REL;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof(header);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(all.size());
    header.e_shstrndx = static_cast<Elf64_Half>(all.size() - 1);
    std::string file(sizeof(header), '\0');
    for (Section& section : all) {
      file.resize((file.size() + 15) / 16 * 16);
      section.header.sh_offset = file.size();
      if (section.header.sh_type != SHT_NOBITS) {
        section.header.sh_size = section.bytes.size();
        file.append(section.bytes.begin(), section.bytes.end());
      }
    }
    file.resize((file.size() + 15) / 16 * 16);
    header.e_shoff = file.size();
    std::memcpy(file.data(), &header, sizeof(header));
    for (const Section& section : all)
      file.append(reinterpret_cast<const char*>(&section.header), sizeof(section.header));
    std::vector<std::byte> bytes(file.size());
    std::memcpy(bytes.data(), file.data(), file.size());
    return bytes;
  }

 private:
  struct Section {
    std::string name;
    Elf64_Shdr header;
    std::vector<unsigned char> bytes;
    std::vector<Elf64_Rela> relocations;
  };

  template <class T>
  static Section table(const std::string& name, Elf64_Word type, const T* records, std::size_t count, Elf64_Word link,
                       Elf64_Word info) {
    const auto* first = reinterpret_cast<const unsigned char*>(records);
    Section section{name, {}, {first, first + count * sizeof(T)}, {}};
    section.header.sh_type = type;
    section.header.sh_entsize = sizeof(T);
    section.header.sh_link = link;
    section.header.sh_info = info;
    section.header.sh_addralign = 8;
    return section;
  }

  std::vector<Section> sections_;
  std::vector<Elf64_Sym> symbols_;
  std::string strings_;
  std::size_t locals_ = 1;
};

/// An object with a function "answer" that returns a number.
inline std::vector<std::byte> answer_object(int number) {
  const auto n = static_cast<unsigned>(number);
  const auto byte = [&](int i) { return static_cast<unsigned char>(n >> 8 * i); };
  ObjectBuilder object;
  const unsigned text = object.text({0xb8, byte(0), byte(1), byte(2), byte(3), 0xc3});  // mov $number, %eax; ret
  object.symbol("answer", text, 0, 6);
  return object.build();
}

/// An object with all that the small loader knows: two code sections, constants, a table of addresses, each relocation,
/// and the three functions of libc. Functions: constant() = 41 + 1 from .rodata, indirect() = 7 through the table,
/// near() = constant() from another section, copy = memcpy, move = memmove, fill = memset, far_copy() = &memcpy's jump.
inline std::vector<std::byte> full_object() {
  ObjectBuilder object;
  const unsigned text = object.text({
      0x8b, 0x05, 0,    0, 0, 0,    0x83, 0xc0, 0x01, 0xc3,  //  0 constant: mov rip(ro+4), %eax; add $1, %eax; ret
      0x48, 0x8b, 0x05, 0, 0, 0,    0,    0x8b, 0x00, 0xc3,  // 10 indirect: mov rip(table), %rax; mov (%rax), %eax
      0xe9, 0,    0,    0, 0, 0xe9, 0,    0,    0,    0,    0xe9, 0, 0, 0, 0,  // 20 copy, 25 move, 30 fill: jmp
      0x48, 0x8b, 0x05, 0, 0, 0,    0,    0xc3,  // 35 far_copy: mov rip(table + 8), %rax; ret
  });
  const unsigned near = object.text({0xe9, 0, 0, 0, 0}, ".text.near");
  const unsigned constants =
      object.section(".rodata.cst4", SHT_PROGBITS, SHF_ALLOC | SHF_MERGE, {7, 0, 0, 0, 41, 0, 0, 0}, 64);
  const unsigned table =
      object.section(".data.rel.ro", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, std::vector<unsigned char>(16), 8);
  object.section(".note.GNU-stack", SHT_PROGBITS, 0, {});
  object.section(".comment", SHT_PROGBITS, SHF_MERGE | SHF_STRINGS, {'x', 0});
  const unsigned local = object.symbol("", constants, 0, 0, STB_LOCAL, STT_SECTION);
  const unsigned rows = object.symbol("rows", table, 0, 16, STB_LOCAL, STT_OBJECT);
  const unsigned constant = object.symbol("constant", text, 0, 10);
  object.symbol("indirect", text, 10, 10);
  object.symbol("copy", text, 20, 5);
  object.symbol("move", text, 25, 5);
  object.symbol("fill", text, 30, 5);
  object.symbol("far_copy", text, 35, 8);
  object.symbol("near", near, 0, 5, STB_WEAK);
  const unsigned memcpy_ = object.undefined("memcpy");
  const unsigned memmove_ = object.undefined("memmove");
  const unsigned memset_ = object.undefined("memset");
  object.relocate(text, 2, R_X86_64_PC32, local, 4 - 4);
  object.relocate(text, 13, R_X86_64_PC32, rows, -4);
  object.relocate(text, 21, R_X86_64_PLT32, memcpy_, -4);
  object.relocate(text, 26, R_X86_64_PLT32, memmove_, -4);
  object.relocate(text, 31, R_X86_64_PLT32, memset_, -4);
  object.relocate(text, 38, R_X86_64_PC32, rows, 8 - 4);
  object.relocate(near, 1, R_X86_64_PLT32, constant, -4);
  object.relocate(table, 0, R_X86_64_64, local, 0);
  object.relocate(table, 8, R_X86_64_64, memcpy_, 0);
  return object.build();
}
