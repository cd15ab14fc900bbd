#include "kernel/permute/cpu_tile.hpp"

#include <algorithm>
#include <utility>

#include "kernel/arguments.hpp"
#include "kernel/permute/makers.hpp"

namespace ricci::kernel {

CpuTile::CpuTile(const ir::Program& program, const Moves& moves)
    : program_(program), moves_(moves), kernel_(kernel_of(program, Target::cpu)) {
  auto& output = kernel_.arrays[as_size(statement().buffer)];
  output.results = ir::reached(statement().offset, program.indices);
  output.overlapped = true;
  say_directives(kernel_, moves, program);
  for (const auto& index : program.indices) value_.push_back(kernel_.add_var(index.name, index.extent));
}

bool CpuTile::adds() const {
  const auto loads = loads_of(program_);
  return std::any_of(loads.begin(), loads.end(), [&](ir::NodeId id) { return node(id).source == statement().buffer; });
}

std::string CpuTile::fresh(std::string name) const {
  const auto taken = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](const auto& one) { return one.name == name; });
  };
  while (taken(kernel_.vars) || taken(kernel_.arrays) || taken(program_.params)) name += '_';
  return name;
}

Body CpuTile::origins(bool whole) {
  Body body;
  origin_.resize(program_.indices.size());
  end_.resize(program_.indices.size());
  for (int q = 0; q < indices(); ++q) end_[as_size(q)] = extent(q);
  for (const auto q : moves_.order) {
    const auto count = moves_.tiles_along(program_, q);
    if (count == 1) continue;
    auto& origin = origin_[as_size(q)];
    auto& end = end_[as_size(q)];
    if (tile(q) == 1) {
      tasks_.push_back(value_[as_size(q)]);
      task_[as_size(q)] = tasks_.back();
      origin = Affine::of(tasks_.back());
      end = origin + Affine(1);
      continue;
    }
    tasks_.push_back(kernel_.add_var(fresh(name(q) + "_tile"), count));
    task_[as_size(q)] = tasks_.back();
    const bool ragged = extent(q) % tile(q) != 0;
    const auto begin = kernel_.add_var(fresh(name(q) + "0"), whole ? extent(q) - tile(q) + 1 : extent(q));
    Let let{begin, tile(q) * Affine::of(tasks_.back())};
    if (whole && ragged) let.most = extent(q) - tile(q);
    body.push_back({let});
    origin = Affine::of(begin);
    end = origin + Affine(tile(q));
    if (whole || !ragged) continue;
    const auto last = kernel_.add_var(fresh(name(q) + "_end"), extent(q) + 1);
    ends_.push_back({Let{.var = last, .of = end, .most = extent(q)}});
    end = Affine::of(last);
  }
  for (auto* names : {&body, &ends_}) made_by(*names, line_of(kernel_, {"order", "write"}));
  return body;
}

Body CpuTile::in_tasks(Body body) const {
  made_by(body, line_of(kernel_, {"write"}));
  for (const auto task : tasks_) body = {loop_over(task, Bind::task, std::move(body))};
  made_by(body, line_of(kernel_, {"order", "write"}));
  return body;
}

Access CpuTile::at(int array, const ir::Affine& offset, const std::vector<Affine>& place, int lanes) const {
  Affine sum(offset.constant);
  for (int q = 0; q < indices(); ++q) sum = sum + offset.coefficient[as_size(q)] * place[as_size(q)];
  return {array, {std::move(sum)}, lanes};
}

Value CpuTile::load_at(ir::NodeId id, const std::vector<Affine>& place, int lanes) const {
  return load_of(node(id).type, at(node(id).source, node(id).offset, place, lanes));
}

Access CpuTile::result_at(const std::vector<Affine>& place, int lanes) const {
  return at(statement().buffer, statement().offset, place, lanes);
}

int CpuTile::add_registers(const std::string& name, DType type, int lanes, std::vector<std::int64_t> shape) {
  Array array;
  array.name = fresh(name);
  array.type = type;
  array.space = Space::registers;
  array.lanes = lanes;
  array.shape = std::move(shape);
  return kernel_.add_array(std::move(array));
}

}  // namespace ricci::kernel
