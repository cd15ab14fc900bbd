#include "plan/enumerate/gpu_contraction.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernel/atom_types.hpp"
#include "kernel/warp_group.hpp"

namespace ricci::plan {
namespace {

using kernel::Role;
using tiles::Axes;
using tiles::Axis;
using tiles::Tile;
using tiles::up;

/// Elements of the widest access, and of the narrowest one that comes in fewer parts where lanes are alike in pairs.
std::int64_t widest(std::int64_t size) { return std::max<std::int64_t>(16 / size, 1); }
std::int64_t narrowest(std::int64_t size) { return std::max<std::int64_t>(8 / size, 1); }

/// The deepest product of elements that share registers whose sums are those of the program; null where there is none.
const kernel::Atom* narrow_atom(const ir::Program& program, const kernel::Contraction& contraction, int sm) {
  const kernel::Atom* best = nullptr;
  for (const auto& atom : kernel::kAtoms) {
    if (atom.a.per_register() == 1 || sm < atom.sm) continue;
    if (!kernel::computes(atom, 1, program, contraction)) continue;
    if (best == nullptr || atom.k > best->k) best = &atom;
  }
  return best;
}

std::vector<kernel::Digit> digits(const Tile& tile) { return {{0, tile.size}}; }

}  // namespace

std::optional<GpuContraction> GpuContraction::of(const ir::Program& program, const GpuModel& device, bool exchanged) {
  const auto contraction = kernel::contraction_of(program);
  GpuContraction result;
  if (!contraction || !result.sort_axes(program, *contraction, exchanged) ||
      !result.choose_atom(program, *contraction, device))
    return std::nullopt;
  return result;
}

std::vector<GpuContraction> GpuContraction::ways(const ir::Program& program, const GpuModel& device) {
  std::vector<GpuContraction> ways;
  const auto add = [&](std::optional<GpuContraction> way) {
    if (way) ways.push_back(std::move(*way));
  };
  add(of(program, device));
  if (ways.empty()) return ways;
  add(ways.front().by_groups(program, device));
  // In tf32 groups read rows along the depth alone, which hold tf32: what is no such operand passes through registers.
  const bool suits = ways.size() > 1 && ways.back().deep_rows && ways.back().deep_columns &&
                     !ways.back().converted_rows_ && !ways.back().converted_columns_;
  if (ways.size() > 1 && ways.back().per_register == 1 && !suits) {
    for (const bool exchanged : {false, true}) {
      auto way = exchanged ? of(program, device, true) : ways.front();
      if (way) way = way->by_groups(program, device, true);
      if (way && way->deep_columns && !way->converted_columns_) add(std::move(way));
    }
  }
  for (auto& way : ways.front().side_by_side(program, device)) ways.push_back(std::move(way));
  // Of a thin side atoms leave much unused, and less as columns, of which they have fewer than rows.
  constexpr double kThin = 64;
  const auto positions = [](const Axes& axes) {
    double count = 1;
    for (const auto& axis : axes) count *= static_cast<double>(axis.extent);
    return count;
  };
  if (std::min(positions(ways.front().row_axes), positions(ways.front().column_axes)) < kThin)
    add(of(program, device, true));
  for (auto k = ways.size(); k-- > 0;) add(ways[k].in_three_products());
  return ways;
}

bool GpuContraction::sort_axes(const ir::Program& program, const kernel::Contraction& contraction, bool exchanged) {
  const auto& statement = program.statement();
  type = contraction.type;
  // Beside functions loads take little: on an H200 tiles took 1.19 times as long in f64, and as long in f32.
  if (is_half(type) || kernel::has_functions(contraction, program)) return false;
  operations = kernel::operations_of(contraction, program, true);
  adds = contraction.combine == ir::OpCode::add, keeps_zeros = contraction.keeps_zeros;
  const auto& c = statement.offset.coefficient;
  bool swapped = false;
  for (std::size_t q = 0; q < c.size(); ++q) {
    const auto role = contraction.role[q];
    if (role == Role::other || role == Role::broadcast) return false;
    if (role == Role::rows && c[q] == 1 && program.indices[q].extent > 1) swapped = true;
  }
  swapped = swapped != exchanged;
  const auto load = [&](const kernel::Factor& factor) -> const ir::Node& {
    return program.nodes[static_cast<std::size_t>(factor.load)];
  };
  const auto& first = load(swapped ? contraction.second : contraction.first);
  const auto& second = load(swapped ? contraction.first : contraction.second);
  if (first.source == second.source) return false;  // one tensor twice: an operand's name says which
  rows_load_ = (swapped ? contraction.second : contraction.first).load;
  columns_load_ = (swapped ? contraction.first : contraction.second).load;
  rounded_rows_ = (swapped ? contraction.second : contraction.first).rounded;
  rounded_columns_ = (swapped ? contraction.first : contraction.second).rounded;
  rows_type_ = buffer(program, first.source).type;
  columns_type_ = buffer(program, second.source).type;
  tf32_rows_ = buffer(program, first.source).tf32;
  tf32_columns_ = buffer(program, second.source).tf32;
  rows_name_ = buffer(program, first.source).name;
  columns_name_ = buffer(program, second.source).name;
  for (auto* axes : {&row_axes, &column_axes, &depth_axes, &batch_axes}) axes->reserve(c.size());
  for (std::size_t q = 0; q < c.size(); ++q) {
    const auto a = first.offset.coefficient[q], b = second.offset.coefficient[q];
    auto role = contraction.role[q];
    if (swapped && (role == Role::rows || role == Role::columns))
      role = role == Role::rows ? Role::columns : Role::rows;
    const auto& index = program.indices[q];
    const auto number = static_cast<int>(q);
    if (role == Role::rows) row_axes.push_back({index.name, index.extent, a, c[q], number});
    if (role == Role::columns) column_axes.push_back({index.name, index.extent, b, c[q], number});
    if (role == Role::depth || role == Role::summed)
      depth_axes.push_back({index.name, index.extent, a, b, number}), terms *= static_cast<double>(index.extent);
    if (role != Role::batch) continue;
    batch_axes.push_back({index.name, index.extent, a, b, number});
    batch_in_result_.push_back(c[q]), batches *= index.extent;
  }
  std::ranges::stable_partition(depth_axes, [](const Axis& axis) { return !axis.is_of_one(); });
  if (is_outer() ? exchanged : depth_axes.front().is_of_one()) return false;
  deep_rows = std::ranges::any_of(depth_axes, [](const Axis& axis) { return axis.in_operand == 1; });
  deep_columns = std::ranges::any_of(depth_axes, [](const Axis& axis) { return axis.in_other == 1; });
  for (const auto& node : program.nodes)
    reads_result = reads_result || (node.kind == ir::NodeKind::load && node.source == statement.buffer);
  const auto nodes = [&](ir::NodeKind kind) { return std::ranges::count(program.nodes, kind, &ir::Node::kind); };
  relays = nodes(ir::NodeKind::load) == 2 && nodes(ir::NodeKind::index) == 0;
  result_type = out(program).type;
  result_size = size_of(result_type);
  result_alignment = std::gcd(out(program).alignment, statement.offset.constant * result_size);
  for (const auto& b : program.buffers) bytes += static_cast<double>((b.last - b.first + 1) * size_of(b.type));
  if (reads_result) bytes += static_cast<double>((out(program).last - out(program).first + 1) * result_size);
  return true;
}

bool GpuContraction::choose_atom(const ir::Program& program, const kernel::Contraction& contraction,
                                 const GpuModel& device) {
  if (is_outer() || !contraction.is_product()) {
    set_atom(nullptr, contraction, device);
    return !is_integer(type);
  }
  const auto* instruction = narrow_atom(program, contraction, device.sm);
  if (instruction == nullptr && is_integer(type)) return false;
  if (instruction == nullptr && (type == DType::f64 || type == DType::c128) && device.sm >= 80)
    instruction = kernel::find_atom(device.sm >= 90 && device.sm < 100 ? "m16n8k8_f64" : "m8n8k4_f64");
  if (instruction == nullptr && program.precision != Precision::operands) {
    // tf32, in as many parts as the program's products need, where it is faster than fused multiply-adds.
    const int needed = program.precision == Precision::tf32x3 ? 2 : 1;
    const auto* tf32 = kernel::find_atom("m16n8k8_tf32");
    if (pipe_rate(device.sm, tf32, type, needed) > pipe_rate(device.sm, nullptr, type, 1)) {
      instruction = tf32;
      factor_parts = needed;
    }
  }
  set_atom(instruction, contraction, device);
  return true;
}

void GpuContraction::set_operands(const kernel::Atom* instruction, const kernel::Contraction& contraction) {
  operand_type = kernel::operand_type(instruction, contraction);
  // Blocks of warp groups round to tf32 what no copy has rounded; others do it when they read fragments.
  const bool rounds = instruction != nullptr && instruction->warps > 1 && instruction->a.type == kernel::AtomType::tf32;
  const auto is_converted = [&](DType from, const std::optional<DType>& rounded, bool tf32) {
    return from != operand_type || (rounded && *rounded != operand_type) || (rounds && !tf32);
  };
  converted_rows_ = is_converted(rows_type_, rounded_rows_, tf32_rows_ || (rounds && instruction->holds_a));
  converted_columns_ = is_converted(columns_type_, rounded_columns_, tf32_columns_);
  size = size_of(operand_type);
}

const kernel::Atom* GpuContraction::halved(const kernel::Atom* instruction) const {
  constexpr std::int64_t kWhole = 8;
  const bool ragged =
      std::any_of(depth_axes.begin(), depth_axes.end(), [](const Axis& axis) { return axis.extent % kWhole != 0; });
  return ragged && instruction != nullptr && instruction->name == "m16n8k8_f64" ? kernel::find_atom("m16n8k4_f64")
                                                                                : nullptr;
}

void GpuContraction::set_atom(const kernel::Atom* instruction, const kernel::Contraction& contraction,
                              const GpuModel& device) {
  fma = instruction == nullptr;
  groups = !fma && instruction->warps > 1;
  // Neighbours of the result are all that an outer product moves: a warp writes them with one instruction.
  std::int64_t columns = 1;
  for (const auto& axis : column_axes) columns *= axis.extent;
  const bool by_rows = is_outer() && columns >= 32 * written_at_once();
  const auto& used = fma ? *kernel::find_fma(by_rows ? "fma_row" : "fma") : *instruction;
  atom_name = used.name;
  atom_ = &used;
  batch_lanes_ = kernel::batch_lanes(used);
  per_register = used.a.per_register();
  set_operands(instruction, contraction);
  const auto run = is_outer() ? written_at_once() : fma ? narrowest(size) : 1;
  row_unit = std::int64_t{used.m} * (deep_rows || is_outer() ? 1 : run) * used.warps;
  column_unit = std::int64_t{used.n} * run;
  halved_ = halved(instruction);
  depth_unit = !fma ? std::max(used.k, 8) : deep_rows || deep_columns ? widest(size) : 1;
  real_products = is_complex(type) ? 4 : 1;
  rate = copied_rate = pipe_rate(device.sm, instruction, type, factor_parts) / operations;
  waits_along_depth_ = fma && !is_outer() && (type == DType::f32 || type == DType::c64);
  if (waits_along_depth_) {
    rate *= multiply_add_rate(static_cast<int>(deep_rows) + static_cast<int>(deep_columns));
    copied_rate *= multiply_add_rate(0);
  }
  // Of 2 and 5 KB three cases in bf16 on an H200 took no longer than was predicted without.
  constexpr double kFew = 8 << 10, kMany = 48 << 10;  // bytes
  constexpr double kKept = 8e6;                       // of an operand that the second cache keeps beside the others
  const double of_rows = elements(true) * static_cast<double>(size),
               of_columns = elements(false) * static_cast<double>(size);
  const auto is_small = [&](double all) { return size == 2 && !is_outer() && kFew <= all && all <= kMany; };
  small_rows_ = is_small(of_rows), small_columns_ = is_small(of_columns);
  cached_rows_ = of_rows <= kKept, cached_columns_ = of_columns <= kKept;
  products_over_memory_ =
      product_cycles() / (device.multiprocessors * device.clock_MHz * 1e6) / (bytes / (device.copy_rate_GBs() * 1e9));
  constexpr double kCached = 30e6;  // bytes, of which all stay: an A100 has 40 MB, an H100 50 MB
  follows_result = !is_outer() && operand_bytes() < std::min(kCached, bytes - operand_bytes());
}

std::optional<GpuContraction> GpuContraction::by_groups(const ir::Program& program, const GpuModel& device,
                                                        bool holds_rows) const {
  const auto contraction = kernel::contraction_of(program);
  for (const auto& atom : kernel::kGroupAtoms) {
    if (is_outer() || atom.holds_a != holds_rows || device.sm != atom.sm ||
        !kernel::computes(atom, 1, program, *contraction))
      continue;
    auto result = *this;
    result.set_atom(&atom, *contraction, device);
    return result;
  }
  return std::nullopt;
}

void GpuContraction::set_batch_atom(const kernel::Atom& atom, const kernel::Contraction& contraction,
                                    const GpuModel& device) {
  fma = true;
  groups = false;
  factor_parts = per_register = 1;
  atom_name = atom.name;
  atom_ = &atom;
  batch_lanes_ = kernel::batch_lanes(atom);
  set_operands(nullptr, contraction);
  row_unit = atom.m;
  column_unit = atom.n;
  depth_unit = 1;
  // As timed on an H200: bench/problems/side.csv took 1.1 to 1.5 times as long as multiply-adds of one product do.
  constexpr double kApart = 1.25;
  rate = copied_rate = pipe_rate(device.sm, nullptr, type, 1) / operations / kApart;
}

std::optional<GpuContraction> GpuContraction::in_three_products() const {
  if (fma || type != DType::c128 || bound_by_memory()) return std::nullopt;
  // Three in place of four, at the rate of products alone; additions and waits beside them are counted apart.
  constexpr double kFaster = 4.0 / 3 / 1.05;
  auto result = *this;
  result.real_products = 3;
  // Of half the depth: its fragments leave registers for those of the next step, and for sums of parts.
  if (const auto* half = kernel::find_atom("m16n8k4_f64"); atom_->k == 2 * half->k) {
    result.atom_ = half;
    result.atom_name = half->name;
  }
  result.rate *= kFaster;
  result.copied_rate *= kFaster;
  return result;
}

std::vector<GpuContraction> GpuContraction::side_by_side(const ir::Program& program, const GpuModel& device) const {
  std::vector<GpuContraction> ways;
  if (batch_axes.empty() || is_outer() || is_integer(type)) return ways;
  const auto contraction = kernel::contraction_of(program);
  for (std::size_t k = 0; k < batch_axes.size(); ++k) {
    const auto& axis = batch_axes[k];
    if (axis.in_operand != 1 && axis.in_other != 1 && batch_in_result_[k] != 1) continue;
    for (const auto* name : {"fma_batch8", "fma_batch32"}) {
      const auto& atom = *kernel::find_fma(name);
      const auto lanes = kernel::batch_lanes(atom);
      if (axis.extent < lanes) continue;
      auto way = *this;
      way.set_batch_atom(atom, *contraction, device);
      way.products = lanes;
      way.relays = false;
      way.products_axis = k;
      ways.push_back(std::move(way));
    }
  }
  // Blocks of one product each that are too small to hide each other's waits. Of 64 x 64 two side by side took longer
  // on an H200 than one (24.3 and 20.1 us for a thousand in f32).
  constexpr double kSmall = 32 * 32;
  double results = 1;
  for (const auto* axes : {&row_axes, &column_axes}) {
    for (const auto& axis : *axes) results *= static_cast<double>(axis.extent);
  }
  const auto longest = std::max_element(batch_axes.begin(), batch_axes.end(),
                                        [](const Axis& x, const Axis& y) { return x.extent < y.extent; });
  for (const std::int64_t side_by_side : {2, 4, 8}) {
    if (results > kSmall || longest->extent < side_by_side) break;
    auto way = *this;
    way.products = side_by_side;
    way.relays = false;
    way.products_axis = static_cast<std::size_t>(longest - batch_axes.begin());
    ways.push_back(std::move(way));
  }
  return ways;
}

std::int64_t GpuContraction::group_row(bool of_rows, const Tile& side, const Tile& depth) const {
  if (!deep(of_rows) && !kernel::lies_either_way(atom_->a.type)) return 0;
  const auto along = deep(of_rows) ? depth.size : side.order.empty() ? 1 : side.sizes[side.order.back()];
  for (const std::int64_t row_bytes : {128, 64, 32}) {
    const auto row = row_bytes / size;
    if (deep(of_rows) ? along == row : along % row == 0) return row;
  }
  return 0;
}

bool GpuContraction::takes(const Tile& rows, const Tile& columns, const Tile& depth) const {
  return (!read_by_groups(true) || group_row(true, rows, depth) > 0) &&
         (!read_by_groups(false) || group_row(false, columns, depth) > 0);
}

kernel::Spread GpuContraction::spread(std::int64_t rows, std::int64_t columns, int warp_rows, int warp_columns) const {
  kernel::Spread spread;
  spread.warp_rows = warp_rows;
  spread.warp_columns = warp_columns;
  spread.batches = static_cast<int>(products / batch_lanes_);
  if (by_lanes()) {
    spread.batches = 1;
    return spread;
  }
  const bool any_deep = deep_rows || deep_columns;
  if (is_outer()) {
    spread.run_columns = static_cast<int>(written_at_once());
    return spread;
  }
  if (fma) {
    const auto run = static_cast<int>(widest(size));
    // The widest that leave no more of the tile unused: half a vector takes as many wavefronts for an element.
    const auto run_of = [&](std::int64_t positions, std::int64_t lanes) {
      const auto least = up(positions, lanes * narrowest(size));
      auto wide = widest(size);
      while (up(positions, lanes * wide) > least) wide /= 2;
      return static_cast<int>(wide);
    };
    spread.run_rows = deep_rows ? 1 : run_of(rows, std::int64_t{atom().m} * warp_rows);
    spread.run_columns = run_of(columns, std::int64_t{atom().n} * warp_columns);
    if (!any_deep) return spread;
    // Neighbours along the depth are in registers for all of them at once: as many as there is room for.
    constexpr std::int64_t kMostSums = 64;
    const auto sums = held_rows(spread, rows) * held_columns(spread, columns) /
                      (std::int64_t{32} * warp_rows * warp_columns) * (size_of(type) / 4);
    spread.run_depth = sums > kMostSums ? std::max(run / 2, 1) : run;
    return spread;
  }
  if (groups) {
    spread.run_depth = per_register;
    return spread;
  }
  if (per_register > 1) {
    // Neighbours of the result to a lane, where the columns are not read across their rows.
    spread.run_depth = per_register;
    spread.run_columns = deep_columns && result_size == 2 ? 2 : 1;
    return spread;
  }
  if (type == DType::c128) return spread;  // of 16 bytes: lanes that are neighbours read neighbours
  const bool narrow = atom().m == 8;
  // An instruction takes neighbouring registers, which of the first operand are rows before they are depths. Neighbours
  // along the depth are moved once more, for each instruction anew: seven moves, which products wait for (a matrix
  // product of 8192 on an H100: 54.6 TF/s, and 60.8 by single elements).
  const bool moved = type == DType::f64 && deep_rows && products_over_memory_ > 1;
  spread.run_depth = any_deep && !narrow && !moved ? 2 : 1;
  spread.run_rows = deep_rows || narrow ? 1 : 2;
  return spread;
}

bool GpuContraction::prefetches() const {
  return !groups && !fma && factor_parts == 1 && (!is_complex(type) || by_three()) &&
         atom().a.type != kernel::AtomType::tf32;
}

std::int64_t GpuContraction::held_rows(const kernel::Spread& spread, std::int64_t rows) const {
  if (groups) return up(rows, row_unit);
  return up(rows, spread.warp_rows * (fma ? std::int64_t{atom().m} * spread.run_rows : row_unit));
}

std::int64_t GpuContraction::held_columns(const kernel::Spread& spread, std::int64_t columns) const {
  return up(columns, std::int64_t{atom().n} * spread.warp_columns * spread.run_columns);
}

RegisterCount GpuContraction::registers(std::int64_t rows, std::int64_t columns, const kernel::Spread& spread,
                                        bool prefetch) const {
  constexpr int kOfGroups = 40;     // besides sums: addresses, operands' descriptors
  constexpr int kOfFragments = 24;  // of four steps, and what the next one reads
  const auto all = [](std::int64_t count) { return RegisterCount{static_cast<double>(count)}; };
  if (groups) return all(rows * columns / 32 + kOfGroups + (atom().holds_a ? kOfFragments : 0));
  const auto words = std::max<std::int64_t>(size / 4, 1);
  const auto sums = rows * columns * batch_lanes_ / 32 * sum_words();
  const auto operands = fma          ? (rows / atom().m + columns / atom().n) * words * spread.run_depth
                        : by_three() ? (rows + columns) * atom().k / 32 * words
                                     : (rows / 8 + columns / 8) * 2 * words;
  // Of the second operand's imaginary parts, negated; of sums of both parts, where nothing else is read ahead of them.
  const auto more = fma          ? 0
                    : by_three() ? (prefetch ? 0 : operands / 2)
                                 : (real_products == 4 ? columns / 8 * words * factor_parts : 0);
  // What is rounded is read a step ahead.
  const auto prefetched = prefetch || (!fma && atom().a.type == kernel::AtomType::tf32) ? operands : 0;
  if (!fma) return all(sums + operands * factor_parts + more + prefetched + (by_three() ? 32 : 40));
  // Of outer products an upper bound, which keeps their tiles small: their stores need blocks that take turns.
  if (is_outer()) return all(sums + operands + 64);
  // Fitted to 144 kernels in f32, made by NVRTC 13.0 for sm_90: three in four of them have room for as many blocks.
  // Where sums are a few of what is read, compilers read more ahead.
  constexpr double kSum = 1.1, kOperand = 1.2, kCopy = 0.4;
  const double base = 4 * sums <= operands ? 52 : 32;
  return {kSum * static_cast<double>(sums) + kOperand * static_cast<double>(operands), kCopy, base};
}

kernel::WarpTile GpuContraction::warp_tile(const Cut& cut) const {
  return kernel::warp_tile(std::string(atom_of(*cut.depth).name), cut.spread, digits(*cut.rows), digits(*cut.columns),
                           digits(*cut.depth), type);
}

GpuContraction::ResultDigits GpuContraction::result_digits(const Tile& rows, const Tile& columns) const {
  ResultDigits digits;
  const auto add = [&](const Axes& axes, const Tile& tile, bool of_rows) {
    if (tile.joined > 0) return digits.push_back({of_rows, tile.size, 1, std::abs(axes[tile.order.back()].in_other)});
    std::int64_t step = 1;
    for (std::size_t k = tile.order.size(); k-- > 0;) {
      const auto extent = tile.sizes[tile.order[k]];
      if (extent > 1) digits.push_back({of_rows, extent, step, std::abs(axes[tile.order[k]].in_other)});
      step *= extent;
    }
  };
  add(row_axes, rows, true);
  add(column_axes, columns, false);
  return digits;
}

std::int64_t GpuContraction::relaid_elements(const Cut& cut, const ResultDigits& digits) const {
  const auto kept = cut.share.blocks > 1 ? type : result_type;
  return kernel::relaid_tile(warp_tile(cut), {digits.begin(), digits.end()}, kept).elements;
}

std::int64_t GpuContraction::line_bytes(const Tile& rows, const Tile& columns) const {
  if (!groups) return 0;
  const auto held = up(rows.size, row_unit);
  if (tiles::is_fastest(row_axes, rows)) {
    return kernel::strip_columns(result_type, up(columns.size, column_unit)) * kernel::strip_pitch(result_type, held) *
           result_size;
  }
  const bool whole = columns.size % kernel::line_elements(result_type) == 0;
  return whole ? held * kernel::row_elements(result_type) * result_size : 0;
}

// Pairs in f64: 10 cases of talsh300 took 0.79 of the time on an H100. Where extents are odd, so that elements are
// copied one by one, one took 1.18 times as long, and multiply-adds in f32 1.0 to 2.0 times. By pairs of f32 nine cases
// took 1.37 to 2.26 times as long as by copies in front, and 1.5 to 2.9 times what is predicted.
bool GpuContraction::crosses() const {
  if (!deep_rows || !deep_columns || fma || products > 1 || type != DType::f64) return false;
  const auto pairs = [&](bool of_rows) {
    return std::any_of(depth_axes.begin(), depth_axes.end(), [&](const Axis& axis) {
      return (of_rows ? axis.in_operand : axis.in_other) == 1 && copied_at_once(of_rows, axis) == 2;
    });
  };
  return pairs(true) && pairs(false);
}

int GpuContraction::padding(const Cut& cut, bool of_rows) const {
  const auto apart = by_lanes() ? products : 1;
  if (!cut.depth->crossed) return kernel::best_padding(warp_tile(cut), of_rows, deep(of_rows), operand_type, apart);
  const auto digits = depth_digits(*cut.depth);
  kernel::Layout order;
  std::int64_t below = 1;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    std::int64_t step = 1;
    const auto inside = lying(digits, *cut.depth, of_rows);
    for (auto k = inside.rbegin(); k->axis != digit->axis || k->pair != digit->pair; ++k) step *= k->extent;
    order.add(kernel::LayoutAxis::memory, digit->extent, 0, step, below);
    below *= digit->extent;
  }
  order.shape = {below, 1, 1};
  return kernel::best_padding(warp_tile(cut), of_rows, true, operand_type, apart, &order);
}

