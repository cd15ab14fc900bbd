// A BLAS on the CPU, by its CBLAS functions.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <filesystem>
#include <type_traits>
#include <vector>

#include "ricci/error.hpp"
#include "runtime/product_library.hpp"

namespace ricci::runtime {
namespace {

using kernel::MatrixProduct;

constexpr int kRowMajor = 101, kCblasNoTrans = 111, kCblasTrans = 112, kCblasConjTrans = 113;

/// alpha and beta: numbers by value, complex ones by address.
template <class T>
using Passed = std::conditional_t<std::is_floating_point_v<T>, T, const void*>;

template <class T>
Passed<T> passed(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value;
  } else {
    return &value;
  }
}

template <class T>
T converted(Scalar value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value.real());
  } else {
    return T(static_cast<typename T::value_type>(value.real()), static_cast<typename T::value_type>(value.imag()));
  }
}

template <class T, class Int>
using Gemm = void (*)(int, int, int, Int, Int, Int, Passed<T>, const void*, Int, const void*, Int, Passed<T>, void*,
                      Int);
template <class T, class Int>
using GemmBatch = void (*)(int, int, int, Int, Int, Int, Passed<T>, const void*, Int, Int, const void*, Int, Int,
                           Passed<T>, void*, Int, Int, Int);

constexpr DType kTypes[] = {DType::f32, DType::f64, DType::c64, DType::c128};
constexpr char kLetters[] = {'s', 'd', 'c', 'z'};

std::size_t place_of(DType type) {
  return static_cast<std::size_t>(std::find(std::begin(kTypes), std::end(kTypes), type) - std::begin(kTypes));
}

/// Spellings of one interface: cblas_dgemm, cblas_dgemm64_, scipy_cblas_dgemm64_.
struct Spelling {
  const char *before, *behind;
  bool wide;  ///< integers of 64 bits
};
constexpr Spelling kSpellings[] = {{"", "", false}, {"", "64_", true}, {"scipy_", "", false}, {"scipy_", "64_", true}};

