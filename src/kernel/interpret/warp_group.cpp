// Products of warp groups, each by its definition: sums that land at a wait.
#include <fmt/format.h>

#include "kernel/atoms.hpp"
#include "kernel/interpret/machine.hpp"
#include "kernel/warp_group.hpp"

namespace ricci::kernel {
void Machine::one(const Fence& fence, const Threads& threads) {
  for (const auto t : threads) memory_.fence(t, fence.registers);
}

void Machine::one(const GroupMma& product, const Threads& threads) {
  const auto* atom = find_atom(product.atom);
  if (!atom) broken(kernel_, origin_, fmt::format("there is no atom {}", product.atom));
  all_take_part(threads, "an instruction of a warp group");
  const auto& sum = kernel_.array(product.d.array);
  const int columns = static_cast<int>(sum.shape[1]) * atom->n, rows = atom->m * atom->warps;
  const int size = kWarp * atom->warps;
  for (std::size_t k = 0; k < threads.size(); k += static_cast<std::size_t>(size)) {
    const int first = threads[k];
    const auto taken = [&](Item item) {
      if (atom->a.type == AtomType::tf32) item.value.re = upper_19_bits(item.value.re);
      return item;
    };
    const auto read = [&](const SharedMatrix& matrix, int positions) {
      const auto& index = matrix.start.index.front();
      const auto start = at(index, first);
      for (int t = first + 1; t < first + size; ++t) {
        if (at(index, t) != start) broken(kernel_, origin_, "threads of a warp group multiply different matrices");
      }
      const auto& array = kernel_.array(matrix.start.array);
      auto layout = layout_of(matrix, row_of(array), positions, atom->k);
      layout.start = start;
      layout.swizzle = array.swizzle;
      std::vector<Item> tile;
      for (int p = 0; p < positions; ++p) {
        for (int d = 0; d < atom->k; ++d)
          tile.push_back(taken(memory_.read_for_product(matrix.start.array, layout.holder({p, d})->memory, first)));
      }
      return tile;
    };
    const auto held = [&](const Access& fragment) {
      std::vector<Item> tile(static_cast<std::size_t>(rows * atom->k));
      for (int lane = 0; lane < size; ++lane) {
        const auto from = element(fragment, first + lane);
        for (int e = 0; e < atom->a.elements(); ++e) {
          const auto place = atom->a.at(lane % kWarp, e);
          tile[static_cast<std::size_t>((lane / kWarp * atom->m + place.row) * atom->k + place.column)] =
              taken(memory_.held(fragment.array, from + e, first + lane));
        }
      }
      return tile;
    };
    const auto* fragment = std::get_if<Access>(&product.a);
    const auto a = fragment != nullptr ? held(*fragment) : read(std::get<SharedMatrix>(product.a), rows),
               b = read(product.b, columns);
    counts_.flops += std::int64_t{2} * rows * columns * atom->k;
    for (int lane = 0; lane < size; ++lane) {
      const int t = first + lane;
      const auto start = element(product.d, t);
      std::vector<Item> sums;
      for (int n = 0; n < columns; n += atom->n) {
        for (int e = 0; e < atom->c.elements(); ++e) {
          const auto place = atom->c.at(lane % kWarp, e);
          const auto row = static_cast<std::size_t>((lane / kWarp * atom->m + place.row) * atom->k);
          const auto column = static_cast<std::size_t>((n + place.column) * atom->k);
          auto item = memory_.sum(product.d.array, start + static_cast<std::int64_t>(sums.size()), t);
          for (int d = 0; values_ && d < atom->k; ++d) {
            const auto &x = a[row + static_cast<std::size_t>(d)], &y = b[column + static_cast<std::size_t>(d)];
            // Products of 16-bit numbers, and of tf32, are exact in the type of the sum, in which each sum is rounded.
            if (is_integer(sum.type)) {
              const ir::oracle::Value term(x.value.integer * y.value.integer);
              item.value = ir::oracle::apply(ir::OpCode::add, sum.type, sum.type, item.value, term, {});
            } else {
              item.value.re = static_cast<float>(item.value.re + x.value.re * y.value.re);
            }
            if (item.unwritten < 0) item.unwritten = x.unwritten >= 0 ? x.unwritten : y.unwritten;
          }
          sums.push_back(item);
        }
      }
      memory_.multiply(product.d.array, start, t, sums);
    }
  }
}

}  // namespace ricci::kernel
