#include "kernel/print.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ricci::kernel {
namespace {

const char* name_of(Bind bind) {
  switch (bind) {
    case Bind::serial:
      return "for";
    case Bind::rolled:
      return "rolled";
    case Bind::any:
      return "loop";
    case Bind::unroll:
      return "unroll";
    case Bind::vector:
      return "vector";
    case Bind::task:
      return "task";
    case Bind::cluster:
      return "cluster";
    case Bind::thread:
      return "thread";
  }
  return "?";
}

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel) {}

  std::string run() {
    line("kernel for {}: {} tasks{}", kernel_.target == Target::cpu ? "cpu" : "cuda", kernel_.tasks(),
         kernel_.target == Target::cpu ? fmt::format(", vectors of {} bytes", kernel_.vector_bytes)
                                       : fmt::format(" of {} threads", kernel_.threads));
    for (const auto& array : kernel_.arrays) this->array(array);
    for (const auto& param : kernel_.params) line("param {} : {}", param.name, ricci::name(param.type));
    for (const auto& map : kernel_.maps) this->map(map);
    body(kernel_.body);
    return std::move(text_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_.append(static_cast<std::size_t>(2 * depth_), ' ');
    text_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  void array(const Array& array) {
    std::string shape;
    for (const auto extent : array.shape) shape += fmt::format("[{}]", extent);
    line("{} {} : {}{}{}{}{}{}{}{}", kernel::name_of(array.space), array.name, ricci::name(array.type),
         array.lanes > 1 ? fmt::format("x{}", array.lanes) : "", shape,
         array.first < 0 ? fmt::format(" from {}", array.first) : "",
         array.swizzle.mask != 0
             ? fmt::format(" swizzle {} {} {}", array.swizzle.shift, array.swizzle.mask, array.swizzle.unit)
             : "",
         array.alignment > 0 ? fmt::format(" align {}", array.alignment) : "", array.written ? " written" : "",
         array.tf32 ? " tf32" : "");
  }

  void map(const TensorMap& map) {
    std::string text;
    for (const auto& [extent, stride, box] : map.dimensions)
      text += fmt::format("{} {} of {} by {}", text.empty() ? "" : ",", box, extent, stride);
    line("map {} of {} from {}, boxes of{}{}", map.name, array_name(map.array), map.first, text,
         map.row_bytes > 0 ? fmt::format(", rows of {} bytes swizzled", map.row_bytes) : "");
  }

  void body(const Body& body) {
    for (const auto& statement : body) std::visit([&](const auto& node) { one(node); }, statement.node);
  }
  void inside(const Body& body) {
    ++depth_;
    this->body(body);
    --depth_;
  }

  const std::string& name(Var var) const { return kernel_.vars[static_cast<std::size_t>(var)].name; }
  std::string text(const Affine& affine) const { return print(kernel_, affine); }
  std::string text(const Access& access) const { return print(kernel_, access); }
  std::string where(const char* word, const std::vector<Condition>& when) const {
    return when.empty() ? std::string() : fmt::format(" {} {}", word, print(kernel_, when));
  }
  std::string text(const Spread& spread) const {
    if (kernel_.target == Target::cpu) return {};
    std::string order;
    for (const auto& [extent, of_rows] : spread.order) {
      if (extent > 1)
        order += fmt::format("{}{} {}", order.empty() ? " by " : ", ", extent, of_rows ? "rows" : "columns");
    }
    return fmt::format(", warps {}x{}{} runs {}x{}x{}", spread.warp_rows, spread.warp_columns, order, spread.run_rows,
                       spread.run_columns, spread.run_depth);
  }
  std::string text(const std::vector<Digit>& digits) const {
    std::string text;
    for (const auto& digit : digits)
      text += fmt::format("{}{}:{}", text.empty() ? "" : " ", name(digit.var), digit.extent);
    return text.empty() ? "1" : text;
  }

  void one(const Loop& loop) {
    const bool steps = loop.step != 1 || loop.first != Affine();
    line("{} {}{} in {}{}{}{}", name_of(loop.bind), name(loop.var),
         steps ? fmt::format(" from {} by {}", text(loop.first), loop.step) : "", kernel_.extent(loop.var),
         loop.times > 0 ? fmt::format(", {} at once", loop.times) : "", where("while", loop.when),
         loop.stages > 1 ? fmt::format(", copies in {} places{}", loop.stages, loop.prefetch ? ", fragments ahead" : "")
                         : "");
    inside(loop.body);
  }
  void one(const Sweep& sweep) {
    line("sweep {} from {} to {}{}{}", name(sweep.var), text(sweep.first), text(sweep.end),
         sweep.past_end ? " and past it" : "",
         sweep.aligned ? ", first to where " + text(*sweep.aligned) + " is aligned" : "");
    for (const auto& part : sweep.parts) {
      line("{} by {}{}", name_of(part.bind), part.step, part.times > 0 ? fmt::format(", {} at once", part.times) : "");
      inside(part.body);
    }
  }
  void one(const Let& let) {
    if (let.value) return line("let {} = {}", name(let.var), print(kernel_, *let.value));
    if (!let.values.empty())
      return line("let {} = number {} of {}", name(let.var), text(let.of), fmt::join(let.values, " "));
    line("let {} = {}({}){}{}{}", name(let.var), let.anew ? "anew " : "", text(let.of),
         let.divisor > 1 ? fmt::format(" / {}", let.divisor) : "",
         let.modulus > 0 ? fmt::format(" % {}", let.modulus) : "",
         let.most >= 0 ? fmt::format(" at most {}", let.most) : "");
  }
  void one(const If& branch) {
    auto when = print(kernel_, branch.when);
    for (const auto& value : branch.values) when += (when.empty() ? "" : " and ") + print(kernel_, value);
    line("if {}", when);
    inside(branch.then);
    if (branch.otherwise.empty()) return;
    line("else");
    inside(branch.otherwise);
  }
  void one(const Comment& comment) { line("# {}", comment.text); }
  void one(const Section& section) {
    line("section{}{}", section.title.empty() ? "" : " # " + section.title,
         section.ahead > 0 ? fmt::format(", of the next task while {} bytes are stored", section.ahead) : "");
    inside(section.body);
  }

  void one(const Copy& copy) {
    for (const auto& quotient : copy.quotients) one(quotient);
    line("copy {} = {} over {}{}{}{}", text(copy.to), text(copy.from), text(copy.digits), where("where", copy.when),
         copy.boxes   ? fmt::format(" by {}[{}]", kernel_.maps[static_cast<std::size_t>(copy.boxes->map)].name,
                                    coordinates(copy.boxes->at))
         : copy.async ? " async"
                      : "",
         copy.flipped   ? " flipped"
         : copy.rounded ? fmt::format(" rounded to {}", ricci::name(*copy.rounded))
         : copy.tf32    ? " rounded to tf32"
                        : "");
  }
  void one(const Mma& mma) {
    const auto operand = [&](const Access& access, bool conj) {
      return conj ? fmt::format("conj({})", text(access)) : text(access);
    };
    if (mma.term) {
      line("mma {} {} = {} of {}, {} of a = {}, b = {} over rows {}, columns {}, depth {}{}{}", mma.atom,
           array_name(mma.accumulator), ir::name_of(mma.combine), array_name(mma.accumulator),
           print(kernel_, *mma.term), text(mma.a), text(mma.b), text(mma.rows), text(mma.columns), text(mma.depth),
           batch(mma.batch), text(mma.spread));
      return;
    }
    line("mma {}{}{} {} {} {} * {} over rows {}, columns {}, depth {}{}{}", mma.atom,
         mma.parts > 1 ? fmt::format(" of {} parts", mma.parts) : "",
         mma.products != 4 ? fmt::format(" by {} products", mma.products) : "", array_name(mma.accumulator),
         mma.outer      ? "="
         : mma.negative ? "-="
                        : "+=",
         operand(mma.a, mma.conj_a) + (mma.flipped ? " flipped" : ""), operand(mma.b, mma.conj_b), text(mma.rows),
         text(mma.columns), text(mma.depth), batch(mma.batch), text(mma.spread));
  }
  void one(const Flush& flush) {
    for (const auto& quotient : flush.quotients) one(quotient);
    line("flush {} {} {} over rows {}, columns {}{}{}{}{}", text(flush.to), flush.atomic ? "atomically +=" : "=",
         print(kernel_, flush.value), text(flush.rows), text(flush.columns), batch(flush.batch),
         flush.parts >= 0 ? fmt::format(", parts of {} added", name(flush.parts))
         : flush.relaid   ? " through shared memory"
                          : "",
         flush.nontemporal ? ", nontemporal" : "", where("where", flush.when));
  }
  std::string batch(const std::vector<Digit>& digits) const { return digits.empty() ? "" : ", batch " + text(digits); }
  void one(const Clear& clear) {
    line("clear {}{}", array_name(clear.array),
         clear.combine == ir::OpCode::add ? "" : fmt::format(" for {}", ir::name_of(clear.combine)));
  }
  void one(const TileExchange& exchange) { line("exchange {} = {}", tile(exchange.to), tile(exchange.from)); }
  std::string tile(const TileExchange::Tile& tile) const {
    return fmt::format("{} over rows {}, columns {}", array_name(tile.array), text(tile.rows), text(tile.columns));
  }

  void one(const Declare& declare) {
    line("declare {}{}", array_name(declare.array), declare.zeros ? " of zeros" : "");
  }
  void one(const Define& define) { line("declare {} = {}", array_name(define.array), print(kernel_, define.value)); }
  void one(const Advance& advance) { line("advance {} by {}", array_name(advance.array), text(advance.by)); }
  void one(const AdvanceByLanes& advance) {
    for (const auto& move : advance.moves)
      line("advance {} by {}, a digit a lane", array_name(move.array), text(move.by));
  }
  void one(const Scatter& scatter) {
    line("scatter {}[{}] = {}", array_name(scatter.array), print(kernel_, scatter.place),
         print(kernel_, scatter.value));
  }
  void one(const Prefetch& prefetch) {
    for (const auto& quotient : prefetch.quotients) one(quotient);
    line("prefetch {}{}{}{}", prefetch.count > 1 ? fmt::format("{} of ", prefetch.count) : "", text(prefetch.from),
         prefetch.digits.empty() ? "" : " over " + text(prefetch.digits), where("where", prefetch.when));
  }
  void one(const CopyRow& copy) {
    line("row {} = {} of {} by {}{}{}", text(copy.to), text(copy.from), copy.count, copy.lanes,
         copy.prefetch ? ", the next one prefetched" : "", copy.nontemporal ? ", nontemporal" : "");
  }
  void one(const LaneReduce& reduce) {
    line("lanes {} = {} of {}", text(reduce.registers), ir::name_of(reduce.op),
         reduce.lanes == kWarp ? "all" : fmt::format("each {}", reduce.lanes));
  }
  void one(const LaneScan& scan) { line("lanes {} = {} up to each", text(scan.registers), ir::name_of(scan.op)); }
  void one(const Transpose& transpose) {
    line("transpose {}{}{}", array_name(transpose.array),
         transpose.group > 1 ? fmt::format(" by groups of {}", transpose.group) : "",
         transpose.used > 0 ? fmt::format(", {} of them used", transpose.used) : "");
  }
  void one(const CopyRun& run) {
    line("run {} = {} of {}{}{}{}{}", text(run.to), text(run.from), run.count,
         run.how == CopyRun::How::straight ? ""
         : run.how == CopyRun::How::lines  ? " by lines"
                                           : fmt::format(" nontemporal, {} at once", run.lanes),
         run.fetched > 0 ? fmt::format(", {} lines of rows ahead", run.fetched) : "",
         run.origin ? ", the next task's ends prefetched" : "",
         run.carry ? fmt::format(", carried along {} in {}", name(run.carry->along), text(run.carry->line)) : "");
  }
  void one(const Beside& beside) { line("beside {} bytes", beside.bytes); }
  void one(const FetchRows& fetch) {
    line("rows ahead {} of {}, {} of {}{}", text(fetch.from),
         fetch.tasks == 1 ? "the next task" : fmt::format("the next {} tasks", fetch.tasks), fetch.rows.size(),
         fetch.length,
         fetch.early > 0           ? fmt::format(", {} early", fetch.early)
         : fetch.rounds.size() > 1 ? fmt::format(", before them this one's of {} rounds", fetch.rounds.size() - 1)
                                   : "");
  }
  void one(const FetchLines& fetch) { line("prefetch {} lines of rows ahead", fetch.lines); }
  void one(const Store& store) {
    line("{} {} {}{}", text(store.to), store.atomic ? "atomically +=" : "=", print(kernel_, store.value),
         store.nontemporal ? ", nontemporal" : "");
  }
  void one(const AsyncCopy& copy) {
    line("async {} = {} of {} bytes{}", text(copy.to), text(copy.from), copy.bytes, where("where", copy.when));
  }
  void one(const Counters& counters) { line("count in {}", array_name(counters.array)); }
  void one(const Expect& expect) { line("expect {} bytes in {}", expect.bytes, text(expect.counter)); }
  void one(const BoxCopy& copy) {
    const auto& map = kernel_.maps[static_cast<std::size_t>(copy.map)];
    line("box {} = {}[{}], counted in {}", text(copy.to), map.name, coordinates(copy.at), text(copy.counter));
  }
  std::string coordinates(const std::vector<Affine>& at) const {
    std::vector<std::string> all;
    for (const auto& coordinate : at) all.push_back(text(coordinate));
    return fmt::format("{}", fmt::join(all, ", "));
  }
  void one(const Await& await) { line("await {}, parity {}", text(await.counter), text(await.parity)); }
  void one(const Commit& commit) { line("commit{}", commit.products ? " products" : ""); }
  void one(const Wait& wait) {
    line("wait {}{}", wait.groups, wait.sums >= 0 ? " of products to " + array_name(wait.sums) : "");
  }
  void one(const Fence& fence) { line("fence {}", fence.registers >= 0 ? array_name(fence.registers) : "shared"); }
  void one(const Barrier& barrier) {
    line("barrier{}", barrier.of == Barrier::Of::warp      ? " of a warp"
                      : barrier.of == Barrier::Of::cluster ? " of the cluster"
                                                           : "");
  }
  void one(const MatrixLoad& load) {
    line("matrix {}{} = {}{}", text(load.to), load.fragments > 1 ? fmt::format(" and {} more", load.fragments - 1) : "",
         text(load.from), load.transposed ? " transposed" : "");
  }
  void one(const MmaCall& call) { line("{} {} += {} * {}", call.atom, text(call.d), text(call.a), text(call.b)); }
  std::string text(const SharedMatrix& matrix) const {
    const auto strides = matrix.along_depth ? fmt::format("rows along the depth, blocks {} apart", matrix.stride)
                                            : fmt::format("rows {} and blocks {} apart", matrix.leading, matrix.stride);
    return fmt::format("{} ({})", text(matrix.start), strides);
  }
  void one(const GroupMma& product) {
    const auto a = std::visit([&](const auto& operand) { return text(operand); }, product.a);
    line("{} {} += {} * {}", product.atom, text(product.d), a, text(product.b));
  }

  const std::string& array_name(int number) const { return kernel_.array(number).name; }

  const Kernel& kernel_;
  std::string text_;
  int depth_ = 0;
};

}  // namespace

