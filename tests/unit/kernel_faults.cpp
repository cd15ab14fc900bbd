// Faults planted into correct kernels, each found by name: by verify() from the tree alone, or by check_elements()
// where every element has to be followed.
#include <functional>

#include "catch.hpp"
#include "ir/passes/canonical.hpp"
#include "kernel/build.hpp"
#include "kernel/expand.hpp"
#include "kernel/print.hpp"
#include "kernel/ranges.hpp"
#include "kernel_places.hpp"
#include "lower/einsum.hpp"
#include "ricci/error.hpp"

namespace kernel_faults_test {

using namespace ricci;
using namespace ricci::kernel;
using kernel::Access;

namespace {

/// C[a][c] = alpha * sum A[a][b] B[b][c] + beta C, row-major.
ir::Program product(std::int64_t rows, std::int64_t depth, std::int64_t columns, DType type = DType::f64,
                    ir::Factor beta = ir::Factor::any) {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse("ab,bc->ac");
  problem.inputs = {ricci::Layout::row_major(type, {rows, depth}), ricci::Layout::row_major(type, {depth, columns})};
  problem.output = ricci::Layout::row_major(type, {rows, columns});
  for (auto* layout : {&problem.inputs[0], &problem.inputs[1], &problem.output}) layout->alignment = 256;
  problem.alpha = ir::Factor::any;
  problem.beta = beta;
  return ir::canonicalise(ir::lower(problem));
}

/// C[a][b][d] = sum A[a][b][c] B[a][c][d]: products side by side.
ir::Program batch_of_products() {
  ir::EinsumProblem problem;
  problem.spec = Spec::parse("gik,gkj->gij");
  problem.inputs = {ricci::Layout::row_major(DType::f64, {6, 20, 16}),
                    ricci::Layout::row_major(DType::f64, {6, 16, 8})};
  problem.output = ricci::Layout::row_major(DType::f64, {6, 20, 8});
  for (auto* layout : {&problem.inputs[0], &problem.inputs[1], &problem.output}) layout->alignment = 256;
  return ir::canonicalise(ir::lower(problem));
}

Kernel built(const ir::Program& program, const char* directives, Target target) {
  return build(program, *contraction_of(program), parse_directives(directives), target);
}

/// Ragged everywhere: 21 rows in tiles of 4, 19 columns in tiles of 16, a depth of 10 in parts of 4.
const char* const kCpu =
    "tile a:4; tile b:4; tile c:16; order task a0 c0 sum b0; stage A at b0 scratch b a; stage B at b0 scratch b c;"
    "atom fma rows a columns c depth b lanes 8";
Kernel cpu_tiles() { return built(product(21, 10, 19), kCpu, Target::cpu); }
Kernel cpu() { return expand(cpu_tiles()); }
/// A depth that one part holds, and few tasks.
Kernel cpu_short() { return expand(built(product(9, 3, 19), kCpu, Target::cpu)); }
/// Operands read in place; the last vector of columns is a part.
Kernel cpu_in_place() {
  return expand(
      built(product(6, 5, 19), "tile a:3; order task a0; atom fma rows a columns c depth b lanes 8", Target::cpu));
}
/// An operand that is transposed in registers as it is packed.
Kernel cpu_transposed() {
  return expand(built(product(16, 16, 16),
                      "tile a:16:8; order task a0 serial a1; stage A at a0 scratch a1 b a;"
                      "atom fma rows a columns c depth b lanes 8",
                      Target::cpu));
}

const char* const kCuda =
    "tile a:16; tile b:8; tile c:16; order task a0 c0 sum b0; stage A at b0 async a b pad 4;"
    "stage B at b0 async b c pad 4; atom m16n8k8_f64 rows a columns c depth b warps 1x1 runs 1x1x1; pipeline b0 3";
/// With fragments read ahead of a round.
Kernel cuda_prefetch() {
  return expand(built(product(40, 42, 38),
                      "tile a:16; tile b:8; tile c:32; order task a0 c0 sum b0; stage A at b0 async a b pad 4;"
                      "stage B at b0 async b c pad 4; atom m16n8k8_f64 rows a columns c depth b warps 1x1 runs 1x1x1;"
                      "pipeline b0 3 prefetch",
                      Target::cuda));
}
Kernel cuda_tiles() { return built(product(40, 42, 38), kCuda, Target::cuda); }
Kernel cuda() { return expand(cuda_tiles()); }
/// Two values in a register, read by matrix loads.
Kernel cuda_halves() {
  return expand(built(product(40, 40, 40, DType::f16),
                      "tile a:16; tile b:16; tile c:16; order task a0 c0 sum b0; stage A at b0 async a b pad 8;"
                      "stage B at b0 async b c pad 8; atom m16n8k16_f16 rows a columns c depth b warps 1x1 runs 1x1x2;"
                      "pipeline b0 2",
                      Target::cuda));
}
/// Two products side by side, of a warp each.
const char* const kBatch =
    "tile a:2; tile c:8; order task a0 sum c0; stage A at c0 async a b c pad 4; stage B at c0 async a c d pad 2;"
    "atom m16n8k8_f64 rows b columns d depth c batch a warps 1x1 runs 1x1x2; pipeline c0 2";
Kernel cuda_batch_tiles() { return built(batch_of_products(), kBatch, Target::cuda); }
Kernel cuda_batch() { return expand(cuda_batch_tiles()); }
/// Without a pipeline: copies, a barrier, products and another barrier.
Kernel cuda_in_steps() {
  return expand(built(product(40, 42, 38),
                      "tile a:16; tile b:8; tile c:16; order task a0 c0 sum b0; stage A at b0 shared a b pad 4;"
                      "stage B at b0 shared b c pad 4; atom fma rows a columns c depth b warps 1x1 runs 2x2x1",
                      Target::cuda));
}

/// A sum in parts of the blocks of a cluster.
Kernel cuda_cluster_tiles() {
  return built(product(40, 90, 38),
               "tile a:16; tile b:24:8; tile c:16; order task a0 c0 cluster b0 sum b1; stage A at b1 async a b pad 4;"
               "stage B at b1 async b c pad 4; atom m16n8k8_f64 rows a columns c depth b warps 1x1 runs 1x1x1;"
               "pipeline b1 2",
               Target::cuda);
}
Kernel cuda_cluster() { return expand(cuda_cluster_tiles()); }

/// A sum in parts of tasks, which add them to the result.
Kernel cuda_atomic() {
  return expand(built(product(40, 90, 38, DType::f64, ir::Factor::one),
                      "tile a:16; tile b:24:8; tile c:16; order task b0 a0 c0 sum b1; stage A at b1 async a b pad 4;"
                      "stage B at b1 async b c pad 4; atom m16n8k8_f64 rows a columns c depth b warps 1x1 runs 1x1x1;"
                      "store atomic",
                      Target::cuda));
}

// ---- finding places in a tree

/// A barrier of the cluster becomes one of the block.
bool of_cluster(const Statement& s) { return std::get<Barrier>(s.node).of == Barrier::Of::cluster; }
/// Loads of the shared memory of a cluster's blocks.
Access& part_of_block(Value& value) {
  if (value.access.block) return value.access;
  for (auto& operand : value.operands) {
    if (auto& access = part_of_block(operand); access.block) return access;
  }
  return value.access;
}

Place loop_over(const Kernel& kernel, Bind bind, const std::string& name) {
  return [&kernel, bind, name](const Statement& s) {
    const auto& loop = std::get<Loop>(s.node);
    return loop.bind == bind && (name.empty() || kernel.vars[static_cast<std::size_t>(loop.var)].name == name);
  };
}
Place copy_to(const Kernel& kernel, const std::string& name) {
  return
      [&kernel, name](const Statement& s) { return kernel.array(std::get<AsyncCopy>(s.node).to.array).name == name; };
}
Place ragged_loop(Bind bind) {
  return [bind](const Statement& s) {
    const auto& loop = std::get<Loop>(s.node);
    return loop.bind == bind && !loop.when.empty();
  };
}
const Fault kFaults[] = {
    // ---- bounds
    {"a tile that does not divide its index is copied whole", cpu_tiles, [](Kernel& k) { get<Copy>(k).when.clear(); },
     "may reach element"},
    {"a task loop that runs on", cpu_in_place,
     [](Kernel& k) { ++k.vars[static_cast<std::size_t>(var_of(k, "a0"))].extent; }, "may reach element"},
    {"a loop in order that does not end with its index",
     [] {
       return expand(
           built(product(6, 10, 8), "tile b:8:4; order sum b0 b1 b; atom fma rows a columns c lanes 8", Target::cpu));
     },
     [](Kernel& k) {
       get<Loop>(k, ragged_loop(Bind::serial)).when.clear();
       get<Loop>(k, ragged_loop(Bind::serial)).when.clear();
     },
     "may reach element"},
    {"an unrolled loop past its registers", cpu_in_place,
     [](Kernel& k) { k.vars[static_cast<std::size_t>(get<Loop>(k, loop_over(k, Bind::unroll, "r")).var)].extent = 9; },
     "is outside of its"},
    {"a result without its condition", cpu,
     [](Kernel& k) {
       const auto [body, n] = find<If>(k.body, [&](const Statement& s) {
         Body then = std::get<If>(s.node).then;
         return find<Store>(then, store_to(k, "C")).first != nullptr;
       });
       REQUIRE(body != nullptr);
       std::get<If>((*body)[n].node).when.clear();
     },
     "may reach element"},
    {"the last vector read whole", cpu_in_place,
     [](Kernel& k) {
       get<Store>(k, [](const Statement& s) {
         return std::get<Store>(s.node).value.access.count > 0;
       }).value.access.count = 0;
     },
     "may reach element"},
    {"an offset before the first element", cpu,
     [](Kernel& k) {
       auto& to = get<Store>(k, store_to(k, "C")).to.index.front();
       to = to - Affine(1);
     },
     "before the first one"},
    {"a stage that is too small", cpu, [](Kernel& k) { array_of(k, "B_packed").shape.front() /= 2; },
     "may reach element"},
    {"shared memory that is too small", cuda, [](Kernel& k) { array_of(k, "A_tile").shape.front() /= 2; },
     "may reach element"},
    {"an asynchronous copy without its condition", cuda, [](Kernel& k) { get<AsyncCopy>(k).when.clear(); },
     "may reach element"},
    {"a remainder that is not taken", cuda,
     [](Kernel& k) { get<Let>(k, [](const Statement& s) { return std::get<Let>(s.node).modulus > 0; }).modulus = 0; },
     "may be above"},
    {"a quotient of a negative number", cuda,
     [](Kernel& k) {
       auto& of = get<Let>(k).of;
       of = of - Affine(5);
     },
     "is a quotient of what may be negative"},
    // ---- names
    {"a loop that is left out", cpu,
     [](Kernel& k) {
       const auto [body, n] = find<Loop>(k.body, loop_over(k, Bind::serial, "b0"));
       REQUIRE(body != nullptr);
       Body inner = std::get<Loop>((*body)[n].node).body;
       body->erase(body->begin() + static_cast<std::ptrdiff_t>(n));
       body->insert(body->begin() + static_cast<std::ptrdiff_t>(n), inner.begin(), inner.end());
     },
     "names what is not known there"},
    {"a loop inside of a loop over the same variable", cpu,
     [](Kernel& k) {
       auto& loop = get<Loop>(k, loop_over(k, Bind::serial, "b0"));
       loop.body = {{Loop{loop.var, Bind::serial, {}, loop.body}}};
     },
     "is bound inside of a loop over it", true},
    {"an access of no array", cpu, [](Kernel& k) { get<Store>(k).to.array = 99; }, "an access of no array"},
    {"a digit that is not its variable", cpu_tiles, [](Kernel& k) { get<Mma>(k).rows.front().extent = 3; },
     "values in a tile and"},
    {"a statement beside a task loop", cpu, [](Kernel& k) { k.body.push_back({Comment{"alone"}}); },
     "tasks are the outermost loops"},
    // ---- types
    {"a value of another type", cpu, [](Kernel& k) { array_of(k, "C").type = DType::f32; }, "is read as f64"},
    {"a sum of two types", cpu,
     [](Kernel& k) {
       get<Store>(k, [](const Statement& s) { return std::get<Store>(s.node).value.kind == Value::Kind::op; })
           .value.operands[1]
           .type = DType::i32;
     },
     "breaks the rule"},
    {"a register of other lanes", cpu, [](Kernel& k) { get<Store>(k, store_to(k, "sum")).to.lanes = 4; },
     "is no register of"},
    {"a parameter that there is not", cpu, [](Kernel& k) { k.params.clear(); }, "a parameter that there is not"},
    {"a lane past its vector", cuda_in_steps,
     [](Kernel& k) {
       get<Store>(k, [](const Statement& s) {
         return std::get<Store>(s.node).value.access.lane.has_value();
       }).value.access.lane = Affine(2);
     },
     "lane 2 of 2"},
    {"a lane of a single register", cuda,
     [](Kernel& k) {
       get<Store>(k, store_to(k, "C")).value.operands[0].operands[0].operands[1].access.lane = Affine(0);
     },
     "is a lane of no vector"},
    {"a lane of a vector in memory, written alone", cuda,
     [](Kernel& k) { get<Store>(k, store_to(k, "C")).to.lane = Affine(0); }, "a lane of a vector in memory is stored"},
    {"vectors transposed that are more than lanes", cpu_transposed,
     [](Kernel& k) { array_of(k, "A_packed_rows").shape.front() = 9; }, "more vectors than lanes"},
    // ---- order
    {"a sum that nothing has cleared", cpu, [](Kernel& k) { drop<Loop>(k, loop_over(k, Bind::unroll, "r")); },
     "is read before anything is written to it"},
    {"a stage that is not copied", cpu_tiles, [](Kernel& k) { drop<Copy>(k); },
     "is read before anything is written to it"},
    {"registers without a declaration", cpu, [](Kernel& k) { drop<Declare>(k); }, "is not declared"},
    {"registers declared twice", cpu,
     [](Kernel& k) {
       const auto [body, n] = find<Declare>(k.body);
       const auto again = (*body)[n];
       body->push_back(again);
     },
     "is declared twice"},
    {"registers with the name of others beside them", cpu,
     [](Kernel& k) {
       const auto [body, n] = find<Declare>(k.body);
       auto other = (*body)[n];
       auto& array = std::get<Declare>(other.node).array;
       array = k.add_array(k.array(array));
       body->push_back(std::move(other));
     },
     "is the name of two things side by side"},
    {"a copy that leaves out its last row", cpu,
     [](Kernel& k) {
       auto& loop = get<Loop>(k, loop_over(k, Bind::serial, "b"));
       loop.when.push_back({Affine::of(loop.var), 3});
     },
     "nothing has written"},
    {"zeros that are not written past the end of a sum", cpu_short,
     [](Kernel& k) {
       drop<Store>(k, [&k](const Statement& s) {
         const auto& store = std::get<Store>(s.node);
         return k.array(store.to.array).space == Space::scratch && store.value.kind == Value::Kind::constant;
       });
     },
     "nothing has written"},
    {"a missing barrier after copies", cuda, [](Kernel& k) { drop<Barrier>(k); },
     "with no barrier after what is written"},
    {"a missing barrier before the next copies", cuda_in_steps,
     [](Kernel& k) {
       auto& body = get<Loop>(k, loop_over(k, Bind::serial, "b0")).body;
       REQUIRE(std::holds_alternative<Barrier>(body.back().node));
       body.pop_back();
     },
     "with no barrier between"},
    {"a missing wait", cuda, [](Kernel& k) { drop<Wait>(k); }, "before a wait for the copies"},
    {"a wait for one group too few", cuda, [](Kernel& k) { ++get<Wait>(k).groups; },
     "while an asynchronous copy to it is under way"},
    {"a group of copies that is not closed", cuda, [](Kernel& k) { drop<Commit>(k); }, "under way"},
    {"a place too few in a pipeline", cuda,
     [](Kernel& k) {
       for (auto name : {"place", "next_place"}) {
         const auto var = var_of(k, name);
         get<Let>(k, [&](const Statement& s) { return std::get<Let>(s.node).var == var; }).modulus = 2;
       }
     },
     "with no barrier between"},
    {"a wait for one group too few before fragments of the next round", cuda_prefetch,
     [](Kernel& k) {
       const auto [body, n] = find<Wait>(get<Loop>(k, loop_over(k, Bind::serial, "b0")).body, anything);
       ++std::get<Wait>((*body)[n].node).groups;
     },
     "while an asynchronous copy to it is under way"},
    {"a missing barrier before fragments of the next round", cuda_prefetch,
     [](Kernel& k) {
       const auto [body, n] = find<Barrier>(get<Loop>(k, loop_over(k, Bind::serial, "b0")).body, anything);
       body->erase(body->begin() + static_cast<std::ptrdiff_t>(n));
     },
     "with no barrier between"},
    // ---- threads and tasks
    {"parts of a sum that are read before all blocks have them", cuda_cluster,
     [](Kernel& k) { get<Barrier>(k, of_cluster).of = Barrier::Of::block; },
     "read of another block with no barrier of the cluster after what is written"},
    {"a block that ends while others read its part", cuda_cluster,
     [](Kernel& k) {
       auto& body = get<Loop>(k, loop_over(k, Bind::thread, "")).body;
       REQUIRE(std::holds_alternative<Barrier>(body.back().node));
       body.pop_back();
     },
     "a block ends while others may read its C_tile"},
    {"a barrier of a cluster that some blocks do not reach", cuda_cluster,
     [](Kernel& k) { guard<Barrier>(k, {Affine::of(var_of(k, "b0")), 1}, of_cluster); },
     "a barrier of a cluster where not all of its blocks pass"},
    {"a part of a block that is not there", cuda_cluster,
     [](Kernel& k) { part_of_block(get<Store>(k, store_to(k, "C_parts")).value).block = Affine(4); },
     "of a cluster of 4"},
    {"a part of a sum that leaves as the whole", cuda_cluster_tiles, [](Kernel& k) { get<Flush>(k).parts = -1; },
     "tasks along b0 write the same elements of C"},
    {"a part that another block writes", cuda_cluster,
     [](Kernel& k) { get<Store>(k, store_to(k, "C_tile")).to.block = Affine(0); }, "of another block is written"},
    {"sums that tasks set where they add", cuda_atomic,
     [](Kernel& k) { get<Store>(k, store_to(k, "C")).atomic = false; }, "tasks along b0 write the same elements of C"},
    {"an atomic addition to what others read", cuda_atomic,
     [](Kernel& k) {
       auto& store = get<Store>(k, store_to(k, "C"));
       store.value = apply(ir::OpCode::add, DType::f64, {load_of(DType::f64, store.to), store.value});
     },
     "C is read, and others add to it in no order"},
    {"a barrier that some threads do not reach", cuda,
     [](Kernel& k) { guard<Barrier>(k, {Affine::of(var_of(k, "t")), 16}); },
     "a barrier where not all threads of a block pass"},
    {"a wait that some threads do not reach", cuda, [](Kernel& k) { guard<Wait>(k, {Affine::of(var_of(k, "t")), 31}); },
     "a wait where not all threads of a block pass"},
    {"an instruction of a warp in divergent flow", cuda,
     [](Kernel& k) { guard<MmaCall>(k, {Affine::of(var_of(k, "member")), 3}); },
     "an instruction of a warp where not all threads"},
    {"two threads that write one element", cuda_in_steps,
     [](Kernel& k) {
       auto& to = get<Store>(k, store_to(k, "B_tile")).to.index.front();
       for (std::size_t v = 0; v < k.vars.size(); ++v) {
         if (k.vars[v].name.starts_with("B_")) scale(to, static_cast<Var>(v), 0);
       }
     },
     "with no barrier between"},
    {"two tasks that write the same results", cpu,
     [](Kernel& k) { scale(get<Store>(k, store_to(k, "C")).to.index.front(), var_of(k, "a0"), 0); },
     "tasks along a0 write the same elements"},
    {"tasks whose results overlap", cpu_in_place,
     [](Kernel& k) {
       const auto [body, n] = find<Store>(k.body, store_to(k, "C"));
       auto& to = std::get<Store>((*body)[n].node).to.index.front();
       scale(to, var_of(k, "a0"), to.coefficient(var_of(k, "a0")) - 19);
     },
     "by task"},
    {"results that are never written", cpu_short, [](Kernel& k) { drop<Store>(k, store_to(k, "C")); },
     "results in C are written", true},
    {"an operand that is written", cpu,
     [](Kernel& k) {
       get<Store>(k, store_to(k, "C")).to.array = 0;
       get<Store>(k, store_to(k, "A")).to.index.front() = 0;
       array_of(k, "A").shape.front() = 100000;
     },
     "is an operand"},
    // ---- registers
    {"registers indexed by a loop that is not unrolled", cpu,
     [](Kernel& k) { get<Loop>(k, loop_over(k, Bind::unroll, "r")).bind = Bind::serial; },
     "no literal when loops are unrolled"},
    {"an array that a caller's stack has no room for", cpu, [](Kernel& k) { array_of(k, "sum").shape[0] = 129; },
     "take 16512 bytes, and a caller's stack has 16384 for them"},
    {"arrays that a caller's stack has no room for together", cpu,
     [](Kernel& k) {
       array_of(k, "sum").shape[0] = 120;
       array_of(k, "a_").shape[0] = 160;
     },
     "registers up to "},
    // ---- atoms
    {"an atom that there is not", cuda, [](Kernel& k) { get<MmaCall>(k).atom = "m16n8k9_f64"; },
     "there is no atom m16n8k9_f64"},
    {"an atom with its operands exchanged", cuda, [](Kernel& k) { std::swap(get<MmaCall>(k).a, get<MmaCall>(k).b); },
     "is no fragment of"},
    {"a matrix load that some threads do not reach", cuda_halves,
     [](Kernel& k) { guard<MatrixLoad>(k, {Affine::of(var_of(k, "t")), 31}); },
     "an instruction of a warp where not all threads"},
    {"a matrix whose rows do not begin at 16 bytes", cuda_halves,
     [](Kernel& k) { get<MatrixLoad>(k).from.index.front().constant += 4; }, "is not aligned"},
    {"a matrix to a fragment of other registers", cuda_halves, [](Kernel& k) { array_of(k, "a_part").lanes = 1; },
     "is not 1, 2 or 4 registers of 32 bits"},
    {"a matrix that is read before its copies have landed", cuda_halves, [](Kernel& k) { drop<Wait>(k); },
     "before a wait for the copies"},
    {"an atom of another type", cuda, [](Kernel& k) { get<MmaCall>(k).atom = "m16n8k8_tf32"; }, "is of type f64"},
    {"an atom's depth that does not divide the tile's", cuda_tiles,
     [](Kernel& k) { get<Mma>(k).atom = "m16n8k16_f64"; }, "a depth of 8 in atoms of 16"},
    {"an accumulator of too few registers", cpu_tiles, [](Kernel& k) { array_of(k, "sum").shape[1] = 1; },
     "has not the 4 x 2 registers"},
    {"rows that move the other operand", cpu_tiles,
     [](Kernel& k) {
       auto& mma = get<Mma>(k);
       mma.b.index.front() = mma.b.index.front() + Affine::of(mma.rows.front().var);
       array_of(k, "B_packed").shape.front() += 4;
     },
     "moves the operand of the other side"},
    {"a copy that writes elements twice", cpu_tiles,
     [](Kernel& k) {
       auto& copy = get<Copy>(k);
       scale(copy.to.index.front(), copy.digits.front().var, 1);
     },
     "of A_packed twice"},
    {"warps for more products than there are side by side", cuda_batch_tiles,
     [](Kernel& k) { get<Mma>(k).spread.batches = 3; }, "2 products side by side for 3 groups of warps"},
    {"a lane's product that is no digit of the batch", cuda_batch_tiles,
     [](Kernel& k) { get<Mma>(k).atom = "fma_batch8"; }, "lanes of fma_batch8 are 8 products"},
    {"two warps with one product", cuda_batch,
     [](Kernel& k) {
       get<Let>(k, [&](const Statement& s) { return std::get<Let>(s.node).var == var_of(k, "a"); }).divisor = 64;
     },
     "is written by thread 32 and written by thread 0 with no barrier between"},
    // ---- launch and accesses
    {"a block of other threads than its loop", cuda, [](Kernel& k) { k.threads = 40; },
     "a loop over 32 threads in a block of 40"},
    {"a loop over other threads than the block has", cuda, [](Kernel& k) { k.threads = 64; },
     "a loop over 32 threads in a block of 64"},
    {"more shared memory than a block has", cuda, [](Kernel& k) { array_of(k, "A_tile").shape.front() = 40000; },
     "schedule: 323840 bytes of shared memory are more than 232448, of which A_tile takes the most"},
    {"a barrier on a CPU", cpu,
     [](Kernel& k) { get<Loop>(k, loop_over(k, Bind::serial, "b0")).body.push_back({Barrier{}}); }, "on a CPU", true},
    {"scratch memory on a GPU", cuda, [](Kernel& k) { array_of(k, "A_tile").space = Space::scratch; },
     "and a GPU has none"},
    {"a wide copy that is not aligned", cuda,
     [](Kernel& k) {
       auto& copy = get<AsyncCopy>(k, [](const Statement& s) { return std::get<AsyncCopy>(s.node).bytes == 16; });
       copy.to.index.front() = copy.to.index.front() + Affine(1);
     },
     "is not aligned"},
    {"an asynchronous copy of 12 bytes", cuda, [](Kernel& k) { get<AsyncCopy>(k).bytes = 12; },
     "an asynchronous copy of 12 bytes"},
};

}  // namespace

TEST_CASE("kernels without a fault pass") {
  check_sound({cpu_tiles, cpu, cpu_in_place, cpu_transposed, cuda_tiles, cuda, cuda_halves, cuda_in_steps,
               cuda_batch_tiles, cuda_batch});
}

TEST_CASE("conditions bound each of their variables by whole numbers") {
  Kernel kernel;
  const auto x = kernel.add_var("x", 2), y = kernel.add_var("y", 2);
  const auto far = Affine::of(x, -54) + Affine::of(y, -24);
  Ranges ranges(kernel);
  for (const auto var : {x, y}) ranges.enter(var, 2);
  const auto mark = ranges.mark();
  ranges.assume(Condition{Affine::of(x, 9) + Affine::of(y, 4), 9});
  CHECK(ranges.never_above(Affine::of(x), 0));
  CHECK(ranges.never_below(far, -24));
  CHECK_FALSE(ranges.never_below(far, -23));
  ranges.restore(mark);
  CHECK_FALSE(ranges.never_above(Affine::of(x), 0));
}

TEST_CASE("faults planted into kernels are found by name") {
  CHECK(std::size(kFaults) >= 40);
  check_faults(kFaults);
}

TEST_CASE("a fault names the directive that made the node") {
  auto kernel = cuda();
  get<AsyncCopy>(kernel, copy_to(kernel, "B_tile")).bytes = 12;
  const auto text = found(kernel);
  INFO(text);
  CHECK(text.find("made by \"stage B at b0 async pad 4 b c\"") != std::string::npos);
}

TEST_CASE("lanes of a warp hold every element of an atom's fragments once") {
  for (const auto& atom : kAtoms) CHECK_NOTHROW(verify(atom));
  const auto said = [](const Atom& atom) -> std::string {
    try {
      verify(atom);
    } catch (const InternalError& error) {
      return error.what();
    }
    return {};
  };
  auto twice = *find_atom("m16n8k8_f64");
  twice.b = atoms::of_b(AtomType::f64, 8, 2, 0, {{{4, 0}}});
  CHECK(said(twice).find("every element is held 4 times") != std::string::npos);
  twice.b = atoms::of_b(AtomType::f64, 8, 2, 1, {{{3, 0}}});
  CHECK(said(twice).find("row 3, column 0 is held twice") != std::string::npos);
  auto few = *find_atom("m16n8k16_f64");
  few.c.layout.shape[0] = 8;
  CHECK(said(few).find("8 x 8 instead of 16 x 8") != std::string::npos);
  few.c = atoms::of_c(AtomType::f64, 8);
  few.c.layout.shape[0] = 16;
  CHECK(said(few).find("64 spots are not 1 for each of 128 elements") != std::string::npos);
  auto beyond = *find_atom("m8n8k4_f64");
  beyond.a = atoms::fragment(AtomType::f64, 8, 4, 1, {2, 0}, {0, 1}, {});
  CHECK(said(beyond).find("lane 16 holds row 8") != std::string::npos);
  auto flat = *find_atom("m16n8k4_tf32");
  flat.a.layout.shape[0] = 8;
  CHECK(said(flat).find("instead of 16 x 4") != std::string::npos);
}

TEST_CASE("directives that break a rule are refused by name") {
  const auto refused = [](const char* directives, const char* part) {
    try {
      built(product(21, 10, 19), directives, Target::cpu);
    } catch (const PlanError& error) {
      INFO(error.what());
      CHECK(std::string(error.what()).find(part) != std::string::npos);
      return;
    }
    FAIL_CHECK(directives << " was taken");
  };
  refused("tile a:4; order task a0; atom fma rows a columns c depth b lanes 1", "A is read past its end");
  refused("tile a:4; order task c; atom fma rows a depth b", "a0 is in no order and not in the atom");
  refused("tile a:7; order task a a0; atom fma columns c depth b", "a0 comes before a");
  refused("tile a:7; order task a0 c; stage A at a0 scratch a b; atom fma rows a depth b", "tasks share nothing");
  refused("order serial a; atom fma columns c depth b lanes 8; stage A at a scratch b",
          "before the atom that reads them");
  refused("order serial c; atom fma columns a depth b lanes 8", "lanes are neighbours along a");
  refused("order serial a; atom fma columns c depth b lanes 6", "lanes are a power of two");
  refused("order serial a c; atom fma depth b lanes 8", "and there are none");
  refused("order serial a; atom fma columns c depth b lanes 8 over 2", "more columns than there are");
  refused("tile a:7; order serial c; atom fma columns a0 a depth b lanes 8 over 2", "lanes run over a, which does not");
  refused("atom m16n8k8_f64 rows a columns c depth b", "there is no atom m16n8k8_f64 on a CPU");
  refused("order task b; atom fma rows a columns c", "b is summed over");
  refused("order serial c; atom fma columns a depth b batch c lanes 1", "c is a loop of the order");
  refused("atom fma rows a depth b batch c lanes 1", "which is no index of both operands and the result");
  CHECK_THROWS_WITH(
      built(product(33, 10, 64), "atom fma rows a columns c depth b lanes 8", Target::cpu),
      Catch::Matchers::ContainsSubstring("sums of 33 x 8 registers take 16896 bytes, and a caller's stack has 16384"));
  const auto of_batch = [](const char* atom, const char* part) {
    INFO(atom);
    const auto start = "tile c:8; order task a0 sum c0; stage A at c0 async a b c; stage B at c0 async a c d; atom ";
    CHECK_THROWS_WITH(built(batch_of_products(), ((std::string("tile a:2;") + start) + atom).c_str(), Target::cuda),
                      Catch::Matchers::ContainsSubstring(part));
  };
  of_batch("fma_batch8 rows b columns d depth c batch a warps 1x1", "lanes of fma_batch8 are 8 products");
  of_batch("m16n8k8_f64 rows b columns d depth c batch a warps 4x8", "more than 1024 threads");
  const auto crossed = [](const char* tile) {
    const auto rest = "; order task a0; stage A at a0 async a b b1; stage B at a0 async b1 b c; atom ";
    const auto atom = "m16n8k8_f64 rows a columns c depth b1 b warps 1x1 runs 1x1x1";
    return expand(built(product(33, 24, 8), (std::string("tile a:16; ") + tile + rest + atom).c_str(), Target::cuda));
  };
  CHECK_NOTHROW(verify(crossed("tile b:24:2")));
  CHECK_THROWS_WITH(crossed("tile b:24:3"), Catch::Matchers::ContainsSubstring("the depth of A_tile in an order"));
}

TEST_CASE("an index of both operands is the last of the columns, and its lanes are neighbours in both") {
  const auto layout = [](std::vector<std::int64_t> extents) {
    return ricci::Layout::row_major(DType::f64, std::move(extents));
  };
  const auto built_of = [&](const char* directives) {
    ir::EinsumProblem problem;
    problem.spec = Spec::parse("acd,cbd->abd");
    problem.inputs = {layout({3, 5, 16}), layout({5, 4, 16})};
    problem.output = layout({3, 4, 16});
    const auto program = ir::lower(problem);
    return kernel::build(program, *kernel::contraction_of(program), kernel::parse_directives(directives), Target::cpu,
                         64);
  };
  CHECK_NOTHROW(kernel::verify(kernel::expand(built_of("atom fma rows a columns b d depth c lanes 8"))));
  const auto refused = [&](const char* directives, const char* part) {
    CHECK_THROWS_WITH(built_of(directives), Catch::Matchers::ContainsSubstring(part));
  };
  refused("atom fma rows a columns d b depth c lanes 8", "d is an index of both operands");
  refused("atom fma rows d a columns b depth c", "d is an index of both operands");
}

}  // namespace kernel_faults_test
