// The kernel: a loop tree over arrays, for one CUDA grid or for a range of CPU tasks. Directives build it out of a
// program (build.hpp), expand() turns its tile statements into native ones, and the printers of src/codegen say it as
// text. A printer knows nodes alone, neither operations nor schedules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/program.hpp"
#include "kernel/affine.hpp"
#include "kernel/layout.hpp"
#include "kernel/spread.hpp"
#include "kernel/tensor_map.hpp"
#include "kernel/value.hpp"

namespace ricci::kernel {

enum class Target : std::uint8_t { cpu, cuda };

inline constexpr std::int64_t kLineBytes = 64;  ///< of a CPU's caches
/// What is executed ahead hides behind stores in pieces of so many stored bytes or more; smaller ones cost more
/// branches than they hide latency.
inline constexpr std::int64_t kLeastPiece = 512;
/// Bytes of register arrays that live at once in a kernel on a CPU: what a compiler finds no registers for lies on the
/// stack of the caller's thread, of which a kernel does not take more. Other memory is scratch.
inline constexpr std::int64_t kMostStack = 16 * 1024;

/// A loop variable or a name of an index expression; its values are 0 .. extent-1.
struct Variable {
  std::string name;
  std::int64_t extent = 1;
};

enum class Space : std::uint8_t {
  global,     ///< memory of the caller: an argument
  scratch,    ///< CPU: memory of the worker, from one task to the next
  shared,     ///< CUDA: memory of the block
  registers,  ///< of a thread; every index into it is a literal once loops are unrolled or, on a CPU, made of vectors
};

/// Elements of `lanes` neighbours each (1: single ones), in as many dimensions as `shape` has (registers: none is one
/// element); global, scratch and shared arrays have one, and are addressed by their offset in single elements, from
/// `first` to shape[0] - 1.
struct Array {
  std::string name;
  DType type = DType::f64;
  Space space = Space::global;
  std::vector<std::int64_t> shape;
  int lanes = 1;
  std::int64_t alignment = 0;  ///< bytes: promised for an argument, asked for otherwise
  bool written = false;
  bool tf32 = false;         ///< its elements, of f32, are rounded to tf32
  Swizzle swizzle = {};      ///< shared
  std::int64_t first = 0;    ///< global: the smallest offset, negative where strides are
  std::int64_t results = 0;  ///< global: elements that a run over all tasks writes, each by one task (0: not known)
  bool overlapped = false;   ///< global: several tasks may write the same value to an element
  bool restricted = false;   ///< global, CUDA: compilers may take it that nothing else reaches its elements
  int origin = -1;           ///< directive that made it: number of a line of Kernel::directives

