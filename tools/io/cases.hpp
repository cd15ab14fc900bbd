// Benchmark sets from CSV files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ricci/spec.hpp"
#include "ricci/tensor.hpp"

namespace ricci::tools {

enum class CaseKind { permutations, einsums };

/// What a file's columns say that it is of: `perm` or `spec`. Throws IoError for neither.
CaseKind kind_of_cases(const std::string& file);

/// One permutation, as Ricci says it.
struct PermuteCase {
  std::string id;
  std::string spec;                   ///< named axes: ranks go past the alphabet
  std::vector<std::int64_t> extents;  ///< of the input, slowest first
};

/// Reads columns `id`, `dims` and `perm` (fastest axis first, out_dims[i] = dims[perm[i]], separated by blanks), as
/// cuTT, HPTT and TTC write them. Throws IoError with the line that cannot be read.
std::vector<PermuteCase> read_permute_cases(const std::string& file);

/// One einsum with an extent for each axis.
struct EinsumCase {
  std::string id, spec;
  std::map<std::string, std::int64_t> extents;
};

/// Reads columns `id`, `spec` (quoted where it has commas) and `extents` ("a=24 b=16"). Throws IoError with the line
/// that cannot be read.
std::vector<EinsumCase> read_einsum_cases(const std::string& file);
/// Extents made smaller by one factor until the case has no more operations than that.
void shrink(EinsumCase& c, double most_flops);
/// Row-major operands of a case. Throws std::out_of_range for an axis without extent.
std::vector<Layout> operand_layouts(const EinsumCase& c, const Spec& spec, DType type);

/// The type of a case's results: i32 of operands of bytes, that of the operands else.
DType result_type(DType type);
/// What a case's einsum writes: row-major, of that type.
Layout result_layout(const EinsumCase& c, const Spec& spec, DType type);

/// Milliseconds that others took: case, then name of the other.
using Peers = std::map<std::string, std::map<std::string, double>>;

/// Reads column `id` and every column NAME_ms; empty cells are left out. Throws IoError.
Peers read_peers(const std::string& file);

/// "bench/problems/ttc57.csv" -> "ttc57".
std::string set_name(const std::string& file);

}  // namespace ricci::tools
