#include "plan/enumerate/block_room.hpp"

namespace ricci::plan {

int BlockRoom::padding(const Cut& cut, bool of_rows) {
  if (contraction_.read_by_groups(of_rows)) return 0;
  const auto& spread = cut.spread;
  const auto row = contraction_.deep(of_rows) ? cut.depth->size : (of_rows ? cut.rows : cut.columns)->size;
  const auto run = static_cast<std::uint64_t>(of_rows ? spread.run_rows : spread.run_columns);
  const auto key = static_cast<std::uint64_t>(row) << 32 | run << 16 |
                   static_cast<std::uint64_t>(spread.run_depth) << 1 | (of_rows ? 1U : 0U);
  for (const auto& [other, padding] : paddings_) {
    if (other == key) return padding;
  }
  return paddings_.emplace_back(key, contraction_.padding(cut, of_rows)).second;
}

std::int64_t BlockRoom::result_bytes(const Cut& cut, std::int64_t rows, std::int64_t columns) {
  if (!cut.relaid && cut.share.blocks == 1) return contraction_.result_bytes(cut, 0);
  const auto digits = contraction_.result_digits(*cut.rows, *cut.columns);
  std::vector<std::int64_t> key = {rows, columns, cut.spread.run_rows, cut.spread.run_columns,
                                   cut.share.blocks > 1 ? 1 : 0};  // of sums, or of results
  for (const auto& digit : digits) {
    for (const auto number : {std::int64_t{digit.of_rows}, digit.extent, digit.step, digit.stride})
      key.push_back(number);
  }
  const auto [place, fresh] = relaid_.try_emplace(std::move(key), 0);
  if (fresh) place->second = contraction_.relaid_elements(cut, digits);
  return contraction_.result_bytes(cut, place->second);
}

std::int64_t BlockRoom::stage_bytes(const Cut& cut) {
  return contraction_.stage_bytes(cut, true, padding(cut, true)) +
         contraction_.stage_bytes(cut, false, padding(cut, false));
}

std::int64_t BlockRoom::resident(const Cut& cut, std::int64_t stage_bytes, std::int64_t result_bytes,
                                 int registers) const {
  const auto shared = shared_bytes(cut, stage_bytes, result_bytes);
  if (shared > device_.shared_bytes_per_block) return 0;
  const auto warps = cut.spread.warps();
  return std::min({device_.shared_bytes_per_multiprocessor / (shared + kReservedBytes),
                   static_cast<std::int64_t>(device_.threads_per_multiprocessor / (32 * warps)),
                   4 * warps_of_part(registers) / (warps < 4 ? warps : static_cast<int>(tiles::up(warps, 4)))});
}

}  // namespace ricci::plan
