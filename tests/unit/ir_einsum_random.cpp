// Random einsums, interpreted: as one kernel against loops over the spec that know nothing of programs; in canonical
// form and along both paths against the one kernel.
#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstring>
#include <map>

#include "catch.hpp"
#include "fuzz/random_einsum.hpp"
#include "fuzz/random_problem.hpp"
#include "ir/passes/canonical.hpp"

namespace ir_einsum_random_test {

using namespace ricci;
using namespace ricci::ir;

namespace {

/// The einsum by nested loops over its letters, in the widest arithmetic there is. Integers modulo 2^64.
class Loops {
 public:
  explicit Loops(fuzz::RandomEinsum& e) : e_(e) {
    std::vector<int> ranks;
    for (const auto& input : e.problem.inputs) ranks.push_back(input.rank());
    spec_ = e.problem.spec.expand(ranks);
    for (std::size_t t = 0; t < spec_.operands.size(); ++t) {
      for (std::size_t k = 0; k < spec_.operands[t].size(); ++k) {
        auto& extent = extents_.try_emplace(spec_.operands[t][k].name, 1).first->second;
        if (e.problem.inputs[t].extents[k] != 1) extent = e.problem.inputs[t].extents[k];
      }
    }
  }

  struct Sum {
    std::complex<long double> value = 0;
    long double magnitude = 0;  ///< of its terms
  };

  /// Per element of the output, by its offset.
  std::map<std::int64_t, Sum> floats() {
    std::map<std::int64_t, Sum> result;
    const auto alpha = std::complex<long double>(e_.alpha), beta = std::complex<long double>(e_.beta);
    run([&](std::int64_t to, const std::vector<const void*>& at) {
      std::complex<long double> product = 1;
      for (std::size_t t = 0; t < at.size(); ++t) {
        const auto value = std::complex<long double>(fuzz::float_at(at[t], e_.problem.inputs[t].type));
        product *= e_.problem.conjugate[t] ? std::conj(value) : value;
      }
      result[to].value += product;
      result[to].magnitude += std::abs(product);
    });
    each_output([&](std::int64_t to, const void* at) {
      auto& sum = result[to];
      sum = alpha == 0.0L ? Sum{} : Sum{alpha * sum.value, std::abs(alpha) * sum.magnitude};
      if (beta == 0.0L) return;
      auto old = std::complex<long double>(fuzz::float_at(at, addend().type));
      old = beta * (e_.problem.conjugate_addend ? std::conj(old) : old);
      sum.value += old;
      sum.magnitude += std::abs(old);
    });
    return result;
  }

  std::map<std::int64_t, std::uint64_t> integers() {
    std::map<std::int64_t, std::uint64_t> result;
    const auto whole = [](Scalar s) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(s.real())); };
    run([&](std::int64_t to, const std::vector<const void*>& at) {
      std::uint64_t product = 1;
      for (std::size_t t = 0; t < at.size(); ++t) product *= fuzz::integer_at(at[t], e_.problem.inputs[t].type);
      result[to] += product;
    });
    each_output([&](std::int64_t to, const void* old) {
      result[to] = whole(e_.alpha) * result[to] + whole(e_.beta) * fuzz::integer_at(old, addend().type);
    });
    return result;
  }

 private:
  using Point = std::map<std::string, std::int64_t>;

  const Layout& addend() const { return e_.problem.addend ? *e_.problem.addend : e_.problem.output; }

  static std::int64_t offset(const Spec::Term& term, const Layout& layout, const Point& point) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < term.size(); ++k) {
      if (layout.extents[k] != 1) sum += layout.strides[k] * point.at(term[k].name);
    }
    return sum;
  }
  const void* element(std::size_t tensor, const Spec::Term& term, const Layout& layout, const Point& point) {
    return static_cast<const char*>(e_.tensors[tensor].element_0()) +
           offset(term, layout, point) * size_of(layout.type);
  }

  template <class F>
  void run(F f) {
    Point point;
    for (const auto& [name, extent] : extents_) {
      if (extent == 0) return;
      point[name] = 0;
    }
    while (true) {
      std::vector<const void*> at;
      for (std::size_t t = 0; t < spec_.operands.size(); ++t) {
        at.push_back(element(t, spec_.operands[t], e_.problem.inputs[t], point));
      }
      f(offset(spec_.output, e_.problem.output, point), at);
      auto digit = point.begin();
      while (digit != point.end() && ++digit->second == extents_.at(digit->first)) (digit++)->second = 0;
      if (digit == point.end()) return;
    }
  }

  template <class F>
  void each_output(F f) {
    const auto& output = e_.problem.output;
    if (output.elements() == 0) return;
    auto& old = e_.tensors[e_.tensors.size() - (e_.problem.addend ? 2 : 1)];
    std::vector<std::int64_t> position(output.extents.size());
    while (true) {
      std::int64_t to = 0, from = 0;
      for (std::size_t k = 0; k < position.size(); ++k) {
        if (output.extents[k] == 1) continue;
        to += position[k] * output.strides[k];
        from += position[k] * addend().strides[k];
      }
      f(to, static_cast<const char*>(old.element_0()) + from * size_of(addend().type));
      std::size_t k = 0;
      while (k < position.size() && ++position[k] == output.extents[k]) position[k++] = 0;
      if (k == position.size()) return;
    }
  }

  fuzz::RandomEinsum& e_;
  Spec spec_;
  std::map<std::string, std::int64_t> extents_;
};