std::int64_t GpuContraction::stage_bytes(const Cut& cut, bool of_rows, int padding) const {
  const auto side = (of_rows ? cut.rows : cut.columns)->size, depth = cut.depth->size;
  if (read_by_groups(of_rows)) {
    const auto unit = of_rows ? row_unit : column_unit;
    return up(depth * up(side, unit) * size, kernel::kMatrixBlock);
  }
  constexpr std::int64_t kLine = 128;
  const auto held = of_rows ? held_rows(cut.spread, side) : held_columns(cut.spread, side);
  const auto apart = by_lanes() ? products : 1, others = products / apart - 1;
  const auto row = (deep(of_rows) ? depth : side) * apart + padding;
  const auto elements =
      deep(of_rows) ? (others * side + held) * row : (others + 1) * depth * row + (held - side) * apart;
  return up(elements * size, kLine);
}

std::int64_t GpuContraction::result_bytes(const Cut& cut, std::int64_t relaid_elements) const {
  constexpr std::int64_t kLine = 128;
  const auto in_lines = line_bytes(*cut.rows, *cut.columns);
  if (cut.share.blocks > 1)
    return up(relaid_elements * size_of(type), kLine) + (cut.share.last > 0 ? up(in_lines, kLine) : 0);
  return std::max(in_lines, cut.relaid ? up(relaid_elements * result_size, kLine) : 0);
}

