// Programs over tuples of blocks: dealt to ranks beforehand by their arithmetic, their numbers added up in one order.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>

#include "dist/schedule.hpp"
#include "ricci/error.hpp"
#include "ricci/program.hpp"
#include "ricci/runtime.hpp"

namespace ricci::inline v1::dist {

struct BlockPlan::Sums {
  std::shared_ptr<Engine::Impl> engine;
  std::shared_ptr<const Schedule> schedule;
  std::vector<double> weights;  ///< of the tuples
};

namespace {

/// Names that take tiles in turns, and how each is held against the one before it in its chain.
struct Tuples {
  enum class Rule { free, at_most, below };  ///< where a chain begins; "x >= name"; "x > name"
  std::vector<std::string> names;
  std::vector<Rule> rules;

  std::size_t find(const std::string& name) const {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  }
};

Tuples parse_tuples(std::string_view text) {
  Tuples tuples;
  auto rule = Tuples::Rule::free;
  std::size_t at = 0;
  const auto refuse = [&](const std::string& what) {
    throw SpecError(fmt::format("{}\n  {}\n  {:>{}}", what, text, "^", at + 1),
                    {1, static_cast<int>(at) + 1, static_cast<std::int64_t>(at)});
  };
  const auto skip_blanks = [&] {
    while (at < text.size() && text[at] == ' ') ++at;
  };
  while (true) {
    skip_blanks();
    const auto end =
        std::find_if(text.begin() + at, text.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; });
    std::string name(text.begin() + at, end);
    if (name.empty()) refuse("tuples of blocks: a name is missing, as in \"a >= b >= c, i\"");
    if (tuples.find(name) < tuples.names.size()) refuse(fmt::format("tuples of blocks: {} is there twice", name));
    tuples.names.push_back(std::move(name));
    tuples.rules.push_back(rule);
    at = static_cast<std::size_t>(end - text.begin());
    skip_blanks();
    if (at == text.size()) return tuples;
    const auto rest = text.substr(at);
    rule = rest.starts_with(">=") ? Tuples::Rule::at_most : rest[0] == '>' ? Tuples::Rule::below : Tuples::Rule::free;
    if (rule == Tuples::Rule::free && rest[0] != ',') refuse("tuples of blocks: '>=', '>' or ',' is missing");
    at += rule == Tuples::Rule::at_most ? 2 : 1;
  }
}

/// Different orders of each chain's blocks; 0 for a tuple that is left out.
double weight_of(const Tuples& tuples, const Indices& blocks) {
  double weight = 1, in_chain = 0, equal = 0;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const auto rule = tuples.rules[k];
    if (rule == Tuples::Rule::free) {
      in_chain = equal = 1;
      continue;
    }
    if (blocks[k] > blocks[k - 1] || (rule == Tuples::Rule::below && blocks[k] == blocks[k - 1])) return 0;
    equal = blocks[k] == blocks[k - 1] ? equal + 1 : 1;
    weight *= ++in_chain / equal;  // k! / (n1! n2! ...), a factor at a time
  }
  return weight;
}

/// An input of the program: a tensor, and which name of the tuples each of its axes is, none of them where it is whole.
struct Input {
  std::string name;
  std::shared_ptr<Tensor::Impl> tensor;
  std::vector<std::optional<std::size_t>> names;

  std::int64_t tile(const Indices& blocks) const {
    Indices index;
    for (const auto& one : names) index.push_back(one ? blocks[*one] : 0);
    return number_of(index, tensor->counts);
  }
};

struct BlockProblem {
  std::string text;  ///< of the program
  Tuples tuples;
  std::vector<Input> inputs;  ///< in the program's order
  std::size_t outputs = 0;
  Indices counts;  ///< of blocks, by name
};

/// The program with the extents of a tuple's blocks.
Program program_for(const BlockProblem& problem, const Indices& blocks) {
  auto program = Program::parse(problem.text);
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const auto& input : problem.inputs) shapes[input.name] = input.tensor->tile(input.tile(blocks)).extents;
  program.bind(shapes);
  return program;
}