  std::int64_t elements() const noexcept;
};

/// What a register array may take of a CPU's stack: all its bytes; nothing where it is a single value, of which
/// compilers keep none longer than it is used.
std::int64_t stack_bytes(const Array& array);

struct Statement;
using Body = std::vector<Statement>;

enum class Bind : std::uint8_t {
  serial,
  rolled,   ///< CPU: serial, and never spelt out or made of vectors: around what is long, or seldom runs
  any,      ///< serial, and spelt out as far as the compiler likes
  unroll,   ///< spelt out by the compiler
  vector,   ///< CPU: rounds that do not depend on each other, several at once as vectors
  task,     ///< a digit of the task's number (CPU) or of the block's (CUDA); the first task loop is the slowest digit
  cluster,  ///< CUDA: the block's number in its cluster, the fastest digit of its number; inside of all tasks
  thread,   ///< CUDA: a digit of the thread's number; the first thread loop is the slowest digit
};

/// Whether a loop's variable is a digit of the task's number.
constexpr bool numbers_blocks(Bind bind) { return bind == Bind::task || bind == Bind::cluster; }

/// var = first, first + step, ... below its extent, as long as `when` holds: it fails for all values behind one.
struct Loop {
  Var var = 0;
  Bind bind = Bind::serial;
  std::vector<Condition> when = {};
  Body body;
  int times = 0;          ///< of Bind::unroll: rounds that are spelt out together; 0: all
  int stages = 1;         ///< above 1: the body's copies run up to stages - 1 rounds ahead; expand() resolves it
  bool prefetch = false;  ///< of such a loop: a round's first fragments are read in the round before
  Affine first = {};      ///< other than 0: not of tasks and threads
  std::int64_t step = 1;
};

/// A strip-mined loop: var goes from `first` on by the first part's step while that many values are left below `end`,
/// then on by the next part's. With `past_end`, by the last part's as long as any are left.
struct Sweep {
  struct Part {
    std::int64_t step = 1;  ///< each divides the one before
    Body body;
    Bind bind = Bind::any;
    int times = 0;  ///< of Bind::unroll, on a CPU: rounds that are spelt out together
  };
  Var var = 0;
  Affine first, end;
  std::vector<Part> parts;
  bool past_end = false;
  /// CPU: rounds of the last part, single ones, come first until this element, which is `lanes` wide, lies at a
  /// multiple of its size.
  std::optional<Access> aligned = {};
};

/// var = of / divisor % modulus (modulus 0: no remainder is taken), or `most` where it is above that (-1: no limit).
/// `of` is not negative. With `value`, one of parameters and constants, var is that instead: see held_within().
struct Let {
  Var var = 0;
  Affine of = {};
  std::int64_t divisor = 1, modulus = 0;
  bool in_place = false;  ///< texts say the expression wherever the name would stand
  std::int64_t most = -1;
  std::vector<std::int64_t> values = {};  ///< in place: var is one of these, number `of`
  std::optional<Value> value = {};
  bool anew = false;    ///< CUDA, beside asynchronous copies: what is made of it is not kept from where it was before
  bool tabled = false;  ///< of a copy's quotients on a GPU: several make an entry of one table where rounds differ
};

/// `then` where all conditions of `when` hold and none of `values` is 0.
struct If {
  std::vector<Condition> when = {};
  Body then, otherwise;
  std::vector<Value> values = {};
};

/// A line for people.
struct Comment {
  std::string text;
};

/// Statements whose names end with them; `title`, where there is one, is a line for people above them.
struct Section {
  std::string title;
  Body body;
  /// CPU: above 0, a task executes the section of the next one, piece by piece while it stores so many bytes in what
  /// follows, in CopyRuns and beside it: a piece is a round of the outermost loops that are never spelt out, as many of
  /// them as leave pieces of kLeastPiece stored bytes; without such loops it is executed at the end. Pieces that
  /// are a loop spelt out are taken from both halves in turn: each of their instructions would read evenly spaced
  /// addresses, which prefetchers that follow single instructions go on with beyond the tile.
  /// Rows of the task after that are FetchRows of the array that it reads.
  std::int64_t ahead = 0;
  int fills = -1;  ///< of what is executed ahead: the scratch array, of which there are two, one half each
};

// ---- tile statements: expand() resolves them

/// One digit of a tile: `extent` values of `var`; `when` says which of them exist.
struct Digit {
  Var var = 0;
  std::int64_t extent = 1;
  bool padded = false;  ///< Copy: what it copies is read for all values, also where `when` fails
};

/// CUDA: a copy by a tensor map, whose hardware moves one box after the other.
struct Boxes {
  int map = -1;            ///< number of Kernel::maps
  std::vector<Affine> at;  ///< coordinates of an element, along each dimension of the map
  std::vector<Var> apart;  ///< digits that number boxes; the others are their dimensions
};

/// to[...] = from[...] for all values of the digits; where a condition of `when` fails, 0. Such a 0 need not be written
/// for whole blocks past the end of an index whose digit is not padded.
struct Copy {
  std::vector<Digit> digits;
  Access to, from;
  std::vector<Condition> when;
  std::vector<Let> quotients = {};    ///< of sums of digits, which `from` may be made of, too
  bool async = false;                 ///< CUDA: cp.async; the elements are there after a wait and a barrier
  std::optional<DType> rounded = {};  ///< the half type that elements are rounded to before they are converted
  bool tf32 = false;                  ///< elements, of f32, are rounded to tf32
  bool flipped = false;               ///< the sign bits of elements, of i8, are: they become u8, larger by 128
  std::optional<Boxes> boxes = {};    ///< by a tensor map, in place of the threads of a block
};

/// acc += a * b (negative, on a CPU: acc -= a * b) for all digits: `rows` are those of operand a, `columns` those of b
/// and, innermost first, the lanes; `depth` those summed over; `batch`, on a GPU, those of a product among others side
/// by side: of warps and, where the atom has lanes for several, last of these. The atom decides how acc is laid out.
struct Mma {
  std::string atom;
  std::vector<Digit> rows, columns, depth, batch;
  int accumulator = -1;
  Access a, b;
  bool conj_a = false, conj_b = false;
  bool negative = false;
  bool outer = false;                    ///< acc = a * b: nothing is summed
  std::optional<Value> term = {};        ///< of fused multiply-adds: what stands in place of a * b,
  ir::OpCode combine = ir::OpCode::add;  ///< and what combines it with acc
  int parts = 1;         ///< tf32: that each factor is rounded to the sum of; the product of the last ones is left out
  int products = 4;      ///< CUDA: real ones of which one of complex numbers is made: 4, or 3, one of both parts' sums
  Var part = -1;         ///< CPU: of vectors of pairs for both operands, the row that says which part of a's is taken
  bool flipped = false;  ///< a's elements are larger by 128 than the factors
  Spread spread;

