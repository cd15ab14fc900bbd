#include "lower/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "ricci/error.hpp"

namespace ricci::formula {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max() / 32;  // elements, in bytes too

std::int64_t product(const TensorDecl& tensor, std::int64_t x, std::int64_t y) {
  if (x != 0 && y > kLargest / x) {
    throw ShapeError(fmt::format("tensor '{}' has more than 2^58 elements", tensor.name));
  }
  return x * y;
}

ir::Role role_of(TensorRole role) {
  switch (role) {
    case TensorRole::input:
      return ir::Role::input;
    case TensorRole::output:
    case TensorRole::inout:
      return ir::Role::output;
    default:
      return ir::Role::workspace;
  }
}

/// Whether two multi-indices may have one address. None do where, by ascending stride, each stride exceeds the reach of
/// all smaller ones.
bool may_overlap(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  for (std::size_t k = 0; k < extents.size(); ++k) {
    if (extents[k] == 0) return false;
    if (extents[k] > 1) steps.emplace_back(std::abs(strides[k]), extents[k]);
  }
  std::sort(steps.begin(), steps.end());
  std::int64_t reach = 0;
  for (const auto& [stride, extent] : steps) {
    if (stride <= reach) return true;
    reach += stride * (extent - 1);
  }
  return false;
}

}  // namespace

std::string Names::unique(const std::string& wanted) {
  if (taken_.insert(wanted).second) return wanted;
  auto& next = next_.try_emplace(wanted, 2).first->second;
  for (;;) {
    auto name = fmt::format("{}_{}", wanted, next++);
    if (taken_.insert(name).second) return name;
  }
}

Memory::Memory(const ProgramGraph& program) : program_(program), homes_(program.tensors.size()) {
  std::vector<std::int64_t> blocks{1};
  if (program.grid >= 0) points_ = program.extent(program.grid);
  for (const auto& tensor : program.tensors) {
    if (tensor.form.storage == Storage::blocked) blocks.push_back(tensor.form.parameter);
    if (tensor.form.storage == Storage::blocked && points_ % tensor.form.parameter != 0) {
      throw ShapeError(fmt::format("ExtentError: tensor '{}' is blocked by {}, which does not divide the {} points",
                                   tensor.name, tensor.form.parameter, points_));
    }
  }
  std::sort(blocks.begin(), blocks.end(), std::greater<>());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  for (std::size_t k = 1; k < blocks.size(); ++k) {
    if (blocks[k - 1] % blocks[k] == 0) continue;
    throw ShapeError(fmt::format("ExtentError: blocks of {} and of {} points in one program; one must divide the other",
                                 blocks[k - 1], blocks[k]));
  }
  std::int64_t rest = points_;
  for (const auto block : blocks) {
    grid_.extents.push_back(rest / block);
    grid_.weights.push_back(block);
    rest = block;
  }
  for (std::size_t k = 0; k < program.tensors.size(); ++k) {
    const auto& tensor = program.tensors[k];
    if (tensor.expanded()) homes_[k].components.emplace(tensor, program);
    if (tensor.role != TensorRole::local && tensor.role != TensorRole::temp) {
      place(static_cast<int>(k), role_of(tensor.role));
    }
  }
}

void Memory::place_in_workspace(int tensor) { place(tensor, ir::Role::workspace); }

int Memory::add_workspace(const std::string& name, DType type, std::int64_t elements) {
  ir::Storage made;
  made.name = names_.unique(name);
  made.role = ir::Role::workspace;
  made.type = type;
  made.last = elements - 1;
  made.alignment = 256;
  storages_.push_back(std::move(made));
  return static_cast<int>(storages_.size()) - 1;
}

void Memory::place(int id, ir::Role role) {
  const auto& tensor = program_.tensor(id);
  auto& home = homes_[static_cast<std::size_t>(id)];
  home.first_storage = static_cast<int>(storages_.size());
  ir::Storage made;
  made.name = tensor.name;
  names_.take(made.name);
  made.role = role;
  made.type = tensor.type;
  made.alignment = role == ir::Role::workspace ? 256 : tensor.form.alignment;
  if (!tensor.expanded()) {
    std::vector<std::int64_t> extents;
    std::int64_t elements = 1;
    for (const auto& slot : tensor.slots) {
      extents.push_back(program_.extent(slot));
      elements = product(tensor, elements, std::max<std::int64_t>(extents.back(), 1));
    }
    const bool empty = std::count(extents.begin(), extents.end(), 0) > 0;
    home.strides = tensor.form.strides;
    if (home.strides.empty()) {
      home.strides.resize(extents.size());
      std::int64_t step = 1;
      for (std::size_t k = extents.size(); k-- > 0;) {
        home.strides[k] = step;
        step *= std::max<std::int64_t>(extents[k], 1);
      }
    }
    std::int64_t first = 0, last = 0;
    for (std::size_t k = 0; k < extents.size(); ++k) {
      const auto reach = product(tensor, std::abs(home.strides[k]), std::max<std::int64_t>(extents[k] - 1, 0));
      (home.strides[k] < 0 ? first : last) += home.strides[k] < 0 ? -reach : reach;
    }
    if (role != ir::Role::input && may_overlap(extents, home.strides)) {
      throw ShapeError(
          fmt::format("ExtentError: the strides of '{}' put several elements at one place; only inputs may "
                      "do so",
                      tensor.name));
    }
    made.first = empty ? 0 : first;
    made.last = empty ? -1 : last;
    storages_.push_back(std::move(made));
    return;
  }
  const auto count = static_cast<std::int64_t>(home.components->count());
  const auto points = tensor.form.on_grid ? points_ : 1;
  home.leading = tensor.form.parameter > 0 && tensor.form.storage != Storage::blocked ? tensor.form.parameter : points;
  if (home.leading < points) {
    throw ShapeError(fmt::format("ExtentError: tensor '{}' has components every {} elements, fewer than the {} points",
                                 tensor.name, home.leading, points));
  }
  (void)product(tensor, home.leading, count);
  if (tensor.form.storage == Storage::blocked) home.block = tensor.form.parameter;
  if (tensor.form.storage != Storage::pointers) {
    made.last = count == 0 || points == 0 ? -1
                : home.block > 0          ? points * count - 1
                                          : home.leading * (count - 1) + points - 1;
    storages_.push_back(std::move(made));
    return;
  }
  home.per_component = true;
  for (int c = 0; c < home.components->count(); ++c) {
    made.name = component_name(tensor.name, home.components->stored(c));
    names_.take(made.name);
    made.last = points - 1;
    storages_.push_back(made);
  }
}

int Memory::storage(int tensor, int component) const {
  const auto& home = homes_[static_cast<std::size_t>(tensor)];
  return home.first_storage + (home.per_component ? component : 0);
}

std::int64_t Memory::base(int tensor, int component) const {
  const auto& home = homes_[static_cast<std::size_t>(tensor)];
  if (home.per_component || !home.components) return 0;
  return component * (home.block > 0 ? home.block : home.leading);
}

std::int64_t Memory::stride(int tensor, std::size_t k) const {
  return homes_[static_cast<std::size_t>(tensor)].strides[k];
}

std::int64_t Memory::grid_stride(int tensor, std::size_t loop) const {
  const auto& home = homes_[static_cast<std::size_t>(tensor)];
  const auto weight = grid_.weights[loop];
  return home.block > 0 && weight >= home.block ? weight * home.components->count() : weight;
}

}  // namespace ricci::formula
