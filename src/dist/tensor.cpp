// Tensors in tiles: who has them, their memory, filling and reading.
#include "dist/tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <climits>
#include <new>

#include "dist/schedule.hpp"
#include "ricci/error.hpp"

namespace ricci::inline v1::dist {

Handle::Handle(int owner, std::int64_t tag, std::int64_t elements, std::int64_t element, void* memory, MPI_Comm comm)
    : own_memory_(memory == nullptr) {
  starpu_vector_data_register(&handle_, own_memory_ ? -1 : STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(memory),
                              static_cast<std::uint32_t>(elements), static_cast<std::size_t>(element));
  starpu_mpi_data_register_comm(handle_, tag, owner, comm);
}

Handle::~Handle() {
  if (own_memory_) {
    starpu_data_unregister_no_coherency(handle_);
  } else {
    starpu_data_unregister(handle_);
  }
}

Tensor::Impl::Impl(std::shared_ptr<Engine::Impl> where, DType what, Indices all, Indices cut, Distribution dealt)
    : engine(std::move(where)),
      type(what),
      extents(std::move(all)),
      tiles(std::move(cut)),
      distribution(std::move(dealt)) {
  engine->together([&] { check(); });
  if (tiles.size() == 1) tiles.resize(extents.size(), tiles[0]);
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    tiles[axis] = std::min(tiles[axis], extents[axis]);
    counts.push_back((extents[axis] + tiles[axis] - 1) / tiles[axis]);
  }
  for_each_index(counts, [&](const Indices& index) {
    std::int64_t turn = 0;
    for (std::size_t d = 0; d < distribution.axes.size(); ++d) {
      std::int64_t number = 0;
      for (const int axis : distribution.axes[d]) number = number * counts[axis] + index[axis];
      turn += number / distribution.grid[d];
    }
    owners.push_back(rank_at(place(index), static_cast<int>(turn % distribution.replicas)));
  });
  first_tag = engine->tags(static_cast<std::int64_t>(owners.size()));
  engine->together([&] {
    memory_.resize(owners.size());
    handles_.resize(owners.size());
    for (std::size_t number = 0; number < owners.size(); ++number) {
      if (owners[number] != engine->rank) continue;
      const auto elements = tile_elements(static_cast<std::int64_t>(number));
      memory_[number].reset(new std::byte[static_cast<std::size_t>(elements * size_of(type))]);
      handles_[number] = std::make_unique<Handle>(engine->rank, first_tag + static_cast<std::int64_t>(number), elements,
                                                  size_of(type), memory_[number].get(), engine->tiles);
    }
  });
}

void Tensor::Impl::check() const {
  const auto rank = extents.size();
  const auto refuse = [&](const std::string& what) {
    throw ShapeError(fmt::format("a tensor of extents [{}] in tiles of [{}]: {}", fmt::join(extents, ", "),
                                 fmt::join(tiles, ", "), what));
  };
  if (rank > 32) refuse("it has more than 32 axes");
  if (tiles.size() != rank && tiles.size() != 1) refuse("tiles have one extent for all axes, or one for each");
  if (std::any_of(extents.begin(), extents.end(), [](auto extent) { return extent < 1; })) refuse("extents are from 1");
  if (std::any_of(tiles.begin(), tiles.end(), [](auto extent) { return extent < 1; })) refuse("tiles are from 1");
  double bytes = static_cast<double>(size_of(type));
  for (std::size_t axis = 0; axis < rank; ++axis) {
    bytes *= static_cast<double>(std::min(extents[axis], tiles.size() == 1 ? tiles[0] : tiles[axis]));
  }
  if (bytes > INT_MAX) refuse(fmt::format("a tile has {:.3g} bytes, and a message less than 2^31", bytes));
  const auto& grid = distribution.grid;
  if (distribution.axes.size() > grid.size()) {
    refuse(fmt::format("axes for {} dimensions of a grid that has {}", distribution.axes.size(), grid.size()));
  }
  std::int64_t ranks = distribution.replicas;
  for (const int extent : grid) ranks *= extent;
  if (ranks < 1 || ranks > engine->size) {
    refuse(fmt::format("its grid [{}] with {} replicas has {} ranks, and {} take part", fmt::join(grid, ", "),
                       distribution.replicas, ranks, engine->size));
  }
  std::vector<bool> seen(rank, false);
  for (const auto& axes : distribution.axes) {
    for (const int axis : axes) {
      if (axis < 0 || axis >= static_cast<int>(rank)) refuse(fmt::format("there is no axis {} to divide", axis));
      if (seen[axis]) refuse(fmt::format("axis {} is divided twice", axis));
      seen[axis] = true;
    }
  }
}