  /// CPU: terms that one instruction sums of each product, the last digit of the depth.
  std::int64_t group() const { return atom == "dot" ? depth.back().extent : 1; }

  /// The innermost columns, which are the lanes of a CPU's registers; nullptr: one column.
  const Digit* last_columns() const { return columns.empty() ? nullptr : &columns.back(); }
};

/// For every element of the accumulator tile: to = value, in which `accumulator` stands for the element. Elements for
/// which `when` fails are left alone.
struct Flush {
  std::vector<Digit> rows, columns, batch;
  int accumulator = -1;
  std::string atom;
  Access to;
  Value value;
  std::vector<Condition> when;
  std::vector<Let> quotients = {};  ///< of sums of digits, which `to` and `value` may be made of, too
  Spread spread;
  bool nontemporal = false;  ///< by nontemporal stores, of whole vectors on a CPU
  bool atomic = false;       ///< CUDA: the values are added to what is there, as of Store
  bool relaid = false;       ///< CUDA: through shared memory, from which neighbouring threads write neighbours
  /// CUDA: a loop over the blocks of a cluster, of each of which the accumulator holds a part of the sum. The parts are
  /// added in their order.
  Var parts = -1;
};

/// Every element of a register array is 0, or what another operation than a sum begins with.
struct Clear {
  int array = -1;
  ir::OpCode combine = ir::OpCode::add;
};

/// A register tile becomes what another one holds, element by element: both are of the same digits, which are rows,
/// columns and lanes of each in its own way.
struct TileExchange {
  struct Tile {
    int array = -1;
    std::vector<Digit> rows, columns;  ///< as those of Mma
  };
  Tile to, from;
};

// ---- native statements

/// A register array begins to live: it stands before the first use, in a body around all of them.
struct Declare {
  int array = -1;
  bool zeros = false;  ///< its elements are 0
};

/// A single register that begins to live with a value.
struct Define {
  int array = -1;
  Value value;
};

/// CUDA: offsets into a global array are from here on counted from `by` further on. It stands in no loop but those over
/// tasks and threads, and no statement after the body that it stands in accesses the array.
struct Advance {
  int array = -1;
  Affine by;
};

/// CUDA: the same for several arrays at once, whose ways are sums of digits of one number, found by a warp together:
/// its lane k takes the k-th digit, and a butterfly of shuffles adds up what the digits move each array by. The digits
/// are names that are said in place, all of them quotients or remainders of one expression.
struct AdvanceByLanes {
  std::vector<Var> digits;
  std::vector<Advance> moves;
};

/// CPU: the vectors of a register array, transposed: lane j of vector i becomes lane i of vector j. Of N vectors of
/// more lanes, it becomes lane i of what begins where transposed() says.
struct Transpose {
  int array = -1;
  int used = 0;   ///< vectors that are, the first ones: 0: all
  int group = 1;  ///< neighbours that stay together, as if they were one lane
};
struct TransposedLane {
  int vector = 0, lane = 0;
};
/// Where lane `lane` of vector 0 of a register array is once it is transposed: of groups of neighbours both count
/// these.
TransposedLane transposed(const Array& array, int lane, int group = 1);

/// CPU: `count` neighbours from one array to another: as they are, by stores that do not cross lines, or by nontemporal
/// stores of whole lines made of vectors of `lanes`.
struct CopyRun {
  enum class How : std::uint8_t { straight, lines, nontemporal };
  /// The part of a line that a run ends in waits for the task that goes on with it, `apart` further on in the range,
  /// which stores the line whole: one of `tiles` in a chain along a loop over tasks. What goes on begins where this run
  /// ends; scratch memory around what is copied is read up to whole lines.
  struct Carry {
    Access line;
    Var along = -1;
    std::int64_t tiles = 1, apart = 1;
  };
  Access to, from;
  std::int64_t count = 0;
  How how = How::straight;
  int lanes = 1;
  std::int64_t fetched = 0;           ///< lines that are prefetched meanwhile, as by FetchLines
  std::optional<Affine> origin = {};  ///< of the task in the array: lines that its next run has in part are prefetched
  std::optional<Carry> carry = {};
};
/// CPU: between stores of so many bytes each: what is executed ahead goes on, and a line of rows ahead is prefetched.
struct Beside {
  std::int64_t bytes = 0;
};

/// CPU: of the next task, or of the next `tasks` beside each other of every `in_row`, the `length` neighbours in memory
/// from each of `rows` after `from` on, which FetchLines that follow in the task prefetch, line by line, `early` tasks
/// before it is their turn.
struct FetchRows {
  Access from;  ///< of this task, by names of its own
  std::vector<std::int64_t> rows;
  std::int64_t length = 1, tasks = 1, in_row = 1, early = 0;
  std::vector<std::int64_t> rounds = {0};  ///< where they lie again: from the second on, then the next task's first
};
struct FetchLines {
  std::int64_t lines = 1;  ///< at most: no more than there are
};

struct Store {
  Access to;
  Value value;
  bool nontemporal = false;  ///< by a nontemporal store, on a CPU where a vector's address is a multiple of one
  bool atomic = false;       ///< CUDA: added to what is there, by an atomic addition, as others may in any order
};

/// array[place] = value, where the array has such an element.
struct Scatter {
  int array = -1;
  Value place;  ///< i64
  Value value;
};

/// CPU: the cache line of an element that is read or written soon, which may lie outside of the array. CUDA: a run of
/// neighbours that is read soon, into the second cache. With digits, a tile statement: the lines of all elements that
/// they reach, on a CPU the last digit's neighbours a line at a time.
struct Prefetch {
  Access from;
  std::vector<Digit> digits;
  bool written = false;
  std::vector<Let> quotients = {};   ///< CPU: of sums of digits, which `from` may be made of, too
  std::vector<Condition> when = {};  ///< CUDA: of a tile, which elements there are
  std::int64_t count = 1;            ///< CUDA: neighbours, multiples of 16 bytes that begin at one
};

/// CPU: `count` neighbours from one array to another by vectors of `lanes`; the next `count` of the source are
/// prefetched on the way. Nontemporal where an address is a multiple of a vector.
struct CopyRow {
  Access to, from;
  std::int64_t count = 0;
  int lanes = 1;
  bool prefetch = false, nontemporal = false;
};

/// CUDA: a register of every lane of a warp becomes the combination of those of `lanes` neighbours, a power of two, in
/// one order for all.
struct LaneReduce {
  Access registers;
  ir::OpCode op = ir::OpCode::add;
  int lanes = kWarp;
};

/// CUDA: a register of every lane becomes the combination of those of the lanes up to it.
struct LaneScan {
  Access registers;
  ir::OpCode op = ir::OpCode::add;
};

/// CUDA: `bytes` from global to shared memory that land at a wait; 0 where a condition fails.
struct AsyncCopy {
  Access to, from;
  int bytes = 16;
  std::vector<Condition> when;
};

/// CUDA: the elements of an array count what copies by tensor maps bring, phase by phase: each is made ready for its
/// first phase, by one thread, and seen by others behind a barrier.
struct Counters {
  int array = -1;  ///< shared, of u64
};
/// CUDA: the phase that a counter is in ends when so many bytes have come: said by one thread, once a phase.
struct Expect {
  Access counter;
  std::int64_t bytes = 0;
};
/// CUDA: a box of a tensor map to shared memory, started by one thread; what is outside of the tensor is 0.
struct BoxCopy {
  Access to;  ///< where the box begins, its dimensions one behind the other
  int map = -1;
  std::vector<Affine> at;  ///< coordinates of its first element
  Access counter;
};
/// CUDA: until a counter's phases of that parity are over, and with them the copies that it counts: phases are numbered
/// from 0. Threads see what has come, and so do products of warp groups.
struct Await {
  Access counter;
  Affine parity;
};
/// Closes a group of a thread's copies, or of its warp group's products.
struct Commit {
  bool products = false;
};
struct Wait {
  int groups = 0;  ///< that may still be under way
  int sums = -1;   ///< of products: the registers that they add to
};
/// CUDA: of all threads of a warp, of a block, or of the blocks of a cluster.
struct Barrier {
  enum class Of : std::uint8_t { warp, block, cluster } of = Of::block;
};

/// CUDA: one instruction of a warp that reads as many 8 x 16 byte matrices of shared memory as `to` has registers:
/// lanes 8 i to 8 i + 7 point to the rows of the i-th, 16 bytes from `from` on. Register i of lane l then holds bytes 4
/// (l % 4) to 4 (l % 4) + 3 of its row l / 4; transposed, elements of 16 bits 2 (l % 4) and 2 (l % 4) + 1 of its column
/// l / 4.
struct MatrixLoad {
  Access to;    ///< registers of 32 bits: all but the last dimension, which has 1, 2 or 4
  Access from;  ///< 16 bytes, at a multiple of 16
  bool transposed = false;
  int fragments = 1;  ///< as many, one behind the other in the dimension before the last
};

/// CUDA: one instruction of a warp on fragments in registers: d += a * b; index of the first register of each.
struct MmaCall {
  std::string atom;
  Access d, a, b;
};

/// CUDA: what a thread has written is seen by products of warp groups: to shared memory by those behind the barrier
/// that follows, to registers by its own.
struct Fence {
  int registers = -1;  ///< that products add to, or that hold a factor; -1: shared memory
};

/// An operand of a warp group's product in shared memory: rows of neighbours, each of as many bytes as the array's
/// swizzle spreads (32, 64 or 128), along the depth or along the operand's own side. Eight rows are a block. Element
/// (side p, depth k) lies from `start` on where layout_of() says (warp_group.hpp).
struct SharedMatrix {
  Access start;
  bool along_depth = true;
  std::int64_t leading = 0;  ///< along the side: elements from one row to the next one of the same depth
  std::int64_t stride = 0;   ///< elements from one block to the next
};

/// CUDA: d += a * b by the four warps of a group, which goes on while they do: committed and waited for as copies are.
/// Of d's registers all but the first index, the group's rows, are taken: eight columns each of the second. `a` may be
/// in registers, too, as MmaCall has it: each warp its own rows.
struct GroupMma {
  std::string atom;
  Access d;
  std::variant<SharedMatrix, Access> a;
  SharedMatrix b;
};

struct Statement {
  std::variant<Loop, Sweep, Let, If, Comment, Section, Copy, Mma, Flush, Clear, TileExchange, Declare, Define, Scatter,
               Advance, AdvanceByLanes, Store, Transpose, CopyRun, Beside, FetchRows, FetchLines, Prefetch, CopyRow,
               LaneReduce, LaneScan, AsyncCopy, Counters, Expect, BoxCopy, Await, Commit, Wait, Barrier, MatrixLoad,
               MmaCall, Fence, GroupMma>
      node;
  int origin = -1;  ///< directive that made it: number of a line of Kernel::directives
};

/// f(value) for a value and all that it is made of.
template <class F>
void for_each_value(const Value& value, F&& f) {
  f(value);
  for (const auto& operand : value.operands) for_each_value(operand, f);
}

/// f(body) for each body in a statement.
template <class F>
void for_each_body(const Statement& statement, F&& f) {
  if (const auto* loop = std::get_if<Loop>(&statement.node)) f(loop->body);
  if (const auto* section = std::get_if<Section>(&statement.node)) f(section->body);
  if (const auto* sweep = std::get_if<Sweep>(&statement.node)) {
    for (const auto& part : sweep->parts) f(part.body);
  }
  if (const auto* branch = std::get_if<If>(&statement.node)) f(branch->then), f(branch->otherwise);
}

struct Kernel {
  Target target = Target::cpu;
  std::vector<Variable> vars;
  std::vector<Array> arrays;  ///< arguments first, in the program's order of buffers
  std::vector<ir::Param> params;
  std::vector<TensorMap> maps;  ///< CUDA: arguments behind all others
  Body body;
  int threads = 1;  ///< of a block (CUDA)
  int blocks = 1;   ///< of a multiprocessor at once, for whose registers compilers make room; 0: as they like (CUDA)
  bool contracts = true;                ///< products may be fused into the sums that use them
  int vector_bytes = 64;                ///< widest vectors that copies are made of (CPU)
  std::vector<std::string> directives;  ///< one line each, for people and for `origin`

