#include "ir/passes/read_once.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "ir/passes/index_uses.hpp"
#include "ir/passes/step_piece.hpp"

namespace ricci::ir {
namespace {

/// A step with what it reads of one buffer computed there.
class Joined {
 public:
  Joined(const Step& writer, const Step& reader, int storage) : writer_(writer), reader_(reader), storage_(storage) {
    auto& made = builder_.program;
    made.indices = reader.program.indices;
    made.exact = reader.program.exact;
    made.precision = reader.program.precision;
    reads_ = places(reader);
    writes_ = places(writer);
  }

  std::optional<Step> run() {
    const auto& program = reader_.program;
    std::vector<NodeId> as(program.nodes.size());
    const auto same = [](const Affine& affine) { return affine; };
    for (std::size_t id = 0; id < as.size(); ++id) {
      const auto& node = program.nodes[id];
      const bool here = node.kind == NodeKind::load && reader_.storage[at(node.source)] == storage_;
      as[id] = here ? written(node.offset) : copy(node, reads_, as, same, [](int q) { return q; });
      if (as[id] < 0) return std::nullopt;
    }
    for (const auto& statement : program.statements)
      builder_.store(reads_.buffer[at(statement.buffer)], statement.offset, as[at(statement.value)], statement.step);
    made_.program = builder_.finish();
    return std::move(made_);
  }

 private:
  /// Numbers in the new step.
  struct Places {
    std::vector<int> buffer, param;
  };

  Places places(const Step& step) {
    Places places;
    auto& made = builder_.program;
    for (std::size_t k = 0; k < step.storage.size(); ++k) {
      const auto& buffer = step.program.buffers[k];
      auto place = std::find(made_.storage.begin(), made_.storage.end(), step.storage[k]);
      places.buffer.push_back(static_cast<int>(place - made_.storage.begin()));
      if (step.storage[k] == storage_) continue;
      if (place == made_.storage.end()) {
        made_.storage.push_back(step.storage[k]);
        made.buffers.push_back(buffer);
        auto& name = made.buffers.back().name;
        const auto others = std::count_if(made.buffers.begin(), made.buffers.end() - 1,
                                          [&](const Buffer& other) { return other.name == name; });
        if (others > 0) name += "_of_" + std::to_string(made.buffers.size());
        continue;
      }
      auto& known = made.buffers[at(places.buffer.back())];
      known.first = std::min(known.first, buffer.first);
      known.last = std::max(known.last, buffer.last);
      known.alignment = std::max(known.alignment, buffer.alignment);
      known.written = known.written || buffer.written;
    }
    for (std::size_t k = 0; k < step.param.size(); ++k) {
      const auto place = std::find(made_.param.begin(), made_.param.end(), step.param[k]);
      places.param.push_back(static_cast<int>(place - made_.param.begin()));
      if (place != made_.param.end()) continue;
      made_.param.push_back(step.param[k]);
      made.params.push_back(step.program.params[k]);
    }
    return places;
  }

  /// A node of either step over what its operands have become.
  template <class Moved, class Index>
  NodeId copy(const Node& node, const Places& places, const std::vector<NodeId>& as, const Moved& moved,
              const Index& index) {
    std::array<NodeId, 3> operand = {-1, -1, -1};
    for (int k = 0; k < operand_count(node); ++k) operand[at(k)] = as[at(node.operand[k])];
    auto like = node;
    if (node.kind == NodeKind::load) like.source = places.buffer[at(node.source)], like.offset = moved(node.offset);
    if (node.kind == NodeKind::param) like.source = places.param[at(node.source)];
    if (node.kind == NodeKind::index) like.source = index(node.source);
    for (auto& q : like.over) q = index(q);
    return builder_.like(like, operand);
  }

