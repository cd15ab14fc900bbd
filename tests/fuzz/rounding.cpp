#include "fuzz/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "fuzz/random_tensor.hpp"
#include "ir/builder.hpp"
#include "ir/types.hpp"

namespace ricci::fuzz {
namespace {

using namespace ir;

std::size_t at(int k) { return static_cast<std::size_t>(k); }

DType part_of(DType type) { return type == DType::c128 ? DType::f64 : type == DType::c64 ? DType::f32 : type; }

/// A kernel that computes what another does, each complex value as two real ones, and the magnitudes beside the values.
class Twin {
 public:
  /// magnitude[b]: buffer b of the original has one, since a kernel of the sequence writes it.
  Twin(const Program& program, const std::vector<bool>& magnitude) : from_(program), has_magnitude_(magnitude) {
    auto& to = builder_.program;
    to.indices = program.indices;
    for (const auto& buffer : program.buffers) {
      auto own = buffer;
      own.type = part_of(buffer.type);
      if (is_complex(buffer.type)) {
        own.first *= 2;
        own.last = 2 * own.last + 1;
      }
      to.buffers.push_back(own);
    }
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
      magnitude_buffer_.push_back(static_cast<int>(to.buffers.size()));
      if (!magnitude[b]) continue;
      auto own = program.buffers[b];
      own.name += "_magnitude";
      own.type = DType::f64;
      own.alignment = 8;
      to.buffers.push_back(own);
    }
    for (const auto& param : program.params) {
      param_.push_back(static_cast<int>(to.params.size()));
      to.params.push_back({param.name, part_of(param.type)});
      if (is_complex(param.type)) to.params.push_back({param.name + "_imaginary", part_of(param.type)});
    }
    for (const auto& node : program.nodes) nodes_.push_back(convert(node));
    for (const auto& statement : program.statements) store(statement);
  }

  Program program() { return builder_.finish(); }

 private:
  /// A value of the original: its parts, and the magnitude of floats.
  struct Value {
    NodeId re = -1, im = -1, magnitude = -1;
  };

  static Affine part(Affine offset, int which) {
    for (auto& coefficient : offset.coefficient) coefficient *= 2;
    offset.constant = 2 * offset.constant + which;
    return offset;
  }

  const Value& operand(const Node& node, int k) const { return nodes_[at(node.operand[k])]; }
  DType operand_type(const Node& node, int k) const { return from_.nodes[at(node.operand[k])].type; }

  NodeId op(OpCode code, NodeId x, NodeId y = -1) { return builder_.op(code, builder_.node(x).type, x, y); }
  NodeId number(double value) { return builder_.constant(value, DType::f64); }
  NodeId plus(NodeId x, NodeId y) { return op(OpCode::add, x, y); }
  NodeId times(NodeId x, NodeId y) { return op(OpCode::mul, x, y); }
  NodeId over(NodeId x, NodeId y) { return op(OpCode::div, x, y); }
  NodeId wide(NodeId x) { return builder_.cast(x, DType::f64); }
  /// |x| in f64; of a complex number the sum of its parts'.
  NodeId size_of_value(const Value& x) {
    const auto re = op(OpCode::absolute, wide(x.re));
    return x.im < 0 ? re : plus(re, op(OpCode::absolute, wide(x.im)));
  }
  NodeId magnitude_of(const Value& x) { return x.magnitude >= 0 ? x.magnitude : size_of_value(x); }

