#include "workbench.hpp"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace examples {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

double Job::run(const std::vector<ricci::Scalar>& params) const {
  ricci::Call call;
  call.params = params;
  const auto start = std::chrono::steady_clock::now();
  plan_(outputs_, inputs_, call);
  synchronize(plan_.device());
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

std::string Job::origin() const {
  const ricci::PlanInfo& info = plan_.info();
  char text[96];
  std::snprintf(text, sizeof text, "%d kernel%s, ready after %.0f ms (%s)", info.steps, info.steps == 1 ? "" : "s",
                info.plan_ms + info.generate_ms + info.compile_ms + info.load_ms, info.origin.c_str());
  return text;
}

Array& Workbench::place(const std::string& name, ricci::DType type, std::vector<std::int64_t> shape) {
  std::int64_t bytes = ricci::size_of(type);
  for (const std::int64_t extent : shape) bytes *= extent;
  Array& array = arrays_[name];
  array = {type, std::move(shape), Memory(device_, static_cast<std::size_t>(bytes))};
  return array;
}

Job Workbench::plan(const std::string& program, const std::map<std::string, std::string>& names) {
  ricci::Program text = ricci::Program::parse(read_text(RICCI_EXAMPLES_DIR "/programs/" + program + ".ricci"));
  const auto name_of = [&](const std::string& tensor) {
    const auto other = names.find(tensor);
    return other == names.end() ? tensor : other->second;
  };
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const ricci::TensorInfo& tensor : text.tensors()) {
    const auto found = arrays_.find(name_of(tensor.name));
    if (tensor.role != ricci::TensorRole::output && found != arrays_.end()) shapes[tensor.name] = found->second.shape;
  }
  text.bind(shapes);

  for (const ricci::TensorInfo& tensor : text.tensors()) {
    const std::string name = name_of(tensor.name);
    const bool written = tensor.role == ricci::TensorRole::output;
    const auto found = arrays_.find(name);
    const bool fits =
        found != arrays_.end() && found->second.shape == tensor.shape && found->second.type == tensor.type;
    if (written && !fits) place(name, tensor.type, tensor.shape);
  }
  ricci::PlanOptions options;
  options.device = device_;
  ricci::Plan plan = ricci::Runtime::global().plan_program(text, options);
  std::vector<void*> outputs;
  std::vector<const void*> inputs;
  const auto memory_of = [&](const ricci::Argument& argument) {
    return arrays_.at(name_of(argument.name)).memory.data();
  };
  for (const ricci::Argument& argument : plan.outputs()) outputs.push_back(memory_of(argument));
  for (const ricci::Argument& argument : plan.inputs()) inputs.push_back(memory_of(argument));
  return {std::move(plan), std::move(outputs), std::move(inputs)};
}

}  // namespace examples
