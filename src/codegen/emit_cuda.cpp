// CUDA C++ from a program and a schedule.
//
//   signature, shared memory -> tile number -> tile origin, pointers advanced to it -> stage (read, barrier) ->
//   statement
//
// The same steps serve every schedule: without a stage the statement loads its operands itself.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "codegen/called_functions.hpp"
#include "codegen/compute.hpp"
#include "codegen/expression.hpp"
#include "codegen/prelude.hpp"
#include "codegen/source.hpp"
#include "codegen/thread_mapping.hpp"
#include "codegen/warp_exchange.hpp"
#include "codegen/writer.hpp"
#include "ricci/error.hpp"

namespace ricci::codegen {
namespace {

using ir::Affine;
using ir::NodeId;
using ir::Program;
using ir::Schedule;
using ir::ThreadMapping;

constexpr std::int64_t kStaticSharedBytes = 48 * 1024;
constexpr std::int64_t kNarrow = std::int64_t{1} << 31;

std::string vector_type(DType type, int vector) { return fmt::format("vec<{}, {}>", c_type(type), vector); }

/// Accesses wider than 8 bytes must be written as vector types, or the compiler splits them.
bool is_vector(DType type, int vector) { return vector > 1 || size_of(type) > 8; }

class CudaEmitter {
 public:
  CudaEmitter(const Program& program, const Schedule& schedule) : program_(program), schedule_(schedule) {
    for (const auto& buffer : program.buffers) wide_ = wide_ || buffer.last >= kNarrow || -buffer.first >= kNarrow;
  }

  std::string emit(const std::string& kernel) {
    emit_tables();
    emit_signature(kernel);
    if (schedule_.computes()) {
      emit_compute_cuda(w_, program_, schedule_, wide_);
      w_.close();
      return w_.take();
    }
    emit_tile_number();
    emit_origins();
    if (schedule_.stage) {
      if (schedule_.stage->memory == ir::StageMemory::warp) {
        emit_warp_exchange();
      } else {
        emit_stage();
        emit_statement();
      }
    } else {
      emit_statement();
    }
    w_.close();
    return w_.take();
  }

  std::vector<std::string> parameter_types() const {
    std::vector<std::string> types;
    for (const auto& buffer : program_.buffers) {
      types.push_back(fmt::format("{}{}*", buffer.written ? "" : "const ", c_type(buffer.type)));
    }
    for (const auto& param : program_.params) types.emplace_back(c_type(param.type));
    return types;
  }

 private:
  const ir::Node& node(NodeId id) const { return program_.nodes[static_cast<std::size_t>(id)]; }
  const ir::Buffer& buffer(int k) const { return program_.buffers[static_cast<std::size_t>(k)]; }
  std::int64_t tile(int q) const { return schedule_.tile[static_cast<std::size_t>(q)]; }
  std::int64_t extent(int q) const { return program_.indices[static_cast<std::size_t>(q)].extent; }
  std::int64_t tiles_along(int q) const { return schedule_.tiles_along(program_, q); }

  /// Indices whose tiles are numbered, fastest first.
  std::vector<int> outer_indices() const {
    std::vector<int> outer;
    for (const auto q : schedule_.order) {
      if (tiles_along(q) > 1) outer.push_back(q);
    }
    return outer;
  }

  bool shuffles_origin() const { return schedule_.origin == ir::Origin::shuffle && !outer_indices().empty(); }

