#include "fuzz/random_registers.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "fuzz/random_tensor.hpp"
#include "kernel/permute/moves.hpp"
#include "kernel/permute/register_stage.hpp"

namespace ricci::fuzz {
namespace {

using kernel::MixedRadixDigit;
using Labels = std::vector<std::pair<int, std::int64_t>>;  // index and count of a digit

/// Mostly powers of two, of which parts are lanes, warps and rounds.
std::vector<std::int64_t> random_tile(Generator& random, const ir::Program& program, std::int64_t points) {
  std::vector<std::int64_t> tile(program.indices.size(), 1);
  std::vector<std::size_t> order(tile.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  for (const auto q : order) {
    const auto most = std::min(program.indices[q].extent, points);
    if (chance(random, 0.2)) {
      tile[q] = chance(random, 0.5) ? most : pick(random, 1, most);
    } else {
      while (tile[q] * 2 <= most && !chance(random, 0.1)) tile[q] *= 2;
    }
    points /= tile[q];
  }
  return tile;
}

Labels random_labels(Generator& random, const std::vector<std::int64_t>& tile) {
  Labels labels;
  for (std::size_t q = 0; q < tile.size(); ++q) {
    auto rest = tile[q];
    for (; rest % 2 == 0 && !chance(random, 0.1); rest /= 2) labels.emplace_back(static_cast<int>(q), 2);
    if (rest > 1) labels.emplace_back(static_cast<int>(q), rest);
  }
  std::shuffle(labels.begin(), labels.end(), random);
  return labels;
}

/// Neighbours of one index are one digit.
std::vector<MixedRadixDigit> digits_of(const Labels& labels, std::size_t indices) {
  std::vector<MixedRadixDigit> digits;
  std::vector<std::int64_t> span(indices, 1);
  for (const auto& [q, count] : labels) {
    auto& step = span[static_cast<std::size_t>(q)];
    if (!digits.empty() && digits.back().index == q) {
      digits.back().count *= count;
    } else {
      digits.push_back({q, count, step});
    }
    step *= count;
  }
  return digits;
}

int random_vector(Generator& random, const ir::Program& program, int buffer, const ir::Affine& offset,
                  const std::vector<MixedRadixDigit>& digits, std::int64_t bytes) {
  if (digits.empty()) return 1;
  const auto& first = digits.front();
  for (int vector = 4; vector > 1; vector /= 2) {
    if (vector * bytes <= 16 && first.count % vector == 0 && !chance(random, 0.2) &&
        ir::vector_access(program, buffer, offset, first.index, vector))
      return vector;
  }
  return 1;
}

}  // namespace

std::optional<RandomRegisters> random_registers(std::uint64_t seed, const ir::Program& program) {
  Generator random(seed);
  const auto& statement = program.statement();
  const auto load = std::find_if(program.nodes.begin(), program.nodes.end(), [&](const ir::Node& node) {
    return node.kind == ir::NodeKind::load && node.source != statement.buffer;
  });
  if (load == program.nodes.end() || program.indices.empty()) return std::nullopt;
  const auto workers = static_cast<int>(kernel::kWarp << pick(random, 0, 3));
  kernel::Moves moves;
  moves.tile = random_tile(random, program, std::int64_t{workers} * pick(random, 1, 8));
  moves.order.resize(moves.tile.size());
  std::iota(moves.order.begin(), moves.order.end(), 0);
  std::shuffle(moves.order.begin(), moves.order.end(), random);

  // Parts of one order in another one: lanes, or what lies beyond them.
  const auto reads = random_labels(random, moves.tile);
  auto writes = reads;
  const auto part = writes.begin() + pick(random, 0, static_cast<std::int64_t>(writes.size()));
  if (chance(random, 0.6)) std::shuffle(writes.begin(), part, random);
  if (chance(random, 0.5)) std::shuffle(part, writes.end(), random);
  const auto bytes =
      std::max(size_of(load->type), size_of(program.buffers[static_cast<std::size_t>(statement.buffer)].type));
  auto& stage = moves.stage.emplace();
  stage.load = static_cast<ir::NodeId>(load - program.nodes.begin());
  stage.memory = kernel::StageMemory::registers;
  stage.mapping = {digits_of(reads, moves.tile.size()), 1, workers};
  stage.mapping.vector = random_vector(random, program, load->source, load->offset, stage.mapping.digits, bytes);
  moves.mapping = {digits_of(writes, moves.tile.size()), 1, workers};
  moves.mapping.vector =
      random_vector(random, program, statement.buffer, statement.offset, moves.mapping.digits, bytes);
  const auto by = kernel::exchange_of(moves).by;
  moves.threads = by == kernel::Exchange::By::memory ? workers : workers * static_cast<int>(pick(random, 1, 2));
  return RandomRegisters{{"registers", kernel::directives_of(moves, program)}, by, workers > kernel::kWarp};
}

}  // namespace ricci::fuzz