  Value convert(const Node& node) {
    Value value;
    switch (node.kind) {
      case NodeKind::load:
        if (is_complex(node.type)) {
          value.re = builder_.load(node.source, part(node.offset, 0));
          value.im = builder_.load(node.source, part(node.offset, 1));
        } else {
          value.re = builder_.load(node.source, node.offset);
        }
        if (is_integer(node.type)) return value;
        value.magnitude = has_magnitude_[at(node.source)]
                              ? builder_.load(magnitude_buffer_[at(node.source)], node.offset)
                              : size_of_value(value);
        return value;
      case NodeKind::param:
        value.re = builder_.param(param_[at(node.source)]);
        if (is_complex(node.type)) value.im = builder_.param(param_[at(node.source)] + 1);
        break;
      case NodeKind::constant:
        if (is_integer(node.type)) {
          value.re = builder_.constant(node);
          return value;
        }
        value.re = builder_.constant(node.value.real(), part_of(node.type));
        if (is_complex(node.type)) value.im = builder_.constant(node.value.imag(), part_of(node.type));
        break;
      case NodeKind::index:
        value.re = builder_.index(node.source);
        return value;
      case NodeKind::reduce:
      case NodeKind::scan:
        return combine(node);
      case NodeKind::guard:
        return each(node, 1, [&](NodeId x) { return builder_.guard(operand(node, 0).re, x); });
      case NodeKind::compact:
        return each(node, 1, [&](NodeId x) {
          return builder_.compact(operand(node, 0).re, x, operand(node, 2).re, node.over[0]);
        });
      case NodeKind::op:
        return operate(node);
    }
    if (!is_integer(node.type)) value.magnitude = size_of_value(value);
    return value;
  }

  template <class F>
  Value each(const Node& node, int k, F f) {
    const auto& x = operand(node, k);
    return {f(x.re), x.im < 0 ? -1 : f(x.im), x.magnitude < 0 ? -1 : f(x.magnitude)};
  }

  Value combine(const Node& node) {
    const auto& x = operand(node, 0);
    const auto run = [&](OpCode code, NodeId body, NodeId before) {
      if (node.kind == NodeKind::reduce) return builder_.reduce(code, body, node.over);
      return builder_.scan(code, body, node.over[0], node.exclusive, before);
    };
    const bool begins = node.kind == NodeKind::scan && node.operand[1] >= 0;
    const auto before = begins ? operand(node, 1) : Value{};
    if (x.im >= 0 && node.op != OpCode::add) throw std::runtime_error("complex values are combined by sums alone");
    Value value;
    value.re = run(node.op, x.re, before.re);
    if (x.im >= 0) value.im = run(node.op, x.im, before.im);
    if (x.magnitude < 0) return value;
    const auto code = node.op == OpCode::minimum ? OpCode::maximum : node.op;
    value.magnitude = run(code, x.magnitude, before.magnitude);
    return value;
  }

  Value operate(const Node& node) {
    const auto& x = operand(node, 0);
    const int count = operand_count(node);
    const auto type = part_of(node.type);
    Value value;
    if (is_complex(node.type)) {
      value = complex_parts(node);
    } else if (node.op == OpCode::real_part || node.op == OpCode::imag_part) {
      value.re = node.op == OpCode::real_part ? x.re : x.im;
    } else {
      value.re =
          builder_.op(node.op, type, x.re, count > 1 ? operand(node, 1).re : -1, count > 2 ? operand(node, 2).re : -1);
    }
    if (!is_integer(node.type)) value.magnitude = magnitude(node, value);
    return value;
  }

  Value complex_parts(const Node& node) {
    const auto& x = operand(node, 0);
    const auto& y = operand_count(node) > 1 ? operand(node, 1) : x;
    const auto type = part_of(node.type);
    switch (node.op) {
      case OpCode::add:
      case OpCode::sub:
        return {op(node.op, x.re, y.re), op(node.op, x.im, y.im), -1};
      case OpCode::mul:
      case OpCode::scale: {
        Value product{op(OpCode::sub, times(x.re, y.re), times(x.im, y.im)), plus(times(x.re, y.im), times(x.im, y.re)),
                      -1};
        if (node.op == OpCode::mul) return product;
        const auto zero = builder_.constant(0, type);
        const auto hides = builder_.op(OpCode::bit_and, DType::u8, builder_.op(OpCode::equal, DType::u8, x.re, zero),
                                       builder_.op(OpCode::equal, DType::u8, x.im, zero));
        return {builder_.op(OpCode::select, type, hides, zero, product.re),
                builder_.op(OpCode::select, type, hides, zero, product.im), -1};
      }
      case OpCode::div: {
        const auto square = plus(times(y.re, y.re), times(y.im, y.im));
        return {over(plus(times(x.re, y.re), times(x.im, y.im)), square),
                over(op(OpCode::sub, times(x.im, y.re), times(x.re, y.im)), square), -1};
      }
      case OpCode::neg:
        return {op(OpCode::neg, x.re), op(OpCode::neg, x.im), -1};
      case OpCode::conj:
        return {x.re, op(OpCode::neg, x.im), -1};
      case OpCode::complex_of:
        return {x.re, y.re, -1};
      case OpCode::cast:
        return {builder_.cast(x.re, type), x.im < 0 ? builder_.constant(0, type) : builder_.cast(x.im, type), -1};
      case OpCode::select:
        return {builder_.op(OpCode::select, type, x.re, y.re, operand(node, 2).re),
                builder_.op(OpCode::select, type, x.re, y.im, operand(node, 2).im), -1};
      default:
        throw std::runtime_error("an operation that complex values do not have");
    }
  }