DepthShare GpuContraction::share_of(const Tile& depth, int blocks) const {
  DepthShare share;
  for (std::size_t k = 0; k < depth_axes.size(); ++k) {
    // Of an index that one operand alone has, copies of the other one do not bring zeros behind the last chunk.
    if (depth.is_joined(k) || depth_axes[k].is_of_one()) continue;
    const auto chunks = tiles::parts(depth_axes[k].extent, depth.sizes[k]);
    if (chunks <= share.all) continue;
    share.all = chunks;
    share.axis = k;
  }
  share.chunks = tiles::parts(share.all, blocks);
  share.blocks = static_cast<int>(tiles::parts(share.all, share.chunks));
  return share;
}

std::int64_t GpuContraction::copied_at_once(bool of_rows, const Axis& fastest) const {
  for (auto n = widest(std::max(size, element_bytes(of_rows))); n > 1; n /= 2) {
    const auto fits = [&](const Axes& list, bool other) {
      return std::all_of(list.begin(), list.end(), [&](const Axis& axis) {
        return &axis == &fastest || (other ? axis.in_other : axis.in_operand) % n == 0;
      });
    };
    if ((groups /* whose tensor maps read any row */ || fastest.extent % n == 0) &&
        fits(of_rows ? row_axes : column_axes, false) && fits(depth_axes, !of_rows) && fits(batch_axes, !of_rows))
      return n;
  }
  return 1;
}

