// NumPy's .npy files, versions 1, 2 and 3: one tensor each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/buffer.hpp"
#include "io/files.hpp"
#include "ricci/tensor.hpp"

namespace ricci::tools {

/// What a .npy file says before its data.
struct NpyHeader {
  int version = 1;
  std::string descr;  ///< as written: "<f8", "|b1", ...
  DType type = DType::f64;
  bool big_endian = false;     ///< the data is byte-swapped while it is read
  bool fortran_order = false;  ///< first axis contiguous
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  std::size_t data_offset = 0;  ///< bytes before the data
};

/// A tensor from a file; `layout` is row- or column-major as the file is.
struct NpyArray {
  NpyHeader header;
  Layout layout;
  Buffer data;
};

/// Reads a file. `opaque` is what two opaque bytes ("<V2", as ml_dtypes writes bfloat16) stand for: bf16 or f16.
///
/// Throws IoError with the path, the byte and what is wrong there when the file is not a whole .npy file, holds a type
/// that Ricci has not, more than 32 axes, or more elements than fit. Nothing is allocated before the size is known to
/// agree with the header.
NpyArray read_npy(const std::string& path, std::optional<DType> opaque = {}, const Share& share = {});

/// Writes a row-major or (rank 2 and up) column-major layout, version 1, by OutputFile. `descr` empty: that of the
/// type; bf16 is written as "<V2". Throws IoError; then nothing is left behind and an old file is as it was.
void write_npy(const std::string& path, const Layout& layout, const void* data, std::string_view descr = {},
               const Share& share = {});

/// The same without its last step: OutputFile::commit() puts the file in place.
std::unique_ptr<OutputFile> stage_npy(const std::string& path, const Layout& layout, const void* data,
                                      std::string_view descr = {}, const Share& share = {});

/// NumPy's word for a type, little-endian: "<f8", "|i1", "<V2" for bf16.
const char* npy_descr(DType type) noexcept;

/// The text of the header alone, magic included; its size is a multiple of 64.
std::string npy_header(std::string_view descr, bool fortran_order, const std::vector<std::int64_t>& shape);

}  // namespace ricci::tools