  /// The writer's value of that element; -1 where the reader goes through the result otherwise than the writer.
  NodeId written(const Affine& read) {
    const auto& program = writer_.program;
    auto indices = matched(program, reader_.program, read);
    if (!indices) return -1;
    auto& own = own_[*indices];
    if (own.empty()) {
      for (std::size_t q = 0; q < indices->size(); ++q) {
        if ((*indices)[q] >= 0) continue;
        (*indices)[q] = static_cast<int>(builder_.program.indices.size());
        builder_.program.indices.push_back(program.indices[q]);
        builder_.program.indices.back().name += "_" + std::to_string(builder_.program.indices.size());
      }
      const auto moved = [&](const Affine& affine) {
        Affine to;
        to.constant = affine.constant;
        to.coefficient.resize(builder_.program.indices.size());
        for (std::size_t q = 0; q < affine.coefficient.size(); ++q) {
          if (affine.coefficient[q] != 0) to.coefficient[at((*indices)[q])] += affine.coefficient[q];
        }
        return to;
      };
      for (const auto& node : program.nodes)
        own.push_back(copy(node, writes_, own, moved, [&](int q) { return (*indices)[at(q)]; }));
    }
    return own[at(program.statement().value)];
  }

  const Step& writer_;
  const Step& reader_;
  int storage_;
  Builder builder_;
  Step made_;
  Places reads_, writes_;
  std::map<std::vector<int>, std::vector<NodeId>> own_;  ///< the writer's nodes, by the reader's indices
};

bool has_storage(const Step& step, int storage) {
  return std::find(step.storage.begin(), step.storage.end(), storage) != step.storage.end();
}

bool writes(const Step& step, int storage) {
  return std::any_of(step.program.statements.begin(), step.program.statements.end(),
                     [&](const Statement& statement) { return step.storage[at(statement.buffer)] == storage; });
}

/// The step before `reader` that alone writes a storage which `reader` alone reads, and whose one statement can be
/// computed there as well; -1: there is none.
int writer_of(const Sequence& sequence, std::size_t reader, int storage) {
  if (sequence.storages[at(storage)].role != Role::workspace || writes(sequence.steps[reader], storage)) return -1;
  int found = -1;
  for (std::size_t k = 0; k < sequence.steps.size(); ++k) {
    if (k == reader || !has_storage(sequence.steps[k], storage)) continue;
    if (found >= 0 || k > reader) return -1;
    found = static_cast<int>(k);
  }
  if (found < 0) return -1;
  const auto& step = sequence.steps[at(found)];
  const auto& program = step.program;
  if (program.statements.size() != 1 || !writes(step, storage)) return -1;
  const auto kind = program.nodes[at(program.statement().value)].kind;
  if (kind == NodeKind::guard || kind == NodeKind::scan || kind == NodeKind::compact) return -1;
  // What it reads is the same as late as the reader runs, which must not write it either.
  for (const auto& node : program.nodes) {
    if (node.kind != NodeKind::load) continue;
    const int read = step.storage[at(node.source)];
    if (read == storage) return -1;
    for (auto k = at(found) + 1; k <= reader; ++k) {
      if (writes(sequence.steps[k], read)) return -1;
    }
  }
  return found;
}

}  // namespace

std::optional<Sequence> computed_where_read(const Sequence& sequence, std::size_t step,
                                            const std::function<bool(const Program&)>& allowed) {
  std::optional<Sequence> made;
  for (bool more = true; more;) {
    more = false;
    const auto& now = made ? *made : sequence;
    for (const int storage : now.steps[step].storage) {
      const int writer = writer_of(now, step, storage);
      if (writer < 0) continue;
      const auto& from = now.steps[at(writer)];
      const auto& to = now.steps[step];
      if (from.program.exact != to.program.exact || from.program.precision != to.program.precision) continue;
      auto joined = Joined(from, to, storage).run();
      if (!joined || !allowed(joined->program)) continue;
      if (!made) made = sequence;
      made->steps[step] = std::move(*joined);
      made->steps.erase(made->steps.begin() + writer);
      --step;
      more = true;
      break;
    }
  }
  return made;
}

}  // namespace ricci::ir