  void emit_signature(const std::string& kernel) {
    std::vector<std::string> parameters;
    const auto types = parameter_types();
    const auto chosen = chosen_beside_written(program_);
    for (std::size_t k = 0; k < types.size(); ++k) {
      const auto n = program_.buffers.size();
      parameters.push_back(
          k < n ? fmt::format("{}{} {}", types[k], chosen[k] ? "" : " __restrict__", buffer(static_cast<int>(k)).name)
                : fmt::format("{} {}", types[k], program_.params[k - n].name));
    }
    w_.line("extern \"C\" __global__ void __launch_bounds__({})", schedule_.threads);
    w_.line("{}({})", kernel, fmt::join(parameters, ", "));
    w_.open("{{");
    const auto shared = schedule_.shared_bytes(program_);
    if (shared == 0) return;
    const auto type = c_type(node(schedule_.stage->load).type);
    if (shared > kStaticSharedBytes) {
      w_.line("extern __shared__ __align__(16) {} tile[];", type);
    } else {
      w_.line("static __shared__ __align__(16) {} tile[{}];", type, schedule_.stage->layout.elements);
    }
  }

  /// t: the worker; block: the tile number. A warp without a tile returns at once; such kernels have no barriers.
  void emit_tile_number() {
    const int workers = schedule_.mapping.workers;
    const int tiles_per_block = schedule_.tiles_per_block();
    if (tiles_per_block == 1) {
      w_.line("const int t = threadIdx.x;");
      if (!outer_indices().empty()) w_.line("const int block = blockIdx.x;");
      return;
    }
    w_.line("const int t = threadIdx.x % {};", workers);
    w_.line("const int block = blockIdx.x * {} + threadIdx.x / {};", tiles_per_block, workers);
    if (schedule_.tiles(program_) % tiles_per_block != 0)
      w_.line("if (block >= {}) return;", schedule_.tiles(program_));
  }

  void emit_tables() {
    if (!shuffles_origin()) return;
    std::vector<std::int64_t> divisor, count;
    std::int64_t below = 1;
    const auto outer = outer_indices();
    for (const auto q : outer) {
      divisor.push_back(below);
      count.push_back(tiles_along(q));
      below *= tiles_along(q);
    }
    const auto table = [&](const std::string& name, const char* type, const std::vector<std::int64_t>& values) {
      w_.line("static __device__ const {} {}[{}] = {{{}}};", type, name, values.size(), fmt::join(values, ", "));
    };
    w_.line("// per tiled axis: divisor of the tile number, number of tiles, stride of a tile in each buffer");
    table("kDivisor", "int", divisor);
    table("kTiles", "int", count);
    for_each_buffer([&](int b, const Affine& affine) {
      std::vector<std::int64_t> steps;
      for (const auto q : outer) steps.push_back(affine.coefficient[static_cast<std::size_t>(q)] * tile(q));
      table("kStep" + buffer(b).name, wide_ ? "i64" : "int", steps);
    });
    w_.blank();
  }

  /// f(buffer, affine) for each buffer, with the affine by which it is addressed.
  template <class F>
  void for_each_buffer(F f) const {
    std::vector<bool> seen(program_.buffers.size());
    const auto& statement = program_.statement();
    for (const auto id : loads_of(program_, statement.value)) {
      const auto b = static_cast<std::size_t>(node(id).source);
      if (!seen[b] && node(id).source != statement.buffer) f(node(id).source, node(id).offset);
      seen[b] = true;
    }
    f(statement.buffer, statement.offset);
  }

  void emit_origins() {
    const auto outer = outer_indices();
    std::int64_t below = 1;
    const bool shuffled = shuffles_origin();
    const auto total = schedule_.tiles(program_);
    for (const auto q : outer) {
      const auto count = tiles_along(q);
      std::string number = below == 1 ? "block" : fmt::format("block / {}", below);
      if (below * count != total) number += fmt::format(" % {}", count);
      const bool ragged = extent(q) % tile(q) != 0 || schedule_.skew.on();
      if (!shuffled || ragged) {
        const auto name = origin_name(program_, schedule_, q);
        // A single axis may be longer than an int: a copy of more than 2^31 elements.
        const bool long_axis = extent(q) >= kNarrow;
        const auto step = fmt::format("{}{}", tile(q), long_axis ? "LL" : "");
        w_.line("const {} {} = {};", long_axis ? "i64" : "int", name,
                tile(q) == 1        ? number
                : number == "block" ? fmt::format("{} * block", step)
                                    : fmt::format("{} * ({})", step, number));
      }
      below *= count;
    }
    if (shuffled) {
      emit_shuffled_origin(static_cast<int>(outer.size()));
      return;
    }
    for_each_buffer([&](int b, const Affine& affine) {
      const auto text = affine_text(
          affine.coefficient, affine.constant, [&](int q) { return origin_name(program_, schedule_, q); }, wide_);
      if (text != "0") w_.line("{} += {};", buffer(b).name, text);
    });
  }