  /// The sum of |terms| behind a float: how far the value may move, over eps, when all below it are rounded.
  NodeId magnitude(const Node& node, const Value& result) {
    const auto& x = operand(node, 0);
    const auto& y = operand_count(node) > 1 ? operand(node, 1) : x;
    const auto mx = magnitude_of(x);
    const auto size = [&](const Value& of) { return size_of_value(of); };
    const auto v = [&] { return size(result); };
    const auto one = number(1);
    // |f'| * m + |f|
    const auto through = [&](NodeId slope) { return plus(times(slope, mx), v()); };
    const auto root = [&](NodeId of) { return op(OpCode::sqrt, of); };
    const auto squared = [&](NodeId of) { return times(of, of); };
    switch (node.op) {
      case OpCode::add:
      case OpCode::sub:
      case OpCode::complex_of:
        return plus(mx, magnitude_of(y));
      case OpCode::mul:
        return times(mx, magnitude_of(y));
      case OpCode::scale:
        return op(OpCode::scale, mx, magnitude_of(y));
      case OpCode::div: {
        // Parts of a complex quotient are sums of two products over a sum of squares.
        const auto dy = y.im < 0 ? size(y) : root(plus(squared(wide(y.re)), squared(wide(y.im))));
        return plus(over(mx, dy), over(times(size(x), magnitude_of(y)), squared(dy)));
      }
      case OpCode::minimum:
      case OpCode::maximum:
        return op(OpCode::maximum, mx, magnitude_of(y));
      case OpCode::select:
        return builder_.op(OpCode::select, DType::f64, x.re, magnitude_of(y), magnitude_of(operand(node, 2)));
      case OpCode::sign:
        return one;
      case OpCode::sqrt:
        return through(over(number(0.5), v()));
      case OpCode::cbrt:
        return through(over(one, times(number(3), squared(v()))));
      case OpCode::rsqrt:
        return through(times(number(0.5), times(v(), squared(v()))));
      case OpCode::exp:
        return through(v());
      case OpCode::log:
        return through(over(one, size(x)));
      case OpCode::sin:
      case OpCode::cos:
      case OpCode::atan:
      case OpCode::tanh:
        return through(one);
      case OpCode::tan:
        return through(plus(one, squared(v())));
      case OpCode::asin:
      case OpCode::acos:
        return through(over(one, root(op(OpCode::sub, one, squared(size(x))))));
      case OpCode::sinh:
      case OpCode::cosh:
        return through(op(OpCode::cosh, wide(x.re)));
      case OpCode::pow:
        return times(v(), plus(one, plus(over(times(size(y), mx), size(x)),
                                         times(op(OpCode::absolute, op(OpCode::log, size(x))), magnitude_of(y)))));
      default:  // neg, conj, absolute, cast
        return mx;
    }
  }

  void store(const Statement& statement) {
    const auto& value = nodes_[at(statement.value)];
    const bool complex = value.im >= 0;
    const auto b = statement.buffer;
    const auto step = complex ? 2 * statement.step : statement.step;
    builder_.store(b, complex ? part(statement.offset, 0) : statement.offset, value.re, step);
    if (complex) builder_.store(b, part(statement.offset, 1), value.im, step);
    if (value.magnitude >= 0) {
      builder_.store(magnitude_buffer_[at(b)], statement.offset, value.magnitude, statement.step);
    }
  }

