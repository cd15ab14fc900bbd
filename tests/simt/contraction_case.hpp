// One contraction as a CUDA kernel of the loop tree: made from a spec and directives, executed on the simulator and
// compared with the interpreter.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "codegen/expression.hpp"
#include "codegen/kernel_source.hpp"
#include "ir/passes/canonical.hpp"
#include "ir/passes/step_piece.hpp"
#include "ir/types.hpp"
#include "kernel/atoms.hpp"
#include "kernel/build.hpp"
#include "kernel/interpret/execute.hpp"
#include "lower/einsum.hpp"
#include "simt/emitted.hpp"
#include "simt/simulator.hpp"

namespace ricci::simt {

/// Memory of one tensor, at a multiple of 256 bytes.
struct Area {
  struct alignas(256) Line {
    unsigned char at[256] = {};
  };
  std::vector<Line> lines;
  std::size_t bytes = 0;
  explicit Area(std::size_t size) : lines(size / sizeof(Line) + 1), bytes(size) {}
  unsigned char* begin() { return lines.front().at; }
  /// Any integers, which wrap; of floats small whole numbers: sums of their products are exact in every order.
  /// `off`: of f32 and f64 off by so much of themselves, which a half type rounds away.
  void fill(DType type, std::mt19937_64& random, double off = 0) {
    std::uniform_int_distribution<int> digits(-3, 3);
    const auto put = [&](auto zero) {
      for (std::size_t i = 0; i < bytes / sizeof zero; ++i) {
        const auto value = static_cast<decltype(zero)>(digits(random) * (1 + off));
        std::memcpy(begin() + i * sizeof zero, &value, sizeof zero);
      }
    };
    if (type == DType::f32 || type == DType::c64) return put(0.0f);
    if (type == DType::f64 || type == DType::c128) return put(0.0);
    if (is_integer(type)) {
      std::uniform_int_distribution<int> any(0, 255);
      for (std::size_t i = 0; i < bytes; ++i) begin()[i] = static_cast<unsigned char>(any(random));
      return;
    }
    const std::uint16_t bits[] = {0, 1, 2, 3};  // of a sign and 0, 1, 2, 3
    for (std::size_t i = 0; i < bytes / 2; ++i) {
      static constexpr std::uint16_t kF16[] = {0, 0x3c00, 0x4000, 0x4200}, kBf16[] = {0, 0x3f80, 0x4000, 0x4040};
      const auto digit = bits[static_cast<std::size_t>(std::abs(digits(random)))];
      const auto half =
          static_cast<std::uint16_t>((type == DType::f16 ? kF16 : kBf16)[digit] | (digits(random) < 0 ? 0x8000 : 0));
      std::memcpy(begin() + 2 * i, &half, 2);
    }
  }
};

/// "ab,bc->ac" with extents by name, row-major.
inline ir::EinsumProblem problem_of(const std::string& spec, const std::map<char, std::int64_t>& extents,
                                    const std::vector<DType>& types, std::int64_t alignment = 256) {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse(spec);
  std::vector<Layout> layouts;
  std::vector<std::int64_t> shape;
  const auto flush = [&] {
    layouts.push_back(Layout::row_major(types[std::min(layouts.size(), types.size() - 1)], shape));
    layouts.back().alignment = alignment;
    shape.clear();
  };
  for (const char letter : spec) {
    if (letter == ',' || letter == '>') flush();
    if (letter >= 'a' && letter <= 'z') shape.push_back(extents.at(letter));
  }
  flush();
  problem.output = layouts.back();
  layouts.pop_back();
  problem.inputs = layouts;
  return problem;
}

/// A contraction in tf32 with the rounding of its factors said, which programs leave to tensor cores; others as they
/// are.
inline ir::Program with_rounding(const ir::Program& program) {
  const auto contraction = kernel::contraction_of(program);
  if (program.precision != Precision::tf32 || !contraction || contraction->type != DType::f32) return program;
  const auto whole = ir::sequence_of(program);
  ir::StepPiece piece(whole.steps.front());
  for (std::size_t k = 0; k < program.buffers.size(); ++k) piece.buffer(static_cast<int>(k));
  for (const auto* factor : {&contraction->first, &contraction->second}) {
    if (program.nodes[static_cast<std::size_t>(factor->load)].type != DType::f32) continue;  // of a half type: exact
    piece.replace(factor->load, piece.builder.op(ir::OpCode::tf32, DType::f32, piece.copy(factor->load)));
  }
  for (const auto& statement : program.statements) {
    const auto value = piece.copy(statement.value);
    piece.builder.store(piece.buffer(statement.buffer, true), piece.affine(statement.offset), value, statement.step);
  }
  return piece.finish().program;
}

/// How far a buffer's numbers may be off whole ones: where all that reads it rounds them.
inline double off_whole_numbers(const ir::Program& program, std::size_t buffer) {
  if (program.precision == Precision::tf32) {
    // Less than whole numbers: what cuts the rest off, and does not round, makes others of them.
    const auto contraction = kernel::contraction_of(program);
    const auto& one = program.buffers[buffer];
    return contraction && contraction->type == DType::f32 && !one.written && !one.tf32 ? -0x1p-13 : 0;
  }
  const auto is_read = [&](ir::NodeId id) {
    const auto& node = program.nodes[static_cast<std::size_t>(id)];
    return node.kind == ir::NodeKind::load && node.source == static_cast<int>(buffer);
  };
  bool rounds = false;
  for (const auto& node : program.nodes) {
    const bool rounds_it = node.kind == ir::NodeKind::op && node.op == ir::OpCode::cast && is_half(node.type);
    for (int k = 0; k < ir::operand_count(node); ++k) {
      if (!is_read(node.operand[k])) continue;
      if (!rounds_it) return 0;
      rounds = true;
    }
  }
  return rounds && !program.buffers[buffer].written ? 0x1p-12 : 0;
}

/// Tensors for each buffer, of whole numbers of few bits where nothing rounds them.
inline std::vector<Area> tensors_of(const ir::Program& program, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Area> areas;
  for (const auto& buffer : program.buffers) {
    const auto off = off_whole_numbers(program, areas.size());
    areas.emplace_back(static_cast<std::size_t>((buffer.last + 1) * size_of(buffer.type)));
    areas.back().fill(buffer.type, random, off);
  }
  return areas;
}

/// A parameter of any type, as a kernel takes it.
struct alignas(16) Parameter {
  unsigned char at[16] = {};
};
/// Two for each parameter.
inline std::vector<Parameter> parameters_of_two(const ir::Program& program) {
  std::vector<Parameter> values(program.params.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double two[2] = {2, 0};
    const float two_f32[2] = {2, 0};
    const std::int64_t two_whole = 2;
    const auto type = program.params[k].type;
    const bool wide = type == DType::f64 || type == DType::c128;
    const void* const from = is_integer(type) ? static_cast<const void*>(&two_whole)
                             : wide           ? static_cast<const void*>(two)
                                              : two_f32;
    std::memcpy(values[k].at, from, static_cast<std::size_t>(size_of(type)));
  }
  return values;
}

struct ContractionCase {
  ir::Canonical program;
  kernel::Contraction contraction;
  kernel::Kernel tree;  ///< expanded
  codegen::Source source;
  kernel::Launch launch;