  void emit_shuffled_origin(int axes) {
    const auto* type = wide_ ? "i64" : "int";
    w_.blank();
    w_.line("// origin: lane k holds axis k, a butterfly adds them up");
    w_.line("const int lane = threadIdx.x % 32;");
    std::vector<std::string> moved;
    for_each_buffer([&](int b, const Affine&) { moved.push_back(buffer(b).name); });
    for (const auto& name : moved) w_.line("{} step{} = 0;", type, name);
    w_.open("if (lane < {}) {{", axes);
    w_.line("const int number = block / kDivisor[lane] % kTiles[lane];");
    for (const auto& name : moved) w_.line("step{} = number * kStep{}[lane];", name, name);
    w_.close();
    w_.line("#pragma unroll");
    w_.open("for (int mask = 16; mask > 0; mask /= 2) {{");
    for (const auto& name : moved) w_.line("step{} += shuffle_xor(step{}, mask);", name, name);
    w_.close();
    for_each_buffer([&](int b, const Affine& affine) {
      w_.line("{} += step{}{};", buffer(b).name, buffer(b).name,
              affine.constant == 0 ? "" : fmt::format(" + {}", affine.constant));
    });
  }

  /// Offset of a tile point from the tile's origin.
  std::string inner_offset(const Affine& affine, const ThreadCoordinates& mapping) const {
    std::int64_t reach = 0;
    for (std::size_t q = 0; q < affine.coefficient.size(); ++q) {
      reach += std::abs(affine.coefficient[q]) * (schedule_.tile[q] - 1);
    }
    return affine_text(affine.coefficient, 0, [&](int q) { return mapping.inner(q); }, reach >= kNarrow);
  }

  /// The shared-memory address of a tile point, plus the text `more`.
  std::string shared_address(const ThreadCoordinates& mapping, const std::string& more = {}) const {
    const auto& layout = schedule_.stage->layout;
    const auto linear = affine_text(layout.stride, lead(), [&](int q) { return mapping.inner(q); }) + more;
    if (layout.mask == 0) return linear;
    return fmt::format("swizzle<{}, {}, {}>({})", layout.shift, layout.mask, layout.unit, linear);
  }

  /// Elements staged before the tile's origin: a skewed tile is read from further back.
  std::int64_t lead() const {
    const auto& skew = schedule_.skew;
    return skew.on() ? schedule_.stage->layout.stride[static_cast<std::size_t>(skew.index)] * (skew.elements - 1) : 0;
  }

  ThreadCoordinates stage_coordinates() const {
    return {program_, schedule_, schedule_.stage->mapping, fmt::format("{}", schedule_.skew.elements - 1), {}};
  }

  /// The statement's coordinates; in a skewed schedule with the row's phase, its first offset modulo the skew.
  ThreadCoordinates statement_coordinates() const {
    const auto& skew = schedule_.skew;
    if (!skew.on()) return {program_, schedule_, schedule_.mapping};
    const auto declare = [this](Writer& w) {
      const auto mask = schedule_.skew.elements - 1;
      auto reduced = program_.statement().offset.coefficient;
      reduced[static_cast<std::size_t>(schedule_.skew.index)] = 0;
      for (auto& coefficient : reduced) coefficient &= mask;  // two's complement: right for negative strides too
      const auto inner = affine_text(reduced, program_.statement().offset.constant & mask, [&](int q) {
        return tile(q) == 1 ? std::string() : program_.indices[static_cast<std::size_t>(q)].name;
      });
      const auto outer = affine_text(reduced, 0, [&](int q) { return origin_name(program_, schedule_, q); });
      w.line("const int phase = ({}{}) & {};", inner, outer == "0" ? "" : " + " + outer, mask);
    };
    return {program_, schedule_, schedule_.mapping, "phase", declare};
  }

