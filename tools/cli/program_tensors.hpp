// The tensors of a program in host memory: between .npy files and the buffers of a plan.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "io/buffer.hpp"
#include "io/npy.hpp"
#include "ricci/program.hpp"

namespace ricci::tools {

/// One tensor of the program, with the memory of all of its buffers: one after the other, `part_bytes` apart.
struct CallerTensor {
  TensorInfo info;
  Layout part;  ///< of one buffer
  Buffer memory;
  std::size_t part_bytes = 0;
  std::ptrdiff_t origin_bytes = 0;  ///< of element (0, 0, ...) in its buffer
  std::string read_from, write_to;
};

bool is_callers(const TensorInfo& info);  ///< neither local nor temporary
bool is_read(const TensorInfo& info);
bool is_written(const TensorInfo& info);
/// One array per stored component, each of them (points).
bool in_parts(const TensorInfo& info);

/// Memory for a tensor whose extents are known, zeros.
CallerTensor allocate(const TensorInfo& info);

/// Puts a file's elements there. Its type and shape are the tensor's.
void fill(CallerTensor& tensor, const NpyArray& array);

/// Element (0, 0, ...) of part `k`, in memory that is laid out as the tensor's own.
template <class Byte>
Byte* part_begin(const CallerTensor& tensor, Byte* memory, std::size_t k) {
  return memory + k * tensor.part_bytes + tensor.origin_bytes;
}

/// Part `k` of such memory, in C order.
Buffer dense(const CallerTensor& tensor, const std::byte* memory, std::size_t k);

/// A result of so few elements that a report shows them.
bool is_small(const CallerTensor& tensor);
std::vector<Scalar> values_of(const CallerTensor& tensor);
std::string value_text(const CallerTensor& tensor);

}  // namespace ricci::tools
