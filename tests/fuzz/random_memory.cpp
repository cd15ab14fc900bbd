#include "fuzz/random_memory.hpp"

#include <cmath>
#include <cstring>

namespace ricci::fuzz {
Memory random_memory(Generator& random, const ir::Buffer& buffer, Fill fill) {
  const auto size = size_of(buffer.type);
  const auto elements = buffer.last >= buffer.first ? buffer.last - buffer.first + 1 : 0;
  const auto lead = static_cast<std::int64_t>(random() % 4) * 16 + 64;  // elements, aligned as their type
  Memory memory;
  memory.origin = (lead - buffer.first) * size;
  memory.lines.resize(static_cast<std::size_t>((lead + elements) * size / 256 + 2));
  auto* const bytes = memory.begin();
  for (std::size_t k = 0; k + 8 <= memory.bytes(); k += 8) {
    const std::uint64_t word = random();
    std::memcpy(bytes + k, &word, 8);
  }
  const auto each = [&](auto make) {
    const auto sample = make();
    for (std::size_t k = 0; k + sizeof sample <= memory.bytes(); k += sizeof sample) {
      const auto value = make();
      std::memcpy(bytes + k, &value, sizeof value);
    }
  };
  const auto real = [&] {
    if (random() % 24 == 0) return 0.0;
    return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), -62);  // -2 .. 2
  };
  const bool small = fill == Fill::room || random() % 2 == 0;
  const auto whole = [&] {
    const auto value = fill == Fill::room ? random() % 7 : random() % 17;
    const bool is_signed = buffer.type < DType::u8 && fill != Fill::room;
    return static_cast<std::int64_t>(value) - (is_signed ? 8 : 0);
  };
  switch (buffer.type) {
    case DType::f16:
      // Exponents of 2^-6 .. 2^0, either sign.
      each([&] { return static_cast<std::uint16_t>(((random() % 7 + 9) << 10) | (random() & 0x83ff)); });
      break;
    case DType::bf16:
      each([&] { return static_cast<std::uint16_t>(((random() % 7 + 121) << 7) | (random() & 0x807f)); });
      break;
    case DType::f32:
    case DType::c64:
      each([&] { return static_cast<float>(real() * (is_complex(buffer.type) ? 0.7 : 1)); });
      break;
    case DType::f64:
    case DType::c128:
      each([&] { return real() * (is_complex(buffer.type) ? 0.7 : 1); });
      break;
    case DType::i8:
    case DType::u8:
      if (small) each([&] { return static_cast<std::uint8_t>(whole()); });
      break;
    case DType::i16:
    case DType::u16:
      if (small) each([&] { return static_cast<std::uint16_t>(whole()); });
      break;
    case DType::i32:
    case DType::u32:
      if (small) each([&] { return static_cast<std::uint32_t>(whole()); });
      break;
    case DType::i64:
    case DType::u64:
      if (small) each([&] { return static_cast<std::uint64_t>(whole()); });
      break;
  }
  return memory;
}

}  // namespace ricci::fuzz