  std::string first_name(const ThreadMapping& mapping) const {
    return mapping.digits.empty() ? std::string()
                                  : program_.indices[static_cast<std::size_t>(mapping.digits[0].index)].name;
  }

  /// Opens the loop over rounds (or a plain block for one round).
  void open_rounds(std::int64_t rounds) {
    if (rounds > 1) {
      w_.line("#pragma unroll");
      w_.open("for (int u = 0; u < {}; ++u) {{", rounds);
    } else {
      w_.open("{{");
    }
  }

  void open_guard(const std::string& guard) {
    if (!guard.empty()) w_.open("if ({}) {{", guard);
  }
  void close_guard(const std::string& guard) {
    if (!guard.empty()) w_.close();
  }

  /// Loads all elements of this worker into kept[], before any of them is used.
  void emit_kept_loads(NodeId load, const ThreadMapping& mapping, const ThreadCoordinates& visit) {
    const auto type = node(load).type;
    const auto kept = is_vector(type, mapping.vector) ? vector_type(type, mapping.vector) : std::string(c_type(type));
    const auto rounds = visit.rounds();
    const bool rectangles = mapping.rows > 1;
    w_.line("{} kept[{}]{};", kept, rounds, rectangles ? fmt::format("[{}]", mapping.rows) : "");
    open_rounds(rounds);
    visit.declare_inner(w_);
    const auto guard = visit.guard();
    open_guard(guard);
    const auto offset = inner_offset(node(load).offset, visit);
    const auto& name = buffer(node(load).source).name;
    const auto* slot = rounds > 1 ? "u" : "0";
    if (rectangles) {
      const auto row = node(load).offset.coefficient[static_cast<std::size_t>(mapping.digits[1].index)];
      w_.line("#pragma unroll");
      w_.line("for (int r = 0; r < {}; ++r) kept[{}][r] = load<{}>({} + {} + {} * r);", mapping.rows, slot, kept, name,
              offset, row);
    } else if (is_vector(type, mapping.vector)) {
      w_.line("kept[{}] = load<{}>({} + {});", slot, kept, name, offset);
    } else {
      w_.line("kept[{}] = {}[{}];", slot, name, offset);
    }
    close_guard(guard);
    w_.close();
  }

  void emit_stage() {
    const auto& stage = *schedule_.stage;
    const ThreadCoordinates visit = stage_coordinates();
    w_.blank();
    w_.line("// read {} along {}", buffer(node(stage.load).source).name, first_name(stage.mapping));
    w_.open("{{");
    visit.declare_outer(w_);
    emit_kept_loads(stage.load, stage.mapping, visit);
    open_rounds(visit.rounds());
    visit.declare_inner(w_);
    const auto guard = visit.guard();
    open_guard(guard);
    const auto* slot = visit.rounds() > 1 ? "u" : "0";
    const int vector = stage.mapping.vector;
    const bool vector_element = is_vector(node(stage.load).type, vector);
    if (stage.mapping.rows > 1) {
      emit_transposed_stores(visit, fmt::format("kept[{}]", slot));
    } else if (!vector_element) {
      w_.line("tile[{}] = kept[{}];", shared_address(visit), slot);
    } else if (ir::keeps_vectors(schedule_, stage.mapping)) {
      w_.line("store(tile + {}, kept[{}]);", shared_address(visit), slot);
    } else {
      emit_shared_elements(stage.mapping, visit, fmt::format("kept[{}].at[v]", slot), true);
    }
    close_guard(guard);
    w_.close();
    w_.close();
    w_.line("__syncthreads();");
  }