  ContractionCase(const ir::EinsumProblem& problem, const kernel::Directives& directives)
      : ContractionCase(ir::canonicalise(ir::lower(problem)), directives) {}
  ContractionCase(ir::Canonical of, const kernel::Directives& directives)
      : program(std::move(of)), contraction(kernel::contraction_of(program).value_or(kernel::Contraction{})) {
    const bool by_itself = contraction.reduce < 0 || std::any_of(
                                                         directives.begin(), directives.end(),
                                                         [](const kernel::Directive& d) {
                                                           return d.kind == kernel::Directive::Kind::cooperative;
                                                         });
    tree = kernel::expand(by_itself ? kernel::build(program, kernel::Schedule{{}, directives}, kernel::Target::cuda)
                                    : kernel::build(program, contraction, directives, kernel::Target::cuda));
    source = codegen::print_cuda(tree, "contraction");
    launch = kernel::launch_of(tree);
    // Programs say what tensor cores may do: other kernels multiply in f32.
    const bool rounds = std::any_of(directives.begin(), directives.end(), [](const kernel::Directive& d) {
      const auto* atom = d.kind == kernel::Directive::Kind::atom ? kernel::find_atom(d.subject) : nullptr;
      return atom != nullptr && atom->a.type == kernel::AtomType::tf32;
    });
    if (!rounds) program.precision = Precision::operands;
  }
  std::string full() const {
    return codegen::portable_prelude(program) + source.portable + source.device + source.text;
  }

