#include "kernel/matrix_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "kernel/contraction.hpp"

namespace ricci::kernel {
namespace {

using ir::NodeId;
using ir::NodeKind;
using ir::OpCode;
using Matrix = MatrixProduct::Matrix;
using Scale = MatrixProduct::Scale;

/// An axis of a matrix: its extent, and its stride in each of the three.
struct Line {
  std::int64_t extent = 1, in_first = 0, in_second = 0, in_result = 0;
};

/// Strides along the two axes of a matrix as it is multiplied, as a row-major matrix or the transposed of one.
bool lay(Matrix& matrix, std::int64_t rows, std::int64_t row_stride, std::int64_t columns, std::int64_t column_stride) {
  const bool plain = (columns == 1 || column_stride == 1) && (rows == 1 || row_stride >= columns);
  const bool transposed = (rows == 1 || row_stride == 1) && (columns == 1 || column_stride >= rows);
  if (matrix.conjugated ? !transposed : !plain && !transposed) return false;
  matrix.transposed = matrix.conjugated || !plain;
  // A single row is as far from the next as its own length.
  matrix.leading = matrix.transposed ? (columns == 1 ? rows : column_stride) : (rows == 1 ? columns : row_stride);
  return true;
}

/// alpha and beta in a statement's value.
class Factors {
 public:
  Factors(const ir::Program& program, const Contraction& contraction) : program_(program), contraction_(contraction) {}

  bool read(MatrixProduct& product) {
    if (!read(program_.statement().value, {-1, 1}) || !has_product_) return false;
    product.alpha = alpha_;
    product.beta = beta_;
    return true;
  }

 private:
  bool read(NodeId id, Scale scale) {
    const auto& node = program_.nodes[static_cast<std::size_t>(id)];
    if (id == contraction_.reduce) {
      alpha_ = scale;
      return !std::exchange(has_product_, true);
    }
    if (node.type != contraction_.type) return false;
    if (node.kind == NodeKind::load) {
      beta_ = scale;
      return node.source == program_.statement().buffer && node.offset == program_.statement().offset &&
             !std::exchange(has_old_, true);
    }
    if (node.kind != NodeKind::op) return false;
    const auto negative = [&] { return Scale{scale.param, -scale.value}; };
    switch (node.op) {
      case OpCode::add:
        return read(node.operand[0], scale) && read(node.operand[1], scale);
      case OpCode::sub:
        return read(node.operand[0], scale) && read(node.operand[1], negative());
      case OpCode::neg:
        return read(node.operand[0], negative());
      case OpCode::scale:
        return multiply(scale, node.operand[0], true) && read(node.operand[1], scale);
      case OpCode::mul:
        for (const int k : {0, 1}) {
          auto scaled = scale;
          if (multiply(scaled, node.operand[k], false)) return read(node.operand[1 - k], scaled);
        }
        return false;
      default:
        return false;
    }
  }

  /// scale *= factor. Only a `scale` may be by 0, or by a parameter, which may be 0: it hides what a product keeps.
  bool multiply(Scale& scale, NodeId factor, bool hides) const {
    const auto& node = program_.nodes[static_cast<std::size_t>(factor)];
    if (node.type != contraction_.type) return false;
    if (node.kind == NodeKind::constant) {
      scale.value *= node.value;
      return hides || node.value != Scalar(0);
    }
    return hides && node.kind == NodeKind::param && std::exchange(scale.param, node.source) < 0;
  }

