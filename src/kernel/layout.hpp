// Which element of a tile lies where: in memory, or in which register of which lane of which warp. One value says it
// for atoms' fragments, tiles of warps and blocks, what lies in shared memory, and orders in which points are dealt
// out.
//
// A layout is a list of modes. Each has a digit 0 .. extent - 1, which moves a number on an axis by `stride` and one of
// the element's coordinates by `step`. Numbers and coordinates are sums over the modes, in mixed radix of any extents.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ricci::kernel {

inline constexpr int kWarp = 32;  ///< lanes of a GPU's warp

/// Where element `offset` of a shared array lies: offset ^ ((offset >> shift & mask) << unit). Bits of a row are mixed
/// into bits of a column, so that columns are spread over the banks; the lowest `unit` bits stay, so that 2^unit
/// neighbours stay neighbours. Mask 0: none. A swizzle that is a bijection is its own inverse.
struct Swizzle {
  int shift = 0;
  std::int64_t mask = 0;
  int unit = 0;
  constexpr std::int64_t operator()(std::int64_t offset) const noexcept {
    return offset ^ ((offset >> shift & mask) << unit);
  }
  /// Elements that it mixes with each other: each aligned group of as many is mapped upon itself.
  constexpr std::int64_t group() const noexcept { return mask == 0 ? 1 : (mask + 1) << unit; }
  constexpr bool is_bijection() const noexcept {
    return mask == 0 || ((mask & (mask + 1)) == 0 && unit >= 0 && shift >= 0 && std::int64_t{1} << shift >= group());
  }
};

enum class LayoutAxis : std::uint8_t { memory, reg, lane, warp };

/// Numbers on the axes: of an element of memory, or of a register, its lane and that one's warp.
struct Spot {
  std::int64_t memory = 0, reg = 0, lane = 0, warp = 0;
  constexpr std::int64_t& operator[](LayoutAxis axis) noexcept {
    return axis == LayoutAxis::memory ? memory : axis == LayoutAxis::reg ? reg : axis == LayoutAxis::lane ? lane : warp;
  }
  constexpr std::int64_t operator[](LayoutAxis axis) const noexcept { return Spot(*this)[axis]; }
  constexpr bool operator==(const Spot&) const = default;
};

/// An element's coordinates: its row and column, and its product among several side by side; of one number, the first.
using Point = std::array<std::int64_t, 3>;

struct Mode {
  LayoutAxis axis = LayoutAxis::memory;
  std::uint8_t along = 0;  ///< the coordinate that it moves
  std::int32_t extent = 1;
  std::int32_t stride = 1;  ///< on the axis, above 0
  std::int32_t step = 0;    ///< along the coordinate, not negative; 0: copies of the same elements
};

struct Layout {
  static constexpr std::size_t kMostModes = 16;

  Point shape = {1, 1, 1};                  ///< elements along each coordinate
  std::array<Mode, kMostModes> modes = {};  ///< by falling stride
  std::uint8_t count = 0;                   ///< of modes
  std::int64_t start = 0;                   ///< memory: place of the first element before the swizzle
  Swizzle swizzle = {};                     ///< memory: of places

  /// With one more mode, whose stride follows all those on its axis.
  constexpr Layout& add(LayoutAxis axis, std::int64_t extent, int along, std::int64_t step) {
    return add(axis, extent, along, step, size(axis));
  }
  /// With one more mode. Throws std::out_of_range where there are kMostModes.
  constexpr Layout& add(LayoutAxis axis, std::int64_t extent, int along, std::int64_t step, std::int64_t stride) {
    if (extent == 1) return *this;
    const Mode mode{axis, static_cast<std::uint8_t>(along), static_cast<std::int32_t>(extent),
                    static_cast<std::int32_t>(stride), static_cast<std::int32_t>(step)};
    std::size_t k = count++;
    for (modes.at(k) = mode; k > 0 && modes[k - 1].stride < mode.stride; --k) modes[k] = modes[k - 1];
    modes[k] = mode;
    return *this;
  }
  constexpr std::span<const Mode> all() const noexcept { return {modes.data(), count}; }