std::int64_t GpuContraction::products_at_once(bool of_rows) const {
  if (in_operand(of_rows) != 1) return 1;
  const auto& fastest = batch_axes[products_axis];
  for (auto n = widest(std::max(size, element_bytes(of_rows))); n > 1; n /= 2) {
    const auto fits = [&](const Axes& list, bool other) {
      return std::all_of(list.begin(), list.end(), [&](const Axis& axis) {
        return &axis == &fastest || (other ? axis.in_other : axis.in_operand) % n == 0;
      });
    };
    if (products % n == 0 && fastest.extent % n == 0 && fits(of_rows ? row_axes : column_axes, false) &&
        fits(depth_axes, !of_rows) && fits(batch_axes, !of_rows))
      return n;
  }
  return 1;
}

std::int64_t GpuContraction::written_at_once() const {
  for (auto n = widest(result_size); n > 1; n /= 2) {
    bool fits = false;
    for (const auto& axis : column_axes) fits = fits || (axis.in_other == 1 && axis.extent % n == 0);
    const auto parts = [&](const Axes& axes) {
      return std::all_of(axes.begin(), axes.end(),
                         [&](const Axis& axis) { return axis.in_other == 1 || axis.in_other % n == 0; });
    };
    if (fits && parts(row_axes) && parts(column_axes)) return n;
  }
  return 1;
}

