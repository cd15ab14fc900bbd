#include "image.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "jit/cpu_compiler.hpp"
#include "jit/object_loader.hpp"
#include "kernel/extensions.hpp"
#include "ricci/error.hpp"

namespace ricci::simt {
namespace {

constexpr char kAnchor[] = "ricci_simt_shared";

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw IoError(fmt::format("the simulator cannot read its prelude {}", path));
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::string& host_prelude() {
  static const std::string text = [] {
    std::string hooks = read_text(RICCI_SIMT_DIR "/hooks.hpp");
    const std::string once = "#pragma once\n";  // the text is a main file now, where this is a warning
    hooks.replace(hooks.find(once), once.size(), "\n");
    return hooks + read_text(RICCI_SIMT_DIR "/cuda_host.hpp");
  }();
  return text;
}

constexpr char kSpace[] = " \t\n";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::size_t skip_space(const std::string& text, std::size_t at) {
  return std::min(text.find_first_not_of(kSpace, at), text.size());
}

// Where `word` next stands alone, from `at` on; npos when it does not.
std::size_t find_word(const std::string& text, const std::string& word, std::size_t at) {
  while ((at = text.find(word, at)) != std::string::npos) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) break;
    at = end;
  }
  return at;
}

// `extern __shared__ double tile[];` gets its size from the launch, `static` is part of __shared__ here. Lines stay.
std::string with_shared_sizes(std::string text, std::size_t dynamic_shared) {
  constexpr char kShared[] = "__shared__";
  for (std::size_t at = 0; (at = find_word(text, kShared, at)) != std::string::npos; at += std::strlen(kShared)) {
    const std::size_t last = at == 0 ? std::string::npos : text.find_last_not_of(kSpace, at - 1);
    if (last == std::string::npos || last < 5) continue;
    const std::string word = text.substr(last - 5, 6);  // both have six letters
    if (word != "static" && word != "extern") continue;
    text.replace(last - 5, 6, 6, ' ');
    if (word == "static") continue;
    const std::size_t open = text.find('[', at), close = text.find(']', open);
    const std::size_t semicolon = text.find(';', at);
    if (open == std::string::npos || semicolon < close || skip_space(text, open + 1) != close) continue;
    std::size_t type = skip_space(text, at + std::strlen(kShared));
    if (text.compare(type, 9, "__align__") == 0) type = skip_space(text, text.find(')', type) + 1);
    std::size_t variable = text.find_last_not_of(kSpace, open - 1);
    while (is_word(text[variable - 1])) --variable;
    const std::string element = text.substr(type, text.find_last_not_of(kSpace, variable - 1) + 1 - type);
    text.replace(open + 1, close - open - 1, fmt::format("{} / sizeof({})", dynamic_shared, element));
  }
  return text;
}

// "_ZZ4nameE4tile" -> "tile"; a static of a C function is "name.tile" in LLVM.
std::string variable_name(const std::string& symbol) {
  int status = 0;
  char* demangled = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string text = status == 0 ? demangled : symbol;
  std::free(demangled);
  if (const auto at = text.rfind("::"); at != std::string::npos) text.erase(0, at + 2);
  if (const auto at = text.rfind('.'); at != std::string::npos) text.erase(0, at + 1);
  return text;
}

// The first number in brackets behind a word that stands between __global__ and the kernel's name; `none` when there is
// no such word.
unsigned find_bound(const std::string& text, const std::string& kernel, const char* word, unsigned none) {
  constexpr char kGlobal[] = "__global__";
  for (std::size_t at = 0; (at = find_word(text, kGlobal, at)) != std::string::npos; at += std::strlen(kGlobal)) {
    const std::size_t name = find_word(text, kernel, at);
    if (name == std::string::npos) return none;
    if (find_word(text, kGlobal, at + 1) < name) continue;
    const std::size_t bound = find_word(text, word, at);
    const std::size_t open = bound < name ? text.find('(', bound) : std::string::npos;
    return open < name ? static_cast<unsigned>(std::strtoul(text.c_str() + open + 1, nullptr, 10)) : none;
  }
  return none;
}

// What cuda_host.hpp says of the atoms that are there from the start.
std::string twin_of(const kernel::Atom& atom) {
  const auto type = [](const kernel::Fragment& fragment) {
    using kernel::AtomType;
    if (fragment.type == AtomType::f64) return "double";
    if (fragment.type == AtomType::f32 || fragment.type == AtomType::tf32) return "float";
    return fragment.type == AtomType::i32 ? "int" : "unsigned";
  };
  return fmt::format("RICCI_SIMT_MMA({}, {}, {}, {}, {}, {})\n", atom.name, type(atom.c), atom.c.registers(),
                     type(atom.a), atom.a.registers(), atom.b.registers());
}

}  // namespace

