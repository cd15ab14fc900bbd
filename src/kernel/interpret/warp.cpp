// Instructions of a warp: matrices out of shared memory, and products of fragments.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "kernel/atoms.hpp"
#include "kernel/expand.hpp"
#include "kernel/interpret/machine.hpp"

namespace ricci::kernel {
namespace {

constexpr int kMatrixRows = 8, kMembers = 4;

}  // namespace

double upper_19_bits(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value)) & 0xffffe000u;
  return std::bit_cast<float>(bits);
}

void Machine::one(const MatrixLoad& load, const Threads& threads) {
  all_take_part(threads, "an instruction of a warp");
  const auto& to = kernel_.array(load.to.array);
  const auto matrices = load.fragments * static_cast<int>(to.shape.back());
  Threads pointing;
  for (const auto t : threads) {
    if (t % kWarp < kMatrixRows * matrices) pointing.push_back(t);
  }
  count(load.from, pointing, false);
  for (std::size_t k = 0; k < threads.size(); k += kWarp) {
    const int warp = threads[k] / kWarp;
    for (int lane = 0; lane < kWarp; ++lane) {
      const int t = warp * kWarp + lane;
      const auto first = element(load.to, t);
      for (int m = 0; m < matrices; ++m) {
        for (int e = 0; e < to.lanes; ++e) {
          const int row = load.transposed ? lane % kMembers * to.lanes + e : lane / kMembers;
          const int column = load.transposed ? lane / kMembers : lane % kMembers * to.lanes + e;
          const int pointer = warp * kWarp + kMatrixRows * m + row;
          const auto item = memory_.read(load.from.array, element(load.from, pointer) + column, pointer);
          memory_.write(load.to.array, first + std::int64_t{m} * to.lanes + e, t, item);
        }
      }
    }
  }
}

void Machine::one(const MmaCall& call, const Threads& threads) {
  const auto* atom = find_atom(call.atom);
  if (!atom) broken(kernel_, origin_, fmt::format("there is no atom {}", call.atom));
  all_take_part(threads, "an instruction of a warp");
  const auto type = kernel_.array(call.d.array).type;
  // Elements of a fragment as the sum's type, by place in the atom's tile, column by column of a `transposed` one.
  bool written = true;
  const auto gathered = [&](const Access& access, const Fragment& fragment, int warp, bool transposed = false) {
    std::vector<Item> tile(static_cast<std::size_t>(fragment.rows() * fragment.columns()));
    for (int lane = 0; lane < kWarp; ++lane) {
      const int t = warp * kWarp + lane;
      const auto first = element(access, t);
      for (int e = 0; e < fragment.elements(); ++e) {
        const auto place = fragment.at(lane, e);
        auto item = memory_.read(access.array, first + e, t);
        if (fragment.type == AtomType::tf32) item.value.re = upper_19_bits(item.value.re);
        item = converted(item, dtype_of(fragment.type), type);
        written = written && item.unwritten < 0;
        const auto at =
            transposed ? place.column * fragment.rows() + place.row : place.row * fragment.columns() + place.column;
        tile[static_cast<std::size_t>(at)] = item;
      }
    }
    return tile;
  };
  const auto product = apply(ir::OpCode::mul, type, {zero_of(type), zero_of(type)});
  const auto sum = apply(ir::OpCode::add, type, {zero_of(type), zero_of(type)});
  const auto depth = static_cast<std::size_t>(atom->k);
  std::vector<ir::oracle::Value> rows, columns, products(depth);
  for (std::size_t k = 0; k < threads.size(); k += kWarp) {
    const int warp = threads[k] / kWarp;
    written = true;
    const auto a = gathered(call.a, atom->a, warp), b = gathered(call.b, atom->b, warp, true);
    auto c = gathered(call.d, atom->c, warp);
    for (const auto& [values, items] : {std::pair{&rows, &a}, std::pair{&columns, &b}}) {
      values->clear();
      for (const auto& item : *items) values->push_back(item.value);
    }
    for (std::size_t m = 0; m < static_cast<std::size_t>(atom->m); ++m) {
      for (std::size_t n = 0; n < static_cast<std::size_t>(atom->n); ++n) {
        auto& element = c[m * static_cast<std::size_t>(atom->n) + n];
        counts_.flops += std::int64_t{2} * atom->k;
        if (written && !values_) continue;  // there is nothing to be found out
        if (written) {
          const ir::oracle::Value* factors[] = {&rows[m * depth], &columns[n * depth]};
          ir::oracle::apply(ir::OpCode::mul, type, type, factors, depth, products.data());
          element.value = ir::oracle::combined(ir::OpCode::add, type, element.value, products.data(), depth);
          continue;
        }
        for (std::size_t q = 0; q < depth; ++q) {
          const Item factors[] = {a[m * depth + q], b[n * depth + q]};
          const Item terms[] = {element, operation(product, factors)};
          element = operation(sum, terms);
        }
      }
    }
    for (int lane = 0; lane < kWarp; ++lane) {
      const int t = warp * kWarp + lane;
      const auto first = element(call.d, t);
      for (int e = 0; e < atom->c.elements(); ++e) {
        const auto place = atom->c.at(lane, e);
        memory_.write(call.d.array, first + e, t, c[static_cast<std::size_t>(place.row * atom->n + place.column)]);
      }
    }
  }
}

}  // namespace ricci::kernel