  Var add_var(std::string name, std::int64_t extent);
  int add_array(Array array);
  std::int64_t extent(Var var) const { return vars[static_cast<std::size_t>(var)].extent; }
  const Array& array(int number) const { return arrays[static_cast<std::size_t>(number)]; }
  std::int64_t tasks() const;    ///< product of the extents of the loops over tasks, and over the blocks of a cluster
  std::int64_t cluster() const;  ///< CUDA: blocks of a cluster; 1 where none work together
  std::int64_t bytes_of(Space space) const noexcept;  ///< of all arrays of a space, each at its alignment
};

inline constexpr int kMostThreads = 1024;                                 ///< of a block
inline constexpr std::int64_t kWidest = 16;                               ///< bytes of a GPU's widest access
inline constexpr std::int64_t kMostBlocks = (std::int64_t{1} << 31) - 1;  ///< of a launch
inline constexpr std::int64_t kMostCluster = 8;                ///< blocks of a cluster that every GPU has room for
inline constexpr std::int64_t kSharedAlignment = 128;          ///< of a shared array that asks for none
inline constexpr std::int64_t kStaticSharedBytes = 48 * 1024;  ///< that a CUDA kernel has without asking for more

/// The rule that a cluster of so many blocks breaks; empty: none.
std::string broken_by_cluster(std::int64_t blocks);

/// The rule that register arrays of so many bytes on a CPU break; empty: none. It follows what has them.
std::string broken_by_stack(std::int64_t bytes);

/// Whether a GPU adds to an element of that type atomically.
bool has_atomic_addition(DType type) noexcept;

/// A shared array begins at a multiple of so many bytes.
std::int64_t shared_alignment(const Array& array) noexcept;
/// Of a shared array with what fills it up to its alignment; of all shared arrays of an expanded kernel, one behind the
/// other.
std::int64_t shared_bytes(const Array& array) noexcept;
std::int64_t shared_bytes(const Kernel& kernel) noexcept;

/// Product of the extents of the thread loops that are nested in a body, 1 where there is none.
std::int64_t thread_product(const Kernel& kernel, const Body& body);

/// Whether a value is made of elements of an array.
bool reads(const Value& value, int array);

/// Whether there are tile statements, which expand() resolves, in a body or further inside.
bool has_tiles(const Body& body);

/// Whether warp groups multiply in a body or further inside.
bool has_group_products(const Body& body);

/// The rule and, where one made the node, the directive.
std::string with_maker(const Kernel& kernel, int origin, std::string rule);
/// Throws InternalError: the rule that a kernel breaks, and what made the node.
[[noreturn]] void broken(const Kernel& kernel, int origin, const std::string& rule);

}  // namespace ricci::kernel
