#include "kernel/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

constexpr std::int64_t kScratchAlignment = 64;

/// Of the loops that are bound to it and outermost.
std::int64_t product_of_loops(const Kernel& kernel, const Body& body, Bind bind) {
  for (const auto& statement : body) {
    const auto* loop = std::get_if<Loop>(&statement.node);
    if (loop == nullptr || !numbers_blocks(loop->bind)) continue;
    return (loop->bind == bind ? kernel.extent(loop->var) : 1) * product_of_loops(kernel, loop->body, bind);
  }
  return 1;
}

}  // namespace

std::int64_t thread_product(const Kernel& kernel, const Body& body) {
  for (const auto& statement : body) {
    std::int64_t product = 1;
    for_each_body(statement, [&](const Body& inner) {
      if (product == 1) product = thread_product(kernel, inner);
    });
    if (const auto* loop = std::get_if<Loop>(&statement.node); loop != nullptr && loop->bind == Bind::thread)
      product *= kernel.extent(loop->var);
    if (product > 1) return product;
  }
  return 1;
}

std::string broken_by_stack(std::int64_t bytes) {
  if (bytes <= kMostStack) return {};
  return fmt::format("take {} bytes, and a caller's stack has {} for them", bytes, kMostStack);
}

std::string broken_by_cluster(std::int64_t blocks) {
  if (blocks <= kMostCluster) return {};
  return fmt::format("a cluster of {} blocks, and GPUs have room for {}", blocks, kMostCluster);
}

bool has_atomic_addition(DType type) noexcept {
  return !is_complex(type) && !is_half(type) && size_of(type) >= size_of(DType::i32);
}

bool reads(const Value& value, int array) {
  bool found = false;
  for_each_value(value, [&](const Value& part) {
    found = found || (part.kind == Value::Kind::load && part.access.array == array);
  });
  return found;
}

bool has_tiles(const Body& body) {
  return std::any_of(body.begin(), body.end(), [](const Statement& statement) {
    const auto& node = statement.node;
    bool tiles = std::holds_alternative<Copy>(node) || std::holds_alternative<Mma>(node) ||
                 std::holds_alternative<Flush>(node) || std::holds_alternative<Clear>(node) ||
                 std::holds_alternative<TileExchange>(node);
    if (const auto* prefetch = std::get_if<Prefetch>(&node))
      tiles = !prefetch->digits.empty() || !prefetch->quotients.empty();
    for_each_body(statement, [&](const Body& inner) { tiles = tiles || has_tiles(inner); });
    return tiles;
  });
}

bool has_group_products(const Body& body) {
  return std::any_of(body.begin(), body.end(), [](const Statement& statement) {
    bool found = std::holds_alternative<GroupMma>(statement.node);
    for_each_body(statement, [&](const Body& inner) { found = found || has_group_products(inner); });
    return found;
  });
}

std::string with_maker(const Kernel& kernel, int origin, std::string rule) {
  const bool known = origin >= 0 && static_cast<std::size_t>(origin) < kernel.directives.size();
  if (!known) return rule;
  return fmt::format("{} (made by \"{}\")", rule, kernel.directives[static_cast<std::size_t>(origin)]);
}

void broken(const Kernel& kernel, int origin, const std::string& rule) {
  throw InternalError("kernel: " + with_maker(kernel, origin, rule));
}

std::int64_t Array::elements() const noexcept {
  std::int64_t product = 1;
  for (const auto extent : shape) product *= extent;
  return product * lanes;
}

std::int64_t stack_bytes(const Array& array) {
  const auto elements = array.elements();
  return elements > array.lanes ? elements * size_of(array.type) : 0;
}

int Value::lanes() const noexcept {
  switch (kind) {
    case Kind::load:
      return access.width();
    case Kind::op: {
      int most = 1;
      for (const auto& operand : operands) most = std::max(most, operand.lanes());
      return most;
    }
    case Kind::pack: {
      int sum = 0;
      for (const auto& operand : operands) sum += operand.lanes();
      return sum;
    }
    case Kind::part:
      return access.lanes;
    case Kind::shuffle:
    case Kind::prefixes:
    case Kind::shifted:
    case Kind::times_i:
    case Kind::conj_pairs:
    case Kind::real_pairs:
    case Kind::imag_pairs:
    case Kind::dot:
      return operands.front().lanes();
    case Kind::interleave:
      return 2 * operands.front().lanes();
    default:
      return 1;
  }
}

TransposedLane transposed(const Array& array, int lane, int group) {
  const auto log2_of = [](std::int64_t n) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n))) - 1;
  };
  const auto vectors = static_cast<int>(array.shape.front());
  // Rounds, and how many of them are within 16 bytes, where pieces are interleaved.
  const int rounds = log2_of(vectors), fits = log2_of(std::max<std::int64_t>(16 / size_of(array.type) / group, 1));
  const int within = std::min(log2_of(array.lanes / group), fits), left = within - rounds;
  if (left <= 0) return {lane & (vectors - 1), (lane >> rounds) * vectors};
  return {(lane >> left) & (vectors - 1), ((lane >> within << left) | (lane & ((1 << left) - 1))) * vectors};
}

Var Kernel::add_var(std::string name, std::int64_t extent) {
  vars.push_back({std::move(name), extent});
  return static_cast<Var>(vars.size()) - 1;
}

int Kernel::add_array(Array array) {
  arrays.push_back(std::move(array));
  return static_cast<int>(arrays.size()) - 1;
}

std::int64_t Kernel::tasks() const { return product_of_loops(*this, body, Bind::task) * cluster(); }
std::int64_t Kernel::cluster() const { return product_of_loops(*this, body, Bind::cluster); }

std::int64_t Kernel::bytes_of(Space space) const noexcept {
  std::int64_t bytes = 0;
  for (const auto& array : arrays) {
    if (array.space != space) continue;
    const auto alignment = std::max(array.alignment, kScratchAlignment);
    bytes = (bytes + alignment - 1) / alignment * alignment + array.elements() * size_of(array.type);
  }
  return bytes;
}

std::int64_t shared_alignment(const Array& array) noexcept {
  return array.alignment > 0 ? array.alignment : kSharedAlignment;
}

std::int64_t shared_bytes(const Array& array) noexcept {
  const auto unit = shared_alignment(array);
  return (array.elements() * size_of(array.type) + unit - 1) / unit * unit;
}

std::int64_t shared_bytes(const Kernel& kernel) noexcept {
  std::int64_t bytes = 0;
  for (const auto& array : kernel.arrays) {
    if (array.space == Space::shared) bytes += shared_bytes(array);
  }
  return bytes;
}

}  // namespace ricci::kernel