  const Program& from_;
  const std::vector<bool>& has_magnitude_;
  Builder builder_;
  std::vector<int> magnitude_buffer_, param_;
  std::vector<Value> nodes_;
};

double smallest(DType type) {
  switch (part_of(type)) {
    case DType::f16:
      return std::ldexp(1, -24);
    case DType::bf16:
      return std::ldexp(1, -133);
    case DType::f32:
      return std::ldexp(1, -149);
    case DType::f64:
      return std::numeric_limits<double>::denorm_min();
    default:
      return 0;
  }
}

/// Slots that some step writes have magnitudes.
std::vector<int> magnitude_slots(const Sequence& sequence) {
  std::vector<int> storages(sequence.storages.size(), -1);
  int next = static_cast<int>(storages.size());
  for (std::size_t k = 0; k < storages.size(); ++k) {
    if (sequence.storages[k].role != Role::input) storages[k] = next++;
  }
  return storages;
}

/// The roundings that a node adds to those of its operands; factors' add up, terms' do not.
double roundings(const Program& program, const std::vector<double>& counts, const Node& node) {
  double most = 0, sum = 0, points = 1;
  for (int k = 0; k < operand_count(node); ++k) {
    most = std::max(most, counts[at(node.operand[k])]);
    sum += counts[at(node.operand[k])];
  }
  for (const int q : node.over) points *= static_cast<double>(std::max<std::int64_t>(program.indices[at(q)].extent, 1));
  const double parts = is_complex(node.type) ? 3 : 1;
  switch (node.kind) {
    case NodeKind::reduce:
    case NodeKind::scan:
      if (node.op == OpCode::mul) return points * (most + parts);
      return most + (node.op == OpCode::add ? points : 0);
    case NodeKind::op:
      break;
    default:
      return most;
  }
  switch (node.op) {
    case OpCode::mul:
    case OpCode::scale:
    case OpCode::div:
      return sum + parts * (node.op == OpCode::div ? 2 : 1);
    case OpCode::add:
    case OpCode::sub:
    case OpCode::cast:
      return most + 1;
    case OpCode::neg:
    case OpCode::conj:
    case OpCode::minimum:
    case OpCode::maximum:
    case OpCode::absolute:
    case OpCode::sign:
    case OpCode::select:
      return most;
    default:
      return sum + 8;  // functions of the C library, exact to that many ulp
  }
}

struct Image {
  std::vector<unsigned char> bytes;
  std::int64_t first = 0, size = 1;
  void* element_0() { return reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(bytes.data()) - first * size); }
};

/// A copy of what a storage reaches, or zeros.
Image image_of(const Storage& storage, const void* element_0) {
  Image image;
  image.first = storage.first;
  image.size = size_of(storage.type);
  const auto elements = std::max<std::int64_t>(storage.last - storage.first + 1, 0);
  image.bytes.resize(static_cast<std::size_t>(elements * image.size));
  if (element_0 && !image.bytes.empty()) {
    std::memcpy(image.bytes.data(), static_cast<const char*>(element_0) + storage.first * image.size,
                image.bytes.size());
  }
  return image;
}

double size_at(const unsigned char* element, DType type) {
  if (is_integer(type)) return 0;
  const auto value = float_at(element, type);
  return std::fabs(value.real()) + std::fabs(value.imag());
}

/// Infinity as the number that f16 would have next: what is rounded to it may be rounded to the largest as well.
double finite(double value, DType type) {
  return type == DType::f16 && std::isinf(value) ? std::copysign(65536.0, value) : value;
}

}  // namespace