const char* name_of(Space space) noexcept {
  switch (space) {
    case Space::global:
      return "global";
    case Space::scratch:
      return "scratch";
    case Space::shared:
      return "shared";
    case Space::registers:
      return "registers";
  }
  return "?";
}

std::string print(const Kernel& kernel, const Affine& affine) {
  std::string text;
  const auto term = [&](std::int64_t coefficient, const std::string& factor) {
    const auto size = coefficient < 0 ? -coefficient : coefficient;
    text += text.empty() ? (coefficient < 0 ? "-" : "") : coefficient < 0 ? " - " : " + ";
    text += factor.empty() ? std::to_string(size) : size == 1 ? factor : fmt::format("{}*{}", size, factor);
  };
  for (const auto& [var, coefficient] : affine.terms) {
    const auto known = var >= 0 && static_cast<std::size_t>(var) < kernel.vars.size();
    term(coefficient, known ? kernel.vars[static_cast<std::size_t>(var)].name : fmt::format("?{}", var));
  }
  if (affine.constant != 0 || text.empty()) term(affine.constant, "");
  return text;
}

std::string print(const Kernel& kernel, const Access& access) {
  const bool known = access.array >= 0 && static_cast<std::size_t>(access.array) < kernel.arrays.size();
  std::string text = known ? kernel.array(access.array).name : fmt::format("?{}", access.array);
  const bool vectors = known && kernel.array(access.array).space != Space::registers && access.lanes > 1;
  for (const auto& index : access.index) {
    text += fmt::format("[{}{}]", print(kernel, index),
                        access.whole ? " : whole"
                        : vectors    ? fmt::format(" : {}", access.lanes)
                                     : "");
  }
  if (access.lane) text += fmt::format("[{}]", print(kernel, *access.lane));
  if (access.block) text += fmt::format(" of block {}", print(kernel, *access.block));
  if (access.since) text += fmt::format(" since {}", print(kernel, *access.since));
  if (access.until) text += fmt::format(" until {}", print(kernel, *access.until));
  return access.count > 0 ? fmt::format("{}, first {}", text, access.count) : text;
}

