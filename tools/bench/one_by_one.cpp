#include "bench/one_by_one.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/operands.hpp"
#include "ir/types.hpp"
#include "kernel/contraction.hpp"
#include "lower/lower_program.hpp"

namespace ricci::tools {
namespace {

/// The memory that a step's buffers have in the plan.
std::vector<unsigned char*> memory_of(const ir::Sequence& sequence, const ir::Step& step, const Loaded& loaded) {
  std::vector<unsigned char*> places;
  std::size_t input = 0, output = 0;
  for (const auto& storage : sequence.storages) {
    const void* place = nullptr;
    if (storage.role == ir::Role::input) place = loaded.inputs[input++];
    if (storage.role == ir::Role::output) place = loaded.outputs[output++];
    places.push_back(static_cast<unsigned char*>(const_cast<void*>(place)));  // inputs are only read
  }
  std::vector<unsigned char*> all;
  for (const int storage : step.storage) all.push_back(places[static_cast<std::size_t>(storage)]);
  return all;
}

/// A tensor as its axes lie in memory: those that an access moves along.
PeerContraction::Tensor tensor_of(const ir::Program& program, const ir::Affine& offset) {
  PeerContraction::Tensor made;
  for (std::size_t q = 0; q < offset.coefficient.size(); ++q) {
    if (offset.coefficient[q] == 0) continue;
    made.axes += static_cast<char>('a' + q);
    made.extents.push_back(program.indices[q].extent);
    made.strides.push_back(offset.coefficient[q]);
  }
  return made;
}

/// The products of a program, where it is a sum of these that is added to its result; and the terms of all their sums.
struct Products {
  ir::Sequence sequence;
  std::vector<kernel::Contraction> list;
  double terms = 0;

  const ir::Program& program() const { return sequence.steps.front().program; }
};

std::optional<Products> products_of(const Program& program) {
  Products made{ir::lower(program), {}};
  if (made.sequence.steps.size() != 1) return std::nullopt;
  const auto& step = made.program();
  const auto group = kernel::group_of(step);
  if (!group || group->addends.size() != 1 || group->addends.front().negative) return std::nullopt;
  const auto& statement = step.statement();
  const auto& node = [&](ir::NodeId id) -> const ir::Node& { return step.nodes[static_cast<std::size_t>(id)]; };
  const auto& old = node(group->addends.front().node);
  const auto& result = step.buffers[static_cast<std::size_t>(statement.buffer)];
  if (old.kind != ir::NodeKind::load || old.source != statement.buffer || old.offset != statement.offset)
    return std::nullopt;
  made.list = group->products;
  for (const auto& product : made.list) {
    for (const auto& factor : {product.first, product.second}) {
      if (factor.conj || factor.rounded || node(factor.load).type != result.type) return std::nullopt;
    }
    made.terms += static_cast<double>(product.extent(step, kernel::Role::depth));
  }
  return made;
}

/// The furthest that an element of the result is from zero.
double furthest(Bench& bench, const Argument& result, const void* base) {
  constexpr std::int64_t kPiece = 1 << 20;
  const auto bytes = size_of(result.type);
  std::vector<unsigned char> piece(static_cast<std::size_t>(kPiece * bytes));
  double most = 0;
  for (auto from = result.first; from <= result.last; from += kPiece) {
    const auto count = std::min(kPiece, result.last - from + 1);
    bench.fetch(piece.data(), static_cast<const unsigned char*>(base) + from * bytes, count * bytes);
    for (std::int64_t k = 0; k < count; ++k) {
      const auto size = std::abs(element(result.type, piece.data() + k * bytes));
      if (!(size <= most)) most = size;  // not a number: the furthest
    }
  }
  return most;
}

}  // namespace

PeerRun one_by_one(Bench& bench, const Program& program, const Loaded& loaded, ContractionLibrary& library,
                   int threads) {
  const auto products = products_of(program);
  if (!products) return {"one by one", {}, "the program is no sum of products of one type that is added to its result"};
  const auto& step = products->program();
  const auto memory = memory_of(products->sequence, products->sequence.steps.front(), loaded);
  const auto& statement = step.statement();
  const auto& result = loaded.plan.outputs().front();
  const auto at = [&](int buffer, const ir::Affine& offset) {
    return memory[static_cast<std::size_t>(buffer)] +
           offset.constant * size_of(step.buffers[static_cast<std::size_t>(buffer)].type);
  };
  const auto prepared = [&](double sign) {
    PeerRun all;
    std::vector<std::function<void()>> calls;
    for (const auto& product : products->list) {
      const auto& first = step.nodes[static_cast<std::size_t>(product.first.load)];
      const auto& second = step.nodes[static_cast<std::size_t>(product.second.load)];
      const PeerContraction problem{.type = result.type,
                                    .first = tensor_of(step, first.offset),
                                    .second = tensor_of(step, second.offset),
                                    .result = tensor_of(step, statement.offset),
                                    .threads = threads,
                                    .adds = product.negative ? -sign : sign,
                                    .allocate = [&](std::int64_t bytes) { return bench.allocate(bytes); }};
      auto runs = library.prepare(problem, at(statement.buffer, statement.offset), at(first.source, first.offset),
                                  at(second.source, second.offset));
      if (runs.size() != 1) return PeerRun{"one by one", {}, "the library adds no sums of this type to a result"};
      all.name = runs.front().name;
      calls.push_back(std::move(runs.front().run));
    }
    all.run = [calls = std::move(calls)] {
      for (const auto& call : calls) call();
    };
    return all;
  };
  // What the plan computes, less what the library does, is zero but for rounding.
  const auto opposite = prepared(-1);
  if (!opposite.run) return opposite;
  const std::vector<unsigned char> zeros(1 << 20);
  auto* const base = static_cast<unsigned char*>(loaded.outputs.front());
  const auto end = (result.last + 1) * size_of(result.type);
  for (auto from = result.first * size_of(result.type); from < end; from += std::ssize(zeros))
    bench.upload(base + from, zeros.data(), std::min<std::int64_t>(std::ssize(zeros), end - from));
  loaded();
  opposite.run();
  constexpr double kLargestFactor = 1.5 * 1.5;  // of two values of `value_at`
  const double bound = 2 * (2 * products->terms + 4) * unit_roundoff(result.type) * products->terms * kLargestFactor *
                       (is_complex(result.type) ? 4 : 1);
  const double far = furthest(bench, result, base);
  if (!(far <= bound)) return {opposite.name, {}, fmt::format("an element differs by {}", far)};
  return prepared(1);
}

}  // namespace ricci::tools