Tile Tensor::Impl::tile(std::int64_t number) const {
  Tile tile{index_of(number, counts), {}, {}};
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    tile.first.push_back(tile.index[axis] * tiles[axis]);
    tile.extents.push_back(std::min(tiles[axis], extents[axis] - tile.first[axis]));
  }
  return tile;
}

Indices Tensor::Impl::place(const Indices& index) const {
  Indices place(distribution.grid.size(), 0);
  for (std::size_t d = 0; d < distribution.axes.size(); ++d) {
    for (const int axis : distribution.axes[d]) place[d] = place[d] * counts[axis] + index[axis];
    place[d] %= distribution.grid[d];
  }
  return place;
}

int Tensor::Impl::rank_at(const Indices& place, int replica) const {
  std::int64_t rank = replica;
  for (std::size_t d = 0; d < place.size(); ++d) rank = rank * distribution.grid[d] + place[d];
  return static_cast<int>(rank);
}

starpu_data_handle_t Tensor::Impl::handle(std::int64_t number) {
  auto& handle = handles_[static_cast<std::size_t>(number)];
  if (!handle) {
    handle = std::make_unique<Handle>(owners[static_cast<std::size_t>(number)], first_tag + number,
                                      tile_elements(number), size_of(type), nullptr, engine->tiles);
  }
  return handle->get();
}

namespace {

/// A call of a user's function on a tile, as a task.
struct Filling {
  const std::function<void(const Tile&, void*)>& function;
  Tile tile;
};

void fill_tile(void* buffers[], void* argument) {
  const auto& filling = *static_cast<const Filling*>(argument);
  try {
    filling.function(filling.tile, reinterpret_cast<void*>(STARPU_VECTOR_GET_PTR(buffers[0])));
  } catch (...) {
    keep_failure();
  }
}

starpu_codelet fill_codelet() {
  starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.cpu_funcs[0] = fill_tile;
  codelet.nbuffers = 1;
  codelet.modes[0] = STARPU_W;
  codelet.name = "ricci_fill";
  return codelet;
}

/// The part of a box that lies in one tile, beside its place in both.
struct Part {
  std::int64_t tile;
  Indices extents, in_tile, in_box, tile_extents;
};

/// piece(part) for each tile that a box meets, in their order.
template <class Visit>
void for_each_part(const Tensor::Impl& tensor, const Indices& first, const Indices& extents, Visit&& visit) {
  Indices from, count;
  for (std::size_t axis = 0; axis < first.size(); ++axis) {
    from.push_back(first[axis] / tensor.tiles[axis]);
    count.push_back((first[axis] + extents[axis] - 1) / tensor.tiles[axis] - from[axis] + 1);
  }
  for_each_index(count, [&](const Indices& step) {
    Indices index = from;
    for (std::size_t axis = 0; axis < index.size(); ++axis) index[axis] += step[axis];
    Part part{number_of(index, tensor.counts), {}, {}, {}, {}};
    const Tile tile = tensor.tile(part.tile);
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      const auto begin = std::max(first[axis], tile.first[axis]);
      const auto end = std::min(first[axis] + extents[axis], tile.first[axis] + tile.extents[axis]);
      part.extents.push_back(end - begin);
      part.in_tile.push_back(begin - tile.first[axis]);
      part.in_box.push_back(begin - first[axis]);
    }
    part.tile_extents = tile.extents;
    visit(static_cast<const Part&>(part));
  });
}

