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
      if (slot.index < 0 && slot.value != shape[k]) refuse(*place, shape);
      if (slot.index >= 0) found.say(slot.index, shape[k] - slot.value, name);
    }
  }
  for (const auto& [index, value] : found.values()) {
    if (program.extent(index) == kOpenExtent) program.set_extent(index, value.first, {});
  }
}

}  // namespace ricci::formula
