// Libraries of matrix products that plans call, opened at run time from a file that the user names.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "kernel/matrix_product.hpp"

namespace ricci::runtime {

/// What a call gives a product: addresses in the order of the program's buffers and parameters.
struct ProductCall {
  void* const* buffers = nullptr;
  void* const* params = nullptr;
  std::int64_t first = 0, last = 0;  ///< products of the batch, the fastest index of which changes first
  int ordinal = -1;                  ///< GPU
  void* stream = nullptr;            ///< GPU
};

/// Thread-safe. Kept loaded until the process ends: such libraries leave threads and handlers behind.
class ProductLibrary {
 public:
  virtual ~ProductLibrary() = default;
  ProductLibrary(const ProductLibrary&) = delete;
  ProductLibrary& operator=(const ProductLibrary&) = delete;

  /// File, size and version in a line: what was measured with another one does not count for this one.
  const std::string& identity() const noexcept { return identity_; }
  /// "cblas_dgemm": what computes products of a type.
  virtual std::string function(DType type) const = 0;
  /// Computes, or on a GPU queues on the stream, the products [first, last) of a batch. Throws DeviceError where a
  /// GPU's library refuses; CPU libraries do not fail.
  virtual void run(const kernel::MatrixProduct& product, const ProductCall& call) const = 0;
  /// Loads what a GPU's library needs on a device ahead of the first product there.
  virtual void prepare(int /*ordinal*/) const {}

  /// While it lives, the library works with that many threads: for the calling thread where each has a number of its
  /// own, else for all who ask for as many, and others wait. Nothing where it has no such setting, and on a GPU.
  class Threads {
   public:
    Threads(const ProductLibrary& library, int threads);
    ~Threads();
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

   private:
    const ProductLibrary& library_;
    int before_ = 0;  ///< of this thread, where each has its own
  };

 protected:
  ProductLibrary() = default;
  void identify(std::string identity) { identity_ = std::move(identity); }
  /// Sets the number of threads and returns what it was.
  virtual int set_threads(int /*threads*/) const { return 0; }
  enum class Setting { none, of_process, of_thread };
  virtual Setting setting() const noexcept { return Setting::none; }

 private:
  std::string identity_;
  mutable std::mutex mutex_;
  mutable std::condition_variable idle_;
  mutable int users_ = 0, held_ = 0, before_ = 0;
};

/// A product of a library, as a step computes it.
struct LibraryProduct {
  std::shared_ptr<const ProductLibrary> library;
  kernel::MatrixProduct product;
  int tasks = 1;  ///< CPU: parts of the batch, on one of the library's threads each; 1: on as many as the plan has
};

/// The file of a library: as the option says, or else the environment, which counts for nothing in a program with
/// raised privileges; empty: none.
std::string library_file(const std::string& option, const char* variable);

/// A BLAS by its CBLAS functions: OpenBLAS, BLIS, MKL and others, with integers of 32 or, under names that end in 64_,
/// of 64 bits. Throws DeviceError where the file cannot be opened or lacks them, saying what to do.
std::shared_ptr<const ProductLibrary> open_blas(const std::string& file);

/// cuBLAS, by cublasGemmStridedBatchedEx. A handle for each device, made by prepare() or the first product there.
/// Throws DeviceError as open_blas() does.
std::shared_ptr<const ProductLibrary> open_cublas(const std::string& file);

/// Of a BLAS: 10^9 real operations a second in square products of a type, the best of some; a few milliseconds.
double product_GFs(const ProductLibrary& library, DType type, int threads);

/// The value of a factor in a call, in the type of the product.
Scalar factor_of(const kernel::MatrixProduct::Scale& scale, DType type, void* const* params);

}  // namespace ricci::runtime