std::string print(const Kernel& kernel, const std::vector<Condition>& when) {
  std::vector<std::string> parts;
  for (const auto& condition : when)
    parts.push_back(fmt::format("{} < {}", print(kernel, condition.value), condition.below));
  return fmt::format("{}", fmt::join(parts, " and "));
}

std::string print(const Kernel& kernel, const Value& value) {
  switch (value.kind) {
    case Value::Kind::load:
      return print(kernel, value.access);
    case Value::Kind::factor:
      return value.param == 0 ? "a" : "b";
    case Value::Kind::param:
      return kernel.params[static_cast<std::size_t>(value.param)].name;
    case Value::Kind::constant:
      if (is_complex(value.type)) return fmt::format("({}, {})", value.number.real(), value.number.imag());
      if (is_integer(value.type)) return fmt::format("{}", static_cast<std::int64_t>(value.bits));
      return fmt::format("{}", value.number.real());
    case Value::Kind::index:
      return fmt::format("index({})", print(kernel, value.affine));
    case Value::Kind::shuffle:
      return fmt::format("shuffle({}, {})", print(kernel, value.operands.front()), print(kernel, value.affine));
    case Value::Kind::shuffle_up:
      return fmt::format("shuffle_up({}, {})", print(kernel, value.operands.front()), print(kernel, value.affine));
    case Value::Kind::power_of_two:
      return fmt::format("power_of_two({})", print(kernel, value.operands.front()));
    case Value::Kind::ballot:
      return fmt::format("ballot({})", print(kernel, value.operands.front()));
    case Value::Kind::prefixes:
      return fmt::format("prefixes({})", print(kernel, value.operands.front()));
    case Value::Kind::shifted:
      return fmt::format("shifted({}, {})", print(kernel, value.operands.front()),
                         print(kernel, value.operands.back()));
    case Value::Kind::times_i:
      return fmt::format("times_i({})", print(kernel, value.operands.front()));
    case Value::Kind::conj_pairs:
      return fmt::format("conj_pairs({})", print(kernel, value.operands.front()));
    case Value::Kind::real_pairs:
      return fmt::format("real_pairs({})", print(kernel, value.operands.front()));
    case Value::Kind::imag_pairs:
      return fmt::format("imag_pairs({})", print(kernel, value.operands.front()));
    case Value::Kind::interleave:
      return fmt::format("interleave({}, {})", print(kernel, value.operands.front()),
                         print(kernel, value.operands.back()));
    case Value::Kind::dot:
      return fmt::format("dot({}, {}, {})", print(kernel, value.operands[0]), print(kernel, value.operands[1]),
                         print(kernel, value.operands[2]));
    case Value::Kind::part:
      return fmt::format("{} of {} from {}", value.lanes(), print(kernel, value.operands.front()),
                         print(kernel, value.affine));
    case Value::Kind::pack:
    case Value::Kind::op:
      break;
  }
  std::vector<std::string> operands;
  for (const auto& operand : value.operands) operands.push_back(print(kernel, operand));
  if (value.kind == Value::Kind::pack) return fmt::format("[{}]", fmt::join(operands, ", "));
  const auto name = value.op == ir::OpCode::cast ? ricci::name(value.type) : ir::name_of(value.op);
  return fmt::format("{}({})", name, fmt::join(operands, ", "));
}

std::string print(const Kernel& kernel) { return Printer(kernel).run(); }

}  // namespace ricci::kernel
