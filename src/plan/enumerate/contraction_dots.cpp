// Contractions on a CPU by dot products: where a device has them, and the depth in groups of terms.
#include <algorithm>

#include "plan/enumerate/contraction_sides.hpp"

namespace ricci::plan::gett {

using kernel::Role;

std::optional<kernel::Dot> dots_of(const ir::Program& program, const kernel::Contraction& contraction, bool swapped,
                                   const CpuModel& device) {
  // Groups of a depth shorter than a vector are packed by parts of vectors, which products of few rows or columns do
  // not make up for: 100,000 of 16 x 16 x 16 took 8.8 ms on an AMD EPYC, by multiply-adds 6.3.
  constexpr std::int64_t kFewGroups = 4, kVector = 16, kFew = 32;
  auto dot = kernel::dot_of(program, contraction, swapped ? contraction.second : contraction.first,
                            swapped ? contraction.first : contraction.second);
  const bool has = dot && (dot->types->sum == DType::f32 ? device.dots_bf16 : device.dots_i8);
  if (!has) return std::nullopt;
  const auto groups = contraction.extent(program, Role::depth) / dot->types->group;
  const bool few = contraction.extent(program, Role::rows) < kFew || contraction.extent(program, Role::columns) < kFew;
  return groups >= (few ? kVector : kFewGroups) ? dot : std::nullopt;
}

std::int64_t dot_terms(const ir::Program& program, const kernel::Contraction& contraction, const CpuModel& device) {
  for (const bool swapped : {false, true}) {
    if (const auto dot = dots_of(program, contraction, swapped, device)) return dot->types->group;
  }
  return 1;
}

void ContractionSides::make_groups(bool swapped) {
  const auto dot = dots_of(program_, contraction_, swapped, *device_);
  if (!dot) return;
  const std::int64_t group = dot->types->group;
  // The axis that is filled up least, of these the one whose terms are neighbours.
  const auto filled = [&](const Axis& axis) {
    return static_cast<double>(up(axis.extent, group)) / static_cast<double>(axis.extent);
  };
  const auto axis = std::min_element(depth_.rbegin(), depth_.rend(),
                                     [&](const Axis& x, const Axis& y) { return filled(x) < filled(y); });
  // A vector times a matrix that it reads along the depth is a sum of plain vectors.
  if (rows_.empty() && axis->in_columns == 1) return;
  axis->group = group;
  axis->extent = parts(axis->extent, group);
  for (const auto step : {&Axis::in_rows, &Axis::in_columns}) {
    if ((*axis).*step != 1) continue;
    for (auto* axes : {&rows_, &columns_, &depth_}) {
      for (auto& other : *axes) {
        if (&other != &*axis) other.*step = parts(other.*step, group);
      }
    }
  }
  problem_.terms = group;
  problem_.flipped = dot->flipped;
  convert_rows_ = convert_columns_ = true;
}

}  // namespace ricci::plan::gett