std::string simulated_text(const Launch& launch) {
  std::string text = host_prelude();
  if (launch.as_written) text += "extern \"C\" { __attribute__((used)) char ricci_trace_as_written; }\n";
  for (const auto& added : kernel::added_atoms()) text += twin_of(added.atom);
  text += "#line 1 \"kernel\"\n" + with_shared_sizes(launch.source, launch.dynamic_shared);
  text += "\n#line 1 \"launch\"\n";
  std::string values;
  for (std::size_t i = 0; i < launch.parameter_types.size(); ++i) {
    text += fmt::format("typedef {} ricci_simt_type{};\n", launch.parameter_types[i], i);
    values += fmt::format("{}*(ricci_simt_type{}*)arguments[{}]", i ? ", " : "", i, i);
  }
  text += fmt::format("RICCI_SIMT_HOOK __attribute__((used)) void ricci_simt_entry(void** arguments) {{ {}({}); }}\n",
                      launch.kernel, values);
  return text;
}

Image::Image(const Launch& launch)
    : launch_bounds_(find_bound(launch.source, launch.kernel, "__launch_bounds__", 0)),
      cluster_(find_bound(launch.source, launch.kernel, "__cluster_dims__", 1)) {
  jit::CpuCompileOptions options;
  options.target = jit::host_cpu();
  options.contract = jit::Contract::off;
  // One lane's accesses must stay as they are written: -no-implicit-float turns both vectorisers off. A variable that
  // was not set holds a pattern, as a register holds something: to pass it to a shuffle is no licence to drop guards.
  options.extra = {"-O1",
                   "-no-implicit-float",
                   "-relaxed-aliasing",
                   "-fdeclspec",
                   "-ftrivial-auto-var-init=pattern",
                   "-debug-info-kind=line-tables-only"};
  const jit::CpuObject object = jit::compile_cpu(simulated_text(launch), launch.kernel, options);
  compile_ms_ = object.ms;
  loaded_ = jit::load_object(object.bytes, jit::Loader::orc);
  entry_ = reinterpret_cast<void (*)(void**)>(loaded_->symbol("ricci_simt_entry"));
  lines_ = static_cast<const std::uint32_t*>(loaded_->symbol("ricci_trace_lines"));
  void* anchor = loaded_->symbol(kAnchor);
  if (!entry_ || !anchor)
    throw InternalError("the simulator's entry is missing from the compiled kernel " + launch.kernel);
  if (!lines_)
    throw InternalError("the CPU compiler did not trace the kernel " + launch.kernel +
                        ": its plug-in lacks access_tracing.cpp");
  find_shared(object.bytes, reinterpret_cast<std::uint64_t>(anchor));
}

void Image::set_hooks(const RicciSimtHooks* hooks, void (*trace)(const void*, unsigned)) const {
  *static_cast<const RicciSimtHooks**>(loaded_->symbol("ricci_simt_hooks")) = hooks;
  *static_cast<void (**)(const void*, unsigned)>(loaded_->symbol("ricci_trace")) = trace;
}

// Names, sizes and distances within the section come from the object's symbol table, the address from the anchor.
void Image::find_shared(const std::vector<std::byte>& object, std::uint64_t anchor) {
  const auto at = [&]<class T>(std::size_t offset, T) {
    T value;
    if (offset + sizeof(T) > object.size()) throw InternalError("damaged object from the CPU compiler");
    std::memcpy(&value, object.data() + offset, sizeof(T));
    return value;
  };
  const auto header = at(0, Elf64_Ehdr{});
  const auto section = [&](std::size_t i) { return at(header.e_shoff + i * sizeof(Elf64_Shdr), Elf64_Shdr{}); };
  std::uint64_t anchor_value = 0;
  Elf64_Section shared_section = SHN_UNDEF;
  std::vector<std::pair<Elf64_Sym, std::string>> symbols;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_SYMTAB) continue;
    const Elf64_Shdr names = section(table.sh_link);
    for (std::size_t s = 0; s < table.sh_size / sizeof(Elf64_Sym); ++s) {
      const auto symbol = at(table.sh_offset + s * sizeof(Elf64_Sym), Elf64_Sym{});
      if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT) continue;
      std::string symbol_name = reinterpret_cast<const char*>(object.data() + names.sh_offset + symbol.st_name);
      if (symbol_name == kAnchor) {
        shared_section = symbol.st_shndx;
        anchor_value = symbol.st_value;
      } else {
        symbols.emplace_back(symbol, std::move(symbol_name));
      }
    }
  }
  for (const auto& [symbol, symbol_name] : symbols)
    if (symbol.st_shndx == shared_section)
      shared_.push_back({variable_name(symbol_name), anchor + (symbol.st_value - anchor_value), symbol.st_size});
  std::sort(shared_.begin(), shared_.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  shared_begin_ = anchor + kAnchorBytes;
  if (!shared_.empty()) shared_bytes_ = shared_.back().begin + shared_.back().bytes - shared_begin_;
}

}  // namespace ricci::simt