Input input_of(const TensorInfo& info, const std::vector<BlockInput>& given, const Tuples& tuples) {
  const auto found = std::find_if(given.begin(), given.end(), [&](const auto& one) { return one.name == info.name; });
  if (found == given.end()) throw ShapeError(fmt::format("the program's input {} has no tensor", info.name));
  Input input{info.name, found->tensor.share(), {}};
  std::istringstream words(found->indices);
  for (std::string word; words >> word;) {
    const auto name = tuples.find(word);
    input.names.push_back(name < tuples.names.size() ? std::optional(name) : std::nullopt);
  }
  const auto& tensor = *input.tensor;
  if (input.names.size() != tensor.extents.size() || info.extents.size() != tensor.extents.size()) {
    throw ShapeError(fmt::format("input {} has {} axes in the program, {} names and {} axes in its tensor", info.name,
                                 info.extents.size(), input.names.size(), tensor.extents.size()));
  }
  if (info.type != tensor.type) {
    throw ShapeError(
        fmt::format("input {} is {} in the program, {} in its tensor", info.name, name(info.type), name(tensor.type)));
  }
  for (std::size_t axis = 0; axis < input.names.size(); ++axis) {
    if (!input.names[axis] && tensor.counts[axis] > 1) {
      throw ShapeError(fmt::format("input {}: axis {} has {} tiles, and its name is not of the tuples", info.name, axis,
                                   tensor.counts[axis]));
    }
  }
  return input;
}

BlockProblem block_problem_of(const Program& program, std::string_view text, const std::vector<BlockInput>& given,
                              const Engine::Impl* engine) {
  BlockProblem problem{program.print(), parse_tuples(text), {}, 0, {}};
  if (!program.params().empty())
    throw PlanError("a program over blocks has no parameters: there is no call to give them");
  for (const auto& info : program.tensors()) {
    if (info.role == TensorRole::input) problem.inputs.push_back(input_of(info, given, problem.tuples));
    if (info.role == TensorRole::inout)
      throw PlanError(fmt::format("a program over blocks keeps nothing: {}", info.name));
    if (info.role != TensorRole::output) continue;
    ++problem.outputs;
    if (!info.extents.empty() || info.type != DType::f64) {
      throw ShapeError(fmt::format("output {} is to be one number in f64, as E() : f64 is", info.name));
    }
  }
  if (given.size() != problem.inputs.size()) throw ShapeError("a tensor is given for what is no input of the program");

  // A name has the same tiles everywhere, and so have the names of a chain.
  const auto& names = problem.tuples.names;
  std::vector<std::pair<std::int64_t, std::int64_t>> cuts(names.size());
  for (const auto& input : problem.inputs) {
    if (input.tensor->engine.get() != engine) throw PlanError("the tensors are of two engines");
    for (std::size_t axis = 0; axis < input.names.size(); ++axis) {
      if (!input.names[axis]) continue;
      auto& cut = cuts[*input.names[axis]];
      const std::pair here{input.tensor->extents[axis], input.tensor->tiles[axis]};
      if (cut.second > 0 && cut != here) {
        throw ShapeError(fmt::format("{} is {} in tiles of {}, and {} in tiles of {} in input {}",
                                     names[*input.names[axis]], cut.first, cut.second, here.first, here.second,
                                     input.name));
      }
      cut = here;
    }
  }
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (cuts[k].second == 0) throw SpecError(fmt::format("tuples of blocks: no input has an axis {}", names[k]));
    if (problem.tuples.rules[k] != Tuples::Rule::free && cuts[k] != cuts[k - 1]) {
      throw ShapeError(
          fmt::format("{} and {} have different tiles, so that their blocks have no order", names[k - 1], names[k]));
    }
    problem.counts.push_back((cuts[k].first + cuts[k].second - 1) / cuts[k].second);
  }
  return problem;
}

/// A tuple to compute: its blocks, its class of shapes and what it takes.
struct Item {
  std::size_t number;
  Indices blocks;
  int codelet;
  double flops;
};

}  // namespace