  /// Stores the columns of a rectangle in kept[], each in one access.
  void emit_transposed_stores(const ThreadCoordinates& visit, const std::string& kept) {
    const auto& mapping = schedule_.stage->mapping;
    const auto step = schedule_.stage->layout.stride[static_cast<std::size_t>(mapping.digits[0].index)];
    w_.line("#pragma unroll");
    w_.open("for (int v = 0; v < {}; ++v) {{", mapping.vector);
    w_.line("{} column;", vector_type(node(schedule_.stage->load).type, mapping.rows));
    w_.line("#pragma unroll");
    w_.line("for (int r = 0; r < {}; ++r) column.at[r] = {}[r].at[v];", mapping.rows, kept);
    w_.line("store(tile + {}, column);", shared_address(visit, fmt::format(" + {} * v", step)));
    w_.close();
  }

  /// One shared element per v: `element` to or from the tile, `vector` steps along the mapping's first index.
  void emit_shared_elements(const ThreadMapping& mapping, const ThreadCoordinates& visit, const std::string& element,
                            bool to_tile) {
    w_.line("#pragma unroll");
    w_.open("for (int v = 0; v < {}; ++v) {{", mapping.vector);
    const auto& layout = schedule_.stage->layout;
    const auto first = mapping.digits[0].index;
    const auto step = layout.stride[static_cast<std::size_t>(first)];
    const auto address = shared_address(visit, step == 1 ? " + v" : fmt::format(" + {} * v", step));
    if (to_tile) {
      w_.line("tile[{}] = {};", address, element);
    } else {
      w_.line("{} = tile[{}];", element, address);
    }
    w_.close();
  }

  void emit_statement() {
    const auto& statement = program_.statement();
    const auto& mapping = schedule_.mapping;
    const ThreadCoordinates visit = statement_coordinates();
    const int vector = mapping.vector;
    const auto out_type = buffer(statement.buffer).type;
    const auto& out_name = buffer(statement.buffer).name;
    const bool vector_element = is_vector(out_type, vector);
    w_.blank();
    if (!first_name(mapping).empty()) w_.line("// write {} along {}", out_name, first_name(mapping));
    w_.open("{{");
    visit.declare_outer(w_);
    // Without a stage the main load goes to registers first, so that all loads are in flight before the first store.
    const auto loads = loads_of(program_, statement.value);
    const NodeId main_load = loads.empty() ? -1 : loads.front();
    const bool keeps = !schedule_.stage && main_load >= 0 && visit.rounds() > 1 && loads_like_walk(main_load, mapping);
    if (keeps) emit_kept_loads(main_load, mapping, visit);
    open_rounds(visit.rounds());
    visit.declare_inner(w_);
    const auto guard = visit.guard();
    open_guard(guard);
    const auto target = inner_offset(statement.offset, visit);
    std::vector<std::string> texts(program_.nodes.size());
    for (const auto id : loads) {
      if (!texts[static_cast<std::size_t>(id)].empty()) continue;
      texts[static_cast<std::size_t>(id)] = keeps && id == main_load
                                                ? (is_vector(node(id).type, vector) ? "kept[u].at[v]" : "kept[u]")
                                                : emit_operand(id, mapping, visit);
    }
    const auto value =
        value_text(program_, statement.value, [&](NodeId id) { return texts[static_cast<std::size_t>(id)]; });
    if (!vector_element) {
      w_.line("{}[{}] = {};", out_name, target, strip_v(value));
    } else if (const auto place = value.find(".at[v]"); place != std::string::npos && place + 6 == value.size() &&
                                                        node(statement.value).kind == ir::NodeKind::load) {
      emit_store(mapping, out_name, target, value.substr(0, place));  // copied unchanged
    } else {
      w_.line("{} out;", vector_type(out_type, vector));
      if (vector > 1) {
        w_.line("#pragma unroll");
        w_.line("for (int v = 0; v < {}; ++v) out.at[v] = {};", vector, value);
      } else {
        w_.line("out.at[0] = {};", strip_v(value));
      }
      emit_store(mapping, out_name, target, "out");
    }
    close_guard(guard);
    w_.close();
    w_.close();
  }