Sequence twin_of(const Sequence& sequence) {
  const auto magnitude = magnitude_slots(sequence);
  Sequence twin;
  for (auto storage : sequence.storages) {
    if (is_complex(storage.type)) {
      storage.first *= 2;
      storage.last = 2 * storage.last + 1;
    }
    storage.type = part_of(storage.type);
    twin.storages.push_back(std::move(storage));
  }
  for (auto storage : sequence.storages) {
    if (storage.role == Role::input) continue;
    storage.name += "_magnitude";
    storage.type = DType::f64;
    storage.alignment = 8;
    twin.storages.push_back(std::move(storage));
  }
  std::vector<int> param;
  for (const auto& original : sequence.params) {
    param.push_back(static_cast<int>(twin.params.size()));
    twin.params.push_back({original.name, part_of(original.type)});
    if (is_complex(original.type)) twin.params.push_back({original.name + "_imaginary", part_of(original.type)});
  }
  for (const auto& original : sequence.steps) {
    Step step;
    step.storage = original.storage;
    std::vector<bool> has;
    for (const int storage : original.storage) has.push_back(magnitude[at(storage)] >= 0);
    for (const int storage : original.storage) {
      if (magnitude[at(storage)] >= 0) step.storage.push_back(magnitude[at(storage)]);
    }
    for (std::size_t p = 0; p < original.param.size(); ++p) {
      step.param.push_back(param[at(original.param[p])]);
      if (is_complex(original.program.params[p].type)) step.param.push_back(param[at(original.param[p])] + 1);
    }
    step.program = Twin(original.program, has).program();
    twin.steps.push_back(std::move(step));
  }
  verify(twin);
  return twin;
}

std::vector<double> roundings_of(const Sequence& sequence) {
  std::vector<double> storages(sequence.storages.size());
  for (const auto& step : sequence.steps) {
    std::vector<double> counts;
    for (const auto& node : step.program.nodes) {
      counts.push_back(node.kind == NodeKind::load ? storages[at(step.storage[at(node.source)])]
                                                   : roundings(step.program, counts, node));
    }
    for (const auto& statement : step.program.statements) {
      auto& storage = storages[at(step.storage[at(statement.buffer)])];
      storage = std::max(storage, counts[at(statement.value)]);
    }
  }
  return storages;
}