  const ir::Program& program_;
  const Contraction& contraction_;
  Scale alpha_, beta_;
  bool has_product_ = false, has_old_ = false;
};

}  // namespace

std::int64_t MatrixProduct::products() const noexcept {
  std::int64_t count = 1;
  for (const auto& loop : batch) count *= loop.extent;
  return count;
}

MatrixProduct::Batch MatrixProduct::place(std::int64_t at, const Batch* without) const noexcept {
  Batch place;
  for (const auto& loop : batch | std::views::reverse) {
    if (&loop == without) continue;
    const auto value = at % loop.extent;
    at /= loop.extent;
    place.in_first += value * loop.in_first;
    place.in_second += value * loop.in_second;
    place.in_result += value * loop.in_result;
  }
  return place;
}

double MatrixProduct::flops() const noexcept {
  return (is_complex(type) ? 8.0 : 2.0) * static_cast<double>(products()) * static_cast<double>(rows) *
         static_cast<double>(columns) * static_cast<double>(depth);
}

double MatrixProduct::bytes() const noexcept {
  const auto of = [&](const Matrix& matrix, std::int64_t x, std::int64_t y) {
    return static_cast<double>(size_of(matrix.type)) * static_cast<double>(x) * static_cast<double>(y);
  };
  const double times = beta.param >= 0 || beta.value != Scalar(0) ? 2 : 1;
  return static_cast<double>(products()) *
         (of(first, rows, depth) + of(second, depth, columns) + times * of(result, rows, columns));
}

std::optional<MatrixProduct> matrix_product_of(const ir::Program& program) {
  if (program.exact) return std::nullopt;
  const auto contraction = contraction_of(program);
  if (!contraction || !contraction->is_product() || program.points() == 0) return std::nullopt;
  if (contraction->first.rounded || contraction->second.rounded) return std::nullopt;
  const auto& statement = program.statement();
  const auto& first = program.nodes[static_cast<std::size_t>(contraction->first.load)];
  const auto& second = program.nodes[static_cast<std::size_t>(contraction->second.load)];
  MatrixProduct product;
  product.type = contraction->type;
  product.precision = program.precision;
  Line rows, columns, depth;
  for (std::size_t q = 0; q < program.indices.size(); ++q) {
    const Line line{program.indices[q].extent, first.offset.coefficient[q], second.offset.coefficient[q],
                    statement.offset.coefficient[q]};
    if (line.extent == 1) continue;
    auto* const of = contraction->role[q] == Role::rows      ? &rows
                     : contraction->role[q] == Role::columns ? &columns
                     : contraction->role[q] == Role::depth   ? &depth
                                                             : nullptr;
    if (of != nullptr) {
      if (std::exchange(*of, line).extent > 1) return std::nullopt;
    } else if (contraction->role[q] == Role::batch) {
      product.batch.push_back({line.extent, line.in_first, line.in_second, line.in_result});
    } else {
      return std::nullopt;
    }
  }
  const auto matrix = [&](const ir::Node& load, bool conjugated) {
    return Matrix{load.source, load.type, load.offset.constant, 1, false, conjugated};
  };
  product.first = matrix(first, contraction->first.conj);
  product.second = matrix(second, contraction->second.conj);
  const auto& buffer = program.buffers[static_cast<std::size_t>(statement.buffer)];
  product.result = {statement.buffer, buffer.type, statement.offset.constant, 1, false, false};
  // The transposed product where that is what is row-major.
  if (!lay(product.result, rows.extent, rows.in_result, columns.extent, columns.in_result)) return std::nullopt;
  if (product.result.transposed) {
    const auto swapped = [](Line line) { return Line{line.extent, line.in_second, line.in_first, line.in_result}; };
    rows = std::exchange(columns, swapped(rows));
    rows = swapped(rows);
    depth = swapped(depth);
    std::swap(product.first, product.second);
    for (auto& loop : product.batch) std::swap(loop.in_first, loop.in_second);
    product.result.transposed = false;
  }
  product.rows = rows.extent;
  product.columns = columns.extent;
  product.depth = depth.extent;
  if (!lay(product.first, rows.extent, rows.in_first, depth.extent, depth.in_first) ||
      !lay(product.second, depth.extent, depth.in_second, columns.extent, columns.in_second)) {
    return std::nullopt;
  }
  if (!Factors(program, *contraction).read(product)) return std::nullopt;
  std::stable_sort(product.batch.begin(), product.batch.end(),
                   [](const auto& x, const auto& y) { return x.in_result > y.in_result; });
  return product;
}

std::string print(const MatrixProduct& product, const ir::Program& program) {
  const auto matrix = [&](const Matrix& m, std::int64_t rows, std::int64_t columns) {
    return fmt::format("{}[{} x {}]{}", program.buffers[static_cast<std::size_t>(m.buffer)].name,
                       m.transposed ? columns : rows, m.transposed ? rows : columns,
                       m.conjugated   ? "^H"
                       : m.transposed ? "^T"
                                      : "");
  };
  const auto scale = [&](const Scale& s) {
    if (s.param < 0 && s.value == Scalar(1)) return std::string();
    const auto number = s.value.imag() == 0 ? fmt::format("{}", s.value.real())
                                            : fmt::format("({}, {})", s.value.real(), s.value.imag());
    if (s.param < 0) return number + " * ";
    return (s.value == Scalar(1) ? std::string() : number + " * ") +
           program.params[static_cast<std::size_t>(s.param)].name + " * ";
  };
  const bool adds = product.beta.param >= 0 || product.beta.value != Scalar(0);
  const auto count = product.products();
  return fmt::format("{}{} = {}{} * {}{}", count > 1 ? fmt::format("{} times ", count) : std::string(),
                     matrix(product.result, product.rows, product.columns), scale(product.alpha),
                     matrix(product.first, product.rows, product.depth),
                     matrix(product.second, product.depth, product.columns),
                     adds ? fmt::format(" + {}{}", scale(product.beta),
                                        program.buffers[static_cast<std::size_t>(product.result.buffer)].name)
                          : std::string());
}

}  // namespace ricci::kernel