  /// Stores a whole vector; at the cut ends of a skewed tile, the elements inside the row.
  void emit_store(const ThreadMapping& mapping, const std::string& to, const std::string& offset,
                  const std::string& value) {
    const auto& skew = schedule_.skew;
    if (!skew.on() || mapping.vector == 1) {
      w_.line("store({} + {}, {});", to, offset, value);
      return;
    }
    const auto place = fmt::format("{} + {}", origin_name(program_, schedule_, skew.index), first_name(mapping));
    w_.open("if ({} >= 0 && {} + {} <= {}) {{", place, place, mapping.vector, extent(skew.index));
    w_.line("store({} + {}, {});", to, offset, value);
    w_.close();
    w_.open("else {{");
    w_.line("#pragma unroll");
    w_.open("for (int v = 0; v < {}; ++v) {{", mapping.vector);
    w_.line("if ({} + v >= 0 && {} + v < {}) {}[{} + v] = {}.at[v];", place, place, extent(skew.index), to, offset,
            value);
    w_.close();
    w_.close();
  }

  /// With one element per access there is no v.
  static std::string strip_v(std::string text) {
    for (std::size_t place; (place = text.find(".at[v]")) != std::string::npos;) text.replace(place, 6, ".at[0]");
    return text;
  }

  bool loads_like_walk(NodeId load, const ThreadMapping& mapping) const {
    return mapping.vector == 1 ||
           ir::vector_access(program_, node(load).source, node(load).offset, mapping.digits[0].index, mapping.vector);
  }

  /// Declares the values of one load in this round; returns the text of element v.
  std::string emit_operand(NodeId id, const ThreadMapping& mapping, const ThreadCoordinates& visit) {
    const int vector = mapping.vector;
    const auto type = node(id).type;
    if (schedule_.stage && schedule_.stage->load == id) {
      if (!is_vector(type, vector)) return fmt::format("tile[{}]", shared_address(visit));
      w_.line("{} in{};", vector_type(type, vector), id);
      if (ir::keeps_vectors(schedule_, mapping)) {
        w_.line("in{} = load<{}>(tile + {});", id, vector_type(type, vector), shared_address(visit));
      } else {
        emit_shared_elements(mapping, visit, fmt::format("in{}.at[v]", id), false);
      }
      return fmt::format("in{}.at[v]", id);
    }
    const auto& name = buffer(node(id).source).name;
    const auto offset = inner_offset(node(id).offset, visit);
    if (!is_vector(type, vector)) return fmt::format("{}[{}]", name, offset);
    if (loads_like_walk(id, mapping)) {
      w_.line("const {} in{} = load<{}>({} + {});", vector_type(type, vector), id, vector_type(type, vector), name,
              offset);
    } else {
      const auto step = node(id).offset.coefficient[static_cast<std::size_t>(mapping.digits[0].index)];
      w_.line("{} in{};", vector_type(type, vector), id);
      w_.line("#pragma unroll");
      w_.line("for (int v = 0; v < {}; ++v) in{}.at[v] = {}[{}{}];", vector, id, name, offset,
              step == 0 ? "" : fmt::format(" + {} * v", step));
    }
    return fmt::format("in{}.at[v]", id);
  }

  void emit_warp_exchange();