  /// One more than the largest number on an axis: of registers, lanes and warps, how many there are.
  constexpr std::int64_t size(LayoutAxis axis) const noexcept {
    std::int64_t last = 0;
    for (const auto& mode : all()) last += mode.axis == axis ? std::int64_t{mode.extent - 1} * mode.stride : 0;
    return last + 1;
  }
  /// Different places along a coordinate of what lies on an axis.
  constexpr std::int64_t size(LayoutAxis axis, int along) const noexcept {
    std::int64_t n = 1;
    for (const auto& mode : all()) n *= mode.axis == axis && mode.along == along && mode.step != 0 ? mode.extent : 1;
    return n;
  }
  /// Spots that hold the same element.
  constexpr std::int64_t replicas() const noexcept {
    std::int64_t n = 1;
    for (const auto& mode : all()) n *= mode.step == 0 ? mode.extent : 1;
    return n;
  }

  /// The element at a spot that holds one.
  constexpr Point at(Spot spot) const noexcept {
    spot.memory = swizzle(spot.memory) - start;
    Point point{};
    for (const auto& mode : all()) {
      auto& rest = spot[mode.axis];
      const auto digit = std::min<std::int64_t>(rest / mode.stride, mode.extent - 1);
      rest -= digit * mode.stride;
      point[mode.along] += digit * mode.step;
    }
    return point;
  }
  /// The elements of a warp's lanes, of which there are 32, in their first registers.
  std::array<Point, kWarp> lanes() const noexcept;
  /// Who holds an element, the first of its replicas; nobody where it is not in the layout.
  std::optional<Spot> holder(const Point& point) const noexcept;
  /// Empty where every element of the shape is in as many spots as there are replicas, and each spot holds one of them;
  /// else what is not so.
  std::string fault() const;
};

/// `outer` of `inner`, tiles of a tile: a warp's of atoms, a block's of warps.
Layout product(Layout inner, const Layout& outer);

/// `inner` with what it says along one coordinate as places in memory of `order`, and the coordinate that those have
/// there. Throws InternalError where digits of the one are in part digits of the other.
Layout composed(const Layout& inner, int along, const Layout& order);

/// What it takes to give elements that registers hold by one layout to those of another one.
struct Exchange {
  /// The cheapest way: other registers of the same lane, the lanes of a warp by shuffles, or memory between warps.
  enum class By : std::uint8_t { registers, shuffles, memory } by = By::registers;
  std::int64_t lanes = 1, registers = 1;    ///< of the target
  std::vector<std::optional<Spot>> source;  ///< by warp, register and lane of the target, the lane fastest

  /// Registers of the source in which lanes of any warp find what their register `reg` gets, in rising order: as many
  /// shuffles as there are.
  std::vector<std::int64_t> registers_for(std::int64_t reg) const;
};
/// Each a chain of layouts: registers and lanes of elements or, where the coordinate is a place in the next one, of
/// what that one has in memory there. An order of points whose digits do not end where lanes do is such a next one.
Exchange exchange(std::span<const Layout> to, std::span<const Layout> from);

inline constexpr std::int64_t kBanks = 32, kWord = 4;  ///< of shared memory, and bytes of one

/// Whether each lane and the next one have the same, or each and the next but one: accesses of 8 and 16 bytes then come
/// in half as many parts (an engineer of NVIDIA, forums.developer.nvidia.com/t/77228, of sm_70 and sm_75).
constexpr bool alike_in_pairs(const std::array<Point, kWarp>& held) noexcept {
  const auto alike = [&](std::size_t apart) {
    for (std::size_t lane = 0; lane < held.size(); ++lane) {
      if (held[lane] != held[lane ^ apart]) return false;
    }
    return true;
  };
  return alike(1) || alike(2);
}

/// Wavefronts of an access of a warp to shared memory: of each part of 128 bytes as many as the bank that the most
/// different words of it lie in. No more are counted once there are `enough`.
///   held    each lane's first element
///   memory  of elements of `size` bytes
///   bytes   of each lane, at a multiple of them: a power of two up to 16
std::int64_t wavefronts(const std::array<Point, kWarp>& held, const Layout& memory, std::int64_t size,
                        std::int64_t bytes, std::int64_t enough = std::numeric_limits<std::int64_t>::max());
/// Lanes of an access that have a wavefront of their own at least: parts of 128 bytes.
///   alike  in pairs of lanes
std::int64_t lanes_of_part(std::int64_t bytes, bool alike) noexcept;
/// The least that there are.
///   alike  in pairs of lanes
std::int64_t least_wavefronts(std::int64_t bytes, bool alike = false) noexcept;

}  // namespace ricci::kernel
