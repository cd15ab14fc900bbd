// Contractions by warp groups, one for each way in which their instructions read operands.
#pragma once

#include <vector>

#include "simt/contraction_case.hpp"

namespace ricci::simt {

struct GroupCase {
  const char* type;  ///< of both operands; tf32: f32, whose tensors hold tf32 where `stages` is even, and are rounded
                     ///< when they are staged where it is odd
  bool deep_rows,
      deep_columns;          ///< whether an operand's neighbours, and its rows in shared memory, lie along the depth
  int rows, columns, depth;  ///< of a block's tile
  int row_of_rows, row_of_columns;  ///< elements of a row in shared memory
  int stages;
  int padding = -1;   ///< 0 or more: registers hold A, whose rows in shared memory are so many elements apart
  bool maps = false;  ///< staged by tensor maps

  bool holds_a() const { return padding >= 0; }
  std::string directives() const {
    // In canonical programs the first index of A is "a": its rows, or the depth.
    const std::string row = deep_rows ? "a" : "b", deep = deep_rows ? "b" : "a";
    const auto tile = [](const std::string& index, int whole, int part) {
      return fmt::format("tile {}:{}{};", index, whole, part < whole ? fmt::format(":{}", part) : "");
    };
    // Panels of rows of neighbours stand side by side.
    const auto names = [](const std::string& index, int whole, int part) {
      return (part < whole ? index + "1 " : "") + index;
    };
    const auto staged = [&](bool along_depth, const std::string& side, int whole, int part) {
      if (along_depth) return names(side, whole, part) + " " + deep;
      return (part < whole ? side + "1 " : "") + deep + " " + side;
    };
    const int row_part = deep_rows || holds_a() ? rows : row_of_rows,
              column_part = deep_columns ? columns : row_of_columns;
    const char* how = maps ? "maps" : "async";
    return tile(row, rows, row_part) + tile("c", columns, column_part) + tile(deep, depth, depth) +
           fmt::format("order task {}0 c0 sum {}0;stage A at {}0 {} {}{};stage B at {}0 {} {};", row, deep, deep, how,
                       staged(deep_rows, row, rows, row_part), padding > 0 ? fmt::format(" pad {}", padding) : "", deep,
                       how, staged(deep_columns, "c", columns, column_part)) +
           fmt::format("atom wgmma_{}{} rows {} columns {} depth {} warps {}x1 runs 1x1x{};pipeline {}0 {}",
                       holds_a() ? "rs_" : "", type, names(row, rows, row_part), names("c", columns, column_part), deep,
                       (rows + 63) / 64 * 4, is_tf32() ? 1 : 2, deep, stages);
  }
  std::string text() const {
    return fmt::format("{} {} x {} x {}, A along its {}{}, B along its {}, rows of {} and {}{}", type, rows, columns,
                       depth, deep_rows ? "depth" : "side", holds_a() ? " in registers" : "",
                       deep_columns ? "depth" : "side", row_of_rows, row_of_columns, maps ? ", by tensor maps" : "");
  }
  int rows_extent() const { return rows > 64 ? rows - 8 : 88; }
  int columns_extent() const { return columns > 64 ? columns - 8 : columns + 24; }
  /// Whether neighbours are units of 16 bytes, and nothing is rounded on the way.
  bool can_be_mapped() const {
    const int unit = is_tf32() ? 4 : 8;
    const bool rounded = is_tf32() && stages % 2 != 0;
    return !rounded && (deep_rows || rows_extent() % unit == 0) && (deep_columns || columns_extent() % unit == 0) &&
           (!holds_a() || padding % unit == 0);
  }
  bool is_tf32() const { return std::string(type) == "tf32"; }
  /// Of an instruction.
  int instruction_depth() const { return is_tf32() ? 8 : 16; }
  /// Tiles that end inside of the tensors, or tensors inside of them; several rounds.
  ContractionCase made() const {
    const auto operand = is_tf32() ? DType::f32 : std::string(type) == "bf16" ? DType::bf16 : DType::f16;
    const auto result = stages == 4 ? operand : DType::f32;
    const auto spec = std::string(deep_rows ? "ad," : "da,") + (deep_columns ? "bd" : "db") + "->ab";
    const auto problem = problem_of(spec, {{'a', rows_extent()}, {'b', columns_extent()}, {'d', 4 * depth + 8}},
                                    {operand, operand, result});
    auto program = ir::canonicalise(ir::lower(problem));
    if (is_tf32()) program.precision = Precision::tf32;
    for (auto& buffer : program.buffers) buffer.tf32 = is_tf32() && stages % 2 == 0 && !buffer.written;
    if (holds_a()) program.buffers.front().tf32 = false;  // rounded in registers
    return {std::move(program), kernel::parse_directives(directives())};
  }
};

/// Rows of 128, 64 and 32 bytes along both directions, one to four groups, 8 to 256 columns; and, along the depth,
/// fewer rows or columns than products have. A in registers: by matrix loads, transposed ones, words and elements, of
/// one to eight steps of the depth. All of them by tensor maps, too, where these can.
inline const std::vector<GroupCase>& group_cases() {
  static const std::vector<GroupCase> by_threads = {
      {"bf16", true, true, 128, 128, 64, 64, 64, 4},   {"bf16", true, false, 128, 256, 64, 64, 64, 4},
      {"bf16", false, true, 128, 64, 64, 64, 64, 3},   {"f16", false, false, 128, 128, 64, 64, 64, 4},
      {"f16", true, true, 64, 8, 32, 32, 32, 2},       {"bf16", true, false, 64, 96, 32, 32, 32, 3},
      {"f16", false, true, 192, 40, 32, 32, 32, 4},    {"bf16", false, false, 256, 64, 32, 32, 32, 4},
      {"bf16", true, true, 64, 24, 16, 16, 16, 6},     {"f16", true, false, 64, 48, 16, 16, 16, 3},
      {"bf16", false, true, 64, 16, 16, 16, 16, 2},    {"bf16", false, false, 64, 32, 16, 16, 16, 4},
      {"f16", false, false, 128, 192, 64, 32, 64, 3},  {"bf16", true, false, 126, 96, 64, 64, 32, 4},
      {"f16", true, true, 100, 84, 32, 32, 32, 3},     {"bf16", false, true, 128, 36, 64, 64, 64, 4},
      {"tf32", true, true, 128, 128, 32, 32, 32, 4},   {"tf32", true, true, 128, 256, 32, 32, 32, 4},
      {"tf32", true, true, 64, 40, 16, 16, 16, 2},     {"tf32", true, true, 126, 84, 32, 32, 32, 3},
      {"tf32", true, true, 192, 24, 8, 8, 8, 6},       {"tf32", true, true, 64, 8, 16, 16, 16, 3},
      {"bf16", true, true, 128, 128, 64, 0, 64, 4, 8}, {"bf16", false, true, 128, 192, 64, 0, 64, 4, 8},
      {"f16", false, false, 64, 64, 128, 0, 64, 3, 8}, {"bf16", true, false, 126, 64, 96, 0, 32, 4, 8},
      {"f16", false, true, 100, 40, 32, 0, 32, 2, 4},  {"bf16", true, true, 64, 24, 16, 0, 16, 4, 1},
      {"tf32", true, true, 128, 128, 32, 0, 32, 4, 4}, {"tf32", false, true, 128, 192, 32, 0, 32, 4, 8},
      {"tf32", false, true, 192, 40, 16, 0, 16, 3, 8}, {"tf32", false, true, 84, 256, 32, 0, 32, 4, 4},
      {"tf32", true, true, 64, 8, 8, 0, 8, 2, 1},
  };
  static const auto cases = [] {
    auto all = by_threads;
    for (auto c : by_threads) {
      c.maps = true;
      if (c.can_be_mapped()) all.push_back(c);
    }
    return all;
  }();
  return cases;
}

}  // namespace ricci::simt