  const Program& program_;
  const Schedule& schedule_;
  Writer w_;
  bool wide_ = false;
};

/// One tile per warp, in registers. The source (lane, round, element) of everything that the 32 lanes write is computed
/// here, so that the text has only the shuffles that some lane needs.
void CudaEmitter::emit_warp_exchange() {
  const auto& stage = *schedule_.stage;
  const auto& mapping = schedule_.mapping;
  const auto& statement = program_.statement();
  const ThreadCoordinates reads(program_, schedule_, stage.mapping);
  const ThreadCoordinates writes(program_, schedule_, mapping);
  const auto type = node(stage.load).type;
  const bool vector_kept = is_vector(type, stage.mapping.vector);
  const WarpExchange exchange(schedule_);

  w_.blank();
  w_.line("// read {} along {}", buffer(node(stage.load).source).name, first_name(stage.mapping));
  const auto kept = vector_kept ? vector_type(type, stage.mapping.vector) : std::string(c_type(type));
  // Initialised also where nothing is read: all lanes take part in the exchange.
  w_.line("{} kept[{}] = {{}};", kept, reads.rounds());
  w_.open("{{");
  reads.declare_outer(w_);
  open_rounds(reads.rounds());
  reads.declare_inner(w_);
  const auto read_guard = reads.guard();
  open_guard(read_guard);
  const auto offset = inner_offset(node(stage.load).offset, reads);
  const auto* slot = reads.rounds() > 1 ? "u" : "0";
  if (vector_kept)
    w_.line("kept[{}] = load<{}>({} + {});", slot, kept, buffer(node(stage.load).source).name, offset);
  else
    w_.line("kept[{}] = {}[{}];", slot, buffer(node(stage.load).source).name, offset);
  close_guard(read_guard);
  w_.close();
  w_.close();

  w_.blank();
  w_.line("// exchange within the warp, write {} along {}", buffer(statement.buffer).name, first_name(mapping));
  w_.open("{{");
  writes.declare_outer(w_);
  for (std::int64_t u = 0; u < writes.rounds(); ++u) {
    w_.open("{{");
    if (writes.rounds() > 1) w_.line("const int u = {};", u);
    writes.declare_inner(w_);
    w_.line("{} in[{}];", c_type(type), mapping.vector);
    for (int v = 0; v < mapping.vector; ++v) exchange.emit(w_, program_, u, v, vector_kept);
    const auto guard = writes.guard();
    open_guard(guard);
    const auto target = inner_offset(statement.offset, writes);
    const auto out_type = buffer(statement.buffer).type;
    std::vector<std::string> texts(program_.nodes.size());
    for (const auto id : loads_of(program_, statement.value)) {
      texts[static_cast<std::size_t>(id)] =
          id == stage.load ? (mapping.vector > 1 ? "in[v]" : "in[0]") : emit_operand(id, mapping, writes);
    }
    const auto value =
        value_text(program_, statement.value, [&](NodeId id) { return texts[static_cast<std::size_t>(id)]; });
    if (!is_vector(out_type, mapping.vector)) {
      w_.line("{}[{}] = {};", buffer(statement.buffer).name, target, value);
    } else {
      w_.line("{} out;", vector_type(out_type, mapping.vector));
      w_.line("#pragma unroll");
      w_.line("for (int v = 0; v < {}; ++v) out.at[v] = {};", mapping.vector, value);
      w_.line("store({} + {}, out);", buffer(statement.buffer).name, target);
    }
    close_guard(guard);
    w_.close();
  }
  w_.close();
}

}  // namespace

std::int64_t dynamic_shared_bytes(const Program& program, const Schedule& schedule) {
  const auto bytes = schedule.shared_bytes(program);
  return bytes > kStaticSharedBytes ? bytes : 0;
}

Source emit_cuda(const Program& program, const Schedule& schedule, const Notes& notes) {
  ir::verify(schedule, program);
  if (schedule.tiles(program) >= kNarrow) {
    throw PlanError(fmt::format("{} tiles are more than a launch takes (2^31 - 1)", schedule.tiles(program)));
  }
  Source source;
  source.kernel = kernel_name(program);
  CudaEmitter emitter(program, schedule);
  source.parameter_types = emitter.parameter_types();
  source.portable = portable_prelude(program);
  if (schedule.computes()) source.portable += called_definitions(program);
  source.device = device_prelude({}) + '\n';
  source.text = head_text(program, schedule, source.kernel, notes.target, notes.reproduce, notes.plan) +
                emitter.emit(source.kernel);
  return source;
}

}  // namespace ricci::codegen
