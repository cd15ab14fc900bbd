// cuBLAS on a GPU, by its functions for matrices of any of its types.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <filesystem>
#include <map>
#include <mutex>

#include "jit/cuda_driver.hpp"
#include "ricci/error.hpp"
#include "runtime/product_library.hpp"

namespace ricci::runtime {
namespace {

using kernel::MatrixProduct;

// The numbers of cublas_api.h and library_types.h.
constexpr int kOpN = 0, kOpT = 1, kOpC = 2, kDefault = -1;
constexpr int kSums32 = 68, kTf32 = 77, kSums64 = 70;
constexpr int kHostPointers = 0;

int data_type(DType type) {
  switch (type) {
    case DType::f16:
      return 2;
    case DType::bf16:
      return 14;
    case DType::f32:
      return 0;
    case DType::f64:
      return 1;
    case DType::c64:
      return 4;
    default:
      return 5;
  }
}

int compute_type(const MatrixProduct& product) {
  if (product.type == DType::f64 || product.type == DType::c128) return kSums64;
  const bool rounds = product.type == DType::f32 && product.first.type == DType::f32;
  return rounds && product.precision == Precision::tf32 ? kTf32 : kSums32;
}

class Cublas final : public ProductLibrary {
 public:
  explicit Cublas(const std::string& file) {
    void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) {
      const char* const why = ::dlerror();
      throw DeviceError(
          fmt::format("the cuBLAS library cannot be opened: {}. Give RICCI_CUBLAS (or the runtime's option "
                      "cublas) the path of libcublas.so.12 or later, or leave it empty",
                      why != nullptr ? why : file));
    }
    const auto load = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
      if (function == nullptr) {
        throw DeviceError(
            fmt::format("{} has no {}; RICCI_CUBLAS (or the runtime's option cublas) takes cuBLAS 11 or "
                        "later, such as libcublas.so.13",
                        file, name));
      }
    };
    load(create_, "cublasCreate_v2");
    load(set_stream_, "cublasSetStream_v2");
    load(set_pointer_mode_, "cublasSetPointerMode_v2");
    load(gemm_, "cublasGemmStridedBatchedEx");
    int (*property)(int, int*) = nullptr;
    load(property, "cublasGetProperty");
    int version[3] = {};
    for (const int part : {0, 1, 2}) property(part, &version[part]);
    std::error_code failure;
    const auto real = std::filesystem::canonical(file, failure);
    identify(fmt::format("{}, cuBLAS {}.{}.{}", (failure ? std::filesystem::path(file) : real).filename().string(),
                         version[0], version[1], version[2]));
  }

  std::string function(DType /*type*/) const override { return "cublasGemmStridedBatchedEx"; }

  void prepare(int ordinal) const override {
    const std::lock_guard lock(mutex_);
    handle_on(ordinal);
  }

  void run(const MatrixProduct& product, const ProductCall& call) const override {
    const auto wide = product.type == DType::f64 || product.type == DType::c128;
    const Numbers alpha(factor_of(product.alpha, product.type, call.params), wide);
    const Numbers beta(factor_of(product.beta, product.type, call.params), wide);
    const auto integer = [](std::int64_t n) { return static_cast<int>(n); };
    const auto mode = [](const MatrixProduct::Matrix& m) { return m.conjugated ? kOpC : m.transposed ? kOpT : kOpN; };
    // The longest index of the batch is one launch, the others are loops around it.
    const auto longest = std::max_element(product.batch.begin(), product.batch.end(),
                                          [](const auto& x, const auto& y) { return x.extent < y.extent; });
    const auto inner = longest == product.batch.end() ? MatrixProduct::Batch{} : *longest;
    const auto launches = product.products() / inner.extent;
    // A handle belongs to one thread at a time, from its stream to the launch.
    const std::lock_guard lock(mutex_);
    void* const handle = handle_on(call.ordinal);
    check(set_stream_(handle, call.stream), "cublasSetStream");
    for (std::int64_t launch = 0; launch < launches; ++launch) {
      const auto place = product.place(launch, longest == product.batch.end() ? nullptr : &*longest);
      const auto at = [&](const MatrixProduct::Matrix& m, std::int64_t offset) {
        return static_cast<char*>(call.buffers[m.buffer]) + (m.offset + offset) * size_of(m.type);
      };
      // Its matrices are column-major: the product of the transposed ones, in the other order.
      check(gemm_(handle, mode(product.second), mode(product.first), integer(product.columns), integer(product.rows),
                  integer(product.depth), alpha.get(), at(product.second, place.in_second),
                  data_type(product.second.type), integer(product.second.leading), inner.in_second,
                  at(product.first, place.in_first), data_type(product.first.type), integer(product.first.leading),
                  inner.in_first, beta.get(), at(product.result, place.in_result), data_type(product.result.type),
                  integer(product.result.leading), inner.in_result, integer(inner.extent), compute_type(product),
                  kDefault),
            "cublasGemmStridedBatchedEx");
    }
  }

 private:
  /// A factor in the type of the sums, complex ones with their imaginary part behind: aligned as its complex numbers
  /// are, which cuBLAS reads by aligned loads.
  class Numbers {
   public:
    Numbers(Scalar value, bool wide)
        : single_{static_cast<float>(value.real()), static_cast<float>(value.imag())},
          twice_{value.real(), value.imag()},
          wide_(wide) {}
    const void* get() const noexcept { return wide_ ? static_cast<const void*>(twice_) : single_; }

   private:
    alignas(16) float single_[2];
    alignas(16) double twice_[2];
    bool wide_;
  };

  static void check(int status, const char* function) {
    if (status == 0) return;
    throw DeviceError(
        fmt::format("a product of cuBLAS failed: {}: status {}. Plan without RICCI_CUBLAS to go on without "
                    "it; 3 is no memory on the device, 15 a product that it does not have",
                    function, status));
  }

  /// With the lock held.
  void* handle_on(int ordinal) const {
    const auto at = static_cast<std::size_t>(ordinal);
    if (at >= handles_.size())
      throw DeviceError(fmt::format("device {}: there is no handle of cuBLAS for it", ordinal));
    if (handles_[at] != nullptr) return handles_[at];
    const jit::cuda::OnDevice on_device(ordinal);
    void* handle = nullptr;
    check(create_(&handle), "cublasCreate");
    check(set_pointer_mode_(handle, kHostPointers), "cublasSetPointerMode");
    return handles_[at] = handle;
  }

  int (*create_)(void**) = nullptr;
  int (*set_stream_)(void*, void*) = nullptr;
  int (*set_pointer_mode_)(void*, int) = nullptr;
  int (*gemm_)(void*, int, int, int, int, int, const void*, const void*, int, int, long long, const void*, int, int,
               long long, const void*, void*, int, int, long long, int, int, int) = nullptr;
  mutable std::mutex mutex_;
  mutable std::array<void*, 64> handles_ = {};
};

}  // namespace

std::shared_ptr<const ProductLibrary> open_cublas(const std::string& file) {
  // One for all runtimes of the process, with its handles, which have memory on their devices. None of them ends before
  // the process: the driver may be gone by then.
  static std::mutex mutex;
  static auto& opened = *new std::map<std::string, std::shared_ptr<const ProductLibrary>>;
  const std::lock_guard lock(mutex);
  auto& library = opened[file];
  if (!library) library = std::make_shared<const Cublas>(file);
  return library;
}

}  // namespace ricci::runtime
