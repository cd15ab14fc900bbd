#include "cli/program_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ir/interpret/interpret_value.hpp"
#include "ricci/runtime.hpp"

namespace ricci::tools {
namespace {

// Copies between two layouts of the same elements.
void rearrange(const Layout& from_layout, const void* from, const Layout& to_layout, void* to) {
  std::string axes;
  for (int k = 0; k < from_layout.rank(); ++k) axes += fmt::format("{}x{}", k == 0 ? "" : " ", k);
  const std::string spec = from_layout.rank() < 2 ? (axes.empty() ? "->" : "x->x") : axes + " -> " + axes;
  Runtime::global().plan_permute(spec, from_layout, to_layout)(to, from);
}

// Elements of the file that is part `k` of a tensor of parts; the whole file otherwise.
struct FilePart {
  Layout layout;
  const std::byte* data;
};

FilePart file_part(const CallerTensor& tensor, const NpyArray& array, std::size_t k) {
  if (!in_parts(tensor.info)) return {array.layout, array.data.data()};
  FilePart part{array.layout, array.data.data()};
  part.data += static_cast<std::int64_t>(k) * part.layout.strides.front() * size_of(part.layout.type);
  part.layout.extents.erase(part.layout.extents.begin());
  part.layout.strides.erase(part.layout.strides.begin());
  return part;
}

}  // namespace

bool is_callers(const TensorInfo& info) { return info.role != TensorRole::local && info.role != TensorRole::temp; }
bool is_read(const TensorInfo& info) { return info.role == TensorRole::input || info.role == TensorRole::inout; }
bool is_written(const TensorInfo& info) { return info.role == TensorRole::output || info.role == TensorRole::inout; }
bool in_parts(const TensorInfo& info) { return info.on_grid && info.shape.size() == 1; }

CallerTensor allocate(const TensorInfo& info) {
  CallerTensor tensor;
  tensor.info = info;
  tensor.part = Layout::strided(info.type, info.shape, info.strides);
  std::int64_t first = 0, last = 0;
  for (std::size_t k = 0; k < info.shape.size(); ++k) {
    const auto reach = (info.shape[k] - 1) * info.strides[k];
    (reach < 0 ? first : last) += reach;
  }
  const bool empty = tensor.part.elements() == 0;
  tensor.part_bytes = empty ? 0 : static_cast<std::size_t>((last - first + 1) * size_of(info.type));
  tensor.part_bytes = (tensor.part_bytes + 63) / 64 * 64;  // every part as aligned as the whole
  tensor.origin_bytes = empty ? 0 : -first * size_of(info.type);
  tensor.memory = Buffer(tensor.part_bytes * std::max<std::size_t>(info.buffers.size(), 1));
  std::memset(tensor.memory.data(), 0, tensor.memory.size());
  return tensor;
}

void fill(CallerTensor& tensor, const NpyArray& array) {
  const auto& info = tensor.info;
  for (std::size_t k = 0; k < info.buffers.size(); ++k) {
    const auto part = file_part(tensor, array, k);
    if (part.layout.elements() == 0) continue;
    std::byte* const to = part_begin(tensor, tensor.memory.data(), k);
    if (part.layout.strides == tensor.part.strides &&
        tensor.part.strides == Layout::row_major(info.type, info.shape).strides) {
      std::memcpy(to, part.data, static_cast<std::size_t>(part.layout.elements() * size_of(info.type)));
    } else {
      rearrange(part.layout, part.data, tensor.part, to);
    }
  }
}

Buffer dense(const CallerTensor& tensor, const std::byte* memory, std::size_t k) {
  const auto rows = Layout::row_major(tensor.info.type, tensor.info.shape);
  Buffer buffer(static_cast<std::size_t>(rows.elements() * size_of(rows.type)));
  const std::byte* const from = part_begin(tensor, memory, k);
  if (rows.elements() == 0) return buffer;
  if (rows.strides == tensor.part.strides) {
    std::memcpy(buffer.data(), from, buffer.size());
  } else {
    rearrange(tensor.part, from, rows, buffer.data());
  }
  return buffer;
}

std::vector<Scalar> values_of(const CallerTensor& tensor) {
  std::vector<Scalar> values;
  const Buffer elements = dense(tensor, tensor.memory.data(), 0);
  const auto bytes = static_cast<std::size_t>(size_of(tensor.info.type));
  for (std::size_t k = 0; k + bytes <= elements.size() && tensor.part.elements() > 0; k += bytes) {
    const auto value = ir::oracle::load(elements.data() + k, tensor.info.type);
    const bool is_signed = tensor.info.type <= DType::i64;
    if (is_integer(tensor.info.type)) {
      values.emplace_back(is_signed ? static_cast<double>(static_cast<std::int64_t>(value.integer))
                                    : static_cast<double>(value.integer));
    } else {
      values.emplace_back(value.re, value.im);
    }
  }
  return values;
}

bool is_small(const CallerTensor& tensor) {
  constexpr std::int64_t kPrinted = 4;
  return tensor.info.buffers.size() == 1 && tensor.part.elements() > 0 && tensor.part.elements() <= kPrinted;
}

std::string value_text(const CallerTensor& tensor) {
  std::string text;
  for (const auto value : values_of(tensor)) {
    text += text.empty() ? "" : ", ";
    text += is_complex(tensor.info.type)   ? fmt::format("{:.15g}{:+.15g}i", value.real(), value.imag())
            : is_integer(tensor.info.type) ? fmt::format("{:.0f}", value.real())
                                           : fmt::format("{:.15g}", value.real());
  }
  return text;
}

}  // namespace ricci::tools