/// Moves the parts of a box between their tiles' owners and the memory of one rank, in one order on both sides.
void move_box(Tensor::Impl& tensor, const Indices& first, const Indices& extents, std::byte* memory, int root,
              bool reading) {
  auto& engine = *tensor.engine;
  engine.together([&] {
    bool inside = first.size() == tensor.extents.size() && extents.size() == first.size();
    for (std::size_t axis = 0; inside && axis < first.size(); ++axis) {
      inside = first[axis] >= 0 && extents[axis] >= 1 && first[axis] + extents[axis] <= tensor.extents[axis];
    }
    if (!inside) {
      throw ShapeError(fmt::format("a box of [{}] at [{}] is not inside a tensor of [{}]", fmt::join(extents, ", "),
                                   fmt::join(first, ", "), fmt::join(tensor.extents, ", ")));
    }
    if (root < 0 || root >= engine.size) throw ShapeError(fmt::format("there is no rank {}", root));
    if (root == engine.rank && memory == nullptr) throw ShapeError("the box has no memory: the pointer is null");
  });
  const auto element = size_of(tensor.type);
  const Indices zero(first.size(), 0);
  std::vector<std::byte> message;
  for_each_part(tensor, first, extents, [&](const Part& part) {
    const int owner = tensor.owners[static_cast<std::size_t>(part.tile)];
    const bool mine = owner == engine.rank, here = root == engine.rank;
    if (!mine && !here) return;
    const Place in_box{extents, part.in_box}, in_tile{part.tile_extents, part.in_tile}, alone{part.extents, zero};
    const auto bytes = static_cast<std::size_t>(product(part.extents) * element);
    if (!mine || !here) message.resize(bytes);
    if (!reading && here && !mine) {
      copy_box(message.data(), alone, memory, in_box, part.extents, element);
      MPI_Send(message.data(), static_cast<int>(bytes), MPI_BYTE, owner, 0, engine.control);
    }
    if (mine) {
      if (!reading && !here) {
        MPI_Recv(message.data(), static_cast<int>(bytes), MPI_BYTE, root, 0, engine.control, MPI_STATUS_IGNORE);
      }
      const auto handle = tensor.handle(part.tile);
      starpu_data_acquire(handle, reading ? STARPU_R : STARPU_RW);
      auto* tile = static_cast<std::byte*>(starpu_data_get_local_ptr(handle));
      const Place& outside = here ? in_box : alone;
      auto* other = here ? memory : message.data();
      if (reading) {
        copy_box(other, outside, tile, in_tile, part.extents, element);
      } else {
        copy_box(tile, in_tile, other, outside, part.extents, element);
      }
      starpu_data_release(handle);
      if (reading && !here) {
        MPI_Send(message.data(), static_cast<int>(bytes), MPI_BYTE, root, 0, engine.control);
      }
    } else if (reading) {
      MPI_Recv(message.data(), static_cast<int>(bytes), MPI_BYTE, owner, 0, engine.control, MPI_STATUS_IGNORE);
      copy_box(memory, in_box, message.data(), alone, part.extents, element);
    }
  });
}

}  // namespace

DType Tensor::dtype() const noexcept { return impl_->type; }
const std::vector<std::int64_t>& Tensor::extents() const noexcept { return impl_->extents; }
const std::vector<std::int64_t>& Tensor::tiles() const noexcept { return impl_->tiles; }
std::int64_t Tensor::tile_count() const noexcept { return static_cast<std::int64_t>(impl_->owners.size()); }
Tile Tensor::tile(std::int64_t number) const { return impl_->tile(number); }
int Tensor::owner(std::int64_t number) const { return impl_->owners.at(static_cast<std::size_t>(number)); }
void* Tensor::handle(std::int64_t number) { return impl_->handle(number); }

std::int64_t Tensor::local_bytes() const noexcept {
  std::int64_t bytes = 0;
  for (std::int64_t number = 0; number < tile_count(); ++number) {
    if (owner(number) == impl_->engine->rank) bytes += impl_->tile_bytes(number);
  }
  return bytes;
}

void Tensor::fill(const std::function<void(const Tile&, void*)>& function) {
  static starpu_codelet codelet = fill_codelet();
  std::vector<Filling> fillings;
  for (std::int64_t number = 0; number < tile_count(); ++number) {
    if (owner(number) == impl_->engine->rank) fillings.push_back({function, tile(number)});
  }
  impl_->engine->together([&] {
    for (auto& filling : fillings) {
      auto* task = starpu_task_create();
      task->cl = &codelet;
      task->cl_arg = &filling;
      set_buffers(*task, {impl_->handle(number_of(filling.tile.index, impl_->counts))});
      submit(task);
    }
    for (const auto& filling : fillings) {
      const auto handle = impl_->handle(number_of(filling.tile.index, impl_->counts));
      starpu_data_acquire(handle, STARPU_R);
      starpu_data_release(handle);
    }
    throw_failure();
  });
}

void Tensor::read(const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& extents, void* to,
                  int root) {
  move_box(*impl_, first, extents, static_cast<std::byte*>(to), root, true);
}

void Tensor::write(const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& extents, const void* from,
                   int root) {
  move_box(*impl_, first, extents, static_cast<std::byte*>(const_cast<void*>(from)), root, false);  // it is not written
}

void Tensor::gather(void* to, int root) { read(Indices(impl_->extents.size(), 0), impl_->extents, to, root); }

Tensor Engine::tensor(DType type, std::vector<std::int64_t> extents, std::vector<std::int64_t> tiles,
                      const Distribution& distribution) {
  return Tensor(std::make_shared<Tensor::Impl>(impl_, type, std::move(extents), std::move(tiles), distribution));
}

Tensor Engine::tensor_like(const Tensor& tensor) {
  const auto& like = tensor.impl();
  return this->tensor(like.type, like.extents, like.tiles, like.distribution);
}

}  // namespace ricci::inline v1::dist
