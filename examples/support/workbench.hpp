// Arrays by name on one device, and programs that run on them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "memory.hpp"
#include "ricci/ricci.hpp"

namespace examples {

template <class T>
constexpr ricci::DType dtype_of();
template <>
constexpr ricci::DType dtype_of<double>() {
  return ricci::DType::f64;
}
template <>
constexpr ricci::DType dtype_of<std::int16_t>() {
  return ricci::DType::i16;
}
template <>
constexpr ricci::DType dtype_of<std::int32_t>() {
  return ricci::DType::i32;
}
template <>
constexpr ricci::DType dtype_of<std::int64_t>() {
  return ricci::DType::i64;
}
template <>
constexpr ricci::DType dtype_of<std::uint64_t>() {
  return ricci::DType::u64;
}

/// A row-major array on the bench's device.
struct Array {
  ricci::DType type = ricci::DType::f64;
  std::vector<std::int64_t> shape;
  Memory memory;
};

/// A program planned for arrays: runs as often as wanted.
class Job {
 public:
  Job(ricci::Plan plan, std::vector<void*> outputs, std::vector<const void*> inputs)
      : plan_(std::move(plan)), outputs_(std::move(outputs)), inputs_(std::move(inputs)) {}

  /// Milliseconds until the results are there.
  double run(const std::vector<ricci::Scalar>& params = {}) const;
  const ricci::Plan& plan() const noexcept { return plan_; }
  /// "3 kernels, ready after 512 ms (compiled)"
  std::string origin() const;

 private:
  ricci::Plan plan_;
  std::vector<void*> outputs_;
  std::vector<const void*> inputs_;
};

class Workbench {
 public:
  explicit Workbench(ricci::Device device) : device_(device) {}

  template <class T>
  void put(const std::string& name, std::vector<std::int64_t> shape, const std::vector<T>& values) {
    place(name, dtype_of<T>(), std::move(shape)).memory.upload(values.data());
  }
  /// The same elements under another shape.
  void reshape(const std::string& name, std::vector<std::int64_t> shape) { arrays_.at(name).shape = std::move(shape); }
  const std::vector<std::int64_t>& shape(const std::string& name) const { return arrays_.at(name).shape; }

  template <class T>
  std::vector<T> get(const std::string& name) const {
    const Memory& memory = arrays_.at(name).memory;
    std::vector<T> values(memory.bytes() / sizeof(T));
    memory.download(values.data());
    return values;
  }

  /// Plans examples/programs/<program>.ricci for the arrays of the tensors' names, or of those that `names` gives for
  /// them. Arrays that it writes and that are not there are made.
  Job plan(const std::string& program, const std::map<std::string, std::string>& names = {});

 private:
  Array& place(const std::string& name, ricci::DType type, std::vector<std::int64_t> shape);

  ricci::Device device_;
  std::map<std::string, Array> arrays_;
};

}  // namespace examples