BlockPlan Engine::plan_blocks(const Program& program, std::string_view tuples, const std::vector<BlockInput>& inputs) {
  std::optional<BlockProblem> checked;
  impl_->together([&] { checked = block_problem_of(program, tuples, inputs, impl_.get()); });
  const BlockProblem& problem = *checked;
  const auto ranks = static_cast<std::size_t>(impl_->size);

  Builder builder(*impl_);
  std::vector<Item> items;
  std::vector<double> weights;
  std::map<Indices, double> flops;  // by the extents of blocks, as codelets are
  impl_->together([&] {
    for_each_index(problem.counts, [&](const Indices& blocks) {
      const double weight = weight_of(problem.tuples, blocks);
      if (weight == 0) return;
      Indices key;
      for (const auto& input : problem.inputs) {
        const auto extents = input.tensor->tile(input.tile(blocks)).extents;
        key.insert(key.end(), extents.begin(), extents.end());
      }
      const auto [known, added] = flops.try_emplace(key, 0);
      if (added) known->second = std::max(1.0, program_for(problem, blocks).flops().performed);
      const int codelet = builder.codelet(key, [&problem, blocks] {
        PlanOptions how;
        how.threads = 1;
        TilePlan tile{Runtime::global().plan_program(program_for(problem, blocks), how), true, true};
        const auto reads = tile.plan.inputs();
        const bool same = std::equal(reads.begin(), reads.end(), problem.inputs.begin(), problem.inputs.end(),
                                     [](const Argument& one, const Input& input) { return one.name == input.name; });
        if (!same) throw PlanError("a program over blocks reads each of its inputs, as one row-major array");
        return tile;
      });
      items.push_back({items.size(), blocks, codelet, known->second});
      weights.push_back(weight);
    });
  });
  std::stable_sort(items.begin(), items.end(), [](const Item& x, const Item& y) { return x.flops > y.flops; });

  std::vector<std::shared_ptr<Tensor::Impl>> tensors;
  std::vector<Tensor> handles;
  for (const auto& input : problem.inputs) {
    tensors.push_back(input.tensor);
    handles.emplace_back(input.tensor);
  }
  Met met(tensors, impl_->size);
  std::vector<double> load(ranks, 0);
  auto& results = builder.schedule()->results;
  results.resize(items.size() * problem.outputs);
  for (const auto& item : items) {
    // Of the ranks that this item would not put behind the one with the least to do, the one that misses least.
    const double least = *std::min_element(load.begin(), load.end());
    std::size_t best = ranks;
    std::int64_t best_missing = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (load[rank] > least + 0.5 * item.flops) continue;
      std::int64_t missing = 0;
      for (std::size_t k = 0; k < tensors.size(); ++k) {
        const auto tile = problem.inputs[k].tile(item.blocks);
        const bool there = tensors[k]->owners[static_cast<std::size_t>(tile)] == static_cast<int>(rank) ||
                           met.has(k, tile, static_cast<int>(rank));
        if (!there) missing += tensors[k]->tile_bytes(tile);
      }
      if (best == ranks || missing < best_missing || (missing == best_missing && load[rank] < load[best])) {
        best = rank;
        best_missing = missing;
      }
    }
    const int rank = static_cast<int>(best);
    load[best] += item.flops;
    for (std::size_t k = 0; k < tensors.size(); ++k) {
      auto& tensor = *tensors[k];
      const auto tile = problem.inputs[k].tile(item.blocks);
      const int owner = tensor.owners[static_cast<std::size_t>(tile)];
      if (!met.first(k, tile, rank) || owner == rank) continue;
      builder.transfer(owner, rank, tensor.tile_bytes(tile), tensor.first_tag + tile,
                       [&] { return tensor.handle(tile); });
    }
    builder.run(rank, item.codelet, [&](Action& action) {
      for (std::size_t k = 0; k < tensors.size(); ++k) {
        action.buffers.push_back(tensors[k]->handle(problem.inputs[k].tile(item.blocks)));
      }
      action.arguments.results = &results[item.number * problem.outputs];
    });
  }
  builder.info().flops = std::accumulate(load.begin(), load.end(), 0.0);
  const double most = *std::max_element(load.begin(), load.end());
  auto head =
      fmt::format("{} for blocks {} over {} ranks\nshares       the largest is {:.4f} of the mean\n", program.name(),
                  tuples, ranks, most > 0 ? most * static_cast<double>(ranks) / builder.info().flops : 1);
  auto plan = make_plan(impl_, builder, std::move(handles), std::move(head));
  return {std::move(plan), std::make_shared<BlockPlan::Sums>(impl_, builder.schedule(), std::move(weights))};
}

std::vector<double> BlockPlan::reduce() const {
  (*this)();
  sums_->engine->wait();
  // What other ranks compute is 0 here, so that this gathers.
  auto all = sums_->schedule->results;
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, sums_->engine->control);
  const auto& weights = sums_->weights;
  std::vector<double> sums(weights.empty() ? 0 : all.size() / weights.size(), 0);
  for (std::size_t tuple = 0; tuple < weights.size(); ++tuple) {
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += weights[tuple] * all[tuple * sums.size() + k];
  }
  return sums;
}

}  // namespace ricci::inline v1::dist
