// Declarations: names, extents, tensors.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "frontend/components.hpp"
#include "frontend/excerpt.hpp"
#include "frontend/formula.hpp"
#include "frontend/index_set.hpp"
#include "ricci/error.hpp"

namespace ricci::formula {
namespace {

template <class T>
int find_name(const T& table, std::string_view name) noexcept {
  const auto found = table.find(name);
  return found == table.end() ? -1 : found->second;
}

std::string count_text(std::int64_t extent) {
  return extent == kOpenExtent ? "no extent" : fmt::format("{} values", extent);
}

}  // namespace

bool SlotSum::holds(int index) const noexcept {
  return std::any_of(terms.begin(), terms.end(), [&](const SlotTerm& term) { return term.index == index; });
}

bool SlotSum::add(int index, std::int64_t coefficient) {
  const auto place =
      std::find_if(terms.begin(), terms.end(), [&](const SlotTerm& term) { return term.index >= index; });
  if (place == terms.end() || place->index != index) {
    if (coefficient != 0) terms.insert(place, {index, coefficient});
    return true;
  }
  std::int64_t sum = 0;
  if (__builtin_add_overflow(place->coefficient, coefficient, &sum)) return false;
  place->coefficient = sum;
  if (sum == 0) terms.erase(place);
  return true;
}

std::optional<SlotRange> ProgramGraph::range(const SlotSum& sum) const {
  static constexpr __int128 kBeyond = std::int64_t{1} << 62;
  const auto held = [](__int128 value) { return static_cast<std::int64_t>(std::clamp(value, -kBeyond, kBeyond)); };
  __int128 least = sum.offset, greatest = sum.offset;  // of a few terms, each below 2^126
  for (const auto& [index, coefficient] : sum.terms) {
    if (extent(index) == kOpenExtent) return std::nullopt;
    const auto reach = static_cast<__int128>(coefficient) * (extent(index) - 1);
    least = std::clamp(least + (coefficient < 0 ? reach : 0), -kBeyond, kBeyond);
    greatest = std::clamp(greatest + (coefficient < 0 ? 0 : reach), -kBeyond, kBeyond);
  }
  return SlotRange{held(least), held(greatest)};
}

std::int64_t ProgramGraph::extent(const SlotExtent& slot) const {
  if (slot.fixed()) return slot.offset;
  auto above = slot;  // an index below 0 has no say in the greatest value, known or not
  std::erase_if(above.terms, [](const SlotTerm& term) { return term.coefficient < 0; });
  const auto values = range(above);
  return values ? std::max<std::int64_t>(values->greatest + 1, 0) : kOpenExtent;
}

std::string SourcePosition::describe() const {
  if (file != nullptr) return fmt::format("\n  {}:{}", file, line);
  if (text.data() == nullptr) return {};
  const auto here = position();
  const auto column = static_cast<std::size_t>(here.column) - 1, begin = static_cast<std::size_t>(here.offset) - column;
  const auto end = std::min(text.find('\n', begin), text.size());
  return fmt::format("\n  line {}, column {}:\n{}", here.line, here.column,
                     underlined(text.substr(begin, end - begin), {column}));
}

TextPosition SourcePosition::position() const {
  if (file != nullptr || text.data() == nullptr) return {};
  const auto at = std::min(offset, text.size());
  const auto before = text.substr(0, at);
  const auto newline = before.rfind('\n');
  const auto begin = newline == std::string_view::npos ? 0 : newline + 1;
  const auto number = line > 0 ? static_cast<std::ptrdiff_t>(line) : std::count(before.begin(), before.end(), '\n') + 1;
  return {static_cast<int>(number), static_cast<int>(at - begin) + 1, static_cast<std::int64_t>(at)};
}

// Expressions and names are a user's, of any length.
constexpr std::size_t kLongestText = 2000;

void fail(const SourcePosition& place, const std::string& what) {
  throw SpecError(shortened(what, kLongestText) + place.describe(), place.position());
}

void fail_shape(const SourcePosition& place, const std::string& what) {
  throw ShapeError(shortened(what, kLongestText) + place.describe(), place.position());
}

int ProgramGraph::find_index(std::string_view wanted) const noexcept { return find_name(index_names_, wanted); }
int ProgramGraph::find_tensor(std::string_view wanted) const noexcept { return find_name(tensor_names_, wanted); }
int ProgramGraph::find_param(std::string_view wanted) const noexcept { return find_name(param_names_, wanted); }

void ProgramGraph::check_name(const std::string& wanted, const char* what, const SourcePosition& place) const {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto word = [&](char c) { return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  if (wanted.empty() || !letter(wanted.front()) || !std::all_of(wanted.begin(), wanted.end(), word)) {
    fail(place, fmt::format("NameError: '{}' is no name for {}: letters, digits and underscores, a letter first",
                            wanted, what));
  }
  if (is_word(wanted)) {
    fail(place, fmt::format("NameError: '{}' is a word of the language; give {} another name", wanted, what));
  }
  const char* taken = nullptr;
  if (find_index(wanted) >= 0) taken = find_index(wanted) == grid ? "the grid" : "an index";
  if (find_tensor(wanted) >= 0) taken = "a tensor";
  if (find_param(wanted) >= 0) taken = "a parameter";
  if (taken != nullptr) {
    fail(place, fmt::format("NameError: '{}' is {} already; give {} another name", wanted, taken, what));
  }
}

int ProgramGraph::declare_index(const std::string& wanted, std::int64_t extent, const SourcePosition& place) {
  if (extent < kOpenExtent) {
    fail_shape(place, fmt::format("ExtentError: index {} has extent {}; extents start at 0", wanted, extent));
  }
  if (const int known = find_index(wanted); known >= 0) {
    auto& declared = indices[static_cast<std::size_t>(known)];
    if (declared.extent == kOpenExtent && extent != kOpenExtent) set_extent(known, extent, place);
    if (extent != kOpenExtent && declared.extent != extent) {
      fail_shape(place, fmt::format("ExtentMismatch: index {} has {} here and {} before", wanted, count_text(extent),
                                    count_text(declared.extent)));
    }
    return known;
  }
  check_name(wanted, "an index", place);
  index_names_.emplace(wanted, static_cast<int>(indices.size()));
  indices.push_back({wanted, extent});
  return static_cast<int>(indices.size()) - 1;
}

void ProgramGraph::declare_grid(const std::string& wanted, std::int64_t extent, const SourcePosition& place) {
  if (grid >= 0) {
    fail(place, fmt::format("NameError: the grid is '{}' already; a program has one",
                            indices[static_cast<std::size_t>(grid)].name));
  }
  check_name(wanted, "a grid", place);
  grid = declare_index(wanted, extent, place);
}

int ProgramGraph::declare_param(const std::string& wanted, DType type, const SourcePosition& place) {
  check_name(wanted, "a parameter", place);
  if (is_half(type)) {
    fail(place, fmt::format("TypeError: parameter '{}' cannot be {}; use f32", wanted, ricci::name(type)));
  }
  param_names_.emplace(wanted, static_cast<int>(params.size()));
  params.push_back({wanted, type});
  return static_cast<int>(params.size()) - 1;
}

int ProgramGraph::declare_tensor(TensorDecl made, const SourcePosition& place) {
  check_name(made.name, "a tensor", place);
  const auto refuse = [&](const std::string& what) {
    fail_shape(place, fmt::format("ExtentError: tensor '{}': {}", made.name, what));
  };
  const int rank = made.rank();
  auto& form = made.form;
  if (form.on_grid && grid < 0) {
    fail(place, fmt::format("NameError: tensor '{}' is on a grid, and the program has none", made.name));
  }
  for (int k = 0; k < rank; ++k) {
    const auto& slot = made.slots[static_cast<std::size_t>(k)];
    const auto values = extent(slot);
    if (slot.fixed() && values < 0) refuse(fmt::format("slot {} has extent {}; extents start at 0", k, values));
    if (grid >= 0 && slot.holds(grid)) {
      if (form.on_grid) refuse(fmt::format("slot {} is the grid, on which it is already", k));
      if (!form.symmetry.list.empty()) refuse(fmt::format("slot {} is the grid; say `on` the grid instead", k));
    }
  }
  for (auto& symmetry : form.symmetry.list) {
    std::sort(symmetry.slots.begin(), symmetry.slots.end());
    if (symmetry.slots.size() < 2) {
      fail(place, fmt::format("SymmetryMismatch: tensor '{}': a symmetry has two slots at least", made.name));
    }
    for (std::size_t k = 0; k < symmetry.slots.size(); ++k) {
      const int p = symmetry.slots[k];
      if (p < 0 || p >= rank) {
        fail(place, fmt::format("RangeError: a symmetry of '{}' names slot {}, it has {} slots", made.name, p, rank));
      }
      const auto users =
          std::count_if(form.symmetry.list.begin(), form.symmetry.list.end(), [&](const Symmetry& other) {
            return std::find(other.slots.begin(), other.slots.end(), p) != other.slots.end();
          });
      if (users > 1 || (k > 0 && symmetry.slots[k - 1] == p)) {
        fail(place, fmt::format("SymmetryMismatch: tensor '{}': slot {} is in a symmetry twice; sym(0,1,2) says all "
                                "permutations of three slots",
                                made.name, p));
      }
      const auto& first = made.slots[static_cast<std::size_t>(symmetry.slots.front())];
      const auto& here = made.slots[static_cast<std::size_t>(p)];
      if (first != here && extent(first) != extent(here)) {
        refuse(fmt::format("slots {} and {} are symmetric and have {} and {}", symmetry.slots.front(), p,
                           count_text(extent(first)), count_text(extent(here))));
      }
    }
  }
  if (made.expanded()) {
    for (int k = 0; k < rank; ++k) {
      const auto& slot = made.slots[static_cast<std::size_t>(k)];
      const auto values = extent(slot);
      if (!slot.fixed() && values == kOpenExtent) {
        const auto open = std::find_if(slot.terms.begin(), slot.terms.end(),
                                       [&](const SlotTerm& term) { return extent(term.index) == kOpenExtent; });
        refuse(fmt::format("slot {} is index {} without an extent; on a grid or with a symmetry it needs one", k,
                           indices[static_cast<std::size_t>(open->index)].name));
      }
      if (values < 1 || values > kMaxComponentExtent) {
        refuse(fmt::format("slot {} has {}; on a grid or with a symmetry it can have 1 to {}", k, count_text(values),
                           kMaxComponentExtent));
      }
    }
    if (count_components(made, *this) > kMaxComponents) {
      refuse(fmt::format("more than {} components per point", kMaxComponents));
    }
  }
  const bool wants_parameter = form.storage == Storage::blocked;
  if (form.parameter < 0 || (wants_parameter && form.parameter < 1)) {
    refuse("a blocked layout has a block of one point at least");
  }
  if (!form.on_grid && form.storage != Storage::dense) refuse("soa, pointers and blocked are layouts of fields");
  if (form.on_grid && !form.strides.empty()) refuse("strides are for tensors without a grid");
  if (!form.strides.empty()) {
    if (!form.symmetry.list.empty()) refuse("strides are for tensors without a symmetry");
    if (form.strides.size() != made.slots.size()) {
      refuse(fmt::format("{} strides for {} slots", form.strides.size(), made.slots.size()));
    }
  }
  if (form.alignment < 0 || (form.alignment & (form.alignment - 1)) != 0) {
    refuse(fmt::format("an alignment of {} bytes; powers of two, or 0", form.alignment));
  }
  if (form.outside) {
    const bool whole = std::isfinite(*form.outside) && std::trunc(*form.outside) == *form.outside;
    if (made.role != TensorRole::input && made.role != TensorRole::temp) {
      fail(place,
           fmt::format("'outside' is for inputs and temps, '{}' is another tensor; copy it to a temp", made.name));
    }
    if (made.expanded()) {
      fail(place, fmt::format("'outside' is for tensors without a grid and a symmetry, '{}' has one", made.name));
    }
    if (is_integer(made.type) && !whole) {
      fail(place,
           fmt::format("TypeError: '{}' is {} and has a whole number outside", made.name, ricci::name(made.type)));
    }
  }
  const bool stored = made.role != TensorRole::local;
  const bool plain = form.storage == Storage::dense && form.strides.empty();
  if (!stored && !plain) refuse("a local has no storage and no layout");
  if (made.role == TensorRole::temp && (!plain || form.parameter != 0))
    refuse("a temp has the layout that Ricci gives it");
  tensor_names_.emplace(made.name, static_cast<int>(tensors.size()));
  tensors.push_back(std::move(made));
  return static_cast<int>(tensors.size()) - 1;
}

void ProgramGraph::set_extent(int index, std::int64_t values, const SourcePosition& place) {
  auto& declared = indices[static_cast<std::size_t>(index)];
  if (values < 0) {
    fail_shape(place, fmt::format("ExtentError: index {} has extent {}; extents start at 0", declared.name, values));
  }
  for (const auto& tensor : tensors) {
    if (!tensor.expanded() || declared.extent == values) continue;
    const bool uses = std::any_of(tensor.slots.begin(), tensor.slots.end(),
                                  [&](const SlotExtent& slot) { return slot.holds(index); });
    if (uses && index != grid) {
      fail_shape(place, fmt::format("ExtentError: index {} has {}, from which the components of '{}' were counted; it "
                                    "cannot be changed",
                                    declared.name, count_text(declared.extent), tensor.name));
    }
  }
  const auto before = declared.extent;
  declared.extent = values;
  try {
    check_extents();
  } catch (...) {
    indices[static_cast<std::size_t>(index)].extent = before;
    throw;
  }
  probed = {};
}

}  // namespace ricci::formula
