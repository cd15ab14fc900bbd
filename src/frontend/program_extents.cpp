#include "frontend/program_extents.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "frontend/components.hpp"
#include "ricci/error.hpp"

namespace ricci::formula {
namespace {

/// What the arrays say of each index, and which array said it.
class Found {
 public:
  explicit Found(const ProgramGraph& program) : program_(program) {}

  void say(int index, std::int64_t extent, const std::string& tensor) {
    const auto& declared = program_.indices[static_cast<std::size_t>(index)];
    const auto [known, fresh] = values_.try_emplace(index, extent, tensor);
    const char* things = index == program_.grid ? "points" : "values";
    if (declared.extent != kOpenExtent && declared.extent != extent) {
      throw ShapeError(fmt::format("ExtentMismatch: '{}' has {} {} of {}, the program says {}", tensor, extent, things,
                                   declared.name, declared.extent));
    }
    if (!fresh && known->second.first != extent) {
      throw ShapeError(fmt::format("ExtentMismatch: '{}' has {} {} of {}, '{}' has {}", tensor, extent, things,
                                   declared.name, known->second.second, known->second.first));
    }
  }

  /// That of an index, as the program or an array says it; or open.
  std::int64_t extent(int index) const {
    const auto known = values_.find(index);
    return known == values_.end() ? program_.extent(index) : known->second.first;
  }

  const std::map<int, std::pair<std::int64_t, std::string>>& values() const { return values_; }

