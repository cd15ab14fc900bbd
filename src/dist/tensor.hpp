// A tensor's tiles on this rank: memory and StarPU's handles.
#pragma once

#include <memory>
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

}  // namespace ricci::inline v1::dist