double GpuContraction::elements(bool of_rows) const {
  double count = terms * static_cast<double>(batches);
  for (const auto& axis : of_rows ? row_axes : column_axes) count *= static_cast<double>(axis.extent);
  return count;
}

double GpuContraction::product_cycles() const {
  double results = static_cast<double>(batches);
  for (const auto* axes : {&row_axes, &column_axes}) {
    for (const auto& axis : *axes) results *= static_cast<double>(axis.extent);
  }
  return results * terms / copied_rate;
}

std::vector<int> GpuContraction::order(bool of_rows, bool along_depth) const {
  const auto& side = of_rows ? row_axes : column_axes;
  std::vector<int> all;
  all.reserve(batch_axes.size() + side.size() + depth_axes.size());
  const auto add = [&](const Axes& axes, bool other) {
    ir::Few<std::array<std::int64_t, 2>, 12> by_stride;  // with the index, the farthest first
    for (const auto& axis : axes) by_stride.push_back({-std::abs(other ? axis.in_other : axis.in_operand), axis.index});
    std::sort(by_stride.begin(), by_stride.end());
    for (const auto& [stride, index] : by_stride) all.push_back(static_cast<int>(index));
  };
  add(batch_axes, !of_rows);
  if (along_depth) add(side, true);
  add(depth_axes, of_rows);
  if (!along_depth) add(side, true);
  return all;
}

}  // namespace ricci::plan