/// Slots of a sequence: the tensors, and workspace full of ones (NaN).
struct Memory {
  explicit Memory(const Sequence& sequence, fuzz::RandomEinsum& e) : pointers(e.pointers()) {
    for (std::size_t k = pointers.size(); k < sequence.storages.size(); ++k) {
      const auto& storage = sequence.storages[k];
      workspace.emplace_back(static_cast<std::size_t>((storage.last + 1) * size_of(storage.type)) + 1, 0xff);
      pointers.push_back(workspace.back().data());
    }
  }
  std::vector<std::vector<unsigned char>> workspace;
  std::vector<void*> pointers;
};

}  // namespace

TEST_CASE("random einsums are what nested loops over their letters give") {
  const auto first = fuzz::first_seed(1);
  const int count = fuzz::cases(2000);
  int sequences = 0, floats = 0;
  for (int k = 0; k < count; ++k) {
    auto e = fuzz::random_einsum(first + static_cast<std::uint64_t>(k), {3000, 4});
    INFO(e.text());
    const auto& output = e.problem.output;
    const auto want = e.expected();
    const auto& bytes = want.bytes.back();
    const auto& tolerance = want.tolerance.back();
    const auto from = reach_of(output).first;
    const auto at = [&](std::int64_t offset) { return static_cast<std::size_t>(offset - from); };
    const auto size = static_cast<std::size_t>(size_of(output.type));
    if (is_integer(output.type)) {
      for (const auto& [offset, value] : Loops(e).integers()) {
        const auto got = fuzz::integer_at(bytes.data() + at(offset) * size, output.type);
        const auto bits = 8 * size;
        const auto mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
        REQUIRE((got & mask) == (value & mask));
      }
    } else {
      ++floats;
      const auto roundoff = [](DType type) {
        return type == DType::bf16             ? 0x1p-8L
               : type == DType::f16            ? 0x1p-11L
               : size_of(part_type(type)) == 4 ? 0x1p-24L
                                               : 0x1p-53L;
      };
      const auto few = roundoff(output.type) + 8 * roundoff(compute_type(e.problem));
      for (const auto& [offset, sum] : Loops(e).floats()) {
        const auto got = std::complex<long double>(fuzz::float_at(bytes.data() + at(offset) * size, output.type));
        if (output.type == DType::f16 && std::isinf(got.real())) {
          REQUIRE(std::abs(sum.value.real()) > 65500 - tolerance[at(offset)]);
          continue;
        }
        const auto difference = got - sum.value;
        // What is only moved and scaled has no tolerance, but a few roundings.
        // Below 2^-14 the units of f16 are 2^-24 apart.
        const auto unit = output.type == DType::f16 ? 0x1p-25L : 0.0L;
        const auto allowed = std::max<long double>(tolerance[at(offset)], few * sum.magnitude + unit);
        REQUIRE(std::abs(difference.real()) <= allowed);
        REQUIRE(std::abs(difference.imag()) <= allowed);
      }
    }

    const auto before = e.tensors.back();
    const auto check = [&](const Sequence& sequence) {
      Memory memory(sequence, e);
      interpret(sequence, memory.pointers, e.params(sequence.params));
      const auto difference = fuzz::compare(ir::sequence_of(lower(e.problem)), want, e.pointers());
      e.tensors.back() = before;
      REQUIRE(difference == "");
    };
    auto canonical = ir::sequence_of(lower(e.problem));
    auto form = canonicalise(canonical.steps[0].program);
    canonical.steps[0] = {form, form.buffer, form.param};
    check(canonical);
    for (const auto minimise : {PathOptions::Minimise::flops, PathOptions::Minimise::memory}) {
      const auto sequence = lower_einsum(e.problem, {minimise});
      verify(sequence);
      check(sequence);
      if (sequence.steps.size() > 1) ++sequences;
    }
  }
  std::printf("%d random einsums from seed %llu, interpreted\n", count, static_cast<unsigned long long>(first));
  if (count >= 1000) {
    CHECK(sequences > count / 10);
    CHECK(floats > count / 2);
  }
}

TEST_CASE("a wrong result is found") {
  int checked = 0;
  for (std::uint64_t seed = 900; seed < 1100; ++seed) {
    auto e = fuzz::random_einsum(seed, {500, 3});
    INFO(e.text());
    const auto want = e.expected();
    const auto program = lower(e.problem);
    const auto sequence = ir::sequence_of(program);
    interpret(program, e.pointers(), e.params(program.params));
    CHECK(fuzz::compare(sequence, want, e.pointers()) == "");
    if (e.problem.output.elements() == 0) continue;
    // Twice the value, or another bit of it.
    auto* element = static_cast<unsigned char*>(e.tensors.back().element_0());
    const auto type = e.problem.output.type;
    if (is_integer(type)) {
      element[0] ^= 1;
    } else {
      if (fuzz::float_at(element, type) == 0.0 || want.tolerance.back().front() > 0.05) continue;
      element[(is_complex(type) ? size_of(type) / 2 : size_of(type)) - 1] ^= 0x80;  // the sign
      if (fuzz::float_at(element, type).real() == 0) continue;
    }
    ++checked;
    CHECK(fuzz::compare(sequence, want, e.pointers()) != "");
  }
  CHECK(checked > 100);
}

}  // namespace ir_einsum_random_test
