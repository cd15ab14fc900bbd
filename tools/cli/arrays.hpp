// What several subcommands do with tensors in host memory: name, compare.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "report/report.hpp"
#include "ricci/tensor.hpp"

namespace ricci::tools {

bool is_column_major(const Layout& layout);

/// "in.npy  f64 (2, 3) in C order, 48 B", and the same for --json.
std::string tensor_text(const std::string& path, const Layout& layout);
Json tensor_json(const std::string& path, const std::string& descr, const Layout& layout);

/// How far element k (in memory order) may be from what is expected; 0: it must have the same bits.
using Bound = std::function<double(std::size_t k)>;

struct Comparison {
  std::optional<std::string> difference;  ///< what differs, for people
  double largest = 0;  ///< |difference| over |expected| at its largest, of elements that are not equal
};

/// Compares dense tensors of one layout, element by element. NaNs equal each other.
Comparison compare(const Layout& layout, const std::byte* got, const std::byte* expected, const Bound& bound);

/// What a report says of a comparison that found nothing.
std::string verified_text(double largest);

/// |x| of every element, as f64, in memory order.
void moduli(const Layout& layout, const std::byte* from, double* to);

/// Throws DeviceError when a GPU is asked for and there is none.
void check_device(const std::string& device);

}  // namespace ricci::tools