  /// For operands of f32 that are any numbers in [-1, 1): the largest error of an element of an f32 result, relative to
  /// the sum of its products' moduli; by the kernel interpreter.
  double largest_error(std::uint64_t seed) const {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<float> real(-1, 1);
    std::vector<std::vector<float>> tensors;  // complex numbers as pairs
    std::vector<std::vector<double>> exact, moduli;
    const auto reals = [](const ir::Buffer& buffer) { return is_complex(buffer.type) ? std::size_t{2} : 1; };
    for (const auto& buffer : program.buffers) {
      const auto pair = reals(buffer);
      tensors.emplace_back(static_cast<std::size_t>(buffer.last + 1) * pair);
      if (!buffer.written) {
        for (auto& x : tensors.back()) x = real(random);
      }
      exact.emplace_back(tensors.back().begin(), tensors.back().end());
      moduli.push_back(exact.back());
      auto& sizes = moduli.back();
      for (std::size_t k = 0; k < sizes.size(); k += pair) {
        sizes[k] = pair == 1 ? std::abs(sizes[k]) : std::hypot(sizes[k], sizes[k + 1]);
        if (pair == 2) sizes[k + 1] = 0;
      }
    }
    const auto widened = [](DType type) { return is_complex(type) ? DType::c128 : DType::f64; };
    ir::Program wide = program;
    for (auto& buffer : wide.buffers) buffer.type = widened(buffer.type);
    for (auto& node : wide.nodes) node.type = widened(node.type);
    std::vector<void*> got, wanted, sizes;
    for (std::size_t b = 0; b < tensors.size(); ++b) {
      got.push_back(tensors[b].data());
      wanted.push_back(exact[b].data());
      sizes.push_back(moduli[b].data());
    }
    ir::interpret(wide, wanted, {});
    ir::interpret(wide, sizes, {});
    kernel::execute(tree, got, {});
    double largest = 0;
    for (std::size_t b = 0; b < tensors.size(); ++b) {
      if (!program.buffers[b].written) continue;
      const auto pair = reals(program.buffers[b]);
      for (std::size_t k = 0; k < tensors[b].size(); ++k)
        largest = std::max(largest, std::abs(tensors[b][k] - exact[b][k]) / moduli[b][k / pair * pair]);
    }
    return largest;
  }

  /// Tensors of a seed, and what the program makes of them: for as many runs as are made of the same.
  struct Tensors {
    std::uint64_t seed;
    std::vector<Area> given, expected;
  };
  const Tensors& tensors(std::uint64_t seed) const {
    if (tensors_ && tensors_->seed == seed) return *tensors_;
    tensors_ = Tensors{seed, tensors_of(program, seed), {}};
    tensors_->expected = tensors_->given;
    std::vector<void*> wanted;
    for (auto& area : tensors_->expected) wanted.push_back(area.begin());
    ir::interpret(with_rounding(program), wanted, std::vector<Scalar>(program.params.size(), 2.0));
    return *tensors_;
  }

  /// The tree run by the kernel interpreter; what it did, counted. `same`: whether the results are the program's.
  kernel::Counts interpreted(std::uint64_t seed, bool& same) const {
    auto areas = tensors(seed).given;
    std::vector<void*> pointers;
    for (auto& area : areas) pointers.push_back(area.begin());
    const auto counts = kernel::execute(tree, pointers, std::vector<Scalar>(program.params.size(), 2.0));
    same = true;
    for (std::size_t b = 0; b < areas.size(); ++b)
      same = same && std::memcmp(areas[b].begin(), tensors(seed).expected[b].lines.front().at, areas[b].bytes) == 0;
    return counts;
  }

  /// What is wrong with a run on the simulator; empty where nothing is.
  std::string wrong(std::uint64_t seed, Report* counts = nullptr) {
    return wrong(seed, static_cast<Order>(seed % 3), counts);
  }
  std::string wrong(std::uint64_t seed, Order order, Report* counts = nullptr) {
    auto areas = tensors(seed).given;
    auto values = parameters_of_two(program);
    std::vector<void*> pointers(areas.size()), arguments;
    std::vector<Buffer> buffers;
    for (std::size_t b = 0; b < areas.size(); ++b) {
      pointers[b] = areas[b].begin();
      arguments.push_back(&pointers[b]);
      buffers.push_back({areas[b].begin(), areas[b].bytes, program.buffers[b].written});
    }
    for (auto& value : values) arguments.push_back(value.at);
    Options options;
    options.order = order;
    const auto report = simulated().run(arguments.data(), buffers, options);
    if (counts != nullptr) *counts = report;
    if (!report.clean()) return report.text();
    for (std::size_t b = 0; b < areas.size(); ++b) {
      const auto& expected = tensors(seed).expected[b].lines;
      if (std::memcmp(areas[b].begin(), expected.front().at, areas[b].bytes) == 0) continue;
      std::size_t at = 0;
      while (areas[b].begin()[at] == expected.front().at[at]) ++at;
      return fmt::format("buffer {} differs first at element {}", program.buffers[b].name,
                         static_cast<std::int64_t>(at) / size_of(program.buffers[b].type));
    }
    return {};
  }

 private:
  /// Compiled once for all runs.
  SimulatedKernel& simulated() {
    if (simulated_) return *simulated_;
    Launch to;
    to.source = codegen::portable_prelude(program) + source.text;
    to.kernel = "contraction";
    to.parameter_types = types_of(launch.arguments);
    to.maps = launch.maps;
    to.grid_x = static_cast<unsigned>(launch.tasks);
    to.block = static_cast<unsigned>(launch.threads);
    to.dynamic_shared = static_cast<std::size_t>(launch.dynamic_shared_bytes);
    simulated_ = std::make_shared<SimulatedKernel>(to);
    return *simulated_;
  }

  mutable std::optional<Tensors> tensors_;
  std::shared_ptr<SimulatedKernel> simulated_;
};

}  // namespace ricci::simt