class Blas final : public ProductLibrary {
 public:
  explicit Blas(const std::string& file) {
    handle_ = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle_ == nullptr) {
      const char* const why = ::dlerror();
      throw DeviceError(
          fmt::format("the BLAS library cannot be opened: {}. Give RICCI_BLAS (or the runtime's option "
                      "blas) the path of a shared library, such as libopenblas.so.0, or leave it empty",
                      why != nullptr ? why : file));
    }
    for (const auto& spelling : kSpellings) {
      spelling_ = spelling;
      if (find("cblas_dgemm") != nullptr) break;
    }
    for (std::size_t k = 0; k < gemm_.size(); ++k) {
      const auto name = fmt::format("cblas_{}gemm", kLetters[k]);
      gemm_[k] = find(name);
      if (gemm_[k] == nullptr) {
        throw DeviceError(
            fmt::format("{} has no {}; RICCI_BLAS (or the runtime's option blas) takes a BLAS with the C "
                        "interface, such as libopenblas.so.0, libblis.so.4 or libmkl_rt.so.2",
                        file, name));
      }
      batch_[k] = find(name + "_batch_strided");
    }
    find_threads();
    identify(describe(file));
  }

  std::string function(DType type) const override {
    return fmt::format("{}cblas_{}gemm{}", spelling_.before, kLetters[place_of(type)], spelling_.behind);
  }

  void run(const MatrixProduct& product, const ProductCall& call) const override {
    return spelling_.wide ? run_of<std::int64_t>(product, call) : run_of<int>(product, call);
  }

 protected:
  int set_threads(int threads) const override {
    if (set_local_ != nullptr) return set_local_(threads);  // 0: as many as the process has
    const int before = get_();
    if (before != threads) set_(threads);
    return before;
  }
  Setting setting() const noexcept override {
    return set_local_ != nullptr                ? Setting::of_thread
           : set_ != nullptr && get_ != nullptr ? Setting::of_process
                                                : Setting::none;
  }

 private:
  void* find(const std::string& name) const {
    return ::dlsym(handle_, (spelling_.before + name + spelling_.behind).c_str());
  }

  void find_threads() {
    const auto take = [&](auto& function, std::initializer_list<const char*> names) {
      for (const char* name : names) {
        void* symbol = find(name);
        if (symbol == nullptr) symbol = ::dlsym(handle_, name);
        if (symbol == nullptr) continue;
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
        return;
      }
    };
    take(set_local_, {"MKL_Set_Num_Threads_Local"});
    take(set_, {"openblas_set_num_threads"});
    take(get_, {"openblas_get_num_threads"});
    if (set_ != nullptr) return;
    void* const set = ::dlsym(handle_, "bli_thread_set_num_threads");
    void* const get = ::dlsym(handle_, "bli_thread_get_num_threads");
    if (set == nullptr || get == nullptr) return;
    set_ = reinterpret_cast<void (*)(int)>(set);  // BLIS's integers are of 64 bits, in the same register
    get_ = reinterpret_cast<int (*)()>(get);
  }

  std::string describe(const std::string& file) const {
    std::string path = file, version;
    Dl_info info{};
    if (::dladdr(gemm_.front(), &info) != 0 && info.dli_fname != nullptr) path = info.dli_fname;
    std::error_code failure;
    const auto real = std::filesystem::canonical(path, failure);
    if (!failure) path = real.string();
    const auto bytes = std::filesystem::file_size(path, failure);
    for (const char* name : {"openblas_get_config", "bli_info_get_version_str"}) {
      void* symbol = find(name);
      if (symbol == nullptr) symbol = ::dlsym(handle_, name);
      if (symbol != nullptr && version.empty()) version = reinterpret_cast<const char* (*)()>(symbol)();
    }
    if (void* const symbol = ::dlsym(handle_, "MKL_Get_Version_String"); symbol != nullptr && version.empty()) {
      char text[200] = {};
      reinterpret_cast<void (*)(char*, int)>(symbol)(text, sizeof text - 1);
      version = text;
    }
    std::replace(version.begin(), version.end(), '\n', ' ');
    return fmt::format("{}, {} bytes{}{}", std::filesystem::path(path).filename().string(), failure ? 0 : bytes,
                       version.empty() ? "" : ", ", version);
  }

  template <class Int>
  void run_of(const MatrixProduct& product, const ProductCall& call) const {
    switch (product.type) {
      case DType::f32:
        return multiply<float, Int>(product, call);
      case DType::f64:
        return multiply<double, Int>(product, call);
      case DType::c64:
        return multiply<std::complex<float>, Int>(product, call);
      default:
        return multiply<std::complex<double>, Int>(product, call);
    }
  }

  template <class T, class Int>
  void multiply(const MatrixProduct& product, const ProductCall& call) const {
    const auto which = place_of(product.type);
    const T alpha = converted<T>(factor_of(product.alpha, product.type, call.params));
    const T beta = converted<T>(factor_of(product.beta, product.type, call.params));
    const auto matrix = [&](const MatrixProduct::Matrix& m) {
      return static_cast<T*>(call.buffers[m.buffer]) + m.offset;
    };
    const auto mode = [](const MatrixProduct::Matrix& m) {
      return m.conjugated ? kCblasConjTrans : m.transposed ? kCblasTrans : kCblasNoTrans;
    };
    const auto integer = [](std::int64_t n) { return static_cast<Int>(n); };
    const auto m = integer(product.rows), n = integer(product.columns), k = integer(product.depth);
    const auto lda = integer(product.first.leading), ldb = integer(product.second.leading),
               ldc = integer(product.result.leading);
    for (auto at = call.first; at < call.last;) {
      const auto place = product.place(at);
      auto* const a = matrix(product.first) + place.in_first;
      auto* const b = matrix(product.second) + place.in_second;
      auto* const c = matrix(product.result) + place.in_result;
      // Neighbours along the fastest index of the batch, in one call where there is one for them.
      if (!product.batch.empty()) {
        const auto& fastest = product.batch.back();
        const auto most = std::min(call.last - at, fastest.extent - at % fastest.extent);
        const bool ordinary = fastest.in_first > 0 && fastest.in_second > 0 && fastest.in_result > 0;
        if (batch_[which] != nullptr && most > 1 && ordinary) {
          reinterpret_cast<GemmBatch<T, Int>>(batch_[which])(kRowMajor, mode(product.first), mode(product.second), m, n,
                                                             k, passed(alpha), a, lda, integer(fastest.in_first), b,
                                                             ldb, integer(fastest.in_second), passed(beta), c, ldc,
                                                             integer(fastest.in_result), integer(most));
          at += most;
          continue;
        }
      }
      reinterpret_cast<Gemm<T, Int>>(gemm_[which])(kRowMajor, mode(product.first), mode(product.second), m, n, k,
                                                   passed(alpha), a, lda, b, ldb, passed(beta), c, ldc);
      ++at;
    }
  }

  void* handle_ = nullptr;
  Spelling spelling_ = kSpellings[0];
  std::array<void*, 4> gemm_ = {}, batch_ = {};
  int (*set_local_)(int) = nullptr;
  void (*set_)(int) = nullptr;
  int (*get_)() = nullptr;
};

}  // namespace

std::shared_ptr<const ProductLibrary> open_blas(const std::string& file) { return std::make_shared<const Blas>(file); }

double product_GFs(const ProductLibrary& library, DType type, int threads) {
  constexpr std::int64_t kSide = 384;
  constexpr int kSamples = 4;
  const auto bytes = static_cast<std::size_t>(kSide * kSide * size_of(type));
  // 0x3f3f...: small ordinary numbers in all types.
  std::vector<unsigned char> a(bytes, 0x3f), b(bytes, 0x3f), c(bytes, 0x3f);
  MatrixProduct product;
  product.type = type;
  product.rows = product.columns = product.depth = kSide;
  int buffer = 0;
  for (auto* matrix : {&product.first, &product.second, &product.result}) {
    matrix->buffer = buffer++;
    matrix->type = type;
    matrix->leading = kSide;
  }
  product.alpha.value = 1;
  void* const buffers[] = {a.data(), b.data(), c.data()};
  ProductCall call;
  call.buffers = buffers;
  call.last = 1;
  const ProductLibrary::Threads held(library, threads);
  double least = 0;
  for (int k = 0; k < kSamples; ++k) {
    const auto start = std::chrono::steady_clock::now();
    library.run(product, call);
    const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    least = k == 0 ? us : std::min(least, us);
  }
  return product.flops() / least * 1e-3;
}

}  // namespace ricci::runtime
