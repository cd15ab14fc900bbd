#include "plan/models/device_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace ricci::plan {

GpuModel GpuModel::of_capability(int sm) {
  GpuModel device;
  device.sm = sm;
  // Shared memory limits by compute capability (CUDA C++ Programming Guide, technical specifications).
  const std::int64_t kilobytes = sm >= 100              ? 227
                                 : sm >= 90             ? 227
                                 : sm == 80 || sm == 87 ? 163
                                 : sm >= 86             ? 99
                                 : sm >= 75             ? 64
                                                        : 96;
  device.shared_bytes_per_block = kilobytes * 1024;
  device.shared_bytes_per_multiprocessor = (kilobytes + 1) * 1024;
  if (sm == 75) device.threads_per_multiprocessor = 1024;
  if (sm == 86 || sm == 89 || sm >= 120) device.threads_per_multiprocessor = 1536;
  return device;
}

double LibraryModel::rate(DType type) const noexcept {
  switch (type) {
    case DType::f32:
      return f32_GFs;
    case DType::f64:
      return f64_GFs;
    case DType::c64:
      return c64_GFs;
    case DType::c128:
      return c128_GFs;
    default:
      return 0;
  }
}

std::string print_rates(const LibraryModel& library) {
  return fmt::format("{:.1e} {:.1e} {:.1e} {:.1e}\n", library.f32_GFs, library.f64_GFs, library.c64_GFs,
                     library.c128_GFs);
}

std::optional<LibraryModel> parse_library_model(std::string_view text) {
  LibraryModel made;
  for (auto* const rate : {&made.f32_GFs, &made.f64_GFs, &made.c64_GFs, &made.c128_GFs}) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *rate);
    if (error != std::errc{} || end == text.data() + text.size() || !(*rate > 0) || *rate > 1e9) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  }
  return text.empty() ? std::optional(made) : std::nullopt;
}

namespace {

std::string library_text(const std::optional<LibraryModel>& library) {
  if (!library) return {};
  const auto& [f32, f64, c64, c128] = *library;
  return fmt::format("a library's products at {}, {}, {} and {} GF/s in f32, f64, c64 and c128\n", f32, f64, c64, c128);
}

}  // namespace

std::string print(const GpuModel& device) {
  const auto& [sm, multiprocessors, block, multiprocessor, threads, clock, copy, library] = device;
  return fmt::format(
             "sm_{}, {} multiprocessors of {} threads, {} B and {} B of shared memory, {} MHz, copies at {} GB/s\n", sm,
             multiprocessors, threads, block, multiprocessor, clock, copy) +
         library_text(library);
}

double CpuModel::thread_read_GBs(double usual) const { return read_GBs > 0 ? read_GBs / threads : usual; }

double CpuModel::one_way_us(double read, double written) const {
  const auto us = [](double bytes, double GBs) { return GBs > 0 ? bytes / GBs * 1e-3 : 0.0; };
  return std::max(us(read, read_GBs), us(written, write_GBs));
}

std::string print(const CpuModel& device) {
  const auto& [vector, datapath, l1, l2, cache, threads, copy, streaming, read, write, rows, apart, clock, alone, bf16,
               i8, page, library] = device;
  return fmt::format(
             "{} B vectors by {} B, {} threads, caches of {} B, {} B, {} B, copies at {} and {} GB/s, reads at {}, "
             "writes at {}, rows {} times, "
             "apart {} times, {} MHz, alone {} MHz, pages {} ns\n",
             vector, datapath, threads, l1, l2, cache, copy, streaming, read, write, rows, apart, clock, alone, page) +
         (bf16 || i8 ? fmt::format("dot products of{}{}\n", bf16 ? " bf16" : "", i8 ? " i8" : "") : "") +
         library_text(library);
}

}  // namespace ricci::plan