Expected expected(const Sequence& sequence, const std::vector<void*>& storages, const std::vector<Scalar>& params) {
  std::vector<Image> images;
  std::vector<void*> pointers;
  for (std::size_t k = 0; k < storages.size(); ++k) {
    const bool input = sequence.storages[k].role == Role::input;
    images.push_back(input ? Image{} : image_of(sequence.storages[k], storages[k]));
    pointers.push_back(input ? storages[k] : nullptr);
  }
  for (std::size_t k = 0; k < storages.size(); ++k) {
    if (!pointers[k]) pointers[k] = images[k].element_0();
  }
  auto before = images;
  interpret(sequence, pointers, params);

  Expected want;
  want.bytes.resize(storages.size());
  want.tolerance.resize(storages.size());
  bool exact = true, floats = false;
  double roundoff = 0, floor = 0;
  for (const auto& step : sequence.steps) {
    const auto& program = step.program;
    exact = exact && program.exact;
    for (const auto& statement : program.statements) {
      want.moves = want.moves && program.nodes[at(statement.value)].kind == NodeKind::load;
    }
    for (std::size_t id = 0; id < program.nodes.size(); ++id) {
      const auto& node = program.nodes[id];
      if (node.kind == NodeKind::load || node.kind == NodeKind::constant || node.kind == NodeKind::param) continue;
      const bool last =
          node.kind == NodeKind::op && node.op == OpCode::cast &&
          std::any_of(program.statements.begin(), program.statements.end(), [&](const Statement& s) {
            return at(s.value) == id && sequence.storages[at(step.storage[at(s.buffer)])].role == Role::output;
          });
      if (last) continue;  // the rounding to the output's type is counted there
      roundoff = std::max(roundoff, unit_roundoff(node.type));
      floor = std::max(floor, smallest(node.type));
    }
  }
  for (std::size_t k = 0; k < storages.size(); ++k) {
    if (sequence.storages[k].role != Role::output) continue;
    want.bytes[k] = images[k].bytes;
    want.tolerance[k].assign(
        static_cast<std::size_t>(std::max<std::int64_t>(sequence.storages[k].last - sequence.storages[k].first + 1, 0)),
        0.0);
    floats = floats || !is_integer(sequence.storages[k].type);
  }
  if (exact || !floats) return want;

  const auto twin = twin_of(sequence);
  std::vector<Image> extra;
  std::vector<void*> twin_pointers;
  for (std::size_t k = 0; k < storages.size(); ++k) {
    twin_pointers.push_back(sequence.storages[k].role == Role::input ? storages[k] : before[k].element_0());
  }
  for (std::size_t k = 0; k < storages.size(); ++k) {
    const auto& storage = sequence.storages[k];
    if (storage.role == Role::input) continue;
    auto own = storage;
    own.type = DType::f64;
    auto image = image_of(own, nullptr);
    for (std::size_t e = 0; e < image.bytes.size() / 8; ++e) {
      const double size =
          size_at(before[k].bytes.data() + e * static_cast<std::size_t>(size_of(storage.type)), storage.type);
      std::memcpy(image.bytes.data() + 8 * e, &size, sizeof size);
    }
    extra.push_back(std::move(image));
  }
  for (auto& image : extra) twin_pointers.push_back(image.element_0());
  std::vector<Scalar> twin_params;
  for (std::size_t p = 0; p < params.size(); ++p) {
    twin_params.emplace_back(params[p].real());
    if (is_complex(sequence.params[p].type)) twin_params.emplace_back(params[p].imag());
  }
  interpret(twin, twin_pointers, twin_params);

  const auto counts = roundings_of(sequence);
  std::size_t next = 0;
  for (std::size_t k = 0; k < storages.size(); ++k) {
    const auto& storage = sequence.storages[k];
    if (storage.role == Role::input) continue;
    const auto& magnitudes = extra[next++].bytes;
    if (storage.role != Role::output || is_integer(storage.type)) continue;
    for (std::size_t e = 0; e < want.tolerance[k].size(); ++e) {
      double magnitude = 0;
      std::memcpy(&magnitude, magnitudes.data() + 8 * e, sizeof magnitude);
      // Both results are off, each by no more than half of this.
      want.tolerance[k][e] = 2 * ((counts[k] * roundoff + unit_roundoff(storage.type)) * std::max(magnitude, 0.0) +
                                  counts[k] * floor + smallest(storage.type));
    }
  }
  return want;
}

std::string compare(const Sequence& sequence, const Expected& want, const std::vector<void*>& storages) {
  for (std::size_t k = 0; k < storages.size(); ++k) {
    const auto& storage = sequence.storages[k];
    const auto size = static_cast<std::size_t>(size_of(storage.type));
    for (std::size_t e = 0; e < want.tolerance[k].size(); ++e) {
      const auto offset = storage.first + static_cast<std::int64_t>(e);
      const auto* wanted = want.bytes[k].data() + e * size;
      const auto* found = static_cast<const unsigned char*>(storages[k]) + offset * size_of(storage.type);
      if (std::memcmp(wanted, found, size) == 0) continue;
      if (is_integer(storage.type)) return fmt::format("{}[{}] differs in its bits", storage.name, offset);
      const auto x = float_at(wanted, storage.type), y = float_at(found, storage.type);
      const double tolerance = want.tolerance[k][e];
      for (const bool imaginary : {false, true}) {
        const double a = finite(imaginary ? x.imag() : x.real(), storage.type);
        const double b = finite(imaginary ? y.imag() : y.real(), storage.type);
        if (want.moves) return fmt::format("{}[{}] is {:.17g} instead of {:.17g}, moved", storage.name, offset, b, a);
        if (std::isnan(a) && std::isnan(b)) continue;
        if (a == b && (tolerance > 0 || std::signbit(a) == std::signbit(b))) continue;
        if (!std::isfinite(tolerance) || std::fabs(a - b) <= tolerance) continue;
        return fmt::format("{}[{}]{} is {:.17g} instead of {:.17g}: off by {:.3g}, allowed {:.3g}", storage.name,
                           offset, imaginary ? " (imaginary part)" : "", b, a, std::fabs(a - b), tolerance);
      }
    }
  }
  return {};
}

}  // namespace ricci::fuzz
