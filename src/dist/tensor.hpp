// A tensor's tiles on this rank: memory and StarPU's handles.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dist/boxes.hpp"
#include "dist/engine.hpp"

namespace ricci::inline v1::dist {

/// What StarPU keeps coherent: `bytes` at `memory`, or where StarPU likes (null); registered as long as this lives.
class Handle {
 public:
  Handle(int owner, std::int64_t tag, std::int64_t elements, std::int64_t element, void* memory, MPI_Comm comm);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  starpu_data_handle_t get() const noexcept { return handle_; }

 private:
  starpu_data_handle_t handle_ = nullptr;
  bool own_memory_;
};

struct Tensor::Impl {
  std::shared_ptr<Engine::Impl> engine;
  DType type = DType::f64;
  Indices extents, tiles;
  Distribution distribution;
  Indices counts;           ///< tiles along each axis
  std::vector<int> owners;  ///< by the tile's number
  std::int64_t first_tag = 0;

  /// Checks, and makes this rank's tiles. Collective.
  Impl(std::shared_ptr<Engine::Impl> engine, DType type, Indices extents, Indices tiles, Distribution distribution);

  Tile tile(std::int64_t number) const;
  std::int64_t tile_elements(std::int64_t number) const { return product(tile(number).extents); }
  std::int64_t tile_bytes(std::int64_t number) const { return tile_elements(number) * size_of(type); }
  /// Where a tile is along the grid, and the rank at such a place in one of the replicas.
  Indices place(const Indices& index) const;
  int rank_at(const Indices& place, int replica) const;
  /// Of a tile of another rank: registered when it is asked for first, without memory.
  starpu_data_handle_t handle(std::int64_t number);

 private:
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<std::unique_ptr<Handle>> handles_;
  void check() const;
};

/// Which ranks have met which tiles of some tensors, of which several may be the same one.
class Met {
 public:
  Met(std::span<const std::shared_ptr<Tensor::Impl>> tensors, int ranks) : ranks_(ranks) {
    for (std::size_t k = 0; k < tensors.size(); ++k) {
      same_as_.push_back(std::find(tensors.begin(), tensors.end(), tensors[k]) - tensors.begin());
      met_.emplace_back(same_as_[k] == k ? tensors[k]->owners.size() * ranks : 0);
    }
  }
  /// True at the first time.
  bool first(std::size_t tensor, std::int64_t tile, int rank) {
    auto bit = met_[same_as_[tensor]][static_cast<std::size_t>(tile * ranks_ + rank)];
    const bool is_first = !bit;
    bit = true;
    return is_first;
  }
  bool has(std::size_t tensor, std::int64_t tile, int rank) const {
    return met_[same_as_[tensor]][static_cast<std::size_t>(tile * ranks_ + rank)];
  }

 private:
  int ranks_;
  std::vector<std::size_t> same_as_;
  std::vector<std::vector<bool>> met_;
};

}  // namespace ricci::inline v1::dist