 private:
  const ProgramGraph& program_;
  std::map<int, std::pair<std::int64_t, std::string>> values_;
};

[[noreturn]] void refuse(const TensorInfo& info, const std::vector<std::int64_t>& shape) {
  std::vector<std::string> wanted;
  for (const auto extent : info.shape) wanted.push_back(extent == kOpenExtent ? "any" : fmt::format("{}", extent));
  throw ShapeError(fmt::format("ExtentMismatch: '{}' is an array of shape ({}), got ({})", info.name,
                               fmt::join(wanted, ", "), fmt::join(shape, ", ")));
}

/// A slot that several indices, or one with a factor, say the extent of, and the values that an array has there.
struct SumSlot {
  const TensorInfo* info;
  std::size_t slot;
  const SlotExtent* sum;
  std::int64_t values;
};

/// Of each slot the extent of the one index in it that is open, where there is one alone; those of all others must be
/// what the array has.
void bind_sums(const ProgramGraph& program, std::vector<SumSlot> slots, Found& found) {
  for (std::size_t before = slots.size() + 1; slots.size() < before;) {
    before = slots.size();
    std::erase_if(slots, [&](const SumSlot& slot) {
      __int128 rest = static_cast<__int128>(slot.values) - 1 - slot.sum->offset;
      const SlotTerm* open = nullptr;
      for (const auto& term : slot.sum->terms) {
        if (term.coefficient < 0) continue;  // no say in the greatest value
        const auto extent = found.extent(term.index);
        if (extent == kOpenExtent && open != nullptr) return false;
        if (extent == kOpenExtent) open = &term;
        if (extent != kOpenExtent) rest -= static_cast<__int128>(term.coefficient) * (extent - 1);
      }
      const auto refuse = [&](const std::string& has) {
        throw ShapeError(fmt::format("ExtentMismatch: '{}' has {} values in slot {}, {}", slot.info->name, slot.values,
                                     slot.slot, has));
      };
      const auto text = print_sum(program, *slot.sum);
      if (open == nullptr && rest != 0) {
        refuse(fmt::format("{} has {} there", text, static_cast<std::int64_t>(slot.values - rest)));
      }
      if (open == nullptr) return true;
      if (rest < 0 || rest % open->coefficient != 0) {
        refuse(fmt::format("which {} has with no extent of {}", text,
                           program.indices[static_cast<std::size_t>(open->index)].name));
      }
      found.say(open->index, static_cast<std::int64_t>(rest / open->coefficient) + 1, slot.info->name);
      return true;
    });
  }
}

/// Points of the grid, from the shape of a field.
std::int64_t points_of(const TensorDecl& tensor, const TensorInfo& info, const std::vector<std::int64_t>& shape) {
  if (tensor.form.storage == Storage::blocked) {
    if (shape.size() != 3 || shape[1] != info.components || shape[2] != tensor.form.parameter) refuse(info, shape);
    return shape[0] * shape[2];
  }
  if (shape.empty()) refuse(info, shape);
  if (tensor.form.storage == Storage::pointers) {
    if (shape.size() != 1) refuse(info, shape);
    return shape[0];
  }
  // (components, points); without a symmetry also (slots..., points).
  const auto components = std::accumulate(shape.begin(), shape.end() - 1, std::int64_t{1}, std::multiplies<>());
  const bool slots = tensor.form.symmetry.list.empty() &&
                     std::equal(shape.begin(), shape.end() - 1, info.extents.begin(), info.extents.end());
  if (!slots && (shape.size() != 2 || components != info.components)) refuse(info, shape);
  return shape.back();
}

}  // namespace

std::vector<TensorInfo> tensor_infos(const ProgramGraph& program) {
  std::vector<TensorInfo> infos;
  for (const auto& tensor : program.tensors) {
    TensorInfo info;
    info.name = tensor.name;
    info.role = tensor.role;
    info.type = tensor.type;
    info.on_grid = tensor.form.on_grid;
    bool open = false;
    info.components = 1;
    for (const auto& slot : tensor.slots) {
      info.extents.push_back(program.extent(slot));
      open = open || info.extents.back() == kOpenExtent;
      info.components *= info.extents.back();
    }
    if (open) info.components = kOpenExtent;
    const auto& form = tensor.form;
    if (!tensor.expanded()) {
      info.shape = info.extents;
      info.strides = form.strides;
      if (form.strides.empty() && !open) info.strides = Layout::row_major(tensor.type, info.extents).strides;
    } else {
      const auto points = form.on_grid ? program.extent(program.grid) : 1;
      info.components = count_components(tensor, program);
      if (form.storage == Storage::pointers) {
        info.shape = {points};
        info.strides = {1};
      } else if (form.storage == Storage::blocked) {
        info.shape = {points == kOpenExtent ? kOpenExtent : points / form.parameter, info.components, form.parameter};
        info.strides = {info.components * form.parameter, form.parameter, 1};
      } else {
        info.shape = {info.components, points};
        if (points != kOpenExtent) info.strides = {form.parameter > 0 ? form.parameter : points, 1};
      }
    }
    if (tensor.role != TensorRole::local) info.buffers = {tensor.name};
    if (form.storage == Storage::pointers) {
      info.buffers.clear();
      const Components components(tensor, program);
      for (int c = 0; c < components.count(); ++c) {
        info.buffers.push_back(component_name(tensor.name, components.stored(c)));
      }
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

void bind(ProgramGraph& program, const std::map<std::string, std::vector<std::int64_t>>& shapes) {
  const auto infos = tensor_infos(program);
  Found found(program);
  std::vector<SumSlot> sums;
  for (const auto& [name, shape] : shapes) {
    const auto place = std::find_if(infos.begin(), infos.end(), [&, &wanted = name](const TensorInfo& info) {
      return info.name == wanted || std::find(info.buffers.begin(), info.buffers.end(), wanted) != info.buffers.end();
    });
    if (place == infos.end()) throw ShapeError(fmt::format("program '{}' has no tensor '{}'", program.name, name));
    const auto& tensor = program.tensors[static_cast<std::size_t>(place - infos.begin())];
    if (tensor.form.on_grid) {
      found.say(program.grid, points_of(tensor, *place, shape), name);
      continue;
    }
    if (tensor.expanded()) {
      if (std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()) != place->components) {
        refuse(*place, shape);
      }
      continue;
    }
    if (shape.size() != tensor.slots.size()) refuse(*place, shape);
    for (std::size_t k = 0; k < shape.size(); ++k) {
      const auto& slot = tensor.slots[k];
      if (slot.fixed() && slot.offset != shape[k]) refuse(*place, shape);
      if (slot.index() >= 0) found.say(slot.index(), shape[k] - slot.offset, name);
      if (!slot.fixed() && slot.index() < 0) sums.push_back({&*place, k, &slot, shape[k]});
    }
  }
  bind_sums(program, std::move(sums), found);
  for (const auto& [index, value] : found.values()) {
    if (program.extent(index) == kOpenExtent) program.set_extent(index, value.first, {});
  }
}

}  // namespace ricci::formula
